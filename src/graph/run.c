/* nd4c_plan_run, which programs call, and nd4c_plan_run_request, which runner.c and import/model_run.c call: checks
 * everything before it computes anything, copies arrays whose layout the steps do not expect, finds the memory of the
 * outputs, and lets the plan's mode compute. */
#include <stdio.h>
#include <string.h>

#include "array/shape.h"
#include "base/status.h"
#include "device/storage/storage.h"
#include "device/stream/cancellation.h"
#include "dispatch/routed.h"
#include "dispatch/whole.h"
#include "graph/dynamic.h"
#include "graph/variables.h"

/* Ranks and extents of a graph with dims: those that are numbers. */
static bool shape_fits(const nd4c_graph_value *value, const nd4c_array *array) {
  bool fits = array->rank == value->rank;
  for (int32_t i = 0; i < value->rank && fits; i++) {
    fits = array->shape[i] == value->shape[i] || nd4c_extent_is_symbolic(value->shape[i]);
  }
  return fits;
}

nd4c_status nd4c_plan_check_port(const nd4c_plan *plan, const char *what, const nd4c_graph_port *port,
                                 const nd4c_array *array) {
  const nd4c_graph_value *value = &plan->graph->values[port->value];
  if (array->dtype != value->dtype) {
    return nd4c_fail(ND4C_DTYPE, "plan: %s '%s' has dtype %s, expected %s", what, port->name,
                     nd4c_dtype_name(array->dtype), nd4c_dtype_name(value->dtype));
  }
  if (!shape_fits(value, array)) {
    char given[256], numbers[256], expected[512];
    (void)nd4c_shape_text(value->rank, value->shape, numbers, sizeof numbers);
    if (plan->dynamic != NULL) {
      nd4c_extents_translate(plan->graph->extents, numbers, expected, sizeof expected);
    }
    return nd4c_fail(ND4C_SHAPE, "plan: %s '%s' has shape %s, expected %s", what, port->name,
                     nd4c_shape_text(array->rank, array->shape, given, sizeof given),
                     plan->dynamic != NULL ? expected : numbers);
  }
  return ND4C_OK;
}

static nd4c_status check_array(const nd4c_plan *plan, const char *what, const nd4c_graph_port *port,
                               const nd4c_array *array) {
  if (nd4c_array_check(array, "array") != ND4C_OK) {
    char name[256];
    (void)snprintf(name, sizeof name, "plan: %s '%s'", what, port->name);
    return nd4c_array_check(array, name);
  }
  return nd4c_plan_check_port(plan, what, port, array);
}

/* Against the plan's own numbers of inputs and outputs, or those of its graph. */
static nd4c_status check_counts(const nd4c_run_request *request, int32_t inputs, int32_t outputs) {
  if ((request->inputs == NULL && request->input_count > 0) ||
      (request->outputs == NULL && request->output_count > 0)) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_plan_run: %s is NULL", request->inputs == NULL ? "inputs" : "outputs");
  }
  if (request->input_count != inputs || request->output_count != outputs) {
    return nd4c_fail(ND4C_ARGUMENT, "plan: %d inputs and %d outputs were given, it has %d inputs and %d outputs",
                     request->input_count, request->output_count, inputs, outputs);
  }
  return ND4C_OK;
}

static nd4c_status check_writable(const nd4c_plan *plan, const nd4c_run_request *request) {
  for (int32_t i = 0; i < request->output_count; i++) {
    if (request->outputs[i] != NULL && (request->outputs[i]->storage->flags & ND4C_STORAGE_READ_ONLY) != 0) {
      return nd4c_fail(ND4C_READ_ONLY, "plan: output '%s' is read-only", plan->graph->outputs.items[i].name);
    }
  }
  return ND4C_OK;
}

