/* Samplers and oracles of matrix products. */
#include <math.h>
#include <stdlib.h>

#include "conformance.h"

typedef struct product {
  int32_t a_rank;
  int64_t a[4];
  int32_t b_rank;
  int64_t b[4];
} product;

/* In the layout `mixed` the a of number 20 is transposed and the b of number 25 (layouts go by turns). */
static const product products[] = {{2, {3, 4}, 2, {4, 5}},
                                   {1, {6}, 1, {6}},
                                   {1, {6}, 2, {6, 3}},
                                   {2, {3, 6}, 1, {6}},
                                   {3, {2, 3, 4}, 3, {2, 4, 5}},
                                   {4, {2, 1, 3, 4}, 3, {3, 4, 2}},
                                   {2, {1, 7}, 2, {7, 1}},
                                   {2, {17, 33}, 2, {33, 19}},
                                   {2, {0, 4}, 2, {4, 5}},
                                   {2, {3, 0}, 2, {0, 5}},
                                   {3, {0, 3, 4}, 2, {4, 5}},
                                   {2, {33, 70}, 2, {70, 40}},
                                   {3, {2, 3, 4}, 1, {4}},
                                   {2, {1, 130}, 2, {130, 70}},
                                   {2, {3, 4}, 3, {5, 4, 2}},
                                   {2, {70, 90}, 2, {90, 80}},
                                   {2, {2, 90}, 2, {90, 85}},
                                   {2, {3, 91}, 2, {91, 85}},
                                   {2, {4, 91}, 2, {91, 85}},
                                   {2, {8, 91}, 2, {91, 37}},
                                   {4, {3, 3, 70, 90}, 4, {3, 3, 90, 40}},
                                   {2, {9, 91}, 2, {91, 37}},
                                   {2, {37, 91}, 2, {91, 3}},
                                   {2, {24, 270}, 2, {270, 250}},
                                   {2, {25, 270}, 2, {270, 250}},
                                   {4, {3, 3, 70, 90}, 4, {3, 3, 90, 40}},
                                   {1, {20000}, 1, {20000}},
                                   {2, {27, 70}, 2, {70, 47}}};
enum { PRODUCTS = sizeof products / sizeof products[0] };

bool cf_sample_matmul(cf_random *random, int32_t number, cf_case *c) {
  if (number >= PRODUCTS + 1) {
    return false;
  }
  if (number == PRODUCTS) { /* two dtypes */
    nd4c_dtype other = c->dtype == ND4C_FLOAT32 ? ND4C_FLOAT64 : ND4C_FLOAT32;
    if (cf_promote(c->dtype, other) != ND4C_DTYPE_NONE) {
      cf_filled(c, random, CF_SMALL, c->dtype, CF_SHAPE(3, 4));
      cf_filled(c, random, CF_SMALL, other, CF_SHAPE(4, 2));
    }
    return true;
  }
  const product *p = &products[number];
  if (p->a_rank == 4 && p->a[2] > 8 && c->dtype != ND4C_FLOAT32) {
    return true; /* for products by vectors, several tiles of several matrices */
  }
  cf_filled(c, random, CF_SMALL, c->dtype, p->a_rank, p->a);
  cf_filled(c, random, CF_SMALL, c->dtype, p->b_rank, p->b);
  return true;
}

/* The last two axes of an operand, and its batch axes broadcast over the result's. */
typedef struct matrix {
  const cf_tensor *tensor;
  int64_t rows, columns;
  int32_t batch_rank;
} matrix;

static matrix matrix_of(const cf_tensor *tensor, bool left) {
  matrix m = {.tensor = tensor, .batch_rank = tensor->rank > 2 ? tensor->rank - 2 : 0};
  bool vector = tensor->rank == 1;
  m.rows = vector ? (left ? 1 : tensor->shape[0]) : tensor->shape[tensor->rank - 2];
  m.columns = vector ? (left ? tensor->shape[0] : 1) : tensor->shape[tensor->rank - 1];
  return m;
}

