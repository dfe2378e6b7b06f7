/* Runs the test program again as a child with another environment, for settings that a process reads only once. */
#ifndef TESTS_DEVICE_CHILD_H
#define TESTS_DEVICE_CHILD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_OUTPUT = 16384, CHILD_VARIABLES = 8 };

/* environment: "NAME=VALUE" entries, NULL-terminated. Fills output with what the child wrote to stdout and stderr.
 * Returns its exit code, -1 if it did not end by itself. */
static inline int child_run(const char *program, const char *command, const char *argument,
                            const char *const *environment, char *output) {
  int ends[2];
  output[0] = '\0';
  if (pipe(ends) != 0) {
    return -1;
  }
  pid_t child = fork();
  if (child == 0) {
    static char kept[CHILD_VARIABLES][1024];
    for (int i = 0; environment != NULL && environment[i] != NULL && i < CHILD_VARIABLES; i++) {
      (void)snprintf(kept[i], sizeof kept[i], "%s", environment[i]);
      char *equals = strchr(kept[i], '=');
      if (equals != NULL) {
        *equals = '\0';
        (void)setenv(kept[i], equals + 1, 1);
      }
    }
    (void)dup2(ends[1], STDOUT_FILENO);
    (void)dup2(ends[1], STDERR_FILENO);
    (void)close(ends[0]);
    (void)execl(program, program, command, argument, (char *)NULL);
    _exit(127);
  }
  (void)close(ends[1]);
  size_t length = 0;
  ssize_t got = 0;
  while (length + 1 < CHILD_OUTPUT && (got = read(ends[0], output + length, CHILD_OUTPUT - 1 - length)) > 0) {
    length += (size_t)got;
  }
  output[length] = '\0';
  (void)close(ends[0]);
  int state = 0;
  if (child < 0 || waitpid(child, &state, 0) != child || !WIFEXITED(state)) {
    return -1;
  }
  return WEXITSTATUS(state);
}

#endif
