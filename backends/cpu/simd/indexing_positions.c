/* Engine simd: elements and blocks at positions that name several axes: gather_nd, scatter_nd. dispatch/choice.c asks
 * these kernels before the reference's. */
#include <stdatomic.h>
#include <string.h>

#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/moving.h"
#include "backends/cpu/support/nest.h"

enum {
  PIECE = 512,           /* positions that become offsets at a time */
  MOST_NUMBERS = 8,      /* of a position */
  WORTH_BYTES = 1 << 18, /* what is worth another thread */
  WORTH_NUMBERS = 32768
};

/* Positions of `length` numbers one behind the other, and blocks of a contiguous whole. */
typedef struct position_job {
  const void *indices;
  bool wide;
  int32_t length;
  int64_t extents[MOST_NUMBERS], strides[MOST_NUMBERS]; /* strides: in blocks */
  char *whole, *part;
  int64_t bytes; /* a block */
  _Atomic bool outside;
} position_job;

static inline int64_t number_at(const position_job *job, int64_t i) {
  return job->wide ? ((const int64_t *)job->indices)[i] : ((const int32_t *)job->indices)[i];
}

static void check_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  position_job *job = user;
  bool outside = false;
  (void)worker;
  for (int32_t k = 0; k < job->length; k++) {
    for (int64_t i = begin; i < end; i++) {
      int64_t number = number_at(job, i * job->length + k);
      outside |= (number < -job->extents[k]) | (number >= job->extents[k]);
    }
  }
  if (outside) {
    atomic_store_explicit(&job->outside, true, memory_order_relaxed);
  }
}

/* Offsets, in blocks, of n positions from `first` on. */
static void find_offsets(const position_job *job, int64_t first, int64_t n, int64_t *offsets) {
  for (int64_t i = 0; i < n; i++) {
    int64_t offset = 0;
    for (int32_t k = 0; k < job->length; k++) {
      int64_t number = number_at(job, (first + i) * job->length + k);
      offset += (number + (number < 0 ? job->extents[k] : 0)) * job->strides[k];
    }
    offsets[i] = offset;
  }
}

static void pick_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const position_job *job = user;
  int64_t offsets[PIECE];
  (void)worker;
  for (int64_t first = begin, n; first < end; first += n) {
    n = end - first < PIECE ? end - first : PIECE;
    find_offsets(job, first, n, offsets);
    char *to = job->part + first * job->bytes;
    if (job->bytes <= 16 && nd4c_simd.pick->pick[job->bytes] != NULL) {
      nd4c_simd.pick->pick[job->bytes](n, &(nd4c_indices){offsets, true, 0}, job->whole, 1, 0, to);
    } else {
      nd4c_simd.pick->pick_blocks(n, &(nd4c_indices){offsets, true, 0}, job->bytes, job->whole, to);
    }
  }
}

/* part: the destination of picked blocks, or the source of placed ones. */
static void job_make(position_job *job, const nd4c_tensor *indices, const nd4c_tensor *whole, const nd4c_tensor *part) {
  int32_t length = (int32_t)indices->shape[indices->rank - 1];
  int64_t block = 1;
  for (int32_t i = whole->rank - 1; i >= length; i--) {
    block *= whole->shape[i];
  }
  *job = (position_job){.indices = indices->data,
                        .wide = indices->dtype == ND4C_INT64,
                        .length = length,
                        .whole = whole->data,
                        .part = part->data,
                        .bytes = block * nd4c_cpu_dtype_bytes(whole->dtype)};
  for (int64_t stride = 1, k = length - 1; k >= 0; k--) {
    job->extents[k] = whole->shape[k];
    job->strides[k] = stride;
    stride *= whole->shape[k];
  }
}

/* Checks the positions. If one is out of range, the reference's check writes the message. */
static nd4c_status check(const nd4c_call *call, position_job *job, int64_t count) {
  const nd4c_tensor *indices = &call->inputs[1];
  nd4c_ref_positions args = {
      .whole = nd4c_cpu_ref_input(call, 0), .indices = nd4c_cpu_ref_tensor(indices), .length = job->length};
  nd4c_cpu_parallel(count, WORTH_NUMBERS, call->width, check_range, job);
  return atomic_load_explicit(&job->outside, memory_order_relaxed) ? nd4c_cpu_check_positions(call, &args) : ND4C_OK;
}

