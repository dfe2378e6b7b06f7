/* What the machine can reach at most, measured when it is asked: multiply-adds, and bytes from memory and from the
 * caches. run_profile.c and run_bodies.c compare the steps of a plan with it. */
#ifndef ND4C_CLI_LIMITS_H
#define ND4C_CLI_LIMITS_H

#include "cli.h"

enum { CLI_LIMIT_PEAKS = 4, CLI_LIMIT_SIZES = 7 };

typedef struct cli_limits {
  int width;
  double measuring; /* seconds that this took */
  double processor; /* share of the time of `width` processors that the threads computed, while peaks were measured */
  struct {
    const char *name;
    nd4c_dtype dtype;
    double operations; /* a second; 0: unknown on this processor */
    bool unsure;       /* the machine was busy while this was measured */
  } peaks[CLI_LIMIT_PEAKS];
  struct {
    double bytes, speed; /* bytes a second, when so many are read again and again */
    bool unsure;
  } reads[CLI_LIMIT_SIZES];
} cli_limits;

/* Measures on `width` threads. False if memory is exhausted. A limit is unsure if its tries disagree; all are if the
 * threads had to wait for processors. */
bool cli_limits_measure(int width, cli_limits *limits);
/* Whether tries of one limit disagree: the best is right if a second one comes within a fifth of it. */
bool cli_limits_disagree(const double *tries, int count);
/* The limits in a line; a second line names the unsure ones, if any. */
void cli_limits_print(const cli_limits *limits, FILE *file);
/* The same as members of an object; `unreliable` lists the unsure ones. */
void cli_limits_add(const cli_limits *limits, cJSON *object);
/* The least seconds for so many operations on elements of this dtype and so many bytes: of the longer of the two. The
 * bytes come from the smallest cache that may hold them. 0: no limit is known. */
double cli_limits_seconds(const cli_limits *limits, nd4c_dtype dtype, double operations, double bytes);

#endif
