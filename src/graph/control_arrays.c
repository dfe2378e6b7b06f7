/* Runs the bodies of a step in mode arrays: on asynchronous devices, and where a body runs in another mode than direct.
 * The host reads the condition of a branch or round, and waits for it. Carried values alternate between two arrays of
 * the step. modes/arrays.c calls nd4c_control_run_arrays by the step's `run_arrays`. */
#include "base/status.h"
#include "device/stream/cancellation.h"
#include "dispatch/routed.h"
#include "graph/callers.h"
#include "graph/control.h"

typedef struct run {
  const nd4c_plan *plan;
  nd4c_step *step;
  nd4c_control_step *made;
  const nd4c_control *control;
  nd4c_context *context;
  const nd4c_array *const *given; /* behind the lead */
  nd4c_array **results;
} run;

static nd4c_status run_body(const run *r, nd4c_plan *body) {
  return nd4c_plan_run_on(body, r->context, r->made->inputs, body->graph->inputs.count, r->made->outputs,
                          body->graph->outputs.count);
}

/* -- arrays of the step -------------------------------------------------------------------------------------------- */

/* An array that the step keeps: never in a workspace that the caller has entered. */
static nd4c_status make_array(nd4c_device *device, nd4c_dtype dtype, int32_t rank, const int64_t *shape,
                              nd4c_array **array) {
  if (*array != NULL) {
    return ND4C_OK;
  }
  nd4c_array *fresh = NULL;
  ND4C_TRY(nd4c_array_empty(dtype, rank, shape, device, &fresh));
  const nd4c_status status = nd4c_storage_own(fresh->storage);
  if (status != ND4C_OK) {
    nd4c_array_release(fresh);
    return status;
  }
  *array = fresh;
  return ND4C_OK;
}

static nd4c_status make_arrays(const run *r) {
  nd4c_device *device = r->context->device;
  const nd4c_graph *graph = r->plan->graph;
  const nd4c_graph_node *node = &graph->nodes[r->step->node];
  ND4C_TRY(make_array(device, ND4C_INT64, 0, NULL, &r->made->round));
  if (r->control->decides) {
    const nd4c_graph *body = r->made->bodies[0]->graph;
    const nd4c_graph_value *value = &body->values[body->outputs.items[0].value];
    ND4C_TRY(make_array(device, ND4C_BOOL, value->rank, value->shape, &r->made->goes));
  }
  for (int32_t i = 0; i < 2 * r->control->carried; i++) {
    const nd4c_graph_value *value = &graph->values[node->outputs[i / 2]];
    ND4C_TRY(make_array(device, value->dtype, value->rank, value->shape, &r->made->spares[i]));
  }
  return ND4C_OK;
}

static nd4c_status read_bool(const nd4c_array *array, bool *value) {
  uint8_t byte = 0;
  ND4C_TRY(nd4c_array_read(array, &byte, sizeof byte));
  *value = byte != 0;
  return ND4C_OK;
}

/* -- branches and calls -------------------------------------------------------------------------------------------- */

static nd4c_status run_once(const run *r, nd4c_plan *body) {
  for (int32_t i = 0; i < r->control->captured; i++) {
    r->made->inputs[i] = r->given[i];
  }
  for (int32_t i = 0; i < r->step->output_count; i++) {
    r->made->outputs[i] = r->results[i];
  }
  return run_body(r, body);
}

/* -- rounds -------------------------------------------------------------------------------------------------------- */

typedef struct rounds {
  int64_t most, done;
  bool goes_on;
} rounds;

static nd4c_status count_rounds(const run *r, const nd4c_array *const *lead, rounds *count) {
  const nd4c_control *control = r->control;
  *count = (rounds){.most = control->rounds == -1 ? INT64_MAX : control->rounds, .goes_on = true};
  if (control->has_trips) {
    int64_t trips = 0;
    ND4C_TRY(nd4c_array_read(lead[0], &trips, sizeof trips));
    trips = trips < 0 ? 0 : trips;
    count->most = trips < count->most ? trips : count->most;
  }
  return control->has_condition ? read_bool(lead[control->has_trips ? 1 : 0], &count->goes_on) : ND4C_OK;
}

static int64_t element_of(const run *r, int64_t number, int32_t flag) {
  const bool backward = r->control->backward != NULL && r->control->backward[flag];
  return backward ? r->control->rounds - 1 - number : number;
}

/* Views of the elements of this round; *views counts those that drop_views releases. */
static nd4c_status place_elements(const run *r, int64_t number, int32_t in, int32_t out) {
  const nd4c_control *control = r->control;
  for (int32_t i = 0; i < control->scanned; i++) {
    nd4c_array *view = NULL;
    ND4C_TRY(nd4c_array_select(r->given[control->carried + i], 0, element_of(r, number, i), &view));
    r->made->inputs[in + i] = view;
  }
  for (int32_t i = 0; i < control->collected; i++) {
    ND4C_TRY(nd4c_array_select(r->results[control->carried + i], 0, element_of(r, number, control->scanned + i),
                               &r->made->outputs[out + i]));
  }
  return ND4C_OK;
}

