/* Sorting words with AVX2: quicksort whose partition brings the lanes below the pivot to the front of each vector, and
 * networks of vectors for what fits into eight of them. AVX2 compares signed numbers alone, so that vectors hold words
 * of 64 bits with the highest bit turned; of 32 bits it has the smaller and the larger one. sort_portable.h includes
 * this. */

#if ND4C_WORD_BITS == 32
#define LANES 8
#define SPREAD(x) _mm256_set1_epi32((int32_t)(x))
#define HIGHEST INT32_MIN
/* Lanes whose numbers differ in one bit change places; 4 or 8 lanes in reverse. */
#define SWAP_1(v) _mm256_shuffle_epi32(v, 0xb1)
#define SWAP_2(v) _mm256_shuffle_epi32(v, 0x4e)
#define SWAP_4(v) _mm256_permute2x128_si256(v, v, 1)
#define REVERSE_4(v) _mm256_shuffle_epi32(v, 0x1b)
#define REVERSE(v) REVERSE_4(SWAP_4(v))
/* b's lanes whose numbers have that bit, else a's. */
#define ODD_1(a, b) _mm256_blend_epi32(a, b, 0xaa)
#define ODD_2(a, b) _mm256_blend_epi32(a, b, 0xcc)
#define ODD_4(a, b) _mm256_blend_epi32(a, b, 0xf0)
#else
#define LANES 4
#define SPREAD(x) _mm256_set1_epi64x((int64_t)(x))
#define HIGHEST INT64_MIN
#define SWAP_1(v) _mm256_shuffle_epi32(v, 0x4e)
#define SWAP_2(v) _mm256_permute2x128_si256(v, v, 1)
#define REVERSE_4(v) _mm256_permute4x64_epi64(v, 0x1b)
#define REVERSE(v) REVERSE_4(v)
#define ODD_1(a, b) _mm256_blend_epi32(a, b, 0xcc)
#define ODD_2(a, b) _mm256_blend_epi32(a, b, 0xf0)
#endif
#define FEW_SAMPLES 16
#define VECTOR __m256i
#define SMALLER NAMED(smaller)
#define LARGER NAMED(larger)

/* -- networks -------------------------------------------------------------------------------------------------- */

static inline VECTOR SMALLER(VECTOR a, VECTOR b) {
#if ND4C_WORD_BITS == 32
  return _mm256_min_epu32(a, b);
#else
  return _mm256_blendv_epi8(a, b, _mm256_cmpgt_epi64(a, b));
#endif
}

static inline VECTOR LARGER(VECTOR a, VECTOR b) {
#if ND4C_WORD_BITS == 32
  return _mm256_max_epu32(a, b);
#else
  return _mm256_blendv_epi8(b, a, _mm256_cmpgt_epi64(a, b));
#endif
}

/* Compares lanes with their partners: those that `odd` takes from its second vector keep the larger. */
#define EXCHANGE(v, partners, odd)                  \
  do {                                              \
    const VECTOR other = partners(v);               \
    (v) = odd(SMALLER(v, other), LARGER(v, other)); \
  } while (0)

static inline VECTOR NAMED(reverse)(VECTOR v) {
  return REVERSE(v);
}

/* Sorts a vector that rises and falls. */
static inline VECTOR NAMED(clean_lanes)(VECTOR v) {
#if ND4C_WORD_BITS == 32
  EXCHANGE(v, SWAP_4, ODD_4);
#endif
  EXCHANGE(v, SWAP_2, ODD_2);
  EXCHANGE(v, SWAP_1, ODD_1);
  return v;
}

static inline VECTOR NAMED(sort_lanes)(VECTOR v) {
  EXCHANGE(v, SWAP_1, ODD_1);
  EXCHANGE(v, REVERSE_4, ODD_2);
  EXCHANGE(v, SWAP_1, ODD_1);
#if ND4C_WORD_BITS == 32
  EXCHANGE(v, REVERSE, ODD_4);
  EXCHANGE(v, SWAP_2, ODD_2);
  EXCHANGE(v, SWAP_1, ODD_1);
#endif
  return v;
}

#include "kernels/cpu/sorting/sort_runs.h"

static inline VECTOR NAMED(load)(const WORD *x) {
  const VECTOR v = _mm256_loadu_si256((const __m256i *)(const void *)x);
  return ND4C_WORD_BITS == 32 ? v : _mm256_xor_si256(v, SPREAD(HIGHEST));
}

static inline void NAMED(store)(WORD *x, VECTOR v) {
  _mm256_storeu_si256((__m256i *)(void *)x, ND4C_WORD_BITS == 32 ? v : _mm256_xor_si256(v, SPREAD(HIGHEST)));
}

/* Sorts n words, of `count` vectors at most; what is missing counts as largest. */
#define NETWORK(count)                                                                               \
  static void NAMED(network_##count)(WORD * x, int64_t n) {                                          \
    VECTOR v[count];                                                                                 \
    WORD last[(count) * LANES];                                                                      \
    const bool whole = n == (count) * LANES;                                                         \
    WORD *words = whole ? x : last;                                                                  \
    if (!whole) {                                                                                    \
      memset(last, 0xff, sizeof last);                                                               \
      memcpy(last, x, (size_t)n * sizeof *x);                                                        \
    }                                                                                                \
    _Pragma("GCC unroll 8") for (int i = 0; i < (count); i++) v[i] = NAMED(load)(words + i * LANES); \
    NAMED(sort_vectors)(v, count);                                                                   \
    _Pragma("GCC unroll 8") for (int i = 0; i < (count); i++) NAMED(store)(words + i * LANES, v[i]); \
    if (!whole) {                                                                                    \
      memcpy(x, last, (size_t)n * sizeof *x);                                                        \
    }                                                                                                \
  }
