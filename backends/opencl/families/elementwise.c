/* Element-wise ops: one row for each op; the function itself is an expression of
 * kernels/opencl/elementwise/elementwise.cl, compiled for the operands' dtypes. dispatch/choice.c asks these kernels
 * for arrays on OpenCL devices. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "backends/opencl/support/moving.h"

enum { MOST_INPUTS = 3, NUMBERS = 3, MOST_RANK = 32 };

/* The dtype to which each input is converted before the function is applied. */
typedef enum mode {
  PROMOTED = 1, /* the output's dtype */
  OWN,          /* the first input's */
  COMPARED,     /* a dtype that holds all values of both; float64 if there is none */
  TRUTHS,       /* each input's own: the function tests only whether it is 0 */
  CHOSEN,       /* where: a bool, then two values of the output's dtype */
  SCALED,       /* ldexp: a number and an integer */
  CARRIED       /* none: the bits are copied */
} mode;

/* The precision in which float32 is computed. FLOAT: float, by one function of OpenCL, whose error the specification
 * bounds. DOUBLE: double if the device has it, because the errors of several functions add up. ONLY_DOUBLE: double. */
typedef enum width { FLOAT, DOUBLE, ONLY_DOUBLE } width;

/* Whether a function computes with pairs of numbers whose sum has twice the precision. PLAIN: no. BUILTIN: no, and the
 * function is OpenCL's. PAIRED: with pairs of floats for float32 on devices without float64. WIDE: as PAIRED, and with
 * pairs of doubles for float64. Both use precise.cl, and the function's name then ends with _wide. SPECIAL: always, by
 * special.cl. INCOMPLETE: always, by special.cl and incomplete.cl. */
typedef enum accuracy { PLAIN, BUILTIN, PAIRED, WIDE, SPECIAL, INCOMPLETE } accuracy;

typedef struct row {
  const char *function; /* of elementwise.cl */
  mode mode;
  width width;
  accuracy accuracy;
} row;

#define BITS (ND4C_CL_INTS | ND4C_DTYPE_BIT(ND4C_BOOL))

/* X(op, function, mode, width, accuracy, dtypes of the first input) */
#define PLAIN_OPS(X)                                           \
  X(negative, negative, OWN, FLOAT, PLAIN, ND4C_CL_REALS)      \
  X(abs, abs, OWN, FLOAT, PLAIN, ND4C_CL_REALS)                \
  X(sign, sign, OWN, FLOAT, PLAIN, ND4C_CL_REALS)              \
  X(square, square, OWN, FLOAT, PLAIN, ND4C_CL_REALS)          \
  X(cube, cube, OWN, DOUBLE, PLAIN, ND4C_CL_REALS)             \
  X(floor, floor, OWN, FLOAT, PLAIN, ND4C_CL_REALS)            \
  X(ceil, ceil, OWN, FLOAT, PLAIN, ND4C_CL_REALS)              \
  X(round, round, OWN, FLOAT, PLAIN, ND4C_CL_REALS)            \
  X(trunc, trunc, OWN, FLOAT, PLAIN, ND4C_CL_REALS)            \
  X(frac, frac, OWN, FLOAT, PLAIN, ND4C_CL_FLOATS)             \
  X(is_nan, is_nan, OWN, FLOAT, PLAIN, ND4C_CL_REALS)          \
  X(is_finite, is_finite, OWN, FLOAT, PLAIN, ND4C_CL_REALS)    \
  X(is_inf, is_inf, OWN, FLOAT, PLAIN, ND4C_CL_REALS)          \
  X(signbit, signbit, OWN, FLOAT, PLAIN, ND4C_CL_FLOATS)       \
  X(angle, angle, OWN, FLOAT, PLAIN, ND4C_CL_FLOATS)           \
  X(imag, imag, OWN, FLOAT, PLAIN, ND4C_CL_REALS)              \
  X(bitwise_invert, bitwise_invert, OWN, FLOAT, PLAIN, BITS)   \
  X(bit_count, bit_count, OWN, FLOAT, PLAIN, ND4C_CL_INTS)     \
  X(nan_to_num, nan_to_num, OWN, FLOAT, PLAIN, ND4C_CL_FLOATS) \
  X(logical_not, logical_not, OWN, FLOAT, PLAIN, ND4C_CL_ALL)  \
  X(cast, cast, PROMOTED, FLOAT, PLAIN, ND4C_CL_ALL)           \
  X(copy, copy, CARRIED, FLOAT, PLAIN, ND4C_CL_ALL)            \
  X(positive, copy, CARRIED, FLOAT, PLAIN, ND4C_CL_REALS)      \
  X(conj, copy, CARRIED, FLOAT, PLAIN, ND4C_CL_REALS)          \
  X(real, copy, CARRIED, FLOAT, PLAIN, ND4C_CL_REALS)          \
  X(bit_cast, copy, CARRIED, FLOAT, PLAIN, ND4C_CL_ALL)        \
  X(full, copy, CARRIED, FLOAT, PLAIN, ND4C_CL_ALL)            \
  X(full_like, copy, CARRIED, FLOAT, PLAIN, ND4C_CL_ALL)
