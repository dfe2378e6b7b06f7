/* 16-bit floats as signed integers in the same order, of which pools take the largest without widening them. -0 is
 * below +0, and NaN of either sign is above infinity. pool.c includes this for pool_half.h. */
#ifndef ND4C_KERNELS_CPU_WINDOW_POOL_RANK_H
#define ND4C_KERNELS_CPU_WINDOW_POOL_RANK_H

#include "kernels/cpu/window/pool_pair.h"

typedef int16_t pool_ranks __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef uint16_t pool_halves __attribute__((vector_size(VECTOR_BYTES), may_alias));

/* NaN of one sign: as many integers as there are NaN below minus infinity go to the other end of the order. */
enum { RANK_NANS_bfloat16 = 0x7f, RANK_NANS_float16 = 0x3ff };

/* Reverses the order of the negative ones. */
ND4C_INLINED pool_halves ranks_turned(pool_halves x) {
  return x ^ ((pool_halves)((pool_ranks)x >> 15) & 0x7fff);
}

ND4C_INLINED pool_ranks ranks_bfloat16(pair_words x) {
  return (pool_ranks)(ranks_turned((pool_halves)x) - RANK_NANS_bfloat16);
}

ND4C_INLINED pair_words ranked_bfloat16(pool_ranks ranks) {
  return (pair_words)ranks_turned((pool_halves)ranks + RANK_NANS_bfloat16);
}

ND4C_INLINED pool_ranks ranks_float16(pair_words x) {
  return (pool_ranks)(ranks_turned((pool_halves)x) - RANK_NANS_float16);
}

ND4C_INLINED pair_words ranked_float16(pool_ranks ranks) {
  return (pair_words)ranks_turned((pool_halves)ranks + RANK_NANS_float16);
}

ND4C_INLINED pool_ranks ranks_larger(pool_ranks a, pool_ranks b) {
#if defined(__AVX512BW__)
  return (pool_ranks)_mm512_max_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__) && defined(__FMA__)
  return (pool_ranks)_mm256_max_epi16((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
  return (pool_ranks)_mm_max_epi16((__m128i)a, (__m128i)b);
#elif defined(ND4C_HAS_NEON)
  return (pool_ranks)vmaxq_s16((int16x8_t)a, (int16x8_t)b);
#else
  pool_ranks larger = (pool_ranks)(a > b);
  return (a & larger) | (b & ~larger);
#endif
}

#endif
