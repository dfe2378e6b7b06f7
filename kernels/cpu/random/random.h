/* Random numbers by runs: the words of kernels/reference/random/philox.h, several blocks at a time, and the numbers
 * made of them. Bits are those of the reference at every level. simd/random.c calls these. */
#ifndef ND4C_KERNELS_CPU_RANDOM_RANDOM_H
#define ND4C_KERNELS_CPU_RANDOM_RANDOM_H

#include <stdint.h>

#include "kernels/reference/random/philox.h"

typedef struct nd4c_random_table {
  /* Blocks step .. step + count - 1: pairs of words as 64-bit numbers, two a block. */
  void (*blocks)(const nd4c_philox *state, uint64_t step, int64_t count, uint64_t *pairs);
  /* The first pair of each block. */
  void (*first_pairs)(const nd4c_philox *state, uint64_t step, int64_t count, uint64_t *pairs);
  /* y = low + u * range: u of the 24 upper bits of a word, of the 53 upper bits of a pair. */
  void (*uniform32)(int64_t n, const uint32_t *words, double low, double range, float *y);
  void (*uniform64)(int64_t n, const uint64_t *pairs, double low, double range, double *y);
  /* z of the standard normal distribution, n at most ND4C_RANDOM_RUN. */
  void (*normal)(int64_t n, const uint64_t *pairs, double *z);
  /* y = (float)(mean + scale * z), y may be as wide. */
  void (*scale32)(int64_t n, const double *z, double mean, double scale, float *y);
  void (*scale64)(int64_t n, const double *z, double mean, double scale, double *y);
  /* y = floor(pair * range / 2^64), range below 2^32; returns where the lower half of the product is below `beyond` for
   * the first time, n if nowhere. */
  int64_t (*below)(int64_t n, const uint64_t *pairs, uint64_t range, uint64_t beyond, uint64_t *y);
} nd4c_random_table;

enum { ND4C_RANDOM_RUN = 1024 };

#endif
