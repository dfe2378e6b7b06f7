/* Records nodes with bodies (nd4c/control.h): checks that a body fits what its node gives and takes, and infers the
 * node's outputs. Programs call it; so do bodies.c, which binds graphs, the passes, and the importer. */
#include "graph/ir/control.h"

#include <stdio.h>
#include <string.h>

#include "array/narrow.h"
#include "array/shape.h"
#include "base/alloc.h"
#include "base/status.h"
#include "base/text.h"

enum { SHOWN = 200, TEXT = 256 };

/* -- kinds --------------------------------------------------------------------------------------------------------- */

/* No call accepts these numbers: they are above the op table and below those of plug-ins. */
enum { FIRST_NUMBER = ND4C_OP_PLUGIN - 16 };

static const nd4c_op_input any_inputs[] = {{"inputs", .optional = true, .variadic = true}};

#define CONTROL_DEF(kind_, name_, doc_)                                         \
  [ND4C_CONTROL_##kind_] = {.info = {.struct_size = ND4C_SIZE_OF(nd4c_op_info), \
                                     .op = FIRST_NUMBER + ND4C_CONTROL_##kind_, \
                                     .version = 1,                              \
                                     .name = name_,                             \
                                     .category_name = "control",                \
                                     .input_count = 1,                          \
                                     .inputs = any_inputs,                      \
                                     .doc = doc_,                               \
                                     .names = "",                               \
                                     .provider = ""}}

static const nd4c_op_def defs[] = {
    CONTROL_DEF(IF, "if", "runs one of two bodies"), CONTROL_DEF(LOOP, "loop", "runs a body in rounds"),
    CONTROL_DEF(SCAN, "scan", "runs a body for each element of an axis"), CONTROL_DEF(CALL, "call", "runs a function")};

const nd4c_op_def *nd4c_control_def(nd4c_control_kind kind) {
  return &defs[kind];
}

int32_t nd4c_control_lead(const nd4c_control *control) {
  return control->kind == ND4C_CONTROL_IF ? 1 : (int32_t)control->has_trips + (int32_t)control->has_condition;
}

int32_t nd4c_control_input_count(const nd4c_control *control) {
  return nd4c_control_lead(control) + control->carried + control->scanned + control->captured;
}

static bool has_rounds(const nd4c_control *control) {
  return control->kind == ND4C_CONTROL_LOOP || control->kind == ND4C_CONTROL_SCAN;
}

int32_t nd4c_control_output_count(const nd4c_control *control) {
  return has_rounds(control) ? control->carried + control->collected : control->bodies[0]->graph->outputs.count;
}

/* -- checking ------------------------------------------------------------------------------------------------------ */

/* A node while it is checked against a body. */
typedef struct fitting {
  nd4c_graph *graph;
  const nd4c_control *control;
  const nd4c_value *inputs; /* of the node */
  const nd4c_graph *body;
  const char *which; /* "body", "then", "else" */
  nd4c_body_dims dims;
} fitting;

static const char *shape_text(const fitting *fit, int32_t rank, const int64_t *shape, char *buffer, size_t size) {
  char numbers[TEXT];
  (void)nd4c_shape_text(rank, shape, numbers, sizeof numbers);
  nd4c_extents_translate(fit->graph->extents, numbers, buffer, size);
  return buffer;
}

/* Extents of which neither is a number become a guard if they may differ. */
static bool shapes_agree(const fitting *fit, int32_t rank, const int64_t *a, const int64_t *b) {
  for (int32_t i = 0; i < rank; i++) {
    const bool symbolic = nd4c_extent_is_symbolic(a[i]) && nd4c_extent_is_symbolic(b[i]);
    if (symbolic ? !nd4c_extents_assume(fit->graph->extents, ND4C_RELATION_EQUAL, a[i], b[i]) : a[i] != b[i]) {
      return false;
    }
  }
  return true;
}

