/* Implements choice.h. call.c makes a choice for each new signature, graph/plan/steps.c for each step of a plan. */
#include "dispatch/choice.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/config/config.h"
#include "base/os.h"
#include "base/recycle.h"
#include "base/status.h"
#include "device/driver.h"
#include "device/memory/scratch.h"
#include "device/provider/answer.h"
#include "device/stream/exit_and_fork.h"
#include "dispatch/constants.h"
#include "dispatch/engines.h"

enum { REASON_SIZE = 512 };

static _Thread_local nd4c_preparation preparation;

nd4c_preparation nd4c_choice_preparation(void) {
  return preparation;
}

void nd4c_choice_add_preparation(int64_t nanoseconds) {
  preparation.nanoseconds += nanoseconds;
}

/* Kernels that declined and were not asked why: most calls find another. If there are more, they are asked after all.
 */
enum { UNSAID = 32 };
typedef struct unsaid {
  int32_t count;
  const nd4c_kernel *kernels[UNSAID];
} unsaid;

/* The verdict on each candidate, for the error text and for explain. */
typedef struct search {
  const nd4c_context *context;
  const nd4c_call *call;
  const nd4c_constants *constants; /* NULL: none */
  bool encoded;                    /* an input is QUANTISED: `plain` is the call for kernels that do not read such
                                      inputs */
  nd4c_call plain;
  const nd4c_compile_request *request; /* NULL: none */
  nd4c_engine_rules rules;
  nd4c_text *trail; /* NULL: no text is wanted */
  bool tells;       /* kernels are asked for their reasons */
  unsaid *unsaid;   /* where those go that were not; NULL: they are of no interest */
  bool explains;    /* includes the candidate that is taken, which error texts never have */
} search;

static void note(const search *s, const char *name, const char *engine, const char *verdict) {
  if (s->trail != NULL) {
    nd4c_text_print(s->trail, "  %s (engine %s): %s\n", name, engine, verdict);
  }
}

static void note_taken(const search *s, const char *name, const char *engine) {
  if (s->explains) {
    note(s, name, engine, "taken");
  }
}

static bool reads_quantised(const nd4c_kernel *kernel) {
  return ND4C_HAS_FIELD(kernel, flags) && (kernel->flags & ND4C_KERNEL_READS_QUANTISED) != 0;
}

/* The call that the kernel gets: operands with a layout that it does not read are STRIDED. */
static const nd4c_call *call_for(const search *s, const nd4c_kernel *kernel) {
  return s->encoded && !reads_quantised(kernel) ? &s->plain : s->call;
}

/* Whether the kernel may compute the call; the reason if not, where the search tells reasons. */
static bool is_usable(const search *s, const nd4c_kernel *kernel, char *reason, size_t most) {
  const size_t reason_size = s->tells ? most : 1; /* room for an empty text: plug-ins may rely on some */
  /* Without inputs, kernels declare the dtypes of the first output. */
  nd4c_dtype dtype = s->call->input_count > 0 ? s->call->inputs[0].dtype : s->call->outputs[0].dtype;
  reason[0] = '\0';
  if (nd4c_engine_is_disabled(&s->rules, kernel->engine)) {
    (void)(s->tells ? snprintf(reason, reason_size, "disabled by SD_KERNEL_DISABLE_ENGINES=%.400s", s->rules.disabled)
                    : 0);
    return false;
  }
  if ((kernel->dtypes & ND4C_DTYPE_BIT(dtype)) == 0) {
    (void)(s->tells ? snprintf(reason, reason_size, "not for %s", nd4c_dtype_name(dtype)) : 0);
    return false;
  }
  nd4c_call call = *call_for(s, kernel);
  call.data = kernel->data;
  if (s->encoded && s->constants != NULL && reads_quantised(kernel)) {
    nd4c_constants_show(s->context, s->call, s->constants);
  }
  if (kernel->usable == NULL || kernel->usable(&call, reason, reason_size)) {
    return true;
  }
  reason[reason_size - 1] = '\0'; /* a plug-in may have written anything */
  nd4c_text_clean(reason, false);
  return false;
}

