/* Engine simd: col2im: the image of a channel is summed in 64 bits, the windows of one cell after the other, as the
 * reference does. dispatch/choice.c asks this kernel before the reference's. */
#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/moving.h"

enum { GRAIN = 16384, LONG_ROW = 16 };

typedef struct column_job {
  const nd4c_tensor *x, *y;
  nd4c_ref_columns columns;
  nd4c_dtype work; /* float64, or int64 of integers, which wrap alike at any width */
  int64_t pixels, windows, channels;
  char *scratch; /* of the workers: an image, a row of windows */
} column_job;

/* Adds n numbers to places `step` apart. */
static void add_row(const column_job *job, int64_t n, const char *numbers, int64_t step, char *to) {
  if (step == 1 && n >= LONG_ROW) {
    nd4c_simd.binary->loops[ND4C_BINARY_add][job->work].both(n, to, numbers, to);
  } else if (job->work == ND4C_FLOAT64) {
    const double *from = (const double *)(const void *)numbers;
    double *sums = (double *)(void *)to;
    for (int64_t i = 0; i < n; i++) {
      sums[i * step] += from[i];
    }
  } else {
    const uint64_t *from = (const uint64_t *)(const void *)numbers;
    uint64_t *sums = (uint64_t *)(void *)to;
    for (int64_t i = 0; i < n; i++) {
      sums[i * step] += from[i];
    }
  }
}

/* Adds a number for each window to its given cell of the image. */
static void add_cell(const column_job *job, const int64_t *cell, const char *numbers, char *image) {
  const nd4c_ref_columns *c = &job->columns;
  const int64_t *extents = job->y->shape + 2;
  const int32_t last = c->spatial - 1;
  int64_t first[ND4C_CPU_MAX_RANK], count[ND4C_CPU_MAX_RANK], at[ND4C_CPU_MAX_RANK] = {0}, wide = sizeof(double);
  for (int32_t i = 0; i <= last; i++) {
    const int64_t shift = cell[i] * c->dilation[i] - c->pad[i];
    count[i] = nd4c_valid_range(c->windows[i], c->stride[i], shift, extents[i], &first[i]);
    if (count[i] == 0) {
      return;
    }
  }
  do {
    int64_t from = 0, to = 0;
    for (int32_t i = 0; i <= last; i++) {
      const int64_t window = first[i] + (i < last ? at[i] : 0);
      from = from * c->windows[i] + window;
      to = to * extents[i] + window * c->stride[i] + cell[i] * c->dilation[i] - c->pad[i];
    }
    add_row(job, count[last], numbers + from * wide, count[last] == 1 ? 1 : c->stride[last], image + to * wide);
  } while (nd4c_index_next(last, count, at));
}

static void images_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const column_job *job = user;
  const nd4c_tensor *x = job->x, *y = job->y;
  const int64_t bytes = nd4c_cpu_dtype_bytes(x->dtype), wide = sizeof(double);
  char *image = job->scratch + worker * (job->pixels + job->windows) * wide, *row = image + job->pixels * wide;
  for (int64_t plane = begin; plane < end; plane++) {
    const int64_t batch = plane / job->channels, channel = plane % job->channels;
    int64_t cell[ND4C_CPU_MAX_RANK] = {0}, number = 0;
    memset(image, 0, (size_t)(job->pixels * wide));
    do {
      const int64_t line = channel * job->columns.cells + number++;
      const char *from = (const char *)x->data + (batch * x->strides[0] + line * x->strides[1]) * bytes;
      if (x->dtype != job->work) {
        nd4c_simd.cast->loops[x->dtype][job->work](job->windows, from, row);
        from = row;
      }
      add_cell(job, cell, from, image);
    } while (nd4c_index_next(job->columns.spatial, job->columns.kernel, cell));
    nd4c_simd.cast->loops[job->work][y->dtype](job->pixels, image, (char *)y->data + plane * job->pixels * bytes);
  }
}

static column_job job_of(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  column_job job = {.x = x,
                    .y = y,
                    .columns = nd4c_cpu_columns(&call->attrs[ND4C_ATTR_col2im_kernel], y->shape + 2),
                    .work = (ND4C_DTYPE_BIT(x->dtype) & ND4C_CPU_FLOATS) != 0 ? ND4C_FLOAT64 : ND4C_INT64,
                    .pixels = 1,
                    .windows = x->shape[2],
                    .channels = y->shape[1],
                    .scratch = call->scratch};
  for (int32_t i = 2; i < y->rank; i++) {
    job.pixels *= y->shape[i];
  }
  return job;
}

static int64_t scratch_bytes(const nd4c_call *call) {
  const column_job job = job_of(call);
  return (job.pixels + job.windows) * (int64_t)sizeof(double) * (call->width > 1 ? call->width : 1);
}

static nd4c_status run(const nd4c_call *call) {
  column_job job = job_of(call);
  nd4c_cpu_parallel(job.y->shape[0] * job.channels, GRAIN / (job.columns.cells * job.windows + job.pixels) + 1,
                    call->width, images_range, &job);
  return ND4C_OK;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  ND4C_CPU_DECLINE_IF(x->size == 0 || y->size == 0, "an operand is empty");
  ND4C_CPU_DECLINE_IF(!nd4c_in_c_order(y), "the result is not in C order");
  ND4C_CPU_DECLINE_IF(x->shape[2] > 1 && x->strides[2] != 1, "the windows of x have gaps");
  return true;
}

const nd4c_kernel *const nd4c_cpu_simd_indexing_columns_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(col2im, ND4C_CPU_REALS, usable, run, .scratch_bytes = scratch_bytes), NULL};
