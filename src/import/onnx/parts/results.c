/* What is known of a gap's results without running it: dtype, rank, and the extents that do not depend on data. The
 * others become dims of the parts behind. A run checks all of it: where a result turns out to be different, all parts
 * behind it are interpreted. split.c asks for each gap. */
#include <string.h>

#include "base/status.h"
#include "graph/ir/graph.h"
#include "import/onnx/emission/bodies.h"
#include "import/onnx/parts/splitting.h"

typedef struct result {
  nd4c_dtype dtype; /* NONE: nothing is known */
  int32_t rank;
  int64_t shape[ND4C_MAX_RANK];
  uint64_t free; /* by axis: data decides */
} result;

/* -- noting -------------------------------------------------------------------------------------------------------- */

/* Makes dims of the free extents, named after the output. */
static nd4c_status note(nd4c_onnx_emission *e, int32_t output, result *r) {
  nd4c_onnx_splitting *s = e->importer->splitting;
  if (r->dtype == ND4C_DTYPE_NONE || !nd4c_onnx_wants(e, output)) {
    return ND4C_OK;
  }
  const int32_t number = e->node->outputs[output];
  const nd4c_span name = nd4c_onnx_graph_value(nd4c_onnx_emission_graph(e), number)->name;
  for (int32_t i = 0; i < r->rank; i++) {
    if ((r->free >> i & 1) != 0) {
      ND4C_TRY(nd4c_onnx_free_dim(e->importer, name, i, 0, &r->shape[i]));
      ND4C_TRY(nd4c_onnx_note_dims(s, number));
    }
  }
  r->free = 0;
  return nd4c_onnx_note_known(s, number, r->dtype, r->rank, r->shape, &e->outputs[output]);
}

/* -- from an operand ------------------------------------------------------------------------------------------------
 */

static bool describe(const nd4c_onnx_emission *e, int32_t input, nd4c_emitted_info *info) {
  const nd4c_onnx_operand operand = nd4c_onnx_input(e, input);
  if (nd4c_onnx_operand_kind(e, operand) != ND4C_ONNX_KIND_ARRAY) {
    return false;
  }
  *info = nd4c_emitted_get(&e->emitter, operand);
  return true;
}

/* An array of that rank, of which nothing else is known. */
static void set_free(result *r, nd4c_dtype dtype, int64_t rank) {
  if (rank >= 0 && rank <= ND4C_MAX_RANK) {
    *r = (result){.dtype = dtype, .rank = (int32_t)rank, .free = (UINT64_C(1) << rank) - 1};
  } else {
    r->dtype = ND4C_DTYPE_NONE;
  }
}

static void set_like(result *r, const nd4c_emitted_info *x) {
  set_free(r, x->dtype, x->rank);
  for (int32_t i = 0; i < r->rank; i++) {
    r->shape[i] = x->shape[i];
  }
}

/* How many numbers a vector has; -1: it is none, or data decides. */
static int64_t length_of(const nd4c_onnx_emission *e, int32_t input) {
  nd4c_emitted_info info;
  return describe(e, input, &info) && info.rank == 1 && !nd4c_extent_is_symbolic(info.shape[0]) ? info.shape[0] : -1;
}

/* -- by op -----------------------------------------------------------------------------------------------------------
 */

/* How the shape of a result follows from input x of the node and from input `other` of the row. */
typedef enum result_rule {
  AXES,       /* [axes of x, n] */
  TRIPLES,    /* [n, 3] */
  VECTOR,     /* [n] */
  ALONG,      /* x with another extent on attribute axis; without the attribute [n] */
  ALONG_LAST, /* the same, where the axis is the last one by default */
  SAME,       /* as the first output */
  SIZED,      /* as many axes as `other` has numbers */
  WIDEST,     /* the same, but at least as many as x */
  SOME_AXES,  /* x with other extents on the axes that `other` names, all if it is not known */
  ALL_AXES,   /* x with other extents */
  MORE_AXES,  /* x with one more axis for each number of `other`; free extents */
  LESS_AXES   /* x with one axis less for each number of `other` */
} result_rule;

typedef struct result_row {
  const char *op;
  int8_t output, x, other;
  result_rule rule;
  nd4c_dtype dtype; /* NONE: that of x */
} result_row;

