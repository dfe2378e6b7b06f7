/* Runs one child process: starts it, reads its output line by line, and ends it if it takes too long. plugin_check.c
 * starts each section with it, targets.c the section `tables`. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { LINE_BYTES = 8192, TICK_MS = 200 };

extern char **environ;

static int start(char *const *arguments, pid_t *child, int *output) {
  int ends[2];
  if (pipe(ends) != 0) {
    return errno;
  }
  (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  posix_spawn_file_actions_t actions;
  int error = posix_spawn_file_actions_init(&actions);
  if (error == 0) {
    error = posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    error = error == 0 ? posix_spawn(child, "/proc/self/exe", &actions, NULL, arguments, environ) : error;
    (void)posix_spawn_file_actions_destroy(&actions);
  }
  (void)close(ends[1]);
  if (error != 0) {
    (void)close(ends[0]);
  }
  *output = ends[0];
  return error;
}

typedef struct reader {
  int output;
  size_t used;
  char bytes[LINE_BYTES];
  void (*line)(void *user, const char *line);
  void *user;
} reader;

/* Hands on whole lines; a line that is too long in pieces. False at the end of the output. */
static bool take(reader *r) {
  const ssize_t got = read(r->output, r->bytes + r->used, sizeof r->bytes - 1 - r->used);
  if (got < 0 && errno == EINTR) {
    return true;
  }
  if (got <= 0) {
    return false;
  }
  r->used += (size_t)got;
  char *begin = r->bytes, *end;
  while ((end = memchr(begin, '\n', r->used - (size_t)(begin - r->bytes))) != NULL) {
    *end = '\0';
    r->line(r->user, begin);
    begin = end + 1;
  }
  r->used -= (size_t)(begin - r->bytes);
  memmove(r->bytes, begin, r->used);
  if (r->used == sizeof r->bytes - 1) {
    r->bytes[r->used] = '\0';
    r->line(r->user, r->bytes);
    r->used = 0;
  }
  return true;
}

/* Reads until the end of the output; false if the time is over first. */
static bool read_all(reader *r, double limit) {
  const double begun = cli_seconds();
  for (bool open = true; open;) {
    struct pollfd waited = {.fd = r->output, .events = POLLIN};
    if (cli_seconds() - begun > limit) {
      return false;
    }
    if (poll(&waited, 1, TICK_MS) > 0) {
      open = take(r);
    }
  }
  return true;
}

/* The output may end long before the process, or never: a process that the child started may hold it open. */
static bool wait_for(pid_t child, double limit, int *state) {
  const double begun = cli_seconds();
  for (;;) {
    const pid_t ended = waitpid(child, state, WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) {
      return ended == child;
    }
    if (cli_seconds() - begun > limit) {
      return false;
    }
    (void)poll(NULL, 0, 10);
  }
}

bool plugin_child_run(char *const *arguments, double limit, void (*line)(void *user, const char *line), void *user,
                      char *reason, size_t size) {
  pid_t child = 0;
  int state = 0;
  const double begun = cli_seconds();
  reader r = {.line = line, .user = user};
  const int error = start(arguments, &child, &r.output);
  if (error != 0) {
    (void)snprintf(reason, size, "a process cannot be started: %s", strerror(error));
    return false;
  }
  const bool in_time = read_all(&r, limit) && wait_for(child, limit - (cli_seconds() - begun), &state);
  if (!in_time) {
    (void)kill(child, SIGKILL);
    while (waitpid(child, &state, 0) < 0 && errno == EINTR) {
    }
    (void)snprintf(reason, size, "did not end within %.0f s (--seconds gives it more)", limit);
  } else if (WIFSIGNALED(state)) {
    (void)snprintf(reason, size, "was ended by signal %d (%s)", WTERMSIG(state), strsignal(WTERMSIG(state)));
  } else if (WEXITSTATUS(state) != 0) {
    (void)snprintf(reason, size, "ended with exit code %d", WEXITSTATUS(state));
  }
  (void)close(r.output);
  return in_time && WIFEXITED(state) && WEXITSTATUS(state) == 0;
}
