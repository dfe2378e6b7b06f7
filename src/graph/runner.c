/* Implements nd4c/runner.h, except for runners of models (import/model_runner.c). Binding checks an array by itself;
 * the first run with the same arrays checks them together. */
#include "graph/runner.h"

#include <string.h>

#include "array/shape.h"
#include "base/alloc.h"
#include "base/config/log.h"
#include "base/status.h"
#include "device/storage/storage.h"
#include "graph/variables.h"

enum { ALIVE = 0x72756e72, DEAD = 0x72756e64, SHOWN = 200 };

/* -- life ---------------------------------------------------------------------------------------------------------- */

static nd4c_status make_lists(nd4c_runner *made) {
  const int32_t inputs = made->input_count, outputs = made->output_count;
  ND4C_TRY(nd4c_region_make(&made->region, inputs, sizeof(nd4c_array *), &made->inputs));
  ND4C_TRY(nd4c_region_make(&made->region, inputs, sizeof *made->donated, &made->donated));
  ND4C_TRY(nd4c_region_make(&made->region, outputs, sizeof(nd4c_array *), &made->outputs));
  ND4C_TRY(nd4c_region_make(&made->region, outputs, sizeof(nd4c_array *), &made->results));
  ND4C_TRY(nd4c_region_make(&made->region, outputs, sizeof *made->has, &made->has));
  return nd4c_region_make(&made->region, outputs, sizeof(nd4c_array *), &made->given);
}

nd4c_status nd4c_runner_make(const nd4c_runner_kind *kind, void *target, nd4c_context *context, int32_t input_count,
                             int32_t output_count, nd4c_runner **runner) {
  nd4c_runner *made = NULL;
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *made, "a runner", &made));
  made->magic = ALIVE;
  made->kind = kind;
  made->target = target;
  made->input_count = input_count;
  made->output_count = output_count;
  const nd4c_status status = make_lists(made);
  if (status != ND4C_OK) {
    nd4c_runner_destroy(made);
    return status;
  }
  made->context = context == NULL ? NULL : nd4c_context_retain(context);
  *runner = made;
  return ND4C_OK;
}

static void put(nd4c_array **place, nd4c_array *array) {
  nd4c_array *gone = *place;
  *place = array == NULL ? NULL : nd4c_array_retain(array);
  nd4c_array_release(gone);
}

static void forget(nd4c_runner *runner) {
  for (int32_t i = 0; runner->inputs != NULL && i < runner->input_count; i++) {
    put(&runner->inputs[i], NULL);
  }
  for (int32_t i = 0; runner->given != NULL && i < runner->output_count; i++) {
    put(&runner->outputs[i], NULL);
    put(&runner->results[i], NULL);
    runner->has[i] = false;
  }
}

void nd4c_runner_destroy(nd4c_runner *runner) {
  if (runner == NULL || runner->magic != ALIVE) {
    return;
  }
  if (atomic_exchange_explicit(&runner->busy, true, memory_order_acquire)) {
    nd4c_log_write(ND4C_LOG_ERROR, "runner", "nd4c_runner_destroy: a call on the runner is in progress: not destroyed");
    return;
  }
  forget(runner);
  if (runner->spent != NULL) {
    nd4c_storage_release(runner->spent);
  }
  if (runner->context != NULL) {
    nd4c_context_drop(runner->context);
  }
  nd4c_region_free(&runner->region);
  runner->magic = DEAD;
  nd4c_deallocate(runner);
}

/* Begins a call; end must follow. */
static nd4c_status begin(nd4c_runner *runner) {
  if (runner == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "runner: runner is NULL");
  }
  if (runner->magic != ALIVE) {
    return nd4c_fail(ND4C_HANDLE, "runner: %p is not a runner, or was destroyed", (const void *)runner);
  }
  return atomic_exchange_explicit(&runner->busy, true, memory_order_acquire)
             ? nd4c_fail(ND4C_ARGUMENT, "runner: another call on this runner is in progress")
             : ND4C_OK;
}

static nd4c_status end(nd4c_runner *runner, nd4c_status status) {
  atomic_store_explicit(&runner->busy, false, memory_order_release);
  return status;
}

/* -- binding ------------------------------------------------------------------------------------------------------- */

static nd4c_status find_port(const nd4c_runner *runner, const char *name, bool input, int32_t *index) {
  const int32_t count = input ? runner->input_count : runner->output_count;
  const char *(*name_of)(const void *, int32_t) = input ? runner->kind->input_name : runner->kind->output_name;
  if (name == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "runner: name is NULL");
  }
  for (*index = 0; *index < count; ++*index) {
    if (strcmp(name_of(runner->target, *index), name) == 0) {
      return ND4C_OK;
    }
  }
  return nd4c_fail(ND4C_NAME, "runner: there is no %s '%.*s'", input ? "input" : "output", SHOWN, name);
}

