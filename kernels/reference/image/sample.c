/* Sampling at places between the elements (image.h): grid_sample, affine_grid, spatial_transformer, crop_and_resize.
 * backends/cpu/reference/image.c calls these. */
#include "kernels/reference/image/image.h"

enum { SPATIAL = 3, ZEROS = 0, BORDER = 1, REFLECTION = 2 };

static double load_number(const nd4c_ref_tensor *x, int64_t offset) {
  nd4c_value value = nd4c_value_load(x->dtype, x->data, offset);
  nd4c_dtype_kind kind = nd4c_reference_kind(x->dtype);
  return kind == ND4C_KIND_FLOAT ? value.f : kind == ND4C_KIND_INT ? (double)value.i : (double)value.u;
}

/* Integers are rounded to even and saturate; NaN gives 0. */
static void store_number(const nd4c_ref_tensor *y, int64_t offset, double value) {
  if (nd4c_reference_kind(y->dtype) == ND4C_KIND_FLOAT) {
    nd4c_ref_store(y, offset, value);
  } else {
    nd4c_value from = {.f = rint(value)};
    nd4c_value_store(y->dtype, y->data, offset, nd4c_value_cast(ND4C_KIND_FLOAT, from, y->dtype));
  }
}

/* -- one axis of one place ---------------------------------------------------------------------------------------- */

/* The elements that a place takes along one axis: -1 for one outside. */
typedef struct tap_list {
  int count;
  int64_t index[4];
  double weight[4];
} tap_list;

/* Mirrors a coordinate at the borders until it lies within. */
static double reflect(double x, double low, double high) {
  double range = high - low, beyond = x < low ? low - x : x > high ? x - high : 0;
  if (beyond == 0 || isnan(x)) {
    return x;
  }
  if (range == 0) {
    return low;
  }
  double rest = fmod(beyond, 2 * range); /* exact, whatever the distance */
  bool even = rest < range;
  rest = even ? rest : rest - range;
  return (x < low) == even ? low + rest : high - rest;
}

/* The index of a tap, or -1 where zeros lie. Taps are at most 4 elements outside. */
static int64_t place_tap(int64_t tap, int64_t extent, int64_t padding, bool align_corners) {
  if (tap >= 0 && tap < extent) {
    return tap;
  }
  if (padding == ZEROS) {
    return -1;
  }
  if (padding == BORDER) {
    return tap < 0 ? 0 : extent - 1;
  }
  double edge = align_corners ? 0 : 0.5;
  return (int64_t)reflect((double)tap, -edge, (double)(extent - 1) + edge);
}

/* A coordinate of -1 .. 1 as a place among the elements; outside, where the padding says. */
static double locate(const nd4c_ref_sample_args *args, double coordinate, int64_t extent) {
  double last = (double)(extent - 1), edge = args->align_corners ? 0 : 0.5;
  double x = args->align_corners ? (coordinate + 1) / 2 * last : ((coordinate + 1) * (double)extent - 1) / 2;
  if (args->mode == ND4C_REF_NEAREST) {
    x = rint(x);
  }
  if (x >= -edge && x <= last + edge) {
    return x;
  }
  if (args->padding == BORDER) {
    return x < 0 ? 0 : x > last ? last : x;
  }
  if (args->padding == REFLECTION) {
    return reflect(x, -edge, last + edge);
  }
  return x < -4 ? -4 : x > last + 4 ? last + 4 : x;
}

static void cubic_weights(double t, double *weight) {
  const double a = -0.75;
  double near = 1 - t, far = 2 - t, before = 1 + t;
  weight[0] = ((a * before - 5 * a) * before + 8 * a) * before - 4 * a;
  weight[1] = ((a + 2) * t - (a + 3)) * t * t + 1;
  weight[2] = ((a + 2) * near - (a + 3)) * near * near + 1;
  weight[3] = ((a * far - 5 * a) * far + 8 * a) * far - 4 * a;
}

