/* Implements contraction_strips.h. */
#include "backends/cpu/support/contraction_strips.h"

#include "backends/cpu/simd/simd.h"

/* DEPTH: strips have a multiple of so many rows. WIDEST: columns of a strip with AVX-512, as oneDNN has them there.
 * STEP: of narrower ones, and with AVX2, where oneDNN reads weights as they are: two vectors, so that the rows of a
 * panel follow each other. */
enum { DEPTH = 16, WIDEST = 64, STEP = 16 };

static int64_t round_up(int64_t number, int64_t multiple) {
  return (number + multiple - 1) / multiple * multiple;
}

nd4c_gemm_strips nd4c_cpu_strips_for(int64_t k, int64_t n) {
  const int64_t widest = nd4c_simd_level_is("avx512") ? WIDEST : STEP;
  return (nd4c_gemm_strips){.columns = n < widest ? round_up(n, STEP) : widest, .depth = round_up(k, DEPTH)};
}

void nd4c_cpu_strips_describe(int64_t k, int64_t n, bool turned, nd4c_gemm_strips strips, nd4c_layout *layout) {
  static const char owner[] = "strips";
  const int32_t row = turned, column = !turned;
  layout->tag = ND4C_LAYOUT_BLOCKED;
  layout->dtype = ND4C_FLOAT32;
  layout->rank = 2;
  layout->shape[row] = k;
  layout->shape[column] = n;
  layout->padded[row] = strips.depth;
  layout->padded[column] = round_up(n, strips.columns);
  layout->strides[row] = DEPTH * strips.columns;
  layout->strides[column] = strips.depth * strips.columns;
  layout->block_count = 2;
  layout->block_axes[0] = row;
  layout->block_axes[1] = column;
  layout->block_extents[0] = DEPTH;
  layout->block_extents[1] = strips.columns;
  layout->bytes = strips.depth * layout->padded[column] * (int64_t)sizeof(float);
  memcpy(layout->owner, owner, sizeof owner);
}

/* Strides along which there is one block mean nothing. */
bool nd4c_cpu_strips_read(const nd4c_layout *layout, nd4c_gemm_strips *strips, bool *turned) {
  const int32_t last = layout->block_count - 1, column = last < 0 ? 0 : layout->block_axes[last], row = 1 - column;
  if (layout->tag != ND4C_LAYOUT_BLOCKED || layout->rank != 2 || layout->dtype != ND4C_FLOAT32 || last < 0 ||
      last > 1 || (last == 1 && layout->block_axes[0] != row)) {
    return false;
  }
  const int64_t block = last == 1 ? layout->block_extents[0] : 1;
  *turned = column == 0;
  *strips = (nd4c_gemm_strips){.columns = layout->block_extents[last], .depth = layout->padded[row]};
  return (strips->depth == block || layout->strides[row] == block * strips->columns) &&
         (layout->padded[column] == strips->columns || layout->strides[column] == strips->depth * strips->columns);
}

void nd4c_cpu_strips_share(nd4c_layout *layout) {
  nd4c_gemm_strips strips;
  bool turned = false;
  if (nd4c_cpu_strips_read(layout, &strips, &turned) && layout->block_count == 2 && layout->block_extents[0] == DEPTH) {
    nd4c_cpu_strips_describe(layout->shape[turned], layout->shape[!turned], turned, strips, layout);
  }
}
