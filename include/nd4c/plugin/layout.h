/* Layouts: how the elements of an array lie in memory where strides cannot express it. Kernels ask for them (kernel.h)
 * and read them in tensors (call.h). */
#ifndef ND4C_PLUGIN_LAYOUT_H
#define ND4C_PLUGIN_LAYOUT_H

#include <stdbool.h>
#include <string.h>

#include "nd4c/dtype.h"
#include "nd4c/plugin/abi.h"

ND4C_EXTERN_C_BEGIN

/* How the bytes of an operand are arranged. */
typedef enum nd4c_layout_tag {
  ND4C_LAYOUT_STRIDED = 0,   /* element i at offset + sum of index * stride; no nd4c_layout describes it */
  ND4C_LAYOUT_BLOCKED = 1,   /* in blocks along some axes, as weights of oneDNN: aBcd16b, OIhw16i16o */
  ND4C_LAYOUT_QUANTISED = 2, /* encoded in blocks of a named format, as those of GGUF: q8_0, q4_0 */
  ND4C_LAYOUT_OPAQUE = 3     /* only the engine that made it can read it */
} nd4c_layout_tag;

enum { ND4C_LAYOUT_AXES = 12, ND4C_LAYOUT_BLOCKS = 6, ND4C_LAYOUT_NAME_SIZE = 32 };

/* A layout. It has no pointers, so it may be copied and kept. Fields that the tag does not use are ignored.
 *
 * BLOCKED: `shape` is the array's shape, or that shape with some axes split in two, as for the groups of a convolution:
 * either way the elements, in C order, are the same. Axis a is padded to padded[a]; the kernel defines the contents of
 * the padding. Block k splits axis block_axes[k] and has the extent block_extents[k]; blocks are listed from the
 * outermost to the innermost, and the elements of the innermost block are adjacent in memory. An index along axis a is
 * divided by the extents of that axis's blocks; the quotient times strides[a] is added to the offset
 * (nd4c_layout_offset). oneDNN's OIhw16i16o of 3x3 windows: blocks (axis 1, 16), (axis 0, 16). With an `owner`, a name
 * on which several engines have agreed, their kernels share one packed copy of a constant: they agree on the contents
 * of the padding, too. Without one, the kernels of one engine do.
 *
 * QUANTISED: `axis` is the last one. Along it, every block_elements elements are encoded together, in block_bytes
 * bytes; blocks are in C order. Separate scales or zero points, if any, lie in the same memory: side_bytes bytes from
 * byte side_offset on. Elements decode to `dtype`.
 *
 * OPAQUE: `owner` is the name of an engine, and `fingerprint` the number by which that engine identifies the
 * arrangement: two layouts with equal owner, fingerprint, shape, dtype and bytes are equal. */
typedef struct nd4c_layout {
  uint32_t struct_size;
  int32_t tag;      /* nd4c_layout_tag, not STRIDED */
  int64_t bytes;    /* of the whole array, with padding and side data */
  nd4c_dtype dtype; /* BLOCKED, OPAQUE: of the stored elements */
  int32_t rank;     /* 1 to ND4C_LAYOUT_AXES */
  int64_t shape[ND4C_LAYOUT_AXES];
  int64_t padded[ND4C_LAYOUT_AXES];
  int64_t strides[ND4C_LAYOUT_AXES];
  int64_t block_extents[ND4C_LAYOUT_BLOCKS];
  int32_t block_axes[ND4C_LAYOUT_BLOCKS];
  int32_t block_count; /* BLOCKED: 0 to ND4C_LAYOUT_BLOCKS */
  int32_t axis;        /* QUANTISED */
  int64_t block_elements, block_bytes;
  int64_t side_offset, side_bytes;
  char format[ND4C_LAYOUT_NAME_SIZE]; /* QUANTISED: GGUF's name in lower case: "q8_0" */
  char owner[ND4C_LAYOUT_NAME_SIZE];  /* BLOCKED: may be empty */
  uint64_t fingerprint;
} nd4c_layout;

/* Whether two layouts arrange an array alike. NULL stands for STRIDED. */
static inline bool nd4c_layout_equal(const nd4c_layout *a, const nd4c_layout *b) {
  if (a == NULL || b == NULL || a == b) {
    return a == b;
  }
  const size_t extents = (size_t)a->rank * sizeof a->shape[0];
  if (a->tag != b->tag || a->rank != b->rank || a->bytes != b->bytes || a->dtype != b->dtype ||
      memcmp(a->shape, b->shape, extents) != 0) {
    return false;
  }
  switch (a->tag) {
    case ND4C_LAYOUT_BLOCKED:
      return a->block_count == b->block_count && memcmp(a->padded, b->padded, extents) == 0 &&
             memcmp(a->strides, b->strides, extents) == 0 &&
             memcmp(a->block_axes, b->block_axes, (size_t)a->block_count * sizeof a->block_axes[0]) == 0 &&
             memcmp(a->block_extents, b->block_extents, (size_t)a->block_count * sizeof a->block_extents[0]) == 0;
    case ND4C_LAYOUT_QUANTISED:
      return a->axis == b->axis && a->block_elements == b->block_elements && a->block_bytes == b->block_bytes &&
             a->side_offset == b->side_offset && a->side_bytes == b->side_bytes &&
             strncmp(a->format, b->format, sizeof a->format) == 0;
    default:
      return a->fingerprint == b->fingerprint && strncmp(a->owner, b->owner, sizeof a->owner) == 0;
  }
}

/* Offset of an element in a BLOCKED layout, in elements from the first one; `index` has one entry for each axis of
 * layout->shape. */
static inline int64_t nd4c_layout_offset(const nd4c_layout *layout, const int64_t *index) {
  int64_t rest[ND4C_LAYOUT_AXES], offset = 0, step = 1;
  memcpy(rest, index, (size_t)layout->rank * sizeof rest[0]);
  for (int32_t k = layout->block_count - 1; k >= 0; k--) {
    const int32_t axis = layout->block_axes[k];
    offset += rest[axis] % layout->block_extents[k] * step;
    rest[axis] /= layout->block_extents[k];
    step *= layout->block_extents[k];
  }
  for (int32_t i = 0; i < layout->rank; i++) {
    offset += rest[i] * layout->strides[i];
  }
  return offset;
}

ND4C_EXTERN_C_END
#endif
