/* Element-wise ops on wide values. Results of 32-bit and narrower types are rounded when they are stored. compute.c
 * lists these functions. */
#include <complex.h>
#include <math.h>

#include "stub.h"

#ifdef CMPLX
#define MAKE_COMPLEX(re, im) CMPLX(re, im)
#else
#define MAKE_COMPLEX(re, im) ((re) + (im) * I)
#endif

static double gelu(double x, bool approximate) {
  return approximate ? 0.5 * x * (1.0 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)))
                     : 0.5 * x * erfc(-x * 0.70710678118654752440);
}

double stub_activate(int64_t activation, double x) {
  switch (activation) {
    case ND4C_ACTIVATION_RELU:
      return isnan(x) || x > 0 ? x : 0.0;
    case ND4C_ACTIVATION_GELU:
    case ND4C_ACTIVATION_GELU_TANH:
      return gelu(x, activation == ND4C_ACTIVATION_GELU_TANH);
    case ND4C_ACTIVATION_SIGMOID:
      return 1.0 / (1.0 + exp(-x));
    case ND4C_ACTIVATION_TANH:
      return tanh(x);
    case ND4C_ACTIVATION_SWISH:
      return x / (1.0 + exp(-x));
    case ND4C_ACTIVATION_HARD_SWISH:
      return x * fmin(fmax(x / 6.0 + 0.5, 0.0), 1.0);
    case ND4C_ACTIVATION_RELU6:
      return isnan(x) ? x : fmin(fmax(x, 0.0), 6.0);
    default:
      return x;
  }
}

static double real_unary(const stub_work *work, double x) {
  switch (work->op) {
    case ND4C_OP_negative:
      return -x;
    case ND4C_OP_abs:
      return fabs(x);
    case ND4C_OP_sign:
      return isnan(x) ? x : (double)((x > 0) - (x < 0));
    case ND4C_OP_square:
      return x * x;
    case ND4C_OP_sqrt:
      return sqrt(x);
    case ND4C_OP_reciprocal:
      return 1.0 / x;
    case ND4C_OP_exp:
      return exp(x);
    case ND4C_OP_log:
      return log(x);
    case ND4C_OP_sin:
      return sin(x);
    case ND4C_OP_cos:
      return cos(x);
    case ND4C_OP_tanh:
      return tanh(x);
    case ND4C_OP_erf:
      return erf(x);
    case ND4C_OP_sigmoid:
      return 1.0 / (1.0 + exp(-x));
    case ND4C_OP_relu:
      return isnan(x) || x > 0 ? x : 0.0;
    case ND4C_OP_leaky_relu:
      return x >= 0 || isnan(x) ? x : x * work->attrs[ND4C_ATTR_leaky_relu_alpha].as.f;
    case ND4C_OP_gelu:
      return gelu(x, work->attrs[ND4C_ATTR_gelu_approximate].as.i != 0);
    case ND4C_OP_floor:
      return floor(x);
    case ND4C_OP_ceil:
      return ceil(x);
    case ND4C_OP_round:
      return nearbyint(x);
    default: /* copy */
      return x;
  }
}

static double complex complex_unary(nd4c_op op, double complex x) {
  switch (op) {
    case ND4C_OP_negative:
      return -x;
    case ND4C_OP_square:
      return x * x;
    case ND4C_OP_sqrt:
      return csqrt(x);
    case ND4C_OP_reciprocal:
      return 1.0 / x;
    case ND4C_OP_exp:
      return cexp(x);
    case ND4C_OP_log:
      return clog(x);
    case ND4C_OP_sin:
      return csin(x);
    case ND4C_OP_cos:
      return ccos(x);
    case ND4C_OP_tanh:
      return ctanh(x);
    default: /* copy */
      return x;
  }
}

static int64_t integer_unary(nd4c_op op, stub_class class, int64_t x) {
  bool is_signed = class == STUB_INT;
  uint64_t bits = (uint64_t)x;
  switch (op) {
    case ND4C_OP_negative:
      return (int64_t)(0 - bits);
    case ND4C_OP_abs:
      return is_signed && x < 0 ? (int64_t)(0 - bits) : x;
    case ND4C_OP_sign:
      return is_signed ? (x > 0) - (x < 0) : x != 0;
    case ND4C_OP_square:
      return (int64_t)(bits * bits);
    case ND4C_OP_relu:
      return is_signed && x < 0 ? 0 : x;
    case ND4C_OP_logical_not:
      return x == 0;
    default: /* floor, ceil, round, copy */
      return x;
  }
}