#define ELEMENTARY_OPS(X)                                      \
  X(sqrt, sqrt, OWN, FLOAT, BUILTIN, ND4C_CL_FLOATS)           \
  X(rsqrt, rsqrt, OWN, FLOAT, PLAIN, ND4C_CL_FLOATS)           \
  X(cbrt, cbrt, OWN, FLOAT, BUILTIN, ND4C_CL_FLOATS)           \
  X(reciprocal, reciprocal, OWN, FLOAT, PLAIN, ND4C_CL_FLOATS) \
  X(exp, exp, OWN, FLOAT, BUILTIN, ND4C_CL_FLOATS)             \
  X(exp2, exp2, OWN, FLOAT, BUILTIN, ND4C_CL_FLOATS)           \
  X(expm1, expm1, OWN, FLOAT, BUILTIN, ND4C_CL_FLOATS)         \
  X(log, log, OWN, FLOAT, BUILTIN, ND4C_CL_FLOATS)             \
  X(log2, log2, OWN, FLOAT, BUILTIN, ND4C_CL_FLOATS)           \
  X(log10, log10, OWN, FLOAT, BUILTIN, ND4C_CL_FLOATS)         \
  X(log1p, log1p, OWN, FLOAT, BUILTIN, ND4C_CL_FLOATS)         \
  X(sin, sin, OWN, FLOAT, BUILTIN, ND4C_CL_FLOATS)             \
  X(cos, cos, OWN, FLOAT, BUILTIN, ND4C_CL_FLOATS)             \
  X(tan, tan, OWN, FLOAT, BUILTIN, ND4C_CL_FLOATS)             \
  X(asin, asin, OWN, FLOAT, BUILTIN, ND4C_CL_FLOATS)           \
  X(acos, acos, OWN, FLOAT, BUILTIN, ND4C_CL_FLOATS)           \
  X(atan, atan, OWN, FLOAT, BUILTIN, ND4C_CL_FLOATS)           \
  X(sinh, sinh, OWN, FLOAT, BUILTIN, ND4C_CL_FLOATS)           \
  X(cosh, cosh, OWN, FLOAT, BUILTIN, ND4C_CL_FLOATS)           \
  X(tanh, tanh, OWN, FLOAT, BUILTIN, ND4C_CL_FLOATS)           \
  X(asinh, asinh, OWN, FLOAT, BUILTIN, ND4C_CL_FLOATS)         \
  X(acosh, acosh, OWN, FLOAT, BUILTIN, ND4C_CL_FLOATS)         \
  X(atanh, atanh, OWN, FLOAT, BUILTIN, ND4C_CL_FLOATS)         \
  X(erf, erf, OWN, FLOAT, BUILTIN, ND4C_CL_FLOATS)             \
  X(erfc, erfc, OWN, FLOAT, BUILTIN, ND4C_CL_FLOATS)           \
  X(deg2rad, deg2rad, OWN, DOUBLE, PLAIN, ND4C_CL_FLOATS)      \
  X(rad2deg, rad2deg, OWN, DOUBLE, PLAIN, ND4C_CL_FLOATS)
