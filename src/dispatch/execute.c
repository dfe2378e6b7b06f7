/* Implements execute.h: each execution is one submission (submit/submit.h). call.c and graph/modes/arrays.c enter
 * here. */
#include "dispatch/execute.h"

#include "base/alloc.h"
#include "base/recycle.h"
#include "base/status.h"
#include "device/storage/storage.h"
#include "device/trace/tracer.h"
#include "dispatch/constants.h"
#include "submit/submit.h"

enum { INLINE_OPERANDS = 8 };

void nd4c_tensor_describe(const nd4c_array *array, nd4c_tensor *tensor) {
  if (array == NULL) {
    *tensor = (nd4c_tensor){.dtype = ND4C_DTYPE_NONE};
    return;
  }
  *tensor = (nd4c_tensor){.dtype = array->dtype,
                          .rank = array->rank,
                          .flags = (array->contiguous ? ND4C_TENSOR_CONTIGUOUS : 0U) |
                                   ((array->storage->flags & ND4C_STORAGE_READ_ONLY) != 0 ? ND4C_TENSOR_READ_ONLY : 0U),
                          .layout = ND4C_LAYOUT_STRIDED,
                          .shape = array->shape,
                          .strides = array->strides,
                          .size = array->size,
                          .offset = array->offset};
}

/* One execution. */
typedef struct execution {
  nd4c_choice *choice;
  const nd4c_context *context;
  const nd4c_op_def *def;
  const nd4c_attr_value *attrs;
  const nd4c_array *const *inputs;
  int32_t input_count;
  nd4c_array *const *outputs;
  void *scratch;
  int64_t *const *true_shapes;
  nd4c_tensor *tensors; /* inputs, then outputs */
} execution;

static nd4c_status acquire_all(const execution *e, nd4c_submission *submission) {
  for (int32_t i = 0; i < e->input_count; i++) {
    const nd4c_array *input = e->inputs[i];
    nd4c_tensor_describe(input, &e->tensors[i]);
    const nd4c_form *form = nd4c_choice_form(e->choice, i);
    if (ND4C_UNLIKELY(form != NULL)) { /* a plan's step on arrays */
      nd4c_form_describe(form, &e->tensors[i]);
      e->tensors[i].flags |= ND4C_TENSOR_CONSTANT | ND4C_TENSOR_READ_ONLY;
      continue;
    }
    if (ND4C_UNLIKELY((e->choice->encoded >> (i & 63) & 1) != 0) && i < 64 &&
        nd4c_encoded_show(input->storage, input->offset, e->context->device, &e->tensors[i])) {
      continue;
    }
    nd4c_status status =
        input == NULL ? ND4C_OK : nd4c_submission_acquire_array(submission, input, ND4C_ACCESS_READ, &e->tensors[i]);
    if (ND4C_UNLIKELY(status != ND4C_OK)) {
      return nd4c_submission_name_operand(submission, status, input, "input", i, ND4C_ACCESS_READ);
    }
  }
  for (int32_t i = 0; i < e->def->info.output_count; i++) {
    const nd4c_array *output = e->outputs[i];
    const nd4c_access access = nd4c_submission_output_access(output);
    nd4c_tensor *tensor = &e->tensors[e->input_count + i];
    nd4c_tensor_describe(output, tensor);
    nd4c_status status = nd4c_submission_acquire_array(submission, output, access, tensor);
    if (ND4C_UNLIKELY(status != ND4C_OK)) {
      return nd4c_submission_name_operand(submission, status, output, "output", i, access);
    }
  }
  return ND4C_OK;
}

/* A kernel that failed may have written part of its outputs. They have no value until they are written again, unless
 * their previous value is current on another device. */
static void poison_outputs(const nd4c_context *context, nd4c_array *const *outputs, int32_t count, nd4c_status status) {
  for (int32_t i = 0; i < count; i++) {
    nd4c_storage_fail_write(outputs[i]->storage, context->device, status, nd4c_error_message());
  }
}

/* Kernels check arguments before they write, so these codes mean that nothing was written. A kernel that enqueues may
 * run out of memory at any of its commands. */
static bool is_refusal(const nd4c_context *context, nd4c_status status) {
  bool memory = status == ND4C_MEMORY || status == ND4C_MEMORY_CAP;
  return (status >= 200 && status < 300) || (memory && context->stream == NULL);
}

nd4c_status nd4c_execute_fail(const nd4c_choice *choice, const nd4c_context *context, const nd4c_op_def *def,
                              nd4c_array *const *outputs, nd4c_status status) {
  const char *name = def->info.name, *choice_name = nd4c_choice_name(choice);
  status = nd4c_device_is_named(context->device)
               ? nd4c_fail_prefix(status, "%s (%s)", name, choice_name)
               : nd4c_fail_prefix(status, "%s on %s (%s)", name, context->device->name, choice_name);
  if (!is_refusal(context, status)) {
    poison_outputs(context, outputs, def->info.output_count, status);
  }
  return status;
}

