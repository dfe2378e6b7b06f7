/* Reads matmul, linear and their relatives as batches of matrices (contraction_product.h), for engine simd and the
 * libraries. */
#include "backends/cpu/support/contraction_product.h"

#include <string.h>

#include "backends/cpu/support/window.h"

/* Brings a tensor to the product's rank: missing batch axes are broadcast, an axis repeated by stride 0 has extent 1.
 */
static void place(nd4c_cpu_matrices *matrices, int32_t rank, const nd4c_tensor *tensor, int32_t row_axis,
                  int32_t column_axis, int64_t rows, int64_t columns) {
  int32_t own_batch = tensor->rank - (row_axis >= 0) - (column_axis >= 0);
  matrices->tensor = tensor;
  for (int32_t i = 0; i < rank - 2; i++) {
    int32_t own = i - (rank - 2 - own_batch);
    bool repeated = own < 0 || tensor->shape[own] == 1 || tensor->strides[own] == 0;
    matrices->shape[i] = repeated ? 1 : tensor->shape[own];
    matrices->strides[i] = repeated ? 0 : tensor->strides[own];
  }
  matrices->shape[rank - 2] = rows;
  matrices->shape[rank - 1] = columns;
  matrices->strides[rank - 2] = row_axis >= 0 ? tensor->strides[row_axis] : 0;
  matrices->strides[rank - 1] = column_axis >= 0 ? tensor->strides[column_axis] : 0;
}

static const char *read_matmul(const nd4c_call *call, nd4c_cpu_product *p) {
  const nd4c_tensor *a = &call->inputs[ND4C_IN_matmul_a], *b = &call->inputs[ND4C_IN_matmul_b];
  const nd4c_tensor *y = &call->outputs[0];
  bool row = a->rank > 1, column = b->rank > 1; /* y has rows, columns */
  p->rank = y->rank + !row + !column;
  if (p->rank > ND4C_PRODUCT_MAX_RANK) {
    return "more batch axes than the library takes";
  }
  p->m = row ? a->shape[a->rank - 2] : 1;
  p->k = a->shape[a->rank - 1];
  p->n = column ? b->shape[b->rank - 1] : 1;
  place(&p->a, p->rank, a, row ? a->rank - 2 : -1, a->rank - 1, p->m, p->k);
  place(&p->b, p->rank, b, column ? b->rank - 2 : 0, column ? b->rank - 1 : -1, p->k, p->n);
  place(&p->y, p->rank, y, row ? y->rank - 1 - column : -1, column ? y->rank - 1 : -1, p->m, p->n);
  return NULL;
}

/* Products with vectors, whose batch axes broadcast. */
static const char *read_vectors(const nd4c_call *call, nd4c_cpu_product *p) {
  const nd4c_tensor *a = &call->inputs[0], *b = &call->inputs[1], *y = &call->outputs[0];
  bool rows = call->op->op == ND4C_OP_matvec, columns = call->op->op == ND4C_OP_vecmat;
  p->rank = y->rank + 2 - rows - columns;
  if (p->rank > ND4C_PRODUCT_MAX_RANK) {
    return "more batch axes than the library takes";
  }
  if (!rows && !columns) {
    int64_t axis = ND4C_INT_OF(call, vecdot_axis);
    if (axis != -1 && !(a->rank == b->rank && axis == a->rank - 1)) {
      return "the vectors do not lie along the last axis";
    }
  }
  p->m = rows ? a->shape[a->rank - 2] : 1;
  p->k = a->shape[a->rank - 1];
  p->n = columns ? b->shape[b->rank - 1] : 1;
  place(&p->a, p->rank, a, rows ? a->rank - 2 : -1, a->rank - 1, p->m, p->k);
  place(&p->b, p->rank, b, b->rank - 1 - columns, columns ? b->rank - 1 : -1, p->k, p->n);
  place(&p->y, p->rank, y, rows ? y->rank - 1 : -1, columns ? y->rank - 1 : -1, p->m, p->n);
  return NULL;
}