static bool usable_positions(const nd4c_call *call, const nd4c_tensor *part, char *reason, size_t reason_size) {
  const nd4c_tensor *indices = &call->inputs[1], *whole = &call->inputs[0];
  ND4C_CPU_DECLINE_IF((indices->flags & part->flags & ND4C_TENSOR_CONTIGUOUS) == 0, "an operand is not contiguous");
  ND4C_CPU_DECLINE_IF(indices->dtype != ND4C_INT64 && indices->dtype != ND4C_INT32,
                      "indices are neither int32 nor int64");
  int64_t length = indices->shape[indices->rank - 1];
  ND4C_CPU_DECLINE_IF(length < 1 || length > MOST_NUMBERS || length > whole->rank, "positions of %lld numbers",
                      (long long)length);
  return true;
}

static bool usable_gather_nd(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(ND4C_FLAG_OF(call, gather_nd_batch_dims), "axes that all share");
  ND4C_CPU_DECLINE_IF((call->inputs[0].flags & ND4C_TENSOR_CONTIGUOUS) == 0, "x is not contiguous");
  return usable_positions(call, &call->outputs[0], reason, reason_size);
}

static nd4c_status run_gather_nd(const nd4c_call *call) {
  const nd4c_tensor *indices = &call->inputs[1];
  position_job job;
  job_make(&job, indices, &call->inputs[0], &call->outputs[0]);
  int64_t count = indices->size / job.length;
  ND4C_BACKEND_TRY(check(call, &job, count));
  if (call->outputs[0].size > 0) {
    nd4c_cpu_parallel(count, WORTH_BYTES / (job.bytes + 8) + 1, call->width, pick_range, &job);
  }
  return ND4C_OK;
}

/* -- placing ------------------------------------------------------------------------------------------------------- */

static bool usable_scatter_nd(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *indices = &call->inputs[1], *updates = &call->inputs[2], *y = &call->outputs[0];
  ND4C_CPU_DECLINE_IF((y->flags & ND4C_TENSOR_CONTIGUOUS) == 0 || updates->dtype != y->dtype,
                      "the output is not contiguous");
  ND4C_CPU_DECLINE_IF(indices->shape[indices->rank - 1] != y->rank, "blocks are placed");
  ND4C_CPU_DECLINE_IF(nd4c_simd_place(y->dtype, ND4C_INT_OF(call, scatter_nd_reduction)) == NULL,
                      "no loop for this reduction of this dtype");
  return usable_positions(call, updates, reason, reason_size);
}

static nd4c_status run_scatter_nd(const nd4c_call *call) {
  const nd4c_tensor *indices = &call->inputs[1], *x = &call->inputs[0], *y = &call->outputs[0];
  nd4c_place_function place = nd4c_simd_place(y->dtype, ND4C_INT_OF(call, scatter_nd_reduction));
  position_job job;
  job_make(&job, indices, y, &call->inputs[2]);
  int64_t count = indices->size / job.length, offsets[PIECE];
  ND4C_BACKEND_TRY(check(call, &job, count));
  if (x->data != y->data) {
    nd4c_nest_copy_tensor(x, y, call->width);
  }
  for (int64_t first = 0, n; first < count; first += n) {
    n = count - first < PIECE ? count - first : PIECE;
    find_offsets(&job, first, n, offsets);
    place(n, &(nd4c_indices){offsets, true, 0}, job.part + first * job.bytes, job.whole, 1, 0);
  }
  return ND4C_OK;
}

const nd4c_kernel *const nd4c_cpu_simd_indexing_positions_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(gather_nd, ND4C_CPU_MOVABLE, usable_gather_nd, run_gather_nd),
    ND4C_CPU_SIMD_KERNEL(scatter_nd, ND4C_CPU_MOVABLE, usable_scatter_nd, run_scatter_nd), NULL};
