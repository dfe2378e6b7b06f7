/* How resize finds the scale of an axis and the elements that it weighs. backends/reading.h includes this for every
 * backend; kernels/reference/image/resize.c and families/image_resize.c of opencl call it. */
#ifndef ND4C_KERNELS_RESIZE_H
#define ND4C_KERNELS_RESIZE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* The attributes' lists, and x's shape. */
typedef struct nd4c_resize_lists {
  int32_t rank, axis_count, size_count; /* axis_count 0: all axes; size_count 0: by scales */
  const int64_t *shape, *axes, *sizes;
  const double *scales;
  bool keeps_aspect, not_larger; /* of sizes: one scale for all axes, the least or the largest */
} nd4c_resize_lists;

static inline int32_t nd4c_resize_axis_of(const nd4c_resize_lists *lists, int32_t entry) {
  int64_t axis = lists->axis_count > 0 ? lists->axes[entry] : entry;
  return (int32_t)(axis < 0 ? axis + lists->rank : axis);
}

/* Which entry of the lists is an axis's, -1 for none: the axis stays as it is. */
static inline int32_t nd4c_resize_entry(const nd4c_resize_lists *lists, int32_t axis) {
  for (int32_t i = 0; i < lists->axis_count; i++) {
    if (nd4c_resize_axis_of(lists, i) == axis) {
      return i;
    }
  }
  return lists->axis_count > 0 ? -1 : axis;
}

/* The scale of an entry's axis, as the rule found the extents. */
static inline double nd4c_resize_scale(const nd4c_resize_lists *lists, int32_t entry) {
  if (lists->size_count == 0) {
    return lists->scales[entry];
  }
  double scale = (double)lists->sizes[entry] / (double)lists->shape[nd4c_resize_axis_of(lists, entry)];
  for (int32_t i = 0; i < lists->size_count && lists->keeps_aspect; i++) {
    double own = (double)lists->sizes[i] / (double)lists->shape[nd4c_resize_axis_of(lists, i)];
    if (lists->not_larger ? own < scale : own > scale) {
      scale = own;
    }
  }
  return scale;
}

/* The extent of an axis before it is rounded: `out`, where sizes give it. */
static inline double nd4c_resize_width(const nd4c_resize_lists *lists, double scale, int64_t in, int64_t out) {
  return lists->size_count > 0 && !lists->keeps_aspect ? (double)out : scale * (double)in;
}

/* The first element that is weighed, relative to that before a place; there are 2 - 2 * first of them. */
static inline int64_t nd4c_resize_first_tap(bool cubic, bool antialias, double scale) {
  double reach = cubic ? 2 : 1, widened = antialias && scale < 1 ? scale : 1;
  return (int64_t)floor(-reach / widened) + 1;
}

#endif
