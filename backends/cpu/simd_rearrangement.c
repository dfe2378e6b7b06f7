/* Engine simd: ops that move elements. */
#include <string.h>

#include "backends/cpu/nest.h"
#include "backends/cpu/simd.h"

static void copy(const nd4c_tensor *from, const nd4c_tensor *to, int32_t width) {
  nd4c_nest nest;
  nd4c_nest_start(&nest, to);
  nd4c_nest_add(&nest, from, to);
  nd4c_nest_finish(&nest);
  nd4c_nest_copy(&nest, width);
}

static nd4c_status run_copy(const nd4c_call *call) {
  copy(&call->inputs[0], &call->outputs[0], call->width);
  return ND4C_OK;
}
ND4C_CPU_SIMD_KERNEL(copy, ND4C_CPU_MOVABLE, NULL, run_copy)

/* -- reshape and flatten: the contiguous side takes the shape of the other ------------------------------------ */

static bool usable_reshape(const nd4c_call *call, char *reason, size_t reason_size) {
  if (((call->inputs[0].flags | call->outputs[0].flags) & ND4C_TENSOR_CONTIGUOUS) == 0)
    return nd4c_cpu_decline(reason, reason_size, "neither side is contiguous");
  return true;
}

static nd4c_status run_reshape(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  bool output_is_plain = (y->flags & ND4C_TENSOR_CONTIGUOUS) != 0;
  const nd4c_tensor *like = output_is_plain ? x : y;
  nd4c_tensor plain = output_is_plain ? *y : *x;
  int64_t strides[ND4C_CPU_MAX_RANK], stride = 1;
  for (int32_t axis = like->rank - 1; axis >= 0; axis--) {
    strides[axis] = stride;
    stride *= like->shape[axis];
  }
  plain.rank = like->rank;
  plain.shape = like->shape;
  plain.strides = strides;
  copy(output_is_plain ? x : &plain, output_is_plain ? &plain : y, call->width);
  return ND4C_OK;
}
ND4C_CPU_SIMD_KERNEL(reshape, ND4C_CPU_MOVABLE, usable_reshape, run_reshape)
ND4C_CPU_SIMD_KERNEL(flatten, ND4C_CPU_MOVABLE, usable_reshape, run_reshape)

/* -- concat --------------------------------------------------------------------------------------------------- */

static bool usable_concat(const nd4c_call *call, char *reason, size_t reason_size) {
  for (int32_t i = 0; i < call->input_count; i++)
    if (call->inputs[i].dtype != call->outputs[0].dtype)
      return nd4c_cpu_decline(reason, reason_size, "operands of different dtypes");
  return true;
}

static nd4c_status run_concat(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0];
  int64_t axis = call->attrs[ND4C_ATTR_concat_axis].as.i;
  axis = axis < 0 ? axis + y->rank : axis;
  nd4c_tensor part = *y;
  for (int32_t i = 0; i < call->input_count; i++) {
    const nd4c_tensor *x = &call->inputs[i];
    part.shape = x->shape;
    part.size = x->size;
    copy(x, &part, call->width);
    if (y->size > 0)
      part.data = (char *)part.data + x->shape[axis] * y->strides[axis] * nd4c_cpu_dtype_bytes(y->dtype);
  }
  return ND4C_OK;
}
ND4C_CPU_SIMD_KERNEL(concat, ND4C_CPU_MOVABLE, usable_concat, run_concat)

/* -- gather of contiguous blocks ------------------------------------------------------------------------------ */

typedef struct gather_job {
  const char *x;
  char *y;
  const void *indices;
  bool wide; /* int64 indices, else int32 */
  int64_t extent, count;
  size_t block; /* bytes */
} gather_job;

static int64_t index_at(const gather_job *job, int64_t i) {
  int64_t index = job->wide ? ((const int64_t *)job->indices)[i] : ((const int32_t *)job->indices)[i];
  return index < 0 ? index + job->extent : index;
}

static void gather_blocks(void *user, int64_t begin, int64_t end, int32_t worker) {
  const gather_job *job = user;
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    int64_t from = i / job->count * job->extent + index_at(job, i % job->count);
    memcpy(job->y + (size_t)i * job->block, job->x + (size_t)from * job->block, job->block);
  }
}

static bool usable_gather(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *indices = &call->inputs[ND4C_IN_gather_indices];
  if ((call->inputs[0].flags & indices->flags & call->outputs[0].flags & ND4C_TENSOR_CONTIGUOUS) == 0)
    return nd4c_cpu_decline(reason, reason_size, "an operand is not contiguous");
  if (indices->dtype != ND4C_INT64 && indices->dtype != ND4C_INT32)
    return nd4c_cpu_decline(reason, reason_size, "indices are neither int32 nor int64");
  return true;
}

static nd4c_status run_gather(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *indices = &call->inputs[ND4C_IN_gather_indices], *y = &call->outputs[0];
  int64_t axis = call->attrs[ND4C_ATTR_gather_axis].as.i;
  axis = axis < 0 ? axis + x->rank : axis;
  int64_t block = nd4c_cpu_dtype_bytes(x->dtype), outer = 1;
  for (int64_t a = axis + 1; a < x->rank; a++)
    block *= x->shape[a];
  for (int64_t a = 0; a < axis; a++)
    outer *= x->shape[a];
  gather_job job = {x->data,        y->data,       indices->data, indices->dtype == ND4C_INT64,
                    x->shape[axis], indices->size, (size_t)block};
  for (int64_t i = 0; i < indices->size; i++) {
    int64_t index = index_at(&job, i);
    if (index < 0 || index >= job.extent)
      return nd4c_cpu_gather_fail(index < 0 ? index - job.extent : index, axis, job.extent);
  }
  if (y->size > 0)
    nd4c_cpu_parallel(outer * job.count, 65536 / (block + 64) + 1, call->width, gather_blocks, &job);
  return ND4C_OK;
}
ND4C_CPU_SIMD_KERNEL(gather, ND4C_CPU_MOVABLE, usable_gather, run_gather)

const nd4c_kernel *const nd4c_cpu_simd_rearrangement_kernels[] = {&simd_copy,   &simd_reshape, &simd_flatten,
                                                                  &simd_concat, &simd_gather,  NULL};
