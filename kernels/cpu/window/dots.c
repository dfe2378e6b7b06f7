/* Implements dots.h. Compiled once per level. simd/window/window_dots.c reads the table by nd4c_simd.dots.
 *
 * A sum has a vector of parts, and SUMS sums stay in registers while the channels of some cells pass. Then their parts
 * are added up together, which takes a shuffle or two a sum. */
#include "kernels/cpu/window/dots.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "kernels/cpu/support/level.h"
#include "kernels/cpu/window/pool_pair.h"

extern const nd4c_dots_table ND4C_LEVEL_NAME(nd4c_dots_table);

enum { LANES = VECTOR_BYTES / sizeof(float), BLOCK = PAIR_LANES, SUMS = 16, MOST_OUTPUTS = 5 };

typedef struct cells {
  int64_t channels, row, x_step;
  const float *w;
  float start[SUMS]; /* the bias, over and over */
} cells;

/* The n channels of a block from `at` on; zeros behind them. */
ND4C_INLINED pool_pair load(bool narrow, const void *x, int64_t at, int64_t n) {
  if (narrow) {
    return pair_load_bfloat16((const uint16_t *)x + at, n);
  }
  const float *from = (const float *)x + at;
  pool_pair cell = {{0}, {0}};
  cell.first = n >= LANES ? vector_load_float32(from) : vector_part_load_float32(from, n);
  if (n > LANES) {
    cell.second = n == BLOCK ? vector_load_float32(from + LANES) : vector_part_load_float32(from + LANES, n - LANES);
  }
  return cell;
}

/* Adds the products of n channels of `places` cells, which start at `at`, with the weights at w. */
ND4C_INLINED void add_block(const cells *c, bool narrow, int outputs, int places, int64_t n, const void *x, int64_t at,
                            const float *w, vector_float32 *sum) {
#pragma GCC unroll 16
  for (int p = 0; p < places; p++) {
    const pool_pair cell = load(narrow, x, at + p * c->x_step, n);
#pragma GCC unroll 5
    for (int o = 0; o < outputs; o++) {
      vector_float32 *to = &sum[p * outputs + o];
      *to = vector_fused_float32(cell.first, vector_load_float32(w + o * c->row), *to);
      *to = vector_fused_float32(cell.second, vector_load_float32(w + o * c->row + LANES), *to);
    }
  }
}

#if defined(__AVX512F__)
/* Sums of the four parts of each quarter of a vector, for four vectors: a, b, c, d in each quarter. */
ND4C_INLINED __m512 quarters(const vector_float32 *sum) {
  const __m512 a = (__m512)sum[0], b = (__m512)sum[1], c = (__m512)sum[2], d = (__m512)sum[3];
  const __m512d ab = (__m512d)_mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
  const __m512d cd = (__m512d)_mm512_add_ps(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
  return _mm512_add_ps((__m512)_mm512_unpacklo_pd(ab, cd), (__m512)_mm512_unpackhi_pd(ab, cd));
}

/* Adds each two quarters of a vector, those of a before those of b. */
ND4C_INLINED __m512 halved(__m512 a, __m512 b) {
  return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xdd));
}
#endif

/* Writes SUMS results, of which the first `count` are used. */
ND4C_INLINED void put(const vector_float32 *sum, int count, const float *start, float *y) {
#if defined(__AVX512F__)
  (void)count;
  const __m512 low = halved(quarters(sum), quarters(sum + 4)), high = halved(quarters(sum + 8), quarters(sum + 12));
  vector_store_float32(y, (vector_float32)halved(low, high) + vector_load_float32(start));
#else
  for (int i = 0; i < count; i++) {
    y[i] = start[i] + vector_sum_float32(sum[i]);
  }
#endif
}

ND4C_INLINED void tile(const cells *c, bool narrow, int outputs, int places, const void *x, int64_t at, float *y) {
  vector_float32 sum[SUMS];
#pragma GCC unroll 16
  for (int i = 0; i < SUMS; i++) {
    sum[i] = (vector_float32){0};
  }
  int64_t channel = 0;
  for (; channel + BLOCK <= c->channels; channel += BLOCK) {
    add_block(c, narrow, outputs, places, BLOCK, x, at + channel, c->w + channel, sum);
  }
  if (channel < c->channels) {
    add_block(c, narrow, outputs, places, c->channels - channel, x, at + channel, c->w + channel, sum);
  }
  put(sum, places * outputs, c->start, y);
}

ND4C_INLINED void tiles(const cells *c, bool narrow, int outputs, int64_t count, const void *x, float *y) {
  const int places = SUMS / outputs;
  int64_t i = 0;
  for (; i + places <= count; i += places) {
    tile(c, narrow, outputs, places, x, i * c->x_step, y + i * outputs);
  }
  for (; i < count; i++) {
    tile(c, narrow, outputs, 1, x, i * c->x_step, y + i * outputs);
  }
}

ND4C_INLINED void convolve(bool narrow, int64_t count, int64_t outputs, int64_t channels, const void *x, int64_t x_step,
                           const float *w, const float *bias, float *y) {
  cells c = {.channels = channels, .row = (channels + BLOCK - 1) / BLOCK * BLOCK, .x_step = x_step, .w = w};
  for (int64_t i = 0; i < SUMS && bias != NULL; i++) {
    c.start[i] = bias[i % outputs];
  }
  switch (outputs) {
#define CASE(n)                        \
  case n:                              \
    tiles(&c, narrow, n, count, x, y); \
    break;
    CASE(1)
    CASE(2)
    CASE(3)
    CASE(4)
    CASE(5)
#undef CASE
    default: /* more than MOST_OUTPUTS */
      break;
  }
}

static void convolve_float32(int64_t count, int64_t outputs, int64_t channels, const float *x, int64_t x_step,
                             const float *w, const float *bias, float *y) {
  convolve(false, count, outputs, channels, x, x_step, w, bias, y);
}

static void convolve_bfloat16(int64_t count, int64_t outputs, int64_t channels, const uint16_t *x, int64_t x_step,
                              const float *w, const float *bias, float *y) {
  convolve(true, count, outputs, channels, x, x_step, w, bias, y);
}

const nd4c_dots_table ND4C_LEVEL_NAME(nd4c_dots_table) = {.most_outputs = MOST_OUTPUTS,
                                                          .block = BLOCK,
                                                          .beyond = SUMS,
                                                          .convolve_float32 = convolve_float32,
                                                          .convolve_bfloat16 = convolve_bfloat16};
