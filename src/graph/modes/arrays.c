/* Mode "arrays", the last row of mode.c: for all plans that no faster mode can run, also on several devices. Each step
 * is submitted to its context's stream through array handles, with their coherence and fences. The run returns when all
 * steps are submitted. */
#include "array/shape.h"
#include "base/status.h"
#include "device/trace/tracer.h"
#include "dispatch/execute.h"
#include "graph/control.h"
#include "graph/modes/mode.h"

/* -- binding ----------------------------------------------------------------------------------------------------- */

static nd4c_status make_array(const nd4c_slot *slot, nd4c_storage *storage, int64_t offset, nd4c_array **array) {
  return nd4c_array_make_of(slot->dtype, slot->rank, slot->shape, slot->strides, offset, nd4c_storage_retain(storage),
                            array);
}

static nd4c_status bind_array(nd4c_plan *plan, int32_t index) {
  const nd4c_slot *slot = &plan->slots[index];
  if (slot->kind == ND4C_SLOT_UNUSED) {
    return ND4C_OK;
  }
  nd4c_slot *root = &plan->slots[slot->root];
  if (root->kind == ND4C_SLOT_OWN) {
    if (root->storage == NULL) {
      nd4c_device *device = plan->places[root->place].device;
      nd4c_status status = nd4c_storage_create_own(device, NULL, root->dtype, root->bytes, "plan", &root->storage);
      if (status != ND4C_OK) {
        return nd4c_device_fail_prefix(status, device, "on", "nd4c_plan_create: memory for a value");
      }
    }
    return make_array(slot, root->storage, slot->offset, &plan->slot_arrays[index]);
  }
  if (root->kind == ND4C_SLOT_CONSTANT) {
    return make_array(slot, root->array->storage, root->array->offset + slot->offset, &plan->slot_arrays[index]);
  }
  if (root->kind == ND4C_SLOT_ARENA && root->bytes == 0) {
    return nd4c_array_empty(slot->dtype, slot->rank, slot->shape, plan->device, &plan->slot_arrays[index]);
  }
  if (root->kind == ND4C_SLOT_ARENA && plan->places[root->place].buffers != NULL) {
    return make_array(slot, plan->places[root->place].buffers[root->buffer], slot->offset, &plan->slot_arrays[index]);
  }
  if (root->kind == ND4C_SLOT_ARENA) {
    const nd4c_dtype_info *dtype = nd4c_dtype_get_info(slot->dtype);
    int64_t offset = root->arena_offset / dtype->block_bytes * dtype->block_elements + slot->offset;
    return make_array(slot, plan->places[root->place].arena, offset, &plan->slot_arrays[index]);
  }
  return ND4C_OK;
}

static nd4c_status make_buffers(nd4c_plan *plan, nd4c_plan_place *place) {
  ND4C_TRY(nd4c_region_make(&plan->region, place->buffer_count, sizeof(nd4c_storage *), &place->buffers));
  for (int32_t i = 0; i < place->buffer_count; i++) {
    nd4c_status status = nd4c_storage_create_own(place->device, NULL, ND4C_DTYPE_NONE, place->buffer_bytes[i],
                                                 "plan buffer", &place->buffers[i]);
    if (status != ND4C_OK) {
      return nd4c_device_fail_prefix(status, place->device, "on", "nd4c_plan_create: memory for values");
    }
  }
  return ND4C_OK;
}

static nd4c_status prepare(nd4c_plan *plan) {
  int32_t inputs = 0, outputs = 0;
  for (int32_t i = 0; i < plan->step_count; i++) {
    inputs = plan->steps[i].input_count > inputs ? plan->steps[i].input_count : inputs;
    outputs = plan->steps[i].output_count > outputs ? plan->steps[i].output_count : outputs;
  }
  ND4C_TRY(nd4c_region_make(&plan->region, inputs, sizeof(nd4c_array *), &plan->step_inputs));
  ND4C_TRY(nd4c_region_make(&plan->region, outputs, sizeof(nd4c_array *), &plan->step_outputs));
  ND4C_TRY(nd4c_region_make(&plan->region, plan->slot_count, sizeof(nd4c_array *), &plan->slot_arrays));
  for (int32_t i = 0; i < plan->place_count; i++) {
    if (plan->places[i].buffer_count > 0) {
      ND4C_TRY(make_buffers(plan, &plan->places[i]));
    }
  }
  for (int32_t i = 0; i < plan->slot_count; i++) {
    ND4C_TRY(bind_array(plan, i));
  }
  return ND4C_OK;
}

/* -- running ----------------------------------------------------------------------------------------------------- */

/* Makes handles of the slots in the caller's arrays, for this run. */
static nd4c_status make_outside(nd4c_plan *plan, int32_t index) {
  const nd4c_slot *slot = &plan->slots[index];
  const nd4c_slot *root = &plan->slots[slot->root];
  nd4c_array *outside = (root->kind == ND4C_SLOT_INPUT ? plan->input_arrays : plan->output_arrays)[root->port];
  /* The output may be a view of what is computed: a step writes with its own shape. */
  bool same = outside->dtype == slot->dtype && nd4c_shape_equal(outside->rank, outside->shape, slot->rank, slot->shape);
  if (slot->root == index && same) {
    plan->slot_arrays[index] = nd4c_array_retain(outside);
    return ND4C_OK;
  }
  nd4c_status status =
      nd4c_array_make(slot->dtype, slot->rank, slot->shape, slot->strides, outside->offset + slot->offset,
                      nd4c_storage_retain(outside->storage), &plan->slot_arrays[index]);
  if (status != ND4C_OK) {
    nd4c_storage_release(outside->storage);
  }
  return status;
}

