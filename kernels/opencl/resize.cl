/* Resizing is separable: each axis has a table of which elements its places take, with which weights. Behind image.cl. */

enum { NEAREST, LINEAR, CUBIC };
enum { HALF_PIXEL, HALF_PIXEL_SYMMETRIC, PYTORCH_HALF_PIXEL, ALIGN_CORNERS, ASYMMETRIC, CROP, WITHOUT_SHIFT };

/* One axis: place o of the result takes `taps` elements of x, from word `table` on: their indices, then their weights
 * (as REAL), then for each place whether it lies outside x. */
typedef struct {
  long in, out, taps, table, first_tap, mode, coordinates, nearest;
  int exclude_outside, antialias;
  REAL scale, width, roi_begin, roi_end, cubic_a, unused;
} nd4c_resize_axis;

static inline REAL source_place(nd4c_resize_axis axis, long o) {
  REAL last = (REAL)(axis.in - 1), place = (REAL)o, centre = (place + (REAL)0.5) / axis.scale;
  switch (axis.coordinates) {
    case HALF_PIXEL_SYMMETRIC: /* the centre of what was rounded away stays in the middle */
      return (REAL)axis.in / 2 * (1 - (REAL)axis.out / axis.width) + centre - (REAL)0.5;
    case PYTORCH_HALF_PIXEL:
      return axis.width == 1 ? (REAL)-0.5 : centre - (REAL)0.5;
    case ALIGN_CORNERS:
      return axis.width == 1 ? 0 : place * last / (axis.width - 1);
    case ASYMMETRIC:
      return place / axis.scale;
    case WITHOUT_SHIFT:
      return centre;
    case CROP:
      return axis.roi_begin * last +
             (axis.width == 1 ? (axis.roi_end - axis.roi_begin) * last / 2
                              : place * (axis.roi_end - axis.roi_begin) * last / (axis.width - 1));
    default:
      return centre - (REAL)0.5;
  }
}

static inline long nearest_index(long rule, REAL place) {
  REAL low = floor(place), rest = place - low;
  bool up = rest > 0 && (rule == 3 || (rule == 0 && rest > (REAL)0.5) || (rule == 1 && rest >= (REAL)0.5));
  return (long)low + up;
}

/* The kernel functions of linear and cubic interpolation at a distance. */
static inline REAL kernel_value(nd4c_resize_axis axis, REAL distance) {
  REAL a = axis.cubic_a, x = fabs(distance);
  if (axis.mode == LINEAR) {
    return x < 1 ? 1 - x : 0;
  }
  if (x <= 1) {
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  }
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/* has_roi: the region's begin and end come from there. */
__kernel void make_taps(__global long *table, nd4c_resize_axis axis, __global const STORAGE_B *roi, long begin_at,
                        long end_at, int has_roi, long items) {
  long o = get_global_id(0);
  if (o >= items) {
    return;
  }
  if (has_roi) {
    axis.roi_begin = LOAD_B(roi, begin_at);
    axis.roi_end = LOAD_B(roi, end_at);
  }
  __global long *index = table + axis.table + o * axis.taps;
  __global REAL *weight = (__global REAL *)(table + axis.table + axis.out * axis.taps) + o * axis.taps;
  REAL place = source_place(axis, o), sum = 0, step = axis.antialias && axis.scale < 1 ? axis.scale : 1;
  bool outside = axis.coordinates == CROP && !(place >= 0 && place <= (REAL)(axis.in - 1));
  table[axis.table + 2 * axis.out * axis.taps + o] = outside;
  if (outside || axis.mode == NEAREST) {
    for (long k = 0; k < axis.taps; k++) {
      index[k] = outside ? 0 : clamp(nearest_index(axis.nearest, place), (long)0, axis.in - 1);
      weight[k] = 0;
    }
    return;
  }
  long base = (long)ceil(place) - 1; /* an even number of taps around a place: one on a cell leans left */
  for (long k = 0; k < axis.taps; k++) {
    long cell = base + axis.first_tap + k;
    bool inside = cell >= 0 && cell < axis.in;
    weight[k] = axis.exclude_outside && !inside ? 0 : kernel_value(axis, step * ((REAL)cell - place));
    index[k] = clamp(cell, (long)0, axis.in - 1);
    sum += weight[k];
  }
  for (long k = 0; k < axis.taps && (axis.antialias || axis.exclude_outside) && sum != 0; k++) {
    weight[k] /= sum;
  }
}

typedef struct {
  long size;
  int rank, mode;
  long shape[WALK_RANK], x_strides[WALK_RANK], y_strides[WALK_RANK], taps[WALK_RANK], table[WALK_RANK];
} nd4c_resize;

/* The weighted sum of the elements that a place takes on all axes. Taps without weight are not looked at. */
__kernel void resize(__global const STORAGE_A *x, long x0, __global STORAGE_A *y, long y0, __global const long *table,
                     nd4c_resize resize, REAL extrapolation, long items) {
  long rest = get_global_id(0), tap[WALK_RANK], place[WALK_RANK];
  bool outside = false;
  if (rest >= items) {
    return;
  }
  for (int axis = resize.rank - 1; axis >= 0; axis--) {
    long next = rest / resize.shape[axis];
    place[axis] = rest - next * resize.shape[axis];
    rest = next;
    y0 += place[axis] * resize.y_strides[axis];
    outside = outside || table[resize.table[axis] + 2 * resize.shape[axis] * resize.taps[axis] + place[axis]];
    tap[axis] = 0;
  }
  if (outside) {
    SAVE_A(y, y0, PASTE(cut, TYPE_A)(extrapolation));
    return;
  }
  REAL sum = 0;
  int axis;
  do {
    long from = x0;
    REAL weight = 1;
    for (axis = 0; axis < resize.rank; axis++) {
      __global const long *own = table + resize.table[axis];
      long at = place[axis] * resize.taps[axis] + tap[axis];
      from += own[at] * resize.x_strides[axis];
      weight *= ((__global const REAL *)(own + resize.shape[axis] * resize.taps[axis]))[at];
    }
    if (resize.mode == NEAREST) {
      SAVE_A(y, y0, LOAD_A(x, from));
      return;
    }
    sum += weight != 0 ? weight * (REAL)LOAD_A(x, from) : 0;
    for (axis = resize.rank - 1; axis >= 0 && ++tap[axis] == resize.taps[axis]; axis--) {
      tap[axis] = 0;
    }
  } while (axis >= 0);
  STORE(y, y0, sum);
}