/* Asks how much scratch of the host and of the device a run needs. Skips a kernel that fails or asks for an impossible
 * amount. */
static nd4c_status ask_scratch(const search *s, const nd4c_call *call, nd4c_choice *choice, bool *taken) {
  const nd4c_kernel *kernel = choice->kernel;
  choice->scratch_bytes = kernel->scratch_bytes != NULL ? kernel->scratch_bytes(call) : 0;
  nd4c_status status = nd4c_scratch_check_host(kernel->name, choice->scratch_bytes);
  if (status == ND4C_OK && ND4C_HAS_FIELD(kernel, device_scratch) && kernel->device_scratch != NULL) {
    nd4c_error_expect();
    status = nd4c_driver_answer(
        kernel->device_scratch(call, nd4c_scratch_limit(choice->device), &choice->device_scratch), "device_scratch");
    status = status == ND4C_OK ? nd4c_scratch_check(kernel->name, &choice->device_scratch) : status;
  }
  *taken = status == ND4C_OK;
  if (*taken) {
    return ND4C_OK;
  }
  if (kernel->unprepare != NULL && choice->state != NULL) {
    kernel->unprepare(choice->state);
  }
  choice->kernel = NULL;
  choice->state = NULL;
  choice->scratch_bytes = 0;
  choice->encoded = 0;
  choice->device_scratch = (nd4c_scratch_range){0, 0};
  if (status == ND4C_MEMORY || status == ND4C_MEMORY_CAP) {
    return status; /* the choice is released, with its forms */
  }
  note(s, kernel->name, kernel->engine, nd4c_error_message());
  nd4c_choice_drop_forms(choice);
  return ND4C_OK;
}

/* Prepares a kernel for the call. A kernel whose preparation fails is skipped like one that is not usable; only
 * exhausted memory ends the search. */
static nd4c_status prepare(const search *s, const nd4c_kernel *kernel, nd4c_choice *choice, bool *taken) {
  *taken = false;
  bool declined = false;
  if (s->constants != NULL) {
    nd4c_constants_reset(s->constants, s->call->input_count);
    if (s->encoded && reads_quantised(kernel)) {
      nd4c_constants_show(s->context, s->call, s->constants);
    }
    ND4C_TRY(nd4c_constants_place(s->context, s->call, s->constants, kernel, choice, &declined));
  }
  nd4c_call prepared = s->constants != NULL ? *s->call : *call_for(s, kernel);
  void *state = NULL;
  prepared.data = kernel->data;
  if (!declined && kernel->prepare != NULL) {
    const int64_t begin = nd4c_os_nanoseconds();
    nd4c_status status = nd4c_driver_kernel_prepare(kernel, &prepared, &state);
    nd4c_choice_add_preparation(nd4c_os_nanoseconds() - begin);
    if (status == ND4C_MEMORY || status == ND4C_MEMORY_CAP) {
      return status;
    }
    declined = status != ND4C_OK;
    preparation.states += state != NULL;
  }
  if (declined) {
    choice->by_contents = true;
    note(s, kernel->name, kernel->engine, nd4c_error_message());
    nd4c_choice_drop_forms(choice);
    return ND4C_OK;
  }
  prepared.state = state;
  choice->kernel = kernel;
  choice->state = state;
  for (int32_t i = 0; s->encoded && i < prepared.input_count && i < 64; i++) {
    choice->encoded |= (uint64_t)(prepared.inputs[i].layout == ND4C_LAYOUT_QUANTISED) << i;
  }
  return ask_scratch(s, &prepared, choice, taken);
}

/* Asks why they declined. The first answer counts: a kernel that has changed its mind is not tried. */
static void note_unsaid(const search *s) {
  char reason[REASON_SIZE];
  search asking = *s;
  asking.tells = true;
  for (int32_t i = 0; s->unsaid != NULL && i < s->unsaid->count; i++) {
    const nd4c_kernel *kernel = s->unsaid->kernels[i];
    const bool takes = is_usable(&asking, kernel, reason, sizeof reason);
    note(s, kernel->name, kernel->engine, takes ? "it declined, but takes the call when asked why" : reason);
  }
}

