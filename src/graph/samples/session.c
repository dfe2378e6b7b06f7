/* nd4c_calibration_create, _observe and _finish: run samples through the graph, with each value that matters as an
 * output, and look at the results. Programs, `nd4c calibrate` and the Python package call them. */
#include "graph/samples/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "device/context/context.h"
#include "device/stream/cancellation.h"
#include "graph/ir/variables.h"
#include "graph/names/ports.h"
#include "graph/passes.h"
#include "graph/plan.h"
#include "graph/quantization.h"

/* -- life ---------------------------------------------------------------------------------------------------------- */

static void free_session(nd4c_calibration_session *session) {
  nd4c_plan_destroy(session->plan);
  nd4c_plan_destroy(session->layers_plan);
  for (int32_t i = 0; i < session->watched_count; i++) {
    nd4c_observer_free(&session->watched[i].observer);
  }
  nd4c_graph_destroy(session->graph);
  nd4c_region_free(&session->region);
  if (session->context != NULL) {
    nd4c_context_drop(session->context);
  }
  nd4c_deallocate(session);
}

/* -- what is watched ----------------------------------------------------------------------------------------------- */

static void watch(const nd4c_graph *graph, nd4c_value value, bool *watched) {
  if (value >= 0 && graph->values[value].dtype == ND4C_FLOAT32 && graph->values[value].constant == NULL) {
    watched[value] = true;
  }
}

/* Values that bytes may stand for: what layers read, what convolutions give, and what can lie between those. */
static void watch_node(const nd4c_graph *graph, const nd4c_graph_node *node, bool convolves, bool *watched) {
  const nd4c_op op = node->def->info.op;
  const bool layer = nd4c_calibration_is_layer(graph, node);
  const bool between = op == ND4C_OP_add || op == ND4C_OP_relu || op == ND4C_OP_clip || op == ND4C_OP_concat;
  if (layer) {
    watch(graph, node->inputs[0], watched);
  }
  if ((layer && op == ND4C_OP_conv) || (convolves && between)) {
    watch(graph, node->outputs[0], watched);
  }
  for (int32_t i = 0; convolves && op == ND4C_OP_add && i < node->input_count; i++) {
    watch(graph, node->inputs[i], watched);
  }
}

static void watch_graph(const nd4c_graph *graph, bool *watched, int32_t *layers) {
  bool convolves = false;
  for (int32_t i = 0; i < graph->node_count; i++) {
    const bool layer = nd4c_calibration_is_layer(graph, &graph->nodes[i]);
    *layers += layer;
    convolves = convolves || (layer && graph->nodes[i].def->info.op == ND4C_OP_conv);
  }
  for (int32_t i = 0; i < graph->node_count; i++) {
    watch_node(graph, &graph->nodes[i], convolves, watched);
  }
}

static nd4c_status list_layers(nd4c_calibration_session *session, int32_t layers) {
  const nd4c_graph *graph = session->graph;
  ND4C_TRY(nd4c_region_make(&session->region, layers, sizeof *session->layers, &session->layers));
  for (int32_t i = 0; i < graph->node_count; i++) {
    const nd4c_graph_node *node = &graph->nodes[i];
    if (nd4c_calibration_is_layer(graph, node)) {
      session->layers[session->layer_count++] =
          (nd4c_calibration_measured){.node = i, .name = session->names[node->outputs[0]], .output = -1};
    }
  }
  return ND4C_OK;
}

static bool layer_reads(const nd4c_graph *graph, nd4c_value value) {
  for (int32_t i = 0; i < graph->node_count; i++) {
    if (graph->nodes[i].inputs[0] == value && nd4c_calibration_is_layer(graph, &graph->nodes[i])) {
      return true;
    }
  }
  return false;
}

static nd4c_status list_watched(nd4c_calibration_session *session, const nd4c_observing *how, const bool *watched) {
  int32_t count = 0;
  for (int32_t i = 0; i < session->graph->value_count; i++) {
    count += watched[i] && session->names[i] != NULL;
  }
  ND4C_TRY(nd4c_region_make(&session->region, count, sizeof *session->watched, &session->watched));
  for (int32_t i = 0; i < session->graph->value_count; i++) {
    if (watched[i] && session->names[i] != NULL) {
      nd4c_calibration_watched *at = &session->watched[session->watched_count];
      ND4C_TRY(nd4c_cancellation_poll());
      at->value = i;
      at->output = session->graph->values[i].input >= 0 ? -1 : session->output_count++;
      at->fed = at->output < 0 && layer_reads(session->graph, i);
      ND4C_TRY(nd4c_observer_init(&at->observer, how));
      session->watched_count++;
    }
  }
  return ND4C_OK;
}

