/* Which label each axis of a sum of products has, for each op of the kind (trace, kron, einsum, ...). Inference has
 * checked the call. cpu/support/contraction.c and opencl/families/contraction.c label a call with this and multiply its
 * operands. */
#ifndef ND4C_BACKENDS_LABELS_H
#define ND4C_BACKENDS_LABELS_H

#include <stdbool.h>
#include <stdint.h>

#include "backends/reading.h"

/* Letters 0 to 51, then the axes that "..." stands for, then those that ops need besides. */
enum {
  ND4C_LABEL_RANK = 32, /* most axes of a tensor */
  ND4C_LABEL_AXES = 2 * ND4C_LABEL_RANK,
  ND4C_LABEL_HIDDEN = 52,
  ND4C_LABEL_OWN = ND4C_LABEL_HIDDEN + ND4C_LABEL_RANK,
  ND4C_LABELS = 160
};

/* An array as the op sees it. A label that stands twice is a diagonal. */
typedef struct nd4c_labelled {
  nd4c_tensor tensor; /* dtype, address or buffer; its own axes */
  int64_t first;      /* elements from the tensor's first one to that of what is seen */
  int32_t rank;
  bool conjugate;
  int32_t labels[ND4C_LABEL_AXES];
  int64_t shape[ND4C_LABEL_AXES], strides[ND4C_LABEL_AXES];
} nd4c_labelled;

typedef struct nd4c_labels {
  const nd4c_call *call;
  int32_t count;
  nd4c_labelled *operands; /* of the caller, who has room for every input */
  nd4c_labelled output;    /* every label once */
} nd4c_labels;

/* X(op): every op that is a sum of products. */
#define ND4C_LABELLED_OPS(X) \
  X(trace)                   \
  X(outer)                   \
  X(tensordot)               \
  X(vecdot)                  \
  X(kron)                    \
  X(multi_dot)               \
  X(einsum)                  \
  X(inner)                   \
  X(matvec)                  \
  X(vecmat)

static inline void label_see(nd4c_labelled *array, const nd4c_tensor *tensor) {
  array->tensor = *tensor;
  array->first = 0;
  array->rank = tensor->rank;
  array->conjugate = false;
  for (int32_t i = 0; i < tensor->rank; i++) {
    array->shape[i] = tensor->shape[i];
    array->strides[i] = tensor->strides[i];
  }
}

static inline void label_axis(nd4c_labelled *array, int32_t label, int64_t extent, int64_t stride) {
  array->labels[array->rank] = label;
  array->shape[array->rank] = extent;
  array->strides[array->rank++] = stride;
}

/* Labels of `count` broadcast axes, aligned at the last of them; returns what follows. */
static inline int32_t label_hidden(int32_t *labels, int32_t at, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    labels[at++] = ND4C_LABEL_OWN - count + i;
  }
  return at;
}

/* -- einsum -------------------------------------------------------------------------------------------------------- */

static inline bool label_is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Capitals come first, because this is the order of axes in a result without an arrow. */
static inline int32_t label_of_letter(char c) {
  return c <= 'Z' ? c - 'A' : c - 'a' + 26;
}

static inline const char *label_term(const char *at, nd4c_labelled *array) {
  int32_t letters = 0, count = 0;
  const char *end = at;
  for (; *end != '\0' && *end != ',' && *end != '-'; end++) {
    letters += label_is_letter(*end);
  }
  while (at < end) {
    if (*at == '.') {
      count = label_hidden(array->labels, count, array->rank - letters);
      at += 3;
    } else {
      if (label_is_letter(*at)) {
        array->labels[count++] = label_of_letter(*at);
      }
      at++;
    }
  }
  return end;
}

/* Letters that stand once, behind what "..." stands for. */
static inline void label_implicit(nd4c_labels *c) {
  int32_t met[ND4C_LABEL_HIDDEN] = {0}, letters = 0;
  for (int32_t i = 0; i < c->count; i++) {
    for (int32_t axis = 0; axis < c->operands[i].rank; axis++) {
      if (c->operands[i].labels[axis] < ND4C_LABEL_HIDDEN) {
        met[c->operands[i].labels[axis]]++;
      }
    }
  }
  for (int32_t label = 0; label < ND4C_LABEL_HIDDEN; label++) {
    letters += met[label] == 1;
  }
  int32_t count = label_hidden(c->output.labels, 0, c->output.rank - letters);
  for (int32_t label = 0; label < ND4C_LABEL_HIDDEN; label++) {
    if (met[label] == 1) {
      c->output.labels[count++] = label;
    }
  }
}

