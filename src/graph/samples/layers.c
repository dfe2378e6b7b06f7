/* nd4c_calibration_measure and _get_layer: what each layer loses alone if its input and weights are rounded to bytes. A
 * copy of the session's graph has each layer twice, the second time on rounded values, and gives the sums of squares of
 * the results and of their differences. Programs and `nd4c calibrate` call them. */
#include <math.h>
#include <stdio.h>

#include "array/array.h"
#include "base/alloc.h"
#include "base/status.h"
#include "device/context/context.h"
#include "device/stream/cancellation.h"
#include "graph/ir/graph_emitter.h"
#include "graph/names/ports.h"
#include "graph/plan.h"
#include "graph/samples/run.h"

/* Adds to a graph what measures the layers. */
typedef struct builder {
  const nd4c_calibration *calibration;
  const nd4c_calibration_session *session;
  nd4c_graph *graph;
  nd4c_graph_emitter emitter;
} builder;

static nd4c_emitter *emitter_of(builder *b) {
  return &b->emitter.emitter;
}

/* A value rounded to bytes and back. */
static nd4c_status round_value(builder *b, nd4c_value x, const nd4c_calibration_range *range, nd4c_value *rounded) {
  const nd4c_calibration_affine affine = nd4c_calibration_affine_of(range->low, range->high);
  nd4c_value inputs[3] = {x};
  ND4C_TRY(nd4c_emit_scalar(emitter_of(b), ND4C_FLOAT32, (double)affine.step, &inputs[1]));
  ND4C_TRY(nd4c_emit_scalar(emitter_of(b), ND4C_UINT8, affine.zero, &inputs[2]));
  ND4C_TRY(nd4c_emit(emitter_of(b), ND4C_OP_quantize_linear, inputs, 3, NULL, 0, &inputs[0]));
  return nd4c_emit(emitter_of(b), ND4C_OP_dequantize_linear, inputs, 3, NULL, 0, rounded);
}

/* Rounds weights of float32 in place. */
static nd4c_status round_elements(float *elements, const nd4c_array *array, int32_t axis) {
  nd4c_calibration_weights weights;
  double *numbers = NULL;
  int64_t inner = 1;
  ND4C_TRY(nd4c_allocate_or_fail((size_t)array->size + 1, sizeof *numbers, "weights", &numbers));
  for (int64_t i = 0; i < array->size; i++) {
    numbers[i] = (double)elements[i];
  }
  ND4C_TRY(nd4c_calibration_round_weights(numbers, array->rank, array->shape, axis, &weights));
  for (int32_t i = axis + 1; i < array->rank; i++) {
    inner *= array->shape[i];
  }
  for (int64_t i = 0; i < array->size; i++) {
    elements[i] = (float)(weights.codes[i] * weights.steps[i / inner % weights.outputs]);
  }
  nd4c_calibration_weights_free(&weights);
  return ND4C_OK;
}

static nd4c_status round_array(builder *b, const nd4c_array *array, int32_t axis, nd4c_value *rounded) {
  const size_t bytes = (size_t)array->size * sizeof(float);
  nd4c_array *made = NULL;
  float *elements = NULL;
  ND4C_TRY(nd4c_array_empty(ND4C_FLOAT32, array->rank, array->shape, b->session->context->device, &made));
  nd4c_status status = nd4c_allocate_or_fail((size_t)array->size + 1, sizeof *elements, "weights", &elements);
  status = status == ND4C_OK ? nd4c_array_read(array, elements, bytes) : status;
  status = status == ND4C_OK ? round_elements(elements, array, axis) : status;
  status = status == ND4C_OK ? nd4c_array_write(made, elements, bytes) : status;
  nd4c_deallocate(elements);
  if (status != ND4C_OK) {
    nd4c_array_release(made);
    return status;
  }
  return nd4c_emit_constant(emitter_of(b), made, rounded);
}

