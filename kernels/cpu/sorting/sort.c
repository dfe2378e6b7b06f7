/* See sort.h. */
#include "kernels/cpu/sorting/sort.h"

#include <string.h>

#include "kernels/cpu/support/level.h"
#include "kernels/types.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#include <immintrin.h>
#define VECTOR_SORT 1
#endif

extern const nd4c_sort_table ND4C_LEVEL_NAME(nd4c_sort_table);

#if defined(VECTOR_SORT)
#define ND4C_WORD_BITS 32
#include "kernels/cpu/sorting/sort_vector.h"
#undef ND4C_WORD_BITS
#define ND4C_WORD_BITS 64
#include "kernels/cpu/sorting/sort_vector.h"
#else
#define ND4C_WORD_BITS 32
#include "kernels/cpu/sorting/sort_portable.h"
#undef ND4C_WORD_BITS
#define ND4C_WORD_BITS 64
#include "kernels/cpu/sorting/sort_portable.h"
#endif

/* -- keys ----------------------------------------------------------------------------------------------------- */

#define WHOLE_KEYS(name, word, bias)                                                    \
  static uint32_t keys_##name(int64_t n, const void *vx, uint64_t flip, void *vwords) { \
    const nd4c_c_##name *x = vx;                                                        \
    word *words = vwords, turn = (word)flip;                                            \
    ND4C_INDEPENDENT                                                                    \
    for (int64_t i = 0; i < n; i++)                                                     \
      words[i] = (word)((word)x[i] + (word)(bias)) ^ turn;                              \
    return 0;                                                                           \
  }                                                                                     \
  static void elements_##name(int64_t n, const void *vwords, uint64_t flip, void *vx) { \
    const word *words = vwords, turn = (word)flip;                                      \
    nd4c_c_##name *x = vx;                                                              \
    ND4C_INDEPENDENT                                                                    \
    for (int64_t i = 0; i < n; i++)                                                     \
      x[i] = (nd4c_c_##name)((words[i] ^ turn) - (word)(bias));                         \
  }

static uint32_t keys_boolean(int64_t n, const void *vx, uint64_t flip, void *vwords) {
  const uint8_t *x = vx;
  uint32_t *words = vwords, turn = (uint32_t)flip;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++)
    words[i] = (uint32_t)(x[i] != 0) ^ turn;
  return 0;
}
static void elements_boolean(int64_t n, const void *vwords, uint64_t flip, void *vx) {
  const uint32_t *words = vwords, turn = (uint32_t)flip;
  uint8_t *x = vx;
  for (int64_t i = 0; i < n; i++)
    x[i] = (uint8_t)(words[i] ^ turn);
}
WHOLE_KEYS(int8, uint32_t, 0x80)
WHOLE_KEYS(uint8, uint32_t, 0)
WHOLE_KEYS(int32, uint32_t, 0x80000000)
WHOLE_KEYS(int64, uint64_t, UINT64_C(0x8000000000000000))

/* bits: the unsigned type of a float's bits. */
#define FLOAT_KEYS(name, bits, word, top, infinity, quiet)                              \
  static uint32_t keys_##name(int64_t n, const void *vx, uint64_t flip, void *vwords) { \
    const bits *x = vx;                                                                 \
    const word sign = (word)1 << (top), all = sign + (sign - 1), turn = (word)flip;     \
    word *words = vwords, special = 0;                                                  \
    for (int64_t i = 0; i < n; i++) {                                                   \
      word b = x[i], size = b & (sign - 1), negative = 0 - (b >> (top));                \
      word key = (b ^ (negative | sign)) & all;                                         \
      key = size == 0 ? sign : key;                                                     \
      key = size > (word)(infinity) ? all : key;                                        \
      special |= size > (word)(infinity) ? (word)ND4C_SORT_NAN : (word)(b == sign);     \
      words[i] = key ^ turn;                                                            \
    }                                                                                   \
    return (uint32_t)special;                                                           \
  }                                                                                     \
  static void elements_##name(int64_t n, const void *vwords, uint64_t flip, void *vx) { \
    const word *words = vwords;                                                         \
    const word sign = (word)1 << (top), all = sign + (sign - 1), turn = (word)flip;     \
    bits *x = vx;                                                                       \
    ND4C_INDEPENDENT                                                                    \
    for (int64_t i = 0; i < n; i++) {                                                   \
      word key = words[i] ^ turn, positive = 0 - (key >> (top));                        \
      x[i] = (bits)(key == all ? (word)(quiet) : key ^ (~positive | sign));             \
    }                                                                                   \
  }
FLOAT_KEYS(float32, uint32_t, uint32_t, 31, 0x7f800000, 0x7fc00000)
FLOAT_KEYS(float64, uint64_t, uint64_t, 63, UINT64_C(0x7ff0000000000000), UINT64_C(0x7ff8000000000000))
#ifndef ND4C_DTYPES_LITE
WHOLE_KEYS(int16, uint32_t, 0x8000)
WHOLE_KEYS(uint16, uint32_t, 0)
WHOLE_KEYS(uint32, uint32_t, 0)
WHOLE_KEYS(uint64, uint64_t, 0)
FLOAT_KEYS(float16, uint16_t, uint32_t, 15, 0x7c00, 0x7e00)
FLOAT_KEYS(bfloat16, uint16_t, uint32_t, 15, 0x7f80, 0x7fc0)
#endif

/* -- words ---------------------------------------------------------------------------------------------------- */

