/* Resizing is separable: each axis has a table of the elements that each place weighs, with their weights. Behind
 * real.cl and image.cl. families/image_resize.c launches these. */

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
  REAL last = r_long(axis.in - 1), place = r_long(o), half_one = R(0.5f), centre = r_div(r_add(place, half_one), axis.scale);
  switch (axis.coordinates) {
    case HALF_PIXEL_SYMMETRIC: { /* the output's extent was rounded; the image stays centred */
      REAL lost = r_sub(R(1), r_div(r_long(axis.out), axis.width));
      return r_sub(r_add(r_mul(r_div(r_long(axis.in), R(2)), lost), centre), half_one);
    }
    case PYTORCH_HALF_PIXEL:
      return r_is(axis.width, 1) ? R(-0.5f) : r_sub(centre, half_one);
    case ALIGN_CORNERS:
      return r_is(axis.width, 1) ? R(0) : r_div(r_mul(place, last), r_sub(axis.width, R(1)));
    case ASYMMETRIC:
      return r_div(place, axis.scale);
    case WITHOUT_SHIFT:
      return centre;
    case CROP: {
      REAL range = r_sub(axis.roi_end, axis.roi_begin);
      return r_add(r_mul(axis.roi_begin, last),
                   r_is(axis.width, 1) ? r_div(r_mul(range, last), R(2))
                                       : r_div(r_mul(r_mul(place, range), last), r_sub(axis.width, R(1))));
    }
    default:
      return r_sub(centre, half_one);
  }
}

static inline long nearest_index(long rule, REAL place) {
  REAL low = r_floor(place), rest = r_sub(place, low);
  bool up = r_less(R(0), rest) && (rule == 3 || (rule == 0 && r_less(R(0.5f), rest)) || (rule == 1 && r_at_most(R(0.5f), rest)));
  return r_whole(low) + up;
}

/* The kernel functions of linear and cubic interpolation at a distance. */
static inline REAL kernel_value(nd4c_resize_axis axis, REAL distance) {
  REAL a = axis.cubic_a, x = r_abs(distance);
  if (axis.mode == LINEAR) {
    return r_less(x, R(1)) ? r_sub(R(1), x) : R(0);
  }
  if (r_at_most(x, R(1))) {
    REAL inner = r_sub(r_mul(r_add(a, R(2)), x), r_add(a, R(3)));
    return r_add(r_mul(r_mul(inner, x), x), R(1));
  }
  REAL inner = r_add(r_mul(r_sub(r_mul(a, x), r_mul(R(5), a)), x), r_mul(R(8), a));
  return r_less(x, R(2)) ? r_sub(r_mul(inner, x), r_mul(R(4), a)) : R(0);
}

/* has_roi: the region's begin and end come from there. */
__kernel void make_taps(__global long *table, nd4c_resize_axis axis, __global const STORAGE(B) *roi, long begin_at,
                        long end_at, int has_roi, long items) {
  ITEM(o, items)
  if (has_roi) {
    axis.roi_begin = R(LOAD(B, roi, begin_at));
    axis.roi_end = R(LOAD(B, roi, end_at));
  }
  __global long *index = table + axis.table + o * axis.taps;
  __global REAL *weight = (__global REAL *)(table + axis.table + axis.out * axis.taps) + o * axis.taps;
  REAL place = source_place(axis, o), sum = R(0), step = axis.antialias && r_less(axis.scale, R(1)) ? axis.scale : R(1);
  bool outside = axis.coordinates == CROP && !(r_at_most(R(0), place) && r_at_most(place, r_long(axis.in - 1)));
  table[axis.table + 2 * axis.out * axis.taps + o] = outside;
  if (outside || axis.mode == NEAREST) {
    for (long k = 0; k < axis.taps; k++) {
      index[k] = outside ? 0 : clamp(nearest_index(axis.nearest, place), (long)0, axis.in - 1);
      weight[k] = R(0);
    }
    return;
  }
  long base = -r_whole(r_floor(r_neg(place))) - 1; /* an even number of taps around a place: one on a cell leans left */
  for (long k = 0; k < axis.taps; k++) {
    long cell = base + axis.first_tap + k;
    bool inside = cell >= 0 && cell < axis.in;
    weight[k] = axis.exclude_outside && !inside ? R(0) : kernel_value(axis, r_mul(step, r_sub(r_long(cell), place)));
    index[k] = clamp(cell, (long)0, axis.in - 1);
    sum = r_add(sum, weight[k]);
  }
  for (long k = 0; k < axis.taps && (axis.antialias || axis.exclude_outside) && !r_is(sum, 0); k++) {
    weight[k] = r_div(weight[k], sum);
  }
}

typedef struct {
  long size;
  int rank, mode;
  long shape[WALK_RANK], x_shape[WALK_RANK], x_strides[WALK_RANK], y_strides[WALK_RANK], taps[WALK_RANK], table[WALK_RANK];
} nd4c_resize;

/* The weighted sum of the elements that a place takes on all axes. Taps without weight are not looked at. The table may
 * hold anything where the command that was to write it has failed. */
__kernel void resize(__global const STORAGE(A) *x, long x0, __global STORAGE(A) *y, long y0, __global const long *table,
                     nd4c_resize resize, REAL extrapolation, long items) {
  ITEM(rest, items)
  long tap[WALK_RANK], place[WALK_RANK];
  bool outside = false;
  for (int axis = resize.rank - 1; axis >= 0; axis--) {
    long next = rest / resize.shape[axis];
    place[axis] = rest - next * resize.shape[axis];
    rest = next;
    y0 += place[axis] * resize.y_strides[axis];
    outside = outside || table[resize.table[axis] + 2 * resize.shape[axis] * resize.taps[axis] + place[axis]];
    tap[axis] = 0;
  }
  if (outside) {
    SAVE(A, y, y0, CUT(r_float(extrapolation)));
    return;
  }
  REAL sum = R(0);
  int axis;
  do {
    long from = x0;
    REAL weight = R(1);
    for (axis = 0; axis < resize.rank; axis++) {
      __global const long *own = table + resize.table[axis];
      long at = place[axis] * resize.taps[axis] + tap[axis];
      from += clamp(own[at], (long)0, resize.x_shape[axis] - 1) * resize.x_strides[axis];
      weight = r_mul(weight, ((__global const REAL *)(own + resize.shape[axis] * resize.taps[axis]))[at]);
    }
    if (resize.mode == NEAREST) {
      SAVE(A, y, y0, LOAD(A, x, from));
      return;
    }
    sum = r_is(weight, 0) ? sum : r_add(sum, r_mul(weight, R_OF(TYPE_A, LOAD(A, x, from))));
    for (axis = resize.rank - 1; axis >= 0 && ++tap[axis] == resize.taps[axis]; axis--) {
      tap[axis] = 0;
    }
  } while (axis >= 0);
  STORE(y, y0, sum);
}
