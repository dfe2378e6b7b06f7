/* Runs the bodies of a step in mode direct, on addresses: a round writes its operands' addresses into the body's calls.
 * Carried values alternate between the output's place and a spare one in the scratch, so that none is copied from round
 * to round. modes/direct.c calls nd4c_control_run by the step's `run`. */
#include <string.h>

#include "base/os.h"
#include "base/status.h"
#include "device/stream/cancellation.h"
#include "graph/callers.h"
#include "graph/control.h"
#include "graph/modes/mode.h"

/* A step in progress. */
typedef struct run {
  const nd4c_plan *plan; /* that has the step */
  const nd4c_control_step *made;
  const nd4c_control *control;
  nd4c_plan *caller; /* of the body's plan */
  const nd4c_tensor *given, *results;
  char *scratch;
  void **inputs, **outputs; /* of the body */
} run;

static nd4c_status take(const nd4c_plan *plan, nd4c_plan *body, nd4c_plan **caller) {
  ND4C_TRY(nd4c_callers_take(body, caller));
  const nd4c_status status = nd4c_plan_move(*caller, plan->context);
  if (status != ND4C_OK) {
    nd4c_callers_give(body, *caller);
    return status;
  }
  nd4c_plan_bind_cancellation(*caller);
  return ND4C_OK;
}

/* A plan that has left its context keeps none alive, and neither do its bodies. */
static void give(const nd4c_plan *plan, nd4c_plan *body, nd4c_plan *caller) {
  if (plan->moved) {
    (void)nd4c_plan_move(caller, NULL); /* cannot fail: a plan in mode direct is on a synchronous device */
  }
  nd4c_callers_give(body, caller);
}

static int64_t bytes_of(const nd4c_tensor *tensor) {
  return nd4c_dtype_bytes(tensor->dtype, tensor->size);
}

/* -- branches and calls -------------------------------------------------------------------------------------------- */

static nd4c_status run_once(run *r) {
  for (int32_t i = 0; i < r->control->captured; i++) {
    r->inputs[i] = r->given[i].data;
  }
  for (int32_t i = 0; i < nd4c_control_output_count(r->control); i++) {
    r->outputs[i] = r->results[i].data;
  }
  return nd4c_direct_run_at(r->caller, r->inputs, r->outputs);
}

/* -- rounds -------------------------------------------------------------------------------------------------------- */

typedef struct rounds {
  int64_t most;  /* INT64_MAX: the body alone decides */
  int64_t total; /* extent of what is scanned and collected */
  int64_t done;
  int64_t flip; /* so that the last round, if it is known, writes into the outputs */
  bool goes_on;
  int64_t told; /* time of the latest call of the callback, in nanoseconds */
} rounds;

/* Lead operands: the number of rounds and the condition. */
static rounds count_rounds(const nd4c_control *control, const nd4c_tensor *tensors) {
  rounds count = {
      .most = control->rounds == -1 ? INT64_MAX : control->rounds, .total = control->rounds, .goes_on = true};
  if (control->has_trips) {
    int64_t trips = 0;
    memcpy(&trips, tensors[0].data, sizeof trips);
    trips = trips < 0 ? 0 : trips;
    count.most = trips < count.most ? trips : count.most;
  }
  if (control->has_condition) {
    count.goes_on = *(const uint8_t *)tensors[control->has_trips ? 1 : 0].data != 0;
  }
  count.flip = control->decides || count.most == 0 ? 0 : (count.most - 1) & 1;
  return count;
}

/* Whether round `number` writes carried values into the spare places. */
static bool is_spare(const rounds *count, int64_t number) {
  return ((number + count->flip) & 1) != 0;
}

static void *carried_place(const run *r, const rounds *count, int64_t number, int32_t index) {
  return is_spare(count, number) ? r->scratch + r->made->spares_at[index] : r->results[index].data;
}

/* Element `number` of a scanned or collected value. */
static void *element(const nd4c_tensor *tensor, const rounds *count, int64_t number, bool backward) {
  const int64_t index = backward ? count->total - 1 - number : number;
  const int64_t bytes = count->total > 0 ? bytes_of(tensor) / count->total : 0;
  return tensor->data == NULL ? NULL : (char *)tensor->data + index * bytes;
}

static bool is_backward(const nd4c_control *control, int32_t index) {
  return control->backward != NULL && control->backward[index];
}