/* What the body has must be what is given around it. */
static nd4c_status compare(const fitting *fit, const char *what, int32_t number, nd4c_value inner, nd4c_dtype dtype,
                           int32_t rank, const int64_t *shape) {
  const nd4c_graph_value *value = &fit->body->values[inner];
  int64_t extents[ND4C_MAX_RANK];
  if (value->dtype != dtype) {
    return nd4c_fail(ND4C_DTYPE, "%s: %s %d has dtype %s, expected %s", fit->which, what, (int)number,
                     nd4c_dtype_name(value->dtype), nd4c_dtype_name(dtype));
  }
  ND4C_TRY(nd4c_body_dims_shape(&fit->dims, value, extents));
  if (value->rank != rank || !shapes_agree(fit, rank, extents, shape)) {
    char has[TEXT], expected[TEXT];
    return nd4c_fail(ND4C_SHAPE, "%s: %s %d has shape %s, expected %s", fit->which, what, (int)number,
                     shape_text(fit, value->rank, extents, has, sizeof has),
                     shape_text(fit, rank, shape, expected, sizeof expected));
  }
  return ND4C_OK;
}

static nd4c_status compare_value(const fitting *fit, const char *what, int32_t number, nd4c_value inner,
                                 nd4c_value outer) {
  const nd4c_graph_value *value = &fit->graph->values[outer];
  return compare(fit, what, number, inner, value->dtype, value->rank, value->shape);
}

static nd4c_value body_input(const fitting *fit, int32_t index) {
  return fit->body->inputs.items[index].value;
}

static nd4c_value body_output(const fitting *fit, int32_t index) {
  return fit->body->outputs.items[index].value;
}

/* An element of a scanned value: its first axis is the rounds. */
static nd4c_status compare_scanned(const fitting *fit, int32_t number, nd4c_value inner, nd4c_value outer) {
  const nd4c_graph_value *value = &fit->graph->values[outer];
  if (value->rank < 1 || nd4c_dtype_is_packed(value->dtype)) {
    return nd4c_fail(
        value->rank < 1 ? ND4C_SHAPE : ND4C_UNSUPPORTED,
        value->rank < 1 ? "scanned value %d has no axis" : "scanned value %d has several elements in a byte",
        (int)number);
  }
  if (!nd4c_extents_assume(fit->graph->extents, ND4C_RELATION_EQUAL, value->shape[0], fit->control->rounds)) {
    char has[TEXT], expected[TEXT];
    return nd4c_fail(ND4C_SHAPE, "scanned value %d has %s elements, expected %s", (int)number,
                     nd4c_extents_text(fit->graph->extents, value->shape[0], has, sizeof has),
                     nd4c_extents_text(fit->graph->extents, fit->control->rounds, expected, sizeof expected));
  }
  return compare(fit, "the input for scanned value", number, inner, value->dtype, value->rank - 1, value->shape + 1);
}

static nd4c_status check_counts(const fitting *fit, int32_t inputs, int32_t outputs) {
  if (fit->body->inputs.count != inputs) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: has %d inputs, expected %d", fit->which, (int)fit->body->inputs.count,
                     (int)inputs);
  }
  return fit->body->outputs.count == outputs ? ND4C_OK
                                             : nd4c_fail(ND4C_ARGUMENT, "%s: has %d outputs, expected %d", fit->which,
                                                         (int)fit->body->outputs.count, (int)outputs);
}

static nd4c_status check_loop_inputs(const fitting *fit) {
  const nd4c_control *control = fit->control;
  const nd4c_value *given = fit->inputs + nd4c_control_lead(control);
  int32_t at = 0;
  if (control->takes_round) {
    ND4C_TRY(compare(fit, "input", 0, body_input(fit, at++), ND4C_INT64, 0, NULL));
  }
  for (int32_t i = 0; i < control->carried; i++) {
    ND4C_TRY(compare_value(fit, "the input for carried value", i, body_input(fit, at++), given[i]));
  }
  given += control->carried;
  for (int32_t i = 0; i < control->scanned; i++) {
    ND4C_TRY(compare_scanned(fit, i, body_input(fit, at++), given[i]));
  }
  given += control->scanned;
  for (int32_t i = 0; i < control->captured; i++) {
    ND4C_TRY(compare_value(fit, "the input for captured value", i, body_input(fit, at++), given[i]));
  }
  return ND4C_OK;
}

