/* Resizing (image.h) is separable: each axis has a table of the elements that each place weighs, with their weights.
 * backends/cpu/reference/image.c calls these. */
#include <string.h>

#include "kernels/reference/image/image.h"
#include "kernels/resize.h"
#include "kernels/types.h"

enum { MAX_RANK = 32 };
enum { HALF_PIXEL, HALF_PIXEL_SYMMETRIC, PYTORCH_HALF_PIXEL, ALIGN_CORNERS, ASYMMETRIC, CROP, WITHOUT_SHIFT };

/* -- tables ------------------------------------------------------------------------------------------------------ */

static int64_t first_tap(const nd4c_ref_resize_setting *setting, double scale) {
  return nd4c_resize_first_tap(setting->mode == ND4C_REF_CUBIC, setting->antialias, scale);
}

int64_t nd4c_ref_resize_taps(const nd4c_ref_resize_setting *setting, double scale) {
  return setting->mode == ND4C_REF_NEAREST ? 1 : 2 - 2 * first_tap(setting, scale);
}

/* Where place `o` lies in x. */
static double source(const nd4c_ref_resize_setting *setting, double scale, double width, const double *roi,
                     const nd4c_ref_resize_axis *axis, int64_t o) {
  double last = (double)(axis->in - 1), place = (double)o;
  switch (setting->coordinates) {
    case HALF_PIXEL_SYMMETRIC: /* the output's extent was rounded; the image stays centred */
      return (double)axis->in / 2 * (1 - (double)axis->out / width) + (place + 0.5) / scale - 0.5;
    case PYTORCH_HALF_PIXEL:
      return width == 1 ? -0.5 : (place + 0.5) / scale - 0.5;
    case ALIGN_CORNERS:
      return width == 1 ? 0 : place * last / (width - 1);
    case ASYMMETRIC:
      return place / scale;
    case WITHOUT_SHIFT:
      return (place + 0.5) / scale;
    case CROP:
      return roi[0] * last +
             (width == 1 ? (roi[1] - roi[0]) * last / 2 : place * (roi[1] - roi[0]) * last / (width - 1));
    default:
      return (place + 0.5) / scale - 0.5;
  }
}

static int64_t nearest_index(int64_t rule, double place) {
  double low = floor(place), rest = place - low;
  bool up = rest > 0 && (rule == 3 || (rule == 0 && rest > 0.5) || (rule == 1 && rest >= 0.5));
  return (int64_t)low + up;
}

