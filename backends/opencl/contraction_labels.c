/* Which label each axis of a sum of products has, op by op. Inference has checked everything. */
#include "backends/opencl/contraction.h"

enum { OWN = ND4C_CL_OWN, HIDDEN_END = ND4C_CL_HIDDEN + ND4C_CL_MAX_RANK };

static void see(nd4c_cl_labelled *array, const nd4c_tensor *tensor) {
  array->tensor = *tensor;
  array->rank = tensor->rank;
  for (int32_t i = 0; i < tensor->rank; i++) {
    array->shape[i] = tensor->shape[i];
    array->strides[i] = tensor->strides[i];
  }
}

static void add_axis(nd4c_cl_labelled *array, int32_t label, int64_t extent, int64_t stride) {
  array->labels[array->rank] = label;
  array->shape[array->rank] = extent;
  array->strides[array->rank++] = stride;
}

/* Labels of `count` broadcast axes, aligned at the last of them; returns what follows. */
static int32_t hide(int32_t *labels, int32_t at, int32_t count) {
  for (int32_t i = 0; i < count; i++)
    labels[at++] = HIDDEN_END - count + i;
  return at;
}

/* -- einsum -------------------------------------------------------------------------------------------------------- */

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Capitals first: the order of results without an arrow. */
static int32_t letter(char c) {
  return c <= 'Z' ? c - 'A' : c - 'a' + 26;
}

static const char *einsum_term(const char *at, nd4c_cl_labelled *array) {
  int32_t letters = 0, count = 0;
  const char *end = at;
  for (; *end != '\0' && *end != ',' && *end != '-'; end++)
    letters += is_letter(*end);
  while (at < end) {
    if (*at == '.') {
      count = hide(array->labels, count, array->rank - letters);
      at += 3;
    } else {
      if (is_letter(*at))
        array->labels[count++] = letter(*at);
      at++;
    }
  }
  return end;
}

/* Letters that stand once, behind what "..." stands for. */
static void einsum_implicit(nd4c_cl_contraction *c) {
  int32_t met[ND4C_CL_HIDDEN] = {0}, letters = 0;
  for (int32_t i = 0; i < c->count; i++) {
    for (int32_t axis = 0; axis < c->operands[i].rank; axis++) {
      if (c->operands[i].labels[axis] < ND4C_CL_HIDDEN)
        met[c->operands[i].labels[axis]]++;
    }
  }
  for (int32_t label = 0; label < ND4C_CL_HIDDEN; label++)
    letters += met[label] == 1;
  int32_t count = hide(c->output.labels, 0, c->output.rank - letters);
  for (int32_t label = 0; label < ND4C_CL_HIDDEN; label++) {
    if (met[label] == 1)
      c->output.labels[count++] = label;
  }
}

static void label_einsum(nd4c_cl_contraction *c) {
  const char *at = c->call->attrs[ND4C_ATTR_einsum_equation].as.string;
  for (int32_t i = 0; i < c->count; i++) {
    at = einsum_term(at, &c->operands[i]);
    at += *at == ',';
  }
  if (*at == '\0')
    einsum_implicit(c);
  else
    (void)einsum_term(at + 2, &c->output);
}

/* -- diagonals and Kronecker --------------------------------------------------------------------------------------- */

static void label_trace(nd4c_cl_contraction *c) {
  nd4c_cl_labelled *x = &c->operands[0];
  const nd4c_tensor *whole = &c->call->inputs[0];
  const nd4c_attr_value *attrs = c->call->attrs;
  int32_t axis1 = nd4c_axis(attrs[ND4C_ATTR_trace_axis1].as.i, whole->rank);
  int32_t axis2 = nd4c_axis(attrs[ND4C_ATTR_trace_axis2].as.i, whole->rank);
  int64_t m = whole->shape[axis1], n = whole->shape[axis2], offset = attrs[ND4C_ATTR_trace_offset].as.i;
  int64_t row = offset >= 0 ? 0 : offset < -m ? m : -offset, column = offset <= 0 ? 0 : offset > n ? n : offset;
  int64_t length = m - row < n - column ? m - row : n - column;
  x->rank = 0;
  for (int32_t axis = 0; axis < whole->rank; axis++) {
    if (axis == axis1 || axis == axis2)
      continue;
    c->output.labels[x->rank] = OWN + x->rank;
    add_axis(x, OWN + x->rank, whole->shape[axis], whole->strides[axis]);
  }
  add_axis(x, OWN + x->rank, length, whole->strides[axis1] + whole->strides[axis2]);
  x->tensor.offset += length > 0 ? row * whole->strides[axis1] + column * whole->strides[axis2] : 0;
}

/* The output's axes, split into a's and b's. */
static void label_kron(nd4c_cl_contraction *c) {
  nd4c_cl_labelled *a = &c->operands[0], *b = &c->operands[1];
  const nd4c_tensor *y = &c->call->outputs[0];
  c->output.rank = 0;
  for (int32_t axis = 0; axis < y->rank; axis++) {
    int32_t in_a = axis - (y->rank - a->rank), in_b = axis - (y->rank - b->rank);
    int64_t length = in_b >= 0 ? b->shape[in_b] : 1;
    if (in_a >= 0) {
      a->labels[in_a] = axis;
      add_axis(&c->output, axis, a->shape[in_a], y->strides[axis] * length);
    }
    if (in_b >= 0) {
      b->labels[in_b] = ND4C_CL_MAX_RANK + axis;
      add_axis(&c->output, ND4C_CL_MAX_RANK + axis, length, y->strides[axis]);
    }
  }
}

