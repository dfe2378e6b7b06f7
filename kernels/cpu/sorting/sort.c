/* Implements sort.h: words by sort_vector.h where the level is AVX-512, else by sort_portable.h, with AVX2 or without.
 * Compiled once per level. simd/sorting/sorting.c and sorting_words.c read the table by nd4c_simd.sort. */
#include "kernels/cpu/sorting/sort.h"

#include <string.h>

#include "kernels/cpu/support/level.h"
#include "kernels/cpu/support/wrap.h"
#include "kernels/types.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#include <immintrin.h>
#define VECTOR_SORT 1
#elif defined(__AVX2__)
#include <immintrin.h>
#define AVX2_SORT 1
#endif

extern const nd4c_sort_table ND4C_LEVEL_NAME(nd4c_sort_table);

/* Of the searches that run side by side. */
enum { BESIDE = 32, FEW_KEYS = 8 };

#if defined(AVX2_SORT)
#include "kernels/cpu/sorting/sort_orders.h"
#endif
#if defined(VECTOR_SORT)
#define WORD_TEMPLATE "kernels/cpu/sorting/sort_vector.h"
#else
#define WORD_TEMPLATE "kernels/cpu/sorting/sort_portable.h"
#endif
#define ND4C_WORD_BITS 32
#include WORD_TEMPLATE
#undef ND4C_WORD_BITS
#define ND4C_WORD_BITS 64
#include WORD_TEMPLATE

/* -- keys ----------------------------------------------------------------------------------------------------- */

/* Of floats: the types of words and of their bits, and how many bits a mantissa has. */
typedef uint32_t word_float32, word_float16, word_bfloat16, bits_float32;
typedef uint64_t word_float64, bits_float64;
typedef uint16_t bits_float16, bits_bfloat16;
enum { MANTISSA_float32 = 23, MANTISSA_float64 = 52, MANTISSA_float16 = 10, MANTISSA_bfloat16 = 7 };

#define ND4C_TEMPLATE "kernels/cpu/sorting/keys.h"
#define ND4C_KINDS (ND4C_SIGNED | ND4C_UNSIGNED | ND4C_WIDE_FLOAT | ND4C_HALF)
#include "kernels/cpu/support/each_dtype.h"

static uint32_t keys_boolean(int64_t n, const void *vx, uint64_t flip, void *vwords) {
  const uint8_t *x = vx;
  uint32_t *words = vwords, turn = (uint32_t)flip;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    words[i] = (uint32_t)(x[i] != 0) ^ turn;
  }
  return 0;
}
static void elements_boolean(int64_t n, const void *vwords, uint64_t flip, void *vx) {
  const uint32_t *words = vwords, turn = (uint32_t)flip;
  uint8_t *x = vx;
  for (int64_t i = 0; i < n; i++) {
    x[i] = (uint8_t)(words[i] ^ turn);
  }
}

/* -- words ---------------------------------------------------------------------------------------------------- */

static void pair(int64_t n, const uint32_t *keys, int64_t first, uint64_t *to) {
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    to[i] = (uint64_t)keys[i] << 32 | (uint64_t)(first + i);
  }
}

static void mask_words(int64_t n, const uint64_t *words, uint64_t mask, int64_t *to) {
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    to[i] = (int64_t)(words[i] & mask);
  }
}

static void pack(int64_t n, const uint64_t *keys, uint64_t least, int32_t shift, int32_t low_bits, int64_t first,
                 uint64_t *to) {
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    to[i] = (keys[i] - least) >> shift << low_bits | (uint64_t)(first + i);
  }
}

static void range(int64_t n, const uint64_t *keys, uint64_t first, uint64_t *least, uint64_t *most, uint64_t *differ) {
  uint64_t low = *least, high = *most, other = *differ;
  for (int64_t i = 0; i < n; i++) {
    low = keys[i] < low ? keys[i] : low;
    high = keys[i] > high ? keys[i] : high;
    other |= keys[i] ^ first;
  }
  *least = low;
  *most = high;
  *differ = other;
}