/* False for a place that is nowhere. */
static bool find_taps(const nd4c_ref_sample_args *args, double coordinate, int64_t extent, tap_list *taps) {
  double x = locate(args, coordinate, extent);
  if (!(fabs(x) < 0x1p62)) {
    return false;
  }
  int64_t low = (int64_t)floor(x);
  double t = x - (double)low;
  taps->count = args->mode == ND4C_REF_NEAREST ? 1 : args->mode == ND4C_REF_LINEAR ? 2 : 4;
  if (taps->count == 4) {
    cubic_weights(t, taps->weight);
    low--;
  } else {
    taps->weight[0] = taps->count == 1 ? 1 : 1 - t;
    taps->weight[1] = t;
  }
  for (int k = 0; k < taps->count; k++) {
    taps->index[k] = place_tap(low + k, extent, args->padding, args->align_corners);
  }
  return true;
}

/* -- places ------------------------------------------------------------------------------------------------------- */

double nd4c_ref_base_coordinate(int64_t index, int64_t extent, bool align_corners) {
  if (align_corners) {
    return extent > 1 ? 2 * (double)index / (double)(extent - 1) - 1 : 0;
  }
  return (2 * (double)index + 1) / (double)extent - 1;
}

/* Row `row` of theta times (place, 1); places count the last axis first. */
static double transform(const nd4c_ref_tensor *theta, int64_t n, int32_t row, int32_t d, const int64_t *shape,
                        const int64_t *at, bool align_corners) {
  int64_t offset = n * theta->strides[0] + row * theta->strides[1];
  double sum = nd4c_ref_load(theta, offset + d * theta->strides[2]);
  for (int32_t i = 0; i < d; i++) {
    int32_t axis = d - 1 - i;
    sum += nd4c_ref_load(theta, offset + i * theta->strides[2]) *
           nd4c_ref_base_coordinate(at[axis], shape[axis], align_corners);
  }
  return sum;
}

/* Splits the number of a place into the image's number (returned) and its position on the spatial axes. */
static int64_t split_place(int64_t number, int32_t d, const int64_t *shape, int64_t *at) {
  for (int32_t axis = d - 1; axis >= 0; axis--) {
    at[axis] = number % shape[axis];
    number /= shape[axis];
  }
  return number;
}

static double coordinate_at(const nd4c_ref_sample_args *args, int64_t n, int32_t axis, int32_t d, const int64_t *at) {
  const nd4c_ref_tensor *grid = &args->grid;
  if (grid->data == NULL) {
    return transform(&args->theta, n, d - 1 - axis, d, args->y.shape + 2, at, args->align_corners);
  }
  int64_t offset = n * grid->strides[0] + (d - 1 - axis) * grid->strides[d + 1];
  for (int32_t i = 0; i < d; i++) {
    offset += at[i] * grid->strides[i + 1];
  }
  return nd4c_ref_load(grid, offset);
}

/* The elements that a place weighs, one after the other: those outside and those without a weight are left out. Returns
 * their number. */
static int32_t list_taps(const nd4c_ref_tensor *x, int32_t d, const tap_list *taps, int64_t *offsets, double *weights) {
  int64_t k[SPATIAL] = {0}, counts[SPATIAL];
  int32_t count = 0;
  for (int32_t i = 0; i < d; i++) {
    counts[i] = taps[i].count;
  }
  do {
    bool inside = true;
    offsets[count] = 0;
    weights[count] = 1;
    for (int32_t i = 0; i < d; i++) {
      weights[count] *= taps[i].weight[k[i]];
      inside = inside && taps[i].index[k[i]] >= 0;
      offsets[count] += taps[i].index[k[i]] * x->strides[i + 2];
    }
    count += inside && weights[count] != 0;
  } while (nd4c_index_next(d, counts, k));
  return count;
}

int32_t nd4c_ref_sample_taps(const nd4c_ref_sample_args *args, int64_t number, int64_t *offsets, double *weights) {
  const nd4c_ref_tensor *x = &args->x;
  int64_t at[SPATIAL];
  tap_list taps[SPATIAL];
  int32_t d = x->rank - 2;
  int64_t n = split_place(number, d, args->y.shape + 2, at);
  bool somewhere = true;
  for (int32_t i = 0; i < d; i++) {
    somewhere = find_taps(args, coordinate_at(args, n, i, d, at), x->shape[i + 2], &taps[i]) && somewhere;
  }
  return somewhere ? list_taps(x, d, taps, offsets, weights) : -1;
}

