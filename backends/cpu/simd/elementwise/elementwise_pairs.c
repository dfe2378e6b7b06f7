/* Engine simd: further binary ops: bits, divisions with a rest, and ops on floats that are not arithmetic.
 * dispatch/choice.c asks these kernels before the reference's; the loops come from
 * kernels/cpu/elementwise/pairs/pairs.h, or from binary.h where another op computes the same. */
#include "backends/cpu/simd/elementwise/elementwise.h"

#define NO_OTHER ND4C_BINARY_COUNT

/* The loops of an op for a dtype: its own, or those of `other`. */
static inline const nd4c_binary_loops *loops_of(enum nd4c_pair_index op, enum nd4c_binary_index other,
                                                nd4c_dtype dtype) {
  const nd4c_binary_loops *own = &nd4c_simd.pairs->loops[op][dtype];
  return own->both == NULL && other != NO_OTHER ? &nd4c_simd.binary->loops[other][dtype] : own;
}

static bool usable_pair(const nd4c_call *call, const nd4c_binary_loops *loops, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->inputs[0].dtype != call->inputs[1].dtype, "operands of different dtypes");
  ND4C_CPU_DECLINE_IF(loops->both == NULL, "no loop for this dtype");
  return true;
}

#define BITS (ND4C_CPU_INTS | ND4C_CPU_BOOLS)
/* X(op, dtypes, the op that computes the same where this one has no loop, cost): the cost of one element, in the unit
 * of nd4c_nest_run. */
#define PAIR_OPS(X)                                  \
  X(bitwise_and, BITS, ND4C_BINARY_logical_and, 1)   \
  X(bitwise_or, BITS, ND4C_BINARY_logical_or, 1)     \
  X(bitwise_xor, BITS, ND4C_BINARY_not_equal, 1)     \
  X(bitwise_left_shift, ND4C_CPU_INTS, NO_OTHER, 1)  \
  X(bitwise_right_shift, ND4C_CPU_INTS, NO_OTHER, 1) \
  X(gcd, ND4C_CPU_INTS, NO_OTHER, 300)               \
  X(lcm, ND4C_CPU_INTS, NO_OTHER, 300)               \
  X(floor_divide, ND4C_CPU_REALS, NO_OTHER, 8)       \
  X(remainder, ND4C_CPU_REALS, NO_OTHER, 8)          \
  X(fmod, ND4C_CPU_REALS, NO_OTHER, 8)               \
  X(fmax, ND4C_CPU_REALS, ND4C_BINARY_maximum, 1)    \
  X(fmin, ND4C_CPU_REALS, ND4C_BINARY_minimum, 1)    \
  X(squared_difference, ND4C_CPU_REALS, NO_OTHER, 2) \
  X(copysign, ND4C_CPU_FLOATS, NO_OTHER, 1)          \
  X(nextafter, ND4C_CPU_FLOATS, NO_OTHER, 2)         \
  X(heaviside, ND4C_CPU_FLOATS, NO_OTHER, 1)         \
  X(divide_no_nan, ND4C_CPU_FLOATS, NO_OTHER, 4)

#define DEFINE_PAIR(op, dtypes, other, cost)                                                               \
  static nd4c_status run_##op(const nd4c_call *call) {                                                     \
    return nd4c_simd_run_binary(call, loops_of(ND4C_PAIR_##op, other, call->inputs[0].dtype), cost);       \
  }                                                                                                        \
  static bool usable_##op(const nd4c_call *call, char *reason, size_t reason_size) {                       \
    return usable_pair(call, loops_of(ND4C_PAIR_##op, other, call->inputs[0].dtype), reason, reason_size); \
  }
PAIR_OPS(DEFINE_PAIR)

/* -- is_close ------------------------------------------------------------------------------------------------------ */

typedef struct close_job {
  nd4c_close_loop loop;
  nd4c_closeness closeness;
} close_job;

static void compute_close(const void *user, int64_t n, char *const *pointers, const bool *repeated) {
  const close_job *job = user;
  (void)repeated;
  job->loop(n, pointers[1], pointers[2], (uint8_t *)pointers[0], &job->closeness);
}

static bool usable_is_close(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->inputs[0].dtype != call->inputs[1].dtype, "operands of different dtypes");
  return true;
}

static nd4c_status run_is_close(const nd4c_call *call) {
  const nd4c_tensor *a = &call->inputs[0], *b = &call->inputs[1], *y = &call->outputs[0];
  const close_job job = {.loop = nd4c_simd.pairs->close[a->dtype],
                         .closeness = {.relative = ND4C_REAL_OF(call, is_close_rtol),
                                       .absolute = ND4C_REAL_OF(call, is_close_atol),
                                       .equal_nan = ND4C_FLAG_OF(call, is_close_equal_nan)}};
  if (nd4c_simd_is_small(call, 2, 4)) {
    job.loop(y->size, a->data, b->data, y->data, &job.closeness);
    return ND4C_OK;
  }
  nd4c_nest nest;
  nd4c_nest_start(&nest, y);
  nd4c_nest_add(&nest, a, y);
  nd4c_nest_add(&nest, b, y);
  nd4c_nest_finish(&nest);
  nd4c_nest_run(&nest, call->width, 4, false, compute_close, NULL, &job);
  return ND4C_OK;
}

#define KERNEL(op, dtypes, other, cost) ND4C_CPU_SIMD_KERNEL(op, dtypes, usable_##op, run_##op),
const nd4c_kernel *const nd4c_cpu_simd_elementwise_pairs_kernels[] = {
    PAIR_OPS(KERNEL) ND4C_CPU_SIMD_KERNEL(is_close, ND4C_CPU_REALS, usable_is_close, run_is_close), NULL};
