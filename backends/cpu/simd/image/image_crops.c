/* Engine simd: crop_and_resize: the columns of a box are found once, and the rows of x under a row of y are converted
 * to doubles together. dispatch/choice.c asks this kernel before the reference's. */
#include <math.h>

#include "backends/cpu/simd/rows.h"
#include "backends/cpu/support/regions.h"

typedef struct crop_job {
  const nd4c_tensor *x, *y;
  nd4c_ref_tensor boxes, indices;
  bool nearest;
  double extrapolation;
  double *scratch; /* of the workers: columns, a row of y, two rows of x */
  int64_t worker_size;
} crop_job;

/* What one worker has of a box. */
typedef struct crop_place {
  int64_t box;
  double corners[4];
  double *columns, *row, *lines[2];
  int64_t first, last; /* columns of x that are read: first .. last - 1 */
} crop_place;

static void find_columns(const crop_job *job, crop_place *at) {
  const nd4c_ref_tensor *boxes = &job->boxes;
  const int64_t width = job->x->shape[2];
  at->first = width;
  at->last = 0;
  for (int k = 0; k < 4; k++) {
    at->corners[k] = nd4c_ref_load(boxes, at->box * boxes->strides[0] + k * boxes->strides[1]);
  }
  for (int64_t j = 0; j < job->y->shape[2]; j++) {
    const double column = nd4c_ref_crop_coordinate(at->corners[1], at->corners[3], j, job->y->shape[2], width);
    at->columns[j] = column;
    if (column >= 0 && column <= (double)(width - 1)) {
      const int64_t left = (int64_t)column, right = left + 2 < width ? left + 2 : width;
      at->first = left < at->first ? left : at->first;
      at->last = right > at->last ? right : at->last;
    }
  }
}

/* Row `row` of an image of x, the columns that are read, to line k. */
static void load_line(const crop_job *job, const crop_place *at, int64_t image, int64_t row, int k) {
  const nd4c_tensor *x = job->x;
  const int64_t channels = x->shape[3];
  if (at->last > at->first) {
    const int64_t from = image * x->strides[0] + row * x->strides[1] + at->first * channels;
    nd4c_simd.cast->loops[x->dtype][ND4C_FLOAT64]((at->last - at->first) * channels,
                                                  (const char *)x->data + from * nd4c_cpu_dtype_bytes(x->dtype),
                                                  at->lines[k] + at->first * channels);
  }
}

/* A pixel that lies in x; down: the weight of the lower line. */
static void blend(const crop_job *job, const crop_place *at, double column, double down, double *to) {
  const int64_t channels = job->x->shape[3], left = (int64_t)column;
  const double right = column - (double)left;
  for (int corner = 0; corner < 4; corner++) {
    const double weight = ((corner & 2) != 0 ? down : 1 - down) * ((corner & 1) != 0 ? right : 1 - right);
    const double *from = at->lines[corner >> 1] + (left + (corner & 1)) * channels;
    for (int64_t c = 0; weight != 0 && c < channels; c++) {
      to[c] += weight * from[c];
    }
  }
}

static void crop_row(const crop_job *job, const crop_place *at, int64_t i) {
  const nd4c_tensor *x = job->x, *y = job->y;
  const int64_t channels = x->shape[3], width = y->shape[2];
  const int64_t image = nd4c_value_load(job->indices.dtype, job->indices.data, at->box * job->indices.strides[0]).i;
  const double row = nd4c_ref_crop_coordinate(at->corners[0], at->corners[2], i, y->shape[1], x->shape[1]);
  const bool inside = row >= 0 && row <= (double)(x->shape[1] - 1);
  const int64_t top = !inside ? 0 : job->nearest ? (int64_t)round(row) : (int64_t)row;
  const double down = inside && !job->nearest ? row - (double)top : 0;
  if (inside) {
    load_line(job, at, image, top, 0);
  }
  if (down > 0) {
    load_line(job, at, image, top + 1, 1);
  }
  memset(at->row, 0, (size_t)(width * channels) * sizeof *at->row);
  for (int64_t j = 0; j < width; j++) {
    const double column = at->columns[j];
    double *to = at->row + j * channels;
    if (!inside || !(column >= 0 && column <= (double)(x->shape[2] - 1))) {
      nd4c_simd.creation->fill[sizeof(double)](channels, &job->extrapolation, to);
    } else if (job->nearest) {
      memcpy(to, at->lines[0] + (int64_t)round(column) * channels, (size_t)channels * sizeof *to);
    } else {
      blend(job, at, column, down, to);
    }
  }
  const int64_t offset = at->box * y->strides[0] + i * y->strides[1];
  nd4c_simd.cast->loops[ND4C_FLOAT64][y->dtype](width * channels, at->row,
                                                (char *)y->data + offset * nd4c_cpu_dtype_bytes(y->dtype));
}

static void rows_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const crop_job *job = user;
  const int64_t line = job->x->shape[2] * job->x->shape[3], rows = job->y->shape[1];
  crop_place at = {.box = -1, .columns = job->scratch + worker * job->worker_size};
  at.row = at.columns + job->y->shape[2];
  at.lines[0] = at.row + job->y->shape[2] * job->y->shape[3];
  at.lines[1] = at.lines[0] + line;
  for (int64_t number = begin; number < end; number++) {
    if (number / rows != at.box) {
      at.box = number / rows;
      find_columns(job, &at);
    }
    crop_row(job, &at, number % rows);
  }
}

static int64_t worker_size(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  return y->shape[2] + y->shape[2] * y->shape[3] + 2 * x->shape[2] * x->shape[3];
}

static int64_t scratch_bytes(const nd4c_call *call) {
  return worker_size(call) * (int64_t)sizeof(double) * (call->width > 1 ? call->width : 1);
}

static nd4c_status run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  crop_job job = {.x = x,
                  .y = y,
                  .boxes = nd4c_cpu_ref_input(call, ND4C_IN_crop_and_resize_boxes),
                  .indices = nd4c_cpu_ref_input(call, ND4C_IN_crop_and_resize_box_indices),
                  .nearest = ND4C_INT_OF(call, crop_and_resize_mode) == ND4C_REF_NEAREST,
                  .extrapolation = ND4C_REAL_OF(call, crop_and_resize_extrapolation),
                  .scratch = call->scratch,
                  .worker_size = worker_size(call)};
  ND4C_BACKEND_TRY(nd4c_cpu_check_images(call, "box_indices", &job.indices, x->shape[0]));
  nd4c_cpu_parallel(y->shape[0] * y->shape[1], nd4c_simd_grain(8 * y->shape[2] * y->shape[3]), call->width, rows_range,
                    &job);
  return ND4C_OK;
}

/* Pixels of a row lie without gaps. */
static bool dense_rows(const nd4c_tensor *x) {
  return nd4c_simd_dense_axis(x, 3) && (x->shape[2] == 1 || x->strides[2] == x->shape[3]);
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  ND4C_CPU_DECLINE_IF(x->size == 0 || y->size == 0, "an operand is empty");
  ND4C_CPU_DECLINE_IF(!dense_rows(x) || !dense_rows(y), "rows of x or of the result have gaps");
  return true;
}

const nd4c_kernel *const nd4c_cpu_simd_image_crops_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(crop_and_resize, ND4C_CPU_FLOATS, usable, run, .scratch_bytes = scratch_bytes), NULL};