/* Number of an operand's matrix for one of the result's. */
static int64_t batch_number(const matrix *m, int32_t rank, const int64_t *batch, int64_t number) {
  int64_t result = 0, stride = 1;
  for (int32_t axis = rank - 1; axis >= 0; axis--) {
    int64_t index = number % batch[axis];
    number /= batch[axis];
    int32_t own = axis - (rank - m->batch_rank);
    if (own >= 0) {
      result += m->tensor->shape[own] == 1 ? 0 : index * stride;
      stride *= m->tensor->shape[own];
    }
  }
  return result;
}

static int32_t batch_shape(const matrix *a, const matrix *b, int64_t *batch) {
  int32_t rank = a->batch_rank > b->batch_rank ? a->batch_rank : b->batch_rank;
  for (int32_t axis = 0; axis < rank; axis++) {
    int32_t ai = axis - (rank - a->batch_rank), bi = axis - (rank - b->batch_rank);
    int64_t ea = ai >= 0 ? a->tensor->shape[ai] : 1, eb = bi >= 0 ? b->tensor->shape[bi] : 1;
    batch[axis] = ea == 1 ? eb : ea;
  }
  return rank;
}

/* The larger tolerance of a sum of many terms, because the order of additions is free. */
static long double depth(int64_t count) {
  return count > 16 ? (long double)count / 16 : 1;
}

static long double magnitude(cf_value x) {
  return x.im == 0 ? fabsl(x.re) : hypotl(x.re, x.im);
}

typedef struct factor {
  cf_value value;
  long double magnitude;
} factor;

/* All elements in the type of the products, each converted once. The caller frees the block. */
static factor *factors_of(const cf_tensor *tensor, nd4c_dtype dtype) {
  factor *factors = cf_need((size_t)(tensor->size + 1) * sizeof *factors);
  for (int64_t i = 0; i < tensor->size; i++) {
    factors[i].value = cf_convert(cf_get(tensor, i), tensor->dtype, dtype);
    factors[i].magnitude = magnitude(factors[i].value);
  }
  return factors;
}

/* a: side by side, b: `step` apart. */
static void dot(const factor *a, const factor *b, int64_t count, int64_t step, cf_value *y, long double *scale) {
  *y = (cf_value){0};
  *scale = 0;
  for (int64_t k = 0; k < count; k++) {
    const factor *x = &a[k], *w = &b[k * step];
    y->re += x->value.re * w->value.re - x->value.im * w->value.im;
    y->im += x->value.re * w->value.im + x->value.im * w->value.re;
    y->i = (int64_t)((uint64_t)y->i + (uint64_t)x->value.i * (uint64_t)w->value.i);
    *scale += x->magnitude * w->magnitude;
  }
  *scale *= depth(count);
}

void cf_oracle_matmul(const cf_case *c, cf_expected *expected) {
  matrix a = matrix_of(&c->inputs[0], true), b = matrix_of(&c->inputs[1], false);
  nd4c_dtype dtype = cf_promote(c->inputs[0].dtype, c->inputs[1].dtype);
  int64_t shape[CF_RANK];
  int32_t batch_rank = batch_shape(&a, &b, shape), rank = batch_rank;
  if (c->inputs[0].rank > 1) {
    shape[rank++] = a.rows;
  }
  if (c->inputs[1].rank > 1) {
    shape[rank++] = b.columns;
  }
  cf_expect(expected, dtype, rank, shape, true);
  factor *a_factors = factors_of(a.tensor, dtype), *b_factors = factors_of(b.tensor, dtype);
  for (int64_t i = 0; i < expected->size; i++) {
    int64_t column = i % b.columns, row = i / b.columns % a.rows, batch = i / b.columns / a.rows;
    int64_t a_first = (batch_number(&a, batch_rank, shape, batch) * a.rows + row) * a.columns;
    int64_t b_first = batch_number(&b, batch_rank, shape, batch) * b.rows * b.columns + column;
    dot(a_factors + a_first, b_factors + b_first, a.columns, b.columns, &expected->values[i], &expected->scale[i]);
    if (cf_is_integer(dtype)) {
      expected->values[i].i = cf_wrap(dtype, expected->values[i].i);
    }
  }
  free(a_factors);
  free(b_factors);
}

/* -- linear ----------------------------------------------------------------------------------------------------- */

