/* nd4c_plan_run, which programs and import/model_run.c call: checks everything before it computes anything, copies
 * arrays whose layout the steps do not expect, and lets the plan's mode compute. */
#include <stdio.h>
#include <string.h>

#include "array/shape.h"
#include "base/status.h"
#include "device/stream/cancellation.h"
#include "dispatch/routed.h"
#include "dispatch/whole.h"
#include "graph/callers.h"
#include "graph/dynamic.h"

static nd4c_status check_array(const nd4c_plan *plan, const char *what, const nd4c_graph_port *port,
                               const nd4c_array *array) {
  if (nd4c_array_check(array, "array") != ND4C_OK) {
    char name[256];
    (void)snprintf(name, sizeof name, "plan: %s '%s'", what, port->name);
    return nd4c_array_check(array, name);
  }
  const nd4c_graph_value *value = &plan->graph->values[port->value];
  if (array->dtype != value->dtype) {
    return nd4c_fail(ND4C_DTYPE, "plan: %s '%s' has dtype %s, expected %s", what, port->name,
                     nd4c_dtype_name(array->dtype), nd4c_dtype_name(value->dtype));
  }
  if (plan->dynamic == NULL && !nd4c_shape_equal(array->rank, array->shape, value->rank, value->shape)) {
    char given[256], expected[256];
    return nd4c_fail(ND4C_SHAPE, "plan: %s '%s' has shape %s, expected %s", what, port->name,
                     nd4c_shape_text(array->rank, array->shape, given, sizeof given),
                     nd4c_shape_text(value->rank, value->shape, expected, sizeof expected));
  }
  return ND4C_OK;
}

