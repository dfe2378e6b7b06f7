/* The stub's compiler: an executable is a copy of a segment's nodes, with private buffers for the values inside.
 * backend.c lists it; graph plans compile their segments with it. */
#include <stdio.h>
#include <string.h>

#include "stub.h"

/* One execution: every value's operand, bound. */
typedef struct stub_execution {
  stub_executable *executable;
  stub_operand *values;
  stub_scratch scratch;
} stub_execution;

void stub_executable_release(stub_executable *executable) {
  if (atomic_fetch_sub(&executable->references, 1) != 1) {
    return;
  }
  for (int32_t i = 0; executable->nodes != NULL && i < executable->node_count; i++) {
    stub_work_destroy(executable->nodes[i].work);
    stub_host->free(executable->nodes[i].inputs);
  }
  stub_host->free(executable->nodes);
  stub_host->free(executable->outputs);
  stub_host->free(executable);
  stub_count_add(STUB_COUNT_executables, -1);
}

nd4c_status stub_executable_create(const stub_executable *counts, stub_executable **result) {
  stub_executable *executable = stub_host->allocate(sizeof *executable);
  if (executable == NULL) {
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for an executable");
  }
  *executable = (stub_executable){.references = 1,
                                  .node_count = counts->node_count,
                                  .value_count = counts->value_count,
                                  .input_count = counts->input_count,
                                  .output_count = counts->output_count,
                                  .device = counts->device};
  stub_count_add(STUB_COUNT_executables, 1);
  executable->nodes = stub_host->allocate((size_t)(counts->node_count + 1) * sizeof(stub_step));
  executable->outputs = stub_host->allocate((size_t)(counts->output_count + 1) * sizeof(int32_t));
  if (executable->nodes == NULL || executable->outputs == NULL) {
    stub_executable_release(executable);
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for an executable's nodes");
  }
  *result = executable;
  return ND4C_OK;
}

/* A toy estimate: one nanosecond for a thousand bytes read or written, and ten for each node. */
static int64_t cost_of(const nd4c_call *node) {
  int64_t bytes = 0;
  for (int32_t i = 0; i < node->input_count; i++) {
    bytes += node->inputs[i].dtype != ND4C_DTYPE_NONE ? node->inputs[i].size * stub_size_of(node->inputs[i].dtype) : 0;
  }
  bytes += node->outputs[0].size * stub_size_of(node->outputs[0].dtype);
  return 10 + bytes / 1000;
}

static bool supports(const nd4c_call *node, char *reason, size_t reason_size) {
  if (stub_fails(STUB_CALL_supports)) {
    (void)snprintf(reason, reason_size, "told to decline");
    return false;
  }
  return stub_compute_usable(node, reason, reason_size);
}

/* The caller's option DECLINE names an op that the compiler declines. */
static bool is_declined(const nd4c_call *node, const nd4c_compile_options *options, char *reason, size_t reason_size) {
  for (int32_t i = 0; i < options->option_count; i++) {
    if (strcmp(options->options[i].key, "DECLINE") == 0 && strcmp(options->options[i].value, node->op->name) == 0) {
      (void)snprintf(reason, reason_size, "the caller's options decline %s, with math %d and %lld bytes",
                     node->op->name, options->math, (long long)options->memory_bytes);
      return true;
    }
  }
  return false;
}

/* STUB_LIE: an invalid answer. *told: it was given. */
static nd4c_status lie(const nd4c_segment *region, nd4c_partition *answer, bool *told) {
  static const int32_t around[] = {0, 2}; /* of a chain, node 1 lies between them */
  const bool crossed = stub_lies("not_convex") && region->node_count >= 3, twice = stub_lies("twice");
  *told = crossed || twice;
  nd4c_status status = *told ? answer->take(answer, around, crossed ? 2 : 1, 1, 0) : ND4C_OK;
  return status == ND4C_OK && twice ? answer->take(answer, around, 1, 1, 0) : status;
}