/* -- products of two ----------------------------------------------------------------------------------------------- */

static void label_outer(nd4c_cl_contraction *c) {
  c->operands[0].labels[0] = c->output.labels[0] = 0;
  c->operands[1].labels[0] = c->output.labels[1] = 1;
}

/* Own labels for all axes of both, then the given pairs of axes are made one; the others stay, in order. */
static void join_axes(nd4c_cl_contraction *c, int32_t count, const int64_t *of_a, const int64_t *of_b) {
  nd4c_cl_labelled *sides = c->operands;
  bool joined[2 * ND4C_CL_MAX_RANK] = {false};
  int32_t rank = 0;
  for (int32_t side = 0; side < 2; side++) {
    for (int32_t i = 0; i < sides[side].rank; i++)
      sides[side].labels[i] = side * ND4C_CL_MAX_RANK + i;
  }
  for (int32_t i = 0; i < count; i++) {
    int32_t label = nd4c_axis(of_a[i], sides[0].rank);
    sides[1].labels[nd4c_axis(of_b[i], sides[1].rank)] = label;
    joined[label] = true;
  }
  for (int32_t side = 0; side < 2; side++) {
    for (int32_t i = 0; i < sides[side].rank; i++) {
      if (!joined[sides[side].labels[i]])
        c->output.labels[rank++] = sides[side].labels[i];
    }
  }
}

static void label_tensordot(nd4c_cl_contraction *c) {
  const nd4c_attr_value *attrs = c->call->attrs;
  join_axes(c, attrs[ND4C_ATTR_tensordot_axes_a].count, attrs[ND4C_ATTR_tensordot_axes_a].as.ints,
            attrs[ND4C_ATTR_tensordot_axes_b].as.ints);
}

static void label_inner(nd4c_cl_contraction *c) {
  static const int64_t last = -1;
  join_axes(c, c->operands[0].rank > 0 && c->operands[1].rank > 0, &last, &last);
}

static void label_matvec(nd4c_cl_contraction *c) {
  int32_t at = hide(c->operands[0].labels, 0, c->operands[0].rank - 2);
  c->operands[0].labels[at] = OWN;
  c->operands[0].labels[at + 1] = OWN + 1;
  c->operands[1].labels[hide(c->operands[1].labels, 0, c->operands[1].rank - 1)] = OWN + 1;
  c->output.labels[hide(c->output.labels, 0, c->output.rank - 1)] = OWN;
}

static void label_vecmat(nd4c_cl_contraction *c) {
  c->operands[0].labels[hide(c->operands[0].labels, 0, c->operands[0].rank - 1)] = OWN;
  int32_t at = hide(c->operands[1].labels, 0, c->operands[1].rank - 2);
  c->operands[1].labels[at] = OWN;
  c->operands[1].labels[at + 1] = OWN + 1;
  c->output.labels[hide(c->output.labels, 0, c->output.rank - 1)] = OWN + 1;
}

static void label_vecdot(nd4c_cl_contraction *c) {
  int32_t rank = c->operands[0].rank > c->operands[1].rank ? c->operands[0].rank : c->operands[1].rank, left = 0;
  int32_t axis = nd4c_axis(c->call->attrs[ND4C_ATTR_vecdot_axis].as.i, rank);
  (void)hide(c->operands[0].labels, 0, c->operands[0].rank);
  (void)hide(c->operands[1].labels, 0, c->operands[1].rank);
  for (int32_t i = 0; i < rank; i++) {
    if (i != axis)
      c->output.labels[left++] = HIDDEN_END - rank + i;
  }
}

static void label_multi_dot(nd4c_cl_contraction *c) {
  int32_t last = c->count - 1, rank = 0;
  for (int32_t i = 0; i <= last; i++) {
    nd4c_cl_labelled *x = &c->operands[i];
    x->labels[0] = x->rank == 1 && i == 0 ? 1 : i;
    x->labels[1] = i + 1;
  }
  if (c->operands[0].rank == 2)
    c->output.labels[rank++] = 0;
  if (c->operands[last].rank == 2)
    c->output.labels[rank++] = last + 1;
}

void nd4c_cl_contraction_label(nd4c_cl_contraction *contraction, const nd4c_call *call) {
  contraction->call = call;
  contraction->count = call->input_count;
  for (int32_t i = 0; i < call->input_count; i++)
    see(&contraction->operands[i], &call->inputs[i]);
  see(&contraction->output, &call->outputs[0]);
  switch (call->op->op) {
#define LABEL(op)            \
  case ND4C_OP_##op:         \
    label_##op(contraction); \
    break;
    ND4C_CL_CONTRACTIONS(LABEL)
#undef LABEL
    default:
      break;
  }
}