/* The sum of the squares of a value's elements as an output: in float64, as squares of float32 overflow. */
static nd4c_status give_squares(builder *b, nd4c_value x, const char *name, const char *suffix) {
  char text[512];
  nd4c_value square = ND4C_VALUE_NONE, sum = ND4C_VALUE_NONE;
  ND4C_TRY(nd4c_emit_cast(emitter_of(b), x, ND4C_FLOAT64, &x));
  ND4C_TRY(nd4c_emit_binary(emitter_of(b), ND4C_OP_multiply, x, x, &square));
  ND4C_TRY(nd4c_emit_reduce(emitter_of(b), ND4C_OP_sum, square, 0, NULL, false, &sum));
  (void)snprintf(text, sizeof text, "%d %.400s %s", (int)b->graph->outputs.count, name, suffix);
  return nd4c_graph_output(b->graph, text, sum);
}

/* The same node on other inputs of the same dtypes and shapes. */
static nd4c_status repeat_node(nd4c_graph *graph, const nd4c_graph_node *node, const nd4c_value *inputs,
                               nd4c_value *again) {
  const nd4c_graph_node made = {.def = node->def, .input_count = node->input_count, .output_count = 1};
  nd4c_inferred inferred;
  ND4C_TRY(nd4c_graph_infer(graph, node->def, inputs, node->input_count, node->attrs, &inferred));
  ND4C_TRY(nd4c_graph_add_node(graph, made, inputs, node->attrs, node->label, &inferred));
  *again = graph->nodes[graph->node_count - 1].outputs[0];
  return ND4C_OK;
}

static nd4c_status add_layer(builder *b, nd4c_calibration_measured *layer) {
  enum { MOST = 4 };
  const nd4c_graph_node node = b->graph->nodes[layer->node]; /* a copy: adding moves the list */
  const nd4c_value x = node.inputs[0], w = node.inputs[1];
  const char *name = b->session->names[x];
  const nd4c_calibration_range *range = name == NULL ? NULL : nd4c_calibration_find(b->calibration, name);
  nd4c_value inputs[MOST], again = ND4C_VALUE_NONE, difference = ND4C_VALUE_NONE;
  if (range == NULL || !nd4c_calibration_fits(range->low, range->high) || node.input_count > (int32_t)MOST) {
    return ND4C_OK;
  }
  for (int32_t i = 0; i < node.input_count; i++) {
    inputs[i] = node.inputs[i];
  }
  ND4C_TRY(round_value(b, x, range, &inputs[0]));
  const nd4c_status status =
      round_array(b, b->graph->values[w].constant, nd4c_calibration_output_axis(&node), &inputs[1]);
  if (status == ND4C_UNSUPPORTED) {
    return ND4C_OK; /* weights that are not finite */
  }
  ND4C_TRY(status);
  ND4C_TRY(repeat_node(b->graph, &node, inputs, &again));
  ND4C_TRY(nd4c_emit_binary(emitter_of(b), ND4C_OP_subtract, node.outputs[0], again, &difference));
  layer->output = b->graph->outputs.count;
  ND4C_TRY(give_squares(b, node.outputs[0], layer->name, "signal"));
  return give_squares(b, difference, layer->name, "noise");
}

static nd4c_status add_layers(builder *b, nd4c_calibration_session *session) {
  nd4c_ports_free(&b->graph->outputs);
  b->graph->outputs = (nd4c_graph_ports){.count = 0};
  for (int32_t i = 0; i < session->layer_count; i++) {
    ND4C_TRY(nd4c_cancellation_poll());
    ND4C_TRY(add_layer(b, &session->layers[i]));
  }
  session->output_count = b->graph->outputs.count;
  return session->output_count > 0
             ? nd4c_calibration_make_plan(session, b->graph, &session->layers_plan)
             : nd4c_fail(ND4C_UNSUPPORTED, "nd4c_calibration_measure: no layer has a range for its input");
}

