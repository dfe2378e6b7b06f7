/* Mode "stream", a row of mode.c: for one asynchronous device. Its steps are built when the plan is created, as in mode
 * "direct". A run acquires the storages of the inputs, the outputs and the arena once, enqueues one call after another
 * without locks or fences, and records a single fence for all of them. */
#include "graph/modes/stream.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/status.h"
#include "device/driver.h"
#include "device/stream/cancellation.h"
#include "device/trace/tracer.h"
#include "graph/modes/mode.h"
#include "graph/modes/patches.h"
#include "submit/submit.h"

/* -- what outlives the plan --------------------------------------------------------------------------------------- */

static void free_body(void *argument) {
  nd4c_stream_body *body = argument;
  nd4c_capture_free(body->capture);
  for (int32_t i = 0; i < body->block_count; i++) {
    nd4c_memory_free(body->device, &body->blocks[i]);
  }
  nd4c_deallocate(body->blocks);
  if (body->nothing.node != NULL) {
    nd4c_memory_free(body->device, &body->nothing);
  }
  if (body->scratch != NULL) {
    nd4c_scratch_drop(body->scratch);
  }
  if (body->host_scratch.node != NULL) {
    nd4c_memory_free(body->host, &body->host_scratch);
  }
  for (int32_t i = 0; i < body->kept_count; i++) {
    if (body->kept[i].choice != NULL) {
      nd4c_choice_release(body->kept[i].choice);
    }
    nd4c_compiled_release(body->kept[i].compiled);
  }
  nd4c_deallocate(body);
}

static nd4c_status take_host_scratch(nd4c_stream_body *body, int64_t bytes) {
  const nd4c_memory_request request = {.bytes = bytes, .origin = "plan scratch", .usage = ND4C_BUFFER_SCRATCH};
  ND4C_TRY(nd4c_device_host(&body->host));
  nd4c_status status = bytes > 0 ? nd4c_memory_allocate(body->host, &request, &body->host_scratch) : ND4C_OK;
  return status == ND4C_OK
             ? status
             : nd4c_device_fail_prefix(status, body->host, "on", "plan: %lld bytes of scratch", (long long)bytes);
}

static nd4c_status hold_scratch(const nd4c_plan *plan, nd4c_stream_body *body, const nd4c_scratch_range *range) {
  if (range->best == 0) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_scratch_lend(body->device, plan->context->stream, range, "plan", &body->scratch));
  nd4c_scratch_hold(body->scratch);
  nd4c_scratch_return(body->scratch, NULL);
  return ND4C_OK;
}

static nd4c_status take_buffers(const nd4c_plan *plan, nd4c_stream_body *body) {
  const nd4c_plan_place *place = &plan->places[0];
  ND4C_TRY(
      nd4c_allocate_or_fail((size_t)place->buffer_count + 1, sizeof *body->blocks, "a plan's buffers", &body->blocks));
  for (int32_t i = 0; i < place->buffer_count; i++) {
    const nd4c_memory_request request = {.bytes = place->buffer_bytes[i],
                                         .origin = "plan buffer",
                                         .usage = ND4C_BUFFER_ARENA,
                                         .stream = plan->context->stream};
    nd4c_status status = nd4c_memory_allocate(body->device, &request, &body->blocks[i]);
    if (status != ND4C_OK) {
      return nd4c_device_fail_prefix(status, body->device, "on", "plan: a buffer of %lld bytes for values",
                                     (long long)request.bytes);
    }
    body->block_count = i + 1;
  }
  return ND4C_OK;
}

static bool is_nothing(const nd4c_slot *slot) {
  return slot->kind == ND4C_SLOT_ARENA && slot->bytes == 0;
}

/* Values without elements have no place in an arena, but their tensors name a buffer, as those of arrays do. */
static nd4c_status take_nothing(const nd4c_plan *plan, nd4c_stream_body *body) {
  const nd4c_memory_request request = {.origin = "plan value", .usage = ND4C_BUFFER_ARENA};
  for (int32_t i = 0; i < plan->slot_count && body->nothing.node == NULL; i++) {
    if (is_nothing(&plan->slots[i])) {
      ND4C_TRY(nd4c_memory_allocate(body->device, &request, &body->nothing));
    }
  }
  return ND4C_OK;
}

/* Scratch of a step, on the host and on the device. */
typedef struct scratch_need {
  int64_t host;
  nd4c_scratch_range device;
} scratch_need;

static scratch_need need_of(const nd4c_step *step) {
  return step->segment != NULL
             ? (scratch_need){step->segment->info.scratch_bytes, nd4c_compiled_scratch(&step->segment->info)}
             : (scratch_need){step->choice->scratch_bytes, step->choice->device_scratch};
}

