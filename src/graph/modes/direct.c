/* Mode "direct", the first row of mode.c: for a synchronous device whose memory has addresses. The calls are built when
 * the plan is created; a run patches in the addresses of the caller's arrays and calls one kernel after another. */
#include <stdio.h>

#include "base/os.h"
#include "base/status.h"
#include "device/driver.h"
#include "device/stream/cancellation.h"
#include "device/trace/tracer.h"
#include "graph/control.h"
#include "graph/modes/mode.h"
#include "graph/modes/patches.h"
#include "graph/plan/arenas.h"

/* The common case reads two fields; otherwise another device has the current contents, which are copied. Outputs count
 * as written from here on, before the kernels run; eager copies wait for the end of the run. */
nd4c_status nd4c_direct_locate(const nd4c_plan *plan, const nd4c_array *array, nd4c_access access, char **address,
                               bool *committed) {
  int64_t offset = nd4c_array_offset_bytes(array);
  void *ready = nd4c_storage_ready_address(array->storage, plan->device);
  *committed = false;
  if (ready != NULL) {
    *address = (char *)ready + offset;
    return ND4C_OK;
  }
  bool whole = nd4c_dtype_bytes(array->dtype, array->size) == array->storage->bytes;
  access = access == ND4C_ACCESS_WRITE && !whole
               ? ND4C_ACCESS_READ_WRITE
               : access; /* the view covers a part of the storage, whose rest must stay valid */
  nd4c_transfer transfer =
      plan->context->transfer == ND4C_TRANSFER_EAGER ? ND4C_TRANSFER_ON_DEMAND : plan->context->transfer;
  nd4c_replica_view view;
  ND4C_TRY(nd4c_storage_acquire(array->storage, plan->device, NULL, access, transfer, &view));
  nd4c_fence_release(view.written);
  if (access != ND4C_ACCESS_READ) {
    nd4c_storage_commit(array->storage, plan->device, access, NULL);
    *committed = true;
  }
  *address = view.address == NULL ? NULL : (char *)view.address + offset;
  return ND4C_OK;
}

/* An array that is not ready loses its value to the write that begins here. */
static nd4c_status apply_patches(nd4c_plan *plan, const nd4c_patch_list *list, nd4c_array *const *arrays,
                                 nd4c_access access) {
  nd4c_patch *patches = list->items;
  for (int32_t i = 0; i < list->count; i++) {
    char *address = NULL;
    ND4C_TRY(nd4c_direct_locate(plan, arrays[patches[i].port], access, &address, &patches[i].committed));
    plan->began = plan->began || patches[i].committed;
    patches[i].tensor->data = address == NULL ? NULL : address + patches[i].byte_offset;
  }
  return ND4C_OK;
}

static nd4c_status run_one(const nd4c_plan *plan, nd4c_step *step) {
  if (step->segment != NULL) {
    return nd4c_plan_execute_segment(plan, step);
  }
  if (step->control != NULL) {
    return step->control->run(plan, step);
  }
  return nd4c_choice_run(step->choice, plan->context, &step->call);
}

/* The plan has the times of all its callers. */
static void note_time(const nd4c_plan *plan, nd4c_step *step, int64_t taken) {
  nd4c_step *noted = plan->parent == NULL ? step : &plan->parent->steps[step - plan->steps];
  int64_t least = atomic_load_explicit(&noted->nanoseconds, memory_order_relaxed);
  while ((least == 0 || taken < least) &&
         !atomic_compare_exchange_weak_explicit(&noted->nanoseconds, &least, taken, memory_order_relaxed,
                                                memory_order_relaxed)) {
  }
  atomic_fetch_add_explicit(&noted->total_nanoseconds, taken, memory_order_relaxed);
  atomic_fetch_add_explicit(&noted->profiled_runs, 1, memory_order_relaxed);
}

static nd4c_status run_step(const nd4c_plan *plan, nd4c_step *step, bool profiled) {
  const nd4c_op_info *op = &plan->graph->nodes[step->node].def->info;
  bool traced = nd4c_tracer_is_on();
  int64_t begin = traced ? nd4c_tracer_begin(op->name, plan->context) : profiled ? nd4c_os_nanoseconds() : 0;
  nd4c_status status = run_one(plan, step);
  if (traced) {
    nd4c_tracer_node(plan->graph->nodes[step->node].label);
    const char *kernel = step->choice != NULL    ? nd4c_choice_name(step->choice)
                         : step->control != NULL ? "bodies"
                                                 : "compiled segment";
    nd4c_tracer_end(begin, status == ND4C_OK ? plan->device : NULL, op->name, kernel, NULL, 0);
    nd4c_tracer_node(NULL);
  }
  ND4C_TRY(status);
  if (profiled) {
    note_time(plan, step, nd4c_os_nanoseconds() - begin);
  }
  return ND4C_OK;
}