/* A donated array is bound once. `index`: of the input that it is donated as, which may have it already; -1: another
 * binding. */
static nd4c_status check_single(const nd4c_runner *runner, const nd4c_array *array, int32_t index) {
  const nd4c_runner_kind *kind = runner->kind;
  for (int32_t i = 0; i < runner->input_count; i++) {
    if (runner->inputs[i] == array && i != index && (index >= 0 || runner->donated[i])) {
      return nd4c_fail(ND4C_ARGUMENT, "runner: the array is %s input '%.*s'",
                       runner->donated[i] ? "donated as" : "bound to", SHOWN, kind->input_name(runner->target, i));
    }
  }
  for (int32_t i = 0; i < runner->output_count && index >= 0; i++) {
    if (runner->outputs[i] == array) {
      return nd4c_fail(ND4C_ARGUMENT, "runner: the array is bound to output '%.*s'", SHOWN,
                       kind->output_name(runner->target, i));
    }
  }
  return ND4C_OK;
}

static void set_input(nd4c_runner *runner, int32_t index, nd4c_array *array, bool donated) {
  put(&runner->inputs[index], array);
  runner->donations += donated - runner->donated[index];
  runner->donated[index] = donated;
  runner->checked = false;
}

static nd4c_status bind_input(nd4c_runner *runner, const char *name, nd4c_array *array) {
  int32_t index = 0;
  ND4C_TRY(find_port(runner, name, true, &index));
  if (array != NULL) {
    ND4C_TRY(nd4c_array_check(array, "runner: array"));
    ND4C_TRY(runner->kind->check_input(runner->target, index, array));
    ND4C_TRY(runner->inputs[index] == array ? ND4C_OK : check_single(runner, array, -1));
  }
  set_input(runner, index, array, false);
  return ND4C_OK;
}

nd4c_status nd4c_runner_bind_input(nd4c_runner *runner, const char *name, nd4c_array *array) {
  ND4C_TRY(begin(runner));
  return end(runner, bind_input(runner, name, array));
}

static nd4c_status bind_output(nd4c_runner *runner, const char *name, nd4c_array *array) {
  int32_t index = 0;
  ND4C_TRY(find_port(runner, name, false, &index));
  if (array != NULL) {
    ND4C_TRY(nd4c_array_check(array, "runner: array"));
    if ((array->storage->flags & ND4C_STORAGE_READ_ONLY) != 0) {
      return nd4c_fail(ND4C_READ_ONLY, "runner: the array for output '%.*s' is read-only", SHOWN, name);
    }
    ND4C_TRY(runner->kind->check_output(runner->target, index, array));
    ND4C_TRY(check_single(runner, array, -1));
  }
  put(&runner->outputs[index], array);
  put(&runner->results[index], NULL);
  runner->has[index] = false;
  runner->checked = false;
  return ND4C_OK;
}

nd4c_status nd4c_runner_bind_output(nd4c_runner *runner, const char *name, nd4c_array *array) {
  ND4C_TRY(begin(runner));
  return end(runner, bind_output(runner, name, array));
}

/* -- donating ------------------------------------------------------------------------------------------------------ */

/* What donated arrays get instead of their memory. Made before anything is given up, so that a run cannot fail for it.
 */
static nd4c_status make_spent(nd4c_runner *runner) {
  return runner->spent != NULL
             ? ND4C_OK
             : nd4c_storage_create_spent("the array was donated to a run, which has taken its memory", &runner->spent);
}

static nd4c_status donate(nd4c_runner *runner, const char *name, nd4c_array *array) {
  int32_t index = 0;
  ND4C_TRY(find_port(runner, name, true, &index));
  ND4C_TRY(nd4c_array_check(array, "runner: array"));
  ND4C_TRY(runner->kind->check_input(runner->target, index, array));
  ND4C_TRY(check_single(runner, array, index));
  ND4C_TRY(make_spent(runner));
  set_input(runner, index, array, true);
  return ND4C_OK;
}

nd4c_status nd4c_runner_donate(nd4c_runner *runner, const char *name, nd4c_array *array) {
  ND4C_TRY(begin(runner));
  return end(runner, donate(runner, name, array));
}

/* After a successful run: donated arrays have no value, wherever their memory is now. */
static void give_up(nd4c_runner *runner) {
  for (int32_t i = 0; i < runner->input_count && runner->donations > 0; i++) {
    if (runner->donated[i]) {
      nd4c_storage *memory = runner->inputs[i]->storage;
      runner->inputs[i]->storage = nd4c_storage_retain(runner->spent);
      nd4c_storage_release(memory);
      set_input(runner, i, NULL, false);
    }
  }
}

