/* Reductions, matrix products and softmax. compute.c lists these functions. */
#include <math.h>

#include "stub.h"

static bool is_reduced(const stub_work *work, int32_t axis) {
  const stub_operand *x = &work->inputs[0];
  if (work->op == ND4C_OP_argmax || work->op == ND4C_OP_argmin) {
    return axis == stub_axis(work->attrs[ND4C_ATTR_argmax_axis].as.i, x->rank);
  }
  const nd4c_attr_value *axes = &work->attrs[ND4C_ATTR_sum_axes];
  for (int32_t i = 0; i < axes->count; i++) {
    if (axis == stub_axis(axes->as.ints[i], x->rank)) {
      return true;
    }
  }
  return axes->as.ints == NULL;
}

/* Number of the output element (C order) to which input element `number` belongs, and its place on the reduced axes. */
static int64_t target_of(const stub_work *work, int64_t number, int64_t *place) {
  const stub_operand *x = &work->inputs[0];
  int64_t target = 0, stride = 1, inner = 1;
  *place = 0;
  for (int32_t axis = x->rank - 1; axis >= 0; axis--) {
    int64_t index = number % x->shape[axis];
    number /= x->shape[axis];
    if (is_reduced(work, axis)) {
      *place += index * inner;
      inner *= x->shape[axis];
    } else {
      target += index * stride;
      stride *= x->shape[axis];
    }
  }
  return target;
}

static bool beats(nd4c_dtype dtype, bool largest, stub_value a, stub_value b) {
  switch (stub_class_of(dtype)) {
    case STUB_FLOAT:
      if (isnan(b.re)) {
        return false;
      }
      return isnan(a.re) || (largest ? a.re > b.re : a.re < b.re);
    case STUB_UINT:
      return largest ? (uint64_t)a.i > (uint64_t)b.i : (uint64_t)a.i < (uint64_t)b.i;
    default:
      return largest ? a.i > b.i : a.i < b.i;
  }
}

static void fold(const stub_work *work, stub_value *into, stub_value x, int64_t place) {
  nd4c_dtype dtype = work->output.dtype;
  switch (work->op) {
    case ND4C_OP_prod: {
      double re = into->re * x.re - into->im * x.im;
      into->im = into->re * x.im + into->im * x.re;
      into->re = re;
      into->i = (int64_t)((uint64_t)into->i * (uint64_t)x.i);
      break;
    }
    case ND4C_OP_all:
      into->i = into->i != 0 && x.i != 0;
      break;
    case ND4C_OP_any:
      into->i = into->i != 0 || x.i != 0;
      break;
    default: /* max, min */
      if (place == 0 || beats(dtype, work->op == ND4C_OP_max, x, *into)) {
        *into = x;
      }
      break;
  }
}

/* Keeps the best value so far in `best`; the output holds its place. */
static nd4c_status arg_reduce(const stub_work *work, const stub_value *x, stub_value *output) {
  stub_value *best = stub_host->allocate((size_t)(work->output.size + 1) * sizeof *best);
  if (best == NULL) {
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for %s", work->name);
  }
  for (int64_t i = 0; i < work->inputs[0].size; i++) {
    int64_t place = 0;
    int64_t target = target_of(work, i, &place);
    if (place == 0 || beats(work->inputs[0].dtype, work->op == ND4C_OP_argmax, x[i], best[target])) {
      best[target] = x[i];
      output[target].i = place;
    }
  }
  stub_host->free(best);
  return ND4C_OK;
}

/* Sums and means: in long double, so that the order of the additions does not matter. */
static nd4c_status sum(const stub_work *work, const stub_value *x, stub_value *output) {
  int64_t size = work->output.size, count = size > 0 ? work->inputs[0].size / size : 0;
  long double *sums = stub_host->allocate((size_t)(2 * size + 1) * sizeof *sums);
  if (sums == NULL) {
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for %s", work->name);
  }
  for (int64_t i = 0; i < size; i++) {
    output[i] = (stub_value){0};
    sums[2 * i] = sums[2 * i + 1] = 0;
  }
  for (int64_t i = 0; i < work->inputs[0].size; i++) {
    int64_t place = 0;
    int64_t target = target_of(work, i, &place);
    sums[2 * target] += x[i].re;
    sums[2 * target + 1] += x[i].im;
    output[target].i = (int64_t)((uint64_t)output[target].i + (uint64_t)x[i].i);
  }
  long double divisor = work->op == ND4C_OP_mean ? (long double)count : 1;
  for (int64_t i = 0; i < size; i++) {
    output[i].re = (double)(sums[2 * i] / divisor);
    output[i].im = (double)(sums[2 * i + 1] / divisor);
  }
  stub_host->free(sums);
  return ND4C_OK;
}

nd4c_status stub_compute_reduce(const stub_work *work, stub_value *const *inputs, stub_value *output) {
  if (work->op == ND4C_OP_sum || work->op == ND4C_OP_mean) {
    return sum(work, inputs[0], output);
  }
  if (work->op == ND4C_OP_argmax || work->op == ND4C_OP_argmin) {
    return arg_reduce(work, inputs[0], output);
  }
  bool one = work->op == ND4C_OP_prod || work->op == ND4C_OP_all;
  for (int64_t i = 0; i < work->output.size; i++) {
    output[i] = (stub_value){.i = one, .re = one};
  }
  for (int64_t i = 0; i < work->inputs[0].size; i++) {
    int64_t place = 0;
    int64_t target = target_of(work, i, &place);
    fold(work, &output[target], inputs[0][i], place);
  }
  return ND4C_OK;
}

