/* Engine reference: elementary and special functions, parts and bits of numbers, activations. */
#include <math.h>

#include "backends/cpu/reference/reference.h"
#include "kernels/reference/elementwise/mathematics.h"

enum { MOST_NUMBERS = 3 };

/* The attributes as numbers, in the order of the schema: what value functions take after the inputs. */
static void run_with_attributes(const nd4c_call *call, nd4c_value_function function, nd4c_dtype as) {
  double numbers[MOST_NUMBERS];
  for (int32_t i = 0; i < call->op->attr_count; i++)
    numbers[i] = call->op->attrs[i].preset.kind == ND4C_ATTR_FLOAT ? call->attrs[i].as.f : (double)call->attrs[i].as.i;
  nd4c_cpu_reference_map(call, function, as, call->op->attr_count, numbers);
}

#define PLAIN(op_name)                                                            \
  static nd4c_status run_##op_name(const nd4c_call *call) {                       \
    run_with_attributes(call, nd4c_value_##op_name, (nd4c_dtype)ND4C_DTYPE_NONE); \
    return ND4C_OK;                                                               \
  }
/* float64 wants the wider function. */
#define IN_TWO_WIDTHS(op_name)                                                                                         \
  static nd4c_status run_##op_name(const nd4c_call *call) {                                                            \
    bool wide = call->inputs[0].dtype == ND4C_FLOAT64;                                                                 \
    run_with_attributes(call, wide ? nd4c_value_##op_name##_wide : nd4c_value_##op_name, (nd4c_dtype)ND4C_DTYPE_NONE); \
    return ND4C_OK;                                                                                                    \
  }
/* Both operands as the result's dtype. */
#define PROMOTED(op_name)                                                    \
  static nd4c_status run_##op_name(const nd4c_call *call) {                  \
    run_with_attributes(call, nd4c_value_##op_name, call->outputs[0].dtype); \
    return ND4C_OK;                                                          \
  }

static nd4c_status run_gelu(const nd4c_call *call) {
  bool wide = call->inputs[0].dtype == ND4C_FLOAT64, approximate = call->attrs[ND4C_ATTR_gelu_approximate].as.i != 0;
  nd4c_value_function exact = wide ? nd4c_value_gelu_wide : nd4c_value_gelu;
  nd4c_value_function by_tanh = wide ? nd4c_value_gelu_tanh_wide : nd4c_value_gelu_tanh;
  nd4c_cpu_reference_map(call, approximate ? by_tanh : exact, ND4C_DTYPE_NONE, 0, NULL);
  return ND4C_OK;
}

static nd4c_status run_positive(const nd4c_call *call) {
  nd4c_cpu_reference_map(call, nd4c_value_copy, ND4C_DTYPE_NONE, 0, NULL);
  return ND4C_OK;
}

static nd4c_status run_true_divide(const nd4c_call *call) {
  nd4c_cpu_reference_map(call, nd4c_value_divide, call->outputs[0].dtype, 0, NULL);
  return ND4C_OK;
}

static nd4c_status run_nextafter(const nd4c_call *call) {
  nd4c_dtype y = call->outputs[0].dtype;
  nd4c_value_function function = y == ND4C_FLOAT64 ? nd4c_value_nextafter_float64 : nd4c_value_nextafter_float32;
#ifndef ND4C_DTYPES_LITE
  function = y == ND4C_FLOAT16    ? nd4c_value_nextafter_float16
             : y == ND4C_BFLOAT16 ? nd4c_value_nextafter_bfloat16
                                  : function;
#endif
  nd4c_cpu_reference_map(call, function, y, 0, NULL);
  return ND4C_OK;
}

/* Elements as integers of their size; a call's dtypes are the operands' own, so that both are replaced. */
static nd4c_status run_bit_cast(const nd4c_call *call) {
  static const nd4c_dtype carriers[] = {[1] = ND4C_INT8, [2] = ND4C_INT16, [4] = ND4C_INT32, [8] = ND4C_INT64};
  int32_t bytes = nd4c_cpu_dtype_bytes(call->inputs[0].dtype);
  nd4c_call inner = *call;
  nd4c_tensor x = call->inputs[0], y = call->outputs[0];
  if (bytes <= 8)
    x.dtype = y.dtype = carriers[bytes];
  inner.inputs = &x;
  inner.outputs = &y;
  nd4c_cpu_reference_map(&inner, nd4c_value_copy, ND4C_DTYPE_NONE, 0, NULL);
  return ND4C_OK;
}

/* Inputs as the result's dtype; the attribute follows them. */
static nd4c_status run_swiglu(const nd4c_call *call) {
  bool wide = call->outputs[0].dtype == ND4C_FLOAT64;
  run_with_attributes(call, wide ? nd4c_value_swiglu_wide : nd4c_value_swiglu, call->outputs[0].dtype);
  return ND4C_OK;
}

