/* Choices that share what a kernel has prepared with a choice for other constants (choice.h): layers of one network
 * often differ in their weights alone. graph/plan/common_choices.c makes them for the bindings of a plan. */
#include "base/alloc.h"
#include "base/recycle.h"
#include "base/status.h"
#include "dispatch/choice.h"
#include "dispatch/constants.h"

/* Whether the state serves calls that differ in the arrays of their constants. */
static bool shares_state(const nd4c_choice *choice) {
  const nd4c_kernel *kernel = choice->kernel;
  if (!ND4C_HAS_FIELD(kernel, flags) || (kernel->flags & ND4C_KERNEL_SHARES_STATE) == 0) {
    return false;
  }
  return choice->form_count > 0 || (ND4C_HAS_FIELD(kernel, shares_unpacked) && kernel->shares_unpacked != NULL &&
                                    kernel->shares_unpacked(choice->state));
}

bool nd4c_choice_is_model(const nd4c_choice *choice) {
  return choice->kernel != NULL && choice->encoded == 0 && !choice->by_contents &&
         (choice->kernel->prepare == NULL || shares_state(choice));
}

nd4c_status nd4c_choice_make_alike(const nd4c_context *context, const nd4c_call *call, const nd4c_constants *constants,
                                   nd4c_choice *model, nd4c_choice **out) {
  bool declined = false;
  *out = NULL;
  nd4c_choice *choice = nd4c_recycle_take(sizeof *choice);
  if (choice == NULL) {
    return nd4c_fail_memory("a kernel choice", sizeof *choice);
  }
  choice->references = 1;
  choice->device = model->device;
  choice->kernel = model->kernel;
  choice->state = model->state;
  choice->scratch_bytes = model->scratch_bytes;
  choice->device_scratch = model->device_scratch;
  const nd4c_status status = nd4c_constants_place_alike(context, call, constants, model, choice, &declined);
  if (status == ND4C_OK && !declined) {
    choice->model = nd4c_choice_retain(model->model != NULL ? model->model : model);
    *out = choice;
    return ND4C_OK;
  }
  nd4c_choice_drop_forms(choice);
  nd4c_recycle_give(choice, sizeof *choice);
  return status;
}