static nd4c_status fill_body(const nd4c_plan *plan, nd4c_stream_body *body) {
  int64_t host = 0;
  nd4c_scratch_range range = {0, 0};
  for (int32_t i = 0; i < plan->step_count; i++) {
    const nd4c_step *step = &plan->steps[i];
    const scratch_need need = need_of(step);
    if (step->segment != NULL) {
      body->kept[body->kept_count++].compiled = nd4c_compiled_retain(step->segment->compiled);
    } else {
      body->kept[body->kept_count++].choice = nd4c_choice_retain(step->choice);
    }
    host = need.host > host ? need.host : host;
    range.least = need.device.least > range.least ? need.device.least : range.least;
    range.best = need.device.best > range.best ? need.device.best : range.best;
  }
  body->device = plan->device;
  ND4C_TRY(take_buffers(plan, body));
  ND4C_TRY(take_nothing(plan, body));
  ND4C_TRY(take_host_scratch(body, host));
  return hold_scratch(plan, body, &range);
}

static int64_t bytes_of(const nd4c_stream_body *body) {
  int64_t bytes = 0;
  for (int32_t i = 0; i < body->block_count; i++) {
    bytes += body->blocks[i].bytes;
  }
  return bytes;
}

/* Makes the latest run release the body: work on a stream ends in order, so no other run needs it longer. */
static void drop_body(nd4c_plan_stream *stream) {
  if (stream->body != NULL && stream->last != NULL) {
    nd4c_fence_keep(stream->last, stream->body, bytes_of(stream->body), free_body);
  } else if (stream->body != NULL) {
    free_body(stream->body);
  }
  stream->body = NULL;
  nd4c_fence_release(stream->last);
  stream->last = NULL;
}

/* -- binding ----------------------------------------------------------------------------------------------------- */

static void apply(const nd4c_patch *patch, const nd4c_replica_view *view, int64_t begin) {
  const int64_t bytes = begin + patch->byte_offset;
  patch->tensor->buffer = view->buffer;
  patch->tensor->offset = nd4c_dtype_elements(patch->tensor->dtype, view->offset + bytes);
  patch->tensor->data = view->address == NULL ? NULL : (char *)view->address + bytes;
}

/* On devices with whole buffers the values keep their buffers. */
static void bind_buffers(const nd4c_plan *plan) {
  const nd4c_stream_body *body = plan->stream->body;
  for (int32_t i = 0; body->block_count > 0 && i < plan->arena_patches.count; i++) {
    const nd4c_patch *patch = &plan->arena_patches.items[i];
    const nd4c_block *block = &body->blocks[patch->port];
    apply(patch, &(nd4c_replica_view){.buffer = block->buffer, .address = block->address, .offset = block->offset}, 0);
  }
}

static void bind_nothing(const nd4c_plan *plan) {
  const nd4c_block *block = &plan->stream->body->nothing;
  for (int32_t i = 0; block->node != NULL && i < plan->step_count; i++) {
    const nd4c_step *step = &plan->steps[i];
    for (int32_t k = 0; k < step->input_count + step->output_count; k++) {
      const nd4c_value value = k < step->input_count ? step->inputs[k] : step->outputs[k - step->input_count];
      if (value >= 0 && is_nothing(&plan->slots[plan->slots[value].root])) {
        step->tensors[k].buffer = block->buffer;
        step->tensors[k].data = block->address;
        step->tensors[k].offset = 0;
      }
    }
  }
}

/* Makes the stream wait for the copies of constants to the device. */
static nd4c_status wait_for_constants(const nd4c_plan *plan) {
  for (int32_t i = 0; i < plan->slot_count; i++) {
    if (plan->slots[i].kind == ND4C_SLOT_CONSTANT && plan->slots[i].bound) {
      nd4c_storage *storage = plan->slots[i].array->storage;
      nd4c_replica_view view;
      ND4C_TRY(nd4c_storage_acquire(storage, plan->device, plan->context->stream, ND4C_ACCESS_READ,
                                    plan->context->transfer, &view));
      nd4c_fence_release(view.written);
      nd4c_storage_cancel(storage, plan->device);
    }
  }
  return ND4C_OK;
}

static void give_scratch(const nd4c_stream_body *body, nd4c_step *step) {
  const nd4c_scratch_range range = need_of(step).device;
  step->call.scratch_buffer = range.best > 0 ? body->scratch->block.buffer : NULL;
  step->call.scratch_buffer_bytes = range.best > 0 ? nd4c_scratch_granted(body->scratch, &range) : 0;
}