static nd4c_status run_nan_to_num(const nd4c_call *call) {
  double numbers[MOST_NUMBERS], largest = nd4c_reference_largest(call->outputs[0].dtype);
  for (int32_t i = 0; i < MOST_NUMBERS; i++) {
    double given = call->attrs[i].as.f;
    bool beyond = fabs(given) > largest && !isinf(given);
    numbers[i] = beyond ? copysign(largest, given) : given;
  }
  nd4c_cpu_reference_map(call, nd4c_value_nan_to_num, ND4C_DTYPE_NONE, MOST_NUMBERS, numbers);
  return ND4C_OK;
}

/* -- activations that change an axis ------------------------------------------------------------------------------- */

/* A part of a tensor along an axis, as if it were an operand of its own. */
static nd4c_tensor part_of(const nd4c_tensor *tensor, int32_t axis, int64_t begin, int64_t *shape) {
  nd4c_tensor part = *tensor;
  int64_t bytes = nd4c_cpu_dtype_bytes(tensor->dtype);
  for (int32_t i = 0; i < tensor->rank; i++)
    shape[i] = tensor->shape[i];
  shape[axis] /= 2;
  part.shape = shape;
  part.size = tensor->size / 2;
  if (part.size > 0)
    part.data = (char *)tensor->data + begin * tensor->strides[axis] * bytes;
  return part;
}

/* The call of an op on parts of the operands. */
static void run_on_parts(const nd4c_call *call, nd4c_value_function function, int32_t count, const nd4c_tensor *inputs,
                         const nd4c_tensor *output) {
  nd4c_call inner = *call;
  inner.input_count = count;
  inner.inputs = inputs;
  inner.outputs = output;
  nd4c_cpu_reference_map(&inner, function, ND4C_DTYPE_NONE, 0, NULL);
}

static nd4c_status run_glu(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  int64_t shape[ND4C_CPU_MAX_RANK];
  int32_t axis = nd4c_axis(call->attrs[ND4C_ATTR_glu_axis].as.i, x->rank);
  const nd4c_tensor halves[2] = {part_of(x, axis, 0, shape), part_of(x, axis, x->shape[axis] / 2, shape)};
  run_on_parts(call, x->dtype == ND4C_FLOAT64 ? nd4c_value_glu_wide : nd4c_value_glu, 2, halves, &call->outputs[0]);
  return ND4C_OK;
}

static nd4c_status run_crelu(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  int64_t shape[ND4C_CPU_MAX_RANK];
  int32_t axis = nd4c_axis(call->attrs[ND4C_ATTR_crelu_axis].as.i, x->rank);
  const nd4c_tensor first = part_of(y, axis, 0, shape), second = part_of(y, axis, x->shape[axis], shape);
  run_on_parts(call, nd4c_value_relu, 1, x, &first);
  run_on_parts(call, nd4c_value_negative_relu, 1, x, &second);
  return ND4C_OK;
}

/* -- kernels ------------------------------------------------------------------------------------------------------- */

#define FLOATING (ND4C_CPU_FLOATS | ND4C_CPU_COMPLEXES)

/* X(op, dtypes of the first input) */
#define WIDTH_OPS(X)                                                                                                 \
  X(acos, FLOATING)                                                                                                  \
  X(acosh, FLOATING)                                                                                                 \
  X(asin, FLOATING)                                                                                                  \
  X(asinh, FLOATING) X(atan, FLOATING) X(atanh, FLOATING) X(cosh, FLOATING) X(sinh, FLOATING) X(tan, FLOATING)       \
      X(tanh, FLOATING) X(expm1, FLOATING) X(log1p, FLOATING) X(log2, FLOATING) X(log10, FLOATING) X(exp2, FLOATING) \
          X(cbrt, ND4C_CPU_FLOATS) X(rsqrt, ND4C_CPU_FLOATS) X(erf, ND4C_CPU_FLOATS) X(erfc, ND4C_CPU_FLOATS)        \
              X(erfinv, ND4C_CPU_FLOATS) X(lgamma, ND4C_CPU_FLOATS) X(gamma, ND4C_CPU_FLOATS)                        \
                  X(digamma, ND4C_CPU_FLOATS) X(i0, ND4C_CPU_FLOATS) X(i1, ND4C_CPU_FLOATS) X(sinc, ND4C_CPU_FLOATS) \
                      X(deg2rad, ND4C_CPU_FLOATS) X(rad2deg, ND4C_CPU_FLOATS) X(logit, ND4C_CPU_FLOATS)              \
                          X(sigmoid, ND4C_CPU_FLOATS) X(elu, ND4C_CPU_FLOATS) X(selu, ND4C_CPU_FLOATS)               \
                              X(celu, ND4C_CPU_FLOATS) X(softplus, ND4C_CPU_FLOATS) X(mish, ND4C_CPU_FLOATS)         \
                                  X(swish, ND4C_CPU_FLOATS) X(log_sigmoid, ND4C_CPU_FLOATS)                          \
                                      X(tanh_shrink, ND4C_CPU_FLOATS) X(rational_tanh, ND4C_CPU_FLOATS)              \
                                          X(rectified_tanh, ND4C_CPU_FLOATS)
