/* Sums of products, multiplied two operands at a time from the left. Intermediate results are kept in the scratch
 * buffer in the widest type, so that results are rounded once. dispatch/choice.c asks these kernels for arrays on
 * OpenCL devices. */
#include "backends/labels.h"
#include "backends/opencl/support/gemm.h"
#include "backends/opencl/support/reduction.h"

enum { LARGE = 1 << 18 /* products from which tiles pay */, TERMS = 12 /* operands of a call at most */ };
_Static_assert((int)ND4C_CL_AXES == (int)ND4C_LABEL_AXES, "a step has room for the axes of what it reads");

/* One product of the chain. */
typedef struct product {
  nd4c_cl_reduction reduction;
  nd4c_tensor a, b, y;
} product;

typedef struct chain {
  nd4c_labels labels;
  nd4c_labelled operands[TERMS];
  int64_t extents[ND4C_LABELS];
  int32_t last_use[ND4C_LABELS]; /* operand that has it last; as many as there are: the output */
  int32_t steps;
  int64_t between_bytes; /* of the scratch buffer, before what reductions want */
} chain;

static nd4c_dtype between_dtype(const nd4c_call *call) {
  return !nd4c_cl_is_float(call->outputs[0].dtype) ? (nd4c_dtype)ND4C_INT64
         : nd4c_cl_wide(call)                      ? (nd4c_dtype)ND4C_FLOAT64
                                                   : (nd4c_dtype)ND4C_FLOAT32;
}

static void measure(chain *c) {
  const nd4c_labels *all = &c->labels;
  for (int32_t label = 0; label < ND4C_LABELS; label++) {
    c->extents[label] = 1;
    c->last_use[label] = -1;
  }
  for (int32_t i = 0; i <= all->count; i++) {
    const nd4c_labelled *array = i < all->count ? &all->operands[i] : &all->output;
    for (int32_t axis = 0; axis < array->rank; axis++) {
      if (c->extents[array->labels[axis]] == 1) {
        c->extents[array->labels[axis]] = array->shape[axis];
      }
      c->last_use[array->labels[axis]] = i;
    }
  }
  c->steps = all->count > 1 ? all->count - 1 : 1;
}

static bool has_label(const nd4c_labelled *array, int32_t label) {
  bool has = false;
  for (int32_t axis = 0; array != NULL && axis < array->rank; axis++) {
    has = has || array->labels[axis] == label;
  }
  return has;
}

static int64_t stride_of(const chain *c, const nd4c_labelled *array, int32_t label) {
  int64_t stride = 0;
  for (int32_t axis = 0; array != NULL && axis < array->rank; axis++) {
    bool steps = array->labels[axis] == label && (array->shape[axis] != 1 || c->extents[label] == 1);
    stride += steps ? array->strides[axis] : 0;
  }
  return stride;
}

/* Axes of a step, and where its result goes: a dense array, or the output. */
static nd4c_status make_step(const nd4c_cl_step *step, chain *c, int32_t number, const nd4c_labelled *left,
                             const nd4c_labelled *right, nd4c_labelled *result, product *s) {
  nd4c_cl_reduction *r = &s->reduction;
  const nd4c_call *call = step->call;
  bool final = number == c->steps - 1;
  int32_t behind = number + 1; /* operands up to here are used up */
  s->a = left->tensor;
  s->a.offset += left->first;
  if (right != NULL) {
    s->b = right->tensor;
  }
  *r = (nd4c_cl_reduction){.gather = right != NULL ? "GATHER_product" : "GATHER_sum"};
  r->a = &s->a;
  r->b = right != NULL ? &s->b : NULL;
  r->y = &s->y;
  if (final) {
    *result = c->labels.output;
  } else {
    *result = (nd4c_labelled){.tensor = {.dtype = between_dtype(call), .buffer = call->scratch_buffer}};
  }
  int64_t size = 1;
  bool present[ND4C_LABELS];
  for (int32_t label = 0; label < ND4C_LABELS; label++) {
    present[label] = has_label(left, label) || has_label(right, label);
    r->rank += present[label];
  }
  if (r->rank > ND4C_CL_AXES) {
    return nd4c_cl_step_refuse(step, "a product has more than %d axes", ND4C_CL_AXES);
  }
  /* From the last axis: strides of a dense result grow that way. */
  for (int32_t label = ND4C_LABELS - 1, axis = r->rank; axis > 0; label--) {
    if (!present[label]) {
      continue;
    }
    bool in_result = final ? has_label(result, label) : c->last_use[label] > behind;
    r->shape[--axis] = c->extents[label];
    r->a_strides[axis] = stride_of(c, left, label);
    r->b_strides[axis] = stride_of(c, right, label);
    r->y_strides[axis] = final ? stride_of(c, result, label) : in_result ? size : 0;
    r->reduced[axis] = !in_result;
    if (!final && in_result) {
      result->labels[result->rank] = label;
      result->shape[result->rank] = c->extents[label];
      result->strides[result->rank++] = size;
      size *= c->extents[label];
    }
  }
  if (!final) {
    result->tensor.offset =
        c->between_bytes / (nd4c_cl_wide(call) || !nd4c_cl_is_float(call->outputs[0].dtype) ? 8 : 4);
    c->between_bytes += (size * 8 + 63) / 64 * 64;
  }
  s->y = result->tensor;
  return ND4C_OK;
}