static const result_row rows[] = {
    {"NonZero", 0, 0, 0, AXES, ND4C_INT64},
    {"NonMaxSuppression", 0, 0, 0, TRIPLES, ND4C_INT64},
    {"Unique", 0, 0, 0, ALONG, ND4C_DTYPE_NONE},
    {"Unique", 1, 0, 0, VECTOR, ND4C_INT64},
    {"Unique", 2, 0, 0, VECTOR, ND4C_INT64},
    {"Unique", 3, 0, 0, VECTOR, ND4C_INT64},
    {"Compress", 0, 0, 0, ALONG, ND4C_DTYPE_NONE},
    {"TopK", 0, 0, 0, ALONG_LAST, ND4C_DTYPE_NONE},
    {"TopK", 1, 0, 0, SAME, ND4C_INT64},
    {"Range", 0, 0, 0, VECTOR, ND4C_DTYPE_NONE},
    {"Reshape", 0, 0, 1, SIZED, ND4C_DTYPE_NONE},
    {"Expand", 0, 0, 1, WIDEST, ND4C_DTYPE_NONE},
    {"Slice", 0, 0, 3, SOME_AXES, ND4C_DTYPE_NONE},
    {"Pad", 0, 0, 3, SOME_AXES, ND4C_DTYPE_NONE},
    {"Tile", 0, 0, 0, ALL_AXES, ND4C_DTYPE_NONE},
    {"Resize", 0, 0, 0, ALL_AXES, ND4C_DTYPE_NONE},
    {"Upsample", 0, 0, 0, ALL_AXES, ND4C_DTYPE_NONE},
    {"Unsqueeze", 0, 0, 1, MORE_AXES, ND4C_DTYPE_NONE},
    {"Squeeze", 0, 0, 1, LESS_AXES, ND4C_DTYPE_NONE},
};

static nd4c_status set_along(nd4c_onnx_emission *e, const nd4c_emitted_info *x, bool last, result *r) {
  int64_t axis = -1;
  if (!last && nd4c_onnx_attribute_find(e, "axis") == NULL) {
    set_free(r, x->dtype, 1);
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_onnx_get_int(e, "axis", -1, &axis));
  axis += axis < 0 ? x->rank : 0;
  if (axis >= 0 && axis < x->rank) {
    set_like(r, x);
    r->free = UINT64_C(1) << axis;
  }
  return ND4C_OK;
}

static nd4c_status set_some_axes(nd4c_onnx_emission *e, const nd4c_emitted_info *x, int32_t input, result *r) {
  int64_t axes[ND4C_MAX_RANK];
  int32_t count = 0;
  const nd4c_onnx_operand operand = nd4c_onnx_input(e, input);
  set_like(r, x);
  if (nd4c_onnx_constant_array(e, operand) == NULL) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_onnx_read_ints(e, operand, "axes", ND4C_MAX_RANK, axes, &count));
  r->free = 0;
  for (int32_t i = 0; i < count; i++) {
    int32_t axis = 0;
    ND4C_TRY(nd4c_onnx_fix_axis(e, nd4c_onnx_input(e, 0), axes[i], &axis));
    r->free |= UINT64_C(1) << axis;
  }
  return ND4C_OK;
}

static nd4c_status apply(nd4c_onnx_emission *e, const result_row *row, const result *first, result *r) {
  nd4c_emitted_info x;
  if (!describe(e, row->x, &x)) {
    return ND4C_OK;
  }
  const int64_t numbers = length_of(e, row->other);
  switch (row->rule) {
    case AXES:
      set_free(r, x.dtype, 2);
      r->shape[0] = x.rank > 0 ? x.rank : 1;
      r->free = 2;
      break;
    case TRIPLES:
      set_free(r, x.dtype, 2);
      r->shape[1] = 3;
      r->free = 1;
      break;
    case VECTOR:
      set_free(r, x.dtype, 1);
      break;
    case ALONG:
    case ALONG_LAST:
      ND4C_TRY(set_along(e, &x, row->rule == ALONG_LAST, r));
      break;
    case SAME:
      *r = *first;
      break;
    case SIZED:
      set_free(r, x.dtype, numbers);
      break;
    case WIDEST:
      set_free(r, x.dtype, numbers >= 0 && numbers < x.rank ? x.rank : numbers);
      break;
    case SOME_AXES:
      ND4C_TRY(set_some_axes(e, &x, row->other, r));
      break;
    case ALL_AXES:
      set_free(r, x.dtype, x.rank);
      break;
    case MORE_AXES:
      set_free(r, x.dtype, numbers >= 0 ? x.rank + numbers : -1);
      break;
    case LESS_AXES:
      set_free(r, x.dtype, numbers >= 0 ? x.rank - numbers : -1);
      break;
  }
  r->dtype = r->dtype == ND4C_DTYPE_NONE || row->dtype == ND4C_DTYPE_NONE ? r->dtype : row->dtype;
  return ND4C_OK;
}

