/* Implements selftest_parts.h: starts the parts, reads their output and waits for them. selftest.c calls it. */
#include "selftest_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_PARTS = 8, OPS_PER_PART = 8, LINE_BYTES = 8192, MOST_ARGUMENTS = 64, TICK_MS = 500 };

extern char **environ;

typedef struct part {
  pid_t pid;
  int output; /* read end of its standard output; -1: ended */
  size_t used;
  char line[LINE_BYTES];
} part;

int selftest_parts_count(int ops) {
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  int count = processors < 1 ? 1 : processors > MOST_PARTS ? MOST_PARTS : (int)processors;
  while (count > 1 && ops < count * OPS_PER_PART) {
    count--;
  }
  return count;
}

static bool start(part *p, char *const *arguments, int index, int count, char *reason, size_t size) {
  char *all[MOST_ARGUMENTS + 3], which[32];
  int used = 0, ends[2];
  while (arguments[used] != NULL && used < MOST_ARGUMENTS) {
    all[used] = arguments[used];
    used++;
  }
  (void)snprintf(which, sizeof which, "--part=%d/%d", index, count);
  all[used] = which;
  all[used + 1] = NULL;
  if (arguments[used] != NULL || pipe(ends) != 0) {
    (void)snprintf(reason, size, "%s", arguments[used] != NULL ? "too many arguments" : strerror(errno));
    return false;
  }
  /* The next part must not hold this one's pipe. */
  (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  posix_spawn_file_actions_t actions;
  int error = posix_spawn_file_actions_init(&actions);
  if (error == 0) {
    error = posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    error = error == 0 ? posix_spawn(&p->pid, "/proc/self/exe", &actions, NULL, all, environ) : error;
    (void)posix_spawn_file_actions_destroy(&actions);
  }
  (void)close(ends[1]);
  if (error != 0) {
    (void)close(ends[0]);
    (void)snprintf(reason, size, "a process cannot be started: %s", strerror(error));
    return false;
  }
  p->output = ends[0];
  return true;
}

/* Hands on the whole lines that a part has written; false at the end of its output. */
static bool take(part *p, int index, const selftest_parts_sink *sink) {
  const ssize_t got = read(p->output, p->line + p->used, sizeof p->line - p->used);
  if (got < 0 && errno == EINTR) {
    return true;
  }
  if (got <= 0) {
    return false;
  }
  p->used += (size_t)got;
  char *begin = p->line, *end;
  while ((end = memchr(begin, '\n', p->used - (size_t)(begin - p->line))) != NULL) {
    *end = '\0';
    sink->line(sink->user, index, begin);
    begin = end + 1;
  }
  p->used -= (size_t)(begin - p->line);
  memmove(p->line, begin, p->used);
  return p->used < sizeof p->line; /* a longer line is not a part's */
}

static void read_all(part *parts, int count, const selftest_parts_sink *sink) {
  for (int open = count; open > 0;) {
    struct pollfd waited[MOST_PARTS];
    for (int i = 0; i < count; i++) {
      waited[i] = (struct pollfd){.fd = parts[i].output, .events = POLLIN};
    }
    (void)poll(waited, (nfds_t)count, TICK_MS);
    for (int i = 0; i < count; i++) {
      if (parts[i].output >= 0 && waited[i].revents != 0 && !take(&parts[i], i, sink)) {
        (void)close(parts[i].output);
        parts[i].output = -1;
        open--;
      }
    }
    sink->tick(sink->user);
  }
}

bool selftest_parts_run(char *const *arguments, int count, const selftest_parts_sink *sink, char *reason, size_t size) {
  static part parts[MOST_PARTS];
  int started = 0;
  bool sound = true;
  while (started < count && sound) {
    parts[started].used = 0;
    sound = start(&parts[started], arguments, started, count, reason, size);
    started += sound;
  }
  if (!sound) { /* what the others would do is of no use */
    for (int i = 0; i < started; i++) {
      (void)kill(parts[i].pid, SIGTERM);
    }
  }
  read_all(parts, started, sink);
  for (int i = 0; i < started; i++) {
    int state = 0;
    pid_t ended;
    while ((ended = waitpid(parts[i].pid, &state, 0)) < 0 && errno == EINTR) {
    }
    if (sound && (ended < 0 || !WIFEXITED(state))) {
      (void)snprintf(reason, size, "part %d of %d was ended by signal %d", i + 1, count,
                     ended >= 0 && WIFSIGNALED(state) ? WTERMSIG(state) : 0);
      sound = false;
    }
  }
  return sound;
}
