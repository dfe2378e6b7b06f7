/* Runs a selftest in several processes, because drivers compile kernels under process-wide locks, where threads would
 * wait. selftest.c calls these. */
#ifndef ND4C_CLI_SELFTEST_PARTS_H
#define ND4C_CLI_SELFTEST_PARTS_H

#include <stdbool.h>
#include <stddef.h>

/* Callbacks for the output of the parts, on the caller's thread. */
typedef struct selftest_parts_sink {
  void (*line)(void *user, int part, const char *line); /* one line that a part wrote, without its end */
  void (*tick)(void *user);                             /* at least twice a second */
  void *user;
} selftest_parts_sink;

/* Number of parts for this machine and that many ops: at most one for each processor, with enough ops to be worth
 * starting. */
int selftest_parts_count(int ops);

/* Runs this program `count` times with `arguments` (NULL at the end; argument 0 is the name) and, behind them, "--part
 * I/COUNT". Returns when all have ended. False, with the reason, if a part could not be started or was ended by a
 * signal. */
bool selftest_parts_run(char *const *arguments, int count, const selftest_parts_sink *sink, char *reason, size_t size);

#endif