/* -- plans --------------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_calibration_make_plan(const nd4c_calibration_session *session, const nd4c_graph *graph,
                                       nd4c_plan **plan) {
  const nd4c_plan_options options = {.struct_size = sizeof options, .passes = "-reduced_precision,-quantize"};
  return nd4c_plan_create(graph, session->context, &options, plan);
}

/* A copy of the session's graph whose outputs are the watched values. */
static nd4c_status make_watching(const nd4c_calibration_session *session, nd4c_graph *graph) {
  nd4c_ports_free(&graph->outputs);
  graph->outputs = (nd4c_graph_ports){.count = 0};
  for (int32_t i = 0; i < session->watched_count; i++) {
    const nd4c_calibration_watched *at = &session->watched[i];
    if (at->output >= 0) {
      ND4C_TRY(nd4c_graph_output(graph, session->names[at->value], at->value));
    }
  }
  return ND4C_OK;
}

static nd4c_status make_plan(nd4c_calibration_session *session) {
  nd4c_graph *graph = NULL;
  if (session->output_count == 0) {
    return ND4C_OK; /* inputs alone are watched */
  }
  ND4C_TRY(nd4c_graph_clone(session->graph, &graph));
  nd4c_status status = make_watching(session, graph);
  if (status == ND4C_OK) {
    status = nd4c_calibration_make_plan(session, graph, &session->plan);
  }
  nd4c_graph_destroy(graph);
  return status;
}

static nd4c_status begin(nd4c_calibration_session *session, const nd4c_graph *graph, const nd4c_observing *how) {
  bool *watched = NULL;
  int32_t layers = 0;
  ND4C_TRY(nd4c_quantization_capture(graph, session->context, &session->region, &session->graph, &session->names));
  ND4C_TRY(nd4c_variables_fork(session->graph)); /* samples leave the program's variables as they are */
  ND4C_TRY(nd4c_region_make(&session->region, session->graph->value_count, sizeof *watched, &watched));
  watch_graph(session->graph, watched, &layers);
  if (layers == 0) {
    return nd4c_fail(ND4C_UNSUPPORTED,
                     "nd4c_calibration_create: the graph has no convolution and no product of float32 with constant "
                     "weights");
  }
  ND4C_TRY(list_layers(session, layers));
  ND4C_TRY(list_watched(session, how, watched));
  return make_plan(session);
}

/* -- creating ------------------------------------------------------------------------------------------------------ */

static nd4c_status read_options(const nd4c_calibration_options *options, nd4c_observing *how) {
  *how = (nd4c_observing){ND4C_CALIBRATION_MIN_MAX, 99.99, 0.01};
  if (options == NULL) {
    return ND4C_OK;
  }
  if (!ND4C_HAS_FIELD(options, momentum)) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_calibration_create: options.struct_size is %u, expected at least %u",
                     options->struct_size, ND4C_SIZE_OF(nd4c_calibration_options));
  }
  how->method = options->method;
  how->percentile = options->percentile == 0 ? how->percentile : options->percentile;
  how->momentum = options->momentum == 0 ? how->momentum : options->momentum;
  if (nd4c_calibration_method_name(how->method) == NULL) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_calibration_create: there is no method %d", (int)how->method);
  }
  if (!(how->percentile > 0 && how->percentile <= 100)) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_calibration_create: options.percentile is %g, expected above 0, at most 100",
                     how->percentile);
  }
  return how->momentum > 0 && how->momentum <= 1
             ? ND4C_OK
             : nd4c_fail(ND4C_ARGUMENT, "nd4c_calibration_create: options.momentum is %g, expected above 0, at most 1",
                         how->momentum);
}

nd4c_status nd4c_calibration_create(const nd4c_graph *graph, nd4c_context *context,
                                    const nd4c_calibration_options *options, nd4c_calibration **calibration) {
  nd4c_observing how;
  nd4c_context *resolved = NULL;
  nd4c_calibration *made = NULL;
  ND4C_TRY(nd4c_graph_check(graph));
  if (calibration == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_calibration_create: calibration is NULL");
  }
  ND4C_TRY(read_options(options, &how));
  ND4C_TRY(nd4c_context_resolve(context, &resolved));
  ND4C_TRY(nd4c_plan_check_outputs(graph, "nd4c_calibration_create"));
  ND4C_TRY(nd4c_calibration_allocate(&made));
  made->how = how;
  nd4c_status status = nd4c_allocate_or_fail(1, sizeof *made->session, "a calibration", &made->session);
  if (status == ND4C_OK) {
    made->session->free = free_session;
    made->session->context = nd4c_context_retain(resolved);
    status = nd4c_calibration_fingerprint(graph, &made->fingerprint);
  }
  status = status == ND4C_OK ? begin(made->session, graph, &how) : status;
  if (status != ND4C_OK) {
    nd4c_calibration_release(made);
    return status;
  }
  *calibration = made;
  return ND4C_OK;
}

/* -- observing ----------------------------------------------------------------------------------------------------- */