static nd4c_status check_loop_outputs(const fitting *fit) {
  const nd4c_control *control = fit->control;
  const nd4c_value *given = fit->inputs + nd4c_control_lead(control);
  if (control->decides) {
    const nd4c_graph_value *value = &fit->body->values[body_output(fit, 0)];
    if (value->dtype != ND4C_BOOL || value->size != 1) {
      return nd4c_fail(value->dtype != ND4C_BOOL ? ND4C_DTYPE : ND4C_SHAPE,
                       "%s: output 0 says whether another round follows, expected one bool", fit->which);
    }
  }
  for (int32_t i = 0; i < control->carried; i++) {
    ND4C_TRY(compare_value(fit, "the output for carried value", i, body_output(fit, (int32_t)control->decides + i),
                           given[i]));
  }
  return ND4C_OK;
}

static nd4c_status check_calls(const fitting *fit) {
  const nd4c_value *given = fit->inputs + nd4c_control_lead(fit->control);
  for (int32_t i = 0; i < fit->control->captured; i++) {
    ND4C_TRY(compare_value(fit, "input", i, body_input(fit, i), given[i]));
  }
  return ND4C_OK;
}

/* -- outputs ------------------------------------------------------------------------------------------------------- */

static nd4c_status infer_output(const fitting *fit, nd4c_value inner, bool collected, nd4c_inferred *output) {
  const nd4c_graph_value *value = &fit->body->values[inner];
  if (collected && (value->rank >= ND4C_MAX_RANK || nd4c_dtype_is_packed(value->dtype))) {
    return nd4c_fail(ND4C_UNSUPPORTED, "%s: a value to collect has %s", fit->which,
                     value->rank >= ND4C_MAX_RANK ? "as many axes as an array can have" : "several elements in a byte");
  }
  *output = (nd4c_inferred){.dtype = value->dtype, .rank = value->rank + (int32_t)collected};
  output->shape[0] = fit->control->rounds;
  return nd4c_body_dims_shape(&fit->dims, value, output->shape + (int32_t)collected);
}

static nd4c_status infer_outputs(const fitting *fit, nd4c_inferred *outputs) {
  const nd4c_control *control = fit->control;
  const int32_t first = (int32_t)control->decides;
  for (int32_t i = 0; i < nd4c_control_output_count(control); i++) {
    ND4C_TRY(infer_output(fit, body_output(fit, first + i), has_rounds(control) && i >= control->carried, &outputs[i]));
  }
  return ND4C_OK;
}

/* Both bodies of an if give the same. */
static nd4c_status compare_outputs(const fitting *fit, const nd4c_inferred *outputs) {
  for (int32_t i = 0; i < fit->body->outputs.count; i++) {
    ND4C_TRY(compare(fit, "output", i, body_output(fit, i), outputs[i].dtype, outputs[i].rank, outputs[i].shape));
  }
  return ND4C_OK;
}

static nd4c_status fit_body(fitting *fit, bool first, nd4c_inferred *outputs) {
  const nd4c_control *control = fit->control;
  if (has_rounds(control)) {
    ND4C_TRY(check_counts(fit, (int32_t)control->takes_round + control->carried + control->scanned + control->captured,
                          (int32_t)control->decides + control->carried + control->collected));
    ND4C_TRY(check_loop_inputs(fit));
    ND4C_TRY(check_loop_outputs(fit));
    return infer_outputs(fit, outputs);
  }
  ND4C_TRY(check_counts(fit, control->captured, control->bodies[0]->graph->outputs.count));
  ND4C_TRY(check_calls(fit));
  return first ? infer_outputs(fit, outputs) : compare_outputs(fit, outputs);
}

/* -- recording ----------------------------------------------------------------------------------------------------- */

static nd4c_status check_one(const nd4c_graph *graph, nd4c_value value, nd4c_dtype dtype, const char *what) {
  const nd4c_graph_value *info = &graph->values[value];
  if (info->dtype != dtype) {
    return nd4c_fail(ND4C_DTYPE, "%s has dtype %s, expected %s", what, nd4c_dtype_name(info->dtype),
                     nd4c_dtype_name(dtype));
  }
  return info->size == 1 ? ND4C_OK : nd4c_fail(ND4C_SHAPE, "%s does not have one element", what);
}

