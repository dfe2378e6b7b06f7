/* Counting and placing what is not zero, without branches on elements. Compiled once for each level. */
#include "kernels/cpu/sorting/nonzero.h"

#include "kernels/cpu/support/level.h"

#if defined(__AVX512BW__) && defined(__AVX512VL__)
#include <immintrin.h>
#endif

/* Units counted in counters of their own width: as many as the narrowest hold. */
enum { BLOCK = 255, LANES = 64 };

#define NONZERO(bytes, unit)                                                    \
  static int64_t count_##bytes(int64_t n, const void *vx, uint64_t wide_mask) { \
    const unit *x = vx, mask = (unit)wide_mask;                                 \
    int64_t total = 0, i = 0;                                                   \
    while (i + LANES <= n) {                                                    \
      unit counts[LANES] = {0};                                                 \
      int64_t rows = (n - i) / LANES < BLOCK ? (n - i) / LANES : BLOCK;         \
      for (int64_t row = 0; row < rows; row++, i += LANES)                      \
        for (int64_t lane = 0; lane < LANES; lane++)                            \
          counts[lane] = (unit)(counts[lane] + ((x[i + lane] & mask) != 0));    \
      for (int64_t lane = 0; lane < LANES; lane++)                              \
        total += (int64_t)counts[lane];                                         \
    }                                                                           \
    for (; i < n; i++)                                                          \
      total += (x[i] & mask) != 0;                                              \
    return total;                                                               \
  }
NONZERO(1, uint8_t)
NONZERO(2, uint16_t)
NONZERO(4, uint32_t)
NONZERO(8, uint64_t)

#if defined(__AVX512BW__) && defined(__AVX512VL__)
/* Elements of a vector that are not zero as bits: few are taken one by one, many by eights. */
static inline int64_t write_places(uint64_t bits, int64_t step, int64_t first, int64_t *y) {
  const __m512i eight = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
  int64_t here = __builtin_popcountll(bits), place = 0;
  if (here <= step / 4) {
    for (; bits != 0; bits &= bits - 1)
      y[place++] = first + __builtin_ctzll(bits);
    return here;
  }
  for (int64_t i = 0; i < step; i += 8, bits >>= 8) {
    int32_t some = __builtin_popcountll(bits & 255);
    __m512i places = _mm512_add_epi64(eight, _mm512_set1_epi64(first + i));
    _mm512_mask_storeu_epi64(y + place, (__mmask8)((1u << some) - 1),
                             _mm512_maskz_compress_epi64((__mmask8)bits, places));
    place += some;
  }
  return here;
}

#define PLACES(bytes, mask_type, set1, test, load)                                                                    \
  static void places_##bytes(int64_t n, int64_t count, const void *vx, uint64_t mask, int64_t first, int64_t *y) {    \
    enum { STEP = 64 / (bytes) };                                                                                     \
    const char *x = vx;                                                                                               \
    const __m512i wanted = set1;                                                                                      \
    int64_t i = 0, place = 0;                                                                                         \
    for (; i + STEP <= n && place < count; i += STEP)                                                                 \
      place +=                                                                                                        \
          write_places(test((mask_type)-1, _mm512_loadu_si512(x + i * (bytes)), wanted), STEP, first + i, y + place); \
    if (place < count) {                                                                                              \
      mask_type there = (mask_type)((UINT64_C(1) << (n - i)) - 1);                                                    \
      (void)write_places(test(there, load(there, x + i * (bytes)), wanted), STEP, first + i, y + place);              \
    }                                                                                                                 \
  }
PLACES(1, __mmask64, _mm512_set1_epi8((char)mask), _mm512_mask_test_epi8_mask, _mm512_maskz_loadu_epi8)
PLACES(2, __mmask32, _mm512_set1_epi16((short)mask), _mm512_mask_test_epi16_mask, _mm512_maskz_loadu_epi16)
PLACES(4, __mmask16, _mm512_set1_epi32((int)mask), _mm512_mask_test_epi32_mask, _mm512_maskz_loadu_epi32)
PLACES(8, __mmask8, _mm512_set1_epi64((int64_t)mask), _mm512_mask_test_epi64_mask, _mm512_maskz_loadu_epi64)
#else
#define PLACES(bytes, unit)                                                                               \
  static void places_##bytes(int64_t n, int64_t count, const void *vx, uint64_t wide_mask, int64_t first, \
                             int64_t *y) {                                                                \
    (void)n;                                                                                              \
    const unit *x = vx, mask = (unit)wide_mask;                                                           \
    for (int64_t i = 0, place = 0; place < count; i++) {                                                  \
      y[place] = first + i;                                                                               \
      place += (x[i] & mask) != 0;                                                                        \
    }                                                                                                     \
  }
PLACES(1, uint8_t)
PLACES(2, uint16_t)
PLACES(4, uint32_t)
PLACES(8, uint64_t)
#endif

const nd4c_nonzero_table ND4C_LEVEL_NAME(nd4c_nonzero_table) = {
    .count = {[1] = count_1, [2] = count_2, [4] = count_4, [8] = count_8},
    .places = {[1] = places_1, [2] = places_2, [4] = places_4, [8] = places_8},
};