static stub_value unary(const stub_work *work, nd4c_dtype dtype, stub_value x) {
  stub_class class = stub_class_of(dtype);
  stub_value y = {0};
  if (work->op == ND4C_OP_cast) {
    return stub_convert(x, dtype, work->output.dtype);
  }
  if (work->op == ND4C_OP_is_nan) {
    y.i = (class == STUB_FLOAT || class == STUB_COMPLEX) && (isnan(x.re) || isnan(x.im));
  } else if (class == STUB_FLOAT) {
    y.re = real_unary(work, x.re);
  } else if (class == STUB_COMPLEX && work->op == ND4C_OP_abs) {
    y.re = hypot(x.re, x.im);
  } else if (class == STUB_COMPLEX) {
    double complex z = complex_unary(work->op, MAKE_COMPLEX(x.re, x.im));
    y.re = creal(z);
    y.im = cimag(z);
  } else if (class == STUB_BOOL) {
    y.i = integer_unary(work->op, class, x.i);
  } else {
    y.i = stub_wrap(integer_unary(work->op, class, x.i), dtype);
  }
  return y;
}

nd4c_status stub_compute_unary(const stub_work *work, stub_value *const *inputs, stub_value *output) {
  for (int64_t i = 0; i < work->output.size; i++) {
    output[i] = unary(work, work->inputs[0].dtype, inputs[0][i]);
  }
  return ND4C_OK;
}

/* -- binary ------------------------------------------------------------------------------------------------------ */

static double real_binary(nd4c_op op, double a, double b) {
  switch (op) {
    case ND4C_OP_add:
      return a + b;
    case ND4C_OP_subtract:
      return a - b;
    case ND4C_OP_multiply:
      return a * b;
    case ND4C_OP_divide:
      return a / b;
    case ND4C_OP_power:
      return pow(a, b);
    case ND4C_OP_maximum:
      return isnan(a) || isnan(b) ? a + b : a > b ? a : b;
    default: /* minimum */
      return isnan(a) || isnan(b) ? a + b : a < b ? a : b;
  }
}

static double complex complex_binary(nd4c_op op, double complex a, double complex b) {
  switch (op) {
    case ND4C_OP_add:
      return a + b;
    case ND4C_OP_subtract:
      return a - b;
    case ND4C_OP_multiply:
      return a * b;
    case ND4C_OP_divide:
      return a / b;
    default: /* power */
      return cpow(a, b);
  }
}

static int64_t integer_power(nd4c_dtype dtype, int64_t base, int64_t exponent) {
  if (stub_class_of(dtype) == STUB_INT && exponent < 0) {
    return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  }
  uint64_t result = 1, factor = (uint64_t)base, rest = (uint64_t)exponent;
  for (; rest != 0; rest >>= 1) {
    if ((rest & 1) != 0) {
      result *= factor;
    }
    factor *= factor;
  }
  return (int64_t)result;
}

