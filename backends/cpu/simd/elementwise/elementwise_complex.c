/* Engine simd: ops on the parts of complex numbers, as calls on arrays of floats that lie in the same memory.
 * dispatch/choice.c asks these kernels before the reference's. The arithmetic of complex numbers is in
 * ../elementwise.c.
 */
#include "backends/cpu/simd/elementwise/elementwise.h"
#include "backends/cpu/simd/elementwise/floats.h"

static bool usable_parts(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->inputs[0].rank == ND4C_CPU_MAX_RANK, "no room for an axis of parts");
  return true;
}

static nd4c_status run_negative(const nd4c_call *call) {
  nd4c_simd_floats x, y;
  nd4c_simd_view_floats(&call->inputs[0], ND4C_SIMD_EVERY_PART, &x);
  nd4c_simd_view_floats(&call->outputs[0], ND4C_SIMD_EVERY_PART, &y);
  const nd4c_dtype dtype = x.tensor.dtype;
  nd4c_call same = *call;
  same.inputs = &x.tensor;
  same.outputs = &y.tensor;
  return nd4c_simd_run_unary(&same, nd4c_simd.unary->loops[ND4C_UNARY_negative][dtype],
                             nd4c_simd.unary->streams[ND4C_UNARY_negative][dtype], 1, NULL);
}

static nd4c_status copy_part(const nd4c_call *call, int32_t part) {
  nd4c_simd_floats x;
  nd4c_simd_view_floats(&call->inputs[0], part, &x);
  nd4c_nest_copy_tensor(&x.tensor, &call->outputs[0], call->width);
  return ND4C_OK;
}

static nd4c_status run_real(const nd4c_call *call) {
  return copy_part(call, 0);
}

static nd4c_status run_imag(const nd4c_call *call) {
  return copy_part(call, 1);
}

/* A function of two floats: of one part and the other. */
static nd4c_status run_of_parts(const nd4c_call *call, enum nd4c_function_of_two_index function, int32_t first,
                                int32_t cost) {
  nd4c_simd_floats parts[2];
  nd4c_simd_view_floats(&call->inputs[0], first, &parts[0]);
  nd4c_simd_view_floats(&call->inputs[0], 1 - first, &parts[1]);
  const nd4c_tensor inputs[2] = {parts[0].tensor, parts[1].tensor};
  nd4c_call same = *call;
  same.inputs = inputs;
  same.input_count = 2;
  return nd4c_simd_run_binary(&same, &nd4c_simd.functions_of_two->loops[function][inputs[0].dtype], cost);
}

static nd4c_status run_abs(const nd4c_call *call) {
  return run_of_parts(call, ND4C_FUNCTION_hypot, 0, 12);
}

static nd4c_status run_angle(const nd4c_call *call) {
  return run_of_parts(call, ND4C_FUNCTION_atan2, 1, 16);
}

/* Products of the parts and 1 and -1, whose zeros have the signs of negated ones, too. */
static nd4c_status run_conj(const nd4c_call *call) {
  static const float narrow[2] = {1, -1};
  static const double wide[2] = {1, -1};
  static const int64_t shape[1] = {2}, strides[1] = {1};
  nd4c_simd_floats x, y;
  nd4c_simd_view_floats(&call->inputs[0], ND4C_SIMD_EVERY_PART, &x);
  nd4c_simd_view_floats(&call->outputs[0], ND4C_SIMD_EVERY_PART, &y);
  const nd4c_dtype dtype = x.tensor.dtype;
  const void *signs = dtype == ND4C_FLOAT32 ? (const void *)narrow : wide;
  const nd4c_tensor inputs[2] = {
      x.tensor,
      {.dtype = dtype, .rank = 1, .shape = shape, .strides = strides, .size = 2, .data = (void *)(uintptr_t)signs}};
  nd4c_call same = *call;
  same.inputs = inputs;
  same.input_count = 2;
  same.outputs = &y.tensor;
  return nd4c_simd_run_binary(&same, &nd4c_simd.binary->loops[ND4C_BINARY_multiply][dtype], 1);
}

#define KERNEL(op, usable) \
  ND4C_CPU_KERNEL("simd", op, #op "_complex", ND4C_SIMD_PRIORITY, ND4C_CPU_COMPLEXES, usable, run_##op),
const nd4c_kernel *const nd4c_cpu_simd_elementwise_complex_kernels[] = {KERNEL(negative, usable_parts) KERNEL(
    conj, usable_parts) KERNEL(abs, NULL) KERNEL(angle, NULL) KERNEL(real, NULL) KERNEL(imag, NULL) NULL};