static const char *read_linear(const nd4c_call *call, nd4c_cpu_product *p) {
  const nd4c_tensor *x = &call->inputs[ND4C_IN_linear_x], *w = &call->inputs[ND4C_IN_linear_w];
  const nd4c_tensor *y = &call->outputs[0], *bias = nd4c_cpu_input(call, ND4C_IN_linear_bias);
  const nd4c_tensor *addend = nd4c_cpu_input(call, ND4C_IN_linear_addend);
  bool row = x->rank > 1;
  p->rank = x->rank + !row;
  if (p->rank > ND4C_PRODUCT_MAX_RANK) {
    return "more batch axes than the library takes";
  }
  int32_t across = ND4C_FLAG_OF(call, linear_transpose_w) ? 0 : 1;
  p->m = row ? x->shape[x->rank - 2] : 1;
  p->k = x->shape[x->rank - 1];
  p->n = w->shape[across];
  p->activation = ND4C_INT_OF(call, linear_activation);
  if (bias != NULL && addend == NULL && nd4c_cpu_same_shape(bias, y) && y->rank > 1) {
    addend = bias;
    bias = NULL;
  }
  bool one_row =
      bias == NULL || (bias->size == p->n &&
                       (p->n <= 1 || (bias->shape[bias->rank - 1] == p->n && bias->strides[bias->rank - 1] == 1)));
  if (!one_row) { /* a bias of one number may have no axis */
    return "the bias is not one contiguous row";
  }
  if (addend != NULL && !nd4c_cpu_same_shape(addend, y)) {
    return "the addend's shape is not the result's";
  }
  p->bias = bias;
  place(&p->a, p->rank, x, row ? x->rank - 2 : -1, x->rank - 1, p->m, p->k);
  place(&p->b, p->rank, w, 1 - across, across, p->k, p->n);
  place(&p->y, p->rank, y, row ? y->rank - 2 : -1, y->rank - 1, p->m, p->n);
  if (addend != NULL) {
    place(&p->addend, p->rank, addend, row ? y->rank - 2 : -1, y->rank - 1, p->m, p->n);
  }
  return NULL;
}

static void drop_axis(nd4c_cpu_matrices *x, int32_t axis, int32_t rank) {
  for (; x->tensor != NULL && axis < rank - 1; axis++) {
    x->shape[axis] = x->shape[axis + 1];
    x->strides[axis] = x->strides[axis + 1];
  }
}

/* The last batch axis continues the rows: both can be walked with one stride. */
static bool continues_rows(const nd4c_cpu_matrices *x, const nd4c_cpu_product *p) {
  int32_t rows = p->rank - 2;
  if (x->tensor == NULL) {
    return true;
  }
  bool even = x->shape[rows] == 1 || x->strides[rows - 1] == x->strides[rows] * x->shape[rows];
  return x->shape[rows - 1] == p->y.shape[rows - 1] && even;
}

static void merge_into_rows(nd4c_cpu_matrices *x, int32_t rank) {
  int32_t rows = rank - 2;
  if (x->tensor != NULL) {
    int64_t stride = x->shape[rows] == 1 ? x->strides[rows - 1] : x->strides[rows];
    x->shape[rows] *= x->shape[rows - 1];
    x->strides[rows] = stride;
    drop_axis(x, rows - 1, rank);
  }
}

/* Drops batch axes of one matrix, and makes one tall product of a batch that shares b. */
static void merge_axes(nd4c_cpu_product *p) {
  for (int32_t axis = p->rank - 3; axis >= 0; axis--) {
    if (p->y.shape[axis] == 1) {
      drop_axis(&p->a, axis, p->rank);
      drop_axis(&p->b, axis, p->rank);
      drop_axis(&p->addend, axis, p->rank);
      drop_axis(&p->y, axis, p->rank);
      p->rank--;
    }
  }
  while (p->rank > 2 && p->b.shape[p->rank - 3] == 1 && continues_rows(&p->a, p) && continues_rows(&p->y, p) &&
         continues_rows(&p->addend, p)) {
    merge_into_rows(&p->a, p->rank);
    merge_into_rows(&p->addend, p->rank);
    merge_into_rows(&p->y, p->rank);
    drop_axis(&p->b, p->rank - 3, p->rank);
    p->rank--;
  }
  p->m = p->y.shape[p->rank - 2];
}

