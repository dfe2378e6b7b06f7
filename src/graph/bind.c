/* The last stage of a plan: everything that runs alike each time gets its address or its array now. */
#include "base/status.h"
#include "graph/plan.h"

/* -- on addresses ------------------------------------------------------------------------------------------------ */

typedef struct patch_counts {
  int32_t inputs, outputs;
} patch_counts;

static const nd4c_slot *root_of(const nd4c_plan *plan, nd4c_value value) {
  return &plan->slots[plan->slots[value].root];
}

static nd4c_value operand(const nd4c_step *step, int32_t index) {
  return index < step->input_count ? step->inputs[index] : step->outputs[index - step->input_count];
}

static patch_counts count_patches(const nd4c_plan *plan) {
  patch_counts counts = {0, 0};
  for (int32_t i = 0; i < plan->step_count; ++i) {
    const nd4c_step *step = &plan->steps[i];
    for (int32_t k = 0; k < step->input_count + step->output_count; ++k) {
      nd4c_value value = operand(step, k);
      if (value >= 0) {
        counts.inputs += root_of(plan, value)->kind == ND4C_SLOT_INPUT;
        counts.outputs += root_of(plan, value)->kind == ND4C_SLOT_OUTPUT;
      }
    }
  }
  return counts;
}

static void bind_operand(nd4c_plan *plan, nd4c_value value, nd4c_tensor *tensor) {
  const nd4c_slot *slot = &plan->slots[value], *root = root_of(plan, value);
  int64_t bytes = nd4c_dtype_bytes(slot->dtype, slot->offset);
  if (root->kind == ND4C_SLOT_ARENA && root->bytes > 0) {
    tensor->data = (char *)plan->places[0].arena->address + root->arena_offset + bytes;
  }
  nd4c_patch patch = {.tensor = tensor, .port = root->port, .byte_offset = bytes};
  if (root->kind == ND4C_SLOT_INPUT) {
    plan->input_patches[plan->input_patch_count] = patch;
    plan->input_patch_count += 1;
  } else if (root->kind == ND4C_SLOT_OUTPUT) {
    plan->output_patches[plan->output_patch_count] = patch;
    plan->output_patch_count += 1;
  }
}

static nd4c_status bind_addresses(nd4c_plan *plan) {
  patch_counts counts = count_patches(plan);
  plan->input_patches = nd4c_region_take(&plan->region, counts.inputs, sizeof *plan->input_patches);
  plan->output_patches = nd4c_region_take(&plan->region, counts.outputs, sizeof *plan->output_patches);
  if (plan->input_patches == NULL || plan->output_patches == NULL) {
    return nd4c_error_code();
  }
  for (int32_t i = 0; i < plan->step_count; ++i) {
    nd4c_step *step = &plan->steps[i];
    for (int32_t k = 0; k < step->input_count + step->output_count; ++k) {
      if (operand(step, k) >= 0) {
        bind_operand(plan, operand(step, k), &step->tensors[k]);
      }
    }
    if (step->choice != NULL) {
      step->call.data = step->choice->kernel != NULL ? step->choice->kernel->data : NULL;
      step->call.state = step->choice->state;
      bool scratch = step->choice->scratch_bytes > 0;
      step->call.scratch = scratch ? (char *)plan->places[0].arena->address + step->scratch_offset : NULL;
    }
  }
  return ND4C_OK;
}

/* -- on arrays --------------------------------------------------------------------------------------------------- */

static nd4c_status make_array(const nd4c_slot *slot, nd4c_storage *storage, int64_t offset, nd4c_array **array) {
  nd4c_status status =
      nd4c_array_make(slot->dtype, slot->rank, slot->shape, slot->strides, offset, nd4c_storage_retain(storage), array);
  if (status != ND4C_OK) {
    nd4c_storage_release(storage);
  }
  return status;
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
  if (root->kind == ND4C_SLOT_ARENA) {
    const nd4c_dtype_info *dtype = nd4c_dtype_get_info(slot->dtype);
    int64_t offset = root->arena_offset / dtype->block_bytes * dtype->block_elements + slot->offset;
    return make_array(slot, plan->places[root->place].arena, offset, &plan->slot_arrays[index]);
  }
  return ND4C_OK;
}

static nd4c_status bind_arrays(nd4c_plan *plan) {
  int32_t inputs = 0, outputs = 0;
  for (int32_t i = 0; i < plan->step_count; ++i) {
    inputs = plan->steps[i].input_count > inputs ? plan->steps[i].input_count : inputs;
    outputs = plan->steps[i].output_count > outputs ? plan->steps[i].output_count : outputs;
  }
  plan->step_inputs = nd4c_region_take(&plan->region, inputs, sizeof(nd4c_array *));
  plan->step_outputs = nd4c_region_take(&plan->region, outputs, sizeof(nd4c_array *));
  plan->slot_arrays = nd4c_region_take(&plan->region, plan->slot_count, sizeof(nd4c_array *));
  if (plan->step_inputs == NULL || plan->step_outputs == NULL || plan->slot_arrays == NULL) {
    return nd4c_error_code();
  }
  for (int32_t i = 0; i < plan->slot_count; ++i) {
    ND4C_TRY(bind_array(plan, i));
  }
  return ND4C_OK;
}

nd4c_status nd4c_plan_bind(nd4c_plan *plan) {
  int32_t inputs = plan->graph->inputs.count, outputs = plan->graph->outputs.count;
  plan->input_staging = nd4c_region_take(&plan->region, inputs, sizeof(nd4c_array *));
  plan->output_staging = nd4c_region_take(&plan->region, outputs, sizeof(nd4c_array *));
  plan->input_arrays = nd4c_region_take(&plan->region, inputs, sizeof(nd4c_array *));
  plan->output_arrays = nd4c_region_take(&plan->region, outputs, sizeof(nd4c_array *));
  if (plan->input_staging == NULL || plan->output_staging == NULL || plan->input_arrays == NULL ||
      plan->output_arrays == NULL) {
    return nd4c_error_code();
  }
  bool addresses = plan->places[0].arena == NULL || plan->places[0].arena->address != NULL;
  plan->direct = plan->place_count == 1 && nd4c_device_is_immediate(plan->device) && addresses;
  return plan->direct ? bind_addresses(plan) : bind_arrays(plan);
}
