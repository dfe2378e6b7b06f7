/* Implements pick.h: the table of the level, from pick_unit.h and place.h. Compiled once per level. simd/indexing.c and
 * its neighbours read it by nd4c_simd.pick. */
#include "kernels/cpu/indexing/pick.h"

#include <string.h>

#include "kernels/cpu/indexing/blocks.h"
#include "kernels/cpu/support/level.h"
#include "kernels/cpu/support/vector.h"
#include "kernels/types.h"

extern const nd4c_pick_table ND4C_LEVEL_NAME(nd4c_pick_table);

/* -- indices ------------------------------------------------------------------------------------------------------- */

/* All are looked at: no branch stands in the way. In range means 0 .. 2 extent - 1 after extent is added. */
static bool in_range(int64_t n, const nd4c_indices *indices) {
  const int64_t extent = indices->extent;
  if (indices->wide) {
    const int64_t *index = indices->data;
    uint64_t outside = 0;
    for (int64_t i = 0; i < n; i++) {
      outside |= (uint64_t)(index[i] < -extent) | (uint64_t)(index[i] >= extent);
    }
    return outside == 0;
  }
  const int32_t *index = indices->data;
  const int32_t low = extent > INT32_MAX ? INT32_MIN : (int32_t)-extent;
  const int32_t high = extent > INT32_MAX ? INT32_MAX : (int32_t)(extent - 1);
  uint32_t outside = 0;
  for (int64_t i = 0; i < n; i++) {
    outside |= (uint32_t)(index[i] < low) | (uint32_t)(index[i] > high);
  }
  return outside == 0;
}

/* By value, here and below: behind a pointer, the compiler must assume that writes of elements change the indices'
 * description. */
ND4C_INLINED int64_t count_at(nd4c_indices counts, bool wide, int64_t i) {
  return wide ? ((const int64_t *)counts.data)[i] : ((const int32_t *)counts.data)[i];
}

ND4C_INLINED int64_t index_at(nd4c_indices indices, bool wide, int64_t i) {
  int64_t index = count_at(indices, wide, i);
  return index + (index < 0 ? indices.extent : 0);
}

#define ND4C_TEMPLATE "kernels/cpu/indexing/pick_unit.h"
#include "kernels/cpu/support/each_unit.h"

#define ND4C_TEMPLATE "kernels/cpu/indexing/place.h"
#define ND4C_KINDS ND4C_WIDE_FLOAT
#include "kernels/cpu/support/each_dtype.h"

static void pick_blocks(int64_t n, const nd4c_indices *indices, int64_t bytes, const void *vfrom, void *vto) {
  enum { FORESEEN = 8, ASKED = 256 }; /* blocks ahead, bytes of one */
  const char *from = vfrom;
  char *to = vto;
  for (int64_t i = 0; i < n; i++, to += bytes) {
    if (i + FORESEEN < n) {
      const char *next = from + index_at(*indices, indices->wide, i + FORESEEN) * bytes;
      for (int64_t line = 0; line < bytes && line < ASKED; line += ND4C_STREAM_BLOCK) {
        ND4C_PREFETCH((uintptr_t)(next + line));
      }
    }
    nd4c_copy_block(to, from + index_at(*indices, indices->wide, i) * bytes, bytes);
  }
}

const nd4c_pick_table ND4C_LEVEL_NAME(nd4c_pick_table) = {
    .in_range = in_range,
    .pick = ND4C_BY_SIZE(pick),
    .pick_blocks = pick_blocks,
    .place = ND4C_BY_SIZE(place),
    .add = {[ND4C_FLOAT32] = add_float32,
            [ND4C_FLOAT64] = add_float64,
            [ND4C_INT32] = add_4,
            [ND4C_UINT32] = add_4,
            [ND4C_INT64] = add_8,
            [ND4C_UINT64] = add_8},
    .repeat = ND4C_BY_SIZE(repeat),
    .compress = ND4C_BY_SIZE(compress),
};