/* Axes that are in a, b and y, or not, as one walk of at most so many axes. */
static bool axes_of(const nd4c_call *call, const nd4c_cl_reduction *r, bool a, bool b, bool y, nd4c_cl_walk *walk,
                    int32_t most) {
  int64_t shape[ND4C_CL_AXES], strides[3][ND4C_CL_AXES];
  int32_t rank = 0;
  char reason[64];
  const nd4c_cl_step dry = {call, reason, sizeof reason};
  for (int32_t i = 0; i < r->rank; i++) {
    if ((r->a_strides[i] != 0) != a || (r->b_strides[i] != 0) != b || r->reduced[i] == y) {
      continue;
    }
    shape[rank] = r->shape[i];
    strides[0][rank] = r->a_strides[i];
    strides[1][rank] = r->b_strides[i];
    strides[2][rank++] = r->y_strides[i];
  }
  const int64_t *const all[] = {strides[0], strides[1], strides[2]};
  return nd4c_cl_step_walk(&dry, walk, rank, shape, 3, all) == ND4C_OK && walk->rank <= most;
}

/* A large product of two matrices, in batches. */
static bool as_matrices(const nd4c_call *call, const product *s, nd4c_cl_gemm *gemm) {
  const nd4c_cl_reduction *r = &s->reduction;
  nd4c_cl_walk m, n, k;
  int32_t others = 0;
  if (r->b == NULL || !axes_of(call, r, true, false, true, &m, 1) || !axes_of(call, r, false, true, true, &n, 1) ||
      !axes_of(call, r, true, true, false, &k, 1) || !axes_of(call, r, true, true, true, &gemm->batch, ND4C_CL_RANK)) {
    return false;
  }
  for (int32_t i = 0; i < r->rank; i++) { /* every axis must be in at least two of a, b and y */
    others += r->shape[i] != 1 && (r->a_strides[i] != 0) + (r->b_strides[i] != 0) + !r->reduced[i] < 2;
  }
  bool large = m.rank == 1 && n.rank == 1 && k.rank == 1 && others == 0 && m.size >= 16 && n.size >= 16 &&
               (double)m.size * (double)n.size * (double)k.size >= LARGE;
  if (!large) {
    return false;
  }
  gemm->a = r->a;
  gemm->b = r->b;
  gemm->y = r->y;
  gemm->matrices = (nd4c_cl_matrices){.m = m.shape[0],
                                      .n = n.shape[0],
                                      .k = k.shape[0],
                                      .a_row = m.strides[0][0],
                                      .a_column = k.strides[0][0],
                                      .b_row = k.strides[1][0],
                                      .b_column = n.strides[1][0],
                                      .y_row = m.strides[2][0],
                                      .y_column = n.strides[2][0]};
  return true;
}

/* Bytes of the scratch buffer: results between steps, then what one reduction wants. */
typedef struct room {
  int64_t between, reduction;
} room;