/* Notes that a kernel declined, or that it is to be asked for its reason if no other takes the call. */
static void note_declined(const search *s, const nd4c_kernel *kernel, const char *reason) {
  if (s->tells) {
    note(s, kernel->name, kernel->engine, reason);
  } else if (s->unsaid != NULL) {
    if (s->unsaid->count == UNSAID) {
      note_unsaid(s);
      s->unsaid->count = 0;
    }
    s->unsaid->kernels[s->unsaid->count++] = kernel;
  }
}

/* Asks the kernels from the highest priority down; only those of the forced engine if `forced_only`. If an operand is
 * QUANTISED, asks those that read it (`reading`) or the others. */
static nd4c_status ask_kernels(const search *s, bool forced_only, bool reading, nd4c_choice *choice, bool *taken) {
  int32_t count = 0;
  const nd4c_kernel *const *kernels = nd4c_device_kernels(s->context->device, s->call->op->op, &count);
  *taken = false;
  for (int32_t i = 0; i < count && !*taken; i++) {
    char reason[REASON_SIZE];
    if ((forced_only && !nd4c_engine_is_forced(&s->rules, kernels[i]->engine)) ||
        (s->encoded && reads_quantised(kernels[i]) != reading)) {
      continue;
    }
    if (!is_usable(s, kernels[i], reason, sizeof reason)) {
      note_declined(s, kernels[i], reason);
      continue;
    }
    ND4C_TRY(prepare(s, kernels[i], choice, taken));
    if (*taken) {
      note_taken(s, kernels[i]->name, kernels[i]->engine);
    }
  }
  return ND4C_OK;
}

static nd4c_status find_kernel(const search *s, bool forced_only, nd4c_choice *choice, bool *taken) {
  *taken = false;
  if (s->encoded) {
    ND4C_TRY(ask_kernels(s, forced_only, true, choice, taken));
  }
  return *taken ? ND4C_OK : ask_kernels(s, forced_only, false, choice, taken);
}

/* Looks for QUANTISED operands. search_end must follow. */
static nd4c_status search_begin(search *s) {
  nd4c_engine_rules_read(&s->rules);
  for (int32_t i = 0; i < s->call->input_count && !s->encoded; i++) {
    const nd4c_array *constant = s->constants != NULL ? s->constants->items[i].array : NULL;
    s->encoded = s->call->inputs[i].layout == ND4C_LAYOUT_QUANTISED ||
                 (constant != NULL && nd4c_encoded_layout(constant->storage) != NULL);
  }
  if (!s->encoded) {
    return ND4C_OK;
  }
  const size_t bytes = (size_t)s->call->input_count * sizeof(nd4c_tensor);
  nd4c_tensor *inputs = nd4c_recycle_take(bytes);
  if (inputs == NULL) {
    return nd4c_fail_memory("a call's operands", bytes);
  }
  for (int32_t i = 0; i < s->call->input_count; i++) {
    inputs[i] = s->call->inputs[i];
    inputs[i].layout = ND4C_LAYOUT_STRIDED;
    inputs[i].arrangement = NULL;
    inputs[i].data = NULL;
    inputs[i].buffer = NULL;
  }
  s->plain = *s->call;
  s->plain.inputs = inputs;
  return ND4C_OK;
}

static void search_end(search *s) {
  if (s->plain.inputs != NULL) {
    union {
      const nd4c_tensor *read;
      void *memory;
    } inputs = {.read = s->plain.inputs};
    nd4c_recycle_give(inputs.memory, (size_t)s->plain.input_count * sizeof(nd4c_tensor));
  }
}

/* -- compilers --------------------------------------------------------------------------------------------------- */