static void release_choice(void *choice) {
  nd4c_choice_release(choice);
}

/* Tells the storages that the work is in flight, or done on a synchronous device. */
static nd4c_status commit(const execution *e, nd4c_submission *submission) {
  nd4c_shared_fence *fence = NULL;
  nd4c_status status = nd4c_submission_record(submission, NULL, &fence);
  if (status != ND4C_OK) {
    return nd4c_execute_fail(e->choice, e->context, e->def, e->outputs, status);
  }
  if (fence != NULL) {
    nd4c_submission_keep(submission, fence, nd4c_choice_retain(e->choice), release_choice);
  }
  nd4c_submission_commit(submission, fence);
  nd4c_fence_release(fence);
  return ND4C_OK;
}

/* Runs a compiled choice, which may return its outputs. */
static nd4c_status run_compiled(const execution *e, nd4c_submission *submission, nd4c_call *call) {
  nd4c_execution run = nd4c_choice_execution(e->choice, e->context, call);
  return nd4c_submission_execute(submission, e->choice->compiled, &run, e->outputs);
}

static nd4c_status run(const execution *e, nd4c_submission *submission) {
  nd4c_call call = {.flags = e->context->deterministic ? ND4C_CALL_DETERMINISTIC : 0U,
                    .op = &e->def->info,
                    .input_count = e->input_count,
                    .output_count = e->def->info.output_count,
                    .inputs = e->tensors,
                    .outputs = e->tensors + e->input_count,
                    .attrs = e->attrs,
                    .scratch = e->scratch != NULL ? e->scratch : submission->host_scratch.address,
                    .true_shapes = e->true_shapes,
                    .scratch_buffer = submission->device_buffer,
                    .scratch_buffer_bytes = submission->device_bytes,
                    .point = nd4c_submission_number(submission, 1)};
  nd4c_status status =
      e->choice->kernel != NULL ? nd4c_choice_run(e->choice, e->context, &call) : run_compiled(e, submission, &call);
  if (status == ND4C_OK) {
    return ND4C_OK;
  }
  nd4c_submission_settle(e->context, status);
  status = nd4c_submission_explain(submission, status);
  return nd4c_execute_fail(e->choice, e->context, e->def, e->outputs, status);
}

static nd4c_status execute_now(const execution *e) {
  nd4c_submission submission;
  nd4c_status status =
      nd4c_submission_start(&submission, e->context, e->def->info.name, e->input_count + e->def->info.output_count);
  if (status == ND4C_OK) {
    status = acquire_all(e, &submission);
  }
  const int64_t host_bytes = e->scratch == NULL ? e->choice->scratch_bytes : 0;
  if (status == ND4C_OK && (host_bytes > 0 || e->choice->device_scratch.best > 0)) {
    status = nd4c_submission_take_scratch(&submission, host_bytes, &e->choice->device_scratch);
  }
  if (status == ND4C_OK) {
    status = run(e, &submission);
  }
  if (status == ND4C_OK) {
    status = commit(e, &submission);
  }
  nd4c_submission_end(&submission);
  return status;
}

/* As execute_now, recorded. */
static ND4C_NOINLINE nd4c_status execute_traced(const execution *e) {
  const char *name = e->def->info.name;
  int64_t begin = nd4c_tracer_begin(name, e->context);
  nd4c_status status = execute_now(e);
  const void *written[INLINE_OPERANDS];
  int32_t count = 0;
  for (int32_t i = 0; i < e->def->info.output_count && i < INLINE_OPERANDS; i++) {
    written[count++] = e->outputs[i]->storage;
  }
  nd4c_tracer_end(begin, status == ND4C_OK ? e->context->device : NULL, name, nd4c_choice_name(e->choice), written,
                  count);
  return status;
}

nd4c_status nd4c_execute(nd4c_choice *choice, const nd4c_context *context, const nd4c_op_def *def,
                         const nd4c_attr_value *attrs, const nd4c_array *const *inputs, int32_t input_count,
                         nd4c_array *const *outputs, void *scratch, int64_t *const *true_shapes) {
  nd4c_tensor tensors[INLINE_OPERANDS];
  execution e = {choice, context, def, attrs, inputs, input_count, outputs, scratch, true_shapes, tensors};
  const int32_t count = input_count + def->info.output_count;
  if (ND4C_LIKELY(count <= INLINE_OPERANDS)) {
    return nd4c_tracer_is_on() ? execute_traced(&e) : execute_now(&e);
  }
  const size_t bytes = (size_t)count * sizeof *e.tensors;
  e.tensors = nd4c_recycle_take(bytes);
  if (e.tensors == NULL) {
    return nd4c_fail_memory("a call's operands", bytes);
  }
  nd4c_status status = nd4c_tracer_is_on() ? execute_traced(&e) : execute_now(&e);
  nd4c_recycle_give(e.tensors, bytes);
  return status;
}
