/* What the machine can reach at most, measured when it is asked: multiply-adds, and bytes from memory and from the
 * caches. run_profile.c compares the steps of a plan with it. */
#ifndef ND4C_CLI_LIMITS_H
#define ND4C_CLI_LIMITS_H

#include "cli.h"

enum { CLI_LIMIT_PEAKS = 4, CLI_LIMIT_SIZES = 7 };

typedef struct cli_limits {
  int width;
  double measuring; /* seconds that this took */
  struct {
    const char *name;
    nd4c_dtype dtype;
    double operations; /* a second; 0: unknown on this processor */
  } peaks[CLI_LIMIT_PEAKS];
  struct {
    double bytes, speed; /* bytes a second, when so many are read again and again */
  } reads[CLI_LIMIT_SIZES];
} cli_limits;

/* Measures on `width` threads. False if memory is exhausted. */
bool cli_limits_measure(int width, cli_limits *limits);
/* The least seconds for so many operations on elements of this dtype and so many bytes: of the longer of the two. The
 * bytes come from the smallest cache that may hold them. 0: no limit is known. */
double cli_limits_seconds(const cli_limits *limits, nd4c_dtype dtype, double operations, double bytes);

#endif