/* Takes runs of consecutive supported nodes, which are always convex. */
static nd4c_status partition(void *data, void *device, const nd4c_segment *region, const nd4c_compile_options *options,
                             nd4c_partition *answer) {
  (void)data;
  (void)device;
  nd4c_status status = stub_attempt(STUB_CALL_partition);
  int32_t *nodes = stub_host->allocate((size_t)region->node_count * sizeof *nodes);
  if (status == ND4C_OK && nodes == NULL) {
    status = stub_host->fail(ND4C_MEMORY, "stub: no memory for an answer");
  }
  int32_t count = 0;
  int64_t cost = 0;
  bool told = false;
  status = status == ND4C_OK ? lie(region, answer, &told) : status;
  for (int32_t i = 0; status == ND4C_OK && !told && i <= region->node_count; i++) {
    char reason[STUB_TEXT] = "";
    if (i < region->node_count && !is_declined(region->nodes[i], options, reason, sizeof reason) &&
        supports(region->nodes[i], reason, sizeof reason)) {
      cost += cost_of(region->nodes[i]);
      nodes[count++] = i;
      continue;
    }
    if (i < region->node_count) {
      status = answer->decline(answer, i, reason);
    }
    if (status == ND4C_OK && count > 0) {
      status = answer->take(answer, nodes, count, cost, 0);
    }
    count = 0;
    cost = 0;
  }
  stub_host->free(nodes);
  return status;
}

/* A node's call with its data left out. */
static nd4c_status copy_node(const nd4c_segment *segment, int32_t index, stub_step *node) {
  nd4c_call call = *segment->nodes[index];
  nd4c_tensor inputs[STUB_INPUTS], output = call.outputs[0];
  if (call.input_count > STUB_INPUTS || call.output_count != 1) {
    return stub_host->fail(ND4C_UNSUPPORTED, "stub: %s with %d inputs and %d outputs", call.op->name, call.input_count,
                           call.output_count);
  }
  for (int32_t i = 0; i < call.input_count; i++) {
    inputs[i] = call.inputs[i];
    inputs[i].buffer = NULL;
  }
  output.buffer = NULL;
  call.inputs = inputs;
  call.outputs = &output;
  nd4c_status status = stub_work_create(&call, &node->work);
  node->inputs = stub_host->allocate((size_t)(call.input_count + 1) * sizeof(int32_t));
  if (status == ND4C_OK && node->inputs == NULL) {
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for a node");
  }
  if (status == ND4C_OK) {
    memcpy(node->inputs, segment->node_inputs[index], (size_t)call.input_count * sizeof(int32_t));
    node->output = segment->node_outputs[index][0];
  }
  return status;
}

static bool same_shape(const nd4c_tensor *a, const nd4c_tensor *b) {
  return a->dtype != ND4C_DTYPE_NONE && a->rank == b->rank &&
         (a->rank == 0 || memcmp(a->shape, b->shape, (size_t)a->rank * sizeof(int64_t)) == 0);
}

static bool is_elementwise(const nd4c_call *node) {
  bool alike = node->input_count > 0 && node->outputs[0].rank > 0 &&
               (node->op->category == ND4C_CATEGORY_UNARY || node->op->category == ND4C_CATEGORY_BINARY);
  for (int32_t i = 0; i < node->input_count && alike; i++) {
    alike = same_shape(&node->inputs[i], &node->outputs[0]);
  }
  return alike;
}

static nd4c_status compile(void *data, void *device, const nd4c_segment *segment, const nd4c_compile_options *options,
                           nd4c_executable *result) {
  (void)data;
  (void)options;
  nd4c_status status = stub_attempt(STUB_CALL_compile);
  if (status != ND4C_OK) {
    return status;
  }
  const stub_executable counts = {.node_count = segment->node_count,
                                  .value_count = segment->value_count,
                                  .input_count = segment->input_count,
                                  .output_count = segment->output_count,
                                  .device = stub_device_index(device)};
  stub_executable *executable = NULL;
  status = stub_executable_create(&counts, &executable);
  if (status != ND4C_OK) {
    return status;
  }
  memcpy(executable->outputs, segment->outputs, (size_t)segment->output_count * sizeof(int32_t));
  executable->dynamic = true;
  for (int32_t i = 0; i < segment->node_count && status == ND4C_OK; i++) {
    executable->dynamic = executable->dynamic && is_elementwise(segment->nodes[i]);
    status = copy_node(segment, i, &executable->nodes[i]);
  }
  if (status != ND4C_OK) {
    stub_executable_release(executable);
    return status;
  }
  *result = (nd4c_executable)executable;
  return ND4C_OK;
}

static void execution_destroy(void *argument) {
  stub_execution *execution = argument;
  for (int32_t i = 0; execution->values != NULL && i < execution->executable->value_count; i++) {
    if (execution->values[i].buffer != NULL) {
      stub_buffer_done(execution->values[i].buffer);
    }
  }
  stub_scratch_loosen(&execution->scratch);
  stub_host->free(execution->values);
  stub_executable_release(execution->executable);
  stub_host->free(execution);
}

