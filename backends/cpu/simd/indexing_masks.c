/* Engine simd: elements and slices where a mask is true. dispatch/choice.c asks these kernels before the
 * reference's. */
#include <string.h>

#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/moving.h"
#include "backends/cpu/support/nest.h"

/* Parts of the mask; one worker counts, then moves each part. Fewer if there is little to do. WORTH_ELEMENTS are worth
 * another worker. */
enum { PARTS = 64, PART_ELEMENTS = 8192, WORTH_ELEMENTS = 1 << 16 };

/* x seen as [size of the mask, block]. */
typedef struct mask_job {
  const uint8_t *mask;
  const char *x;
  char *y;
  int64_t size, part, bytes, block; /* of the mask; of one part; of an element; of a slice, in bytes */
  int64_t counts[PARTS + 1];        /* then where a part's slices begin */
} mask_job;

static int64_t part_length(const mask_job *job, int64_t part) {
  int64_t left = job->size - part * job->part;
  return left < job->part ? left : job->part;
}

static void count_parts(void *user, int64_t begin, int64_t end, int32_t worker) {
  mask_job *job = user;
  (void)worker;
  for (int64_t part = begin; part < end; part++) {
    job->counts[part + 1] =
        nd4c_simd.nonzero->count[1](part_length(job, part), job->mask + part * job->part, UINT8_MAX);
  }
}

/* Finds where the mask holds first, so that there is no branch to mispredict. */
static void move_slices(const mask_job *job, int64_t n, const uint8_t *mask, const char *x, char *y) {
  enum { PIECE = 512 };
  int64_t places[PIECE];
  for (int64_t i = 0; i < n; i += PIECE) {
    int64_t some = n - i < PIECE ? n - i : PIECE;
    int64_t count = nd4c_simd.nonzero->count[1](some, mask + i, UINT8_MAX);
    nd4c_simd.nonzero->places[1](some, count, mask + i, UINT8_MAX, i, places);
    nd4c_simd.pick->pick_blocks(count, &(nd4c_indices){places, true, 0}, job->block, x, y);
    y += count * job->block;
  }
}

static void move_parts(void *user, int64_t begin, int64_t end, int32_t worker) {
  const mask_job *job = user;
  (void)worker;
  for (int64_t part = begin; part < end; part++) {
    int64_t first = part * job->part, count = job->counts[part + 1] - job->counts[part];
    char *y = job->y + job->counts[part] * job->block;
    if (job->block == job->bytes) {
      nd4c_simd.pick->compress[job->bytes](part_length(job, part), job->mask + first, job->x + first * job->bytes, y,
                                           count);
    } else {
      move_slices(job, part_length(job, part), job->mask + first, job->x + first * job->block, y);
    }
  }
}

/* Moves the slices of x where the first `size` elements of the mask are true; returns how many they are. */
static int64_t move_where(const nd4c_call *call, int64_t size, int64_t block) {
  const nd4c_tensor *x = &call->inputs[0];
  mask_job job = {.mask = call->inputs[1].data,
                  .x = x->data,
                  .y = call->outputs[0].data,
                  .size = size,
                  .bytes = nd4c_cpu_dtype_bytes(x->dtype)};
  if (size == 0 || block == 0) {
    return nd4c_simd.nonzero->count[1](size, job.mask, UINT8_MAX);
  }
  job.block = block * job.bytes;
  job.part = (size + PARTS - 1) / PARTS;
  job.part = job.part < PART_ELEMENTS / block + 1 ? PART_ELEMENTS / block + 1 : job.part;
  int64_t parts = (size + job.part - 1) / job.part;
  nd4c_cpu_parallel(parts, (1 << 18) / job.part + 1, call->width, count_parts, &job);
  for (int64_t part = 0; part < parts; part++) {
    job.counts[part + 1] += job.counts[part];
  }
  nd4c_cpu_parallel(parts, WORTH_ELEMENTS / (job.part * block) + 1, call->width, move_parts, &job);
  return job.counts[parts];
}

static bool usable_mask(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF((call->inputs[0].flags & call->inputs[1].flags & ND4C_TENSOR_CONTIGUOUS) == 0,
                      "an operand is not contiguous");
  return true;
}

/* -- masked_select, boolean_mask, compress ------------------------------------------------------------------------- */

static bool usable_masked_select(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[0], *mask = &call->inputs[1];
  ND4C_CPU_DECLINE_IF(!nd4c_cpu_same_shape(x, mask), "x or the mask is broadcast");
  return usable_mask(call, reason, reason_size);
}

static nd4c_status run_masked_select(const nd4c_call *call) {
  call->true_shapes[0][0] = move_where(call, call->inputs[1].size, 1);
  return ND4C_OK;
}

static bool usable_boolean_mask(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(nd4c_axis(ND4C_INT_OF(call, boolean_mask_axis), call->inputs[0].rank) != 0,
                      "the mask is not of the first axes");
  return usable_mask(call, reason, reason_size);
}

static int64_t slice_size(const nd4c_tensor *x, int32_t first) {
  int64_t size = 1;
  for (int32_t i = first; i < x->rank; i++) {
    size *= x->shape[i];
  }
  return size;
}

static nd4c_status move_slices_where(const nd4c_call *call, int64_t size, int64_t block) {
  int64_t count = move_where(call, size, block);
  for (int32_t i = 0; i < call->outputs[0].rank; i++) {
    call->true_shapes[0][i] = i == 0 ? count : call->outputs[0].shape[i];
  }
  return ND4C_OK;
}

static nd4c_status run_boolean_mask(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *mask = &call->inputs[1];
  return move_slices_where(call, mask->size, slice_size(x, mask->rank));
}

static bool usable_compress(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_attr_value *axes = &call->attrs[ND4C_ATTR_compress_axes];
  ND4C_CPU_DECLINE_IF(axes->count > 0 && nd4c_axis(axes->as.ints[0], call->inputs[0].rank) != 0,
                      "the condition is not of the first axis");
  return usable_mask(call, reason, reason_size);
}

static nd4c_status run_compress(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  bool flat = call->attrs[ND4C_ATTR_compress_axes].count == 0;
  return move_slices_where(call, call->inputs[1].size, flat ? 1 : slice_size(x, 1));
}

static nd4c_status run_masked_fill(const nd4c_call *call) {
  return nd4c_simd_where(call, ND4C_IN_masked_fill_mask, ND4C_IN_masked_fill_value, ND4C_IN_masked_fill_x);
}

const nd4c_kernel *const nd4c_cpu_simd_indexing_masks_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(masked_select, ND4C_CPU_MOVABLE, usable_masked_select, run_masked_select),
    ND4C_CPU_SIMD_KERNEL(boolean_mask, ND4C_CPU_MOVABLE, usable_boolean_mask, run_boolean_mask),
    ND4C_CPU_SIMD_KERNEL(compress, ND4C_CPU_MOVABLE, usable_compress, run_compress),
    ND4C_CPU_SIMD_KERNEL(masked_fill, ND4C_CPU_MOVABLE, NULL, run_masked_fill), NULL};