/* -- matmul ------------------------------------------------------------------------------------------------------ */

/* An operand as batches of matrices; vector operands get an axis of length 1. */
typedef struct stub_matrix {
  stub_operand batch; /* the leading axes alone */
  int64_t rows, columns;
} stub_matrix;

static stub_matrix matrix_of(const stub_operand *x, bool left) {
  stub_matrix matrix = {.batch = {.rank = x->rank > 2 ? x->rank - 2 : 0, .size = 1}};
  for (int32_t i = 0; i < matrix.batch.rank; i++) {
    matrix.batch.shape[i] = x->shape[i];
    matrix.batch.size *= x->shape[i];
  }
  if (x->rank == 1) {
    matrix.rows = left ? 1 : x->shape[0];
    matrix.columns = left ? x->shape[0] : 1;
  } else {
    matrix.rows = x->shape[x->rank - 2];
    matrix.columns = x->shape[x->rank - 1];
  }
  return matrix;
}

static stub_operand batch_of(const stub_operand *a, const stub_operand *b) {
  stub_operand batch = {.rank = a->rank > b->rank ? a->rank : b->rank, .size = 1};
  for (int32_t i = 0; i < batch.rank; i++) {
    int32_t ai = i - (batch.rank - a->rank), bi = i - (batch.rank - b->rank);
    int64_t extent = ai >= 0 ? a->shape[ai] : 1;
    batch.shape[i] = bi >= 0 && b->shape[bi] != 1 ? b->shape[bi] : extent;
    batch.size *= batch.shape[i];
  }
  return batch;
}

static stub_value dot(const stub_value *a, const stub_value *b, int64_t count, int64_t b_stride) {
  stub_value sum = {0};
  uint64_t bits = 0;
  for (int64_t k = 0; k < count; k++) {
    stub_value x = a[k], y = b[k * b_stride];
    sum.re += x.re * y.re - x.im * y.im;
    sum.im += x.re * y.im + x.im * y.re;
    bits += (uint64_t)x.i * (uint64_t)y.i;
  }
  sum.i = (int64_t)bits;
  return sum;
}

static void convert_all(const stub_operand *operand, nd4c_dtype dtype, stub_value *values) {
  bool halves = operand->dtype == ND4C_FLOAT16 || operand->dtype == ND4C_BFLOAT16;
  for (int64_t i = 0; i < operand->size; i++) {
    values[i] = stub_convert(values[i], operand->dtype, dtype);
    values[i].i = halves ? 0 : values[i].i;
  }
}

nd4c_status stub_compute_matmul(const stub_work *work, stub_value *const *inputs, stub_value *output) {
  stub_matrix a = matrix_of(&work->inputs[0], true), b = matrix_of(&work->inputs[1], false);
  stub_operand batch = batch_of(&a.batch, &b.batch);
  int64_t *numbers = stub_host->allocate((size_t)(2 * batch.size + 1) * sizeof *numbers);
  if (numbers == NULL) {
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for %s", work->name);
  }
  stub_broadcast(&a.batch, &batch, numbers);
  stub_broadcast(&b.batch, &batch, numbers + batch.size);
  convert_all(&work->inputs[0], work->output.dtype, inputs[0]);
  convert_all(&work->inputs[1], work->output.dtype, inputs[1]);
  bool integer = stub_class_of(work->output.dtype) == STUB_INT || stub_class_of(work->output.dtype) == STUB_UINT;
  for (int64_t n = 0; n < batch.size; n++) {
    const stub_value *left = inputs[0] + numbers[n] * a.rows * a.columns;
    const stub_value *right = inputs[1] + numbers[batch.size + n] * b.rows * b.columns;
    for (int64_t i = 0; i < a.rows; i++) {
      for (int64_t j = 0; j < b.columns; j++) {
        stub_value sum = dot(left + i * a.columns, right + j, a.columns, b.columns);
        sum.i = integer ? stub_wrap(sum.i, work->output.dtype) : 0;
        output[(n * a.rows + i) * b.columns + j] = sum;
      }
    }
  }
  stub_host->free(numbers);
  return ND4C_OK;
}

/* -- softmax ----------------------------------------------------------------------------------------------------- */

static void softmax_line(const stub_value *x, stub_value *y, int64_t count, int64_t stride, bool logarithm) {
  double largest = -(double)INFINITY, sum = 0;
  for (int64_t i = 0; i < count; i++) {
    largest = isnan(x[i * stride].re) || x[i * stride].re > largest ? x[i * stride].re : largest;
  }
  for (int64_t i = 0; i < count; i++) {
    sum += exp(x[i * stride].re - largest);
  }
  for (int64_t i = 0; i < count; i++) {
    double shifted = x[i * stride].re - largest;
    y[i * stride].re = logarithm ? shifted - log(sum) : exp(shifted) / sum;
  }
}

nd4c_status stub_compute_softmax(const stub_work *work, stub_value *const *inputs, stub_value *output) {
  const stub_operand *x = &work->inputs[0];
  int64_t axis = stub_axis(work->attrs[ND4C_ATTR_softmax_axis].as.i, x->rank);
  int64_t inner = 1, count = x->rank > 0 ? x->shape[axis] : 1;
  for (int32_t i = (int32_t)axis + 1; i < x->rank; i++) {
    inner *= x->shape[i];
  }
  for (int64_t start = 0; start < x->size; start++) {
    if (start / inner % count == 0) {
      softmax_line(inputs[0] + start, output + start, count, inner, work->op == ND4C_OP_log_softmax);
    }
  }
  return ND4C_OK;
}