static nd4c_status check_lead(const nd4c_graph *graph, const nd4c_control *control, const nd4c_value *inputs) {
  const bool branches = control->kind == ND4C_CONTROL_IF;
  if (control->has_trips) {
    ND4C_TRY(check_one(graph, inputs[0], ND4C_INT64, "the number of rounds"));
  }
  return branches || control->has_condition
             ? check_one(graph, inputs[control->has_trips ? 1 : 0], ND4C_BOOL, "the condition")
             : ND4C_OK;
}

static nd4c_status check_inputs(const nd4c_graph *graph, const nd4c_control *control, const nd4c_value *inputs,
                                int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    ND4C_TRY(nd4c_graph_check_value(graph, inputs[i], "an input"));
  }
  if (count != nd4c_control_input_count(control)) {
    return nd4c_fail(ND4C_ARGUMENT, "%d inputs, expected %d", (int)count, (int)nd4c_control_input_count(control));
  }
  return check_lead(graph, control, inputs);
}

static void set_asker(const nd4c_graph *graph, const char *asker) {
  if (graph->extents != NULL) {
    nd4c_extents_set_asker(graph->extents, asker);
  }
}

static nd4c_status fit_bodies(nd4c_graph *graph, const nd4c_control *control, const nd4c_value *inputs,
                              nd4c_inferred *inferred) {
  static const char *const branches[] = {"then", "else"};
  for (int32_t i = 0; i < control->body_count; i++) {
    fitting fit = {.graph = graph, .control = control, .inputs = inputs, .body = control->bodies[i]->graph};
    fit.which = control->kind == ND4C_CONTROL_IF ? branches[i] : "body";
    nd4c_status status = nd4c_body_dims_make(fit.body, graph, &fit.dims);
    if (status != ND4C_OK) {
      return nd4c_fail_prefix(status, "%s", fit.which);
    }
    set_asker(graph, nd4c_control_def(control->kind)->info.name);
    status = fit_body(&fit, i == 0, inferred);
    set_asker(graph, NULL);
    nd4c_body_dims_free(&fit.dims);
    ND4C_TRY(status);
  }
  return ND4C_OK;
}

nd4c_status nd4c_control_infer(nd4c_graph *graph, const nd4c_control *control, const nd4c_value *inputs,
                               int32_t input_count, nd4c_inferred *outputs) {
  ND4C_TRY(check_inputs(graph, control, inputs, input_count));
  return fit_bodies(graph, control, inputs, outputs);
}

static nd4c_status check_and_add(nd4c_graph *graph, nd4c_control *control, const nd4c_value *inputs,
                                 int32_t input_count, const char *label, nd4c_inferred *inferred) {
  ND4C_TRY(nd4c_control_infer(graph, control, inputs, input_count, inferred));
  const nd4c_graph_node node = {.def = nd4c_control_def(control->kind),
                                .input_count = input_count,
                                .output_count = nd4c_control_output_count(control),
                                .control = control};
  ND4C_TRY(nd4c_graph_hold_control(graph, control));
  return nd4c_graph_add_node(graph, node, inputs, NULL, label, inferred);
}

nd4c_status nd4c_control_record(nd4c_graph *graph, nd4c_control *control, const nd4c_value *inputs, int32_t input_count,
                                const char *label, nd4c_value *outputs) {
  const int32_t count = nd4c_control_output_count(control);
  const int32_t guards = graph->extents != NULL ? nd4c_extents_guard_count(graph->extents) : 0;
  const char *name = nd4c_control_def(control->kind)->info.name;
  nd4c_inferred *inferred = NULL;
  ND4C_TRY(nd4c_allocate_or_fail((size_t)count + 1, sizeof *inferred, "outputs of a node", &inferred));
  nd4c_status status = check_and_add(graph, control, inputs, input_count, label, inferred);
  nd4c_deallocate(inferred);
  if (status == ND4C_OK) {
    const nd4c_graph_node *node = &graph->nodes[graph->node_count - 1];
    for (int32_t i = 0; outputs != NULL && i < count; i++) {
      outputs[i] = node->outputs[i];
    }
    return ND4C_OK;
  }
  if (graph->extents != NULL) {
    nd4c_extents_forget(graph->extents, guards);
  }
  return label != NULL && label[0] != '\0' ? nd4c_fail_prefix(status, "node '%.*s': %s", SHOWN, label, name)
                                           : nd4c_fail_prefix(status, "%s", name);
}
