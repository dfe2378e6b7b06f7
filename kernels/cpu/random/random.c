/* Implements random.h: Philox by several blocks, uniform and normal numbers. Compiled once per level. simd/random.c
 * reads the table by nd4c_simd.random. */
#include "kernels/cpu/random/random.h"

#include <math.h>
#include <string.h>

#include "kernels/cpu/support/level.h"
#include "kernels/quantile.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

extern const nd4c_random_table ND4C_LEVEL_NAME(nd4c_random_table);

/* Lanes of 64 bits that hold a word each; what lies above it does not count. */
#if defined(__AVX512F__)
enum { LANES = 8 };
typedef __m512i lanes;
#define MULTIPLY(x, y) _mm512_mul_epu32(x, y)
#define SPREAD(x) _mm512_set1_epi64((int64_t)(x))
#elif defined(__AVX2__)
enum { LANES = 4 };
typedef __m256i lanes;
#define MULTIPLY(x, y) _mm256_mul_epu32(x, y)
#define SPREAD(x) _mm256_set1_epi64x((int64_t)(x))
#elif defined(__SSE2__)
enum { LANES = 2 };
typedef __m128i lanes;
#define MULTIPLY(x, y) _mm_mul_epu32(x, y)
#define SPREAD(x) _mm_set1_epi64x((int64_t)(x))
#else
enum { LANES = 2 };
typedef uint64_t lanes __attribute__((vector_size(16)));
#define MULTIPLY(x, y) (((x) & 0xffffffff) * ((y) & 0xffffffff))
#define SPREAD(x) ((lanes){(x), (x)})
#endif
typedef uint64_t words __attribute__((vector_size(sizeof(lanes))));

typedef struct pairs_of_lanes {
  uint64_t first[LANES], second[LANES];
} pairs_of_lanes;

static inline pairs_of_lanes rounds(uint64_t key, uint64_t low, uint64_t high) {
  words a = {0}, b = {0}, c = (words)SPREAD(high), d = (words)SPREAD(high >> 32);
  for (int i = 0; i < LANES; i++) {
    a[i] = low + (uint64_t)i;
  }
  b = a >> 32;
  uint32_t k = (uint32_t)key, l = (uint32_t)(key >> 32);
  for (int round = 0; round < 10; round++) {
    words left = (words)MULTIPLY((lanes)a, SPREAD(0xD2511F53u)), right = (words)MULTIPLY((lanes)c, SPREAD(0xCD9E8D57u));
    a = right >> 32 ^ b ^ (words)SPREAD(k);
    b = right;
    c = left >> 32 ^ d ^ (words)SPREAD(l);
    d = left;
    k += 0x9E3779B9u;
    l += 0xBB67AE85u;
  }
  words first = (a & 0xffffffff) | b << 32, second = (c & 0xffffffff) | d << 32;
  pairs_of_lanes result;
  memcpy(result.first, &first, sizeof first);
  memcpy(result.second, &second, sizeof second);
  return result;
}

/* Whether the counter carries within a vector. */
static inline int is_even(const nd4c_philox *state, uint64_t step, uint64_t *low, uint64_t *high) {
  *low = state->low + step;
  *high = state->high + (*low < step);
  return step <= UINT64_MAX - LANES && *low <= UINT64_MAX - LANES;
}

static void blocks(const nd4c_philox *state, uint64_t step, int64_t count, uint64_t *pairs) {
  for (int64_t i = 0; i < count; i += LANES) {
    uint64_t low, high;
    int even = is_even(state, step + (uint64_t)i, &low, &high);
    if (even && count - i >= LANES) {
      pairs_of_lanes made = rounds(state->key, low, high);
      for (int k = 0; k < LANES; k++) {
        pairs[2 * (i + k)] = made.first[k];
        pairs[2 * (i + k) + 1] = made.second[k];
      }
      continue;
    }
    for (int64_t k = i; k < count && k < i + LANES; k++) {
      uint32_t block[4];
      nd4c_philox_block(state, step + (uint64_t)k, 0, block);
      pairs[2 * k] = nd4c_philox_pair(block);
      pairs[2 * k + 1] = nd4c_philox_pair(block + 2);
    }
  }
}