#define PLAIN_OPS(X)                                                                                          \
  X(trunc, ND4C_CPU_REALS)                                                                                    \
  X(frac, ND4C_CPU_FLOATS)                                                                                    \
  X(is_finite, ND4C_CPU_NUMBERS)                                                                              \
  X(is_inf, ND4C_CPU_NUMBERS) X(signbit, ND4C_CPU_FLOATS) X(conj, ND4C_CPU_NUMBERS) X(real, ND4C_CPU_NUMBERS) \
      X(imag, ND4C_CPU_NUMBERS) X(angle, FLOATING) X(bitwise_invert, ND4C_CPU_INTS | ND4C_CPU_BOOLS)          \
          X(bit_count, ND4C_CPU_INTS) X(ldexp, ND4C_CPU_FLOATS) X(is_close, ND4C_CPU_NUMBERS)                 \
              X(softsign, ND4C_CPU_FLOATS) X(hard_sigmoid, ND4C_CPU_FLOATS) X(hard_swish, ND4C_CPU_FLOATS)    \
                  X(hard_tanh, ND4C_CPU_FLOATS) X(threshold, ND4C_CPU_FLOATS) X(shrink, ND4C_CPU_FLOATS)      \
                      X(prelu, ND4C_CPU_REALS) X(cube, ND4C_CPU_NUMBERS)
#define PROMOTED_OPS(X)                                                                                                \
  X(atan2, ND4C_CPU_FLOATS)                                                                                            \
  X(bitwise_and, ND4C_CPU_INTS | ND4C_CPU_BOOLS)                                                                       \
  X(bitwise_or, ND4C_CPU_INTS | ND4C_CPU_BOOLS)                                                                        \
  X(bitwise_xor, ND4C_CPU_INTS | ND4C_CPU_BOOLS) X(bitwise_left_shift, ND4C_CPU_INTS)                                  \
      X(bitwise_right_shift, ND4C_CPU_INTS) X(copysign, ND4C_CPU_FLOATS) X(floor_divide, ND4C_CPU_REALS)               \
          X(remainder, ND4C_CPU_REALS) X(fmod, ND4C_CPU_REALS) X(hypot, ND4C_CPU_FLOATS) X(logaddexp, ND4C_CPU_FLOATS) \
              X(logaddexp2, ND4C_CPU_FLOATS) X(xlogy, ND4C_CPU_FLOATS) X(gcd, ND4C_CPU_INTS) X(lcm, ND4C_CPU_INTS)     \
                  X(heaviside, ND4C_CPU_FLOATS) X(fmax, ND4C_CPU_REALS) X(fmin, ND4C_CPU_REALS)                        \
                      X(squared_difference, ND4C_CPU_REALS) X(divide_no_nan, ND4C_CPU_FLOATS)                          \
                          X(igamma, ND4C_CPU_FLOATS) X(igammac, ND4C_CPU_FLOATS) X(betainc, ND4C_CPU_FLOATS)           \
                              X(zeta, ND4C_CPU_FLOATS) X(polygamma, ND4C_CPU_FLOATS)
#define OTHER_OPS(X)                                                                      \
  X(bit_cast, ND4C_CPU_ALL)                                                               \
  X(swiglu, ND4C_CPU_FLOATS)                                                              \
  X(gelu, ND4C_CPU_FLOATS) X(positive, ND4C_CPU_NUMBERS) X(true_divide, ND4C_CPU_NUMBERS) \
      X(nextafter, ND4C_CPU_FLOATS) X(nan_to_num, ND4C_CPU_FLOATS) X(glu, ND4C_CPU_FLOATS) X(crelu, ND4C_CPU_REALS)

#define DEFINE_WIDTHS(op, dtypes) IN_TWO_WIDTHS(op)
#define DEFINE_PLAIN(op, dtypes) PLAIN(op)
#define DEFINE_PROMOTED(op, dtypes) PROMOTED(op)
WIDTH_OPS(DEFINE_WIDTHS)
PLAIN_OPS(DEFINE_PLAIN)
PROMOTED_OPS(DEFINE_PROMOTED)

#define ALL_OPS(X) WIDTH_OPS(X) PLAIN_OPS(X) PROMOTED_OPS(X) OTHER_OPS(X)
#define DEFINE_KERNEL(op, dtypes) ND4C_CPU_REFERENCE_KERNEL(op, dtypes, run_##op),

const nd4c_kernel *const nd4c_cpu_reference_elementwise_mathematics_kernels[] = {ALL_OPS(DEFINE_KERNEL) NULL};