static const char *read_op(const nd4c_call *call, nd4c_cpu_product *p) {
  switch (call->op->op) {
    case ND4C_OP_matmul:
      return read_matmul(call, p);
    case ND4C_OP_linear:
      return read_linear(call, p);
    case ND4C_OP_vecdot:
    case ND4C_OP_matvec:
    case ND4C_OP_vecmat:
      return read_vectors(call, p);
    default:
      return nd4c_cpu_product_read_labels(call, p);
  }
}

const char *nd4c_cpu_product_read(const nd4c_call *call, nd4c_cpu_product *product) {
  /* Extents and strides are written up to the rank: clearing the rest would take longer than a small product. */
  product->batch = 1;
  product->activation = ND4C_ACTIVATION_NONE;
  product->bias = NULL;
  product->a.tensor = product->b.tensor = product->y.tensor = product->addend.tensor = NULL;
  const char *why = read_op(call, product);
  if (why != NULL) {
    return why;
  }
  const nd4c_tensor *all[] = {product->a.tensor, product->b.tensor, product->y.tensor, product->addend.tensor,
                              product->bias};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (all[i] != NULL && all[i]->dtype != product->y.tensor->dtype) {
      return "operands of one dtype are expected";
    }
    if (all[i] != NULL && all[i]->size == 0) {
      return "an operand is empty";
    }
  }
  merge_axes(product);
  for (int32_t axis = 0; axis < product->rank - 2; axis++) {
    product->batch *= product->y.shape[axis];
  }
  return NULL;
}

int64_t nd4c_cpu_matrices_offset(const nd4c_cpu_product *product, const nd4c_cpu_matrices *matrices, int64_t index) {
  int64_t offset = 0;
  if (product->rank == 3) { /* most batches: small matrices take no longer than a division */
    return matrices->shape[0] == 1 ? 0 : index * matrices->strides[0];
  }
  for (int32_t axis = product->rank - 3; axis >= 0; axis--) {
    int64_t position = index % product->y.shape[axis];
    index /= product->y.shape[axis];
    offset += matrices->shape[axis] == 1 ? 0 : position * matrices->strides[axis];
  }
  return offset;
}

bool nd4c_cpu_matrices_dense(const nd4c_cpu_product *product, const nd4c_cpu_matrices *matrices, bool by_rows) {
  int32_t inner = product->rank - (by_rows ? 1 : 2), outer = product->rank - (by_rows ? 2 : 1);
  bool without_gaps = matrices->shape[inner] == 1 || matrices->strides[inner] == 1;
  return without_gaps && (matrices->shape[outer] == 1 || matrices->strides[outer] >= matrices->shape[inner]);
}

bool nd4c_cpu_product_by_columns(const nd4c_call *call, const nd4c_cpu_product *product) {
  return call->op->op != ND4C_OP_linear && !nd4c_cpu_matrices_dense(product, &product->y, true);
}

static void transpose(const nd4c_cpu_product *product, nd4c_cpu_matrices *x) {
  int32_t row = product->rank - 2, column = product->rank - 1;
  int64_t extent = x->shape[row], stride = x->strides[row];
  x->shape[row] = x->shape[column];
  x->strides[row] = x->strides[column];
  x->shape[column] = extent;
  x->strides[column] = stride;
}

void nd4c_cpu_product_turn(nd4c_cpu_product *product) {
  nd4c_cpu_matrices a = product->a;
  product->a = product->b;
  product->b = a;
  transpose(product, &product->a);
  transpose(product, &product->b);
  transpose(product, &product->y);
  int64_t m = product->m;
  product->m = product->n;
  product->n = m;
}