static nd4c_status check_arguments(const nd4c_plan *plan, const nd4c_array *const *inputs, int32_t input_count,
                                   nd4c_array **outputs, int32_t output_count) {
  const nd4c_graph *graph = plan->graph;
  if ((inputs == NULL && input_count > 0) || (outputs == NULL && output_count > 0)) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_plan_run: %s is NULL", inputs == NULL ? "inputs" : "outputs");
  }
  if (input_count != graph->inputs.count || output_count != graph->outputs.count) {
    return nd4c_fail(ND4C_ARGUMENT, "plan: %d inputs and %d outputs were given, it has %d inputs and %d outputs",
                     input_count, output_count, graph->inputs.count, graph->outputs.count);
  }
  for (int32_t i = 0; i < input_count; i++) {
    ND4C_TRY(check_array(plan, "input", &graph->inputs.items[i], inputs[i]));
  }
  for (int32_t i = 0; i < output_count; i++) {
    if (outputs[i] == NULL) {
      continue;
    }
    ND4C_TRY(check_array(plan, "output", &graph->outputs.items[i], outputs[i]));
    if ((outputs[i]->storage->flags & ND4C_STORAGE_READ_ONLY) != 0) {
      return nd4c_fail(ND4C_READ_ONLY, "plan: output '%s' is read-only", graph->outputs.items[i].name);
    }
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

/* True if steps may write directly to the given output. */
static bool fits(const nd4c_plan *plan, const nd4c_array *output, int32_t index, const nd4c_array *const *inputs,
                 int32_t input_count, nd4c_array *const *outputs) {
  bool free_standing = lies_right(plan, output);
  for (int32_t i = 0; i < input_count && free_standing; i++) {
    free_standing = !may_share(output, inputs[i]);
  }
  for (int32_t i = 0; i < index && free_standing; i++) {
    free_standing = outputs[i] == NULL || !may_share(output, outputs[i]);
  }
  return free_standing;
}

static nd4c_status make_fresh(const nd4c_plan *plan, const nd4c_graph_port *port, nd4c_array **array) {
  const nd4c_graph_value *value = &plan->graph->values[port->value];
  const nd4c_slot *root = &plan->slots[plan->slots[port->value].root];
  nd4c_device *device = plan->places[root->place].device; /* of the step that produces it */
  return nd4c_array_empty(value->dtype, value->rank, value->shape, device, array);
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

/* Fills input_arrays and output_arrays with C-contiguous arrays, each holding a reference. */
static nd4c_status collect(nd4c_plan *plan, const nd4c_array *const *inputs, int32_t input_count, nd4c_array **outputs,
                           int32_t output_count) {
  for (int32_t i = 0; i < input_count; i++) {
    if (lies_right(plan, inputs[i])) {
      /* Never written through: kernels get inputs as const. */
      nd4c_array *given = NULL;
      memcpy(&given, &inputs[i], sizeof given);
      plan->input_arrays[i] = nd4c_array_retain(given);
      continue;
    }
    if (plan->input_staging[i] == NULL) {
      ND4C_TRY(make_staging(plan, &plan->graph->inputs.items[i], &plan->input_staging[i]));
    }
    ND4C_TRY(copy_array(plan->context, inputs[i], plan->input_staging[i]));
    plan->input_arrays[i] = nd4c_array_retain(plan->input_staging[i]);
  }
  for (int32_t i = 0; i < output_count; i++) {
    const nd4c_graph_port *port = &plan->graph->outputs.items[i];
    if (outputs[i] == NULL) {
      ND4C_TRY(make_fresh(plan, port, &plan->output_arrays[i]));
      continue;
    }
    if (fits(plan, outputs[i], i, inputs, input_count, outputs)) {
      plan->output_arrays[i] = nd4c_array_retain(outputs[i]);
      continue;
    }
    if (plan->output_staging[i] == NULL) {
      ND4C_TRY(make_staging(plan, port, &plan->output_staging[i]));
    }
    plan->output_arrays[i] = nd4c_array_retain(plan->output_staging[i]);
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

/* A run that fails after its first step may have written part of the caller's outputs. If copying staged outputs
 * failed, some of them have this run's values and others older ones. */
static void poison_given(const nd4c_plan *plan, nd4c_array *const *outputs, int32_t output_count, bool delivering,
                         nd4c_status status) {
  for (int32_t i = 0; i < output_count && (plan->began || delivering); i++) {
    if (outputs[i] != NULL && (delivering || plan->output_arrays[i] == outputs[i])) {
      nd4c_status code = status == ND4C_DEVICE || status == ND4C_DEVICE_LOST ? status : ND4C_POISONED;
      nd4c_storage_poison(outputs[i]->storage, code, nd4c_error_message());
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
static nd4c_status run_caller(nd4c_plan *plan, const nd4c_array *const *inputs, int32_t input_count,
                              nd4c_array **outputs, int32_t output_count) {
  plan->began = false;
  nd4c_status status = collect(plan, inputs, input_count, outputs, output_count);
  if (status == ND4C_OK) {
    status = nd4c_plan_run_mode(plan);
    const bool computed = status == ND4C_OK;
    status = computed ? deliver(plan, outputs, output_count) : status;
    if (status != ND4C_OK) {
      poison_given(plan, outputs, output_count, computed, status);
    }
  }
  forget_arrays(plan);
  return status;
}

static nd4c_status check_run(const nd4c_plan *plan, const nd4c_array *const *inputs, int32_t input_count,
                             nd4c_array **outputs, int32_t output_count) {
  ND4C_TRY(check_arguments(plan, inputs, input_count, outputs, output_count));
  nd4c_status status = nd4c_cancellation_poll();
  return status == ND4C_OK ? status : nd4c_fail_prefix(status, "plan");
}

nd4c_status nd4c_plan_run(nd4c_plan *plan, const nd4c_array *const *inputs, int32_t input_count, nd4c_array **outputs,
                          int32_t output_count) {
  nd4c_plan *caller = NULL;
  ND4C_TRY(nd4c_plan_check(plan));
  ND4C_TRY(check_run(plan, inputs, input_count, outputs, output_count));
  if (plan->dynamic != NULL) {
    return nd4c_dynamic_run(plan, NULL, inputs, input_count, outputs, output_count);
  }
  ND4C_TRY(nd4c_callers_take(plan, &caller));
  nd4c_status status = nd4c_plan_move(caller, plan->context);
  if (status == ND4C_OK) {
    status = run_caller(caller, inputs, input_count, outputs, output_count);
  }
  nd4c_callers_give(plan, caller);
  return status;
}

nd4c_status nd4c_plan_run_on(nd4c_plan *plan, nd4c_context *context, const nd4c_array *const *inputs,
                             int32_t input_count, nd4c_array **outputs, int32_t output_count) {
  nd4c_plan *caller = NULL;
  ND4C_TRY(check_run(plan, inputs, input_count, outputs, output_count));
  if (plan->dynamic != NULL) {
    return nd4c_dynamic_run(plan, context, inputs, input_count, outputs, output_count);
  }
  ND4C_TRY(nd4c_callers_take(plan, &caller));
  nd4c_status status = nd4c_plan_move(caller, context);
  if (status == ND4C_OK) {
    status = run_caller(caller, inputs, input_count, outputs, output_count);
    (void)nd4c_plan_move(caller, NULL); /* cannot fail: the plan left the context that it was made on already */
  }
  nd4c_callers_give(plan, caller);
  return status;
}
