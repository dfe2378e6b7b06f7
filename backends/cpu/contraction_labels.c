/* Which label each axis of a sum of products has, op by op. The rules have checked everything. */
#include <string.h>

#include "backends/cpu/contraction.h"

enum { OWN = ND4C_LABEL_OWN };

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* In the alphabet's order, capitals first, as results without an arrow are ordered. */
static int32_t label_of_letter(char c) {
  return c <= 'Z' ? c - 'A' : c - 'a' + 26;
}

/* Labels of axes that are broadcast, aligned at the last of them. */
static int32_t label_hidden(int32_t *labels, int32_t at, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    labels[at++] = ND4C_LABEL_HIDDEN + ND4C_CPU_MAX_RANK - count + i;
  }
  return at;
}

/* -- einsum ----------------------------------------------------------------------------------------------------- */

static const char *label_term(const char *at, nd4c_labelled *array) {
  int32_t letters = 0, count = 0;
  const char *end = at;
  for (; *end != '\0' && *end != ',' && *end != '-'; end++) {
    letters += is_letter(*end);
  }
  for (; at < end; at++) {
    if (is_letter(*at)) {
      array->labels[count++] = label_of_letter(*at);
    } else if (*at == '.') {
      count = label_hidden(array->labels, count, array->tensor.rank - letters);
      at += 2;
    }
  }
  return end;
}

static void label_implicit(nd4c_contraction *c) {
  int32_t met[ND4C_LABEL_HIDDEN] = {0}, count, letters = 0;
  for (int32_t i = 0; i < c->count; i++) {
    for (int32_t axis = 0; axis < c->operands[i].tensor.rank; axis++) {
      int32_t label = c->operands[i].labels[axis];
      if (label < ND4C_LABEL_HIDDEN) {
        met[label]++;
      }
    }
  }
  for (int32_t label = 0; label < ND4C_LABEL_HIDDEN; label++) {
    letters += met[label] == 1;
  }
  count = label_hidden(c->output.labels, 0, c->output.tensor.rank - letters);
  for (int32_t label = 0; label < ND4C_LABEL_HIDDEN; label++) {
    if (met[label] == 1) {
      c->output.labels[count++] = label;
    }
  }
}

static void label_einsum(nd4c_contraction *c) {
  const char *at = c->call->attrs[ND4C_ATTR_einsum_equation].as.string;
  for (int32_t i = 0; i < c->count; i++) {
    at = label_term(at, &c->operands[i]);
    at += *at == ',';
  }
  if (*at == '\0') {
    label_implicit(c);
  } else {
    label_term(at + 2, &c->output);
  }
}

/* -- diagonals and Kronecker ------------------------------------------------------------------------------------ */

/* A tensor of the array's own shape and strides. */
static void see_as(nd4c_labelled *array, int32_t rank) {
  array->tensor.rank = rank;
  array->tensor.shape = array->shape;
  array->tensor.strides = array->strides;
}

static void label_trace(nd4c_contraction *c) {
  nd4c_labelled *x = &c->operands[0];
  const nd4c_attr_value *attrs = c->call->attrs;
  nd4c_ref_tensor whole = x->tensor;
  int32_t axis1 = nd4c_axis(attrs[ND4C_ATTR_trace_axis1].as.i, whole.rank);
  int32_t axis2 = nd4c_axis(attrs[ND4C_ATTR_trace_axis2].as.i, whole.rank), rank = 0;
  int64_t m = whole.shape[axis1], n = whole.shape[axis2], offset = attrs[ND4C_ATTR_trace_offset].as.i;
  int64_t row = offset >= 0 ? 0 : offset < -m ? m : -offset, column = offset <= 0 ? 0 : offset > n ? n : offset;
  for (int32_t axis = 0; axis < whole.rank; axis++) {
    if (axis != axis1 && axis != axis2) {
      x->labels[rank] = c->output.labels[rank] = OWN + rank;
      x->shape[rank] = whole.shape[axis];
      x->strides[rank++] = whole.strides[axis];
    }
  }
  x->labels[rank] = OWN + rank;
  x->shape[rank] = m - row < n - column ? m - row : n - column;
  x->strides[rank] = whole.strides[axis1] + whole.strides[axis2];
  int64_t bytes = nd4c_reference_bytes(whole.dtype);
  x->tensor.data += x->shape[rank] > 0 ? (row * whole.strides[axis1] + column * whole.strides[axis2]) * bytes : 0;
  see_as(x, rank + 1);
}

/* The output's axes, split into a's and b's. */
static void label_kron(nd4c_contraction *c) {
  nd4c_labelled *a = &c->operands[0], *b = &c->operands[1], *y = &c->output;
  nd4c_ref_tensor whole = y->tensor;
  int32_t rank = 0;
  for (int32_t axis = 0; axis < whole.rank; axis++) {
    int32_t in_a = axis - (whole.rank - a->tensor.rank), in_b = axis - (whole.rank - b->tensor.rank);
    int64_t length = in_b >= 0 ? b->tensor.shape[in_b] : 1;
    if (in_a >= 0) {
      a->labels[in_a] = y->labels[rank] = axis;
      y->shape[rank] = a->tensor.shape[in_a];
      y->strides[rank++] = whole.strides[axis] * length;
    }
    if (in_b >= 0) {
      b->labels[in_b] = y->labels[rank] = ND4C_CPU_MAX_RANK + axis;
      y->shape[rank] = length;
      y->strides[rank++] = whole.strides[axis];
    }
  }
  see_as(y, rank);
}

