/* Implements depthwise_last.h. Compiled once per level. simd/window/window_depthwise_last.c reads the table by
 * nd4c_simd.depthwise_last.
 *
 * Two bfloat16 are one number of 32 bits: the upper one is an f32 where the lower one is masked, and the lower one
 * where it is shifted. So a vector of bfloat16 is two vectors of f32 after one operation each. */
#include "kernels/cpu/window/depthwise_last.h"

#include <string.h>

#include "kernels/cpu/support/level.h"
#include "kernels/cpu/window/pool_vector.h"

extern const nd4c_depthwise_last_table ND4C_LEVEL_NAME(nd4c_depthwise_last_table);

enum { LANES = VECTOR_BYTES / sizeof(float), BLOCK = 2 * LANES };

typedef uint32_t vector_bits __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef struct pair {
  vector_float32 v[2];
} pair;

/* What a tile reads and writes: `left` channels, which are fewer than a block unless it is whole. */
typedef struct tile_place {
  const nd4c_depthwise_taps *taps;
  int64_t x_step, y_step, left;
  const float *w, *bias;
  nd4c_inner_activation activation;
} tile_place;

ND4C_INLINED vector_float32 load_some(const float *from, int64_t n) {
  return n >= LANES ? vector_load_float32(from) : n > 0 ? vector_part_load_float32(from, n) : (vector_float32){0};
}

ND4C_INLINED pair load_float32(bool whole, const void *x, int64_t at, int64_t left) {
  const float *from = (const float *)x + at;
  return whole ? (pair){{vector_load_float32(from), vector_load_float32(from + LANES)}}
               : (pair){{load_some(from, left), load_some(from + LANES, left - LANES)}};
}

ND4C_INLINED pair load_bfloat16(bool whole, const void *x, int64_t at, int64_t left) {
  const uint16_t *from = (const uint16_t *)x + at;
  vector_bits both;
  if (whole) {
    memcpy(&both, from, sizeof both);
  } else {
#if defined(__AVX512F__)
    both = (vector_bits)_mm512_maskz_loadu_epi16((__mmask32)((UINT64_C(1) << left) - 1), from);
#else
    uint16_t some[BLOCK] = {0};
    memcpy(some, from, (size_t)left * sizeof *some);
    memcpy(&both, some, sizeof both);
#endif
  }
  return (pair){{(vector_float32)(both << 16), (vector_float32)(both & 0xffff0000u)}};
}

ND4C_INLINED void put(bool whole, vector_float32 sum, int64_t n, float *y) {
  if (whole || n >= LANES) {
    vector_store_float32(y, sum);
  } else if (n > 0) {
    vector_part_store_float32(y, sum, n);
  }
}

/* To the nearest, ties to even; a NaN keeps its upper bits and stays one. */
ND4C_INLINED vector_bits rounded(vector_float32 x) {
  const vector_bits bits = (vector_bits)x;
  const vector_bits nan = (vector_bits)(x != x);
  return (nan & (bits | 0x400000u)) | (~nan & (bits + 0x7fffu + (bits >> 16 & 1u)));
}

ND4C_INLINED vector_bits joined(vector_float32 even, vector_float32 odd) {
  return rounded(even) >> 16 | (rounded(odd) & 0xffff0000u);
}

