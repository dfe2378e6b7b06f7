/* Functions that the benchmarks share: interleaved timing, medians, lines of JSON. Uses only nd4c's public headers. */
#ifndef ND4C_BENCH_MEASURE_H
#define ND4C_BENCH_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include <nd4c/nd4c.h>

/* An odd number of rounds has one median; figures are reported from at least 21. */
enum { BENCH_ROUNDS = 21, BENCH_MAX_CASES = 8 };

/* One case to time: body(state), `repeats` times a sample. */
typedef struct bench_case {
  const char *name;
  const char *shape;
  const char *dtype;
  void (*body)(void *state);
  void *state;
  double bytes;     /* bytes moved by one call, 0: unknown */
  double flops;     /* operations of one call, 0: unknown */
  int64_t elements; /* elements of one call, for cycles an element; 0: unknown */
  int64_t faults;   /* out: page faults of the rounds after the first */
  int64_t repeats;
  double times[BENCH_ROUNDS]; /* out: nanoseconds a call, by round */
} bench_case;

/* Nanoseconds of a monotonic clock. */
double bench_now(void);
/* Nanoseconds of a cycle of this processor under load, measured by a chain of dependent additions. */
double bench_cycle(void);
double bench_median(const double *values, int count);
/* Median over the rounds of times of `peer` / times of `ours`. */
double bench_ratio(const bench_case *peer, const bench_case *ours);
/* Calls every case in turn, BENCH_ROUNDS times, each round starting with another one. */
void bench_interleave(bench_case *cases, int count);

/* Prints one line of JSON. limit_ns: the machine's limit for the same work in the same run, 0: unknown. */
void bench_print(const bench_case *result, double limit_ns);

/* Ends the program with the error text unless the status is OK, because figures of failed calls are meaningless. */
void bench_check(nd4c_status status, const char *what);

/* An array of small numbers, all exact in every dtype. */
nd4c_array *bench_array(nd4c_dtype dtype, int32_t rank, const int64_t *shape);
/* Every `step`-th element of a 1-D array `step` times as long. */
nd4c_array *bench_strided(nd4c_dtype dtype, int64_t count, int64_t step);

#endif