/* The call as a segment of one node. `values` has room for a number for each operand. */
static void make_segment(const nd4c_call *const *node, int32_t *values, const int32_t **lists, nd4c_segment *segment) {
  const nd4c_call *call = *node;
  int32_t input_count = call->input_count, output_count = call->output_count;
  for (int32_t i = 0; i < input_count + output_count; i++) {
    values[i] = i < input_count && call->inputs[i].dtype == ND4C_DTYPE_NONE ? -1 : i;
  }
  lists[0] = values;
  lists[1] = values + input_count;
  *segment = (nd4c_segment){.struct_size = ND4C_SIZE_OF(nd4c_segment),
                            .node_count = 1,
                            .nodes = node,
                            .node_inputs = &lists[0],
                            .node_outputs = &lists[1],
                            .value_count = input_count + output_count,
                            .input_count = input_count,
                            .output_count = output_count,
                            .outputs = lists[1]};
}

/* Whether the compiler takes the segment's only node; notes why not. */
static nd4c_status ask_compiler(const search *s, const nd4c_compiler *compiler, const nd4c_segment *segment,
                                const nd4c_compile_options *options, bool *takes) {
  nd4c_answer answer;
  nd4c_status status = nd4c_answer_ask(compiler, s->context->device->handle, segment, options, &answer);
  *takes = status == ND4C_OK && answer.piece_of[0] >= 0;
  if (status == ND4C_OK && !*takes) {
    note(s, "compiler", compiler->engine, nd4c_answer_reason(&answer, 0));
  }
  nd4c_answer_free(&answer);
  return status;
}

/* Outputs that an executable returns are in C order. */
static bool has_fitting_outputs(const nd4c_call *call) {
  bool fitting = true;
  for (int32_t i = 0; i < call->output_count; i++) {
    fitting = fitting && (call->outputs[i].flags & ND4C_TENSOR_CONTIGUOUS) != 0;
  }
  return fitting;
}

/* Compiles the segment if the compiler takes it. A compiler that fails is skipped like one that declines; only
 * exhausted memory ends the search. */
static nd4c_status try_compiler(const search *s, const nd4c_compiler *compiler, const nd4c_segment *segment,
                                nd4c_choice *choice, bool *taken) {
  nd4c_compile_room room;
  const nd4c_compile_options options = nd4c_compile_request_tell(s->request, s->context, compiler, &room);
  ND4C_TRY(ask_compiler(s, compiler, segment, &options, taken));
  if (!*taken) {
    return ND4C_OK;
  }
  nd4c_executable_info info;
  nd4c_status status =
      nd4c_compiled_make(compiler, s->context->device, segment, &options, NULL, &choice->compiled, &info);
  *taken = status == ND4C_OK;
  if (status == ND4C_MEMORY || status == ND4C_MEMORY_CAP) {
    return status;
  }
  if (!*taken) {
    note(s, "compiler", compiler->engine, nd4c_error_message());
    return ND4C_OK;
  }
  if (nd4c_compiled_returns(choice->compiled) && !has_fitting_outputs(s->call)) {
    nd4c_compiled_release(choice->compiled);
    choice->compiled = NULL;
    *taken = false;
    note(s, "compiler", compiler->engine, "it returns outputs in C order, which the given ones are not in");
    return ND4C_OK;
  }
  choice->scratch_bytes = info.scratch_bytes;
  choice->device_scratch = nd4c_compiled_scratch(&info);
  note_taken(s, "compiler", compiler->engine);
  return ND4C_OK;
}

/* Asks the compilers from the highest priority down; only those of the forced engine if `forced_only`. */
static nd4c_status find_compiler(const search *s, bool forced_only, nd4c_choice *choice, bool *taken) {
  int32_t count = 0;
  const nd4c_compiler *const *compilers = nd4c_device_compilers(s->context->device, &count);
  *taken = false;
  if (count == 0) {
    return ND4C_OK;
  }
  if (s->constants != NULL) {
    ND4C_TRY(nd4c_constants_bind(s->context, s->call, s->constants));
  }
  const nd4c_call *call = s->encoded && s->constants == NULL ? &s->plain : s->call;
  size_t bytes = (size_t)(call->input_count + call->output_count) * sizeof(int32_t);
  int32_t *values = nd4c_allocate(bytes);
  if (values == NULL) {
    return nd4c_fail_memory("a segment", bytes);
  }
  const int32_t *lists[2];
  nd4c_segment segment;
  nd4c_status status = ND4C_OK;
  make_segment(&call, values, lists, &segment);
  for (int32_t i = 0; i < count && !*taken && status == ND4C_OK; i++) {
    bool asked = !forced_only || nd4c_engine_is_forced(&s->rules, compilers[i]->engine);
    if (asked && !nd4c_engine_is_disabled(&s->rules, compilers[i]->engine)) {
      status = try_compiler(s, compilers[i], &segment, choice, taken);
    }
  }
  nd4c_deallocate(values);
  return status;
}

