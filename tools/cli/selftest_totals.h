/* Totals of `nd4c selftest`, by family of ops. selftest.c keeps them for each device and prints them. */
#ifndef ND4C_CLI_SELFTEST_TOTALS_H
#define ND4C_CLI_SELFTEST_TOTALS_H

#include <stdint.h>

enum { SELFTEST_FAMILIES = 32 };

/* Pairs of op and dtype of one family of ops. */
typedef struct selftest_tally {
  const char *category; /* the op's, static */
  int32_t computed, declined, wrong;
} selftest_tally;

/* Zero-initialised is empty. */
typedef struct selftest_totals {
  selftest_tally tallies[SELFTEST_FAMILIES];
  int32_t count;
} selftest_totals;

/* The totals of the op's family, added if necessary. */
selftest_tally *selftest_totals_find(selftest_totals *totals, const char *category);
/* Prints a line for each family of which the device computes something, one for all others, and one for the sum, which
 * is returned. Nothing without a pair. */
selftest_tally selftest_totals_print(const selftest_totals *totals);

#endif
