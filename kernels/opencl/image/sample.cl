/* Sampling at places between the elements; behind real.cl and image.cl. TYPE_B: of the grid, of theta, of boxes.
 * families/image_resize.c launches these. */

enum { NEAREST, LINEAR, CUBIC };
enum { ZEROS, BORDER, REFLECTION, SPATIAL = 3, TAPS = 4 };

/* x and y [n, c, space...]; the grid [n, space..., d], or theta [n, d, d + 1]. */
typedef struct {
  int spatial, mode, padding, align_corners, has_theta, unused;
  long x_shape[5], x_strides[5], y_shape[5], y_strides[5], grid_strides[5];
} nd4c_sampling;

/* Mirrors a coordinate at the borders until it lies within. */
static inline REAL reflect(REAL x, REAL low, REAL high) {
  bool below = r_less(x, low);
  REAL range = r_sub(high, low), beyond = below ? r_sub(low, x) : r_less(high, x) ? r_sub(x, high) : R(0);
  if (r_is(beyond, 0) || r_isnan(x)) {
    return x;
  }
  if (r_is(range, 0)) {
    return low;
  }
  REAL rest = r_fmod(beyond, r_mul(R(2), range));
  bool even = r_less(rest, range);
  rest = even ? rest : r_sub(rest, range);
  return below == even ? r_add(low, rest) : r_sub(high, rest);
}

/* The index of a tap, or -1 where zeros lie. Taps are at most 4 elements outside. */
static inline long place_tap(long tap, long extent, int padding, int align_corners) {
  REAL edge = R(align_corners ? 0 : 0.5f);
  if (tap >= 0 && tap < extent) {
    return tap;
  }
  if (padding == ZEROS) {
    return -1;
  }
  return padding == BORDER ? (tap < 0 ? 0 : extent - 1) : r_whole(reflect(r_long(tap), r_neg(edge), r_add(r_long(extent - 1), edge)));
}

/* A coordinate of -1 .. 1 as a place among the elements; outside, where the padding says. */
static inline REAL locate(nd4c_sampling s, REAL coordinate, long extent) {
  REAL last = r_long(extent - 1), edge = R(s.align_corners ? 0 : 0.5f), one = R(1), two = R(2), beyond = r_add(last, R(4));
  REAL x = s.align_corners ? r_mul(r_div(r_add(coordinate, one), two), last)
                           : r_div(r_sub(r_mul(r_add(coordinate, one), r_long(extent)), one), two);
  x = s.mode == NEAREST ? r_rint(x) : x;
  if (r_at_most(r_neg(edge), x) && r_at_most(x, r_add(last, edge))) {
    return x;
  }
  if (s.padding == BORDER) {
    return r_less(x, R(0)) ? R(0) : r_less(last, x) ? last : x;
  }
  if (s.padding == REFLECTION) {
    return reflect(x, r_neg(edge), r_add(last, edge));
  }
  return r_less(x, R(-4)) ? R(-4) : r_less(beyond, x) ? beyond : x;
}

/* ((a x - 5 a) x + 8 a) x - 4 a and ((a + 2) x - (a + 3)) x x + 1 */
static inline REAL cubic_far(REAL a, REAL x) {
  REAL inner = r_add(r_mul(r_sub(r_mul(a, x), r_mul(R(5), a)), x), r_mul(R(8), a));
  return r_sub(r_mul(inner, x), r_mul(R(4), a));
}
static inline REAL cubic_near(REAL a, REAL x) {
  REAL inner = r_sub(r_mul(r_add(a, R(2)), x), r_add(a, R(3)));
  return r_add(r_mul(r_mul(inner, x), x), R(1));
}
static inline void cubic_weights(REAL t, REAL *weight) {
  const REAL a = R(-0.75f);
  weight[0] = cubic_far(a, r_add(R(1), t));
  weight[1] = cubic_near(a, t);
  weight[2] = cubic_near(a, r_sub(R(1), t));
  weight[3] = cubic_far(a, r_sub(R(2), t));
}