/* A kernel of the forced engine, or a compiler if that is its engine. */
static nd4c_status find_forced(const search *s, nd4c_choice *choice, bool *taken) {
  ND4C_TRY(find_kernel(s, true, choice, taken));
  return *taken ? ND4C_OK : find_compiler(s, true, choice, taken);
}

static nd4c_status find_any(const search *s, nd4c_choice *choice, bool *taken) {
  ND4C_TRY(find_kernel(s, false, choice, taken));
  return *taken ? ND4C_OK : find_compiler(s, false, choice, taken);
}

#define NO_KERNEL "the backend has no kernel for this op"

static nd4c_status fail_unsupported(const search *s) {
  const char *trail = s->trail->bytes != NULL ? s->trail->bytes : "  " NO_KERNEL "\n";
  return nd4c_fail(ND4C_UNSUPPORTED, "%s: nothing on %s computes this call:\n%s", s->call->op->name,
                   s->context->device->name, trail);
}

/* Reports names in SD_KERNEL_DISABLE_ENGINES that cannot be applied, or fails in a strict context. */
static nd4c_status check_disabled(const search *s) {
  nd4c_engine_refusal refusal;
  if (s->rules.disabled[0] == '\0') {
    return ND4C_OK;
  }
  for (size_t position = 0; !s->context->unasked && nd4c_engine_next_refusal(&s->rules, &position, &refusal);) {
    if (s->context->strict) {
      return nd4c_fail(ND4C_STRICT, "%s: SD_KERNEL_DISABLE_ENGINES=%.400s asks for %s disabled: %s", s->call->op->name,
                       s->rules.disabled, refusal.name, refusal.reason);
    }
    char requested[ND4C_ENGINE_NAME_SIZE + 16];
    (void)snprintf(requested, sizeof requested, "%s disabled", refusal.name);
    nd4c_report_difference("SD_KERNEL_DISABLE_ENGINES", requested, refusal.applied, refusal.reason);
  }
  return ND4C_OK;
}

/* Uses the forced engine. If it cannot serve the call, uses the next one and reports that, or fails in a strict
 * context. */
static nd4c_status find_choice(search *s, nd4c_choice *choice) {
  bool taken = false, forced = s->rules.forced[0] != '\0';
  s->tells = s->tells || forced; /* the report on a forced engine that cannot serve the call gives the reasons */
  char reason[REASON_SIZE];
  ND4C_TRY(check_disabled(s));
  if (forced) {
    ND4C_TRY(find_forced(s, choice, &taken));
    if (taken) {
      return ND4C_OK;
    }
    if (s->context->strict && !s->context->unasked) {
      return nd4c_fail(ND4C_STRICT, "%s: SD_KERNEL_FORCE_ENGINE=%s cannot serve this call on %s: %s\n%s",
                       s->call->op->name, s->rules.forced, s->context->device->name,
                       nd4c_engine_forced_reason(&s->rules, reason, sizeof reason),
                       s->trail->bytes != NULL ? s->trail->bytes : "");
    }
  }
  ND4C_TRY(find_any(s, choice, &taken));
  if (!taken) {
    note_unsaid(s);
    return fail_unsupported(s);
  }
  if (forced && !s->context->unasked) {
    nd4c_report_difference(s->call->op->name, s->rules.forced, nd4c_choice_engine(choice),
                           nd4c_engine_forced_reason(&s->rules, reason, sizeof reason));
  }
  return ND4C_OK;
}