static nd4c_status check_arguments(const nd4c_plan *plan, const nd4c_run_request *request) {
  const nd4c_graph *graph = plan->graph;
  for (int32_t i = 0; i < request->input_count; i++) {
    ND4C_TRY(check_array(plan, "input", &graph->inputs.items[i], request->inputs[i]));
  }
  for (int32_t i = 0; i < request->output_count; i++) {
    ND4C_TRY(request->outputs[i] == NULL ? ND4C_OK
                                         : check_array(plan, "output", &graph->outputs.items[i], request->outputs[i]));
  }
  return ND4C_OK;
}

/* True if the two might share a byte. Storages that wrap foreign memory may overlap without being the same. */
static bool may_share(const nd4c_array *a, const nd4c_array *b) {
  const nd4c_storage *left = a->storage, *right = b->storage;
  if (left == right) {
    return true;
  }
  if (left->address == NULL || right->address == NULL) {
    return false;
  }
  uintptr_t left_begin = (uintptr_t)left->address, right_begin = (uintptr_t)right->address;
  return left_begin < right_begin + (uintptr_t)right->bytes && right_begin < left_begin + (uintptr_t)left->bytes;
}

/* True if the array has the layout that steps read and write. */
static bool lies_right(const nd4c_plan *plan, const nd4c_array *array) {
  return array->contiguous && (!plan->whole || array->offset == 0);
}

/* Only mode direct runs its steps one after another on one copy of the memory. */
static bool may_overlay(const nd4c_plan *plan, int32_t input, int32_t output) {
  return nd4c_plan_is_direct(plan) && nd4c_plan_may_overlay(plan, input, output);
}

/* True if a run may write the given output to the memory of an input that is the same view. */
static bool lies_over(const nd4c_plan *plan, const nd4c_run_request *request, int32_t output, int32_t input) {
  const nd4c_array *given = request->outputs[output], *read = request->inputs[input];
  return request->in_place && nd4c_array_is_same_view(given, read) &&
         nd4c_storage_ready_address(given->storage, plan->device) != NULL && may_overlay(plan, input, output);
}

/* True if the given output begins with an input, which the run may leave there. Both are in C order, as steps read and
 * write them. */
static bool extends(const nd4c_plan *plan, const nd4c_run_request *request, int32_t output, int32_t input) {
  const nd4c_array *given = request->outputs[output], *read = request->inputs[input];
  return request->in_place && given->storage == read->storage && given->offset == read->offset &&
         lies_right(plan, read) && nd4c_storage_ready_address(given->storage, plan->device) != NULL &&
         nd4c_plan_is_direct(plan) && nd4c_plan_may_extend(plan, input, output);
}

/* True if steps may write directly to the given output. */
static bool fits(const nd4c_plan *plan, const nd4c_run_request *request, int32_t index) {
  const nd4c_array *output = request->outputs[index];
  bool free_standing = lies_right(plan, output);
  for (int32_t i = 0; i < request->input_count && free_standing; i++) {
    free_standing = !may_share(output, request->inputs[i]) || lies_over(plan, request, index, i) ||
                    extends(plan, request, index, i);
  }
  for (int32_t i = 0; i < index && free_standing; i++) {
    free_standing = request->outputs[i] == NULL || !may_share(output, request->outputs[i]);
  }
  return free_standing;
}

/* The node that gives an output, -1: none. Of an output that is a view, for which the plan has added a copy without a
 * label, the node that gives the view. */
static int32_t node_of(const nd4c_plan *plan, nd4c_value value) {
  const nd4c_graph *graph = plan->graph;
  const int32_t producer = graph->values[value].producer;
  const nd4c_graph_node *node = producer < 0 ? NULL : &graph->nodes[producer];
  if (node == NULL || node->def->info.op != ND4C_OP_copy || node->label[0] != '\0') {
    return producer;
  }
  const int32_t before = graph->values[node->inputs[0]].producer;
  return before < 0 ? producer : before;
}

/* Says whose memory it is: the library's text has bytes and a device alone. */
static nd4c_status fail_port(const nd4c_plan *plan, const nd4c_graph_port *port, nd4c_status status) {
  const int32_t producer = node_of(plan, port->value);
  char node[256];
  return producer < 0 ? nd4c_fail_prefix(status, "memory for '%s'", port->name)
                      : nd4c_fail_prefix(status, "memory for output '%s' of %s", port->name,
                                         nd4c_plan_node_text(plan, producer, node, sizeof node));
}

