/* Segments: runs of nodes that the device's compiler takes as one. Inside a segment every value is C-contiguous and has
 * no memory of the plan's; what enters and leaves has a slot. */
#include <string.h>

#include "array/shape.h"
#include "base/status.h"
#include "device/closing.h"
#include "device/fence.h"
#include "device/tracer.h"
#include "dispatch/execute.h"
#include "graph/plan.h"

/* -- finding ------------------------------------------------------------------------------------------------------ */

static const nd4c_compiler *find_compiler(const nd4c_plan *plan) {
  if (plan->place_count > 1) {
    return NULL; /* steps of other devices may lie between */
  }
  const nd4c_compiler *compiler = nd4c_device_compiler(plan->device);
  if (compiler == NULL) {
    return NULL;
  }
  bool other = plan->rules.forced[0] != '\0' && !nd4c_engine_is_forced(&plan->rules, compiler->engine);
  return other || nd4c_engine_is_disabled(&plan->rules, compiler->engine) ? NULL : compiler;
}

/* Operand of a node inside a segment: C-contiguous, but constants as they are. */
static nd4c_status describe(nd4c_plan *plan, nd4c_value value, nd4c_tensor *tensor) {
  nd4c_graph_describe(plan->graph, value, tensor);
  if (value < 0) {
    return ND4C_OK;
  }
  const nd4c_array *constant = plan->graph->values[value].constant;
  int64_t *strides = nd4c_region_take(&plan->region, tensor->rank, sizeof *strides);
  if (strides == NULL) {
    return nd4c_error_code();
  }
  if (constant != NULL) {
    memcpy(strides, constant->strides, (size_t)tensor->rank * sizeof *strides);
    ND4C_TRY(nd4c_plan_bind_constant(plan->context, constant, 0, tensor));
  } else {
    nd4c_shape_strides(tensor->rank, tensor->shape, strides);
  }
  tensor->strides = strides;
  tensor->flags |= nd4c_shape_is_contiguous(tensor->rank, tensor->shape, strides) ? ND4C_TENSOR_CONTIGUOUS : 0;
  return ND4C_OK;
}

static nd4c_status make_call(nd4c_plan *plan, int32_t index, nd4c_call *call) {
  const nd4c_graph_node *node = &plan->graph->nodes[index];
  nd4c_tensor *tensors =
      nd4c_region_take(&plan->region, (int64_t)node->input_count + node->output_count, sizeof *tensors);
  if (tensors == NULL) {
    return nd4c_error_code();
  }
  for (int32_t i = 0; i < node->input_count; ++i) {
    ND4C_TRY(describe(plan, node->inputs[i], &tensors[i]));
  }
  for (int32_t i = 0; i < node->output_count; ++i) {
    ND4C_TRY(describe(plan, node->outputs[i], &tensors[node->input_count + i]));
  }
  *call = (nd4c_call){.struct_size = ND4C_SIZE_OF(nd4c_call),
                      .flags = plan->context->deterministic ? ND4C_CALL_DETERMINISTIC : 0,
                      .op = &node->def->info,
                      .input_count = node->input_count,
                      .output_count = node->output_count,
                      .inputs = tensors,
                      .outputs = tensors + node->input_count,
                      .attrs = node->attrs,
                      .stream = plan->context->stream,
                      .device = plan->device->handle,
                      .width = plan->context->width};
  return ND4C_OK;
}

nd4c_status nd4c_plan_find_segments(nd4c_plan *plan) {
  const nd4c_compiler *compiler = find_compiler(plan);
  if (compiler == NULL) {
    return ND4C_OK;
  }
  int32_t count = plan->graph->node_count;
  int32_t *segment_of = nd4c_region_take(&plan->region, (int64_t)count + 1, sizeof *segment_of);
  if (segment_of == NULL) {
    return nd4c_error_code();
  }
  int32_t begin = 0;
  for (int32_t i = 0; i <= count; ++i) {
    char reason[256];
    nd4c_call call;
    segment_of[i] = -1;
    if (i < count) {
      ND4C_TRY(make_call(plan, i, &call));
      if (compiler->supports(&call, reason, sizeof reason)) {
        continue;
      }
    }
    /* Nodes begin .. i - 1 are supported; a single one is left to the choice of its step. */
    for (int32_t k = begin; k < i && i - begin > 1; ++k) {
      segment_of[k] = plan->segment_count;
    }
    plan->segment_count += i - begin > 1;
    begin = i + 1;
  }
  plan->segment_of = segment_of;
  return ND4C_OK;
}

