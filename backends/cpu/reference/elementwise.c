/* Engine reference: element-wise ops: arithmetic, comparisons, elementary and special functions, parts and bits of
 * numbers, activations. dispatch/choice.c asks these kernels last, after those of all other engines. cpu/backend.c runs
 * add once to verify the backend. */
#include <math.h>

#include "backends/cpu/reference/reference.h"
#include "kernels/reference/elementwise/mathematics.h"

/* Elements that a thread computes at least: some ten microseconds. */
enum { GRAIN = 1024 };

ND4C_CPU_RANGE(map_range, nd4c_map_range)

/* Inputs cast to `as[i]`, then numbers that are the same for every element. */
static void map(const nd4c_call *call, nd4c_value_function function, const nd4c_dtype *as, int32_t input_count,
                const nd4c_tensor *const *tensors, int32_t number_count, const double *numbers) {
  static const int64_t repeated[ND4C_CPU_MAX_RANK] = {0};
  const nd4c_tensor *y = &call->outputs[0];
  int64_t strides[ND4C_REFERENCE_MAX_INPUTS][ND4C_CPU_MAX_RANK];
  nd4c_operand output = {y->dtype, y->data, y->strides}, inputs[ND4C_REFERENCE_MAX_INPUTS];
  nd4c_dtype casts[ND4C_REFERENCE_MAX_INPUTS] = {ND4C_DTYPE_NONE};
  for (int32_t i = 0; i < input_count; i++) {
    nd4c_cpu_broadcast_strides(tensors[i], y, strides[i]);
    inputs[i] = (nd4c_operand){tensors[i]->dtype, tensors[i]->data, strides[i]};
    casts[i] = as[i];
  }
  double kept[ND4C_REFERENCE_MAX_INPUTS];
  for (int32_t i = 0; i < number_count; i++) {
    kept[i] = numbers[i];
    inputs[input_count + i] = (nd4c_operand){ND4C_FLOAT64, (char *)&kept[i], repeated};
  }
  nd4c_map job;
  nd4c_map_start(&job, function, input_count + number_count, inputs, casts, &output, y->rank, y->shape);
  /* Packed elements share bytes: one thread writes them all. Bits behind the last element are 0. */
  int bits = nd4c_packed_bits(y->dtype);
  nd4c_cpu_parallel(job.size, GRAIN, bits != 0 ? 1 : call->width, map_range, &job);
  for (int64_t i = y->size; bits != 0 && i * bits % 8 != 0; i++) {
    nd4c_packed_set(y->data, i, bits, 0);
  }
}

void nd4c_cpu_reference_map(const nd4c_call *call, nd4c_value_function function, nd4c_dtype as, int32_t number_count,
                            const double *numbers) {
  const nd4c_tensor *tensors[ND4C_REFERENCE_MAX_INPUTS];
  nd4c_dtype casts[ND4C_REFERENCE_MAX_INPUTS];
  for (int32_t i = 0; i < call->input_count; i++) {
    tensors[i] = &call->inputs[i];
    casts[i] = as;
  }
  map(call, function, casts, call->input_count, tensors, number_count, numbers);
}

enum { MOST_NUMBERS = 3 };

/* The attributes as numbers, in the order of the schema: what value functions take after the inputs. */
static nd4c_status with_attributes(const nd4c_call *call, nd4c_value_function function, nd4c_dtype as) {
  double numbers[MOST_NUMBERS];
  for (int32_t i = 0; i < call->op->attr_count; i++) {
    numbers[i] = call->op->attrs[i].preset.kind == ND4C_ATTR_FLOAT ? call->attrs[i].as.f : (double)call->attrs[i].as.i;
  }
  nd4c_cpu_reference_map(call, function, as, call->op->attr_count, numbers);
  return ND4C_OK;
}

/* The same without attributes, on the operands as they are. */
static nd4c_status plain(const nd4c_call *call, nd4c_value_function function) {
  nd4c_cpu_reference_map(call, function, ND4C_DTYPE_NONE, 0, NULL);
  return ND4C_OK;
}