static nd4c_status make_fresh(const nd4c_plan *plan, const nd4c_graph_port *port, nd4c_array **array) {
  const nd4c_graph_value *value = &plan->graph->values[port->value];
  const nd4c_slot *root = &plan->slots[plan->slots[port->value].root];
  nd4c_device *device = plan->places[root->place].device; /* of the step that produces it */
  const nd4c_status status = nd4c_array_empty(value->dtype, value->rank, value->shape, device, array);
  return status == ND4C_OK ? status : fail_port(plan, port, status);
}

/* As make_fresh, for arrays that the plan keeps: never in a workspace that the caller has entered. */
static nd4c_status make_staging(const nd4c_plan *plan, const nd4c_graph_port *port, nd4c_array **array) {
  nd4c_array *fresh = NULL;
  ND4C_TRY(make_fresh(plan, port, &fresh));
  nd4c_status status = nd4c_storage_own(fresh->storage);
  if (status != ND4C_OK) {
    nd4c_array_release(fresh);
    return status;
  }
  *array = fresh;
  return ND4C_OK;
}

/* Copies on the context's device, or on the host if the device has no kernel for it and the context allows
 * transfers. */
static nd4c_status copy_array(nd4c_context *context, const nd4c_array *from, nd4c_array *to) {
  nd4c_array *given = to; /* its owner may have released it */
  const nd4c_status status = nd4c_call_inside(context, ND4C_OP_copy, from, &given);
  return status == ND4C_UNSUPPORTED && context->transfer != ND4C_TRANSFER_NONE ? nd4c_copy_by_host(from, to) : status;
}

/* -- memory taken over --------------------------------------------------------------------------------------------- */

/* Whether the memory of a donated input can become that of a fresh output: nothing else has it, and it has the output's
 * bytes. */
static bool can_take_over(const nd4c_plan *plan, const nd4c_run_request *request, int32_t input, int32_t output) {
  const nd4c_array *given = request->inputs[input];
  const nd4c_graph_value *value = &plan->graph->values[plan->graph->outputs.items[output].value];
  bool free_standing = request->donated[input] && given->dtype == value->dtype && nd4c_array_is_whole(given) &&
                       given->storage->bytes == nd4c_dtype_bytes(value->dtype, value->size) && value->size > 0 &&
                       nd4c_storage_is_alone(given->storage, plan->device) && may_overlay(plan, input, output);
  for (int32_t i = 0; i < request->input_count && free_standing; i++) {
    free_standing = i == input || request->inputs[i] != given;
  }
  for (int32_t i = 0; i < request->output_count && free_standing; i++) {
    free_standing = request->outputs[i] != given;
  }
  return free_standing;
}

/* Makes a fresh output in the memory of a donated input. *array stays NULL if no input has such memory. */
static nd4c_status take_over(const nd4c_plan *plan, const nd4c_run_request *request, int32_t output,
                             nd4c_array **array) {
  const nd4c_graph_value *value = &plan->graph->values[plan->graph->outputs.items[output].value];
  for (int32_t i = 0; request->donated != NULL && i < request->input_count; i++) {
    if (can_take_over(plan, request, i, output)) { /* at most once: the storage then has another reference */
      return nd4c_array_make_of(value->dtype, value->rank, value->shape, NULL, 0,
                                nd4c_storage_retain(request->inputs[i]->storage), array);
    }
  }
  return ND4C_OK;
}

/* -- arrays of a run ----------------------------------------------------------------------------------------------- */