#define ACTIVATION_OPS(X)                                            \
  X(relu, relu, OWN, FLOAT, PLAIN, ND4C_CL_REALS)                    \
  X(leaky_relu, leaky_relu, OWN, FLOAT, PLAIN, ND4C_CL_FLOATS)       \
  X(elu, elu, OWN, DOUBLE, PLAIN, ND4C_CL_FLOATS)                    \
  X(selu, selu, OWN, DOUBLE, PLAIN, ND4C_CL_FLOATS)                  \
  X(celu, celu, OWN, DOUBLE, PLAIN, ND4C_CL_FLOATS)                  \
  X(sigmoid, sigmoid, OWN, DOUBLE, PLAIN, ND4C_CL_FLOATS)            \
  X(log_sigmoid, log_sigmoid, OWN, DOUBLE, PLAIN, ND4C_CL_FLOATS)    \
  X(hard_sigmoid, hard_sigmoid, OWN, DOUBLE, PAIRED, ND4C_CL_FLOATS) \
  X(hard_swish, hard_swish, OWN, DOUBLE, PAIRED, ND4C_CL_FLOATS)     \
  X(hard_tanh, hard_tanh, OWN, FLOAT, PLAIN, ND4C_CL_FLOATS)         \
  X(swish, swish, OWN, DOUBLE, PAIRED, ND4C_CL_FLOATS)               \
  X(mish, mish, OWN, DOUBLE, PAIRED, ND4C_CL_FLOATS)                 \
  X(gelu, gelu, OWN, DOUBLE, PLAIN, ND4C_CL_FLOATS)                  \
  X(softplus, softplus, OWN, DOUBLE, PLAIN, ND4C_CL_FLOATS)          \
  X(softsign, softsign, OWN, DOUBLE, PLAIN, ND4C_CL_FLOATS)          \
  X(shrink, shrink, OWN, DOUBLE, PLAIN, ND4C_CL_FLOATS)              \
  X(threshold, threshold, OWN, DOUBLE, PLAIN, ND4C_CL_FLOATS)        \
  X(tanh_shrink, tanh_shrink, OWN, DOUBLE, WIDE, ND4C_CL_FLOATS)     \
  X(rational_tanh, rational_tanh, OWN, DOUBLE, WIDE, ND4C_CL_FLOATS) \
  X(rectified_tanh, rectified_tanh, OWN, DOUBLE, PLAIN, ND4C_CL_FLOATS)