void nd4c_calibration_free_outputs(nd4c_array **outputs, int32_t count) {
  for (int32_t i = 0; outputs != NULL && i < count; i++) {
    nd4c_array_release(outputs[i]);
  }
  nd4c_deallocate((void *)outputs);
}

/* Extents that are dims are checked by the plan. */
static nd4c_status check_shape(const nd4c_graph_value *value, const nd4c_array *array, const char *what,
                               const char *name) {
  if (array->rank != value->rank) {
    return nd4c_fail(ND4C_SHAPE, "%s: input '%s' has %d axes, expected %d", what, name, (int)array->rank,
                     (int)value->rank);
  }
  for (int32_t i = 0; i < value->rank; i++) {
    if (!nd4c_extent_is_symbolic(value->shape[i]) && array->shape[i] != value->shape[i]) {
      return nd4c_fail(ND4C_SHAPE, "%s: axis %d of input '%s' is %lld, expected %lld", what, (int)i, name,
                       (long long)array->shape[i], (long long)value->shape[i]);
    }
  }
  return ND4C_OK;
}

static nd4c_status check_inputs(const nd4c_graph *graph, const char *what, const nd4c_array *const *inputs,
                                int32_t input_count) {
  if (inputs == NULL || input_count != graph->inputs.count) {
    return nd4c_fail(inputs == NULL ? ND4C_NULL_ARGUMENT : ND4C_ARGUMENT, "%s: %d inputs%s, expected %d", what,
                     (int)input_count, inputs == NULL ? ", which are NULL" : "", (int)graph->inputs.count);
  }
  for (int32_t i = 0; i < input_count; i++) {
    const nd4c_graph_port *port = &graph->inputs.items[i];
    ND4C_TRY(nd4c_array_check(inputs[i], port->name));
    if (inputs[i]->dtype != graph->values[port->value].dtype) {
      return nd4c_fail(ND4C_DTYPE, "%s: input '%s' is %s, expected %s", what, port->name,
                       nd4c_dtype_name(inputs[i]->dtype), nd4c_dtype_name(graph->values[port->value].dtype));
    }
    ND4C_TRY(check_shape(&graph->values[port->value], inputs[i], what, port->name));
  }
  return ND4C_OK;
}

nd4c_status nd4c_calibration_run(const nd4c_calibration_session *session, const char *what, nd4c_plan *plan,
                                 int32_t output_count, const nd4c_array *const *inputs, int32_t input_count,
                                 nd4c_array ***outputs) {
  nd4c_array **made = NULL;
  ND4C_TRY(check_inputs(session->graph, what, inputs, input_count));
  ND4C_TRY(nd4c_allocate_or_fail((size_t)output_count + 1, sizeof *made, "values of a sample", &made));
  const nd4c_status status = plan == NULL ? ND4C_OK : nd4c_plan_run(plan, inputs, input_count, made, output_count);
  if (status != ND4C_OK) {
    nd4c_calibration_free_outputs(made, output_count);
    return status;
  }
  *outputs = made;
  return ND4C_OK;
}

/* One sample: the values of the plan, and a copy of the elements of one of them. */
typedef struct sample {
  const nd4c_calibration_session *session;
  const nd4c_array *const *inputs;
  nd4c_array **outputs;
  nd4c_extremes *extremes; /* by watched value */
  float *elements;
  int32_t capacity;
} sample;

static const nd4c_array *array_of(const sample *s, const nd4c_calibration_watched *at) {
  return at->output >= 0 ? s->outputs[at->output] : s->inputs[s->session->graph->values[at->value].input];
}

static nd4c_status read_elements(sample *s, const nd4c_array *array) {
  if (array->size > INT32_MAX) {
    return nd4c_fail(ND4C_UNSUPPORTED, "a value of %lld elements, expected at most %d", (long long)array->size,
                     (int)INT32_MAX);
  }
  ND4C_TRY(nd4c_grow(&s->elements, &s->capacity, (int32_t)array->size, sizeof *s->elements, "values of a sample"));
  return nd4c_array_read(array, s->elements, (size_t)array->size * sizeof *s->elements);
}

static nd4c_status fail_odd(const nd4c_calibration_session *session, const char *what,
                            const nd4c_calibration_watched *at) {
  return nd4c_fail(ND4C_ARGUMENT, "%s: input '%s' has NaN or an infinity", what, session->names[at->value]);
}

static nd4c_status find_extremes(sample *s) {
  const nd4c_calibration_session *session = s->session;
  for (int32_t i = 0; i < session->watched_count; i++) {
    const nd4c_calibration_watched *at = &session->watched[i];
    const nd4c_array *array = array_of(s, at);
    ND4C_TRY(nd4c_cancellation_poll());
    ND4C_TRY(read_elements(s, array));
    s->extremes[i] = array->size > 0 ? nd4c_extremes_of(s->elements, array->size) : (nd4c_extremes){.finite = true};
    if (!s->extremes[i].finite && at->fed) {
      return fail_odd(session, "nd4c_calibration_observe", at);
    }
  }
  return ND4C_OK;
}