bool nd4c_plan_feeds_segment(const nd4c_plan *plan, nd4c_value value) {
  for (int32_t i = 0; plan->segment_of != NULL && i < plan->graph->node_count; ++i) {
    const nd4c_graph_node *node = &plan->graph->nodes[i];
    for (int32_t k = 0; plan->segment_of[i] >= 0 && k < node->input_count; ++k) {
      if (node->inputs[k] == value) {
        return true;
      }
    }
  }
  return false;
}

/* True if a node outside segment `segment`, or the caller, reads the value. */
static bool leaves(const nd4c_plan *plan, nd4c_value value, int32_t segment) {
  for (int32_t i = 0; i < plan->graph->outputs.count; ++i) {
    if (plan->graph->outputs.items[i].value == value) {
      return true;
    }
  }
  for (int32_t i = plan->graph->values[value].producer + 1; i < plan->graph->node_count; ++i) {
    const nd4c_graph_node *node = &plan->graph->nodes[i];
    for (int32_t k = 0; plan->segment_of[i] != segment && k < node->input_count; ++k) {
      if (node->inputs[k] == value) {
        return true;
      }
    }
  }
  return false;
}

bool nd4c_plan_inside_segment(const nd4c_plan *plan, nd4c_value value) {
  int32_t producer = plan->graph->values[value].producer;
  if (plan->segment_of == NULL || producer < 0 || plan->segment_of[producer] < 0) {
    return false;
  }
  return !leaves(plan, value, plan->segment_of[producer]);
}

/* -- compiling ----------------------------------------------------------------------------------------------------- */

/* The segment while it is put together. `number_of` maps values of the graph to values of the segment, -1: not in it.
 */
typedef struct assembly {
  nd4c_plan *plan;
  int32_t first, count; /* nodes */
  int32_t *number_of;
  nd4c_value *inputs, *outputs; /* values of the graph */
  int32_t *output_numbers;
  int32_t input_count, value_count, output_count;
} assembly;

static nd4c_status allocate_assembly(assembly *work) {
  nd4c_plan *plan = work->plan;
  int64_t inputs = 0, outputs = 0;
  for (int32_t i = work->first; i < work->first + work->count; ++i) {
    inputs += plan->graph->nodes[i].input_count;
    outputs += plan->graph->nodes[i].output_count;
  }
  work->number_of = nd4c_region_take(&plan->region, plan->graph->value_count, sizeof *work->number_of);
  work->inputs = nd4c_region_take(&plan->region, inputs, sizeof *work->inputs);
  work->outputs = nd4c_region_take(&plan->region, outputs, sizeof *work->outputs);
  work->output_numbers = nd4c_region_take(&plan->region, outputs, sizeof *work->output_numbers);
  if (work->number_of == NULL || work->inputs == NULL || work->outputs == NULL || work->output_numbers == NULL) {
    return nd4c_error_code();
  }
  memset(work->number_of, -1, (size_t)plan->graph->value_count * sizeof *work->number_of);
  return ND4C_OK;
}

static void number_values(assembly *work) {
  const nd4c_plan *plan = work->plan;
  int32_t segment = plan->segment_of[work->first];
  for (int32_t i = work->first; i < work->first + work->count; ++i) {
    const nd4c_graph_node *node = &plan->graph->nodes[i];
    for (int32_t k = 0; k < node->input_count; ++k) {
      nd4c_value value = node->inputs[k];
      bool inner = value >= 0 && plan->graph->values[value].producer >= work->first;
      if (value >= 0 && !inner && work->number_of[value] < 0) {
        work->inputs[work->input_count] = value;
        work->number_of[value] = work->input_count;
        work->input_count += 1;
      }
    }
  }
  work->value_count = work->input_count;
  for (int32_t i = work->first; i < work->first + work->count; ++i) {
    const nd4c_graph_node *node = &plan->graph->nodes[i];
    for (int32_t k = 0; k < node->output_count; ++k) {
      nd4c_value value = node->outputs[k];
      work->number_of[value] = work->value_count;
      if (leaves(plan, value, segment)) {
        work->outputs[work->output_count] = value;
        work->output_numbers[work->output_count] = work->value_count;
        work->output_count += 1;
      }
      work->value_count += 1;
    }
  }
}