long double cf_activation(int64_t activation, long double x) {
  switch (activation) {
    case ND4C_ACTIVATION_RELU:
      return x > 0 ? x : 0;
    case ND4C_ACTIVATION_GELU:
      return x / 2 * erfcl(-x / sqrtl(2));
    case ND4C_ACTIVATION_GELU_TANH:
      return x / 2 * (1 + tanhl(sqrtl(2 / acosl(-1)) * (x + 0.044715L * x * x * x)));
    case ND4C_ACTIVATION_SIGMOID:
      return 1 / (1 + expl(-x));
    case ND4C_ACTIVATION_TANH:
      return tanhl(x);
    default:
      return x;
  }
}

bool cf_sample_linear(cf_random *random, int32_t number, cf_case *c) {
  static const int64_t x_shapes[][3] = {{1, 2, 7}, {3, 4, 33}, {1, 48, 70}, {2, 1, 16}};
  if (number >= 24) {
    return false;
  }
  int32_t x_rank = number % 3 == 0 ? 3 : 2;
  const int64_t *shape = x_shapes[number % 4] + (3 - x_rank);
  int64_t k = x_shapes[number % 4][2], n = number % 5 == 0 ? 1 : 9 + 3 * number;
  bool transposed = number % 2 == 1;
  int64_t w_shape[2] = {transposed ? n : k, transposed ? k : n};
  int64_t y_shape[3] = {shape[0], shape[1], shape[x_rank - 1]};
  y_shape[x_rank - 1] = n;
  cf_filled(c, random, CF_SMALL, c->dtype, x_rank, shape);
  cf_fill(random, cf_input(c, c->dtype, 2, w_shape), CF_NEAR_ONE);
  if (number % 4 == 1) {
    cf_absent(c);
  } else if (number % 4 == 2) {
    cf_filled(c, random, CF_SMALL, c->dtype, CF_SCALAR);
  } else {
    cf_filled(c, random, CF_SMALL, c->dtype, 1, &n);
  }
  if (number % 3 == 1) {
    cf_filled(c, random, CF_SMALL, c->dtype, x_rank, y_shape);
  }
  cf_attr_bool(c, "transpose_w", transposed);
  cf_attr_int(c, "activation", number % 6);
  return true;
}

/* The element of a tensor that broadcasts to an element of the result. */
static long double broadcast_real(const cf_tensor *tensor, const cf_expected *to, int64_t number) {
  int64_t place = 0, stride = 1;
  for (int32_t axis = to->rank - 1; axis >= 0 && tensor != NULL; axis--) {
    int64_t index = number % to->shape[axis];
    number /= to->shape[axis];
    int32_t own = axis - (to->rank - tensor->rank);
    if (own >= 0) {
      place += tensor->shape[own] == 1 ? 0 : index * stride;
      stride *= tensor->shape[own];
    }
  }
  return tensor != NULL ? cf_get(tensor, place).re : 0;
}

void cf_oracle_linear(const cf_case *c, cf_expected *expected) {
  const cf_tensor *x = &c->inputs[0], *w = &c->inputs[1];
  bool transposed = cf_int_of(c, "transpose_w", 0) != 0;
  int64_t k = x->shape[x->rank - 1], n = w->shape[transposed ? 0 : 1], shape[CF_RANK];
  for (int32_t i = 0; i < x->rank; i++) {
    shape[i] = i == x->rank - 1 ? n : x->shape[i];
  }
  cf_expect(expected, c->dtype, x->rank, shape, true);
  for (int64_t i = 0; i < expected->size; i++) {
    long double sum = 0, scale = 0;
    for (int64_t j = 0; j < k; j++) {
      int64_t column = i % n;
      long double term = cf_get(x, i / n * k + j).re * cf_get(w, transposed ? column * k + j : j * n + column).re;
      sum += term;
      scale += fabsl(term);
    }
    long double bias = broadcast_real(cf_input_of(c, ND4C_IN_linear_bias), expected, i);
    long double addend = broadcast_real(cf_input_of(c, ND4C_IN_linear_addend), expected, i);
    expected->values[i].re = cf_activation(cf_int_of(c, "activation", 0), sum + bias + addend);
    expected->scale[i] = scale * depth(k) + fabsl(bias) + fabsl(addend);
  }
}
