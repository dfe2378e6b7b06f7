/* Engine simd: masked_scatter and tensor_scatter: x is copied, if it does not lie in y, then its parts are replaced.
 * dispatch/choice.c asks these kernels before the reference's. */
#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/moving.h"
#include "backends/cpu/support/nest.h"

enum { SHORT_COPY = 1 << 14 /* bytes */ };

static void copy_x(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  const int64_t bytes = nd4c_cpu_dtype_bytes(x->dtype);
  if (x->data == y->data) { /* in place both are the same view */
    return;
  }
  if (x->size <= SHORT_COPY / bytes && nd4c_in_c_order(x) && nd4c_in_c_order(y)) {
    memcpy(y->data, x->data, (size_t)(x->size * bytes));
  } else {
    nd4c_nest_copy_tensor(x, y, call->width);
  }
}

/* -- masked_scatter ------------------------------------------------------------------------------------------------ */

/* Parts of the mask; one worker counts, then fills each of them. */
enum { PARTS = 64, PART_ELEMENTS = 8192, COUNT_GRAIN = 1 << 18, PLACE_GRAIN = 1 << 15, PIECE = 512 };

typedef struct mask_job {
  const uint8_t *mask;
  const char *source;
  char *y;
  int64_t size, part, bytes;
  int64_t starts[PARTS + 1]; /* counts of the parts before, then where their elements begin in the source */
} mask_job;

static int64_t part_length(const mask_job *job, int64_t part) {
  const int64_t left = job->size - part * job->part;
  return left < job->part ? left : job->part;
}

static void count_parts(void *user, int64_t begin, int64_t end, int32_t worker) {
  mask_job *job = user;
  (void)worker;
  for (int64_t part = begin; part < end; part++) {
    job->starts[part + 1] =
        nd4c_simd.nonzero->count[1](part_length(job, part), job->mask + part * job->part, UINT8_MAX);
  }
}

static void fill_parts(void *user, int64_t begin, int64_t end, int32_t worker) {
  const mask_job *job = user;
  int64_t places[PIECE];
  (void)worker;
  for (int64_t part = begin; part < end; part++) {
    const int64_t first = part * job->part, length = part_length(job, part);
    const char *from = job->source + job->starts[part] * job->bytes;
    for (int64_t i = 0; i < length; i += PIECE) {
      const uint8_t *mask = job->mask + first + i;
      const int64_t some = length - i < PIECE ? length - i : PIECE;
      const int64_t count = nd4c_simd.nonzero->count[1](some, mask, UINT8_MAX);
      nd4c_simd.nonzero->places[1](some, count, mask, UINT8_MAX, first + i, places);
      nd4c_simd.pick->place[job->bytes](count, &(nd4c_indices){places, true, job->size}, from, job->y, 1, 0);
      from += count * job->bytes;
    }
  }
}

static nd4c_status run_masked_scatter(const nd4c_call *call) {
  const nd4c_tensor *mask = &call->inputs[1], *y = &call->outputs[0];
  mask_job job = {.mask = mask->data,
                  .source = call->inputs[2].data,
                  .y = y->data,
                  .size = y->size,
                  .part = nd4c_cpu_divide_up(y->size, PARTS),
                  .bytes = nd4c_cpu_dtype_bytes(y->dtype)};
  if (y->size == 0) {
    return ND4C_OK;
  }
  job.part = job.part < PART_ELEMENTS ? PART_ELEMENTS : job.part;
  const int64_t parts = nd4c_cpu_divide_up(job.size, job.part);
  nd4c_cpu_parallel(parts, COUNT_GRAIN / job.part + 1, call->width, count_parts, &job);
  for (int64_t part = 0; part < parts; part++) {
    job.starts[part + 1] += job.starts[part];
  }
  ND4C_BACKEND_TRY(nd4c_cpu_check_scattered(call, job.starts[parts]));
  copy_x(call);
  nd4c_cpu_parallel(parts, PLACE_GRAIN / job.part + 1, call->width, fill_parts, &job);
  return ND4C_OK;
}

