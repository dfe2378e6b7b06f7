/* Kernel choice: picks and prepares what computes a call, before its data are known. Eager calls (call.c) cache
 * choices; plans (graph/plan/steps.c) keep one for each step. */
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

/* Maximum number of constants that a choice packs; it reads further ones unpacked. */
enum { ND4C_CHOICE_FORMS = 4 };

/* A prepared way to run calls of one signature on one device: a kernel with its state, or a compiled one-node segment.
 * Reference-counted, immutable, usable from several threads. */
typedef struct nd4c_choice {
  _Atomic int32_t references;
  nd4c_device *device;
  const nd4c_kernel *kernel; /* NULL: `compiled` */
  void *state;
  struct nd4c_choice *model;         /* the choice that has prepared `state`; one reference. NULL: this one has */
  bool by_contents;                  /* a kernel before this one was passed over for what the constants contain */
  nd4c_compiled *compiled;           /* one reference */
  int64_t scratch_bytes;             /* of the host's memory */
  nd4c_scratch_range device_scratch; /* of the device's */
  uint64_t encoded;                  /* inputs, by bit, that the kernel reads encoded */
  int32_t form_count;
  int32_t form_inputs[ND4C_CHOICE_FORMS]; /* the input that each stands for */
  nd4c_form *forms[ND4C_CHOICE_FORMS];    /* packed constants, one reference each */
} nd4c_choice;

/* The constant behind an input of the call; array NULL: the input is not a constant, or omitted. */
typedef struct nd4c_constant_input {
  const nd4c_array *array;
  int64_t offset; /* of the input's element 0, in elements from the array's */
} nd4c_constant_input;

/* The CONSTANT inputs of a call. Making a choice fills `inputs`, the call's own tensors, with the places of the
 * constants that the taken kernel reads, packed or not. */
typedef struct nd4c_constants {
  nd4c_tensor *inputs;
  const nd4c_constant_input *items; /* by input */
  const nd4c_choice *like;   /* a choice for the same constants, which have not changed since; it may have the forms.
                                NULL: none */
  const nd4c_tensor *placed; /* the inputs of that choice's call, for their places; NULL: unknown */
} nd4c_constants;

/* Picks and prepares for `call`, whose tensors have dtype, shape, strides and flags. `constants`: the arrays of its
 * CONSTANT inputs; NULL: it has none. Honours SD_KERNEL_FORCE_ENGINE, SD_KERNEL_DISABLE_ENGINES, determinism and
 * strictness (STRICT: the forced engine cannot serve). UNSUPPORTED if nothing computes the call; the text has each
 * candidate's reason. `request`: for compilers; NULL: none. */
nd4c_status nd4c_choice_make(const nd4c_context *context, const nd4c_call *call, const nd4c_constants *constants,
                             const nd4c_compile_request *request, nd4c_choice **out);
/* As nd4c_choice_make, of this kernel alone; *out NULL: it does not take the call. */
nd4c_status nd4c_choice_make_with(const nd4c_context *context, const nd4c_call *call, const nd4c_constants *constants,
                                  const nd4c_kernel *kernel, nd4c_choice **out);
/* Whether calls that differ from that of the choice in the arrays of their CONSTANT inputs alone can use its state. */
bool nd4c_choice_is_model(const nd4c_choice *choice);
/* The choice for such a call, with the model's kernel and state. *out NULL: the kernel cannot pack these constants. */
nd4c_status nd4c_choice_make_alike(const nd4c_context *context, const nd4c_call *call, const nd4c_constants *constants,
                                   nd4c_choice *model, nd4c_choice **out);
/* Whether a choice serves another call of the same op as it is: the kernel prepares nothing, has packed no constant,
 * takes the call, and wants no more scratch. Another kernel might be chosen for the call. */
bool nd4c_choice_serves(const nd4c_choice *choice, const nd4c_call *call);
nd4c_choice *nd4c_choice_retain(nd4c_choice *choice);
void nd4c_choice_release(nd4c_choice *choice);

/* Runs `call`. Sets state, stream, device and width from the choice and the context; the caller provides scratch of at
 * least scratch_bytes. */
nd4c_status nd4c_choice_run(const nd4c_choice *choice, const nd4c_context *context, nd4c_call *call);

/* The execution of a compiled choice for `call`, filled in as by nd4c_choice_run. */
nd4c_execution nd4c_choice_execution(const nd4c_choice *choice, const nd4c_context *context, nd4c_call *call);

/* What this thread has spent so far on what belongs to kernels and their libraries: nanoseconds in functions that
 * prepare, undo that, pack, or say which layout they want; and how many states these have prepared. */
typedef struct nd4c_preparation {
  int64_t nanoseconds, states;
} nd4c_preparation;
nd4c_preparation nd4c_choice_preparation(void);
void nd4c_choice_add_preparation(int64_t nanoseconds);

/* True if a kernel or a compiler of the device says that it can compute the call. Prepares nothing. */
bool nd4c_choice_is_possible(const nd4c_context *context, const nd4c_call *call, const nd4c_compile_request *request);

/* True if the best usable kernel is not the reference's, and none that converts its operands (ND4C_KERNEL_CONVERTS). A
 * pass asks this before it makes an op of several. */
bool nd4c_choice_is_fast(const nd4c_context *context, const nd4c_call *call);

/* Engine and kernel name of a choice. */
const char *nd4c_choice_engine(const nd4c_choice *choice);
const char *nd4c_choice_name(const nd4c_choice *choice);

/* One line for each candidate: taken, or why not. *taken: whether one was taken. `constants` as in nd4c_choice_make:
 * candidates that read them packed pack them if they are not. */
nd4c_status nd4c_choice_explain(const nd4c_context *context, const nd4c_call *call, const nd4c_constants *constants,
                                nd4c_text *text, bool *taken);

/* The memory order that the best usable kernel prefers for the outputs; false: no preference. */
bool nd4c_choice_preferred_order(const nd4c_context *context, const nd4c_call *call, int32_t *axes);

#endif