static nd4c_status execution_run(void *argument) {
  stub_execution *execution = argument;
  int64_t stamp = 0;
  nd4c_status status = stub_attempt(STUB_CALL_in_flight);
  status = status == ND4C_OK ? stub_scratch_begin(&execution->scratch, &stamp) : status;
  for (int32_t i = 0; i < execution->executable->node_count && status == ND4C_OK; i++) {
    const stub_step *node = &execution->executable->nodes[i];
    stub_operand inputs[STUB_INPUTS];
    stub_work work = *node->work;
    for (int32_t k = 0; k < work.input_count; k++) {
      inputs[k] = node->inputs[k] >= 0 ? execution->values[node->inputs[k]] : (stub_operand){0};
    }
    work.inputs = inputs;
    work.output = execution->values[node->output];
    status = stub_work_run(&work);
  }
  return status == ND4C_OK ? stub_scratch_end(&execution->scratch, stamp) : status;
}

/* Binds outputs of the segment to the caller's buffers, unless they are returned. Every other result gets a private
 * buffer in C order. */
static nd4c_status bind_values(stub_execution *execution, const nd4c_tensor *inputs, const nd4c_tensor *outputs) {
  const stub_executable *executable = execution->executable;
  for (int32_t i = 0; i < executable->input_count; i++) {
    nd4c_status status = stub_operand_copy(&inputs[i], &execution->values[i]);
    if (status != ND4C_OK) {
      return status;
    }
    execution->values[i].offset = stub_lies("segment_offset") ? 0 : execution->values[i].offset;
  }
  for (int32_t i = 0; i < executable->output_count && !stub_settings.returns; i++) {
    nd4c_status status = stub_operand_copy(&outputs[i], &execution->values[executable->outputs[i]]);
    if (status != ND4C_OK) {
      return status;
    }
  }
  for (int32_t i = 0; i < executable->node_count; i++) {
    stub_operand *value = &execution->values[executable->nodes[i].output];
    if (value->buffer == NULL) {
      *value = executable->nodes[i].work->output;
      value->offset = 0;
      if (executable->dynamic) { /* all values have the shape of the inputs */
        memcpy(value->shape, execution->values[0].shape, sizeof value->shape);
        value->size = execution->values[0].size;
      }
      int64_t stride = 1;
      for (int32_t axis = value->rank - 1; axis >= 0; axis--) {
        value->strides[axis] = stride;
        stride *= value->shape[axis];
      }
      nd4c_status status = stub_buffer_create(executable->device, ND4C_MEMORY_KIND_DEVICE,
                                              value->size * stub_size_of(value->dtype), 0, &value->buffer);
      if (status != ND4C_OK) {
        return status;
      }
    }
  }
  return ND4C_OK;
}

static void ask_scratch(nd4c_executable_info *info) {
  const nd4c_scratch_range asked = stub_scratch_asked();
  info->scratch_bytes = info->device_scratch_bytes = asked.least;
  info->device_scratch_best = asked.best;
}

static bool accepts(void *data, nd4c_executable handle, const nd4c_tensor *inputs, int32_t input_count,
                    const nd4c_tensor *outputs, int32_t output_count, nd4c_executable_info *info) {
  (void)data;
  const stub_executable *executable = (const stub_executable *)handle;
  bool alike = executable->dynamic && !stub_fails(STUB_CALL_accepts) && input_count == executable->input_count &&
               output_count == executable->output_count;
  for (int32_t i = 0; i < input_count && alike; i++) {
    alike = same_shape(&inputs[i], &outputs[0]);
  }
  for (int32_t i = 0; i < output_count && alike; i++) {
    alike = same_shape(&outputs[i], &outputs[0]);
  }
  ask_scratch(info);
  return alike;
}

static nd4c_status describe(void *data, nd4c_executable executable, nd4c_executable_info *info) {
  (void)data;
  nd4c_status status = stub_attempt(STUB_CALL_describe_executable);
  info->flags = (((const stub_executable *)executable)->dynamic ? ND4C_EXECUTABLE_DYNAMIC : 0) |
                (stub_settings.returns ? ND4C_EXECUTABLE_RETURNS_OUTPUTS : 0);
  ask_scratch(info);
  return status;
}

/* Checks the fields that the call must have. */
static nd4c_status check_execution(const stub_executable *executable, const nd4c_execution *execution) {
  bool counts =
      execution->input_count == executable->input_count && execution->output_count == executable->output_count;
  return counts && execution->width > 0 && stub_device_index(execution->device) == executable->device
             ? ND4C_OK
             : stub_violation("an execution that does not fit its executable");
}

