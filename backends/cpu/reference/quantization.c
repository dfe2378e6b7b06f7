/* Engine reference: quantisation element by element. dispatch/choice.c asks these kernels last, after those of all
 * other engines. */
#include "kernels/reference/quantization/quantization.h"

#include "backends/cpu/reference/reference.h"

/* Packed elements share bytes: one thread writes them all. Bits behind the last element are 0. */
static nd4c_status run_range(const nd4c_call *call, int64_t work, nd4c_range_function range, void *user) {
  const nd4c_tensor *y = &call->outputs[0];
  int bits = nd4c_packed_bits(y->dtype);
  nd4c_cpu_parallel(y->size, nd4c_cpu_grain(work), bits != 0 ? 1 : call->width, range, user);
  for (int64_t i = y->size; bits != 0 && i * bits % 8 != 0; i++) {
    nd4c_packed_set(y->data, i, bits, 0);
  }
  return ND4C_OK;
}

ND4C_CPU_RANGE(cast_float8_range, nd4c_ref_cast_float8)

static nd4c_status cast_float8_run(const nd4c_call *call) {
  nd4c_ref_cast_args args = {nd4c_cpu_ref_input(call, 0), nd4c_cpu_ref_output(call, 0),
                             ND4C_FLAG_OF(call, cast_float8_saturate),
                             (nd4c_narrow_rounding)ND4C_INT_OF(call, cast_float8_rounding)};
  return run_range(call, 8, cast_float8_range, &args);
}

/* -- quantize_linear and dequantize_linear: inputs and the first attributes stand at the same places --------------- */

static nd4c_ref_quantization describe(const nd4c_call *call) {
  int64_t axis = ND4C_INT_OF(call, quantize_linear_axis);
  return (nd4c_ref_quantization){.x = nd4c_cpu_ref_input(call, 0),
                                 .scale = nd4c_cpu_ref_input(call, ND4C_IN_quantize_linear_scale),
                                 .zero_point = nd4c_cpu_ref_input(call, ND4C_IN_quantize_linear_zero_point),
                                 .y = nd4c_cpu_ref_output(call, 0),
                                 .axis = nd4c_axis(axis, call->inputs[0].rank),
                                 .block = ND4C_INT_OF(call, quantize_linear_block_size),
                                 .saturate = true};
}

ND4C_CPU_RANGE(quantize_range, nd4c_ref_quantize)
ND4C_CPU_RANGE(quantize_plain_range, nd4c_ref_quantize_plain)
ND4C_CPU_RANGE(dequantize_range, nd4c_ref_dequantize)
ND4C_CPU_RANGE(dequantize_plain_range, nd4c_ref_dequantize_plain)
ND4C_CPU_RANGE(fake_quantize_range, nd4c_ref_fake_quantize)
ND4C_CPU_RANGE(matmul_nbits_range, nd4c_ref_matmul_nbits)

/* The quotient's precision: as asked for, else the scale's; integers divide as float64. */
static nd4c_dtype precision_of(const nd4c_call *call) {
  nd4c_dtype given = (nd4c_dtype)ND4C_INT_OF(call, quantize_linear_precision);
  nd4c_dtype scale = call->inputs[ND4C_IN_quantize_linear_scale].dtype, x = call->inputs[0].dtype;
  nd4c_dtype dtype = given != ND4C_DTYPE_NONE ? given : scale == ND4C_FLOAT8_E8M0FNU ? x : scale;
  return dtype == ND4C_INT32 ? ND4C_FLOAT64 : dtype;
}

static nd4c_status quantize_linear_run(const nd4c_call *call) {
  nd4c_ref_quantization args = describe(call);
  args.precision = precision_of(call);
  args.saturate = ND4C_FLAG_OF(call, quantize_linear_saturate);
  bool plain = nd4c_ref_quantize_is_plain(&args);
  return run_range(call, plain ? 0 : 16, plain ? quantize_plain_range : quantize_range, &args);
}

