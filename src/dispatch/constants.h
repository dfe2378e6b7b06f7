/* The CONSTANT inputs of a call that is chosen for: brought to the device, or packed as a kernel would like to read
 * them. */
#ifndef ND4C_DISPATCH_CONSTANTS_H
#define ND4C_DISPATCH_CONSTANTS_H

#include "dispatch/choice.h"

/* Where a constant's elements are on the context's device, STRIDED: fills data, buffer, offset and flags. They stay
 * there. */
nd4c_status nd4c_constant_bind(const nd4c_context *context, const nd4c_constant_input *constant, nd4c_tensor *tensor);

/* Makes the inputs what they were before any kernel was asked: without a place. */
void nd4c_constants_reset(const nd4c_constants *constants, int32_t input_count);

/* Shows those that are encoded as they are, on the host. */
void nd4c_constants_show(const nd4c_context *context, const nd4c_call *call, const nd4c_constants *constants);

/* All of them as they are, STRIDED: for compilers. */
nd4c_status nd4c_constants_bind(const nd4c_context *context, const nd4c_call *call, const nd4c_constants *constants);

/* As the kernel would like to read them, with the forms in the choice. *declined: packing failed, and the thread's
 * error says why: the kernel is to be passed over. */
nd4c_status nd4c_constants_place(const nd4c_context *context, const nd4c_call *call, const nd4c_constants *constants,
                                 const nd4c_kernel *kernel, nd4c_choice *choice, bool *declined);

/* Lets go of a choice's forms. */
void nd4c_choice_drop_forms(nd4c_choice *choice);

/* The choice's form that stands for an input of its call; NULL: the input is read as it is. */
static inline const nd4c_form *nd4c_choice_form(const nd4c_choice *choice, int32_t input) {
  for (int32_t i = 0; i < choice->form_count; ++i) {
    if (choice->form_inputs[i] == input) {
      return choice->forms[i];
    }
  }
  return NULL;
}

#endif
