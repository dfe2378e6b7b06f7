/* A vector of 16-bit floats as two vectors of f32, whose sums pools compute. Those of bfloat16 are
 * taken apart into even and odd ones, for that needs no shuffle; those of float16 into the first and the later ones.
 * pool.c includes this for pool_half.h, dots.c for its cells of bfloat16. */
#ifndef ND4C_KERNELS_CPU_WINDOW_POOL_PAIR_H
#define ND4C_KERNELS_CPU_WINDOW_POOL_PAIR_H

#include "kernels/cpu/window/pool_vector.h"

/* Numbers of a pair. */
enum { PAIR_LANES = VECTOR_BYTES / sizeof(uint16_t), PAIR_HALF = PAIR_LANES / 2 };

typedef uint32_t pair_words __attribute__((vector_size(VECTOR_BYTES), aligned(2), may_alias));
typedef struct pool_pair {
  vector_float32 first, second;
} pool_pair;

ND4C_INLINED pool_pair pair_sum(pool_pair a, pool_pair b) {
  return (pool_pair){a.first + b.first, a.second + b.second};
}

ND4C_INLINED pool_pair pair_scaled(pool_pair sum, float scale) {
  const vector_float32 factor = vector_repeat_float32(scale);
  return (pool_pair){sum.first * factor, sum.second * factor};
}

/* The first n of a pair's numbers; behind them lie zeros. */
ND4C_INLINED pair_words pair_words_load(const uint16_t *from, int64_t n) {
  if (n == PAIR_LANES) {
    return *(const pair_words *)(const void *)from;
  }
#if defined(__AVX512BW__)
  return (pair_words)_mm512_maskz_loadu_epi16(((__mmask32)1 << n) - 1, from);
#else
  uint16_t whole[PAIR_LANES] = {0};
  memcpy(whole, from, (size_t)n * sizeof *from);
  return *(const pair_words *)(const void *)whole;
#endif
}

ND4C_INLINED void pair_words_store(uint16_t *to, pair_words words, int64_t n) {
  if (n == PAIR_LANES) {
    *(pair_words *)(void *)to = words;
    return;
  }
#if defined(__AVX512BW__)
  _mm512_mask_storeu_epi16(to, ((__mmask32)1 << n) - 1, (__m512i)words);
#else
  memcpy(to, &words, (size_t)n * sizeof *to);
#endif
}

ND4C_INLINED pool_pair pair_load_bfloat16(const uint16_t *from, int64_t n) {
  const pair_words words = pair_words_load(from, n);
  return (pool_pair){(vector_float32)(words << 16), (vector_float32)(words & 0xffff0000)};
}

/* Rounds as nd4c_bfloat16_round does. */
ND4C_INLINED pair_words pair_rounded(vector_float32 x) {
  const pair_words bits = (pair_words)x;
  return bits + (0x7fff + (bits >> 16 & 1));
}

ND4C_INLINED void pair_store_bfloat16(uint16_t *to, pool_pair pair, int64_t n) {
  pair_words_store(to, pair_rounded(pair.first) >> 16 | (pair_rounded(pair.second) & 0xffff0000), n);
}

ND4C_INLINED pool_pair pair_load_float16(const uint16_t *from, int64_t n) {
  const pair_words words = pair_words_load(from, n);
  uint16_t narrow[PAIR_LANES];
  float wide[PAIR_LANES];
  memcpy(narrow, &words, sizeof narrow);
  nd4c_widen_float16(PAIR_LANES, narrow, wide);
  return (pool_pair){vector_load_float32(wide), vector_load_float32(wide + PAIR_HALF)};
}

ND4C_INLINED void pair_store_float16(uint16_t *to, pool_pair pair, int64_t n) {
  float wide[PAIR_LANES];
  uint16_t narrow[PAIR_LANES];
  vector_store_float32(wide, pair.first);
  vector_store_float32(wide + PAIR_HALF, pair.second);
  nd4c_narrow_float16(PAIR_LANES, wide, narrow);
  pair_words words;
  memcpy(&words, narrow, sizeof words);
  pair_words_store(to, words, n);
}

#endif
