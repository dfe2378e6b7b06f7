/* Engine simd: max_unpool: zeros, in which elements are placed at their indices. dispatch/choice.c asks this kernel
 * before the reference's. */
#include "backends/cpu/reference/work.h"
#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/moving.h"
#include "backends/cpu/support/window.h"

enum { GRAIN = 16384 };

typedef struct unpool_job {
  const char *x;
  char *y;
  const int64_t *indices;
  int64_t bytes, cells, pixels; /* of an element; of the planes of x and y */
  bool planar;
} unpool_job;

static void place_planes(const unpool_job *job, int64_t begin, int64_t end) {
  const int64_t together = job->planar ? 1 : end - begin; /* planes that indices of one kind count in */
  for (int64_t plane = begin; plane < end; plane += together) {
    const nd4c_indices at = {job->indices + plane * job->cells, true, INT64_MAX};
    nd4c_simd.pick->place[job->bytes](together * job->cells, &at, job->x + plane * job->cells * job->bytes,
                                      job->y + (job->planar ? plane * job->pixels * job->bytes : 0), 1, 0);
  }
}

static void planes_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const unpool_job *job = user;
  (void)worker;
  memset(job->y + begin * job->pixels * job->bytes, 0, (size_t)((end - begin) * job->pixels * job->bytes));
  if (job->planar) {
    place_planes(job, begin, end);
  }
}

static int64_t scratch_bytes(const nd4c_call *call) {
  return call->inputs[1].size * (int64_t)sizeof(int64_t);
}

static nd4c_status run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  const int64_t planes = y->shape[0] * y->shape[1];
  unpool_job job = {.x = x->data,
                    .y = y->data,
                    .indices = nd4c_cpu_integers(&call->inputs[1], call->scratch),
                    .bytes = nd4c_cpu_dtype_bytes(x->dtype),
                    .cells = x->size / planes,
                    .pixels = y->size / planes,
                    .planar = ND4C_FLAG_OF(call, max_unpool_planar)};
  ND4C_BACKEND_TRY(
      nd4c_cpu_check_integers(call, "an index", job.indices, x->size, 0, (job.planar ? job.pixels : y->size) - 1));
  nd4c_cpu_parallel(planes, GRAIN / (job.cells + job.pixels) + 1, call->width, planes_range, &job);
  if (!job.planar) { /* the last element at an index wins, whatever its plane */
    place_planes(&job, 0, planes);
  }
  return ND4C_OK;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  ND4C_CPU_DECLINE_IF(x->size == 0 || y->size == 0, "an operand is empty");
  ND4C_CPU_DECLINE_IF(!nd4c_in_c_order(x) || !nd4c_in_c_order(y), "x or the result is not in C order");
  for (int32_t i = 0; i < x->rank - 2; i++) {
    ND4C_CPU_DECLINE_IF(nd4c_cpu_unpooled_extent(call, i) != y->shape[i + 2],
                        "indices count in planes that are not those of the result");
  }
  return true;
}

const nd4c_kernel *const nd4c_cpu_simd_window_unpool_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(max_unpool, ND4C_CPU_REALS, usable, run, .scratch_bytes = scratch_bytes), NULL};