static void first_pairs(const nd4c_philox *state, uint64_t step, int64_t count, uint64_t *pairs) {
  for (int64_t i = 0; i < count; i += LANES) {
    uint64_t low, high;
    int even = is_even(state, step + (uint64_t)i, &low, &high);
    if (even && count - i >= LANES) {
      pairs_of_lanes made = rounds(state->key, low, high);
      memcpy(pairs + i, made.first, sizeof made.first);
      continue;
    }
    for (int64_t k = i; k < count && k < i + LANES; k++) {
      uint32_t block[4];
      nd4c_philox_block(state, step + (uint64_t)k, 0, block);
      pairs[k] = nd4c_philox_pair(block);
    }
  }
}

/* -- distributions ---------------------------------------------------------------------------------------------- */

static void uniform32(int64_t n, const uint32_t *words32, double low, double range, float *y) {
  if (low == 0 && range == 1) { /* exact, so in single precision */
    ND4C_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
      y[i] = (float)(int32_t)(words32[i] >> 8) * 0x1p-24f;
    }
    return;
  }
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = (float)(low + (double)(int32_t)(words32[i] >> 8) * 0x1p-24 * range);
  }
}

static void uniform64(int64_t n, const uint64_t *pairs, double low, double range, double *y) {
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = low + (double)(int64_t)(pairs[i] >> 11) * 0x1p-53 * range;
  }
}

/* The middle of the distribution for all, then its tails for those that lie there. */
static void normal(int64_t n, const uint64_t *pairs, double *z) {
  double root[ND4C_RANDOM_RUN];
  int32_t place[ND4C_RANDOM_RUN], tails = 0;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    int64_t rest = INT64_MAX - (int64_t)(pairs[i] >> 1);
    double from_half = ((double)rest + 0.5) * 0x1p-64;
    double size = -from_half * nd4c_quantile_ratio(nd4c_quantile_middle, 0.180625 - from_half * from_half);
    z[i] = pairs[i] & 1 ? -size : size;
  }
  for (int32_t i = 0; i < n; i++) {
    int64_t rest = INT64_MAX - (int64_t)(pairs[i] >> 1);
    place[tails] = i;
    tails += !(((double)rest + 0.5) * 0x1p-64 <= ND4C_QUANTILE_MIDDLE);
  }
  for (int32_t t = 0; t < tails; t++) {
    root[t] = -log(((double)(int64_t)(pairs[place[t]] >> 1) + 0.5) * 0x1p-64);
  }
  ND4C_INDEPENDENT
  for (int32_t t = 0; t < tails; t++) {
    double r = sqrt(root[t]);
    root[t] = r <= ND4C_QUANTILE_FAR ? -nd4c_quantile_ratio(nd4c_quantile_near, r - 1.6) : r;
  }
  for (int32_t t = 0; t < tails; t++) {
    double size =
        root[t] > ND4C_QUANTILE_FAR ? -nd4c_quantile_ratio(nd4c_quantile_far, root[t] - ND4C_QUANTILE_FAR) : root[t];
    z[place[t]] = pairs[place[t]] & 1 ? -size : size;
  }
}

static void scale32(int64_t n, const double *z, double mean, double scale, float *y) {
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = (float)(mean + scale * z[i]);
  }
}

static void scale64(int64_t n, const double *z, double mean, double scale, double *y) {
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = mean + scale * z[i];
  }
}

static int64_t below(int64_t n, const uint64_t *pairs, uint64_t range, uint64_t beyond, uint64_t *y) {
  uint64_t missed = 0;
  for (int64_t i = 0; i < n; i++) {
    uint64_t lower = (pairs[i] & 0xffffffff) * range, upper = (pairs[i] >> 32) * range + (lower >> 32);
    y[i] = upper >> 32;
    missed |= (uint64_t)((upper << 32 | (lower & 0xffffffff)) < beyond);
  }
  for (int64_t i = 0; missed != 0 && i < n; i++) {
    if (pairs[i] * range < beyond) {
      return i;
    }
  }
  return n;
}

const nd4c_random_table ND4C_LEVEL_NAME(nd4c_random_table) = {
    .blocks = blocks,
    .first_pairs = first_pairs,
    .uniform32 = uniform32,
    .uniform64 = uniform64,
    .normal = normal,
    .scale32 = scale32,
    .scale64 = scale64,
    .below = below,
};