/* Visits the products of a call's chain; their reductions' scratch begins behind `between`. */
static nd4c_status visit(const nd4c_cl_step *step, int64_t between, room *wanted) {
  chain c = {0};
  nd4c_labelled results[2];
  c.labels.operands = c.operands;
  nd4c_labels_make(&c.labels, step->call);
  measure(&c);
  *wanted = (room){0, 0};
  for (int32_t i = 0; i < c.steps; i++) {
    const nd4c_labelled *left = i == 0 ? &c.operands[0] : &results[(i - 1) % 2];
    const nd4c_labelled *right = c.labels.count > 1 ? &c.operands[i + 1] : NULL;
    product s = {0};
    nd4c_cl_gemm gemm = {0};
    ND4C_BACKEND_TRY(make_step(step, &c, i, left, right, &results[i % 2], &s));
    s.reduction.scratch_at = between;
    if (as_matrices(step->call, &s, &gemm)) {
      ND4C_BACKEND_TRY(nd4c_cl_gemm_run(step, &gemm));
    } else {
      int64_t own = nd4c_cl_is_dry(step) ? nd4c_cl_reduction_scratch(step->call, &s.reduction) : 0;
      wanted->reduction = own > wanted->reduction ? own : wanted->reduction;
      ND4C_BACKEND_TRY(nd4c_cl_reduce(step, &s.reduction));
    }
  }
  wanted->between = c.between_bytes;
  return ND4C_OK;
}

/* What the visit of a call wants; nothing, if it is refused. */
static room room_of(const nd4c_call *call) {
  char reason[128];
  const nd4c_cl_step dry = {call, reason, sizeof reason};
  room wanted;
  return visit(&dry, 0, &wanted) == ND4C_OK ? wanted : (room){0, 0};
}

static int64_t scratch(const nd4c_call *call) {
  room wanted = room_of(call);
  return wanted.between + wanted.reduction;
}

static nd4c_status contract(const nd4c_cl_step *step) {
  room wanted;
  if (step->call->input_count > TERMS) {
    return nd4c_cl_step_refuse(step, "more than %d operands", TERMS);
  }
  return visit(step, nd4c_cl_is_dry(step) ? 0 : room_of(step->call).between, &wanted);
}

/* -- cross --------------------------------------------------------------------------------------------------------- */

static nd4c_status cross_product(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *a = &call->inputs[0], *b = &call->inputs[1], *y = &call->outputs[0];
  const nd4c_tensor *const arrays[3] = {a, b, y};
  int32_t axis = nd4c_axis(ND4C_INT_OF(call, cross_axis), y->rank);
  int64_t shape[ND4C_CL_MAX_RANK], strides[3][ND4C_CL_MAX_RANK], steps[3] = {0};
  nd4c_cl_walk walk;
  for (int32_t i = 0; i < y->rank; i++) {
    shape[i] = i == axis ? 1 : y->shape[i];
    for (int k = 0; k < 3; k++) {
      int32_t own = i - (y->rank - arrays[k]->rank);
      int64_t stride = own < 0 || arrays[k]->shape[own] != y->shape[i] ? 0 : arrays[k]->strides[own];
      strides[k][i] = stride;
      steps[k] = i == axis ? stride : steps[k];
    }
  }
  const int64_t *const all[] = {strides[0], strides[1], strides[2]};
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &walk, y->rank, shape, 3, all));
  if (nd4c_cl_is_dry(step)) {
    return nd4c_cl_step_call(step);
  }
  nd4c_cl_options options = {{0}};
  ND4C_CL_TYPES(&options, "ABY", a->dtype, b->dtype, y->dtype);
  nd4c_cl_define_real(&options, call);
  nd4c_cl_define(&options, "VALUE", "%s",
                 nd4c_cl_is_float(y->dtype) ? "REAL" : nd4c_cl_wrapping(y->dtype, "COMPUTE(Y)"));
  nd4c_cl_define_index(&options, call);
  return ND4C_CL_RUN(call, "cross", "cross_product", options, walk.size, ND4C_CL_VALUE(walk), ND4C_CL_IN(a),
                     ND4C_CL_LONG(steps[0]), ND4C_CL_IN(b), ND4C_CL_LONG(steps[1]), ND4C_CL_OUT(y),
                     ND4C_CL_LONG(steps[2]));
}

ND4C_CL_STEP(contract, contract(step))
#define KERNEL(op) ND4C_CL_KERNEL(op, ND4C_CL_REALS, contract_usable, contract_run, scratch)
ND4C_LABELLED_OPS(KERNEL)
ND4C_CL_STEP_KERNEL(cross, ND4C_CL_REALS, cross_product(step), NULL)

const nd4c_kernel *const nd4c_cl_contraction_kernels[] = {&opencl_cross, ND4C_LABELLED_OPS(ND4C_CL_LISTED_OP) NULL};
