/* Which of the boxes that were kept may overlap another one: the part of non-maximum suppression that grows with the
 * square of the boxes. Engine simd calls it (backends/cpu/simd/image_boxes.c), and decides on what is found in
 * float64. */
#ifndef ND4C_KERNELS_CPU_IMAGE_BOXES_H
#define ND4C_KERNELS_CPU_IMAGE_BOXES_H

#include <stdint.h>

enum { ND4C_BOXES_LANES = 16 };

/* Boxes side by side. Edges are rounded outwards, share is a lower bound of threshold * area. A lane without a box has
 * low = +inf and high = -inf. Aligned to 64 bytes. */
typedef struct nd4c_box_lanes {
  float low[2][ND4C_BOXES_LANES], high[2][ND4C_BOXES_LANES], share[ND4C_BOXES_LANES];
} nd4c_box_lanes;

typedef struct nd4c_box_wide {
  float low[2], high[2], share;
} nd4c_box_wide;

typedef struct nd4c_boxes_table {
  /* The first block of from .. count - 1 with boxes that have a common part with `box` of
   * common * factor >= share + the box's share, or where that is NaN; *lanes tells which. `count`: there is none. */
  int64_t (*find)(int64_t from, int64_t count, const nd4c_box_lanes *blocks, const nd4c_box_wide *box, float factor,
                  uint32_t *lanes);
} nd4c_boxes_table;

#endif
