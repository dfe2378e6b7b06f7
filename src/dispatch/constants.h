/* The CONSTANT inputs of a call while choice.c makes a choice: copied to the device, or packed in the layout that a
 * kernel prefers. graph/plan/segment.c copies a segment's constants with it. */
#ifndef ND4C_DISPATCH_CONSTANTS_H
#define ND4C_DISPATCH_CONSTANTS_H

#include "dispatch/choice.h"

/* Copies a constant to the context's device, STRIDED, and fills data, buffer, offset and flags. It stays there. */
nd4c_status nd4c_constant_bind(const nd4c_context *context, const nd4c_constant_input *constant, nd4c_tensor *tensor);

/* Resets the inputs to their state before any kernel was asked: without data and buffer. */
void nd4c_constants_reset(const nd4c_constants *constants, int32_t input_count);

/* Fills in encoded constants on the host, without decoding them. */
void nd4c_constants_show(const nd4c_context *context, const nd4c_call *call, const nd4c_constants *constants);

/* Copies all of them STRIDED, for compilers. */
nd4c_status nd4c_constants_bind(const nd4c_context *context, const nd4c_call *call, const nd4c_constants *constants);

/* Packs them in the layouts that the kernel prefers; the choice keeps the forms. *declined: packing failed, the
 * thread's error says why, and the caller must skip the kernel. */
nd4c_status nd4c_constants_place(const nd4c_context *context, const nd4c_call *call, const nd4c_constants *constants,
                                 const nd4c_kernel *kernel, nd4c_choice *choice, bool *declined);

/* The same for a choice that takes the layouts of `model`, a choice for a call that differs in the constants alone. */
nd4c_status nd4c_constants_place_alike(const nd4c_context *context, const nd4c_call *call,
                                       const nd4c_constants *constants, const nd4c_choice *model, nd4c_choice *choice,
                                       bool *declined);

/* Releases a choice's forms. */
void nd4c_choice_drop_forms(nd4c_choice *choice);

/* The choice's form for an input of its call; NULL: the input is read unpacked. */
static inline nd4c_form *nd4c_choice_form(const nd4c_choice *choice, int32_t input) {
  for (int32_t i = 0; i < choice->form_count; i++) {
    if (choice->form_inputs[i] == input) {
      return choice->forms[i];
    }
  }
  return NULL;
}

#endif