/* The rows of an op stand together, the one of output 0 first. */
static nd4c_status foresee_by_op(nd4c_onnx_emission *e) {
  result first = {.dtype = ND4C_DTYPE_NONE};
  for (size_t i = 0; i < sizeof rows / sizeof *rows && e->node->domain.size == 0; i++) {
    result made = {.dtype = ND4C_DTYPE_NONE};
    if (!nd4c_span_is(e->node->op, rows[i].op)) {
      continue;
    }
    ND4C_TRY(apply(e, &rows[i], &first, &made));
    ND4C_TRY(note(e, rows[i].output, &made)); /* a further output of the same shape has its dims */
    first = rows[i].output == 0 ? made : first;
  }
  return ND4C_OK;
}

/* -- by declaration -------------------------------------------------------------------------------------------------
 */

/* Of a dtype that nd4c lacks, nothing is known. */
static nd4c_status read_declared(const nd4c_onnx_value_info *info, result *r) {
  r->dtype = ND4C_DTYPE_NONE;
  if (info == NULL || info->kind_count != 1 || info->type == 0 || info->rank < 0 || info->rank > ND4C_MAX_RANK) {
    return ND4C_OK;
  }
  nd4c_dtype dtype = ND4C_DTYPE_NONE;
  const nd4c_status status = nd4c_onnx_dtype_resolve(info->type, &dtype);
  if (nd4c_status_passes(status)) {
    return status;
  }
  if (status != ND4C_OK) {
    nd4c_error_clear();
    return ND4C_OK;
  }
  set_free(r, dtype, info->rank);
  for (int32_t i = 0; i < r->rank; i++) {
    r->shape[i] = info->shape[i];
    r->free &= info->shape[i] < 0 ? UINT64_MAX : ~(UINT64_C(1) << i);
  }
  return ND4C_OK;
}

static nd4c_status foresee_declared(nd4c_onnx_emission *e) {
  const nd4c_onnx_splitting *s = e->importer->splitting;
  for (int32_t i = 0; i < e->node->output_count; i++) {
    result declared;
    if (nd4c_onnx_wants(e, i) && e->outputs[i] == ND4C_ONNX_OPERAND_NONE) {
      ND4C_TRY(read_declared(s->declared[e->node->outputs[i]], &declared));
      ND4C_TRY(note(e, i, &declared));
    }
  }
  return ND4C_OK;
}

/* -- control flow ---------------------------------------------------------------------------------------------------
 */

/* What two results have in common. */
static void merge(result *r, const result *other) {
  if (r->dtype != other->dtype || r->rank != other->rank) {
    r->dtype = ND4C_DTYPE_NONE;
    return;
  }
  for (int32_t i = 0; i < r->rank; i++) {
    const bool free = (other->free >> i & 1) != 0 || r->shape[i] != other->shape[i];
    r->free |= free ? UINT64_C(1) << i : 0;
  }
}