static inline void label_einsum(nd4c_labels *c) {
  const char *at = c->call->attrs[ND4C_ATTR_einsum_equation].as.string;
  for (int32_t i = 0; i < c->count; i++) {
    at = label_term(at, &c->operands[i]);
    at += *at == ',';
  }
  if (*at == '\0') {
    label_implicit(c);
  } else {
    (void)label_term(at + 2, &c->output);
  }
}

/* -- diagonals and Kronecker --------------------------------------------------------------------------------------- */

static inline void label_trace(nd4c_labels *c) {
  nd4c_labelled *x = &c->operands[0];
  const nd4c_tensor *whole = &c->call->inputs[0];
  const nd4c_attr_value *attrs = c->call->attrs;
  int32_t axis1 = nd4c_axis(attrs[ND4C_ATTR_trace_axis1].as.i, whole->rank);
  int32_t axis2 = nd4c_axis(attrs[ND4C_ATTR_trace_axis2].as.i, whole->rank);
  int64_t m = whole->shape[axis1], n = whole->shape[axis2], offset = attrs[ND4C_ATTR_trace_offset].as.i;
  int64_t row = offset >= 0 ? 0 : offset < -m ? m : -offset, column = offset <= 0 ? 0 : offset > n ? n : offset;
  int64_t length = m - row < n - column ? m - row : n - column;
  x->rank = 0;
  for (int32_t axis = 0; axis < whole->rank; axis++) {
    if (axis == axis1 || axis == axis2) {
      continue;
    }
    c->output.labels[x->rank] = ND4C_LABEL_OWN + x->rank;
    label_axis(x, ND4C_LABEL_OWN + x->rank, whole->shape[axis], whole->strides[axis]);
  }
  label_axis(x, ND4C_LABEL_OWN + x->rank, length, whole->strides[axis1] + whole->strides[axis2]);
  x->first = length > 0 ? row * whole->strides[axis1] + column * whole->strides[axis2] : 0;
}

/* The output's axes, split into a's and b's. */
static inline void label_kron(nd4c_labels *c) {
  nd4c_labelled *a = &c->operands[0], *b = &c->operands[1];
  const nd4c_tensor *y = &c->call->outputs[0];
  c->output.rank = 0;
  for (int32_t axis = 0; axis < y->rank; axis++) {
    int32_t in_a = axis - (y->rank - a->rank), in_b = axis - (y->rank - b->rank);
    int64_t length = in_b >= 0 ? b->shape[in_b] : 1;
    if (in_a >= 0) {
      a->labels[in_a] = axis;
      label_axis(&c->output, axis, a->shape[in_a], y->strides[axis] * length);
    }
    if (in_b >= 0) {
      b->labels[in_b] = ND4C_LABEL_RANK + axis;
      label_axis(&c->output, ND4C_LABEL_RANK + axis, length, y->strides[axis]);
    }
  }
}

/* -- products of two ----------------------------------------------------------------------------------------------- */

static inline void label_outer(nd4c_labels *c) {
  c->operands[0].labels[0] = c->output.labels[0] = 0;
  c->operands[1].labels[0] = c->output.labels[1] = 1;
}

/* Gives each axis of both operands a different label, then one label to both axes of each given pair. The output has
 * the other axes, in order. */
static inline void label_pairs(nd4c_labels *c, int32_t count, const int64_t *of_a, const int64_t *of_b) {
  nd4c_labelled *sides = c->operands;
  bool joined[2 * ND4C_LABEL_RANK] = {false};
  int32_t rank = 0;
  for (int32_t side = 0; side < 2; side++) {
    for (int32_t i = 0; i < sides[side].rank; i++) {
      sides[side].labels[i] = side * ND4C_LABEL_RANK + i;
    }
  }
  for (int32_t i = 0; i < count; i++) {
    int32_t label = nd4c_axis(of_a[i], sides[0].rank);
    sides[1].labels[nd4c_axis(of_b[i], sides[1].rank)] = label;
    joined[label] = true;
  }
  for (int32_t side = 0; side < 2; side++) {
    for (int32_t i = 0; i < sides[side].rank; i++) {
      if (!joined[sides[side].labels[i]]) {
        c->output.labels[rank++] = sides[side].labels[i];
      }
    }
  }
}