static nd4c_status try_only(const search *s, const nd4c_kernel *kernel, nd4c_choice *choice, bool *taken) {
  char reason[REASON_SIZE];
  *taken = false;
  return s->encoded || !is_usable(s, kernel, reason, sizeof reason) ? ND4C_OK : prepare(s, kernel, choice, taken);
}

/* Makes a choice of `only`; NULL: of the best candidate. *out NULL: `only` does not take the call. */
static nd4c_status make(search *s, const nd4c_kernel *only, nd4c_choice **out) {
  bool taken = true;
  *out = NULL;
  ND4C_TRY(nd4c_device_admit(s->context->device)); /* preparing a kernel may call the driver */
  nd4c_choice *choice = nd4c_recycle_take(sizeof *choice);
  if (choice == NULL) {
    return nd4c_fail_memory("a kernel choice", sizeof *choice);
  }
  choice->references = 1;
  choice->device = s->context->device;
  nd4c_status status = search_begin(s);
  if (status == ND4C_OK) {
    status = only == NULL ? find_choice(s, choice) : try_only(s, only, choice, &taken);
  }
  search_end(s);
  if (status == ND4C_OK && taken) {
    *out = choice;
    return ND4C_OK;
  }
  nd4c_choice_drop_forms(choice);
  nd4c_recycle_give(choice, sizeof *choice);
  return status;
}

nd4c_status nd4c_choice_make(const nd4c_context *context, const nd4c_call *call, const nd4c_constants *constants,
                             const nd4c_compile_request *request, nd4c_choice **out) {
  nd4c_text trail = {0};
  unsaid declined;
  declined.count = 0;
  search s = {.context = context,
              .call = call,
              .constants = constants,
              .request = request,
              .trail = &trail,
              .unsaid = &declined};
  const nd4c_status status = make(&s, NULL, out);
  nd4c_text_free(&trail);
  return status;
}

nd4c_status nd4c_choice_make_with(const nd4c_context *context, const nd4c_call *call, const nd4c_constants *constants,
                                  const nd4c_kernel *kernel, nd4c_choice **out) {
  search s = {.context = context, .call = call, .constants = constants};
  return make(&s, kernel, out);
}

static nd4c_status explain_search(search *s, nd4c_text *text, nd4c_choice *choice, bool *taken) {
  const nd4c_context *context = s->context;
  nd4c_text_print(text, "%s on %s", s->call->op->name, context->device->name);
  if (s->rules.forced[0] != '\0') {
    nd4c_text_print(text, ", engine %s forced", s->rules.forced);
  }
  nd4c_text_print(text, ":\n");
  nd4c_engine_print_refusals(&s->rules, text);
  if (s->rules.forced[0] != '\0') {
    ND4C_TRY(find_forced(s, choice, taken));
    if (!*taken) {
      char reason[REASON_SIZE];
      nd4c_text_print(text, "  %s forced: %s%s\n", s->rules.forced,
                      nd4c_engine_forced_reason(&s->rules, reason, sizeof reason),
                      context->strict ? " (strict: an error)" : "; the others are asked");
    }
  }
  if (!*taken) {
    ND4C_TRY(find_any(s, choice, taken));
  }
  if (!*taken) {
    int32_t count = 0;
    (void)nd4c_device_kernels(context->device, s->call->op->op, &count);
    nd4c_text_print(text, "  no kernel or compiler computes this call%s\n", count == 0 ? ": " NO_KERNEL : "");
  }
  return ND4C_OK;
}