#define PAIR_OPS(X)                                                                 \
  X(add, add, PROMOTED, FLOAT, PLAIN, ND4C_CL_ALL)                                  \
  X(subtract, subtract, PROMOTED, FLOAT, PLAIN, ND4C_CL_ALL)                        \
  X(multiply, multiply, PROMOTED, FLOAT, PLAIN, ND4C_CL_ALL)                        \
  X(divide, divide, PROMOTED, FLOAT, PLAIN, ND4C_CL_ALL)                            \
  X(true_divide, divide, PROMOTED, FLOAT, PLAIN, ND4C_CL_ALL)                       \
  X(divide_no_nan, divide_no_nan, PROMOTED, FLOAT, PLAIN, ND4C_CL_FLOATS)           \
  X(power, power, PROMOTED, FLOAT, PLAIN, ND4C_CL_ALL)                              \
  X(maximum, maximum, PROMOTED, FLOAT, PLAIN, ND4C_CL_ALL)                          \
  X(minimum, minimum, PROMOTED, FLOAT, PLAIN, ND4C_CL_ALL)                          \
  X(fmax, fmax, PROMOTED, FLOAT, PLAIN, ND4C_CL_REALS)                              \
  X(fmin, fmin, PROMOTED, FLOAT, PLAIN, ND4C_CL_REALS)                              \
  X(fmod, fmod, PROMOTED, FLOAT, PLAIN, ND4C_CL_REALS)                              \
  X(remainder, remainder, PROMOTED, FLOAT, PLAIN, ND4C_CL_REALS)                    \
  X(floor_divide, floor_divide, PROMOTED, DOUBLE, PLAIN, ND4C_CL_REALS)             \
  X(squared_difference, squared_difference, PROMOTED, DOUBLE, PLAIN, ND4C_CL_REALS) \
  X(atan2, atan2, PROMOTED, FLOAT, PLAIN, ND4C_CL_FLOATS)                           \
  X(hypot, hypot, PROMOTED, FLOAT, PLAIN, ND4C_CL_FLOATS)                           \
  X(copysign, copysign, PROMOTED, FLOAT, PLAIN, ND4C_CL_FLOATS)                     \
  X(heaviside, heaviside, PROMOTED, FLOAT, PLAIN, ND4C_CL_FLOATS)                   \
  X(nextafter, nextafter, PROMOTED, FLOAT, PLAIN, ND4C_CL_FLOATS)                   \
  X(logaddexp, logaddexp, PROMOTED, DOUBLE, WIDE, ND4C_CL_FLOATS)                   \
  X(logaddexp2, logaddexp2, PROMOTED, DOUBLE, WIDE, ND4C_CL_FLOATS)                 \
  X(xlogy, xlogy, PROMOTED, DOUBLE, WIDE, ND4C_CL_FLOATS)                           \
  X(glu, glu, OWN, DOUBLE, WIDE, ND4C_CL_FLOATS)                                    \
  X(crelu, relu, OWN, FLOAT, PLAIN, ND4C_CL_REALS)                                  \
  X(swiglu, swiglu, PROMOTED, DOUBLE, WIDE, ND4C_CL_FLOATS)                         \
  X(prelu, prelu, PROMOTED, FLOAT, PLAIN, ND4C_CL_REALS)                            \
  X(ldexp, ldexp, SCALED, FLOAT, PLAIN, ND4C_CL_FLOATS)                             \
  X(is_close, is_close, COMPARED, DOUBLE, PLAIN, ND4C_CL_REALS)                     \
  X(gcd, gcd, PROMOTED, FLOAT, PLAIN, ND4C_CL_INTS)                                 \
  X(lcm, lcm, PROMOTED, FLOAT, PLAIN, ND4C_CL_INTS)                                 \
  X(bitwise_and, bitwise_and, PROMOTED, FLOAT, PLAIN, BITS)                         \
  X(bitwise_or, bitwise_or, PROMOTED, FLOAT, PLAIN, BITS)                           \
  X(bitwise_xor, bitwise_xor, PROMOTED, FLOAT, PLAIN, BITS)                         \
  X(bitwise_left_shift, bitwise_left_shift, PROMOTED, FLOAT, PLAIN, ND4C_CL_INTS)   \
  X(bitwise_right_shift, bitwise_right_shift, PROMOTED, FLOAT, PLAIN, ND4C_CL_INTS) \
  X(equal, equal, COMPARED, FLOAT, PLAIN, ND4C_CL_ALL)                              \
  X(not_equal, not_equal, COMPARED, FLOAT, PLAIN, ND4C_CL_ALL)                      \
  X(less, less, COMPARED, FLOAT, PLAIN, ND4C_CL_ALL)                                \
  X(less_equal, less_equal, COMPARED, FLOAT, PLAIN, ND4C_CL_ALL)                    \
  X(greater, greater, COMPARED, FLOAT, PLAIN, ND4C_CL_ALL)                          \
  X(greater_equal, greater_equal, COMPARED, FLOAT, PLAIN, ND4C_CL_ALL)              \
  X(logical_and, logical_and, TRUTHS, FLOAT, PLAIN, ND4C_CL_ALL)                    \
  X(logical_or, logical_or, TRUTHS, FLOAT, PLAIN, ND4C_CL_ALL)                      \
  X(logical_xor, logical_xor, TRUTHS, FLOAT, PLAIN, ND4C_CL_ALL)                    \
  X(where, where, CHOSEN, FLOAT, PLAIN, ND4C_CL_ALL)                                \
  X(clip, clip, OWN, FLOAT, PLAIN, ND4C_CL_REALS)