/* Rebinds the calls to the context's stream, in a new body: runs on another stream may still use the previous one. */
static nd4c_status bind(nd4c_plan *plan) {
  nd4c_plan_stream *stream = plan->stream;
  drop_body(stream);
  size_t size = sizeof *stream->body + (size_t)plan->step_count * sizeof stream->body->kept[0];
  ND4C_TRY(nd4c_allocate_or_fail(1, size, "a plan's run", &stream->body));
  stream->bound = NULL;
  stream->recorded = false;
  ND4C_TRY(fill_body(plan, stream->body));
  ND4C_TRY(wait_for_constants(plan));
  bind_buffers(plan);
  bind_nothing(plan);
  for (int32_t i = 0; i < plan->step_count; i++) {
    nd4c_step *step = &plan->steps[i];
    step->call.stream = plan->context->stream;
    step->call.scratch = need_of(step).host > 0 ? stream->body->host_scratch.address : NULL;
    give_scratch(stream->body, step);
  }
  stream->bound = plan->context->stream;
  return ND4C_OK;
}

nd4c_status nd4c_stream_prepare(nd4c_plan *plan) {
  const int64_t inputs = plan->graph->inputs.count, outputs = plan->graph->outputs.count;
  nd4c_plan_stream *stream = NULL;
  ND4C_TRY(nd4c_region_make(&plan->region, 1, sizeof *stream, &stream));
  *stream = (nd4c_plan_stream){.bound = NULL};
  plan->stream = stream;
  ND4C_TRY(nd4c_region_make(&plan->region, inputs + 1, sizeof(nd4c_shared_fence *), &stream->after));
  ND4C_TRY(nd4c_region_make(&plan->region, inputs + outputs, sizeof *stream->known, &stream->known));
  ND4C_TRY(nd4c_patches_make(plan));
  ND4C_TRY(nd4c_stream_find_parts(plan));
  return bind(plan);
}

void nd4c_stream_release(nd4c_plan *plan) {
  if (plan->stream != NULL) {
    drop_body(plan->stream);
    nd4c_fence_steps_release(plan->stream->steps);
  }
}

/* -- acquire ----------------------------------------------------------------------------------------------------- */

static void note_move(nd4c_plan_stream *stream) {
  stream->moved = true;
  stream->recorded = false;
}

/* The arena keeps its buffer, unless the device has reclaimed it to make room for other arrays. */
static nd4c_status acquire_arena(nd4c_plan *plan, nd4c_submission *submission) {
  nd4c_replica_view *known = &plan->stream->arena, view;
  ND4C_TRY(
      nd4c_submission_acquire(submission, plan->places[0].arena, ND4C_ACCESS_WRITE, ND4C_TRANSFER_ON_DEMAND, &view));
  if (view.buffer == known->buffer && view.offset == known->offset && view.address == known->address) {
    return ND4C_OK;
  }
  for (int32_t i = 0; i < plan->arena_patches.count; i++) {
    apply(&plan->arena_patches.items[i], &view, 0);
  }
  *known = view;
  note_move(plan->stream);
  return ND4C_OK;
}

/* Operand `index` of the run: inputs first, then outputs; in the submission the arena follows. */
static nd4c_array *operand_array(const nd4c_plan *plan, int32_t index) {
  const int32_t inputs = plan->graph->inputs.count;
  return index < inputs ? plan->input_arrays[index] : plan->output_arrays[index - inputs];
}

static nd4c_status name_operand(const nd4c_plan *plan, int32_t index, nd4c_status status) {
  const int32_t inputs = plan->graph->inputs.count;
  const bool input = index < inputs;
  const char *name = input ? plan->graph->inputs.items[index].name : plan->graph->outputs.items[index - inputs].name;
  if (nd4c_storage_is_poisoned(operand_array(plan, index)->storage)) {
    return nd4c_fail(ND4C_POISONED, "plan: %s '%s' was left without a value: %s", input ? "input" : "output", name,
                     nd4c_error_message());
  }
  return nd4c_fail_prefix(status, "plan: %s '%s'", input ? "input" : "output", name);
}