nd4c_status nd4c_choice_explain(const nd4c_context *context, const nd4c_call *call, const nd4c_constants *constants,
                                nd4c_text *text, bool *taken) {
  *taken = false;
  if (nd4c_device_admit(context->device) != ND4C_OK) {
    nd4c_text_print(text, "%s on %s: %s\n", call->op->name, context->device->name, nd4c_error_message());
    return ND4C_OK;
  }
  search s = {.context = context, .call = call, .constants = constants, .trail = text, .tells = true, .explains = true};
  nd4c_choice choice = {.references = 1, .device = context->device};
  nd4c_status status = search_begin(&s);
  if (status == ND4C_OK) {
    status = explain_search(&s, text, &choice, taken);
  }
  search_end(&s);
  if (choice.kernel != NULL && choice.kernel->unprepare != NULL && choice.state != NULL) {
    choice.kernel->unprepare(choice.state);
  }
  nd4c_choice_drop_forms(&choice);
  nd4c_compiled_release(choice.compiled);
  ND4C_TRY(status);
  return text->failed ? nd4c_fail_memory("an explanation", text->capacity) : ND4C_OK;
}

/* Exhausted memory counts as no; making the choice will report it. */
static bool some_compiler_takes(const search *s) {
  int32_t count = 0, *values = NULL;
  const nd4c_compiler *const *compilers = nd4c_device_compilers(s->context->device, &count);
  if (count > 0) {
    values = nd4c_allocate((size_t)(s->call->input_count + s->call->output_count) * sizeof *values);
  }
  const int32_t *lists[2];
  nd4c_segment segment;
  bool takes = false;
  for (int32_t i = 0; values != NULL && i < count && !takes; i++) {
    nd4c_compile_room room;
    const nd4c_compile_options options = nd4c_compile_request_tell(s->request, s->context, compilers[i], &room);
    make_segment(&s->call, values, lists, &segment);
    if (!nd4c_engine_is_disabled(&s->rules, compilers[i]->engine)) {
      (void)ask_compiler(s, compilers[i], &segment, &options, &takes);
    }
  }
  nd4c_deallocate(values);
  return takes;
}

bool nd4c_choice_is_possible(const nd4c_context *context, const nd4c_call *call, const nd4c_compile_request *request) {
  search s = {.context = context, .call = call, .request = request};
  nd4c_engine_rules_read(&s.rules);
  int32_t count = 0;
  const nd4c_kernel *const *kernels = nd4c_device_kernels(context->device, call->op->op, &count);
  char reason[REASON_SIZE];
  for (int32_t i = 0; i < count; i++) {
    if (is_usable(&s, kernels[i], reason, sizeof reason)) {
      return true;
    }
  }
  return some_compiler_takes(&s);
}

/* The kernel that a choice would take, as far as kernels say before they are prepared; NULL: none is usable. */
static const nd4c_kernel *find_best(const nd4c_context *context, const nd4c_call *call) {
  search s = {.context = context, .call = call};
  nd4c_engine_rules_read(&s.rules);
  int32_t count = 0;
  const nd4c_kernel *const *kernels = nd4c_device_kernels(context->device, call->op->op, &count);
  bool forced = s.rules.forced[0] != '\0';
  for (int pass = forced ? 0 : 1; pass < 2; pass++) {
    for (int32_t i = 0; i < count; i++) {
      char reason[REASON_SIZE];
      if ((pass == 1 || nd4c_engine_is_forced(&s.rules, kernels[i]->engine)) &&
          is_usable(&s, kernels[i], reason, sizeof reason)) {
        return kernels[i];
      }
    }
  }
  return NULL;
}

bool nd4c_choice_preferred_order(const nd4c_context *context, const nd4c_call *call, int32_t *axes) {
  if (context->device->description.whole_buffers) {
    return false; /* it takes only C order */
  }
  const nd4c_kernel *best = find_best(context, call);
  if (best == NULL || !ND4C_HAS_FIELD(best, preferred_order) || best->preferred_order == NULL) {
    return false;
  }
  nd4c_call asked = *call;
  asked.data = best->data;
  return best->preferred_order(&asked, axes);
}

bool nd4c_choice_is_fast(const nd4c_context *context, const nd4c_call *call) {
  const nd4c_kernel *best = find_best(context, call);
  const bool converts = best != NULL && ND4C_HAS_FIELD(best, flags) && (best->flags & ND4C_KERNEL_CONVERTS) != 0;
  return best != NULL && !converts && strcmp(best->engine, "reference") != 0;
}