#define SPECIAL_OPS(X)                                                   \
  X(lgamma, lgamma, OWN, ONLY_DOUBLE, SPECIAL, ND4C_CL_FLOATS)           \
  X(gamma, gamma, OWN, ONLY_DOUBLE, SPECIAL, ND4C_CL_FLOATS)             \
  X(digamma, digamma, OWN, ONLY_DOUBLE, SPECIAL, ND4C_CL_FLOATS)         \
  X(erfinv, erfinv, OWN, ONLY_DOUBLE, SPECIAL, ND4C_CL_FLOATS)           \
  X(i0, i0, OWN, ONLY_DOUBLE, SPECIAL, ND4C_CL_FLOATS)                   \
  X(i1, i1, OWN, ONLY_DOUBLE, SPECIAL, ND4C_CL_FLOATS)                   \
  X(sinc, sinc, OWN, ONLY_DOUBLE, SPECIAL, ND4C_CL_FLOATS)               \
  X(logit, logit, OWN, ONLY_DOUBLE, SPECIAL, ND4C_CL_FLOATS)             \
  X(igamma, igamma, PROMOTED, ONLY_DOUBLE, INCOMPLETE, ND4C_CL_FLOATS)   \
  X(igammac, igammac, PROMOTED, ONLY_DOUBLE, INCOMPLETE, ND4C_CL_FLOATS) \
  X(betainc, betainc, PROMOTED, ONLY_DOUBLE, INCOMPLETE, ND4C_CL_FLOATS) \
  X(zeta, zeta, PROMOTED, ONLY_DOUBLE, SPECIAL, ND4C_CL_FLOATS)          \
  X(polygamma, polygamma, PROMOTED, ONLY_DOUBLE, SPECIAL, ND4C_CL_FLOATS)
#define ALL_OPS(X) SPECIAL_OPS(X) PLAIN_OPS(X) ELEMENTARY_OPS(X) ACTIVATION_OPS(X) PAIR_OPS(X)

static const row *row_of(const nd4c_call *call) {
#define ROW(op, function, mode, width, accuracy, dtypes) [ND4C_OP_##op] = {#function, mode, width, accuracy},
  static const row rows[] = {ALL_OPS(ROW)};
#undef ROW
  return call->op->op < sizeof rows / sizeof rows[0] ? &rows[call->op->op] : NULL;
}

/* -- dtypes ---------------------------------------------------------------------------------------------- */

static bool is_signed(nd4c_dtype dtype) {
  return dtype >= ND4C_INT8 && dtype <= ND4C_INT64;
}

static bool is_wide_integer(nd4c_dtype dtype) {
  return dtype == ND4C_INT64 || dtype == ND4C_UINT64;
}

/* The unsigned dtype with as many bits as an element. */
static nd4c_dtype carrier_of(nd4c_dtype dtype) {
  static const nd4c_dtype carriers[] = {[1] = ND4C_UINT8, [2] = ND4C_UINT16, [4] = ND4C_UINT32, [8] = ND4C_UINT64};
  return carriers[nd4c_cl_element_bytes(dtype)];
}

/* The dtype in which both operands are compared. *signs is 1 or 2 if a uint64 meets a signed integer: the position of
 * the signed one. */
static nd4c_dtype compared_as(nd4c_dtype a, nd4c_dtype b, int *signs) {
  if (a == b) {
    return a;
  }
  if (!nd4c_cl_is_float(a) && !nd4c_cl_is_float(b)) {
    bool mixed = (a == ND4C_UINT64 && is_signed(b)) || (b == ND4C_UINT64 && is_signed(a));
    *signs = !mixed ? 0 : is_signed(a) ? 1 : 2;
    return mixed || is_signed(a) || is_signed(b) ? ND4C_INT64 : ND4C_UINT64;
  }
  bool narrow = nd4c_cl_is_float(a) && nd4c_cl_is_float(b) && a != ND4C_FLOAT64 && b != ND4C_FLOAT64;
  return narrow ? ND4C_FLOAT32 : ND4C_FLOAT64;
}

/* -- the call, resolved ---------------------------------------------------------------------------------- */

/* A launch: the inputs, the dtype that each is converted to, and the dtype of the computation. */
typedef struct plan {
  const row *row;
  const char *function;
  int32_t count;
  nd4c_tensor inputs[MOST_INPUTS], output;
  nd4c_dtype as[MOST_INPUTS], computed; /* computed: the dtype that the function takes */
  bool in_double, own_a, own_b;         /* own_a, own_b: the operand is not converted */
  int signs;
  nd4c_cl_walk walk;
  int64_t half_shape[MOST_RANK];
  int32_t half; /* 0 or 1: half of the output, if the op takes two launches */
} plan;

/* The first or second half of a tensor along an axis. */
static nd4c_tensor half_of(const nd4c_tensor *tensor, int32_t axis, int32_t half, int64_t *shape) {
  nd4c_tensor part = *tensor;
  memcpy(shape, tensor->shape, (size_t)tensor->rank * sizeof *shape);
  shape[axis] /= 2;
  part.shape = shape;
  part.size /= 2;
  part.offset += half * shape[axis] * tensor->strides[axis];
  return part;
}