static nd4c_status where_run(const nd4c_call *call) {
  const nd4c_dtype as[3] = {ND4C_DTYPE_NONE, call->outputs[0].dtype, call->outputs[0].dtype};
  const nd4c_tensor *const tensors[3] = {&call->inputs[0], &call->inputs[1], &call->inputs[2]};
  map(call, nd4c_value_where, as, 3, tensors, 0, NULL);
  return ND4C_OK;
}

static nd4c_status leaky_relu_run(const nd4c_call *call) {
  double alpha = ND4C_REAL_OF(call, leaky_relu_alpha);
  nd4c_cpu_reference_map(call, nd4c_value_leaky_relu, ND4C_DTYPE_NONE, 1, &alpha);
  return ND4C_OK;
}

/* x stands for a low bound that was left out, which changes nothing. If the high bound was left out, the result is
 * maximum(x, low). */
static nd4c_status clip_run(const nd4c_call *call) {
  nd4c_dtype x = call->inputs[0].dtype;
  const nd4c_dtype as[3] = {x, x, x};
  const nd4c_tensor *tensors[3];
  for (int32_t i = 0; i < 3; i++) {
    bool given = i < call->input_count && call->inputs[i].dtype != ND4C_DTYPE_NONE;
    tensors[i] = &call->inputs[given ? i : 0];
  }
  bool bounded = tensors[2] != tensors[0];
  map(call, bounded ? nd4c_value_clip : nd4c_value_maximum, as, bounded ? 3 : 2, tensors, 0, NULL);
  return ND4C_OK;
}

static nd4c_status gelu_run(const nd4c_call *call) {
  bool wide = call->inputs[0].dtype == ND4C_FLOAT64, approximate = ND4C_FLAG_OF(call, gelu_approximate);
  nd4c_value_function exact = wide ? nd4c_value_gelu_wide : nd4c_value_gelu;
  nd4c_value_function by_tanh = wide ? nd4c_value_gelu_tanh_wide : nd4c_value_gelu_tanh;
  return plain(call, approximate ? by_tanh : exact);
}

static nd4c_status nextafter_run(const nd4c_call *call) {
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

/* Copies the elements as integers of their size, so the dtypes of both operands are replaced. */
static nd4c_status bit_cast_run(const nd4c_call *call) {
  static const nd4c_dtype carriers[] = {[1] = ND4C_INT8, [2] = ND4C_INT16, [4] = ND4C_INT32, [8] = ND4C_INT64};
  int32_t bytes = nd4c_cpu_dtype_bytes(call->inputs[0].dtype);
  nd4c_call inner = *call;
  nd4c_tensor x = call->inputs[0], y = call->outputs[0];
  if (bytes <= 8) {
    x.dtype = y.dtype = carriers[bytes];
  }
  inner.inputs = &x;
  inner.outputs = &y;
  return plain(&inner, nd4c_value_copy);
}

static nd4c_status nan_to_num_run(const nd4c_call *call) {
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
  for (int32_t i = 0; i < tensor->rank; i++) {
    shape[i] = tensor->shape[i];
  }
  shape[axis] /= 2;
  part.shape = shape;
  part.size = tensor->size / 2;
  if (part.size > 0) {
    part.data = (char *)tensor->data + begin * tensor->strides[axis] * bytes;
  }
  return part;
}

/* The call of an op on parts of the operands. */
static nd4c_status run_on_parts(const nd4c_call *call, nd4c_value_function function, int32_t count,
                                const nd4c_tensor *inputs, const nd4c_tensor *output) {
  nd4c_call inner = *call;
  inner.input_count = count;
  inner.inputs = inputs;
  inner.outputs = output;
  return plain(&inner, function);
}

static nd4c_status glu_run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  int64_t shape[ND4C_CPU_MAX_RANK];
  int32_t axis = nd4c_axis(ND4C_INT_OF(call, glu_axis), x->rank);
  const nd4c_tensor halves[2] = {part_of(x, axis, 0, shape), part_of(x, axis, x->shape[axis] / 2, shape)};
  return run_on_parts(call, x->dtype == ND4C_FLOAT64 ? nd4c_value_glu_wide : nd4c_value_glu, 2, halves,
                      &call->outputs[0]);
}