/* The results of a branch: of its graph if it can be one, else as it declares them. */
static nd4c_status read_branch(nd4c_onnx_emission *e, const nd4c_onnx_graph *branch, result *results) {
  const nd4c_extents *outer = nd4c_onnx_extents(e->importer);
  const int32_t guards = outer != NULL ? nd4c_extents_guard_count(outer) : 0;
  nd4c_onnx_captures captures;
  nd4c_graph *body = NULL;
  nd4c_status status = nd4c_onnx_find_captures(e, &branch, 1, &captures);
  status = status == ND4C_OK ? nd4c_onnx_record_body(e, branch, &captures, NULL, NULL, NULL, &body) : status;
  for (int32_t i = 0; i < branch->outputs.count && status == ND4C_OK; i++) {
    const nd4c_graph_value *value = &body->values[body->outputs.items[i].value];
    /* Guards of the body are not those of the parts behind: its expressions in dims may not hold. */
    const bool sure = outer != NULL && nd4c_extents_guard_count(body->extents) == guards;
    set_free(&results[i], value->dtype, value->rank);
    for (int32_t k = 0; k < value->rank; k++) {
      const bool known =
          !nd4c_extent_is_symbolic(value->shape[k]) || (sure && nd4c_extents_has(outer, value->shape[k]));
      results[i].shape[k] = value->shape[k];
      results[i].free &= known ? ~(UINT64_C(1) << k) : UINT64_MAX;
    }
  }
  nd4c_graph_destroy(body);
  if (status == ND4C_OK || nd4c_status_passes(status)) {
    return status;
  }
  nd4c_onnx_forget_need(e);
  for (int32_t i = 0; i < branch->outputs.count; i++) {
    ND4C_TRY(read_declared(nd4c_onnx_graph_output(branch, i), &results[i]));
  }
  return ND4C_OK;
}

static nd4c_status foresee_if(nd4c_onnx_emission *e) {
  const nd4c_onnx_graph *branches[2] = {NULL, NULL};
  result *results[2] = {NULL, NULL};
  const int32_t count = e->node->output_count;
  ND4C_TRY(nd4c_onnx_get_graph(e, "else_branch", &branches[0]));
  ND4C_TRY(nd4c_onnx_get_graph(e, "then_branch", &branches[1]));
  for (int32_t i = 0; i < 2; i++) {
    if (branches[i]->inputs.count != 0 || branches[i]->outputs.count != count) {
      return ND4C_OK; /* running it says what is wrong */
    }
    ND4C_TRY(nd4c_onnx_claim(e, (size_t)count, sizeof **results, "the results of a branch", &results[i]));
    ND4C_TRY(read_branch(e, branches[i], results[i]));
  }
  for (int32_t i = 0; i < count; i++) {
    merge(&results[0][i], &results[1][i]);
    ND4C_TRY(note(e, i, &results[0][i]));
  }
  return ND4C_OK;
}

/* The inputs of a loop's body: the round, a condition that is true, the carried values. *known false: nothing is known
 * of one of them. */
static nd4c_status list_body_inputs(nd4c_onnx_emission *e, int32_t carried, nd4c_onnx_body_input *inputs, bool *known) {
  inputs[0] = (nd4c_onnx_body_input){.known = ND4C_ONNX_OPERAND_NONE, .dtype = ND4C_INT64};
  ND4C_TRY(nd4c_emit_scalar(&e->emitter, ND4C_BOOL, 1, &inputs[1].known));
  *known = true;
  for (int32_t i = 0; i < carried && *known; i++) {
    nd4c_emitted_info info;
    *known = describe(e, 2 + i, &info);
    if (*known) {
      inputs[2 + i] = (nd4c_onnx_body_input){.known = ND4C_ONNX_OPERAND_NONE, .dtype = info.dtype, .rank = info.rank};
      memcpy(inputs[2 + i].shape, info.shape, (size_t)info.rank * sizeof *info.shape);
    }
  }
  return ND4C_OK;
}

/* What a recorded body gives in its first round. Where that has other extents than what is carried into it, later
 * rounds may give anything. */
static void read_recorded(const nd4c_onnx_emission *e, const nd4c_graph *body, int32_t carried,
                          const nd4c_onnx_body_input *inputs, bool sure, result *results) {
  const nd4c_extents *outer = nd4c_onnx_extents(e->importer);
  bool kept = true;
  for (int32_t i = 0; i < carried; i++) {
    const nd4c_graph_value *value = &body->values[body->outputs.items[1 + i].value];
    const nd4c_onnx_body_input *input = &inputs[2 + i];
    kept = kept && value->rank == input->rank &&
           memcmp(value->shape, input->shape, (size_t)value->rank * sizeof *value->shape) == 0;
  }
  for (int32_t i = 1; i < body->outputs.count; i++) {
    const nd4c_graph_value *value = &body->values[body->outputs.items[i].value];
    const int32_t more = i > carried;
    set_free(&results[i], value->dtype, (int64_t)value->rank + more);
    for (int32_t k = 0; k < value->rank && results[i].dtype != ND4C_DTYPE_NONE && kept; k++) {
      const bool known =
          !nd4c_extent_is_symbolic(value->shape[k]) || (sure && nd4c_extents_has(outer, value->shape[k]));
      results[i].shape[k + more] = value->shape[k];
      results[i].free &= known ? ~(UINT64_C(1) << (k + more)) : UINT64_MAX;
    }
  }
}