/* Sets the inputs and the function of a launch. In clip, x stands for a low bound that was left out, which changes
 * nothing; if the high bound was left out, the function is maximum(x, low). */
static void take_inputs(const nd4c_call *call, plan *p) {
  nd4c_op op = call->op->op;
  p->function = p->row->function;
  if (op == ND4C_OP_full || op == ND4C_OP_full_like) { /* the one element of the last input */
    p->count = 1;
    p->inputs[0] = call->inputs[call->input_count - 1];
    p->inputs[0].rank = 0;
  } else if (op == ND4C_OP_glu) {
    const nd4c_tensor *x = &call->inputs[0];
    int32_t axis = nd4c_axis(ND4C_INT_OF(call, glu_axis), x->rank);
    p->count = 2;
    p->inputs[0] = half_of(x, axis, 0, p->half_shape);
    p->inputs[1] = half_of(x, axis, 1, p->half_shape);
  } else if (op == ND4C_OP_crelu) {
    const nd4c_tensor *y = &call->outputs[0];
    p->count = 1;
    p->inputs[0] = call->inputs[0];
    p->output = half_of(y, nd4c_axis(ND4C_INT_OF(call, crelu_axis), y->rank), p->half, p->half_shape);
    p->function = p->half == 0 ? "relu" : "negative_relu";
  } else {
    bool clip = op == ND4C_OP_clip;
    p->count = clip ? (nd4c_cl_input(call, 2) != NULL ? 3 : 2) : call->input_count;
    for (int32_t i = 0; i < p->count; i++) {
      p->inputs[i] = call->inputs[nd4c_cl_input(call, i) != NULL ? i : 0];
    }
    p->function = clip && p->count == 2 ? "maximum" : p->function;
  }
}

static void take_dtypes(plan *p) {
  nd4c_dtype a = p->inputs[0].dtype, y = p->output.dtype;
  nd4c_dtype common = p->row->mode == PROMOTED || p->row->mode == CHOSEN ? y : a;
  if (p->row->mode == COMPARED) {
    common = compared_as(a, p->inputs[1].dtype, &p->signs);
  }
  if (p->row->mode == CARRIED) {
    common = carrier_of(a);
    p->inputs[0].dtype = p->output.dtype = common;
  }
  p->own_a = p->row->mode == TRUTHS || p->row->mode == CHOSEN;
  p->own_b = p->row->mode == TRUTHS || p->row->mode == SCALED;
  p->computed = common;
  for (int32_t i = 0; i < p->count; i++) {
    bool own = (i == 0 && p->own_a) || (i == 1 && p->own_b);
    p->as[i] = own ? p->inputs[i].dtype : common;
  }
}

/* Fills in all that the launch needs. */
static nd4c_status make_plan(const nd4c_cl_step *step, int32_t half, plan *p) {
  const nd4c_call *call = step->call;
  memset(p, 0, offsetof(plan, walk));
  p->row = row_of(call);
  p->half = half;
  p->output = call->outputs[0];
  take_inputs(call, p);
  take_dtypes(p);
  const nd4c_tensor *tensors[MOST_INPUTS + 1] = {&p->output};
  for (int32_t i = 0; i < p->count; i++) {
    tensors[i + 1] = &p->inputs[i];
  }
  const nd4c_cl_limits *limits = nd4c_cl_device_limits(call->device);
  bool narrow_real = nd4c_cl_is_float(p->computed) && p->computed != ND4C_FLOAT64;
  p->in_double = nd4c_cl_is_float(p->computed) && (!narrow_real || (p->row->width != FLOAT && limits->has_fp64));
  bool needs_fp64 = p->computed == ND4C_FLOAT64 || p->row->width == ONLY_DOUBLE ||
                    (p->row->mode == COMPARED && p->row->width == DOUBLE && !narrow_real);
  if (needs_fp64 && nd4c_cl_is_dry(step)) {
    ND4C_BACKEND_TRY(nd4c_cl_step_fp64(step));
  }
  return nd4c_cl_step_walk_tensors(step, &p->walk, p->output.rank, p->output.shape, p->count + 1, tensors);
}

/* -- launching ------------------------------------------------------------------------------------------- */