static inline void label_tensordot(nd4c_labels *c) {
  const nd4c_attr_value *attrs = c->call->attrs;
  label_pairs(c, attrs[ND4C_ATTR_tensordot_axes_a].count, attrs[ND4C_ATTR_tensordot_axes_a].as.ints,
              attrs[ND4C_ATTR_tensordot_axes_b].as.ints);
}

static inline void label_inner(nd4c_labels *c) {
  static const int64_t last = -1;
  label_pairs(c, c->operands[0].rank > 0 && c->operands[1].rank > 0, &last, &last);
}

/* Broadcast axes, then those of the op's own. */
static inline void label_batch(nd4c_labelled *array, int32_t own, const int32_t *labels) {
  int32_t at = label_hidden(array->labels, 0, array->rank - own);
  for (int32_t i = 0; i < own; i++) {
    array->labels[at++] = ND4C_LABEL_OWN + labels[i];
  }
}

/* A 1-D operand lacks its rows or columns, and so does the result. */
static inline void label_matmul(nd4c_labels *c) {
  bool vector_a = c->operands[0].rank == 1, vector_b = c->operands[1].rank == 1;
  label_batch(&c->operands[0], vector_a ? 1 : 2, vector_a ? (const int32_t[]){1} : (const int32_t[]){0, 1});
  label_batch(&c->operands[1], vector_b ? 1 : 2, (const int32_t[]){1, 2});
  label_batch(&c->output, 2 - vector_a - vector_b, vector_a ? (const int32_t[]){2} : (const int32_t[]){0, 2});
}

static inline void label_matvec(nd4c_labels *c) {
  label_batch(&c->operands[0], 2, (const int32_t[]){0, 1});
  label_batch(&c->operands[1], 1, (const int32_t[]){1});
  label_batch(&c->output, 1, (const int32_t[]){0});
}

static inline void label_vecmat(nd4c_labels *c) {
  label_batch(&c->operands[0], 1, (const int32_t[]){0});
  label_batch(&c->operands[1], 2, (const int32_t[]){0, 1});
  label_batch(&c->output, 1, (const int32_t[]){1});
  c->operands[0].conjugate = true;
}

static inline void label_vecdot(nd4c_labels *c) {
  int32_t rank = c->operands[0].rank > c->operands[1].rank ? c->operands[0].rank : c->operands[1].rank, left = 0;
  int32_t axis = nd4c_axis(c->call->attrs[ND4C_ATTR_vecdot_axis].as.i, rank);
  (void)label_hidden(c->operands[0].labels, 0, c->operands[0].rank);
  (void)label_hidden(c->operands[1].labels, 0, c->operands[1].rank);
  for (int32_t i = 0; i < rank; i++) {
    if (i != axis) {
      c->output.labels[left++] = ND4C_LABEL_OWN - rank + i;
    }
  }
  c->operands[0].conjugate = true;
}

static inline void label_multi_dot(nd4c_labels *c) {
  int32_t last = c->count - 1, rank = 0;
  for (int32_t i = 0; i <= last; i++) {
    nd4c_labelled *x = &c->operands[i];
    x->labels[0] = x->rank == 1 && i == 0 ? 1 : i;
    x->labels[1] = i + 1;
  }
  if (c->operands[0].rank == 2) {
    c->output.labels[rank++] = 0;
  }
  if (c->operands[last].rank == 2) {
    c->output.labels[rank++] = last + 1;
  }
}

/* Labels a call that is one of the ops; labels->operands has room for its inputs. */
static inline void nd4c_labels_make(nd4c_labels *labels, const nd4c_call *call) {
  labels->call = call;
  labels->count = call->input_count;
  for (int32_t i = 0; i < call->input_count; i++) {
    label_see(&labels->operands[i], &call->inputs[i]);
  }
  label_see(&labels->output, &call->outputs[0]);
  switch (call->op->op) {
#define LABEL(op)       \
  case ND4C_OP_##op:    \
    label_##op(labels); \
    break;
    ND4C_LABELLED_OPS(LABEL)
#undef LABEL
    case ND4C_OP_matmul: /* which OpenCL has kernels of its own for */
      label_matmul(labels);
      break;
    default:
      break;
  }
}

#endif
