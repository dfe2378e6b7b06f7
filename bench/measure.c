/* The clock, the rounds of interleaved samples and the lines of JSON that every program bench_*.c prints. The loops
 * that bench/compare calls use only the clock. */
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* A sample lasts at least this long, so that reading the clock does not show. */
static const double sample_ns = 2e6;

double bench_now(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

double bench_cycle(void) {
  enum { ADDITIONS = 1 << 20, TRIES = 5 };
  double best = 0;
  for (int i = 0; i < TRIES; i++) {
    double begin = bench_now(), took;
    uint64_t sum = 0;
    for (uint64_t k = 0; k < ADDITIONS; k++) {
      sum += k;
#if defined(__GNUC__)
      __asm__ volatile("" : "+r"(sum)); /* keeps every addition of the chain */
#endif
    }
    took = bench_now() - begin;
    best = i == 0 || took < best ? took : best;
  }
  return best / ADDITIONS;
}

static int by_value(const void *a, const void *b) {
  double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

double bench_median(const double *values, int count) {
  double sorted[BENCH_ROUNDS];
  count = count < BENCH_ROUNDS ? count : BENCH_ROUNDS;
  memcpy(sorted, values, (size_t)count * sizeof *sorted);
  qsort(sorted, (size_t)count, sizeof *sorted, by_value);
  return count % 2 == 1 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

double bench_ratio(const bench_case *peer, const bench_case *ours) {
  double ratios[BENCH_ROUNDS];
  for (int round = 0; round < BENCH_ROUNDS; round++) {
    ratios[round] = peer->times[round] / ours->times[round];
  }
  return bench_median(ratios, BENCH_ROUNDS);
}

static int64_t page_faults(void) {
  struct rusage usage;
  (void)getrusage(RUSAGE_SELF, &usage);
  return (int64_t)usage.ru_minflt + (int64_t)usage.ru_majflt;
}

static double sample(bench_case *each) {
  double begin = bench_now();
  for (int64_t i = 0; i < each->repeats; i++) {
    each->body(each->state);
  }
  return (bench_now() - begin) / (double)each->repeats;
}

static void choose_repeats(bench_case *each) {
  each->repeats = 1;
  (void)sample(each); /* caches, plans, first pages */
  double once = sample(each);
  while (once * (double)each->repeats < sample_ns && each->repeats < INT64_C(1) << 30) {
    each->repeats *= 2;
    once = sample(each);
  }
}

/* Idle threads of OpenMP, which limits.c uses, spin for some milliseconds: they would keep a processor from the next
 * case. */
static void settle(void) {
  const struct timespec pause = {.tv_nsec = 20000000};
  (void)nanosleep(&pause, NULL);
}

void bench_interleave(bench_case *cases, int count) {
  for (int i = 0; i < count; i++) {
    choose_repeats(&cases[i]);
    cases[i].faults = 0;
  }
  for (int round = 0; round < BENCH_ROUNDS; round++) {
    for (int turn = 0; turn < count; turn++) {
      bench_case *each = &cases[(turn + round) % count];
      settle();
      each->body(each->state); /* wakes the threads of its pool */
      int64_t before = page_faults();
      each->times[round] = sample(each);
      each->faults += round > 0 ? page_faults() - before : 0;
    }
  }
}

void bench_print(const bench_case *result, double limit_ns) {
  double ns = bench_median(result->times, BENCH_ROUNDS);
  printf("{\"name\": \"%s\", \"shape\": \"%s\", \"dtype\": \"%s\", \"ns\": %.1f", result->name, result->shape,
         result->dtype, ns);
  if (result->bytes > 0) {
    printf(", \"gbps\": %.2f", result->bytes / ns);
  }
  if (result->flops > 0) {
    printf(", \"gflops\": %.2f", result->flops / ns);
  }
  if (result->elements > 0) {
    printf(", \"cycles_an_element\": %.3f", ns / (double)result->elements / bench_cycle());
  }
  if (limit_ns > 0) {
    printf(", \"fraction_of_limit\": %.3f", limit_ns / ns);
  }
  printf(", \"page_faults\": %lld}\n", (long long)result->faults);
  (void)fflush(stdout);
}

void bench_check(nd4c_status status, const char *what) {
  if (status != ND4C_OK) {
    fprintf(stderr, "error: %s: %s\n", what, nd4c_error_message());
    exit(1);
  }
}

nd4c_array *bench_array(nd4c_dtype dtype, int32_t rank, const int64_t *shape) {
  nd4c_array *array = NULL;
  bench_check(nd4c_array_full(dtype, rank, shape, 0.5, NULL, &array), "nd4c_array_full");
  return array;
}

nd4c_array *bench_strided(nd4c_dtype dtype, int64_t count, int64_t step) {
  int64_t length = count * step, start = 0, stop = length;
  nd4c_array *whole = bench_array(dtype, 1, &length), *view = NULL;
  bench_check(nd4c_array_slice(whole, &start, &stop, &step, &view), "nd4c_array_slice");
  nd4c_array_release(whole);
  return view;
}