static nd4c_status crelu_run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  int64_t shape[ND4C_CPU_MAX_RANK];
  int32_t axis = nd4c_axis(ND4C_INT_OF(call, crelu_axis), x->rank);
  const nd4c_tensor first = part_of(y, axis, 0, shape), second = part_of(y, axis, x->shape[axis], shape);
  (void)run_on_parts(call, nd4c_value_relu, 1, x, &first);
  return run_on_parts(call, nd4c_value_negative_relu, 1, x, &second);
}

/* -- kernels ------------------------------------------------------------------------------------------------------- */

/* Sets of dtypes of the first input. */
#define F ND4C_CPU_FLOATS
#define FC (ND4C_CPU_FLOATS | ND4C_CPU_COMPLEXES)
#define R ND4C_CPU_REALS
#define N ND4C_CPU_NUMBERS
#define A ND4C_CPU_ALL
#define BITS (ND4C_CPU_INTS | ND4C_CPU_BOOLS)
#define INTS ND4C_CPU_INTS

/* Ops that are alike: X(op, dtypes). */
#define ARCS(X) X(acos, FC) X(acosh, FC) X(asin, FC) X(asinh, FC) X(atan, FC) X(atanh, FC)
#define TANGENTS(X) X(cosh, FC) X(sinh, FC) X(tan, FC) X(tanh, FC)
#define POWERS(X) X(expm1, FC) X(log1p, FC) X(log2, FC) X(log10, FC) X(exp2, FC)
#define ROOTS(X) X(cbrt, F) X(rsqrt, F) X(erf, F) X(erfc, F) X(erfinv, F)
#define GAMMAS(X) X(lgamma, F) X(gamma, F) X(digamma, F) X(i0, F) X(i1, F)
#define ANGLES(X) X(sinc, F) X(deg2rad, F) X(rad2deg, F) X(logit, F) X(sigmoid, F)
#define RECTIFIERS(X) X(elu, F) X(selu, F) X(celu, F) X(softplus, F) X(mish, F) X(swish, F)
#define SQUASHES(X) X(log_sigmoid, F) X(tanh_shrink, F) X(rational_tanh, F) X(rectified_tanh, F)
#define SIGNED(X) X(negative, A) X(abs, A) X(sign, A) X(square, A) X(round, A) X(is_nan, A) X(logical_not, A)
#define ELEMENTARY(X) X(sqrt, FC) X(reciprocal, FC) X(exp, FC) X(log, FC) X(sin, FC) X(cos, FC) X(angle, FC)
#define ROUNDING(X) X(relu, R) X(floor, R) X(ceil, R) X(trunc, R) X(prelu, R)
#define COMPARING(X) X(equal, A) X(not_equal, A) X(less, A) X(less_equal, A) X(greater, A) X(greater_equal, A)
#define LOGICAL(X) X(logical_and, A) X(logical_or, A) X(logical_xor, A)
#define COMPLEX(X) X(is_finite, N) X(is_inf, N) X(conj, N) X(real, N) X(imag, N) X(is_close, N) X(cube, N)
#define INVERTED(X) X(bitwise_invert, BITS)
#define COUNTED(X) X(bit_count, INTS)
#define PARTS(X) X(frac, F) X(signbit, F) X(ldexp, F) X(softsign, F)
#define HARD(X) X(hard_sigmoid, F) X(hard_swish, F) X(hard_tanh, F) X(threshold, F) X(shrink, F)
#define ARITHMETIC(X) X(add, A) X(subtract, A) X(multiply, A) X(divide, A) X(power, A) X(maximum, A) X(minimum, A)
#define BITWISE(X) X(bitwise_and, BITS) X(bitwise_or, BITS) X(bitwise_xor, BITS)
#define WHOLE(X) X(bitwise_left_shift, INTS) X(bitwise_right_shift, INTS) X(gcd, INTS) X(lcm, INTS)
#define DIVIDING(X) X(floor_divide, R) X(remainder, R) X(fmod, R) X(fmax, R) X(fmin, R) X(squared_difference, R)
#define PAIRS(X) X(atan2, F) X(copysign, F) X(hypot, F) X(heaviside, F) X(divide_no_nan, F)
#define LOGS(X) X(logaddexp, F) X(logaddexp2, F) X(xlogy, F)
#define INCOMPLETE(X) X(igamma, F) X(igammac, F) X(betainc, F) X(zeta, F) X(polygamma, F)