/* Place `index` of `extent` ones between -1 and 1. */
static inline REAL base_coordinate(long index, long extent, int align_corners) {
  if (align_corners) {
    return extent > 1 ? r_sub(r_div(r_mul(R(2), r_long(index)), r_long(extent - 1)), R(1)) : R(0);
  }
  return r_sub(r_div(r_add(r_mul(R(2), r_long(index)), R(1)), r_long(extent)), R(1));
}

/* A row of theta times (place, 1); places count the last axis first. */
static inline REAL transform(__global const STORAGE(B) *theta, long offset, long step, int d, const long *shape,
                      const long *at, int align_corners) {
  REAL sum = R(LOAD(B, theta, offset + d * step));
  for (int i = 0; i < d; i++) {
    int axis = d - 1 - i;
    REAL factor = base_coordinate(at[axis], shape[axis], align_corners);
    sum = r_add(sum, r_mul(R(LOAD(B, theta, offset + i * step)), factor));
  }
  return sum;
}

__kernel void sample_grid(__global const STORAGE(A) *x, long x0, __global const STORAGE(B) *grid, long grid0,
                          __global STORAGE(A) *y, long y0, nd4c_sampling s, long items) {
  ITEM(rest, items)
  long at[SPATIAL], shape[SPATIAL], index[SPATIAL][TAPS], k[SPATIAL] = {0, 0, 0};
  REAL weight[SPATIAL][TAPS];
  int d = s.spatial, taps = s.mode == NEAREST ? 1 : s.mode == LINEAR ? 2 : 4, axis;
  bool somewhere = true;
  for (int i = d - 1; i >= 0; i--) {
    shape[i] = s.y_shape[i + 2];
    at[i] = rest % shape[i];
    rest /= shape[i];
    y0 += at[i] * s.y_strides[i + 2];
  }
  long c = rest % s.y_shape[1], n = rest / s.y_shape[1];
  y0 += c * s.y_strides[1] + n * s.y_strides[0];
  x0 += c * s.x_strides[1] + n * s.x_strides[0];
  for (int i = 0; i < d; i++) {
    long offset = grid0 + n * s.grid_strides[0] + (d - 1 - i) * (s.has_theta ? s.grid_strides[1] : s.grid_strides[d + 1]);
    for (int j = 0; j < d && !s.has_theta; j++) {
      offset += at[j] * s.grid_strides[j + 1];
    }
    REAL coordinate = s.has_theta ? transform(grid, offset, s.grid_strides[2], d, shape, at, s.align_corners)
                                  : R(LOAD(B, grid, offset));
    REAL place = locate(s, coordinate, s.x_shape[i + 2]);
    if (!r_less(r_abs(place), R(0x1p62f))) {
      somewhere = false;
      break;
    }
    long low = r_whole(r_floor(place));
    REAL t = r_sub(place, r_long(low));
    if (taps == 4) {
      cubic_weights(t, weight[i]);
      low--;
    } else {
      weight[i][0] = taps == 1 ? R(1) : r_sub(R(1), t);
      weight[i][1] = t;
    }
    for (int tap = 0; tap < taps; tap++) {
      index[i][tap] = place_tap(low + tap, s.x_shape[i + 2], s.padding, s.align_corners);
    }
  }
  REAL sum = R(somewhere ? 0 : NAN);
  do {
    long from = x0;
    REAL product = R(1);
    bool inside = somewhere;
    for (int i = 0; i < d && inside; i++) {
      product = r_mul(product, weight[i][k[i]]);
      inside = index[i][k[i]] >= 0;
      from += index[i][k[i]] * s.x_strides[i + 2];
    }
    if (inside && !r_is(product, 0)) {
      sum = r_add(sum, r_mul(product, R_OF(TYPE_A, LOAD(A, x, from))));
    }
    for (axis = d - 1; axis >= 0 && ++k[axis] == taps; axis--) {
      k[axis] = 0;
    }
  } while (axis >= 0 && somewhere);
  STORE(y, y0, sum);
}