/* Outputs that the executable returns have no buffers, but entries for the stub's buffers. */
static nd4c_status check_outputs(const nd4c_execution *call) {
  const bool places = ND4C_HAS_FIELD(call, returned) && call->returned != NULL;
  bool fits = places == stub_settings.returns;
  for (int32_t i = 0; i < call->output_count && stub_settings.returns; i++) {
    fits = fits && call->outputs[i].buffer == NULL && call->outputs[i].data == NULL && call->returned[i].buffer == NULL;
  }
  return fits ? ND4C_OK : stub_violation("outputs that do not fit how the executable gives them");
}

/* Gives nd4c the buffers of outputs, or lies about one. */
static void hand_over(stub_buffer *const *kept, int32_t count, nd4c_returned_buffer *returned) {
  for (int32_t i = 0; i < count; i++) {
    returned[i] = (nd4c_returned_buffer){kept[i]->handle, kept[i]->size};
    if (stub_fails(STUB_CALL_return_output)) {
      returned[i].buffer = NULL;
      stub_buffer_done(kept[i]);
    } else if (stub_fails(STUB_CALL_return_bytes)) {
      returned[i].bytes = kept[i]->size - 1;
    } else if (i > 0 && stub_fails(STUB_CALL_return_twice)) {
      returned[i] = returned[0];
      stub_buffer_done(kept[i]);
    }
  }
}

/* Takes the buffers back if nothing was enqueued. */
static void take_back(stub_buffer *const *kept, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    stub_buffer_done(kept[i]);
  }
}

/* Takes over the execution. */
static nd4c_status submit(stub_execution *execution, const nd4c_execution *call) {
  const int32_t count = stub_settings.returns ? call->output_count : 0;
  stub_buffer **kept = stub_host->allocate((size_t)(count + 1) * sizeof *kept);
  if (kept == NULL) {
    execution_destroy(execution);
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for what an execution returns");
  }
  for (int32_t i = 0; i < count; i++) {
    kept[i] = execution->values[execution->executable->outputs[i]].buffer;
    stub_buffer_retain(kept[i]);
  }
  const stub_task task = {.run = execution_run,
                          .dispose = execution_destroy,
                          .work = execution,
                          .point = ND4C_HAS_FIELD(call, point) ? call->point : 0};
  nd4c_status status = stub_stream_submit((stub_stream *)call->stream, task);
  if (status == ND4C_OK) {
    hand_over(kept, count, call->returned);
  } else {
    take_back(kept, count);
  }
  stub_host->free(kept);
  return status;
}

static nd4c_status execute(void *data, nd4c_executable handle, const nd4c_execution *call) {
  (void)data;
  nd4c_status status = stub_attempt(STUB_CALL_execute);
  if (status != ND4C_OK) {
    return status;
  }
  if (stub_lies("segment_empty") && call->outputs[0].size == 0) {
    return stub_host->fail(ND4C_DEVICE, "stub: an execution without elements");
  }
  stub_executable *executable = (stub_executable *)handle;
  status = check_execution(executable, call);
  status = status == ND4C_OK ? check_outputs(call) : status;
  if (status != ND4C_OK) {
    return status;
  }
  if (stub_scratch_asked().least > 0 && (call->scratch == NULL || call->scratch_buffer == NULL)) {
    return stub_violation("an execution without the scratch that it needs");
  }
  stub_execution *execution = stub_host->allocate(sizeof *execution);
  if (execution == NULL) {
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for an execution");
  }
  atomic_fetch_add(&executable->references, 1);
  execution->executable = executable;
  execution->values = stub_host->allocate((size_t)(executable->value_count + 1) * sizeof(stub_operand));
  status = stub_scratch_bind(call->scratch_buffer, call->scratch_buffer_bytes, &execution->scratch);
  if (status == ND4C_OK) {
    status = execution->values != NULL ? bind_values(execution, call->inputs, call->outputs)
                                       : stub_host->fail(ND4C_MEMORY, "stub: no memory for an execution's values");
  }
  if (status != ND4C_OK) {
    execution_destroy(execution);
    return status;
  }
  return submit(execution, call);
}

static void release(void *data, nd4c_executable handle) {
  (void)data;
  stub_executable_release((stub_executable *)handle);
}

const nd4c_compiler stub_compiler = {
    .struct_size = ND4C_SIZE_OF(nd4c_compiler),
    .priority = 20,
    .engine = "stub_compiler",
    .version = "2.0",
    .partition = partition,
    .compile = compile,
    .execute = execute,
    .release = release,
    .describe = describe,
    .accepts = accepts,
    .fingerprint = stub_fingerprint,
    .serialise = stub_serialise,
    .load = stub_load,
};
