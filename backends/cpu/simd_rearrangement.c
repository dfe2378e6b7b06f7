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

/* Contiguous operands: y is rows of parts, one an operand, which have as many bytes in each row. */
typedef struct concat_job {
  const nd4c_call *call;
  int64_t outer, row; /* rows; bytes of one */
  bool stream;
} concat_job;

/* Bytes [begin, end) of y. */
static void concat_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const concat_job *job = user;
  const nd4c_call *call = job->call;
  int64_t bytes = nd4c_cpu_dtype_bytes(call->outputs[0].dtype), row = begin / job->row, at = row * job->row;
  char *y = call->outputs[0].data;
  (void)worker;
  for (int32_t i = 0; at < end; i = i + 1 < call->input_count ? i + 1 : 0, row += i == 0) {
    const nd4c_tensor *x = &call->inputs[i];
    int64_t part = x->size / job->outer * bytes, first = at < begin ? begin - at : 0;
    int64_t last = part < end - at ? part : end - at;
    if (first < last && job->stream)
      nd4c_simd.move->stream(last - first, (const char *)x->data + row * part + first, y + at + first);
    else if (first < last)
      memcpy(y + at + first, (const char *)x->data + row * part + first, (size_t)(last - first));
    at += part;
  }
  if (job->stream)
    nd4c_simd.move->stream_fence();
}

static bool concat_rows(const nd4c_call *call, int32_t axis) {
  enum { WORTH_BYTES = 65536, SHORTEST = 64, STREAMED = 512 };
  const nd4c_tensor *y = &call->outputs[0];
  concat_job job = {.call = call, .outer = 1};
  for (int32_t i = 0; i < axis; i++)
    job.outer *= y->shape[i];
  int64_t bytes = nd4c_cpu_dtype_bytes(y->dtype), longest = 0;
  uint32_t flags = y->flags;
  for (int32_t i = 0; i < call->input_count; i++) {
    flags &= call->inputs[i].flags;
    longest = call->inputs[i].size > longest ? call->inputs[i].size : longest;
  }
  if ((flags & ND4C_TENSOR_CONTIGUOUS) == 0 || y->size == 0 || longest / job.outer * bytes < SHORTEST)
    return false;
  job.row = y->size / job.outer * bytes;
  job.stream = y->size > nd4c_simd_stream_bytes / bytes && job.row / call->input_count >= STREAMED;
  nd4c_cpu_parallel(y->size * bytes, WORTH_BYTES, call->width, concat_range, &job);
  return true;
}

static nd4c_status run_concat(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0];
  int64_t axis = call->attrs[ND4C_ATTR_concat_axis].as.i;
  axis = axis < 0 ? axis + y->rank : axis;
  nd4c_tensor part = *y;
  if (concat_rows(call, (int32_t)axis))
    return ND4C_OK;
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

const nd4c_kernel *const nd4c_cpu_simd_rearrangement_kernels[] = {&simd_copy, &simd_reshape, &simd_flatten,
                                                                  &simd_concat, NULL};
