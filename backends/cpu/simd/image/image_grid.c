/* Engine simd: affine_grid: the places of an axis between -1 and 1 are found once, then rows of the grid are computed
 * in double, in the order of the reference, and rounded together. dispatch/choice.c asks this kernel before the
 * reference's. */
#include "backends/cpu/simd/rows.h"
#include "kernels/reference/image/image.h"

enum { SPATIAL = 3 };

typedef struct grid_job {
  const nd4c_tensor *grid;
  nd4c_ref_tensor theta;
  bool align;
  int32_t d;
  const double *places[SPATIAL]; /* of each spatial axis */
  double *rows;                  /* of each worker */
} grid_job;

/* A row of theta times the places of a row of the grid, number `row` of d numbers each. outer: the place on the axes
 * before the last, from the last but one on. */
static void transform_row(const grid_job *job, int64_t n, int32_t row, const double *outer, double *to) {
  const nd4c_ref_tensor *theta = &job->theta;
  const int64_t width = job->grid->shape[job->d], offset = n * theta->strides[0] + row * theta->strides[1];
  const double *places = job->places[job->d - 1];
  const double shift = nd4c_ref_load(theta, offset + job->d * theta->strides[2]), scale = nd4c_ref_load(theta, offset);
  to += row;
  for (int64_t j = 0; j < width; j++) {
    to[j * job->d] = shift + scale * places[j];
  }
  for (int32_t i = 1; i < job->d; i++) { /* these are the same along the row */
    const double term = nd4c_ref_load(theta, offset + i * theta->strides[2]) * outer[i - 1];
    for (int64_t j = 0; j < width; j++) {
      to[j * job->d] += term;
    }
  }
}

static void rows_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const grid_job *job = user;
  const nd4c_tensor *grid = job->grid;
  const int32_t d = job->d;
  double *numbers = job->rows + worker * grid->shape[d] * d;
  for (int64_t number = begin; number < end; number++) {
    double outer[SPATIAL];
    int64_t rest = number, to = 0;
    for (int32_t axis = d - 2; axis >= 0; axis--) {
      const int64_t at = rest % grid->shape[axis + 1];
      outer[d - 2 - axis] = job->places[axis][at];
      to += at * grid->strides[axis + 1];
      rest /= grid->shape[axis + 1];
    }
    for (int32_t row = 0; row < d; row++) {
      transform_row(job, rest, row, outer, numbers);
    }
    to += rest * grid->strides[0];
    nd4c_simd.cast->loops[ND4C_FLOAT64][grid->dtype](grid->shape[d] * d, numbers,
                                                     (char *)grid->data + to * nd4c_cpu_dtype_bytes(grid->dtype));
  }
}

static int64_t place_count(const nd4c_tensor *grid) {
  int64_t count = 0;
  for (int32_t axis = 1; axis < grid->rank - 1; axis++) {
    count += grid->shape[axis];
  }
  return count;
}

static int64_t scratch_bytes(const nd4c_call *call) {
  const nd4c_tensor *grid = &call->outputs[0];
  const int64_t row = grid->shape[grid->rank - 2] * grid->shape[grid->rank - 1];
  return (place_count(grid) + row * (call->width > 1 ? call->width : 1)) * (int64_t)sizeof(double);
}

static nd4c_status run(const nd4c_call *call) {
  const nd4c_tensor *grid = &call->outputs[0];
  grid_job job = {.grid = grid,
                  .theta = nd4c_cpu_ref_input(call, 0),
                  .align = ND4C_FLAG_OF(call, affine_grid_align_corners),
                  .d = grid->rank - 2};
  double *places = call->scratch;
  for (int32_t axis = 0; axis < job.d; axis++) {
    const int64_t extent = grid->shape[axis + 1];
    for (int64_t i = 0; i < extent; i++) {
      places[i] = nd4c_ref_base_coordinate(i, extent, job.align);
    }
    job.places[axis] = places;
    places += extent;
  }
  job.rows = places;
  const int64_t row = grid->shape[job.d] * job.d;
  nd4c_cpu_parallel(grid->size / row, nd4c_simd_grain(4 * row), call->width, rows_range, &job);
  return ND4C_OK;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *grid = &call->outputs[0];
  const int32_t last = grid->rank - 1;
  ND4C_CPU_DECLINE_IF(grid->size == 0, "the grid is empty");
  ND4C_CPU_DECLINE_IF(last < 2 || last > SPATIAL + 1, "not 1 to %d spatial axes", SPATIAL);
  ND4C_CPU_DECLINE_IF(
      !nd4c_simd_dense_axis(grid, last) || (grid->shape[last - 1] > 1 && grid->strides[last - 1] != grid->shape[last]),
      "rows of the grid have gaps");
  return true;
}

const nd4c_kernel *const nd4c_cpu_simd_image_grid_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(affine_grid, ND4C_CPU_FLOATS, usable, run, .scratch_bytes = scratch_bytes), NULL};