/* `places` places of y, a number that is known when this is compiled, and one block of channels. */
ND4C_INLINED void tile(int places, bool narrow, bool whole, const tile_place *p, const void *x, int64_t channel,
                       float *y) {
  pair sum[6];
#pragma GCC unroll 8
  for (int r = 0; r < places; r++) {
    sum[r] = (pair){{vector_load_float32(p->bias + channel), vector_load_float32(p->bias + channel + LANES)}};
  }
  for (int64_t t = 0; t < p->taps->count; t++) {
    const float *w = p->w + p->taps->weights[t] + channel;
    const vector_float32 first = vector_load_float32(w), second = vector_load_float32(w + LANES);
    const int64_t at = p->taps->cells[t] + channel;
#pragma GCC unroll 8
    for (int r = 0; r < places; r++) {
      const pair cell = narrow ? load_bfloat16(whole, x, at + r * p->x_step, p->left)
                               : load_float32(whole, x, at + r * p->x_step, p->left);
      sum[r].v[0] = vector_fused_float32(cell.v[0], first, sum[r].v[0]);
      sum[r].v[1] = vector_fused_float32(cell.v[1], second, sum[r].v[1]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < places; r++) {
    float *to = y + r * p->y_step + channel;
    put(narrow || whole, vector_activated_float32(sum[r].v[0], p->activation), p->left, to);
    put(narrow || whole, vector_activated_float32(sum[r].v[1], p->activation), p->left - LANES, to + LANES);
  }
}

ND4C_INLINED void tiles(int places, bool narrow, int64_t channels, tile_place *p, const void *x, float *y) {
  int64_t channel = 0;
  p->left = BLOCK;
  for (; channel + BLOCK <= channels; channel += BLOCK) {
    tile(places, narrow, true, p, x, channel, y);
  }
  if (channel < channels) {
    p->left = channels - channel;
    tile(places, narrow, false, p, x, channel, y);
  }
}

ND4C_INLINED void convolve(bool narrow, int64_t places, int64_t channels, tile_place *p, const char *x, int64_t bytes,
                           float *y) {
  while (places > 0) {
    const int64_t some = places >= 6 ? 6 : places >= 3 ? 3 : places;
    if (some == 6) {
      tiles(6, narrow, channels, p, x, y);
    } else if (some == 3) {
      tiles(3, narrow, channels, p, x, y);
    } else if (some == 2) {
      tiles(2, narrow, channels, p, x, y);
    } else {
      tiles(1, narrow, channels, p, x, y);
    }
    x += some * p->x_step * bytes;
    y += some * p->y_step;
    places -= some;
  }
}

static void convolve_float32(int64_t places, int64_t channels, const nd4c_depthwise_taps *taps, const float *x,
                             int64_t x_step, const float *w, const float *bias, nd4c_inner_activation activation,
                             float *y, int64_t y_step) {
  tile_place p = {.taps = taps, .x_step = x_step, .y_step = y_step, .w = w, .bias = bias, .activation = activation};
  convolve(false, places, channels, &p, (const char *)x, sizeof *x, y);
}

static void convolve_bfloat16(int64_t places, int64_t channels, const nd4c_depthwise_taps *taps, const uint16_t *x,
                              int64_t x_step, const float *w, const float *bias, nd4c_inner_activation activation,
                              float *y, int64_t y_step) {
  tile_place p = {.taps = taps, .x_step = x_step, .y_step = y_step, .w = w, .bias = bias, .activation = activation};
  convolve(true, places, channels, &p, (const char *)x, sizeof *x, y);
}

static int64_t spread(int64_t channel) {
  return channel / BLOCK * BLOCK + channel % 2 * LANES + channel % BLOCK / 2;
}

static void join_bfloat16(int64_t channels, const float *sums, uint16_t *y) {
  for (int64_t channel = 0; channel < channels; channel += BLOCK) {
    const vector_bits both = joined(vector_load_float32(sums + channel), vector_load_float32(sums + channel + LANES));
    const int64_t left = channels - channel;
    memcpy(y + channel, &both, left < BLOCK ? (size_t)left * sizeof *y : sizeof both);
  }
}

/* Other levels have too few registers for strips, and engine simd leaves these layers to libraries there. */
#if defined(__AVX512F__)
#include "kernels/cpu/window/depthwise_strip.h"
#else
static bool serves_strip(int64_t taps, int64_t stride) {
  (void)taps;
  (void)stride;
  return false;
}
#endif

const nd4c_depthwise_last_table ND4C_LEVEL_NAME(nd4c_depthwise_last_table) = {
    .block = BLOCK,
    .convolve_float32 = convolve_float32,
    .convolve_bfloat16 = convolve_bfloat16,
    .serves_strip = serves_strip,
#if defined(__AVX512F__)
    .strip_float32 = strip_float32,
    .strip_sums_bfloat16 = strip_sums_bfloat16,
    .strip_bfloat16 = strip_bfloat16,
#endif
    .spread = spread,
    .join_bfloat16 = join_bfloat16};