#if defined(VECTOR_SORT)
static int64_t filter(int64_t n, const uint32_t *keys, int64_t first, uint32_t bound, uint64_t *to, int64_t room,
                      int64_t *count) {
  const __m512i step = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), limit = _mm512_set1_epi32((int32_t)bound);
  int64_t i = 0, taken = *count;
  for (; i < n && taken + ND4C_SORT_FILTER_ROOM <= room; i += 16) {
    __mmask16 there = n - i >= 16 ? (__mmask16)0xffff : (__mmask16)((1u << (n - i)) - 1);
    __m512i v = _mm512_maskz_loadu_epi32(there, keys + i);
    __mmask16 found = _mm512_mask_cmple_epu32_mask(there, v, limit);
    if (found == 0) {
      continue;
    }
    __m512i places = _mm512_add_epi64(step, _mm512_set1_epi64(first + i));
    for (int half = 0; half < 2; half++) {
      __mmask8 some = (__mmask8)(found >> (8 * half));
      __m512i key = _mm512_cvtepu32_epi64(half == 0 ? _mm512_castsi512_si256(v) : _mm512_extracti64x4_epi64(v, 1));
      __m512i word = _mm512_or_si512(_mm512_slli_epi64(key, 32), places);
      _mm512_storeu_si512(to + taken, _mm512_maskz_compress_epi64(some, word));
      taken += __builtin_popcount(some);
      places = _mm512_add_epi64(places, _mm512_set1_epi64(8));
    }
  }
  *count = taken;
  return i < n ? i : n;
}

static int64_t filter_wide(int64_t n, const uint64_t *keys, int64_t first, uint64_t bound, int64_t *to, int64_t room,
                           int64_t *count) {
  const __m512i step = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), limit = _mm512_set1_epi64((int64_t)bound);
  int64_t i = 0, taken = *count;
  for (; i < n && taken + ND4C_SORT_FILTER_ROOM <= room; i += 8) {
    __mmask8 there = n - i >= 8 ? (__mmask8)0xff : (__mmask8)((1u << (n - i)) - 1);
    __mmask8 found = _mm512_mask_cmple_epu64_mask(there, _mm512_maskz_loadu_epi64(there, keys + i), limit);
    if (found == 0) {
      continue;
    }
    __m512i places = _mm512_add_epi64(step, _mm512_set1_epi64(first + i));
    _mm512_storeu_si512(to + taken, _mm512_maskz_compress_epi64(found, places));
    taken += __builtin_popcount(found);
  }
  *count = taken;
  return i < n ? i : n;
}
#else
static int64_t filter(int64_t n, const uint32_t *keys, int64_t first, uint32_t bound, uint64_t *to, int64_t room,
                      int64_t *count) {
  int64_t i = 0, taken = *count;
  for (; i < n && taken + ND4C_SORT_FILTER_ROOM <= room; i += 16) {
    int64_t end = n - i < 16 ? n - i : 16;
    int any = 0;
    for (int64_t k = 0; k < end; k++) {
      any |= keys[i + k] <= bound;
    }
    for (int64_t k = 0; any && k < end; k++) {
      to[taken] = (uint64_t)keys[i + k] << 32 | (uint64_t)(first + i + k);
      taken += keys[i + k] <= bound;
    }
  }
  *count = taken;
  return i < n ? i : n;
}

static int64_t filter_wide(int64_t n, const uint64_t *keys, int64_t first, uint64_t bound, int64_t *to, int64_t room,
                           int64_t *count) {
  int64_t i = 0, taken = *count;
  for (; i < n && taken + ND4C_SORT_FILTER_ROOM <= room; i++) {
    to[taken] = first + i;
    taken += keys[i] <= bound;
  }
  *count = taken;
  return i;
}
#endif

/* -- table ---------------------------------------------------------------------------------------------------- */

#define ENTRY(D, d, bits_of_key, zero_key, floats)          \
  [ND4C_##D] = {.bits = (bits_of_key),                      \
                .wide = (bits_of_key) > 32,                 \
                .flip = UINT64_MAX >> (64 - (bits_of_key)), \
                .zero = (zero_key),                         \
                .has_special = (floats),                    \
                .keys = keys_##d,                           \
                .elements = elements_##d},
#define BITS(d) (8 * (int32_t)sizeof(nd4c_c_##d))
#define SIGNED(D, d, kind) ENTRY(D, d, BITS(d), UINT64_C(1) << (BITS(d) - 1), false)
#define UNSIGNED(D, d, kind) ENTRY(D, d, BITS(d), 0, false)
#define FLOATING(D, d, kind) ENTRY(D, d, BITS(d), UINT64_C(1) << (BITS(d) - 1), true)

const nd4c_sort_table ND4C_LEVEL_NAME(nd4c_sort_table) = {
#if !defined(VECTOR_SORT) && !defined(AVX2_SORT)
    .needs_work = true,
#endif
    .words = {{sort_32, count_32, scatter_32, distinct_32, search_32},
              {sort_64, count_64, scatter_64, distinct_64, search_64}},
    .dtypes = {ENTRY(BOOL, boolean, 1, 0, false) ND4C_INT_DTYPES(SIGNED) ND4C_UINT_DTYPES(UNSIGNED)
                   ND4C_WIDE_FLOAT_DTYPES(FLOATING) ND4C_HALF_DTYPES(FLOATING)},
    .pair = pair,
    .mask = mask_words,
    .pack = pack,
    .range = range,
    .filter = filter,
    .filter_wide = filter_wide,
};