/* y [n, space..., d]: s.y_shape and s.y_strides are the grid's, s.grid_strides those of theta. */
__kernel void affine_grid(__global const STORAGE(B) *theta, long theta0, __global STORAGE(A) *y, long y0,
                          nd4c_sampling s, long items) {
  ITEM(rest, items)
  long at[SPATIAL], shape[SPATIAL];
  int d = s.spatial;
  long row = rest % d;
  rest /= d;
  y0 += row * s.y_strides[d + 1];
  for (int i = d - 1; i >= 0; i--) {
    shape[i] = s.y_shape[i + 1];
    at[i] = rest % shape[i];
    rest /= shape[i];
    y0 += at[i] * s.y_strides[i + 1];
  }
  y0 += rest * s.y_strides[0];
  STORE(y, y0,
        transform(theta, theta0 + rest * s.grid_strides[0] + row * s.grid_strides[1], s.grid_strides[2], d, shape, at,
                  s.align_corners));
}

/* Where place `index` of `count` lies between two corners (0 .. 1) of an axis. */
static inline REAL crop_coordinate(REAL from, REAL to, long index, long count, long extent) {
  REAL last = r_long(extent - 1);
  if (count <= 1) {
    return r_mul(r_mul(R(0.5f), r_add(from, to)), last);
  }
  REAL way = r_mul(r_mul(r_long(index), r_sub(to, from)), last);
  return r_add(r_mul(from, last), r_div(way, r_long(count - 1)));
}

/* x [b, h, w, c], y [boxes, h, w, c]; s.grid_strides: of boxes. */
__kernel void crop(__global const STORAGE(A) *x, long x0, __global const STORAGE(B) *boxes, long boxes0,
                   __global const int *images, long images0, long step, int wide, __global STORAGE(A) *y, long y0,
                   nd4c_sampling s, REAL extrapolation, __global int *fault, long items) {
  ITEM(rest, items)
  long at[4];
  REAL corner[4], sum = R(0);
  for (int i = 3; i >= 0; i--) {
    at[i] = rest % s.y_shape[i];
    rest /= s.y_shape[i];
    y0 += at[i] * s.y_strides[i];
  }
  long image = index_at(images, images0 + at[0] * step, wide);
  if (image < 0 || image >= s.x_shape[0]) {
    nd4c_fault_index(fault, image, s.x_shape[0]);
    return;
  }
  for (int k = 0; k < 4; k++) {
    corner[k] = R(LOAD(B, boxes, boxes0 + at[0] * s.grid_strides[0] + k * s.grid_strides[1]));
  }
  REAL row = crop_coordinate(corner[0], corner[2], at[1], s.y_shape[1], s.x_shape[1]);
  REAL column = crop_coordinate(corner[1], corner[3], at[2], s.y_shape[2], s.x_shape[2]);
  x0 += image * s.x_strides[0] + at[3] * s.x_strides[3];
  if (!(r_at_most(R(0), row) && r_at_most(row, r_long(s.x_shape[1] - 1)) && r_at_most(R(0), column) &&
        r_at_most(column, r_long(s.x_shape[2] - 1)))) {
    STORE(y, y0, extrapolation);
    return;
  }
  if (s.mode == NEAREST) {
    long place = x0 + r_whole(r_round(row)) * s.x_strides[1] + r_whole(r_round(column)) * s.x_strides[2];
    STORE(y, y0, R_OF(TYPE_A, LOAD(A, x, place)));
    return;
  }
  REAL top = r_floor(row), left = r_floor(column), down = r_sub(row, top), right = r_sub(column, left);
  for (int k = 0; k < 4; k++) {
    REAL weight = r_mul(k & 2 ? down : r_sub(R(1), down), k & 1 ? right : r_sub(R(1), right));
    long i = r_whole(top) + (k >> 1), j = r_whole(left) + (k & 1);
    if (!r_is(weight, 0)) {
      sum = r_add(sum, r_mul(weight, R_OF(TYPE_A, LOAD(A, x, x0 + i * s.x_strides[1] + j * s.x_strides[2]))));
    }
  }
  STORE(y, y0, sum);
}
