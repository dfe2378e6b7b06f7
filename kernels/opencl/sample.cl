/* Sampling at places between the elements; behind image.cl. TYPE_B: of the grid, of theta, of boxes. */

enum { NEAREST, LINEAR, CUBIC };
enum { ZEROS, BORDER, REFLECTION, SPATIAL = 3, TAPS = 4 };

/* x and y [n, c, space...]; the grid [n, space..., d], or theta [n, d, d + 1]. */
typedef struct {
  int spatial, mode, padding, align_corners, has_theta, unused;
  long x_shape[5], x_strides[5], y_shape[5], y_strides[5], grid_strides[5];
} nd4c_sampling;

/* Mirrors a coordinate at the borders until it lies within. */
static inline REAL reflect(REAL x, REAL low, REAL high) {
  REAL range = high - low, beyond = x < low ? low - x : x > high ? x - high : 0;
  if (beyond == 0 || isnan(x)) {
    return x;
  }
  if (range == 0) {
    return low;
  }
  REAL rest = fmod(beyond, 2 * range);
  bool even = rest < range;
  rest = even ? rest : rest - range;
  return (x < low) == even ? low + rest : high - rest;
}

/* The index of a tap, or -1 where zeros lie. Taps are at most 4 elements outside. */
static inline long place_tap(long tap, long extent, int padding, int align_corners) {
  REAL edge = align_corners ? 0 : (REAL)0.5;
  if (tap >= 0 && tap < extent) {
    return tap;
  }
  if (padding == ZEROS) {
    return -1;
  }
  return padding == BORDER ? (tap < 0 ? 0 : extent - 1) : (long)reflect((REAL)tap, -edge, (REAL)(extent - 1) + edge);
}

/* A coordinate of -1 .. 1 as a place among the elements; outside, where the padding says. */
static inline REAL locate(nd4c_sampling s, REAL coordinate, long extent) {
  REAL last = (REAL)(extent - 1), edge = s.align_corners ? 0 : (REAL)0.5;
  REAL x = s.align_corners ? (coordinate + 1) / 2 * last : ((coordinate + 1) * (REAL)extent - 1) / 2;
  x = s.mode == NEAREST ? rint(x) : x;
  if (x >= -edge && x <= last + edge) {
    return x;
  }
  if (s.padding == BORDER) {
    return x < 0 ? 0 : x > last ? last : x;
  }
  if (s.padding == REFLECTION) {
    return reflect(x, -edge, last + edge);
  }
  return x < -4 ? -4 : x > last + 4 ? last + 4 : x;
}

static inline void cubic_weights(REAL t, REAL *weight) {
  const REAL a = (REAL)-0.75;
  REAL near = 1 - t, far = 2 - t, before = 1 + t;
  weight[0] = ((a * before - 5 * a) * before + 8 * a) * before - 4 * a;
  weight[1] = ((a + 2) * t - (a + 3)) * t * t + 1;
  weight[2] = ((a + 2) * near - (a + 3)) * near * near + 1;
  weight[3] = ((a * far - 5 * a) * far + 8 * a) * far - 4 * a;
}

/* Place `index` of `extent` ones between -1 and 1. */
static inline REAL base_coordinate(long index, long extent, int align_corners) {
  if (align_corners) {
    return extent > 1 ? 2 * (REAL)index / (REAL)(extent - 1) - 1 : 0;
  }
  return (2 * (REAL)index + 1) / (REAL)extent - 1;
}

/* A row of theta times (place, 1); places count the last axis first. */
static inline REAL transform(__global const STORAGE_B *theta, long offset, long step, int d, const long *shape,
                      const long *at, int align_corners) {
  REAL sum = LOAD_B(theta, offset + d * step);
  for (int i = 0; i < d; i++) {
    int axis = d - 1 - i;
    sum += (REAL)LOAD_B(theta, offset + i * step) * base_coordinate(at[axis], shape[axis], align_corners);
  }
  return sum;
}

