/* Engine simd: is_non_decreasing and is_strictly_increasing: comparisons of neighbours in C order, until one fails.
 * dispatch/choice.c asks these kernels before the reference's. */
#include <stdatomic.h>

#include "backends/cpu/support/flat.h"

enum { GRAIN = 32768, PIECE = ND4C_FLAT_PIECE - 1 /* pairs that the elements of a piece make */ };

typedef struct order_job {
  nd4c_binary_loop holds; /* between an element and the next one */
  nd4c_simd_flat x;
  atomic_bool broken;
} order_job;

static void pairs_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  order_job *job = user;
  const nd4c_reduction_loops *all = &nd4c_simd.reduction->loops[ND4C_REDUCE_min][ND4C_BOOL];
  _Alignas(64) char buffer[ND4C_FLAT_BYTES];
  uint8_t held[PIECE], every = 1;
  (void)worker;
  for (int64_t from = begin; from < end && !atomic_load_explicit(&job->broken, memory_order_relaxed); from += PIECE) {
    const int64_t n = end - from < PIECE ? end - from : PIECE;
    const char *x = nd4c_simd_flat_read(&job->x, from, n + 1, buffer);
    job->holds(n, x, x + job->x.bytes, held);
    all->run(1, n, held, 0, &every);
    if (every == 0) {
      atomic_store_explicit(&job->broken, true, memory_order_relaxed);
    }
  }
}

static nd4c_status check_order(const nd4c_call *call, enum nd4c_binary_index comparison) {
  const nd4c_tensor *x = &call->inputs[0];
  order_job job = {.holds = nd4c_simd.binary->loops[comparison][x->dtype].both};
  nd4c_simd_flat_make(&job.x, x, x);
  nd4c_cpu_parallel(x->size - 1, GRAIN, call->width, pairs_range, &job);
  *(uint8_t *)call->outputs[0].data = !atomic_load(&job.broken);
  return ND4C_OK;
}

static nd4c_status run_is_non_decreasing(const nd4c_call *call) {
  return check_order(call, ND4C_BINARY_less_equal);
}

static nd4c_status run_is_strictly_increasing(const nd4c_call *call) {
  return check_order(call, ND4C_BINARY_less);
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->inputs[0].size < 2, "no two elements");
  return true;
}

const nd4c_kernel *const nd4c_cpu_simd_reduction_order_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(is_non_decreasing, ND4C_CPU_REALS, usable, run_is_non_decreasing),
    ND4C_CPU_SIMD_KERNEL(is_strictly_increasing, ND4C_CPU_REALS, usable, run_is_strictly_increasing), NULL};