static nd4c_status make_layers_plan(nd4c_calibration *calibration) {
  builder b = {.calibration = calibration, .session = calibration->session};
  ND4C_TRY(nd4c_graph_clone(calibration->session->graph, &b.graph));
  nd4c_graph_emitter_open(&b.emitter, b.graph, NULL);
  const nd4c_status status = add_layers(&b, calibration->session);
  nd4c_graph_destroy(b.graph);
  return status;
}

/* -- measuring ----------------------------------------------------------------------------------------------------- */

/* All sums are read before any is added: a sample counts as a whole. A layer whose values are not finite in this sample
 * is not measured by it. */
static nd4c_status read_sums(const nd4c_calibration_session *session, nd4c_array *const *outputs, double *sums) {
  const int64_t none[1] = {0};
  for (int32_t i = 0; i < session->output_count; i++) {
    ND4C_TRY(nd4c_array_item(outputs[i], none, &sums[i]));
  }
  for (int32_t i = 0; i < session->layer_count; i++) {
    nd4c_calibration_measured *layer = &session->layers[i];
    const double *of = layer->output < 0 ? NULL : &sums[layer->output];
    if (of != NULL && isfinite(of[0]) && isfinite(of[1])) {
      layer->signal += of[0];
      layer->noise += of[1];
    }
  }
  return ND4C_OK;
}

static nd4c_status add_sums(const nd4c_calibration_session *session, nd4c_array *const *outputs) {
  double *sums = NULL;
  ND4C_TRY(nd4c_allocate_or_fail((size_t)session->output_count, sizeof *sums, "sums of layers", &sums));
  const nd4c_status status = read_sums(session, outputs, sums);
  nd4c_deallocate(sums);
  return status;
}

nd4c_status nd4c_calibration_measure(nd4c_calibration *calibration, const nd4c_array *const *inputs,
                                     int32_t input_count) {
  ND4C_TRY(nd4c_calibration_check_finished(calibration, "nd4c_calibration_measure"));
  nd4c_calibration_session *session = calibration->session;
  nd4c_array **outputs = NULL;
  if (session == NULL) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_calibration_measure: the calibration was loaded, and has no graph");
  }
  ND4C_TRY(session->layers_plan != NULL ? ND4C_OK : make_layers_plan(calibration));
  ND4C_TRY(nd4c_calibration_check_sample(session, "nd4c_calibration_measure", inputs, input_count));
  ND4C_TRY(nd4c_calibration_run(session, "nd4c_calibration_measure", session->layers_plan, session->output_count,
                                inputs, input_count, &outputs));
  const nd4c_status status = add_sums(session, outputs);
  nd4c_calibration_free_outputs(outputs, session->output_count);
  return status;
}

/* -- telling ------------------------------------------------------------------------------------------------------- */

int32_t nd4c_calibration_layer_count(const nd4c_calibration *calibration) {
  return calibration == NULL || calibration->session == NULL ? 0 : calibration->session->layer_count;
}

nd4c_status nd4c_calibration_get_layer(const nd4c_calibration *calibration, int32_t index,
                                       nd4c_calibration_layer *layer) {
  ND4C_TRY(nd4c_calibration_check(calibration));
  if (layer == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_calibration_get_layer: layer is NULL");
  }
  if (!ND4C_HAS_FIELD(layer, decibels)) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_calibration_get_layer: struct_size is %u, expected at least %u",
                     layer->struct_size, ND4C_SIZE_OF(nd4c_calibration_layer));
  }
  const int32_t count = nd4c_calibration_layer_count(calibration);
  if (index < 0 || index >= count) {
    return nd4c_fail(ND4C_INDEX, "nd4c_calibration_get_layer: there are %d layers, not one number %d", (int)count,
                     (int)index);
  }
  const nd4c_calibration_measured *found = &calibration->session->layers[index];
  layer->name = found->name;
  layer->op = calibration->session->graph->nodes[found->node].def->info.name;
  layer->decibels = found->signal > 0 ? 10 * log10(found->signal / found->noise) : (double)NAN;
  return ND4C_OK;
}