__kernel void sample_grid(__global const STORAGE_A *x, long x0, __global const STORAGE_B *grid, long grid0,
                          __global STORAGE_A *y, long y0, nd4c_sampling s, long items) {
  long rest = get_global_id(0), at[SPATIAL], shape[SPATIAL], index[SPATIAL][TAPS], k[SPATIAL] = {0, 0, 0};
  REAL weight[SPATIAL][TAPS];
  int d = s.spatial, taps = s.mode == NEAREST ? 1 : s.mode == LINEAR ? 2 : 4, axis;
  bool somewhere = true;
  if (rest >= items) {
    return;
  }
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
                                  : (REAL)LOAD_B(grid, offset);
    REAL place = locate(s, coordinate, s.x_shape[i + 2]);
    if (!(fabs(place) < (REAL)4611686018427387904.0)) {
      somewhere = false;
      break;
    }
    long low = (long)floor(place);
    REAL t = place - (REAL)low;
    if (taps == 4) {
      cubic_weights(t, weight[i]);
      low--;
    } else {
      weight[i][0] = taps == 1 ? 1 : 1 - t;
      weight[i][1] = t;
    }
    for (int tap = 0; tap < taps; tap++) {
      index[i][tap] = place_tap(low + tap, s.x_shape[i + 2], s.padding, s.align_corners);
    }
  }
  REAL sum = somewhere ? 0 : NAN;
  do {
    long from = x0;
    REAL product = 1;
    bool inside = somewhere;
    for (int i = 0; i < d && inside; i++) {
      product *= weight[i][k[i]];
      inside = index[i][k[i]] >= 0;
      from += index[i][k[i]] * s.x_strides[i + 2];
    }
    sum += inside && product != 0 ? product * (REAL)LOAD_A(x, from) : 0;
    for (axis = d - 1; axis >= 0 && ++k[axis] == taps; axis--) {
      k[axis] = 0;
    }
  } while (axis >= 0 && somewhere);
  STORE(y, y0, sum);
}

/* y [n, space..., d]: s.y_shape and s.y_strides are the grid's, s.grid_strides those of theta. */
__kernel void affine_grid(__global const STORAGE_B *theta, long theta0, __global STORAGE_A *y, long y0,
                          nd4c_sampling s, long items) {
  long rest = get_global_id(0), at[SPATIAL], shape[SPATIAL];
  int d = s.spatial;
  if (rest >= items) {
    return;
  }
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
  REAL last = (REAL)(extent - 1);
  return count > 1 ? from * last + (REAL)index * (to - from) * last / (REAL)(count - 1)
                   : (REAL)0.5 * (from + to) * last;
}

/* x [b, h, w, c], y [boxes, h, w, c]; s.grid_strides: of boxes. */
__kernel void crop(__global const STORAGE_A *x, long x0, __global const STORAGE_B *boxes, long boxes0,
                   __global const int *images, long images0, long step, int wide, __global STORAGE_A *y, long y0,
                   nd4c_sampling s, REAL extrapolation, __global int *fault, long items) {
  long rest = get_global_id(0), at[4];
  REAL corner[4], sum = 0;
  if (rest >= items) {
    return;
  }
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
    corner[k] = LOAD_B(boxes, boxes0 + at[0] * s.grid_strides[0] + k * s.grid_strides[1]);
  }
  REAL row = crop_coordinate(corner[0], corner[2], at[1], s.y_shape[1], s.x_shape[1]);
  REAL column = crop_coordinate(corner[1], corner[3], at[2], s.y_shape[2], s.x_shape[2]);
  x0 += image * s.x_strides[0] + at[3] * s.x_strides[3];
  if (!(row >= 0 && row <= (REAL)(s.x_shape[1] - 1) && column >= 0 && column <= (REAL)(s.x_shape[2] - 1))) {
    STORE(y, y0, extrapolation);
    return;
  }
  if (s.mode == NEAREST) {
    STORE(y, y0, (REAL)LOAD_A(x, x0 + (long)round(row) * s.x_strides[1] + (long)round(column) * s.x_strides[2]));
    return;
  }
  REAL top = floor(row), left = floor(column), down = row - top, right = column - left;
  for (int k = 0; k < 4; k++) {
    REAL weight = (k & 2 ? down : 1 - down) * (k & 1 ? right : 1 - right);
    long i = (long)top + (k >> 1), j = (long)left + (k & 1);
    sum += weight != 0 ? weight * (REAL)LOAD_A(x, x0 + i * s.x_strides[1] + j * s.x_strides[2]) : 0;
  }
  STORE(y, y0, sum);
}