/* The results of a loop whose body can be a graph, by output of the body; without a dtype, if it cannot. */
static nd4c_status read_body(nd4c_onnx_emission *e, const nd4c_onnx_graph *graph, int32_t carried, result *results) {
  const nd4c_extents *outer = nd4c_onnx_extents(e->importer);
  const int32_t guards = outer != NULL ? nd4c_extents_guard_count(outer) : 0;
  nd4c_onnx_captures captures;
  nd4c_onnx_body_input *inputs = NULL;
  nd4c_graph *body = NULL;
  bool known = false;
  if (graph->inputs.count != carried + 2 || graph->outputs.count < carried + 1) {
    return ND4C_OK; /* running it says what is wrong */
  }
  ND4C_TRY(nd4c_onnx_claim(e, (size_t)carried + 2, sizeof *inputs, "the results of a loop", &inputs));
  ND4C_TRY(list_body_inputs(e, carried, inputs, &known));
  if (!known) {
    return ND4C_OK;
  }
  nd4c_status status = nd4c_onnx_find_captures(e, &graph, 1, &captures);
  status = status == ND4C_OK ? nd4c_onnx_record_body(e, graph, &captures, inputs, NULL, NULL, &body) : status;
  if (status == ND4C_OK) {
    const bool sure = outer != NULL && nd4c_extents_guard_count(body->extents) == guards;
    read_recorded(e, body, carried, inputs, sure, results);
    nd4c_graph_destroy(body);
  } else if (!nd4c_status_passes(status)) {
    nd4c_onnx_forget_need(e);
    status = ND4C_OK;
  }
  return status;
}

/* A carried value keeps its dtype, and commonly its rank; a collected one has an axis more than the body gives or
 * declares. */
static nd4c_status foresee_loop(nd4c_onnx_emission *e) {
  const nd4c_onnx_graph *body = NULL;
  const int32_t carried = e->input_count - 2;
  result *recorded = NULL;
  ND4C_TRY(nd4c_onnx_get_graph(e, "body", &body));
  ND4C_TRY(nd4c_onnx_claim(e, (size_t)body->outputs.count + 1, sizeof *recorded, "the results of a loop", &recorded));
  ND4C_TRY(read_body(e, body, carried, recorded));
  for (int32_t i = 0; i < e->node->output_count && 1 + i < body->outputs.count; i++) {
    result made = recorded[1 + i];
    nd4c_emitted_info initial;
    if (made.dtype != ND4C_DTYPE_NONE) {
      ND4C_TRY(note(e, i, &made));
      continue;
    }
    ND4C_TRY(read_declared(nd4c_onnx_graph_output(body, 1 + i), &made));
    if (i < carried && made.dtype == ND4C_DTYPE_NONE && describe(e, 2 + i, &initial)) {
      set_free(&made, initial.dtype, initial.rank);
    } else if (i >= carried && made.dtype != ND4C_DTYPE_NONE) {
      set_free(&made, made.dtype, made.rank + 1);
    }
    ND4C_TRY(note(e, i, &made));
  }
  return ND4C_OK;
}

nd4c_status nd4c_onnx_foresee_results(nd4c_onnx_emission *emission) {
  const nd4c_span op = emission->node->op;
  const bool own = emission->node->domain.size == 0 && emission->node->function == NULL;
  nd4c_status status = !own                       ? ND4C_OK
                       : nd4c_span_is(op, "If")   ? foresee_if(emission)
                       : nd4c_span_is(op, "Loop") ? foresee_loop(emission)
                                                  : foresee_by_op(emission);
  return status == ND4C_OK ? foresee_declared(emission) : status;
}