static nd4c_status check_elements(sample *s, const char *what) {
  for (int32_t i = 0; i < s->session->watched_count; i++) {
    const nd4c_calibration_watched *at = &s->session->watched[i];
    const nd4c_array *array = at->fed ? array_of(s, at) : NULL;
    if (array == NULL || array->size == 0) {
      continue;
    }
    ND4C_TRY(read_elements(s, array));
    if (!nd4c_extremes_of(s->elements, array->size).finite) {
      return fail_odd(s->session, what, at);
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_calibration_check_sample(const nd4c_calibration_session *session, const char *what,
                                          const nd4c_array *const *inputs, int32_t input_count) {
  sample s = {.session = session, .inputs = inputs};
  ND4C_TRY(check_inputs(session->graph, what, inputs, input_count));
  const nd4c_status status = check_elements(&s, what);
  nd4c_deallocate(s.elements);
  return status;
}

/* After all that can fail but reading again what was read before. */
static nd4c_status add_elements(const nd4c_calibration *calibration, sample *s) {
  for (int32_t i = 0; i < s->session->watched_count; i++) {
    nd4c_observer *observer = &s->session->watched[i].observer;
    const nd4c_array *array = array_of(s, &s->session->watched[i]);
    if (observer->bins != NULL && array->size > 0) {
      ND4C_TRY(read_elements(s, array));
    }
    if (!s->extremes[i].finite) {
      observer->broken = true;
    } else if (array->size > 0) {
      nd4c_observer_add(observer, &calibration->how, s->extremes[i], s->elements, array->size);
    }
  }
  return ND4C_OK;
}

static nd4c_status observe(nd4c_calibration *calibration, sample *s) {
  ND4C_TRY(nd4c_allocate_or_fail((size_t)s->session->watched_count, sizeof *s->extremes, "values of a sample",
                                 &s->extremes));
  ND4C_TRY(find_extremes(s));
  ND4C_TRY(add_elements(calibration, s));
  calibration->samples++;
  return ND4C_OK;
}

nd4c_status nd4c_calibration_observe(nd4c_calibration *calibration, const nd4c_array *const *inputs,
                                     int32_t input_count) {
  ND4C_TRY(nd4c_calibration_check(calibration));
  if (calibration->finished) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_calibration_observe: the calibration is finished, and takes no samples");
  }
  nd4c_calibration_session *session = calibration->session;
  sample s = {.session = session, .inputs = inputs};
  ND4C_TRY(nd4c_calibration_run(session, "nd4c_calibration_observe", session->plan, session->output_count, inputs,
                                input_count, &s.outputs));
  const nd4c_status status = observe(calibration, &s);
  nd4c_calibration_free_outputs(s.outputs, session->output_count);
  nd4c_deallocate(s.extremes);
  nd4c_deallocate(s.elements);
  return status;
}

/* -- finishing ----------------------------------------------------------------------------------------------------- */

static nd4c_status add_ranges(nd4c_calibration *calibration, double *scratch) {
  const nd4c_calibration_session *session = calibration->session;
  calibration->ranges.count = 0; /* of an attempt that failed */
  for (int32_t i = 0; i < session->watched_count; i++) {
    const nd4c_calibration_watched *at = &session->watched[i];
    double low = 0, high = 0;
    ND4C_TRY(nd4c_cancellation_poll());
    if (at->observer.seen && !at->observer.broken) {
      nd4c_observer_range(&at->observer, &calibration->how, scratch, &low, &high);
      ND4C_TRY(nd4c_calibration_add(calibration, session->names[at->value], low, high));
    }
  }
  return nd4c_calibration_seal(calibration);
}

nd4c_status nd4c_calibration_finish(nd4c_calibration *calibration) {
  double *scratch = NULL;
  ND4C_TRY(nd4c_calibration_check(calibration));
  if (calibration->finished || calibration->samples == 0) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_calibration_finish: %s",
                     calibration->finished ? "the calibration is finished already" : "no sample was observed");
  }
  ND4C_TRY(nd4c_allocate_or_fail(ND4C_OBSERVER_BINS, sizeof *scratch, "a histogram", &scratch));
  const nd4c_status status = add_ranges(calibration, scratch);
  nd4c_deallocate(scratch);
  ND4C_TRY(status);
  nd4c_calibration_session *session = calibration->session;
  nd4c_plan_destroy(session->plan);
  session->plan = NULL;
  for (int32_t i = 0; i < session->watched_count; i++) {
    nd4c_observer_free(&session->watched[i].observer);
  }
  return ND4C_OK;
}