static void pair(int64_t n, const uint32_t *keys, int64_t first, uint64_t *to) {
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++)
    to[i] = (uint64_t)keys[i] << 32 | (uint64_t)(first + i);
}

static void mask_words(int64_t n, const uint64_t *words, uint64_t mask, int64_t *to) {
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++)
    to[i] = (int64_t)(words[i] & mask);
}

static void pack(int64_t n, const uint64_t *keys, uint64_t least, int32_t shift, int32_t low_bits, int64_t first,
                 uint64_t *to) {
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++)
    to[i] = (keys[i] - least) >> shift << low_bits | (uint64_t)(first + i);
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
    if (found == 0)
      continue;
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
    if (found == 0)
      continue;
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
    for (int64_t k = 0; k < end; k++)
      any |= keys[i + k] <= bound;
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

#if !defined(VECTOR_SORT)
#define DISTINCT(bits)                                                       \
  static int64_t distinct_##bits(const void *vwords, int64_t n, void *vto) { \
    const uint##bits##_t *words = vwords;                                    \
    uint##bits##_t *to = vto, before = n > 0 ? ~words[0] : 0;                \
    int64_t count = 0;                                                       \
    for (int64_t i = 0; i < n; i++) {                                        \
      uint##bits##_t word = words[i];                                        \
      to[count] = word;                                                      \
      count += word != before;                                               \
      before = word;                                                         \
    }                                                                        \
    return count;                                                            \
  }
DISTINCT(32)
DISTINCT(64)
#endif

/* -- searching ------------------------------------------------------------------------------------------------ */

/* Side by side and without branches: all searches halve the same lengths. */
enum { BESIDE = 32 };
#define SEARCH(bits)                                                                                     \
  static void search_##bits(int64_t n, const void *vwords, const void *vkeys, int64_t count, bool after, \
                            int64_t *places) {                                                           \
    const uint##bits##_t *words = vwords, *keys = vkeys;                                                 \
    for (int64_t i = 0; i < n; i += BESIDE) {                                                            \
      int64_t beside = n - i < BESIDE ? n - i : BESIDE, length = count;                                  \
      uint##bits##_t wanted[BESIDE], least = 0;                                                          \
      int64_t base[BESIDE] = {0};                                                                        \
      for (int64_t k = 0; k < BESIDE; k++)                                                               \
        wanted[k] = k < beside ? words[i + k] : least;                                                   \
      while (length > 1) {                                                                               \
        int64_t half = length / 2;                                                                       \
        ND4C_INDEPENDENT                                                                                 \
        for (int64_t k = 0; k < BESIDE; k++) {                                                           \
          uint##bits##_t at = keys[base[k] + half - 1];                                                  \
          int64_t moves = (int64_t)(at < wanted[k]) | ((int64_t)after & (int64_t)(at == wanted[k]));     \
          base[k] += -moves & half;                                                                      \
        }                                                                                                \
        length -= half;                                                                                  \
      }                                                                                                  \
      for (int64_t k = 0; k < beside; k++) {                                                             \
        uint##bits##_t at = length > 0 ? keys[base[k]] : 0;                                              \
        places[i + k] = base[k] + (length > 0 && (at < wanted[k] || (after && at == wanted[k])));        \
      }                                                                                                  \
    }                                                                                                    \
  }
SEARCH(32)
SEARCH(64)

/* -- table ---------------------------------------------------------------------------------------------------- */

#define ENTRY(NAME, name, bits_, wide_, zero_, special_) \
  [ND4C_##NAME] = {.bits = (bits_),                      \
                   .wide = (wide_),                      \
                   .flip = UINT64_MAX >> (64 - (bits_)), \
                   .zero = (zero_),                      \
                   .has_special = (special_),            \
                   .keys = keys_##name,                  \
                   .elements = elements_##name},
#define SIGNED(NAME, name, bits, wide) ENTRY(NAME, name, bits, wide, UINT64_C(1) << ((bits)-1), false)
#define UNSIGNED(NAME, name, bits, wide) ENTRY(NAME, name, bits, wide, 0, false)
#define FLOATING(NAME, name, bits, wide) ENTRY(NAME, name, bits, wide, UINT64_C(1) << ((bits)-1), true)

const nd4c_sort_table ND4C_LEVEL_NAME(nd4c_sort_table) = {
#if !defined(VECTOR_SORT)
    .needs_work = true,
#endif
    .words = {{sort_32, count_32, scatter_32, distinct_32, search_32},
              {sort_64, count_64, scatter_64, distinct_64, search_64}},
    .dtypes = {UNSIGNED(BOOL, boolean, 1, 0) SIGNED(INT8, int8, 8, 0) UNSIGNED(UINT8, uint8, 8, 0)
                   SIGNED(INT32, int32, 32, 0) SIGNED(INT64, int64, 64, 1) FLOATING(FLOAT32, float32, 32, 0)
                       FLOATING(FLOAT64, float64, 64, 1)
#ifndef ND4C_DTYPES_LITE
                           SIGNED(INT16, int16, 16, 0) UNSIGNED(UINT16, uint16, 16, 0) UNSIGNED(UINT32, uint32, 32, 0)
                               UNSIGNED(UINT64, uint64, 64, 1) FLOATING(FLOAT16, float16, 16, 0)
                                   FLOATING(BFLOAT16, bfloat16, 16, 0)
#endif
    },
    .pair = pair,
    .mask = mask_words,
    .pack = pack,
    .range = range,
    .filter = filter,
    .filter_wide = filter_wide,
};