static const int32_t *numbers(const assembly *work, const nd4c_value *values, int32_t count) {
  int32_t *result = nd4c_region_take(&work->plan->region, count, sizeof *result);
  for (int32_t i = 0; result != NULL && i < count; ++i) {
    result[i] = values[i] < 0 ? -1 : work->number_of[values[i]];
  }
  return result;
}

static nd4c_status compile(const assembly *work, const nd4c_compiler *compiler, nd4c_executable *executable) {
  nd4c_plan *plan = work->plan;
  nd4c_call *calls = nd4c_region_take(&plan->region, work->count, sizeof *calls);
  const int32_t **inputs = nd4c_region_take(&plan->region, work->count, sizeof *inputs);
  const int32_t **outputs = nd4c_region_take(&plan->region, work->count, sizeof *outputs);
  if (calls == NULL || inputs == NULL || outputs == NULL) {
    return nd4c_error_code();
  }
  for (int32_t i = 0; i < work->count; ++i) {
    const nd4c_graph_node *node = &plan->graph->nodes[work->first + i];
    ND4C_TRY(make_call(plan, work->first + i, &calls[i]));
    inputs[i] = numbers(work, node->inputs, node->input_count);
    outputs[i] = numbers(work, node->outputs, node->output_count);
    if (inputs[i] == NULL || outputs[i] == NULL) {
      return nd4c_error_code();
    }
  }
  nd4c_segment segment = {.struct_size = ND4C_SIZE_OF(nd4c_segment),
                          .node_count = work->count,
                          .nodes = calls,
                          .node_inputs = inputs,
                          .node_outputs = outputs,
                          .value_count = work->value_count,
                          .input_count = work->input_count,
                          .output_count = work->output_count,
                          .outputs = work->output_numbers};
  return compiler->compile(plan->device->handle, &segment, executable);
}

static nd4c_status describe_step(assembly *work, nd4c_step *step) {
  nd4c_plan *plan = work->plan;
  step->inputs = work->inputs;
  step->outputs = work->outputs;
  step->input_count = work->input_count;
  step->output_count = work->output_count;
  step->tensors =
      nd4c_region_take(&plan->region, (int64_t)step->input_count + step->output_count, sizeof *step->tensors);
  if (step->tensors == NULL) {
    return nd4c_error_code();
  }
  for (int32_t i = 0; i < step->input_count + step->output_count; ++i) {
    nd4c_value value = i < step->input_count ? step->inputs[i] : step->outputs[i - step->input_count];
    ND4C_TRY(describe(plan, value, &step->tensors[i]));
  }
  step->call.inputs = step->tensors;
  step->call.outputs = step->tensors + step->input_count;
  return ND4C_OK;
}

nd4c_status nd4c_plan_make_segment(nd4c_plan *plan, int32_t node, nd4c_step *step) {
  assembly work = {.plan = plan, .first = node, .count = 1};
  while (work.first > 0 && plan->segment_of[work.first - 1] == plan->segment_of[node]) {
    work.first -= 1;
    work.count += 1;
  }
  nd4c_plan_segment *segment = nd4c_region_take(&plan->region, 1, sizeof *segment);
  if (segment == NULL) {
    return nd4c_error_code();
  }
  ND4C_TRY(allocate_assembly(&work));
  number_values(&work);
  step->node = node;
  ND4C_TRY(describe_step(&work, step));
  segment->compiler = nd4c_device_compiler(plan->device);
  segment->first = work.first;
  segment->node_count = work.count;
  ND4C_TRY(compile(&work, segment->compiler, &segment->executable));
  step->segment = segment;
  return ND4C_OK;
}

void nd4c_plan_release_segment(const nd4c_plan *plan, nd4c_step *step) {
  if (step->segment != NULL && !nd4c_device_is_forked(plan->device)) {
    step->segment->compiler->release(step->segment->executable);
  }
}

/* -- running on arrays --------------------------------------------------------------------------------------------- */

/* Unfinished work that writes what a segment reads; what does not fit is waited for. */
enum { AFTER_LIMIT = 32 };
typedef struct pending_inputs {
  nd4c_shared_fence *fences[AFTER_LIMIT];
  int32_t count;
  int32_t acquired; /* operands, inputs first */
} pending_inputs;

