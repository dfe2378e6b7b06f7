/* Implements watch.h. */
#include "watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { PAUSE = 100000000 /* nanoseconds between two looks */ };

/* How long the rest takes if it takes as long as what is done. Where that time is over and a step still goes on (it may
 * pack far larger weights than those before it), how long the step has taken. "" before the first step is done. */
static void describe_time(const cli_watch *w, char *text, size_t size) {
  const int64_t made = w->done - w->first, left = w->total - w->done;
  const double now = cli_seconds(), taken = now - w->told;
  const double rest = made > 0 ? (w->told - w->begun) * (double)left / (double)made - taken : 0;
  if (made <= 0 || left <= 0) {
    text[0] = '\0';
  } else if (rest < 0.05) {
    (void)snprintf(text, size, taken < 10 ? ", this step for %.1f s" : ", this step for %.0f s", taken);
  } else {
    (void)snprintf(text, size, rest < 10 ? ", about %.1f s left" : ", about %.0f s left", rest);
  }
}

/* Under the lock; "" if there is nothing to say. */
static void describe(const cli_watch *w, char *text, size_t size) {
  char time[64];
  if (w->total <= 1) { /* a step, or an unknown number of them */
    (void)snprintf(text, size, w->done > 0 ? "%s: %" PRId64 : "%s", w->what, w->done);
    return;
  }
  describe_time(w, time, sizeof time);
  (void)snprintf(text, size, "%s: %" PRId64 " of %" PRId64 "%s", w->what, w->done, w->total, time);
}

static void *watch(void *user) {
  cli_watch *w = user;
  (void)pthread_mutex_lock(&w->lock);
  while (!w->ends) {
    char text[256] = "";
    struct timespec until;
    describe(w, text, sizeof text);
    (void)pthread_mutex_unlock(&w->lock);
    if (text[0] != '\0') {
      cli_progress_say(&w->progress, text); /* a slow terminal does not hold up the work */
    }
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += PAUSE;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    (void)pthread_mutex_lock(&w->lock);
    if (!w->ends) {
      (void)pthread_cond_timedwait(&w->ended, &w->lock, &until);
    }
  }
  (void)pthread_mutex_unlock(&w->lock);
  return NULL;
}

/* The one that goes on; NULL: none. Only the thread that begins and ends watches uses it. */
static cli_watch *running;

void cli_watch_begin(cli_watch *w) {
  *w = (cli_watch){.progress = cli_progress_begin()};
  (void)pthread_mutex_init(&w->lock, NULL);
  (void)pthread_cond_init(&w->ended, NULL);
  running = pthread_create(&w->thread, NULL, watch, w) == 0 ? w : NULL;
}

void cli_watch_tell(void *user, const char *what, int64_t done, int64_t total) {
  cli_watch *w = user;
  (void)pthread_mutex_lock(&w->lock);
  if (strcmp(w->what, what) != 0 || done < w->done) {
    (void)snprintf(w->what, sizeof w->what, "%s", what);
    w->first = done;
    w->begun = cli_seconds();
  }
  if (done != w->done) {
    w->told = cli_seconds();
  }
  w->done = done;
  w->total = total;
  (void)pthread_mutex_unlock(&w->lock);
}

void cli_watch_stop(void) {
  cli_watch *w = running;
  if (w != NULL) {
    (void)pthread_mutex_lock(&w->lock);
    w->ends = true;
    (void)pthread_cond_signal(&w->ended);
    (void)pthread_mutex_unlock(&w->lock);
    (void)pthread_join(w->thread, NULL);
    cli_progress_end(&w->progress);
    running = NULL;
  }
}

void cli_watch_end(cli_watch *w) {
  cli_watch_stop();
  (void)pthread_cond_destroy(&w->ended);
  (void)pthread_mutex_destroy(&w->lock);
}