static nd4c_status collect_input(nd4c_plan *plan, const nd4c_array *input, int32_t index) {
  if (lies_right(plan, input)) {
    /* Never written through, except as an output: kernels get inputs as const. */
    nd4c_array *given = NULL;
    memcpy(&given, &input, sizeof given);
    plan->input_arrays[index] = nd4c_array_retain(given);
    return ND4C_OK;
  }
  if (plan->input_staging[index] == NULL) {
    ND4C_TRY(make_staging(plan, &plan->graph->inputs.items[index], &plan->input_staging[index]));
  }
  ND4C_TRY(copy_array(plan->context, input, plan->input_staging[index]));
  plan->input_arrays[index] = nd4c_array_retain(plan->input_staging[index]);
  return ND4C_OK;
}

static nd4c_status collect_output(nd4c_plan *plan, const nd4c_run_request *request, int32_t index) {
  const nd4c_graph_port *port = &plan->graph->outputs.items[index];
  nd4c_array *given = request->outputs[index];
  if (given == NULL) {
    ND4C_TRY(take_over(plan, request, index, &plan->output_arrays[index]));
    return plan->output_arrays[index] != NULL ? ND4C_OK : make_fresh(plan, port, &plan->output_arrays[index]);
  }
  if (fits(plan, request, index)) {
    plan->output_arrays[index] = nd4c_array_retain(given);
    return ND4C_OK;
  }
  if (plan->output_staging[index] == NULL) {
    ND4C_TRY(make_staging(plan, port, &plan->output_staging[index]));
  }
  plan->output_arrays[index] = nd4c_array_retain(plan->output_staging[index]);
  return ND4C_OK;
}

/* Fills input_arrays and output_arrays with C-contiguous arrays, each holding a reference. */
static nd4c_status collect(nd4c_plan *plan, const nd4c_run_request *request) {
  for (int32_t i = 0; i < request->input_count; i++) {
    ND4C_TRY(collect_input(plan, request->inputs[i], i));
  }
  for (int32_t i = 0; i < request->output_count; i++) {
    ND4C_TRY(collect_output(plan, request, i));
  }
  return ND4C_OK;
}

/* On the device that computed it, like outputs without staging. */
static nd4c_status deliver_staged(const nd4c_plan *plan, int32_t index, nd4c_array *output) {
  const nd4c_graph_port *port = &plan->graph->outputs.items[index];
  nd4c_context *context = plan->places[plan->slots[plan->slots[port->value].root].place].context;
  return copy_array(context, plan->output_arrays[index], output);
}

/* Copies staged outputs, then returns fresh ones; returns none if a copy fails. */
static nd4c_status deliver(nd4c_plan *plan, nd4c_array **outputs, int32_t output_count) {
  for (int32_t i = 0; i < output_count; i++) {
    if (outputs[i] != NULL && plan->output_arrays[i] != outputs[i]) {
      ND4C_TRY(deliver_staged(plan, i, outputs[i]));
    }
  }
  for (int32_t i = 0; i < output_count; i++) {
    if (outputs[i] == NULL) {
      outputs[i] = plan->output_arrays[i];
      plan->output_arrays[i] = NULL;
    }
  }
  return ND4C_OK;
}

/* Whether the output of the failed run has an input's memory, and no step had begun to write it. */
static bool is_intact(const nd4c_plan *plan, const nd4c_run_request *request, int32_t output) {
  bool over = false;
  for (int32_t i = 0; i < request->input_count; i++) {
    over = over || plan->output_arrays[output]->storage == request->inputs[i]->storage;
  }
  return over && plan->failed_at < plan->output_first[output];
}

/* A run that fails after its first step may have written part of the caller's outputs, and of inputs whose memory
 * outputs have. If copying staged outputs failed, some of them have this run's values and others older ones. */
static void poison_given(const nd4c_plan *plan, const nd4c_run_request *request, bool delivering, nd4c_status status) {
  const nd4c_status code = status == ND4C_DEVICE || status == ND4C_DEVICE_LOST ? status : ND4C_POISONED;
  for (int32_t i = 0; i < request->output_count && (plan->began || delivering); i++) {
    const nd4c_array *written = plan->output_arrays[i];
    const bool direct = request->outputs[i] == NULL || written == request->outputs[i];
    if ((delivering || direct) && !is_intact(plan, request, i)) {
      nd4c_storage *storage = request->outputs[i] == NULL ? written->storage : request->outputs[i]->storage;
      nd4c_storage_poison(storage, code, nd4c_error_message());
    }
  }
}