static void define_as(nd4c_cl_options *options, const char *name, nd4c_dtype dtype) {
  nd4c_cl_define(options, name, "%s", nd4c_cl_dtype_name(dtype));
}

static void define_numbers(nd4c_cl_options *options, const nd4c_call *call, const plan *p) {
  const char *number = "float", *bits = "uint", *letter = "F", *kind = "KIND_REAL";
  if (nd4c_cl_is_float(p->computed)) {
    number = p->in_double ? "double" : "float";
    letter = p->in_double ? "D" : "F";
  } else {
    bool wide = is_wide_integer(p->computed), with_sign = is_signed(p->computed);
    number = wide ? (with_sign ? "long" : "ulong") : with_sign ? "int" : "uint";
    bits = wide ? "ulong" : "uint";
    letter = with_sign ? "I" : "U";
    kind = with_sign ? "KIND_INTEGER" : "KIND_UNSIGNED";
  }
  bool to_integer = p->output.dtype == ND4C_BOOL || call->op->op == ND4C_OP_bit_count;
  nd4c_cl_define(options, "NUM", "%s", number);
  nd4c_cl_define(options, "BITS", "%s", bits);
  nd4c_cl_define(options, "KIND", "%s", kind);
  nd4c_cl_define(options, "RESULT", "%s", to_integer ? "I" : letter);
  nd4c_cl_define(options, "NUMBER", "%s", nd4c_cl_wide(call) ? "double" : "float");
}

/* The function computes with pairs of floats. */
static bool in_pairs(const nd4c_call *call, const plan *p) {
  return (p->row->accuracy == PAIRED || p->row->accuracy == WIDE) && p->computed == ND4C_FLOAT32 && !nd4c_cl_wide(call);
}

/* The function computes with pairs of doubles. */
static bool in_wide_pairs(const plan *p) {
  return p->row->accuracy == WIDE && p->computed == ND4C_FLOAT64;
}

static void define_all(nd4c_cl_options *options, const nd4c_call *call, const plan *p) {
  static const char *const as_names[MOST_INPUTS] = {"AS_A", "AS_B", "AS_C"};
  bool paired = in_pairs(call, p);
  bool builtin = p->row->accuracy == BUILTIN;
  const char *function = builtin ? "builtin" : p->function;
  nd4c_cl_define(options, "OP", "op_%s%s", function, paired || in_wide_pairs(p) ? "_wide" : "");
  if (builtin) {
    nd4c_cl_define(options, "BUILTIN", "%s", p->function);
  }
  nd4c_cl_define_if(options, paired, "PAIRS");
  nd4c_cl_define(options, "INPUTS", "%d", (int)p->count);
  for (int32_t i = 0; i < p->count; i++) {
    nd4c_cl_define_type(options, (char)('A' + i), p->inputs[i].dtype);
    define_as(options, as_names[i], p->as[i]);
  }
  nd4c_cl_define_type(options, 'Y', p->output.dtype);
  define_numbers(options, call, p);
  if (p->own_a) {
    nd4c_cl_define(options, "NUM_A", "COMPUTE(A)");
  }
  if (p->own_b) {
    bool scaled = p->row->mode == SCALED, with_sign = is_signed(p->inputs[1].dtype);
    nd4c_cl_define(options, "NUM_B", "%s", !scaled ? "COMPUTE(B)" : with_sign ? "long" : "ulong");
    nd4c_cl_define(options, "B_SIGNED", "%d", with_sign);
  }
  nd4c_cl_define_if(options, p->computed == ND4C_BOOL, "OF_BOOL");
  if (p->signs != 0) {
    nd4c_cl_define(options, "MIXED_SIGNS", "%d", p->signs);
  }
  if (call->op->op == ND4C_OP_nextafter && (p->computed == ND4C_FLOAT16 || p->computed == ND4C_BFLOAT16)) {
    define_as(options, "STEP16", p->computed);
  }
  nd4c_cl_define_index(options, call);
}

static double largest_of(nd4c_dtype dtype) {
  return dtype == ND4C_FLOAT16    ? 65504
         : dtype == ND4C_BFLOAT16 ? 0x1.fep127
         : dtype == ND4C_FLOAT32  ? 0x1.fffffep127
                                  : 0x1.fffffffffffffp1023;
}

