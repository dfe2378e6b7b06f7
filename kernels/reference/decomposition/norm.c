/* Implements norm.h: vector_norm over axes. backends/cpu/reference/decomposition.c calls it. */
#include "kernels/reference/decomposition/norm.h"

/* What is gathered of a row of magnitudes. scale: the largest, by which squares are divided so that they stay in
 * range. */
typedef struct gathered {
  double sum, largest, least;
  int64_t count;
} gathered;

static double magnitude_of(const nd4c_ref_tensor *x, int64_t offset) {
  nd4c_value value = nd4c_value_load(x->dtype, x->data, offset);
  return nd4c_reference_kind(x->dtype) == ND4C_KIND_COMPLEX ? cabs(value.c) : fabs(value.f);
}

static double term(double magnitude, double ord, double scale) {
  if (ord == 1) {
    return magnitude;
  }
  if (ord == 2) {
    return magnitude / scale * (magnitude / scale);
  }
  return ord == 0 ? magnitude != 0 : pow(magnitude / scale, ord);
}

/* One pass over the elements of one result; `first` finds the extremes, the second the sum. */
static void pass(const nd4c_ref_norm *shape, int64_t offset, bool first, double scale, gathered *g) {
  const nd4c_ref_tensor *x = &shape->x;
  int64_t index[32] = {0}, extents[32];
  for (int32_t axis = 0; axis < x->rank; axis++) {
    extents[axis] = shape->reduced[axis] ? x->shape[axis] : 1;
    if (extents[axis] == 0) {
      return;
    }
  }
  do {
    double magnitude = magnitude_of(x, offset + nd4c_index_offset(x->rank, index, x->strides));
    if (first) {
      g->largest = magnitude != magnitude || magnitude > g->largest ? magnitude : g->largest;
      g->least = g->count == 0 || magnitude != magnitude || magnitude < g->least ? magnitude : g->least;
      g->count++;
    } else {
      g->sum += term(magnitude, shape->ord, scale);
    }
    if (g->largest != g->largest) {
      return;
    }
  } while (nd4c_index_next(x->rank, extents, index));
}

static double norm_at(const nd4c_ref_norm *shape, int64_t offset) {
  gathered g = {0};
  double ord = shape->ord;
  if (ord == 0) {
    pass(shape, offset, false, 1, &g);
    return g.sum;
  }
  pass(shape, offset, true, 1, &g);
  if (g.largest != g.largest) {
    return g.largest;
  }
  if (isinf(ord)) {
    return ord > 0 ? g.largest : g.least;
  }
  double scale = ord > 0 ? g.largest : g.least;
  if (ord != 1 && (scale == 0 || isinf(scale))) {
    return scale; /* a zero makes sums of negative powers infinite */
  }
  pass(shape, offset, false, scale, &g);
  return ord == 1 ? g.sum : ord == 2 ? scale * sqrt(g.sum) : scale * pow(g.sum, 1 / ord);
}

void nd4c_ref_vector_norm(const nd4c_ref_norm *args, int64_t begin, int64_t end) {
  const nd4c_ref_tensor *x = &args->x;
  for (int64_t flat = begin; flat < end; flat++) {
    int64_t x_offset = 0, y_offset = 0, rest = flat;
    for (int32_t axis = x->rank - 1; axis >= 0; axis--) {
      if (!args->reduced[axis]) {
        x_offset += rest % x->shape[axis] * x->strides[axis];
        y_offset += rest % x->shape[axis] * args->strides[axis];
        rest /= x->shape[axis];
      }
    }
    nd4c_ref_store(&args->y, y_offset, norm_at(args, x_offset));
  }
}