/* -- products of two -------------------------------------------------------------------------------------------- */

static void label_outer(nd4c_contraction *c) {
  c->operands[0].labels[0] = c->output.labels[0] = 0;
  c->operands[1].labels[0] = c->output.labels[1] = 1;
}

/* Own labels for all axes of both; then pairs of axes are made one. */
static void label_pairs(nd4c_contraction *c, int32_t count, const int32_t *axes_a, const int32_t *axes_b) {
  nd4c_labelled *a = &c->operands[0], *b = &c->operands[1];
  int32_t rank = 0;
  bool summed[ND4C_LABELS] = {false};
  for (int32_t i = 0; i < a->tensor.rank; i++) {
    a->labels[i] = i;
  }
  for (int32_t i = 0; i < b->tensor.rank; i++) {
    b->labels[i] = ND4C_CPU_MAX_RANK + i;
  }
  for (int32_t i = 0; i < count; i++) {
    b->labels[axes_b[i]] = axes_a[i];
    summed[axes_a[i]] = true;
  }
  for (int32_t side = 0; side < 2; side++) {
    for (int32_t i = 0; i < c->operands[side].tensor.rank; i++) {
      if (!summed[c->operands[side].labels[i]]) {
        c->output.labels[rank++] = c->operands[side].labels[i];
      }
    }
  }
}

static void label_tensordot(nd4c_contraction *c) {
  const nd4c_attr_value *of_a = &c->call->attrs[ND4C_ATTR_tensordot_axes_a];
  const nd4c_attr_value *of_b = &c->call->attrs[ND4C_ATTR_tensordot_axes_b];
  int32_t axes_a[ND4C_CPU_MAX_RANK], axes_b[ND4C_CPU_MAX_RANK];
  for (int32_t i = 0; i < of_a->count; i++) {
    axes_a[i] = nd4c_axis(of_a->as.ints[i], c->operands[0].tensor.rank);
    axes_b[i] = nd4c_axis(of_b->as.ints[i], c->operands[1].tensor.rank);
  }
  label_pairs(c, of_a->count, axes_a, axes_b);
}

static void label_inner(nd4c_contraction *c) {
  int32_t last_a = c->operands[0].tensor.rank - 1, last_b = c->operands[1].tensor.rank - 1;
  label_pairs(c, last_a >= 0 && last_b >= 0 ? 1 : 0, &last_a, &last_b);
}

/* Broadcast axes, then those of the op's own. */
static void label_batch(nd4c_labelled *array, int32_t own, const int32_t *labels) {
  int32_t at = label_hidden(array->labels, 0, array->tensor.rank - own);
  for (int32_t i = 0; i < own; i++) {
    array->labels[at++] = OWN + labels[i];
  }
}

static void label_matvec(nd4c_contraction *c) {
  label_batch(&c->operands[0], 2, (const int32_t[]){0, 1});
  label_batch(&c->operands[1], 1, (const int32_t[]){1});
  label_batch(&c->output, 1, (const int32_t[]){0});
}

static void label_vecmat(nd4c_contraction *c) {
  label_batch(&c->operands[0], 1, (const int32_t[]){0});
  label_batch(&c->operands[1], 2, (const int32_t[]){0, 1});
  label_batch(&c->output, 1, (const int32_t[]){1});
  c->operands[0].conjugate = true;
}

static void label_vecdot(nd4c_contraction *c) {
  nd4c_labelled *a = &c->operands[0], *b = &c->operands[1];
  int32_t rank = a->tensor.rank > b->tensor.rank ? a->tensor.rank : b->tensor.rank, left = 0;
  int32_t axis = nd4c_axis(c->call->attrs[ND4C_ATTR_vecdot_axis].as.i, rank);
  label_hidden(a->labels, 0, a->tensor.rank);
  label_hidden(b->labels, 0, b->tensor.rank);
  for (int32_t i = 0; i < rank; i++) {
    if (i != axis) {
      c->output.labels[left++] = ND4C_LABEL_HIDDEN + ND4C_CPU_MAX_RANK - rank + i;
    }
  }
  a->conjugate = true;
}

static void label_multi_dot(nd4c_contraction *c) {
  int32_t last = c->count - 1, rank = 0;
  for (int32_t i = 0; i <= last; i++) {
    nd4c_labelled *x = &c->operands[i];
    bool vector = x->tensor.rank == 1;
    x->labels[0] = i == 0 && vector ? 1 : i;
    x->labels[1] = i + 1;
  }
  if (c->operands[0].tensor.rank == 2) {
    c->output.labels[rank++] = 0;
  }
  if (c->operands[last].tensor.rank == 2) {
    c->output.labels[rank++] = last + 1;
  }
}

void nd4c_cpu_contraction_label(nd4c_contraction *contraction) {
  switch (contraction->call->op->op) {
#define LABEL(op)            \
  case ND4C_OP_##op:         \
    label_##op(contraction); \
    break;
    ND4C_CPU_CONTRACTIONS(LABEL)
#undef LABEL
    default:
      break;
  }
}