/* The attributes as numbers, in the order of the schema. */
static void take_numbers(const nd4c_call *call, double *numbers) {
  for (int32_t i = 0; i < call->op->attr_count && i < NUMBERS; i++) {
    bool real = call->op->attrs[i].preset.kind == ND4C_ATTR_FLOAT;
    numbers[i] = real ? call->attrs[i].as.f : (double)call->attrs[i].as.i;
    double largest = largest_of(call->outputs[0].dtype);
    if (call->op->op == ND4C_OP_nan_to_num && fabs(numbers[i]) > largest && !isinf(numbers[i])) {
      numbers[i] = copysign(largest, numbers[i]);
    }
  }
}

/* Passes the attributes. For pairs, the second numbers of the pairs follow all first ones. */
static void add_numbers(nd4c_cl_launch *launch, const nd4c_call *call, const plan *p) {
  bool pairs = in_pairs(call, p);
  double numbers[2 * NUMBERS] = {0};
  take_numbers(call, numbers);
  for (int32_t i = 0; i < NUMBERS && pairs; i++) {
    float parts[2];
    /* Finite numbers stay finite, because they may be multiplied by 0. */
    bool beyond = isfinite(numbers[i]) && fabs(numbers[i]) > FLT_MAX;
    numbers[i] = beyond ? copysign(FLT_MAX, numbers[i]) : numbers[i];
    nd4c_cl_pair_of(numbers[i], parts);
    numbers[NUMBERS + i] = parts[1];
  }
  ND4C_CL_ARGS(launch, {.kind = ND4C_CL_GIVEN_REALS, .at = numbers, .count = pairs ? 2 * NUMBERS : NUMBERS});
}

static nd4c_status launch_plan(const nd4c_call *call, const plan *p) {
  nd4c_cl_options options = {""};
  define_all(&options, call, p);
  bool flat = p->walk.rank <= 1;
  const char *source = p->row->accuracy == INCOMPLETE          ? "convert+wide+special+incomplete+elementwise"
                       : p->row->accuracy == SPECIAL           ? "convert+wide+special+elementwise"
                       : in_pairs(call, p) || in_wide_pairs(p) ? "convert+wide+precise+elementwise"
                                                               : "convert+elementwise";
  nd4c_cl_launch launch;
  ND4C_BACKEND_TRY(nd4c_cl_begin(&launch, call, source, flat ? "flat" : "walked", &options));
  for (int32_t i = 0; i < p->count; i++) {
    ND4C_CL_ARGS(&launch, ND4C_CL_IN(&p->inputs[i]));
  }
  ND4C_CL_ARGS(&launch, ND4C_CL_OUT(&p->output));
  if (flat) {
    const int64_t(*strides)[ND4C_CL_RANK] = p->walk.strides;
    ND4C_CL_ARGS(&launch, ND4C_CL_LONG(p->walk.size, strides[1][0], strides[2][0], strides[3][0], strides[0][0]));
  } else {
    ND4C_CL_ARGS(&launch, ND4C_CL_VALUE(p->walk));
  }
  add_numbers(&launch, call, p);
  return nd4c_cl_launch_run(&launch, 1, &p->walk.size, NULL);
}

static nd4c_status compute(const nd4c_cl_step *step) {
  int32_t launches = step->call->op->op == ND4C_OP_crelu ? 2 : 1;
  ND4C_BACKEND_TRY(nd4c_cl_is_dry(step) ? nd4c_cl_step_call(step) : ND4C_OK);
  for (int32_t half = 0; half < launches; half++) {
    plan p;
    ND4C_BACKEND_TRY(make_plan(step, half, &p));
    ND4C_BACKEND_TRY(nd4c_cl_is_dry(step) ? ND4C_OK : launch_plan(step->call, &p));
  }
  return ND4C_OK;
}

/* -- kernels --------------------------------------------------------------------------------------------- */

ND4C_CL_STEP(compute, compute(step))
#define DEFINE_KERNEL(op_name, function, mode, width, accuracy, dtype_set) \
  ND4C_CL_KERNEL(op_name, dtype_set, compute_usable, compute_run, NULL)
ALL_OPS(DEFINE_KERNEL)

const nd4c_kernel *const nd4c_cl_elementwise_kernels[] = {ALL_OPS(ND4C_CL_LISTED) NULL};