static void forget_arrays(nd4c_plan *plan) {
  for (int32_t i = 0; i < plan->graph->inputs.count; i++) {
    nd4c_array_release(plan->input_arrays[i]);
    plan->input_arrays[i] = NULL;
  }
  for (int32_t i = 0; i < plan->graph->outputs.count; i++) {
    nd4c_array_release(plan->output_arrays[i]);
    plan->output_arrays[i] = NULL;
  }
}

/* `plan`: a caller. */
static nd4c_status run_caller(nd4c_plan *plan, const nd4c_run_request *request) {
  plan->began = false;
  plan->failed_at = -1;
  nd4c_status status = collect(plan, request);
  if (status == ND4C_OK) {
    status = nd4c_plan_run_mode(plan);
    const bool computed = status == ND4C_OK;
    if (computed) {
      plan->failed_at = INT32_MAX; /* what fails from now on comes after all steps */
      status = deliver(plan, request->outputs, request->output_count);
    }
    if (status != ND4C_OK) {
      poison_given(plan, request, computed, status);
    }
  }
  forget_arrays(plan);
  return status;
}

/* An array may have been donated since it was checked. */
static nd4c_status check_run(const nd4c_plan *plan, const nd4c_run_request *request, int32_t inputs, int32_t outputs) {
  if (!request->checked || plan->dynamic != NULL) {
    ND4C_TRY(check_counts(request, inputs, outputs));
    ND4C_TRY(check_arguments(plan, request));
  }
  ND4C_TRY(check_writable(plan, request));
  nd4c_status status = nd4c_cancellation_poll();
  return status == ND4C_OK ? status : nd4c_fail_prefix(status, "plan");
}

nd4c_status nd4c_plan_run_ports(nd4c_plan *plan, nd4c_context *context, const nd4c_run_request *request) {
  nd4c_plan *caller = NULL;
  ND4C_TRY(check_run(plan, request, plan->graph->inputs.count, plan->graph->outputs.count));
  if (plan->dynamic != NULL) {
    return nd4c_dynamic_run(plan, context, request);
  }
  ND4C_TRY(nd4c_callers_take(plan, &caller));
  nd4c_status status = nd4c_plan_move(caller, context == NULL ? plan->context : context);
  if (status == ND4C_OK) {
    status = run_caller(caller, request);
    if (context != NULL) {
      (void)nd4c_plan_move(caller, NULL); /* cannot fail: the plan left the context that it was made on already */
    }
  }
  nd4c_callers_give(plan, caller);
  return status;
}

nd4c_status nd4c_plan_run_request(nd4c_plan *plan, nd4c_context *context, const nd4c_run_request *request) {
  if (plan->variables == NULL) {
    return nd4c_plan_run_ports(plan, context, request);
  }
  /* The caller's ports come first: a refused run does not wait for the turn of the state. */
  ND4C_TRY(check_run(plan, request, nd4c_plan_given_inputs(plan), nd4c_plan_given_outputs(plan)));
  return nd4c_plan_run_variables(plan, context, request);
}

nd4c_status nd4c_plan_run_on(nd4c_plan *plan, nd4c_context *context, const nd4c_array *const *inputs,
                             int32_t input_count, nd4c_array **outputs, int32_t output_count) {
  const nd4c_run_request request = {
      .inputs = inputs, .outputs = outputs, .input_count = input_count, .output_count = output_count};
  return nd4c_plan_run_request(plan, context, &request);
}

nd4c_status nd4c_plan_run(nd4c_plan *plan, const nd4c_array *const *inputs, int32_t input_count, nd4c_array **outputs,
                          int32_t output_count) {
  ND4C_TRY(nd4c_plan_check(plan));
  return nd4c_plan_run_on(plan, NULL, inputs, input_count, outputs, output_count);
}
