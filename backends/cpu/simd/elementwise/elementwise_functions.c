/* Engine simd: the mathematical functions of kernels/cpu/elementwise/functions.h, a kernel for each row of its tables,
 * and ldexp. dispatch/choice.c asks these kernels before the reference's. */
#include "backends/cpu/simd/elementwise/elementwise.h"

/* -- one operand -------------------------------------------------------------------------------------------------- */

static bool usable_of_one(const nd4c_call *call, enum nd4c_function_index function, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(nd4c_simd.functions->loops[function][call->inputs[0].dtype] == NULL, "no loop for this dtype");
  return true;
}

#define DEFINE_OF_ONE(name, cost)                                                                                   \
  static nd4c_status run_##name(const nd4c_call *call) {                                                            \
    return nd4c_simd_run_unary(call, nd4c_simd.functions->loops[ND4C_FUNCTION_##name][call->inputs[0].dtype], NULL, \
                               cost, NULL);                                                                         \
  }                                                                                                                 \
  static bool usable_##name(const nd4c_call *call, char *reason, size_t reason_size) {                              \
    return usable_of_one(call, ND4C_FUNCTION_##name, reason, reason_size);                                          \
  }
ND4C_FUNCTIONS_OF_ONE(DEFINE_OF_ONE)

/* -- two operands ------------------------------------------------------------------------------------------------- */

static const nd4c_binary_loops *loops_of_two(const nd4c_call *call, enum nd4c_function_of_two_index function) {
  return &nd4c_simd.functions_of_two->loops[function][call->inputs[0].dtype];
}

static bool usable_of_two(const nd4c_call *call, enum nd4c_function_of_two_index function, char *reason,
                          size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->inputs[0].dtype != call->inputs[1].dtype, "operands of different dtypes");
  ND4C_CPU_DECLINE_IF(loops_of_two(call, function)->both == NULL, "no loop for this dtype");
  return true;
}

#define DEFINE_OF_TWO(name, cost)                                                      \
  static nd4c_status run_##name(const nd4c_call *call) {                               \
    return nd4c_simd_run_binary(call, loops_of_two(call, ND4C_FUNCTION_##name), cost); \
  }                                                                                    \
  static bool usable_##name(const nd4c_call *call, char *reason, size_t reason_size) { \
    return usable_of_two(call, ND4C_FUNCTION_##name, reason, reason_size);             \
  }
ND4C_FUNCTIONS_OF_TWO(DEFINE_OF_TWO)

static bool usable_ldexp(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_dtype exponent = call->inputs[ND4C_IN_ldexp_exponent].dtype;
  ND4C_CPU_DECLINE_IF(exponent != ND4C_INT32 && exponent != ND4C_INT64, "exponents are neither int32 nor int64");
  return true;
}

static nd4c_status run_ldexp(const nd4c_call *call) {
  const bool wide = call->inputs[ND4C_IN_ldexp_exponent].dtype == ND4C_INT64;
  return nd4c_simd_run_binary(call, &nd4c_simd.functions_of_two->ldexp[call->inputs[ND4C_IN_ldexp_x].dtype][wide], 4);
}

/* -- for engine tile, and the kernels ----------------------------------------------------------------------------- */

bool nd4c_simd_find_function(const nd4c_call *call, nd4c_simd_element *element, char *reason, size_t reason_size) {
#define FIND_OF_ONE(name, price)                                                              \
  case ND4C_OP_##name:                                                                        \
    element->kind = ND4C_SIMD_UNARY;                                                          \
    element->cost = price;                                                                    \
    element->unary = nd4c_simd.functions->loops[ND4C_FUNCTION_##name][call->inputs[0].dtype]; \
    return usable_##name(call, reason, reason_size);
#define FIND_OF_TWO(name, price)                                \
  case ND4C_OP_##name:                                          \
    element->kind = ND4C_SIMD_BINARY;                           \
    element->cost = price;                                      \
    element->binary = loops_of_two(call, ND4C_FUNCTION_##name); \
    return usable_##name(call, reason, reason_size);
  switch ((int)call->op->op) {
    ND4C_FUNCTIONS_OF_ONE(FIND_OF_ONE)
    ND4C_FUNCTIONS_OF_TWO(FIND_OF_TWO)
    default:
      return nd4c_cpu_decline(reason, reason_size, "not computed element by element in vectors");
  }
}

#define KERNEL(name, cost) ND4C_CPU_SIMD_KERNEL(name, ND4C_CPU_FLOATS, usable_##name, run_##name),
const nd4c_kernel *const nd4c_cpu_simd_elementwise_functions_kernels[] = {
    ND4C_FUNCTIONS_OF_ONE(KERNEL) ND4C_FUNCTIONS_OF_TWO(KERNEL) KERNEL(ldexp, 4) NULL};
