/* Kernel choice: from a call without data to a prepared way to run it. Eager calls cache choices; plans keep one a
 * step.
 */
#ifndef ND4C_DISPATCH_CHOICE_H
#define ND4C_DISPATCH_CHOICE_H

#include "base/text.h"
#include "device/compile_request.h"
#include "device/compiled.h"
#include "device/context/context.h"
#include "device/storage/encoded.h"
#include "device/storage/forms.h"
#include "nd4c/plugin.h"
#include "ops/op.h"

/* Constants that a choice has packed at most; the others it reads as they are. */
enum { ND4C_CHOICE_FORMS = 4 };

/* A prepared way to run calls of one signature on one device: a kernel with its state, or a compiled one-node segment.
 * Reference-counted, immutable, usable from several threads. */
typedef struct nd4c_choice {
  _Atomic int32_t references;
  nd4c_device *device;
  const nd4c_kernel *kernel; /* NULL: `compiled` */
  void *state;
  nd4c_compiled *compiled; /* one reference */
  int64_t scratch_bytes;             /* of the host's memory */
  nd4c_scratch_range device_scratch; /* of the device's */
  uint64_t encoded;                  /* inputs, by bit, that the kernel reads as they are encoded */
  int32_t form_count;
  int32_t form_inputs[ND4C_CHOICE_FORMS]; /* the input that each stands for */
  nd4c_form *forms[ND4C_CHOICE_FORMS];    /* packed constants, one reference each */
} nd4c_choice;

/* The constant behind an input of a call that is chosen for; array NULL: it is none, or left out. */
typedef struct nd4c_constant_input {
  const nd4c_array *array;
  int64_t offset; /* of the input's element 0, in elements from the array's */
} nd4c_constant_input;

/* The CONSTANT inputs of a call. Choosing fills `inputs`, which are the call's own, with where they are for what was
 * taken: packed, or as they are. */
typedef struct nd4c_constants {
  nd4c_tensor *inputs;
  const nd4c_constant_input *items; /* by input */
} nd4c_constants;

/* Picks and prepares for `call`, whose tensors carry dtype, shape, strides and flags. `constants`: what its CONSTANT
 * inputs are; NULL: it has none.
 * Honours SD_KERNEL_FORCE_ENGINE, SD_KERNEL_DISABLE_ENGINES, determinism and strictness (STRICT: forced engine cannot).
 * UNSUPPORTED if nothing computes the call, with each candidate's reason. `request`: for compilers; NULL: none. */
nd4c_status nd4c_choice_make(const nd4c_context *context, const nd4c_call *call, const nd4c_constants *constants,
                             const nd4c_compile_request *request, nd4c_choice **choice);
nd4c_choice *nd4c_choice_retain(nd4c_choice *choice);
void nd4c_choice_release(nd4c_choice *choice);

/* Runs `call` (state, stream, device, width are filled in from the choice and the context; scratch is the caller's, at
 * least scratch_bytes). */
nd4c_status nd4c_choice_run(const nd4c_choice *choice, const nd4c_context *context, nd4c_call *call);

/* The run of a compiled choice for `call`, filled in as nd4c_choice_run does. */
nd4c_execution nd4c_choice_execution(const nd4c_choice *choice, const nd4c_context *context, nd4c_call *call);

/* True if some kernel, or the device's compiler, says that it can compute the call. Prepares nothing. */
bool nd4c_choice_is_possible(const nd4c_context *context, const nd4c_call *call, const nd4c_compile_request *request);

/* Engine and kernel name of a choice. */
const char *nd4c_choice_engine(const nd4c_choice *choice);
const char *nd4c_choice_name(const nd4c_choice *choice);

/* One line a candidate: taken, or why not. *taken: somebody was. */
nd4c_status nd4c_choice_explain(const nd4c_context *context, const nd4c_call *call, nd4c_text *text, bool *taken);

/* The order that the best usable kernel would like for the outputs; false: no wish. */
bool nd4c_choice_preferred_order(const nd4c_context *context, const nd4c_call *call, int32_t *axes);

#endif