static void clear_elements(const run *r, int32_t in, int32_t out) {
  for (int32_t i = 0; i < r->control->scanned; i++) {
    r->made->inputs[in + i] = NULL;
  }
  for (int32_t i = 0; i < r->control->collected; i++) {
    r->made->outputs[out + i] = NULL;
  }
}

static void drop_elements(const run *r, int32_t in, int32_t out) {
  for (int32_t i = 0; i < r->control->scanned; i++) {
    union {
      const nd4c_array *read;
      nd4c_array *own;
    } view = {.read = r->made->inputs[in + i]};
    nd4c_array_release(view.own); /* this round's */
  }
  for (int32_t i = 0; i < r->control->collected; i++) {
    nd4c_array_release(r->made->outputs[out + i]);
  }
}

static nd4c_status run_round(const run *r, rounds *count) {
  const nd4c_control *control = r->control;
  nd4c_control_step *made = r->made;
  int32_t in = 0, out = 0;
  if (count->done == control->limit) {
    return nd4c_fail(ND4C_OVERFLOW, "another round follows after %lld, the limit of the loop", (long long)count->done);
  }
  ND4C_TRY(nd4c_cancellation_poll());
  if (control->takes_round) {
    ND4C_TRY(nd4c_array_write(made->round, &count->done, sizeof count->done));
    made->inputs[in++] = made->round;
  }
  if (control->decides) {
    made->outputs[out++] = made->goes;
  }
  for (int32_t i = 0; i < control->carried; i++) {
    made->inputs[in++] = count->done == 0 ? r->given[i] : made->spares[2 * i + (int32_t)((count->done - 1) & 1)];
    made->outputs[out++] = made->spares[2 * i + (int32_t)(count->done & 1)];
  }
  for (int32_t i = 0; i < control->captured; i++) {
    made->inputs[in + control->scanned + i] = r->given[control->carried + control->scanned + i];
  }
  clear_elements(r, in, out);
  nd4c_status status = place_elements(r, count->done, in, out);
  status = status == ND4C_OK ? run_body(r, made->bodies[0]) : status;
  drop_elements(r, in, out);
  ND4C_TRY(status);
  count->goes_on = true;
  count->done++;
  return control->decides ? read_bool(made->goes, &count->goes_on) : ND4C_OK;
}

/* Rows of a collected value that no round wrote. */
static nd4c_status clear_rest(const run *r, const nd4c_array *result, int64_t done) {
  int64_t starts[ND4C_MAX_RANK] = {done}, stops[ND4C_MAX_RANK], steps[ND4C_MAX_RANK];
  nd4c_array *rest = NULL, *zeros = NULL;
  for (int32_t i = 0; i < result->rank; i++) {
    stops[i] = result->shape[i];
    steps[i] = 1;
  }
  ND4C_TRY(nd4c_array_slice(result, starts, stops, steps, &rest));
  nd4c_status status = nd4c_array_zeros(rest->dtype, rest->rank, rest->shape, r->context->device, &zeros);
  status = status == ND4C_OK ? nd4c_call_inside(r->context, ND4C_OP_copy, zeros, &rest) : status;
  nd4c_array_release(zeros);
  nd4c_array_release(rest);
  return status;
}

static nd4c_status finish(const run *r, const rounds *count) {
  for (int32_t i = 0; i < r->control->carried; i++) {
    const nd4c_array *last = count->done == 0 ? r->given[i] : r->made->spares[2 * i + (int32_t)((count->done - 1) & 1)];
    nd4c_array *result = r->results[i];
    ND4C_TRY(nd4c_call_inside(r->context, ND4C_OP_copy, last, &result));
  }
  for (int32_t i = 0; i < r->control->collected && count->done < r->control->rounds; i++) {
    ND4C_TRY(clear_rest(r, r->results[r->control->carried + i], count->done));
  }
  return ND4C_OK;
}

static nd4c_status run_rounds(const run *r, const nd4c_array *const *lead) {
  rounds count;
  ND4C_TRY(make_arrays(r));
  ND4C_TRY(count_rounds(r, lead, &count));
  while (count.goes_on && count.done < count.most) {
    const int64_t number = count.done;
    const nd4c_status status = run_round(r, &count);
    if (status != ND4C_OK) {
      return nd4c_fail_prefix(status, "round %lld", (long long)number);
    }
  }
  return finish(r, &count);
}

/* -- all kinds ----------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_control_run_arrays(const nd4c_plan *plan, nd4c_step *step, const nd4c_array *const *inputs,
                                    nd4c_array **outputs) {
  const nd4c_control *control = step->control->control;
  const run r = {.plan = plan,
                 .step = step,
                 .made = step->control,
                 .control = control,
                 .context = plan->places[step->place].context,
                 .given = inputs + nd4c_control_lead(control),
                 .results = outputs};
  if (control->kind == ND4C_CONTROL_LOOP || control->kind == ND4C_CONTROL_SCAN) {
    return run_rounds(&r, inputs);
  }
  bool first = true;
  if (control->kind == ND4C_CONTROL_IF) {
    ND4C_TRY(read_bool(inputs[0], &first));
  }
  return run_once(&r, step->control->bodies[first ? 0 : 1]);
}