/* -- running ------------------------------------------------------------------------------------------------------- */

static nd4c_status run(nd4c_runner *runner) {
  for (int32_t i = 0; i < runner->input_count; i++) {
    if (ND4C_UNLIKELY(runner->inputs[i] == NULL)) {
      return nd4c_fail(ND4C_ARGUMENT, "runner: nothing is bound to input '%.*s'", SHOWN,
                       runner->kind->input_name(runner->target, i));
    }
  }
  for (int32_t i = 0; i < runner->output_count; i++) {
    put(&runner->results[i], NULL);
    runner->given[i] = runner->outputs[i];
  }
  const nd4c_run_request request = {.inputs = (const nd4c_array *const *)runner->inputs,
                                    .outputs = runner->given,
                                    .input_count = runner->input_count,
                                    .output_count = runner->output_count,
                                    .checked = runner->checked,
                                    .in_place = true,
                                    .donated = runner->donations > 0 ? runner->donated : NULL};
  ND4C_TRY(runner->kind->run(runner->target, runner->context, &request));
  for (int32_t i = 0; i < runner->output_count; i++) {
    runner->results[i] = runner->outputs[i] == NULL ? runner->given[i] : NULL;
    runner->has[i] = true;
  }
  runner->checked = true;
  give_up(runner);
  return ND4C_OK;
}

nd4c_status nd4c_runner_run(nd4c_runner *runner) {
  ND4C_TRY(begin(runner));
  return end(runner, run(runner));
}

static nd4c_status get_output(const nd4c_runner *runner, const char *name, nd4c_array **array) {
  int32_t index = 0;
  ND4C_TRY(find_port(runner, name, false, &index));
  if (array == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "runner: array is NULL");
  }
  nd4c_array *found = runner->outputs[index] != NULL ? runner->outputs[index] : runner->results[index];
  if (!runner->has[index] || found == NULL) {
    return nd4c_fail(ND4C_ARGUMENT, "runner: no run has given output '%.*s'", SHOWN, name);
  }
  *array = nd4c_array_retain(found);
  return ND4C_OK;
}

nd4c_status nd4c_runner_get_output(nd4c_runner *runner, const char *name, nd4c_array **array) {
  ND4C_TRY(begin(runner));
  return end(runner, get_output(runner, name, array));
}

nd4c_status nd4c_runner_clear(nd4c_runner *runner) {
  ND4C_TRY(begin(runner));
  for (int32_t i = 0; i < runner->input_count; i++) {
    set_input(runner, i, NULL, false);
  }
  forget(runner);
  return end(runner, ND4C_OK);
}

/* -- plans --------------------------------------------------------------------------------------------------------- */

static const char *input_name(const void *target, int32_t index) {
  return ((const nd4c_plan *)target)->graph->inputs.items[index].name;
}

static const char *output_name(const void *target, int32_t index) {
  return ((const nd4c_plan *)target)->graph->outputs.items[index].name;
}

static nd4c_status check_input(const void *target, int32_t index, const nd4c_array *array) {
  const nd4c_plan *plan = target;
  ND4C_TRY(nd4c_plan_check_port(plan, "input", &plan->graph->inputs.items[index], array));
  const char state =
      plan->context->transfer == ND4C_TRANSFER_NONE ? nd4c_storage_state(array->storage, plan->device) : 'S';
  if ((state == 'I' || state == '-') && array->size > 0) {
    const nd4c_device *device = atomic_load(&array->storage->device);
    return nd4c_fail(ND4C_UNSUPPORTED,
                     "plan: input '%.*s' is on %s, the plan runs on %s, and its context forbids copies between devices",
                     SHOWN, input_name(target, index), device->name, plan->device->name);
  }
  return ND4C_OK;
}

static nd4c_status check_output(const void *target, int32_t index, const nd4c_array *array) {
  const nd4c_plan *plan = target;
  return nd4c_plan_check_port(plan, "output", &plan->graph->outputs.items[index], array);
}

static nd4c_status run_plan(void *target, nd4c_context *context, const nd4c_run_request *request) {
  return nd4c_plan_run_request(target, context, request);
}

static const nd4c_runner_kind of_plan = {.input_name = input_name,
                                         .output_name = output_name,
                                         .check_input = check_input,
                                         .check_output = check_output,
                                         .run = run_plan};

nd4c_status nd4c_runner_of_plan(nd4c_plan *plan, nd4c_runner **runner) {
  ND4C_TRY(nd4c_plan_check(plan));
  if (runner == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_runner_of_plan: runner is NULL");
  }
  return nd4c_runner_make(&of_plan, plan, NULL, nd4c_plan_given_inputs(plan), nd4c_plan_given_outputs(plan), runner);
}