#define WIDTH_OPS(X) ARCS(X) TANGENTS(X) POWERS(X) ROOTS(X) GAMMAS(X) ANGLES(X) RECTIFIERS(X) SQUASHES(X)
#define PLAIN_OPS(X) \
  SIGNED(X) ELEMENTARY(X) ROUNDING(X) COMPARING(X) LOGICAL(X) COMPLEX(X) INVERTED(X) COUNTED(X) PARTS(X) HARD(X)
#define PROMOTED_OPS(X) ARITHMETIC(X) BITWISE(X) WHOLE(X) DIVIDING(X) PAIRS(X) LOGS(X) INCOMPLETE(X)
#define OWN_OPS(X) \
  X(leaky_relu, F) \
  X(where, A)      \
  X(clip, R)       \
  X(bit_cast, A)   \
  X(gelu, F)       \
  X(nextafter, F)  \
  X(nan_to_num, F) \
  X(glu, F)        \
  X(crelu, R)
/* X(op, dtypes, expression) */
#define OTHER_OPS(X)                                                    \
  X(positive, N, plain(call, nd4c_value_copy))                          \
  X(true_divide, N, with_attributes(call, nd4c_value_divide, PROMOTED)) \
  X(swiglu, F, with_attributes(call, IN_WIDTH(outputs, swiglu), PROMOTED))
/* float64 wants the wider function. */
#define IN_WIDTH(operands, op) (call->operands[0].dtype == ND4C_FLOAT64 ? nd4c_value_##op##_wide : nd4c_value_##op)
/* Operands as the result's dtype. */
#define PROMOTED call->outputs[0].dtype
#define AS_THEY_ARE ((nd4c_dtype)ND4C_DTYPE_NONE)

#define RUN_WIDTHS(op, dtypes) \
  ND4C_CPU_REFERENCE_RUN(op, dtypes, with_attributes(call, IN_WIDTH(inputs, op), AS_THEY_ARE))
#define RUN_PLAIN(op, dtypes) ND4C_CPU_REFERENCE_RUN(op, dtypes, with_attributes(call, nd4c_value_##op, AS_THEY_ARE))
#define RUN_PROMOTED(op, dtypes) ND4C_CPU_REFERENCE_RUN(op, dtypes, with_attributes(call, nd4c_value_##op, PROMOTED))
WIDTH_OPS(RUN_WIDTHS)
PLAIN_OPS(RUN_PLAIN)
PROMOTED_OPS(RUN_PROMOTED)
OTHER_OPS(ND4C_CPU_REFERENCE_RUN)

static nd4c_status copy_run(const nd4c_call *call) {
  return plain(call, nd4c_value_copy);
}

/* The attribute `dtype` needs no reading here: the output has it. */
static nd4c_status cast_run(const nd4c_call *call) {
  nd4c_cpu_reference_map(call, nd4c_value_copy, PROMOTED, 0, NULL);
  return ND4C_OK;
}

#define ROW(op, dtypes) ND4C_CPU_REFERENCE_KERNEL(op, dtypes, op##_run),
const nd4c_kernel *const nd4c_cpu_reference_elementwise_kernels[] = {
    WIDTH_OPS(ROW) PLAIN_OPS(ROW) PROMOTED_OPS(ROW) OWN_OPS(ROW) OTHER_OPS(ND4C_CPU_REFERENCE_ROW)
        ND4C_CPU_REFERENCE_KERNEL_IF(copy, ND4C_CPU_STORED, nd4c_cpu_reference_stored, copy_run),
    ND4C_CPU_REFERENCE_KERNEL_IF(cast, ND4C_CPU_STORED, nd4c_cpu_reference_stored, cast_run), NULL};