static nd4c_status acquire_operand(nd4c_plan *plan, int32_t index, nd4c_submission *submission) {
  const int32_t inputs = plan->graph->inputs.count;
  const nd4c_array *array = operand_array(plan, index);
  const nd4c_access access = index < inputs ? ND4C_ACCESS_READ : nd4c_submission_output_access(array);
  nd4c_replica_view view;
  nd4c_status status = nd4c_submission_acquire(submission, array->storage, access, plan->context->transfer, &view);
  if (status != ND4C_OK) {
    return name_operand(plan, index, status);
  }
  const int64_t begin = nd4c_array_offset_bytes(array);
  nd4c_stream_place *known = &plan->stream->known[index];
  if (view.buffer == known->buffer && view.offset + begin == known->offset && view.address == known->address) {
    return ND4C_OK;
  }
  *known = (nd4c_stream_place){view.buffer, view.offset + begin, view.address};
  note_move(plan->stream);
  const nd4c_patch_list *list = index < inputs ? &plan->input_patches : &plan->output_patches;
  for (int32_t i = 0; i < list->count; i++) {
    if (list->items[i].port == (index < inputs ? index : index - inputs)) {
      apply(&list->items[i], &view, begin);
    }
  }
  return ND4C_OK;
}

/* -- run --------------------------------------------------------------------------------------------------------- */

static bool is_kernel(const nd4c_step *step) {
  return step->choice != NULL && step->choice->kernel != NULL;
}

static const nd4c_compiled *compiled_of(const nd4c_step *step) {
  return step->segment != NULL ? step->segment->compiled : step->choice->compiled;
}

static const char *op_of(const nd4c_step *step) {
  return step->segment != NULL ? "segment" : step->call.op->name;
}

static const char *name_of(const nd4c_step *step) {
  return step->segment != NULL ? step->segment->compiler->engine : nd4c_choice_name(step->choice);
}

static nd4c_status run_compiled(const nd4c_plan *plan, int32_t index) {
  const nd4c_step *step = &plan->steps[index];
  nd4c_execution execution = {.flags = plan->context->deterministic ? ND4C_CALL_DETERMINISTIC : 0,
                              .stream = step->call.stream,
                              .width = plan->context->width,
                              .input_count = step->input_count,
                              .output_count = step->output_count,
                              .inputs = step->call.inputs,
                              .outputs = step->call.outputs,
                              .scratch = step->call.scratch,
                              .scratch_buffer = step->call.scratch_buffer,
                              .scratch_buffer_bytes = step->call.scratch_buffer_bytes,
                              .cancellation = plan->cancellation,
                              .point = plan->stream->point + index};
  return nd4c_compiled_execute(compiled_of(step), &execution);
}

static nd4c_status run_step(const nd4c_plan *plan, int32_t index) {
  nd4c_step *step = &plan->steps[index];
  step->call.point = plan->stream->point + index;
  return ND4C_LIKELY(is_kernel(step)) ? nd4c_driver_kernel_run(step->choice->kernel, &step->call)
                                      : run_compiled(plan, index);
}

static nd4c_status run_traced(const nd4c_plan *plan, int32_t index) {
  const nd4c_step *step = &plan->steps[index];
  int64_t begin = nd4c_tracer_begin(op_of(step), plan->context);
  nd4c_status status = run_step(plan, index);
  nd4c_tracer_node(plan->graph->nodes[step->node].label);
  nd4c_tracer_end(begin, status == ND4C_OK ? plan->device : NULL, op_of(step), name_of(step), NULL, 0);
  nd4c_tracer_node(NULL);
  return status;
}

/* Reports the call that could not be enqueued, after the calls before it have ended. */
static nd4c_status fail_step(const nd4c_plan *plan, const nd4c_step *step, nd4c_status status) {
  nd4c_submission_settle(plan->context, status);
  char text[256];
  return nd4c_fail_prefix(status, "%s: %s on %s (%s)", nd4c_plan_node_text(plan, step->node, text, sizeof text),
                          op_of(step), plan->device->name, name_of(step));
}

nd4c_status nd4c_stream_enqueue(nd4c_plan *plan) {
  const bool traced = nd4c_tracer_is_on();
  for (int32_t i = 0; i < plan->step_count; i++) {
    nd4c_progress_tell(plan->progress, "running", i, plan->step_count);
    nd4c_status status = nd4c_cancellation_poll();
    if (ND4C_LIKELY(status == ND4C_OK)) {
      status = ND4C_UNLIKELY(traced) ? run_traced(plan, i) : run_step(plan, i);
    }
    if (ND4C_UNLIKELY(status != ND4C_OK)) {
      return fail_step(plan, &plan->steps[i], status);
    }
  }
  for (int32_t i = 0; traced && i < plan->graph->outputs.count; i++) {
    nd4c_tracer_write(plan->output_arrays[i]->storage, plan->device);
  }
  return ND4C_OK;
}

