/* What the benchmarks share: interleaved timing, medians, lines of JSON. Only the public headers of nd4c are used. */
#ifndef ND4C_BENCH_MEASURE_H
#define ND4C_BENCH_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include <nd4c/nd4c.h>

/* An odd number of rounds has one median; 21 are the fewest that a figure is told from. */
enum { BENCH_ROUNDS = 21, BENCH_MAX_CASES = 8 };

/* One thing to time: body(state) `repeats` times a sample. */
typedef struct bench_case {
  const char *name;
  const char *shape;
  const char *dtype;
  void (*body)(void *state);
  void *state;
  double bytes;     /* moved by one call, 0: not told */
  double flops;     /* done by one call, 0: not told */
  int64_t elements; /* of one call, to tell cycles of one of them; 0: not told */
  int64_t faults;   /* out: page faults of the rounds after the first */
  int64_t repeats;
  double times[BENCH_ROUNDS]; /* out: nanoseconds a call, by round */
} bench_case;

/* Nanoseconds of a clock that never goes back. */
double bench_now(void);
/* Nanoseconds of a cycle of this processor at work: of an addition that waits for the one before. */
double bench_cycle(void);
double bench_median(const double *values, int count);
/* Median over the rounds of times of `peer` / times of `ours`. */
double bench_ratio(const bench_case *peer, const bench_case *ours);
/* Calls every case in turn, BENCH_ROUNDS times, each round starting with another one. */
void bench_interleave(bench_case *cases, int count);

/* Prints one line of JSON. limit_ns: what the machine allows for the same work in the same run, 0: not known. */
void bench_print(const bench_case *result, double limit_ns);

/* Ends the program with the error text unless the status is OK: a benchmark of what failed is no benchmark. */
void bench_check(nd4c_status status, const char *what);

/* An array of small numbers, all exact in every dtype. */
nd4c_array *bench_array(nd4c_dtype dtype, int32_t rank, const int64_t *shape);
/* Every `step`-th element of a 1-D array `step` times as long. */
nd4c_array *bench_strided(nd4c_dtype dtype, int64_t count, int64_t step);

#endif
