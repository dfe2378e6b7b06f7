/* unravel_index and ravel_multi_index of engine simd, for operands in C order: some numbers at a time, which stay in
 * the L1 cache while one axis after the other is split off, or joined. dispatch/choice.c asks these kernels before the
 * reference's. */
#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/moving.h"
#include "kernels/reference/indexing/parts.h"

/* BLOCK: numbers at a time. GRAIN: of them, that are worth another worker. */
enum { BLOCK = 512, GRAIN = 16384 };

typedef struct job {
  const nd4c_coordinates_loops *loops;
  const char *indices;
  int64_t bytes, count, size; /* count: numbers, and indices along an axis; size: what the numbers are below */
  const int64_t *extents;
  int32_t axes;
  int64_t *y;
} job;

static job job_of(const nd4c_call *call, const nd4c_attr_value *shape, int64_t count) {
  const nd4c_tensor *x = &call->inputs[0];
  job j = {.loops = x->dtype == ND4C_INT32 ? &nd4c_simd.coordinates->int32 : &nd4c_simd.coordinates->int64,
           .indices = x->data,
           .bytes = nd4c_cpu_dtype_bytes(x->dtype),
           .count = count,
           .size = 1,
           .extents = shape->as.ints,
           .axes = shape->count,
           .y = call->outputs[0].data};
  for (int32_t i = 0; i < j.axes; i++) {
    j.size *= j.extents[i]; /* inference has checked that this is a number */
  }
  return j;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(!nd4c_in_c_order(&call->inputs[0]) || !nd4c_in_c_order(&call->outputs[0]),
                      "an operand is not in C order");
  return true;
}

static void unravel_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  int64_t numbers[BLOCK];
  (void)worker;
  for (int64_t first = begin; first < end; first += BLOCK) {
    const int64_t n = end - first < BLOCK ? end - first : BLOCK;
    int64_t most = j->size;
    j->loops->start(n, j->size, j->indices + first * j->bytes, numbers);
    for (int32_t axis = j->axes - 1; axis > 0; axis--) {
      nd4c_simd.coordinates->divide(n, j->extents[axis], most, numbers, j->y + axis * j->count + first);
      most /= j->extents[axis];
    }
    if (j->axes > 0) {
      memcpy(j->y + first, numbers, (size_t)n * sizeof *numbers);
    }
  }
}

static nd4c_status run_unravel(const nd4c_call *call) {
  job j = job_of(call, &call->attrs[ND4C_ATTR_unravel_index_shape], call->inputs[0].size);
  ND4C_BACKEND_TRY(nd4c_cpu_check_indices(call, 0, 0, j.size));
  nd4c_cpu_parallel(j.count, GRAIN, call->width, unravel_range, &j);
  return ND4C_OK;
}

static void ravel_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  (void)worker;
  for (int64_t first = begin; first < end; first += BLOCK) {
    const int64_t n = end - first < BLOCK ? end - first : BLOCK;
    memset(j->y + first, 0, (size_t)n * sizeof *j->y);
    for (int32_t axis = 0; axis < j->axes; axis++) {
      j->loops->join(n, j->extents[axis], j->indices + (axis * j->count + first) * j->bytes, j->y + first);
    }
  }
}

static nd4c_status run_ravel(const nd4c_call *call) {
  job j = job_of(call, &call->attrs[ND4C_ATTR_ravel_multi_index_shape], call->outputs[0].size);
  for (int32_t axis = 0; axis < j.axes; axis++) {
    if (!j.loops->inside(j.count, j.extents[axis], j.indices + axis * j.count * j.bytes)) {
      nd4c_ref_tensor indices = nd4c_cpu_ref_input(call, 0);
      nd4c_ref_bad_index bad = {0};
      (void)nd4c_ref_check_multi(&indices, j.extents, &bad);
      return nd4c_cpu_index_fail(call, 0, bad.flat, bad.value, bad.axis, bad.extent);
    }
  }
  nd4c_cpu_parallel(j.count, GRAIN, call->width, ravel_range, &j);
  return ND4C_OK;
}

#define INDICES (ND4C_DTYPE_BIT(ND4C_INT32) | ND4C_DTYPE_BIT(ND4C_INT64))
const nd4c_kernel *const nd4c_cpu_simd_indexing_coordinates_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(unravel_index, INDICES, usable, run_unravel),
    ND4C_CPU_SIMD_KERNEL(ravel_multi_index, INDICES, usable, run_ravel), NULL};
