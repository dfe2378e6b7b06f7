/* What the program says about the time that is left (tools/cli/watch.c), at times that this file sets. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "watch.h"

static _Atomic int64_t milliseconds;
static char said[256]; /* under `lock` */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* What watch.c calls of the program. */
double cli_seconds(void) {
  return (double)atomic_load(&milliseconds) * 1e-3;
}

cli_progress cli_progress_begin(void) {
  return (cli_progress){.begun = 0};
}

void cli_progress_say(cli_progress *p, const char *text) {
  (void)p;
  (void)pthread_mutex_lock(&lock);
  (void)snprintf(said, sizeof said, "%s", text);
  (void)pthread_mutex_unlock(&lock);
}

void cli_progress_end(const cli_progress *p) {
  (void)p;
}

/* Whether the watch comes to say this within some seconds: it looks ten times in one. */
static bool comes_to_say(int64_t now, const char *expected) {
  const struct timespec pause = {.tv_nsec = 10000000};
  char last[sizeof said] = "";
  atomic_store(&milliseconds, now);
  for (int i = 0; i < 1000 && strcmp(last, expected) != 0; i++) {
    (void)nanosleep(&pause, NULL);
    (void)pthread_mutex_lock(&lock);
    memcpy(last, said, sizeof last);
    (void)pthread_mutex_unlock(&lock);
  }
  if (strcmp(last, expected) != 0) {
    (void)fprintf(stderr, "at %.1f s: \"%s\", expected \"%s\"\n", (double)now * 1e-3, last, expected);
  }
  return strcmp(last, expected) == 0;
}

static void tell(cli_watch *w, int64_t now, int64_t done) {
  atomic_store(&milliseconds, now);
  cli_watch_tell(w, "packing", done, 4);
}

int main(void) {
  cli_watch w;
  cli_watch_begin(&w);
  tell(&w, 1000, 0);
  bool right = comes_to_say(1500, "packing: 0 of 4");
  tell(&w, 3000, 2);
  right = comes_to_say(3000, "packing: 2 of 4, about 2.0 s left") && right;
  right = comes_to_say(4500, "packing: 2 of 4, about 0.5 s left") && right;
  right = comes_to_say(8000, "packing: 2 of 4, this step for 5.0 s") && right;
  right = comes_to_say(40000, "packing: 2 of 4, this step for 37 s") && right;
  tell(&w, 41000, 4);
  right = comes_to_say(41000, "packing: 4 of 4") && right;
  cli_watch_end(&w);
  return right ? 0 : 1;
}