static nd4c_status add_pending(pending_inputs *pending, nd4c_shared_fence *fence) {
  nd4c_status status = ND4C_OK;
  if (fence != NULL && pending->count < AFTER_LIMIT) {
    pending->fences[pending->count++] = fence;
  } else if (fence != NULL) {
    status = nd4c_fence_wait(fence);
    nd4c_fence_release(fence);
  }
  return status;
}

static nd4c_status acquire(const nd4c_plan *plan, nd4c_step *step, int32_t index, pending_inputs *pending) {
  bool input = index < step->input_count;
  nd4c_value value = input ? step->inputs[index] : step->outputs[index - step->input_count];
  const nd4c_array *array = plan->slot_arrays[value];
  nd4c_replica_view view;
  ND4C_TRY(nd4c_storage_acquire(array->storage, plan->device, plan->context->stream,
                                input ? ND4C_ACCESS_READ : nd4c_output_access(array), plan->context->transfer, &view));
  ++pending->acquired;
  ND4C_TRY(add_pending(pending, view.written));
  nd4c_tensor *tensor = &step->tensors[index];
  tensor->buffer = view.buffer;
  tensor->offset = array->offset + nd4c_dtype_elements(array->dtype, view.offset);
  int64_t bytes = nd4c_array_offset_bytes(array);
  tensor->data = view.address == NULL ? NULL : (char *)view.address + bytes;
  return ND4C_OK;
}

static void commit(const nd4c_plan *plan, const nd4c_step *step, nd4c_shared_fence *fence) {
  for (int32_t i = 0; i < step->input_count; ++i) {
    nd4c_storage_commit(plan->slot_arrays[step->inputs[i]]->storage, plan->device, ND4C_ACCESS_READ, fence);
  }
  for (int32_t i = 0; i < step->output_count; ++i) {
    nd4c_storage_commit(plan->slot_arrays[step->outputs[i]]->storage, plan->device, ND4C_ACCESS_WRITE, fence);
  }
}

static nd4c_status run_segment(nd4c_plan *plan, nd4c_step *step, pending_inputs *pending) {
  for (int32_t i = 0; i < step->input_count + step->output_count; ++i) {
    ND4C_TRY(acquire(plan, step, i, pending));
  }
  nd4c_shared_fence *fence = NULL;
  nd4c_status status = step->segment->compiler->execute(step->segment->executable, plan->context->stream,
                                                        step->call.inputs, step->call.outputs);
  if (status == ND4C_OK && plan->device->description.asynchronous) {
    status = nd4c_fence_record(plan->device, plan->context->stream, "segment", pending->fences, pending->count, &fence);
  }
  if (status != ND4C_OK) {
    nd4c_execute_end_stream(plan->context, status); /* nothing marks the end of what was submitted */
    for (int32_t i = 0; i < step->output_count; ++i) {
      nd4c_storage_poison(plan->slot_arrays[step->outputs[i]]->storage, status, nd4c_error_message());
    }
    return status;
  }
  commit(plan, step, fence);
  nd4c_fence_release(fence);
  return ND4C_OK;
}

nd4c_status nd4c_plan_run_segment(nd4c_plan *plan, nd4c_step *step) {
  pending_inputs pending = {.count = 0};
  bool traced = nd4c_tracer_is_on();
  int64_t begin = traced ? nd4c_tracer_begin("segment") : 0;
  nd4c_status status = run_segment(plan, step, &pending);
  for (int32_t i = 0; status != ND4C_OK && i < pending.acquired; ++i) {
    nd4c_value value = i < step->input_count ? step->inputs[i] : step->outputs[i - step->input_count];
    nd4c_storage_cancel(plan->slot_arrays[value]->storage, plan->device);
  }
  if (traced) {
    for (int32_t i = 0; i < step->output_count; ++i) {
      nd4c_tracer_write(plan->slot_arrays[step->outputs[i]]->storage, plan->device);
    }
    nd4c_tracer_end(begin, status == ND4C_OK ? plan->device : NULL, "segment", step->segment->compiler->engine, NULL,
                    0);
  }
  for (int32_t i = 0; i < pending.count; ++i) {
    nd4c_fence_release(pending.fences[i]);
  }
  return status;
}