static nd4c_status dequantize_linear_run(const nd4c_call *call) {
  nd4c_ref_quantization args = describe(call);
  bool plain = nd4c_ref_dequantize_is_plain(&args);
  return run_range(call, plain ? 0 : 16, plain ? dequantize_plain_range : dequantize_range, &args);
}

static nd4c_status dynamic_quantize_linear_run(const nd4c_call *call) {
  float scale;
  uint8_t zero_point;
  nd4c_ref_quantization args = {
      .x = nd4c_cpu_ref_input(call, 0), .y = nd4c_cpu_ref_output(call, 0), .precision = ND4C_FLOAT32, .saturate = true};
  nd4c_ref_dynamic_range(&args.x, &scale, &zero_point);
  args.scale = (nd4c_ref_tensor){.dtype = ND4C_FLOAT32, .data = (char *)&scale};
  args.zero_point = (nd4c_ref_tensor){.dtype = ND4C_UINT8, .data = (char *)&zero_point};
  bool plain = nd4c_ref_quantize_is_plain(&args);
  (void)run_range(call, plain ? 0 : 16, plain ? quantize_plain_range : quantize_range, &args);
  memcpy(call->outputs[1].data, &scale, sizeof scale);
  memcpy(call->outputs[2].data, &zero_point, sizeof zero_point);
  return ND4C_OK;
}

static nd4c_status fake_quantize_run(const nd4c_call *call) {
  nd4c_ref_fake_quantization args = {.x = nd4c_cpu_ref_input(call, 0),
                                     .low = nd4c_cpu_ref_input(call, ND4C_IN_fake_quantize_low),
                                     .high = nd4c_cpu_ref_input(call, ND4C_IN_fake_quantize_high),
                                     .y = nd4c_cpu_ref_output(call, 0),
                                     .bits = (int)ND4C_INT_OF(call, fake_quantize_bits),
                                     .narrow_range = ND4C_FLAG_OF(call, fake_quantize_narrow_range)};
  return run_range(call, 16, fake_quantize_range, &args);
}

static nd4c_status matmul_nbits_run(const nd4c_call *call) {
  nd4c_ref_nbits args = {.a = nd4c_cpu_ref_input(call, ND4C_IN_matmul_nbits_a),
                         .b = nd4c_cpu_ref_input(call, ND4C_IN_matmul_nbits_b),
                         .scale = nd4c_cpu_ref_input(call, ND4C_IN_matmul_nbits_scale),
                         .zero_point = nd4c_cpu_ref_input(call, ND4C_IN_matmul_nbits_zero_point),
                         .bias = nd4c_cpu_ref_input(call, ND4C_IN_matmul_nbits_bias),
                         .y = nd4c_cpu_ref_output(call, 0),
                         .block = ND4C_INT_OF(call, matmul_nbits_block_size)};
  return run_range(call, 4 * args.b.shape[1], matmul_nbits_range, &args);
}

#define QUANTIZABLE (ND4C_CPU_FLOATS | ND4C_DTYPE_BIT(ND4C_INT32))
#define OPS(X)                                \
  X(cast_float8, ND4C_CPU_STORED)             \
  X(quantize_linear, QUANTIZABLE)             \
  X(dequantize_linear, ND4C_CPU_STORED)       \
  X(dynamic_quantize_linear, ND4C_CPU_FLOATS) \
  X(fake_quantize, ND4C_CPU_FLOATS)           \
  X(matmul_nbits, ND4C_CPU_FLOATS)
#define DEFINE_KERNEL(op, dtypes) ND4C_CPU_REFERENCE_KERNEL_IF(op, dtypes, nd4c_cpu_reference_stored, op##_run),

const nd4c_kernel *const nd4c_cpu_reference_quantization_kernels[] = {OPS(DEFINE_KERNEL) NULL};
