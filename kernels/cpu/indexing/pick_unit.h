/* Picking, placing, repeating and compressing elements of one size: a template of each_unit.h, which pick.c includes.
 * simd/indexing.c, indexing_positions.c, indexing_repeat.c and indexing_masks.c call the functions. */

/* Loads one by one: a gather instruction takes half as long again on Zen 5, from any cache. Callers pass as constants:
 * wide indices or narrow ones; near: neighbours are one element apart. */
ND4C_INLINED void NAME(pick_each)(bool wide, bool near, int64_t n, nd4c_indices indices, const T *from, int64_t stride,
                                  int64_t step, T *to) {
  for (int64_t i = 0; i < n; i++) {
    to[i] = from[near ? index_at(indices, wide, i) : index_at(indices, wide, i) * stride + i * step];
  }
}

static void NAME(pick)(int64_t n, const nd4c_indices *indices, const void *from, int64_t stride, int64_t step,
                       void *to) {
  bool near = stride == 1 && step == 0;
  if (indices->wide && near) {
    NAME(pick_each)(true, true, n, *indices, from, 1, 0, to);
  } else if (near) {
    NAME(pick_each)(false, true, n, *indices, from, 1, 0, to);
  } else if (indices->wide) {
    NAME(pick_each)(true, false, n, *indices, from, stride, step, to);
  } else {
    NAME(pick_each)(false, false, n, *indices, from, stride, step, to);
  }
}

#include "kernels/cpu/indexing/place.h"

/* -- repeating ----------------------------------------------------------------------------------------------------- */

static void NAME(repeat_rest)(int64_t n, nd4c_indices counts, int64_t i, const T *from, T *to) {
  for (; i < n; i++) {
    for (int64_t k = count_at(counts, counts.wide, i); k > 0; k--) {
      *to++ = from[i];
    }
  }
}

/* A vector of each element is written, whatever its count, and what is too much overwritten by the next one. */
static void NAME(repeat)(int64_t n, const nd4c_indices *counts, const void *vfrom, void *vto, int64_t total) {
  const T *from = vfrom;
  T *to = vto;
  int64_t i = 0, done = 0;
#if SIZE < 16
  enum { LANES = 32 / SIZE };
  typedef T lanes __attribute__((vector_size(32), aligned(1), may_alias));
  for (; i < n; i++) {
    const int64_t count = count_at(*counts, counts->wide, i);
    if (done + count + LANES > total) {
      break;
    }
    const lanes line = (lanes){0} + from[i];
    *(lanes *)(void *)(to + done) = line;
    for (int64_t k = LANES; k < count; k += LANES) {
      *(lanes *)(void *)(to + done + k) = line;
    }
    done += count;
  }
#else
  (void)total;
#endif
  NAME(repeat_rest)(n, *counts, i, from, to + done);
}

/* -- masks --------------------------------------------------------------------------------------------------------- */

/* Each is written, and counts only if it is wanted: no branch has to be guessed. */
static void NAME(compress_rest)(const uint8_t *mask, const T *from, T *to, int64_t count) {
  for (int64_t i = 0, place = 0; place < count; i++) {
    to[place] = from[i];
    place += mask[i] != 0;
  }
}

#if defined(__AVX512BW__) && SIZE < 16
/* 16 elements of 4 bytes at a time, 8 of 8; narrower ones are widened on the way. */
static inline __m512i NAME(load_lanes)(const T *p) {
  return SIZE == 1   ? _mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)p))
         : SIZE == 2 ? _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)p))
                     : _mm512_loadu_si512(p);
}

static inline void NAME(store_lanes)(T *p, __m512i v) {
  if (SIZE == 1) {
    _mm_storeu_si128((void *)p, _mm512_cvtepi32_epi8(v));
  } else if (SIZE == 2) {
    _mm256_storeu_si256((void *)p, _mm512_cvtepi32_epi16(v));
  } else {
    _mm512_storeu_si512(p, v);
  }
}

static inline __m512i NAME(squeeze)(uint64_t some, __m512i v) {
  return SIZE == 8 ? _mm512_maskz_compress_epi64((__mmask8)some, v) : _mm512_maskz_compress_epi32((__mmask16)some, v);
}
#endif

/* 64 at a time; whole vectors are stored as long as what lies behind them belongs to this call. */
static void NAME(compress)(int64_t n, const uint8_t *mask, const void *vfrom, void *vto, int64_t count) {
  const T *from = vfrom;
  T *to = vto;
  int64_t i = 0, place = 0;
#if defined(__AVX512BW__) && SIZE < 16
  enum { GROUP = SIZE == 8 ? 8 : 16 };
  for (; i + 64 <= n && place + 64 + GROUP <= count; i += 64) {
    const __m512i bytes = _mm512_loadu_si512(mask + i);
    uint64_t wanted = _mm512_test_epi8_mask(bytes, bytes);
    for (int64_t k = 0; k < 64; k += GROUP, wanted >>= GROUP) {
      const uint64_t some = wanted & ((UINT64_C(1) << GROUP) - 1);
      NAME(store_lanes)(to + place, NAME(squeeze)(some, NAME(load_lanes)(from + i + k)));
      place += __builtin_popcountll(some);
    }
  }
#else
  (void)n;
#endif
  NAME(compress_rest)(mask + i, from + i, to + place, count - place);
}