/* The kernel functions of linear and cubic interpolation at a distance. */
static double kernel_value(const nd4c_ref_resize_setting *setting, double distance) {
  double a = setting->cubic_a, x = fabs(distance);
  if (setting->mode == ND4C_REF_LINEAR) {
    return x < 1 ? 1 - x : 0;
  }
  if (x <= 1) {
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  }
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

static int64_t clamp_index(int64_t index, int64_t extent) {
  return index < 0 ? 0 : index < extent ? index : extent - 1;
}

/* Taps of one place; the weights sum to 1 where they were widened or some were left out. */
static void fill_taps(const nd4c_ref_resize_setting *setting, double scale, double place,
                      const nd4c_ref_resize_axis *axis, int64_t o) {
  int64_t *index = axis->index + o * axis->taps;
  double *weight = axis->weight + o * axis->taps, sum = 0;
  double step = setting->antialias && scale < 1 ? scale : 1;
  int64_t base = (int64_t)ceil(place) - 1; /* an even number of taps around a place: one on a cell leans left */
  for (int64_t k = 0; k < axis->taps; k++) {
    int64_t cell = base + first_tap(setting, scale) + k;
    bool inside = cell >= 0 && cell < axis->in;
    weight[k] = setting->exclude_outside && !inside ? 0 : kernel_value(setting, step * ((double)cell - place));
    index[k] = clamp_index(cell, axis->in);
    sum += weight[k];
  }
  for (int64_t k = 0; k < axis->taps && (setting->antialias || setting->exclude_outside) && sum != 0; k++) {
    weight[k] /= sum;
  }
}

void nd4c_ref_resize_fill(const nd4c_ref_resize_setting *setting, double scale, double width, const double *roi,
                          const nd4c_ref_resize_axis *axis) {
  for (int64_t o = 0; o < axis->out; o++) {
    double place = source(setting, scale, width, roi, axis, o);
    axis->outside[o] = setting->coordinates == CROP && !(place >= 0 && place <= (double)(axis->in - 1));
    if (axis->outside[o]) {
      memset(axis->index + o * axis->taps, 0, (size_t)axis->taps * sizeof *axis->index);
    } else if (setting->mode == ND4C_REF_NEAREST) {
      axis->index[o] = clamp_index(nearest_index(setting->nearest, place), axis->in);
    } else {
      fill_taps(setting, scale, place, axis, o);
    }
  }
}

/* -- rows -------------------------------------------------------------------------------------------------------- */

/* A row of y: its position on the axes before the last, and where it begins. */
typedef struct row_place {
  int64_t position[MAX_RANK];
  int64_t offset;
  bool outside;
} row_place;

static row_place find_row(const nd4c_ref_resize_args *args, int64_t number) {
  row_place row = {.offset = 0};
  for (int32_t axis = args->y.rank - 2; axis >= 0; axis--) {
    row.position[axis] = number % args->y.shape[axis];
    number /= args->y.shape[axis];
    row.offset += row.position[axis] * args->y.strides[axis];
    row.outside = row.outside || args->axes[axis].outside[row.position[axis]];
  }
  return row;
}

#define ADD_ROW(type)                                                \
  {                                                                  \
    const type *from = (const type *)(const void *)x->data + offset; \
    for (int64_t i = 0; i < count; i++) {                            \
      row[i] += weight * (double)from[i * stride];                   \
    }                                                                \
    break;                                                           \
  }

/* row += weight * a row of x */
static void add_row(const nd4c_ref_tensor *x, int64_t offset, int64_t count, double weight, double *row) {
  int64_t stride = x->strides[x->rank - 1];
  nd4c_dtype_kind kind = nd4c_reference_kind(x->dtype);
  switch (x->dtype) {
    case ND4C_FLOAT32:
      ADD_ROW(float)
    case ND4C_FLOAT64:
      ADD_ROW(double)
    case ND4C_UINT8:
      ADD_ROW(uint8_t)
    default:
      for (int64_t i = 0; i < count; i++) {
        nd4c_value value = nd4c_value_load(x->dtype, x->data, offset + i * stride);
        row[i] += weight * (kind == ND4C_KIND_FLOAT ? value.f
                            : kind == ND4C_KIND_INT ? (double)value.i
                                                    : (double)value.u);
      }
  }
}

/* The weighted sum of the rows of x that a row of y takes. Taps without weight are not looked at. */
static void gather_rows(const nd4c_ref_resize_args *args, const row_place *place, double *row) {
  const nd4c_ref_tensor *x = &args->x;
  int32_t outer = x->rank - 1;
  int64_t tap[MAX_RANK] = {0}, taps[MAX_RANK];
  for (int32_t axis = 0; axis < outer; axis++) {
    taps[axis] = args->axes[axis].taps;
  }
  memset(row, 0, (size_t)x->shape[outer] * sizeof *row);
  do {
    int64_t offset = 0;
    double weight = 1;
    for (int32_t axis = 0; axis < outer; axis++) {
      int64_t at = place->position[axis] * taps[axis] + tap[axis];
      weight *= args->axes[axis].weight[at];
      offset += args->axes[axis].index[at] * x->strides[axis];
    }
    if (weight != 0) {
      add_row(x, offset, x->shape[outer], weight, row);
    }
  } while (nd4c_index_next(outer, taps, tap));
}

static void store_rounded(const nd4c_ref_tensor *y, int64_t offset, double value) {
  nd4c_dtype_kind kind = nd4c_reference_kind(y->dtype);
  if (kind == ND4C_KIND_FLOAT) {
    nd4c_ref_store(y, offset, value);
  } else {
    nd4c_value from = {.f = rint(value)};
    nd4c_value_store(y->dtype, y->data, offset, nd4c_value_cast(ND4C_KIND_FLOAT, from, y->dtype));
  }
}

static void extrapolate(const nd4c_ref_tensor *y, int64_t offset, double value) {
  nd4c_value from = {.f = value};
  nd4c_value_store(y->dtype, y->data, offset, nd4c_value_cast(ND4C_KIND_FLOAT, from, y->dtype));
}

static void interpolate_row(const nd4c_ref_resize_args *args, const row_place *place, double *row) {
  const nd4c_ref_tensor *y = &args->y;
  const nd4c_ref_resize_axis *last = &args->axes[y->rank - 1];
  gather_rows(args, place, row);
  for (int64_t o = 0; o < last->out; o++) {
    int64_t offset = place->offset + o * y->strides[y->rank - 1];
    double sum = 0;
    for (int64_t k = o * last->taps; k < (o + 1) * last->taps; k++) {
      sum += last->weight[k] != 0 ? last->weight[k] * row[last->index[k]] : 0;
    }
    if (place->outside || last->outside[o]) {
      extrapolate(y, offset, args->extrapolation);
    } else {
      store_rounded(y, offset, sum);
    }
  }
}

/* Elements move as they are. */
static void pick_row(const nd4c_ref_resize_args *args, const row_place *place) {
  const nd4c_ref_tensor *x = &args->x, *y = &args->y;
  const nd4c_ref_resize_axis *last = &args->axes[y->rank - 1];
  size_t bytes = (size_t)nd4c_reference_bytes(x->dtype);
  int64_t from = 0;
  for (int32_t axis = 0; axis < x->rank - 1; axis++) {
    from += args->axes[axis].index[place->position[axis]] * x->strides[axis];
  }
  for (int64_t o = 0; o < last->out; o++) {
    int64_t to = place->offset + o * y->strides[y->rank - 1];
    int64_t at = from + last->index[o] * x->strides[x->rank - 1];
    if (place->outside || last->outside[o]) {
      extrapolate(y, to, args->extrapolation);
    } else if (bytes == 4) {
      memcpy(y->data + to * 4, x->data + at * 4, 4);
    } else {
      memcpy(y->data + (size_t)to * bytes, x->data + (size_t)at * bytes, bytes);
    }
  }
}

void nd4c_ref_resize(const nd4c_ref_resize_args *args, double *row, int64_t begin, int64_t end) {
  for (int64_t number = begin; number < end; number++) {
    row_place place = find_row(args, number);
    if (args->mode == ND4C_REF_NEAREST) {
      pick_row(args, &place);
    } else {
      interpolate_row(args, &place, row);
    }
  }
}
