/* Engine simd: in_top_k: how many elements of a row are greater than the target's is counted by comparisons of a
 * thousand at once, until they are too many. dispatch/choice.c asks these kernels before the reference's. */
#include <math.h>

#include "backends/cpu/reference/reference.h"
#include "backends/cpu/simd/simd.h"
#include "kernels/reference/indexing/move.h"

enum { PIECE = 1024, ROW_GRAIN = 16384 };

typedef struct rank_job {
  nd4c_binary_loop greater;
  const nd4c_tensor *x, *targets;
  uint8_t *y;
  int64_t classes, bytes, k;
} rank_job;

static bool is_in_top(const rank_job *job, const char *row, int64_t target) {
  const nd4c_reduction_loops *sum = &nd4c_simd.reduction->loops[ND4C_REDUCE_sum][ND4C_BOOL];
  const char *chosen = row + target * job->bytes;
  double value = 0;
  uint8_t greater[PIECE];
  int64_t found = 0;
  nd4c_ref_read_doubles(job->x->dtype, chosen, 0, 1, 1, &value);
  for (int64_t i = 0; i < job->classes && found < job->k; i += PIECE) {
    const int64_t n = job->classes - i < PIECE ? job->classes - i : PIECE;
    int64_t more = 0;
    job->greater(n, row + i * job->bytes, chosen, greater);
    sum->run(1, n, greater, 0, &more);
    found += more;
  }
  return isfinite(value) && found < job->k;
}

static void rows_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const rank_job *job = user;
  (void)worker;
  for (int64_t row = begin; row < end; row++) {
    const int64_t target = nd4c_ref_index(job->targets->dtype, job->targets->data, row);
    const char *x = (const char *)job->x->data + row * job->classes * job->bytes;
    job->y[row] = target >= 0 && target < job->classes && is_in_top(job, x, target);
  }
}

static nd4c_status run_in_top_k(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  rank_job job = {.greater = nd4c_simd.binary->loops[ND4C_BINARY_greater][x->dtype].first,
                  .x = x,
                  .targets = &call->inputs[1],
                  .y = call->outputs[0].data,
                  .classes = x->shape[1],
                  .bytes = nd4c_cpu_dtype_bytes(x->dtype),
                  .k = ND4C_INT_OF(call, in_top_k_k)};
  nd4c_cpu_parallel(x->shape[0], ROW_GRAIN / (job.classes + 1) + 1, call->width, rows_range, &job);
  return ND4C_OK;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(
      !nd4c_in_c_order(&call->inputs[0]) || !nd4c_in_c_order(&call->inputs[1]) || !nd4c_in_c_order(&call->outputs[0]),
      "not in C order");
  ND4C_CPU_DECLINE_IF(call->outputs[0].dtype != ND4C_BOOL, "no truth values");
  return true;
}

const nd4c_kernel *const nd4c_cpu_simd_sorting_rank_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(in_top_k, ND4C_CPU_FLOATS, usable, run_in_top_k), NULL};
