/* Implements nonzero.h without branches on elements, from nonzero_unit.h. Compiled once per level.
 * simd/sorting/sorting_nonzero.c and indexing_masks.c read the table. */
#include "kernels/cpu/sorting/nonzero.h"

#include "kernels/cpu/support/level.h"

#if defined(__AVX512BW__) && defined(__AVX512VL__)
#include <immintrin.h>
#endif

/* Units counted in counters of their own width: as many as the narrowest hold. */
enum { BLOCK = 255, LANES = 64 };

#if defined(__AVX512BW__) && defined(__AVX512VL__)
/* Elements of a vector that are not zero as bits: few are taken one by one, many by eights. */
static inline int64_t write_places(uint64_t bits, int64_t step, int64_t first, int64_t *y) {
  const __m512i eight = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
  int64_t here = __builtin_popcountll(bits), place = 0;
  if (here <= step / 4) {
    for (; bits != 0; bits &= bits - 1) {
      y[place++] = first + __builtin_ctzll(bits);
    }
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

/* The elements of `size` bytes, a constant, that have a bit of `wanted`. */
static inline uint64_t which_of(int size, __m512i v, __m512i wanted) {
  return size == 1   ? _mm512_test_epi8_mask(v, wanted)
         : size == 2 ? _mm512_test_epi16_mask(v, wanted)
         : size == 4 ? _mm512_test_epi32_mask(v, wanted)
                     : _mm512_test_epi64_mask(v, wanted);
}
#endif

#define ND4C_TEMPLATE "kernels/cpu/sorting/nonzero_unit.h"
#include "kernels/cpu/support/each_unit.h"

const nd4c_nonzero_table ND4C_LEVEL_NAME(nd4c_nonzero_table) = {
    .count = {[1] = count_1, [2] = count_2, [4] = count_4, [8] = count_8},
    .places = {[1] = places_1, [2] = places_2, [4] = places_4, [8] = places_8},
};