static int64_t integer_divide(bool is_signed, int64_t a, int64_t b) {
  if (b == 0) {
    return 0;
  }
  if (!is_signed) {
    return (int64_t)((uint64_t)a / (uint64_t)b);
  }
  return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

static bool integer_less(bool is_signed, int64_t a, int64_t b) {
  return is_signed ? a < b : (uint64_t)a < (uint64_t)b;
}

static int64_t integer_binary(nd4c_op op, nd4c_dtype dtype, int64_t a, int64_t b) {
  bool is_signed = stub_class_of(dtype) == STUB_INT;
  switch (op) {
    case ND4C_OP_add:
      return (int64_t)((uint64_t)a + (uint64_t)b);
    case ND4C_OP_subtract:
      return (int64_t)((uint64_t)a - (uint64_t)b);
    case ND4C_OP_multiply:
      return (int64_t)((uint64_t)a * (uint64_t)b);
    case ND4C_OP_divide:
      return integer_divide(is_signed, a, b);
    case ND4C_OP_power:
      return integer_power(dtype, a, b);
    case ND4C_OP_maximum:
      return integer_less(is_signed, a, b) ? b : a;
    default: /* minimum */
      return integer_less(is_signed, a, b) ? a : b;
  }
}

static bool is_compare(nd4c_op op) {
  return op >= ND4C_OP_equal && op <= ND4C_OP_logical_xor;
}

/* -1, 0, 1, or 2 if not ordered. */
static int order(nd4c_dtype dtype, stub_value a, stub_value b) {
  stub_class class = stub_class_of(dtype);
  if (class == STUB_COMPLEX) {
    return a.re == b.re && a.im == b.im ? 0 : 2;
  }
  if (class == STUB_FLOAT) {
    return isnan(a.re) || isnan(b.re) ? 2 : (a.re > b.re) - (a.re < b.re);
  }
  return integer_less(class != STUB_UINT, b.i, a.i) - integer_less(class != STUB_UINT, a.i, b.i);
}

static bool compare(nd4c_op op, nd4c_dtype dtype, stub_value a, stub_value b) {
  int sign = order(dtype, a, b);
  switch (op) {
    case ND4C_OP_equal:
      return sign == 0;
    case ND4C_OP_not_equal:
      return sign != 0;
    case ND4C_OP_less:
      return sign == -1;
    case ND4C_OP_less_equal:
      return sign == -1 || sign == 0;
    case ND4C_OP_greater:
      return sign == 1;
    case ND4C_OP_greater_equal:
      return sign == 1 || sign == 0;
    case ND4C_OP_logical_and:
      return a.i != 0 && b.i != 0;
    case ND4C_OP_logical_or:
      return a.i != 0 || b.i != 0;
    default: /* logical_xor */
      return (a.i != 0) != (b.i != 0);
  }
}

static stub_value binary(nd4c_op op, nd4c_dtype dtype, stub_value a, stub_value b) {
  stub_class class = stub_class_of(dtype);
  stub_value y = {0};
  if (is_compare(op)) {
    y.i = compare(op, dtype, a, b);
  } else if (class == STUB_FLOAT) {
    y.re = real_binary(op, a.re, b.re);
  } else if (class == STUB_COMPLEX) {
    double complex z = complex_binary(op, MAKE_COMPLEX(a.re, a.im), MAKE_COMPLEX(b.re, b.im));
    y.re = creal(z);
    y.im = cimag(z);
  } else {
    y.i = stub_wrap(integer_binary(op, dtype, a.i, b.i), dtype);
  }
  return y;
}

/* Element numbers of every input for each output element, one list after the other. */
static nd4c_status broadcast_all(const stub_work *work, int64_t **numbers) {
  *numbers = stub_host->allocate((size_t)(work->output.size * work->input_count + 1) * sizeof(int64_t));
  if (*numbers == NULL) {
    return stub_host->fail(ND4C_MEMORY, "stub: no memory to broadcast %s", work->name);
  }
  for (int32_t i = 0; i < work->input_count; i++) {
    if (work->inputs[i].dtype != ND4C_DTYPE_NONE) {
      stub_broadcast(&work->inputs[i], &work->output, *numbers + i * work->output.size);
    }
  }
  return ND4C_OK;
}

/* A dtype that holds the elements of both operands of a comparison as their promotion does. */
static nd4c_dtype common_dtype(nd4c_dtype a, nd4c_dtype b) {
  stub_class ca = stub_class_of(a), cb = stub_class_of(b);
  if (a == b) {
    return a;
  }
  if (ca == STUB_COMPLEX || cb == STUB_COMPLEX) {
    return ND4C_COMPLEX128;
  }
  if (ca == STUB_FLOAT || cb == STUB_FLOAT || (ca != cb && (a == ND4C_UINT64 || b == ND4C_UINT64))) {
    return ND4C_FLOAT64;
  }
  return ca == cb && ca == STUB_UINT ? ND4C_UINT64 : ND4C_INT64;
}

nd4c_status stub_compute_binary(const stub_work *work, stub_value *const *inputs, stub_value *output) {
  int64_t *numbers = NULL;
  nd4c_status status = broadcast_all(work, &numbers);
  nd4c_dtype dtype =
      is_compare(work->op) ? common_dtype(work->inputs[0].dtype, work->inputs[1].dtype) : work->output.dtype;
  for (int64_t i = 0; i < work->output.size && status == ND4C_OK; i++) {
    stub_value a = stub_convert(inputs[0][numbers[i]], work->inputs[0].dtype, dtype);
    stub_value b = stub_convert(inputs[1][numbers[work->output.size + i]], work->inputs[1].dtype, dtype);
    output[i] = binary(work->op, dtype, a, b);
  }
  stub_host->free(numbers);
  return status;
}

nd4c_status stub_compute_where(const stub_work *work, stub_value *const *inputs, stub_value *output) {
  int64_t *numbers = NULL;
  nd4c_status status = broadcast_all(work, &numbers);
  int64_t size = work->output.size;
  for (int64_t i = 0; i < size && status == ND4C_OK; i++) {
    int32_t source = inputs[0][numbers[i]].i != 0 ? 1 : 2;
    output[i] =
        stub_convert(inputs[source][numbers[source * size + i]], work->inputs[source].dtype, work->output.dtype);
  }
  stub_host->free(numbers);
  return status;
}

nd4c_status stub_compute_clip(const stub_work *work, stub_value *const *inputs, stub_value *output) {
  nd4c_dtype dtype = work->output.dtype;
  for (int64_t i = 0; i < work->output.size; i++) {
    output[i] = inputs[0][i];
    if (work->input_count > 1 && inputs[1] != NULL) {
      stub_value low = stub_convert(inputs[1][0], work->inputs[1].dtype, dtype);
      output[i] = binary(ND4C_OP_maximum, dtype, output[i], low);
    }
    if (work->input_count > 2 && inputs[2] != NULL) {
      stub_value high = stub_convert(inputs[2][0], work->inputs[2].dtype, dtype);
      output[i] = binary(ND4C_OP_minimum, dtype, output[i], high);
    }
  }
  return ND4C_OK;
}
