/* Reductions (reduction.h). Engine reference calls these. */
#include "kernels/reference/reduction/reduction.h"

#include "kernels/reference/elementwise/elementwise.h"

/* What one output element gathers. Sums carry the rounding error of each addition along (Neumaier). */
typedef struct accumulator {
  nd4c_value value, error;
  int64_t count, best;
} accumulator;

static double add_compensated(double sum, double x, double *error) {
  double next = sum + x;
  double big = sum, small = x;
  if ((sum < 0 ? -sum : sum) < (x < 0 ? -x : x)) {
    big = x;
    small = sum;
  }
  double lost = (big - next) + small;
  if (next - next == 0) { /* an infinity, given or reached, has nothing to compensate */
    *error += lost;
  }
  return next;
}

static void add(nd4c_dtype_kind kind, accumulator *a, nd4c_value x) {
  if (kind == ND4C_KIND_FLOAT) {
    a->value.f = add_compensated(a->value.f, x.f, &a->error.f);
  } else if (kind == ND4C_KIND_COMPLEX) {
    double real_error = creal(a->error.c), imaginary_error = cimag(a->error.c);
    double real = add_compensated(creal(a->value.c), creal(x.c), &real_error);
    double imaginary = add_compensated(cimag(a->value.c), cimag(x.c), &imaginary_error);
    a->value.c = nd4c_complex_make(real, imaginary);
    a->error.c = nd4c_complex_make(real_error, imaginary_error);
  } else {
    a->value.u += x.u;
  }
}

static void start(nd4c_reduction reduction, nd4c_dtype_kind kind, accumulator *a) {
  *a = (accumulator){.count = 0};
  a->value.c = 0;
  a->error.c = 0;
  if (reduction == ND4C_REDUCTION_ALL) {
    a->value.u = 1;
  }
  if (reduction != ND4C_REDUCTION_PROD) {
    return;
  }
  if (kind == ND4C_KIND_COMPLEX) {
    a->value.c = 1;
  } else if (kind == ND4C_KIND_FLOAT) {
    a->value.f = 1;
  } else {
    a->value.u = 1;
  }
}

/* True if x beats the best so far: strictly, or as the first NaN. */
static bool beats(bool largest, nd4c_dtype_kind kind, nd4c_value x, nd4c_value best) {
  const nd4c_dtype_kind kinds[2] = {kind, kind};
  const nd4c_value pair[2] = {x, best};
  if (kind == ND4C_KIND_FLOAT && best.f != best.f) {
    return false;
  }
  if (kind == ND4C_KIND_FLOAT && x.f != x.f) {
    return true;
  }
  return largest ? nd4c_value_greater(kinds, pair).u : nd4c_value_less(kinds, pair).u;
}

static void take(nd4c_reduction reduction, nd4c_dtype_kind kind, accumulator *a, nd4c_value x) {
  const nd4c_dtype_kind kinds[2] = {kind, kind};
  const nd4c_value pair[2] = {a->value, x};
  bool largest = reduction == ND4C_REDUCTION_MAX || reduction == ND4C_REDUCTION_ARGMAX;
  switch (reduction) {
    case ND4C_REDUCTION_SUM:
    case ND4C_REDUCTION_MEAN:
      add(kind, a, x);
      break;
    case ND4C_REDUCTION_PROD:
      a->value = nd4c_value_multiply(kinds, pair);
      break;
    case ND4C_REDUCTION_ALL:
      a->value.u &= nd4c_value_logical_not(kinds, &x).u ^ 1;
      break;
    case ND4C_REDUCTION_ANY:
      a->value.u |= nd4c_value_logical_not(kinds, &x).u ^ 1;
      break;
    default:
      if (a->count == 0 || beats(largest, kind, x, a->value)) {
        a->value = x;
        a->best = a->count;
      }
  }
  a->count++;
}

static nd4c_value finish(nd4c_reduction reduction, nd4c_dtype_kind kind, const accumulator *a) {
  nd4c_value y = a->value;
  if (reduction == ND4C_REDUCTION_ARGMAX || reduction == ND4C_REDUCTION_ARGMIN) {
    y.i = a->best;
  }
  if (reduction != ND4C_REDUCTION_SUM && reduction != ND4C_REDUCTION_MEAN) {
    return y;
  }
  double count = reduction == ND4C_REDUCTION_MEAN ? (double)a->count : 1;
  if (kind == ND4C_KIND_FLOAT) {
    y.f = (y.f + a->error.f) / count;
  } else if (kind == ND4C_KIND_COMPLEX) {
    y.c = nd4c_complex_make((creal(y.c) + creal(a->error.c)) / count, (cimag(y.c) + cimag(a->error.c)) / count);
  }
  return y;
}

/* As an element of `to` holds it: rounded, wrapped. */
static nd4c_value cast_element(nd4c_dtype_kind given, nd4c_value value, nd4c_dtype to) {
  _Alignas(16) char element[16];
  nd4c_value_store(to, element, 0, nd4c_value_cast(given, value, to));
  return nd4c_value_load(to, element, 0);
}

void nd4c_reference_reduce(nd4c_reduction reduction, const nd4c_operand *x, int32_t rank, const int64_t *shape,
                           const bool *reduced, const nd4c_operand *y) {
  int64_t outer_shape[ND4C_REFERENCE_MAX_RANK], inner_shape[ND4C_REFERENCE_MAX_RANK];
  int64_t outer[ND4C_REFERENCE_MAX_RANK] = {0};
  bool empty = false;
  for (int32_t axis = 0; axis < rank; axis++) {
    outer_shape[axis] = reduced[axis] ? 1 : shape[axis];
    inner_shape[axis] = reduced[axis] ? shape[axis] : 1;
    if (outer_shape[axis] == 0) {
      return;
    }
    empty = empty || inner_shape[axis] == 0;
  }
  bool cast = (reduction == ND4C_REDUCTION_SUM || reduction == ND4C_REDUCTION_PROD) && x->dtype != y->dtype;
  nd4c_dtype_kind given = nd4c_reference_kind(x->dtype), kind = cast ? nd4c_reference_kind(y->dtype) : given;
  do {
    int64_t inner[ND4C_REFERENCE_MAX_RANK] = {0};
    int64_t base = nd4c_index_offset(rank, outer, x->strides);
    accumulator a;
    start(reduction, kind, &a);
    if (!empty) {
      do {
        nd4c_value value = nd4c_value_load(x->dtype, x->data, base + nd4c_index_offset(rank, inner, x->strides));
        take(reduction, kind, &a, cast ? cast_element(given, value, y->dtype) : value);
      } while (nd4c_index_next(rank, inner_shape, inner));
    }
    nd4c_value_store(y->dtype, y->data, nd4c_index_offset(rank, outer, y->strides), finish(reduction, kind, &a));
  } while (nd4c_index_next(rank, outer_shape, outer));
}