static void place_round(const run *r, const rounds *count) {
  const nd4c_control *control = r->control;
  const int64_t number = count->done;
  int32_t in = 0, out = 0;
  if (control->takes_round) {
    memcpy(r->scratch + r->made->round_at, &number, sizeof number);
    r->inputs[in++] = r->scratch + r->made->round_at;
  }
  if (control->decides) {
    r->outputs[out++] = r->scratch + r->made->goes_at;
  }
  for (int32_t i = 0; i < control->carried; i++) {
    r->inputs[in++] = number == 0 ? r->given[i].data : carried_place(r, count, number - 1, i);
    r->outputs[out++] = carried_place(r, count, number, i);
  }
  for (int32_t i = 0; i < control->scanned; i++) {
    r->inputs[in++] = element(&r->given[control->carried + i], count, number, is_backward(control, i));
  }
  for (int32_t i = 0; i < control->captured && number == 0; i++) {
    r->inputs[in + i] = r->given[control->carried + control->scanned + i].data;
  }
  for (int32_t i = 0; i < control->collected; i++) {
    r->outputs[out++] =
        element(&r->results[control->carried + i], count, number, is_backward(control, control->scanned + i));
  }
}

/* Rounds may be too short to tell of each. */
static void tell_round(const run *r, rounds *count) {
  const int64_t pause = 20000000, now = nd4c_os_nanoseconds();
  if (now - count->told >= pause) {
    nd4c_progress_tell(r->plan->progress, "looping", count->done, count->most == INT64_MAX ? 0 : count->most);
    count->told = now;
  }
}

static nd4c_status run_round(const run *r, rounds *count) {
  if (count->done == r->control->limit) {
    return nd4c_fail(ND4C_OVERFLOW, "another round follows after %lld, the limit of the loop", (long long)count->done);
  }
  nd4c_status status = nd4c_cancellation_poll();
  if (ND4C_LIKELY(status == ND4C_OK)) {
    place_round(r, count);
    status = nd4c_direct_run_at(r->caller, r->inputs, r->outputs);
  }
  if (ND4C_UNLIKELY(status != ND4C_OK)) {
    return nd4c_fail_prefix(status, "round %lld", (long long)count->done);
  }
  count->goes_on = !r->control->decides || *(const uint8_t *)(r->scratch + r->made->goes_at) != 0;
  count->done++;
  return ND4C_OK;
}

/* Carried values that do not lie in the outputs yet, and the rest of what is collected. */
static void finish(const run *r, const rounds *count) {
  for (int32_t i = 0; i < r->control->carried; i++) {
    const nd4c_tensor *result = &r->results[i];
    const void *last = count->done == 0 ? r->given[i].data : carried_place(r, count, count->done - 1, i);
    if (last != result->data && bytes_of(result) > 0) {
      memcpy(result->data, last, (size_t)bytes_of(result));
    }
  }
  for (int32_t i = 0; i < r->control->collected && count->done < count->total; i++) {
    const nd4c_tensor *result = &r->results[r->control->carried + i];
    const int64_t written = bytes_of(result) / count->total * count->done;
    if (bytes_of(result) > written) {
      memset((char *)result->data + written, 0, (size_t)(bytes_of(result) - written));
    }
  }
}

static nd4c_status run_rounds(run *r, const nd4c_tensor *lead) {
  rounds count = count_rounds(r->control, lead);
  const bool told = nd4c_progress_is_on(r->plan->progress);
  while (count.goes_on && count.done < count.most) {
    if (ND4C_UNLIKELY(told)) {
      tell_round(r, &count);
    }
    ND4C_TRY(run_round(r, &count));
  }
  finish(r, &count);
  return ND4C_OK;
}

/* -- all kinds ----------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_control_run(const nd4c_plan *plan, nd4c_step *step) {
  const nd4c_control_step *made = step->control;
  const nd4c_control *control = made->control;
  const nd4c_tensor *tensors = step->tensors;
  const bool otherwise = control->kind == ND4C_CONTROL_IF && *(const uint8_t *)tensors[0].data == 0;
  nd4c_plan *body = made->bodies[otherwise ? 1 : 0];
  char *scratch = step->call.scratch;
  run r = {.plan = plan,
           .made = made,
           .control = control,
           .given = tensors + nd4c_control_lead(control),
           .results = tensors + step->input_count,
           .scratch = scratch,
           .inputs = (void **)(void *)(scratch + made->inputs_at),
           .outputs = (void **)(void *)(scratch + made->outputs_at)};
  ND4C_TRY(take(plan, body, &r.caller));
  const bool looped = control->kind == ND4C_CONTROL_LOOP || control->kind == ND4C_CONTROL_SCAN;
  const nd4c_status status = looped ? run_rounds(&r, tensors) : run_once(&r);
  give(plan, body, r.caller);
  return status;
}
