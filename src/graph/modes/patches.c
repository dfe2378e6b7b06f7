/* Implements patches.h. direct.c and stream.c make the patches when they prepare a plan, and write addresses in each
 * run. */
#include "graph/modes/patches.h"

#include "base/status.h"

static const nd4c_slot *root_of(const nd4c_plan *plan, nd4c_value value) {
  return &plan->slots[plan->slots[value].root];
}

static nd4c_value operand(const nd4c_step *step, int32_t index) {
  return index < step->input_count ? step->inputs[index] : step->outputs[index - step->input_count];
}

/* The list that an operand belongs to; NULL: its address never changes. */
static nd4c_patch_list *list_of(nd4c_plan *plan, nd4c_value value) {
  if (value < 0) {
    return NULL;
  }
  const nd4c_slot *root = root_of(plan, value);
  switch (root->kind) {
    case ND4C_SLOT_INPUT:
      return &plan->input_patches;
    case ND4C_SLOT_OUTPUT:
      return &plan->output_patches;
    case ND4C_SLOT_ARENA:
      return root->bytes > 0 ? &plan->arena_patches : NULL;
    default:
      return NULL;
  }
}

static nd4c_status take(nd4c_plan *plan, nd4c_patch_list *list) {
  list->items = nd4c_region_take(&plan->region, list->count, sizeof *list->items);
  list->count = 0;
  return list->items == NULL ? nd4c_error_code() : ND4C_OK;
}

static void add(const nd4c_plan *plan, nd4c_patch_list *list, nd4c_value value, nd4c_tensor *tensor) {
  const nd4c_slot *slot = &plan->slots[value], *root = root_of(plan, value);
  int64_t offset = nd4c_dtype_bytes(slot->dtype, slot->offset);
  list->items[list->count++] =
      (nd4c_patch){.tensor = tensor,
                   .port = root->kind == ND4C_SLOT_ARENA ? root->buffer : root->port,
                   .byte_offset = offset + (root->kind == ND4C_SLOT_ARENA ? root->arena_offset : 0)};
}

static void each_operand(nd4c_plan *plan, bool fill) {
  for (int32_t i = 0; i < plan->step_count; i++) {
    nd4c_step *step = &plan->steps[i];
    for (int32_t k = 0; k < step->input_count + step->output_count; k++) {
      nd4c_patch_list *list = list_of(plan, operand(step, k));
      if (list != NULL && fill) {
        add(plan, list, operand(step, k), &step->tensors[k]);
      } else if (list != NULL) {
        list->count++;
      }
    }
  }
}

nd4c_status nd4c_patches_make(nd4c_plan *plan) {
  each_operand(plan, false);
  ND4C_TRY(take(plan, &plan->input_patches));
  ND4C_TRY(take(plan, &plan->output_patches));
  ND4C_TRY(take(plan, &plan->arena_patches));
  each_operand(plan, true);
  for (int32_t i = 0; i < plan->step_count; i++) {
    nd4c_step *step = &plan->steps[i];
    if (step->choice != NULL) {
      step->call.struct_size = ND4C_SIZE_OF(nd4c_call);
      step->call.data = step->choice->kernel != NULL ? step->choice->kernel->data : NULL;
      step->call.state = step->choice->state;
    }
  }
  return ND4C_OK;
}