void nd4c_ref_sample(const nd4c_ref_sample_args *args, int64_t begin, int64_t end) {
  const nd4c_ref_tensor *x = &args->x, *y = &args->y;
  int32_t d = x->rank - 2;
  for (int64_t number = begin; number < end; number++) {
    int64_t at[SPATIAL], offsets[ND4C_REF_SAMPLE_TAPS + 1];
    double weights[ND4C_REF_SAMPLE_TAPS + 1];
    int64_t n = split_place(number, d, y->shape + 2, at), to = n * y->strides[0];
    int32_t count = nd4c_ref_sample_taps(args, number, offsets, weights);
    for (int32_t i = 0; i < d; i++) {
      to += at[i] * y->strides[i + 2];
    }
    for (int64_t c = 0; c < x->shape[1]; c++) {
      int64_t base = n * x->strides[0] + c * x->strides[1];
      double sum = count < 0 ? (double)NAN : 0;
      for (int32_t k = 0; k < count; k++) {
        sum += weights[k] * load_number(x, base + offsets[k]);
      }
      store_number(y, to + c * y->strides[1], sum);
    }
  }
}

void nd4c_ref_affine_grid(const nd4c_ref_grid_args *args, int64_t begin, int64_t end) {
  const nd4c_ref_tensor *theta = &args->theta, *grid = &args->grid;
  int32_t d = grid->rank - 2;
  for (int64_t number = begin; number < end; number++) {
    int64_t at[SPATIAL];
    int64_t n = split_place(number, d, grid->shape + 1, at), to = n * grid->strides[0];
    for (int32_t i = 0; i < d; i++) {
      to += at[i] * grid->strides[i + 1];
    }
    for (int32_t row = 0; row < d; row++) {
      nd4c_ref_store(grid, to + row * grid->strides[d + 1],
                     transform(theta, n, row, d, grid->shape + 1, at, args->align_corners));
    }
  }
}

/* -- crop_and_resize ---------------------------------------------------------------------------------------------- */

double nd4c_ref_crop_coordinate(double from, double to, int64_t index, int64_t count, int64_t extent) {
  double last = (double)(extent - 1);
  return count > 1 ? from * last + (double)index * (to - from) * last / (double)(count - 1) : 0.5 * (from + to) * last;
}

static double crop_value(const nd4c_ref_crop_args *args, int64_t base, double row, double column) {
  const nd4c_ref_tensor *x = &args->x;
  if (args->mode == ND4C_REF_NEAREST) {
    return nd4c_ref_load(x, base + (int64_t)round(row) * x->strides[1] + (int64_t)round(column) * x->strides[2]);
  }
  double top = floor(row), left = floor(column), down = row - top, right = column - left, sum = 0;
  for (int corner = 0; corner < 4; corner++) {
    double weight = (corner & 2 ? down : 1 - down) * (corner & 1 ? right : 1 - right);
    if (weight != 0) {
      int64_t i = (int64_t)top + (corner >> 1), j = (int64_t)left + (corner & 1);
      sum += weight * nd4c_ref_load(x, base + i * x->strides[1] + j * x->strides[2]);
    }
  }
  return sum;
}

void nd4c_ref_crop_and_resize(const nd4c_ref_crop_args *args, int64_t begin, int64_t end) {
  const nd4c_ref_tensor *x = &args->x, *y = &args->y, *boxes = &args->boxes;
  for (int64_t number = begin; number < end; number++) {
    int64_t j = number % y->shape[2], i = number / y->shape[2] % y->shape[1], box = number / y->shape[2] / y->shape[1];
    int64_t image = nd4c_value_load(args->indices.dtype, args->indices.data, box * args->indices.strides[0]).i;
    int64_t to = box * y->strides[0] + i * y->strides[1] + j * y->strides[2];
    double corner[4];
    for (int k = 0; k < 4; k++) {
      corner[k] = nd4c_ref_load(boxes, box * boxes->strides[0] + k * boxes->strides[1]);
    }
    double row = nd4c_ref_crop_coordinate(corner[0], corner[2], i, y->shape[1], x->shape[1]);
    double column = nd4c_ref_crop_coordinate(corner[1], corner[3], j, y->shape[2], x->shape[2]);
    bool inside = row >= 0 && row <= (double)(x->shape[1] - 1) && column >= 0 && column <= (double)(x->shape[2] - 1);
    for (int64_t c = 0; c < x->shape[3]; c++) {
      int64_t base = image * x->strides[0] + c * x->strides[3];
      nd4c_ref_store(y, to + c * y->strides[3], inside ? crop_value(args, base, row, column) : args->extrapolation);
    }
  }
}