static bool usable_masked_scatter(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *mask = &call->inputs[1], *source = &call->inputs[2], *y = &call->outputs[0];
  ND4C_CPU_DECLINE_IF(nd4c_cpu_dtype_bytes(y->dtype) == 0, ND4C_CPU_NO_STRINGS);
  ND4C_CPU_DECLINE_IF(!nd4c_cpu_same_shape(mask, y), "the mask is broadcast");
  ND4C_CPU_DECLINE_IF(!nd4c_in_c_order(mask) || !nd4c_in_c_order(source) || !nd4c_in_c_order(y),
                      "mask, value or result are not in C order");
  return true;
}

/* -- tensor_scatter ------------------------------------------------------------------------------------------------ */

/* Places first .. first + count - 1 along the axis of one batch; shape is where its shape goes. */
static nd4c_tensor steps_of(const nd4c_tensor *x, int32_t axis, int64_t batch, int64_t first, int64_t count,
                            int64_t *shape) {
  nd4c_tensor part = *x;
  part.shape = shape;
  part.size = 1;
  for (int32_t i = 0; i < x->rank; i++) {
    shape[i] = i == 0 ? 1 : i == axis ? count : x->shape[i];
    part.size *= shape[i];
  }
  part.flags = 0;
  part.data = (char *)x->data + (batch * x->strides[0] + first * x->strides[axis]) * nd4c_cpu_dtype_bytes(x->dtype);
  return part;
}

/* Copies steps that lie in C order, of `steps` and of `extent` along the axis. */
static void copy_steps(const nd4c_tensor *part, int32_t axis, int64_t steps, int64_t extent, const void *from,
                       void *to) {
  int64_t blocks = 1, bytes = nd4c_cpu_dtype_bytes(part->dtype);
  for (int32_t i = 0; i < part->rank; i++) {
    blocks *= i < axis ? part->shape[i] : 1;
    bytes *= i > axis ? part->shape[i] : 1;
  }
  nd4c_simd.move->blocks(blocks, part->shape[axis] * bytes, from, steps * bytes, to, extent * bytes);
}

/* The steps of one batch in up to two runs: up to the end of the axis, and on from its beginning. */
static void write_batch(const nd4c_call *call, int32_t axis, int64_t batch, int32_t width) {
  const nd4c_tensor *update = &call->inputs[1], *y = &call->outputs[0];
  const int64_t begin = nd4c_cpu_write_index(call, batch), steps = update->shape[axis], extent = y->shape[axis];
  const bool dense = nd4c_in_c_order(update) && nd4c_in_c_order(y);
  int64_t shape[ND4C_CPU_MAX_RANK], same[ND4C_CPU_MAX_RANK];
  for (int64_t done = 0, some; done < steps; done += some) {
    const int64_t at = (begin + done) % extent;
    some = steps - done < extent - at ? steps - done : extent - at;
    const nd4c_tensor from = steps_of(update, axis, batch, done, some, shape);
    const nd4c_tensor to = steps_of(y, axis, batch, at, some, same);
    if (dense && from.size <= SHORT_COPY) {
      copy_steps(&from, axis, steps, extent, from.data, to.data);
    } else {
      nd4c_nest_copy_tensor(&from, &to, width);
    }
  }
}

static nd4c_status run_tensor_scatter(const nd4c_call *call) {
  const nd4c_tensor *update = &call->inputs[1], *y = &call->outputs[0];
  const int32_t axis = nd4c_axis(ND4C_INT_OF(call, tensor_scatter_axis), y->rank);
  ND4C_BACKEND_TRY(nd4c_cpu_check_write_indices(call, axis));
  copy_x(call);
  for (int64_t batch = 0; update->size > 0 && batch < y->shape[0]; batch++) {
    write_batch(call, axis, batch, call->width);
  }
  return ND4C_OK;
}

static bool usable_tensor_scatter(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(nd4c_cpu_dtype_bytes(call->outputs[0].dtype) == 0, ND4C_CPU_NO_STRINGS);
  return true;
}

const nd4c_kernel *const nd4c_cpu_simd_indexing_scatter_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(masked_scatter, ND4C_CPU_MOVABLE, usable_masked_scatter, run_masked_scatter),
    ND4C_CPU_SIMD_KERNEL(tensor_scatter, ND4C_CPU_MOVABLE, usable_tensor_scatter, run_tensor_scatter), NULL};