static bool is_outside(const nd4c_plan *plan, int32_t index) {
  if (plan->slots[index].kind == ND4C_SLOT_UNUSED) {
    return false;
  }
  nd4c_slot_kind kind = plan->slots[plan->slots[index].root].kind;
  return kind == ND4C_SLOT_INPUT || kind == ND4C_SLOT_OUTPUT;
}

static void release_outside(nd4c_plan *plan) {
  for (int32_t i = 0; i < plan->slot_count; i++) {
    if (is_outside(plan, i)) {
      nd4c_array_release(plan->slot_arrays[i]);
      plan->slot_arrays[i] = NULL;
    }
  }
}

static nd4c_status run_plain_step(nd4c_plan *plan, nd4c_step *step) {
  for (int32_t i = 0; i < step->input_count; i++) {
    plan->step_inputs[i] = step->inputs[i] < 0 ? NULL : plan->slot_arrays[step->inputs[i]];
  }
  for (int32_t i = 0; i < step->output_count; i++) {
    plan->step_outputs[i] = plan->slot_arrays[step->outputs[i]];
  }
  if (step->control != NULL) {
    return step->control->run_arrays(plan, step, plan->step_inputs, plan->step_outputs);
  }
  const nd4c_graph_node *node = &plan->graph->nodes[step->node];
  return nd4c_execute(step->choice, plan->places[step->place].context, node->def, node->attrs, plan->step_inputs,
                      step->input_count, plan->step_outputs, NULL, NULL);
}

/* The program asked for copies for a step that runs on the device where its placement put it. */
static nd4c_status run_step(nd4c_plan *plan, nd4c_step *step) {
  const bool traced = nd4c_tracer_is_on();
  const bool placed = traced && plan->place_count > 1 && step->declined == NULL;
  if (traced) {
    nd4c_tracer_node(plan->graph->nodes[step->node].label);
  }
  if (placed) {
    nd4c_tracer_place(true);
  }
  nd4c_status status = step->segment != NULL ? nd4c_plan_run_segment(plan, step) : run_plain_step(plan, step);
  if (placed) {
    nd4c_tracer_place(false);
  }
  if (traced) {
    nd4c_tracer_node(NULL);
  }
  return status;
}

/* The storage's contents and failures of earlier runs do not matter: for coherence and poison this is a new write after
 * all submitted work. */
static nd4c_status renew(const nd4c_context *context, nd4c_storage *storage) {
  nd4c_replica_view view;
  nd4c_shared_fence *fence = NULL;
  ND4C_TRY(nd4c_storage_acquire(storage, context->device, context->stream, ND4C_ACCESS_WRITE, ND4C_TRANSFER_ON_DEMAND,
                                &view));
  nd4c_fence_release(view.written);
  if (context->device->description.asynchronous) {
    nd4c_status status = nd4c_fence_place(context->timeline, "plan", &fence);
    if (status != ND4C_OK) {
      nd4c_storage_cancel(storage, context->device);
      return status;
    }
  }
  nd4c_storage_commit(storage, context->device, ND4C_ACCESS_WRITE, fence);
  nd4c_fence_release(fence);
  return ND4C_OK;
}

static nd4c_status renew_memory(const nd4c_plan *plan) {
  for (int32_t i = 0; i < plan->place_count; i++) {
    if (plan->places[i].arena != NULL) {
      ND4C_TRY(renew(plan->places[i].context, plan->places[i].arena));
    }
  }
  for (int32_t i = 0; i < plan->slot_count; i++) {
    if (plan->slots[i].in_parts) {
      ND4C_TRY(renew(plan->places[plan->slots[i].place].context, plan->slots[i].storage));
    }
  }
  return ND4C_OK;
}

static nd4c_status run_steps(nd4c_plan *plan) {
  ND4C_TRY(renew_memory(plan));
  for (int32_t i = 0; i < plan->slot_count; i++) {
    if (is_outside(plan, i)) {
      ND4C_TRY(make_outside(plan, i));
    }
  }
  plan->began = true;
  for (int32_t i = 0; i < plan->step_count; i++) {
    nd4c_step *step = &plan->steps[i];
    nd4c_progress_tell(plan->progress, "running", i, plan->step_count);
    nd4c_status status = run_step(plan, step);
    if (status != ND4C_OK) {
      return nd4c_plan_fail_node(plan, step->node, status);
    }
  }
  return ND4C_OK;
}

static nd4c_status run(nd4c_plan *plan) {
  nd4c_status status = run_steps(plan);
  release_outside(plan);
  return status;
}

static bool usable(const nd4c_plan *plan, char *reason, size_t reason_size) {
  (void)plan, (void)reason, (void)reason_size;
  return true;
}

const nd4c_plan_mode nd4c_mode_arrays = {.name = "arrays",
                                         .doc = "each step by itself, on arrays: any devices, any steps",
                                         .usable = usable,
                                         .prepare = prepare,
                                         .run = run};