static nd4c_status commit_output(nd4c_plan *plan, int32_t output, nd4c_submission *submission, nd4c_shared_fence *run) {
  nd4c_plan_stream *stream = plan->stream;
  const int32_t inputs = plan->graph->inputs.count;
  nd4c_shared_fence *const *before = submission->before;
  int32_t count = 0;
  for (int32_t i = 0; i < inputs; i++) {
    if (before[i] != NULL && stream->needs[output * inputs + i]) {
      stream->after[count++] = before[i];
    }
  }
  if (before[inputs + output] != NULL) { /* parts that the run does not write keep their contents */
    stream->after[count++] = before[inputs + output];
  }
  nd4c_shared_fence *part = NULL;
  nd4c_status status = nd4c_fence_make_part(run, output, stream->after, count, &part);
  if (status != ND4C_OK) {
    nd4c_fence_settle(run);
    return status;
  }
  nd4c_submission_commit_operand(submission, inputs + output, part);
  nd4c_fence_release(part);
  return ND4C_OK;
}

/* Records the run's fence and tells every storage. The run fails if there is no memory to note an output's
 * dependencies. */
static nd4c_status commit(nd4c_plan *plan, nd4c_submission *submission) {
  nd4c_plan_stream *stream = plan->stream;
  const int32_t inputs = plan->graph->inputs.count, outputs = plan->graph->outputs.count;
  nd4c_shared_fence *fence = NULL;
  nd4c_status status = nd4c_submission_record(submission, stream->steps, &fence);
  if (status != ND4C_OK) {
    return nd4c_fail_prefix(status, "plan on %s", plan->device->name);
  }
  for (int32_t i = 0; i < submission->acquired; i++) {
    if (i < inputs || i >= inputs + outputs) {
      nd4c_submission_commit_operand(submission, i, fence);
      continue;
    }
    nd4c_status noted = commit_output(plan, i - inputs, submission, fence);
    status = status == ND4C_OK ? noted : status;
  }
  nd4c_fence_release(stream->last);
  stream->last = fence;
  return status;
}

static nd4c_status submit(nd4c_plan *plan, nd4c_submission *submission, nd4c_status (*enqueue)(nd4c_plan *plan)) {
  plan->stream->moved = false;
  for (int32_t i = 0; i < plan->graph->inputs.count + plan->graph->outputs.count; i++) {
    ND4C_TRY(acquire_operand(plan, i, submission));
  }
  if (plan->places[0].arena != NULL) {
    ND4C_TRY(acquire_arena(plan, submission));
  }
  plan->began = true;
  plan->stream->point = nd4c_submission_number(submission, plan->step_count);
  const nd4c_status status = enqueue(plan);
  return status == ND4C_OK ? commit(plan, submission) : nd4c_submission_explain(submission, status);
}

nd4c_status nd4c_stream_run(nd4c_plan *plan, nd4c_status (*enqueue)(nd4c_plan *plan)) {
  if (ND4C_UNLIKELY(plan->stream->bound != plan->context->stream)) {
    ND4C_TRY(bind(plan));
  }
  nd4c_scratch *scratch = plan->stream->body->scratch;
  nd4c_submission submission;
  if (scratch != NULL) {
    nd4c_scratch_take(scratch);
  }
  nd4c_status status = nd4c_submission_start(&submission, plan->context, "plan",
                                             plan->graph->inputs.count + plan->graph->outputs.count + 1);
  status = status == ND4C_OK ? submit(plan, &submission, enqueue) : status;
  nd4c_submission_end(&submission);
  if (scratch != NULL) {
    nd4c_scratch_return(scratch, plan->stream->last); /* after a failure no later work is in flight */
  }
  return status;
}

bool nd4c_stream_usable(const nd4c_plan *plan, char *reason, size_t reason_size) {
  if (plan->place_count > 1) {
    (void)snprintf(reason, reason_size, "the plan runs on %d devices", plan->place_count);
    return false;
  }
  if (!plan->device->description.asynchronous) {
    (void)snprintf(reason, reason_size, "%s has no streams", plan->device->name);
    return false;
  }
  for (int32_t i = 0; i < plan->step_count; i++) {
    if (plan->steps[i].control != NULL) {
      (void)snprintf(reason, reason_size, "step %d runs bodies, and the host reads what decides", i);
      return false;
    }
  }
  return !nd4c_plan_returns_outputs(plan, reason, reason_size);
}

static nd4c_status run(nd4c_plan *plan) {
  return nd4c_stream_run(plan, nd4c_stream_enqueue);
}

const nd4c_plan_mode nd4c_mode_stream = {.name = "stream",
                                         .doc = "call after call on one stream, built once, one fence a run",
                                         .usable = nd4c_stream_usable,
                                         .prepare = nd4c_stream_prepare,
                                         .run = run,
                                         .release = nd4c_stream_release};