NETWORK(1)
NETWORK(2)
NETWORK(4)
NETWORK(8)

enum { NAMED(NETWORK_WORDS) = 8 * LANES };

static void NAMED(sort_few)(WORD *x, int64_t n) {
  if (n <= LANES) {
    NAMED(network_1)(x, n);
  } else if (n <= 2 * LANES) {
    NAMED(network_2)(x, n);
  } else if (n <= 4 * LANES) {
    NAMED(network_4)(x, n);
  } else {
    NAMED(network_8)(x, n);
  }
}

/* -- partition ------------------------------------------------------------------------------------------------- */

enum { NAMED(BUFFER_WORDS) = 8192 / sizeof(WORD) };

/* Brings the lanes below the limit to the front, the others behind them; how many are below. `limit`: with the highest
 * bit turned. */
static inline VECTOR NAMED(split)(VECTOR v, VECTOR limit, int32_t *below) {
  const VECTOR turned = _mm256_xor_si256(v, SPREAD(HIGHEST));
#if ND4C_WORD_BITS == 32
  const uint32_t mask = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(limit, turned)));
#else
  const uint32_t mask = (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(limit, turned)));
#endif
  const __m128i order = _mm_loadl_epi64((const __m128i *)(const void *)NAMED(orders)[mask]);
  *below = __builtin_popcount(mask);
  return _mm256_permutevar8x32_epi32(v, _mm256_cvtepu8_epi32(order));
}

static inline VECTOR NAMED(read)(const WORD *x) {
  return _mm256_loadu_si256((const __m256i *)(const void *)x);
}

static inline void NAMED(write)(WORD *x, VECTOR v) {
  _mm256_storeu_si256((__m256i *)(void *)x, v);
}

/* Puts a vector's words below the limit at low, the others in front of high. Stores whole vectors on both sides. */
ND4C_INLINED void NAMED(part)(VECTOR v, VECTOR limit, WORD **low, WORD **high) {
  int32_t below;
  v = NAMED(split)(v, limit, &below);
  NAMED(write)(*low, v);
  NAMED(write)(*high - LANES, v);
  *low += below;
  *high -= LANES - below;
}

/* Words below the pivot first; how many there are. By way of a buffer, which the others fill from its end. */
static int64_t NAMED(partition_short)(WORD *x, int64_t n, WORD pivot) {
  WORD buffer[LANES + NAMED(BUFFER_WORDS)];
  const VECTOR limit = _mm256_xor_si256(SPREAD(pivot), SPREAD(HIGHEST));
  WORD *low = x, *end = buffer + sizeof buffer / sizeof *buffer, *high = end;
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES) {
    NAMED(part)(NAMED(read)(x + i), limit, &low, &high);
  }
  for (; i < n; i++) {
    const WORD word = x[i];
    high[-1] = word;
    *low = word;
    low += word < pivot;
    high -= word >= pivot;
  }
  memcpy(low, high, (size_t)(end - high) * sizeof *x);
  return low - x;
}

/* In place, for at least 4 blocks: room is made by taking the first and the last block out, then blocks are taken from
 * the side with less room, so that the other side has room for a block, too. Vectors are stored whole on both sides. */
static int64_t NAMED(partition_long)(WORD *x, int64_t n, WORD pivot) {
  enum { VECTORS = 8, BLOCK = VECTORS * LANES };
  WORD saved[3 * BLOCK];
  WORD *left = x + BLOCK, *right = x + n - BLOCK, *low = x, *high = x + n;
  const VECTOR limit = _mm256_xor_si256(SPREAD(pivot), SPREAD(HIGHEST));
  memcpy(saved, x, sizeof(WORD[BLOCK]));
  memcpy(saved + BLOCK, right, sizeof(WORD[BLOCK]));
  while (right - left >= BLOCK) {
    const WORD *from = left;
    if (left - low <= high - right) {
      left += BLOCK;
    } else {
      right -= BLOCK;
      from = right;
    }
    VECTOR v[VECTORS];
    _Pragma("GCC unroll 8") for (int i = 0; i < VECTORS; i++) v[i] = NAMED(read)(from + i * LANES);
    _Pragma("GCC unroll 8") for (int i = 0; i < VECTORS; i++) NAMED(part)(v[i], limit, &low, &high);
  }
  const int64_t rest = right - left, total = 2 * BLOCK + rest;
  memcpy(saved + 2 * BLOCK, left, (size_t)rest * sizeof *x);
  int64_t i = 0;
  for (; total - i >= 2 * LANES; i += LANES) { /* so that the two stores do not meet */
    NAMED(part)(NAMED(read)(saved + i), limit, &low, &high);
  }
  for (; i < total; i++) {
    if (saved[i] < pivot) {
      *low++ = saved[i];
    } else {
      *--high = saved[i];
    }
  }
  return low - x;
}

#include "kernels/cpu/sorting/sort_quick.h"

#undef LANES
#undef SPREAD
#undef HIGHEST
#undef SWAP_1
#undef SWAP_2
#undef SWAP_4
#undef REVERSE_4
#undef REVERSE
#undef ODD_1
#undef ODD_2
#undef ODD_4
#undef VECTOR
#undef SMALLER
#undef LARGER
#undef FEW_SAMPLES
#undef EXCHANGE
#undef NETWORK
