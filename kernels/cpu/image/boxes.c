/* Implements boxes.h. Compiled once per level. */
#include "kernels/cpu/image/boxes.h"

#include "kernels/cpu/support/level.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

extern const nd4c_boxes_table ND4C_LEVEL_NAME(nd4c_boxes_table);

#if defined(__AVX512F__)
static int64_t find(int64_t from, int64_t count, const nd4c_box_lanes *blocks, const nd4c_box_wide *box, float factor,
                    uint32_t *lanes) {
  const __m512 top = _mm512_set1_ps(box->low[0]), left = _mm512_set1_ps(box->low[1]);
  const __m512 bottom = _mm512_set1_ps(box->high[0]), right = _mm512_set1_ps(box->high[1]);
  const __m512 share = _mm512_set1_ps(box->share), times = _mm512_set1_ps(factor), zero = _mm512_setzero_ps();
  for (int64_t i = from; i < count; i++) {
    const nd4c_box_lanes *b = &blocks[i];
    const __m512 height =
        _mm512_sub_ps(_mm512_min_ps(_mm512_load_ps(b->high[0]), bottom), _mm512_max_ps(_mm512_load_ps(b->low[0]), top));
    const __m512 width =
        _mm512_sub_ps(_mm512_min_ps(_mm512_load_ps(b->high[1]), right), _mm512_max_ps(_mm512_load_ps(b->low[1]), left));
    const __m512 common = _mm512_mul_ps(_mm512_mul_ps(height, width), times);
    const __m512 least = _mm512_add_ps(_mm512_load_ps(b->share), share);
    __mmask16 found = _mm512_cmp_ps_mask(height, zero, _CMP_GT_OQ);
    found = _mm512_mask_cmp_ps_mask(found, width, zero, _CMP_GT_OQ);
    found = _mm512_mask_cmp_ps_mask(found, common, least, _CMP_NLT_UQ);
    if (found != 0) {
      *lanes = found;
      return i;
    }
  }
  return count;
}
#else
ND4C_INLINED int is_found(const nd4c_box_lanes *b, int lane, const nd4c_box_wide *box, float factor) {
  float side[2];
  for (int k = 0; k < 2; k++) {
    const float high = b->high[k][lane] < box->high[k] ? b->high[k][lane] : box->high[k];
    const float low = b->low[k][lane] > box->low[k] ? b->low[k][lane] : box->low[k];
    side[k] = high - low;
  }
  return (side[0] > 0) & (side[1] > 0) & !(side[0] * side[1] * factor < b->share[lane] + box->share);
}

static int64_t find(int64_t from, int64_t count, const nd4c_box_lanes *blocks, const nd4c_box_wide *box, float factor,
                    uint32_t *lanes) {
  const nd4c_box_wide own = *box;
  for (int64_t i = from; i < count; i++) {
    int any = 0;
    for (int lane = 0; lane < ND4C_BOXES_LANES; lane++) {
      any |= is_found(&blocks[i], lane, &own, factor);
    }
    if (any != 0) {
      uint32_t found = 0;
      for (int lane = 0; lane < ND4C_BOXES_LANES; lane++) {
        found |= (uint32_t)is_found(&blocks[i], lane, &own, factor) << lane;
      }
      *lanes = found;
      return i;
    }
  }
  return count;
}
#endif

const nd4c_boxes_table ND4C_LEVEL_NAME(nd4c_boxes_table) = {.find = find};
