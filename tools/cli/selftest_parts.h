/* A selftest in several processes: drivers compile kernels under locks of the process, so that threads would wait. */
#ifndef ND4C_CLI_SELFTEST_PARTS_H
#define ND4C_CLI_SELFTEST_PARTS_H

#include <stdbool.h>
#include <stddef.h>

/* What is done with the output of the parts, in the caller's thread. */
typedef struct selftest_parts_sink {
  void (*line)(void *user, int part, const char *line); /* one line that a part wrote, without its end */
  void (*tick)(void *user);                             /* at least twice a second */
  void *user;
} selftest_parts_sink;

/* How many parts suit this machine for so many ops: a processor each, and enough ops to pay for the start. */
int selftest_parts_count(int ops);

/* Runs this program `count` times with `arguments` (NULL at the end; argument 0 is the name) and, behind them,
 * "--part I/COUNT". Returns when all have ended. False, with the reason, where a part could not be started, or ended
 * otherwise than by itself. */
bool selftest_parts_run(char *const *arguments, int count, const selftest_parts_sink *sink, char *reason, size_t size);

#endif