static nd4c_status run_steps(nd4c_plan *plan) {
  const bool profiled = nd4c_plan_is_profiled(plan);
  const bool watched = profiled || nd4c_tracer_is_on(), told = nd4c_progress_is_on(plan->progress);
  for (int32_t i = 0; i < plan->step_count; i++) {
    nd4c_step *step = &plan->steps[i];
    if (ND4C_UNLIKELY(told)) {
      nd4c_progress_tell(plan->progress, "running", i, plan->step_count);
    }
    bool plain = step->choice != NULL && step->choice->kernel != NULL && !watched;
    nd4c_status status = nd4c_cancellation_poll();
    const bool begins = status == ND4C_OK;
    if (ND4C_LIKELY(begins)) {
      status = plain ? nd4c_driver_kernel_run(step->choice->kernel, &step->call) : run_step(plan, step, profiled);
    }
    if (status != ND4C_OK) {
      plan->failed_at = begins ? i : i - 1;
      return nd4c_plan_fail_node(plan, step->node, status);
    }
  }
  return ND4C_OK;
}

static void write_addresses(const nd4c_patch_list *list, void *const *addresses) {
  for (int32_t i = 0; i < list->count; i++) {
    const nd4c_patch *patch = &list->items[i];
    char *address = addresses[patch->port];
    patch->tensor->data = address == NULL ? NULL : address + patch->byte_offset;
  }
}

nd4c_status nd4c_direct_run_at(nd4c_plan *plan, void *const *inputs, void *const *outputs) {
  write_addresses(&plan->input_patches, inputs);
  write_addresses(&plan->output_patches, outputs);
  return run_steps(plan);
}

/* Addresses in the arena: of values and of each step's scratch. */
static void place_arena(nd4c_plan *plan, char *arena) {
  for (int32_t i = 0; i < plan->arena_patches.count; i++) {
    const nd4c_patch *patch = &plan->arena_patches.items[i];
    patch->tensor->data = arena + patch->byte_offset;
  }
  for (int32_t i = 0; i < plan->step_count; i++) {
    nd4c_step *step = &plan->steps[i];
    if (step->control != NULL || (step->choice != NULL && step->choice->scratch_bytes > 0)) {
      step->call.scratch = arena + step->scratch_offset;
    }
  }
  plan->arena_at = arena;
}

static nd4c_status run_at_arrays(nd4c_plan *plan) {
  ND4C_TRY(apply_patches(plan, &plan->input_patches, plan->input_arrays, ND4C_ACCESS_READ));
  ND4C_TRY(apply_patches(plan, &plan->output_patches, plan->output_arrays, ND4C_ACCESS_WRITE));
  plan->began = true;
  ND4C_TRY(run_steps(plan));
  for (int32_t i = 0; nd4c_tracer_is_on() && i < plan->graph->outputs.count; i++) {
    nd4c_tracer_write(plan->output_arrays[i]->storage, plan->device);
  }
  for (int32_t i = 0; plan->context->transfer == ND4C_TRANSFER_EAGER && i < plan->output_patches.count; i++) {
    const nd4c_patch *patch = &plan->output_patches.items[i];
    if (patch->committed) {
      nd4c_storage_refresh(plan->output_arrays[patch->port]->storage);
    }
  }
  return ND4C_OK;
}

/* Runs of bindings mostly find the arena that their latest run had. */
static nd4c_status run(nd4c_plan *plan) {
  nd4c_storage *arena = NULL;
  const bool shared = plan->arenas != NULL && plan->places[0].arena_bytes > 0;
  if (shared) {
    const nd4c_status taken = nd4c_arenas_take(plan->arenas, plan->places[0].arena_bytes, &arena);
    if (taken != ND4C_OK) {
      return nd4c_device_fail_prefix(taken, plan->device, "on", "plan: memory for values");
    }
    if (plan->arena_at != arena->address) {
      place_arena(plan, arena->address);
    }
  }
  const nd4c_status status = run_at_arrays(plan);
  if (shared) {
    nd4c_arenas_give(plan->arenas, arena);
  }
  return status;
}

/* An arena of the plan's own has the same address in all runs. */
static nd4c_status prepare(nd4c_plan *plan) {
  ND4C_TRY(nd4c_patches_make(plan));
  if (plan->arenas == NULL) {
    place_arena(plan, plan->places[0].arena == NULL ? NULL : plan->places[0].arena->address);
  }
  return ND4C_OK;
}

static bool usable(const nd4c_plan *plan, char *reason, size_t reason_size) {
  if (plan->place_count > 1) {
    (void)snprintf(reason, reason_size, "the plan runs on %d devices", plan->place_count);
    return false;
  }
  if (!nd4c_device_is_immediate(plan->device) ||
      (plan->places[0].arena != NULL && plan->places[0].arena->address == NULL)) {
    (void)snprintf(reason, reason_size, "%s is asynchronous, or the host does not read its memory", plan->device->name);
    return false;
  }
  for (int32_t i = 0; i < plan->step_count; i++) {
    if (plan->steps[i].control != NULL && !plan->steps[i].control->direct) {
      (void)snprintf(reason, reason_size, "a body of step %d runs in another mode", i);
      return false;
    }
  }
  return !nd4c_plan_returns_outputs(plan, reason, reason_size);
}

const nd4c_plan_mode nd4c_mode_direct = {.name = "direct",
                                         .doc = "kernel after kernel on addresses, calls built once",
                                         .usable = usable,
                                         .prepare = prepare,
                                         .run = run};
