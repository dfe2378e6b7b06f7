/* Segments: runs of nodes that a compiler of the device compiles as one piece. A value that only one segment uses takes
 * no memory of the plan; a segment's inputs and outputs have slots. partition.c compiles segments with it, steps.c
 * makes their steps, and the modes run them. */
#include <stdio.h>
#include <string.h>

#include "array/shape.h"
#include "base/status.h"
#include "device/provider/compilers.h"
#include "device/trace/tracer.h"
#include "graph/plan/common.h"
#include "submit/submit.h"

/* -- describing --------------------------------------------------------------------------------------------------- */

/* The strides of a value that is no constant: its slot's, once it has one; before, the order in which the plan will
 * store it if this compiler takes it. */
static void find_strides(const nd4c_plan *plan, const nd4c_compiler *compiler, nd4c_value value, int64_t *strides) {
  const nd4c_graph_value *info = &plan->graph->values[value];
  if (plan->slots != NULL && plan->slots[value].kind != ND4C_SLOT_UNUSED) {
    memcpy(strides, plan->slots[value].strides, (size_t)info->rank * sizeof *strides);
  } else if (nd4c_compiler_takes_any_strides(compiler)) {
    nd4c_graph_value_strides(info, strides);
  } else {
    nd4c_shape_strides(info->rank, info->shape, strides);
  }
}

/* Operand of a node inside a segment. */
static nd4c_status describe(nd4c_plan *plan, const nd4c_compiler *compiler, nd4c_value value, nd4c_tensor *tensor) {
  nd4c_graph_describe(plan->graph, value, tensor);
  if (value < 0) {
    return ND4C_OK;
  }
  const nd4c_array *constant = plan->graph->values[value].constant;
  int64_t *strides = NULL;
  ND4C_TRY(nd4c_region_make(&plan->region, tensor->rank, sizeof *strides, &strides));
  if (constant != NULL) {
    memcpy(strides, constant->strides, (size_t)tensor->rank * sizeof *strides);
    if (plan->slots != NULL || nd4c_compiler_reads_constants(compiler)) {
      ND4C_TRY(nd4c_constant_bind(plan->context, &(nd4c_constant_input){constant, 0}, tensor));
    }
    if (plan->slots != NULL) { /* not while compilers are asked for partitions */
      plan->slots[value].bound = true;
    }
  } else {
    find_strides(plan, compiler, value, strides);
    ND4C_TRY(plan->slots != NULL ? nd4c_plan_place_constant(plan, value, tensor) : ND4C_OK);
  }
  tensor->strides = strides;
  tensor->flags |= nd4c_shape_is_contiguous(tensor->rank, tensor->shape, strides) ? ND4C_TENSOR_CONTIGUOUS : 0;
  return ND4C_OK;
}

static nd4c_status make_call(nd4c_plan *plan, const nd4c_compiler *compiler, int32_t index, nd4c_call *call) {
  const nd4c_graph_node *node = &plan->graph->nodes[index];
  nd4c_tensor *tensors = NULL;
  ND4C_TRY(nd4c_region_make(&plan->region, (int64_t)node->input_count + node->output_count, sizeof *tensors, &tensors));
  for (int32_t i = 0; i < node->input_count; i++) {
    ND4C_TRY(describe(plan, compiler, node->inputs[i], &tensors[i]));
  }
  for (int32_t i = 0; i < node->output_count; i++) {
    ND4C_TRY(describe(plan, compiler, node->outputs[i], &tensors[node->input_count + i]));
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

/* The segment under construction. */
typedef struct assembly {
  nd4c_plan *plan;
  const nd4c_compiler *compiler;
  const int32_t *nodes;
  int32_t count;
  int32_t *number_of;           /* by value of the graph: its number in the segment, -1: none; the plan's */
  nd4c_value *inputs, *outputs; /* values of the graph */
  int32_t *output_numbers;
  int32_t input_count, value_count, output_count;
} assembly;

/* Counts how often each value is read, once for all segments: a plan may have very many. */
static nd4c_status count_reads(nd4c_plan *plan) {
  const nd4c_graph *graph = plan->graph;
  if (plan->reads != NULL) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_region_make(&plan->region, graph->value_count, sizeof *plan->number_of, &plan->number_of));
  ND4C_TRY(nd4c_region_make(&plan->region, graph->value_count, sizeof *plan->reads, &plan->reads));
  memset(plan->number_of, -1, (size_t)graph->value_count * sizeof *plan->number_of);
  for (int32_t i = 0; i < graph->node_count; i++) {
    for (int32_t k = 0; k < graph->nodes[i].input_count; k++) {
      if (graph->nodes[i].inputs[k] >= 0) {
        plan->reads[graph->nodes[i].inputs[k]]++;
      }
    }
  }
  for (int32_t i = 0; i < graph->outputs.count; i++) {
    plan->reads[graph->outputs.items[i].value]++;
  }
  return ND4C_OK;
}

static nd4c_status allocate_assembly(assembly *work) {
  nd4c_plan *plan = work->plan;
  int64_t inputs = 0, outputs = 0;
  for (int32_t i = 0; i < work->count; i++) {
    inputs += plan->graph->nodes[work->nodes[i]].input_count;
    outputs += plan->graph->nodes[work->nodes[i]].output_count;
  }
  ND4C_TRY(count_reads(plan));
  work->number_of = plan->number_of;
  ND4C_TRY(nd4c_region_make(&plan->region, inputs, sizeof *work->inputs, &work->inputs));
  ND4C_TRY(nd4c_region_make(&plan->region, outputs, sizeof *work->outputs, &work->outputs));
  ND4C_TRY(nd4c_region_make(&plan->region, outputs, sizeof *work->output_numbers, &work->output_numbers));
  return ND4C_OK;
}

/* Adds `step` for each time that a node of the segment reads a value. */
static void count_inside(const assembly *work, int32_t step) {
  for (int32_t i = 0; i < work->count; i++) {
    const nd4c_graph_node *node = &work->plan->graph->nodes[work->nodes[i]];
    for (int32_t k = 0; k < node->input_count; k++) {
      if (node->inputs[k] >= 0) {
        work->plan->reads[node->inputs[k]] += step;
      }
    }
  }
}

static void number_inputs(assembly *work) {
  const nd4c_graph *graph = work->plan->graph;
  enum { INSIDE = -2 };
  for (int32_t i = 0; i < work->count; i++) {
    const nd4c_graph_node *node = &graph->nodes[work->nodes[i]];
    for (int32_t k = 0; k < node->output_count; k++) {
      work->number_of[node->outputs[k]] = INSIDE;
    }
  }
  for (int32_t i = 0; i < work->count; i++) {
    const nd4c_graph_node *node = &graph->nodes[work->nodes[i]];
    for (int32_t k = 0; k < node->input_count; k++) {
      nd4c_value value = node->inputs[k];
      if (value >= 0 && work->number_of[value] == -1) {
        work->inputs[work->input_count] = value;
        work->number_of[value] = work->input_count;
        work->input_count++;
      }
    }
  }
}

/* A value leaves the segment if a node outside or the caller reads it: then reads remain without those inside. */
static void number_outputs(assembly *work) {
  const nd4c_plan *plan = work->plan;
  work->value_count = work->input_count;
  count_inside(work, -1);
  for (int32_t i = 0; i < work->count; i++) {
    const nd4c_graph_node *node = &plan->graph->nodes[work->nodes[i]];
    for (int32_t k = 0; k < node->output_count; k++) {
      nd4c_value value = node->outputs[k];
      work->number_of[value] = work->value_count;
      if (plan->reads[value] > 0) {
        work->outputs[work->output_count] = value;
        work->output_numbers[work->output_count] = work->value_count;
        work->output_count++;
      }
      work->value_count++;
    }
  }
  count_inside(work, 1);
}

/* Leaves the plan's list of numbers as it was. */
static void forget_numbers(const assembly *work) {
  for (int32_t i = 0; i < work->input_count; i++) {
    work->number_of[work->inputs[i]] = -1;
  }
  for (int32_t i = 0; i < work->count; i++) {
    const nd4c_graph_node *node = &work->plan->graph->nodes[work->nodes[i]];
    for (int32_t k = 0; k < node->output_count; k++) {
      work->number_of[node->outputs[k]] = -1;
    }
  }
}

static const int32_t *numbers(const assembly *work, const nd4c_value *values, int32_t count) {
  int32_t *result = nd4c_region_take(&work->plan->region, count, sizeof *result);
  for (int32_t i = 0; result != NULL && i < count; i++) {
    result[i] = values[i] < 0 ? -1 : work->number_of[values[i]];
  }
  return result;
}

static nd4c_status fill_segment(const assembly *work, nd4c_segment *segment) {
  nd4c_plan *plan = work->plan;
  nd4c_call *calls = nd4c_region_take(&plan->region, work->count, sizeof *calls);
  const nd4c_call **nodes = nd4c_region_take(&plan->region, work->count, sizeof *nodes);
  const int32_t **inputs = nd4c_region_take(&plan->region, work->count, sizeof *inputs);
  const int32_t **outputs = nd4c_region_take(&plan->region, work->count, sizeof *outputs);
  const char **labels = nd4c_region_take(&plan->region, work->count, sizeof *labels);
  if (calls == NULL || nodes == NULL || inputs == NULL || outputs == NULL || labels == NULL) {
    return nd4c_error_code();
  }
  for (int32_t i = 0; i < work->count; i++) {
    const nd4c_graph_node *node = &plan->graph->nodes[work->nodes[i]];
    ND4C_TRY(nd4c_cancellation_poll());
    ND4C_TRY(make_call(plan, work->compiler, work->nodes[i], &calls[i]));
    nodes[i] = &calls[i];
    inputs[i] = numbers(work, node->inputs, node->input_count);
    outputs[i] = numbers(work, node->outputs, node->output_count);
    labels[i] = node->label;
    if (inputs[i] == NULL || outputs[i] == NULL) {
      return nd4c_error_code();
    }
  }
  *segment = (nd4c_segment){.struct_size = ND4C_SIZE_OF(nd4c_segment),
                            .node_count = work->count,
                            .nodes = nodes,
                            .node_inputs = inputs,
                            .node_outputs = outputs,
                            .value_count = work->value_count,
                            .input_count = work->input_count,
                            .output_count = work->output_count,
                            .outputs = work->output_numbers,
                            .labels = labels};
  return ND4C_OK;
}

nd4c_status nd4c_plan_describe_segment(nd4c_plan *plan, const nd4c_compiler *compiler, const int32_t *nodes,
                                       int32_t count, nd4c_segment *segment, nd4c_value **inputs,
                                       nd4c_value **outputs) {
  assembly work = {.plan = plan, .compiler = compiler, .nodes = nodes, .count = count};
  ND4C_TRY(allocate_assembly(&work));
  number_inputs(&work);
  number_outputs(&work);
  *inputs = work.inputs;
  *outputs = work.outputs;
  const nd4c_status status = fill_segment(&work, segment);
  forget_numbers(&work);
  return status;
}

/* -- compiling ----------------------------------------------------------------------------------------------------- */

static nd4c_status describe_step(nd4c_plan *plan, const nd4c_segment *segment, nd4c_step *step) {
  step->input_count = segment->input_count;
  step->output_count = segment->output_count;
  ND4C_TRY(nd4c_region_make(&plan->region, (int64_t)step->input_count + step->output_count, sizeof *step->tensors,
                            &step->tensors));
  for (int32_t i = 0; i < step->input_count + step->output_count; i++) {
    nd4c_value value = i < step->input_count ? step->inputs[i] : step->outputs[i - step->input_count];
    ND4C_TRY(describe(plan, step->segment->compiler, value, &step->tensors[i]));
  }
  step->call.inputs = step->tensors;
  step->call.outputs = step->tensors + step->input_count;
  return ND4C_OK;
}

nd4c_status nd4c_plan_segment_constants(nd4c_plan *plan, const nd4c_value *inputs, int32_t count,
                                        const nd4c_array *const **constants) {
  const nd4c_array **arrays = NULL;
  ND4C_TRY(nd4c_region_make(&plan->region, (int64_t)count + 1, sizeof *arrays, &arrays));
  for (int32_t i = 0; i < count; i++) {
    arrays[i] = plan->graph->values[inputs[i]].constant;
  }
  *constants = arrays;
  return ND4C_OK;
}

/* The file of executables lacks the piece: reports that it was compiled instead, or fails in a strict context. */
static nd4c_status note_missing(nd4c_plan *plan, nd4c_plan_segment *segment) {
  if (plan->context->strict) {
    return nd4c_fail(ND4C_STRICT, "%s has no executable for a segment of %d nodes by %s", plan->file.file_name,
                     segment->node_count, segment->compiler->engine);
  }
  segment->missing_from = nd4c_region_text(&plan->region, plan->file.file_name);
  if (segment->missing_from == NULL) {
    return nd4c_error_code();
  }
  nd4c_report_difference("segment", plan->file.file_name, "compiled now", "the file has no executable for it");
  return ND4C_OK;
}

nd4c_status nd4c_plan_compile_segment(nd4c_plan *plan, const int32_t *nodes, nd4c_plan_segment *made, bool *declined) {
  nd4c_segment segment;
  nd4c_value *inputs = NULL, *outputs = NULL;
  nd4c_compile_room room;
  nd4c_compile_source source = plan->file;
  *declined = false;
  ND4C_TRY(nd4c_plan_describe_segment(plan, made->compiler, nodes, made->node_count, &segment, &inputs, &outputs));
  ND4C_TRY(nd4c_plan_segment_constants(plan, inputs, segment.input_count, &source.constants));
  const nd4c_compile_options options = nd4c_compile_request_tell(plan->compile, plan->context, made->compiler, &room);
  nd4c_status status =
      nd4c_compiled_make(made->compiler, plan->device, &segment, &options, &source, &made->compiled, &made->info);
  if (status == ND4C_UNSUPPORTED && source.declined) {
    *declined = true;
    return ND4C_OK;
  }
  ND4C_TRY(status);
  status = source.missed ? note_missing(plan, made) : ND4C_OK;
  if (status != ND4C_OK) {
    nd4c_compiled_release(made->compiled); /* the plan does not count it yet */
    made->compiled = NULL;
  }
  return status;
}

/* A further binding's segment, for which the first one's executable does not serve. */
static nd4c_status compile_again(nd4c_plan *plan, const int32_t *nodes, nd4c_plan_segment *made) {
  bool declined = false;
  ND4C_TRY(nd4c_plan_compile_segment(plan, nodes, made, &declined));
  return declined ? ND4C_UNSUPPORTED : ND4C_OK; /* the text is the compiler's */
}

static nd4c_status make_segment(nd4c_plan *plan, int32_t node, nd4c_step *step) {
  nd4c_plan_segment *made = &plan->segments[plan->segment_of[node]];
  int32_t *nodes = NULL;
  nd4c_segment segment;
  nd4c_value *inputs = NULL, *outputs = NULL;
  ND4C_TRY(nd4c_region_make(&plan->region, made->node_count, sizeof *nodes, &nodes));
  made->first = node + 1 - made->node_count;
  for (int32_t i = 0; i < made->node_count; i++) {
    nodes[i] = made->first + i;
  }
  ND4C_TRY(made->compiled == NULL ? compile_again(plan, nodes, made) : ND4C_OK);
  ND4C_TRY(nd4c_plan_describe_segment(plan, made->compiler, nodes, made->node_count, &segment, &inputs, &outputs));
  step->segment = made;
  step->node = node;
  step->inputs = inputs;
  step->outputs = outputs;
  return describe_step(plan, &segment, step);
}

nd4c_status nd4c_plan_make_segment(nd4c_plan *plan, int32_t node, nd4c_step *step) {
  const bool further = plan->common != NULL && plan->common->fixed;
  bool served = false;
  if (further) {
    ND4C_TRY(nd4c_common_take_segment(plan, plan->segment_of[node], step, &served));
  }
  ND4C_TRY(served ? ND4C_OK : make_segment(plan, node, step));
  return plan->common == NULL || further || plan->common->unfit ? ND4C_OK : nd4c_common_keep_segment(plan, step);
}

bool nd4c_plan_returns_outputs(const nd4c_plan *plan, char *reason, size_t reason_size) {
  for (int32_t i = 0; i < plan->step_count; i++) {
    const nd4c_step *step = &plan->steps[i];
    if (step->control != NULL) {
      continue;
    }
    const nd4c_compiled *compiled = step->segment != NULL ? step->segment->compiled : step->choice->compiled;
    if (compiled != NULL && nd4c_compiled_returns(compiled)) {
      (void)snprintf(reason, reason_size, "step %d returns its outputs", i);
      return true;
    }
  }
  return false;
}

void nd4c_plan_release_segments(nd4c_plan *plan) {
  for (int32_t i = 0; i < plan->segment_count; i++) {
    nd4c_compiled_release(plan->segments[i].compiled);
  }
}

/* `outputs`: the arrays of the step's outputs; NULL if the executable does not return outputs. */
static nd4c_status execute(const nd4c_plan *plan, const nd4c_step *step, nd4c_array *const *outputs,
                           nd4c_submission *submission) {
  const nd4c_executable_info *info = &step->segment->info;
  const nd4c_scratch_range range = nd4c_compiled_scratch(info);
  ND4C_TRY(nd4c_submission_take_scratch(submission, info->scratch_bytes, &range));
  nd4c_execution execution = {.flags = plan->context->deterministic ? ND4C_CALL_DETERMINISTIC : 0,
                              .stream = plan->context->stream,
                              .width = plan->context->width,
                              .input_count = step->input_count,
                              .output_count = step->output_count,
                              .inputs = step->call.inputs,
                              .outputs = step->call.outputs,
                              .scratch = submission->host_scratch.address,
                              .scratch_buffer = submission->device_buffer,
                              .scratch_buffer_bytes = submission->device_bytes,
                              .cancellation = nd4c_cancellation_current(),
                              .point = nd4c_submission_number(submission, 1)};
  return nd4c_submission_execute(submission, step->segment->compiled, &execution, outputs);
}

nd4c_status nd4c_plan_execute_segment(const nd4c_plan *plan, nd4c_step *step) {
  nd4c_submission submission;
  ND4C_TRY(nd4c_submission_start(&submission, plan->context, "segment", 0));
  nd4c_status status = execute(plan, step, NULL, &submission); /* mode direct has no steps that return outputs */
  nd4c_submission_end(&submission);
  return status;
}

/* -- running on arrays --------------------------------------------------------------------------------------------- */

static nd4c_status acquire_all(const nd4c_plan *plan, nd4c_step *step, nd4c_submission *submission) {
  for (int32_t i = 0; i < step->input_count + step->output_count; i++) {
    const bool input = i < step->input_count;
    const int32_t number = input ? i : i - step->input_count;
    const nd4c_array *array = plan->slot_arrays[input ? step->inputs[i] : step->outputs[number]];
    const nd4c_access access = input ? ND4C_ACCESS_READ : nd4c_submission_output_access(array);
    nd4c_status status = nd4c_submission_acquire_array(submission, array, access, &step->tensors[i]);
    if (status != ND4C_OK) {
      return nd4c_submission_name_operand(submission, status, array, input ? "input" : "output", number, access);
    }
  }
  return ND4C_OK;
}

static void release_compiled(void *compiled) {
  nd4c_compiled_release(compiled);
}

/* A segment that failed may have written part of its outputs. */
static nd4c_status fail_outputs(const nd4c_plan *plan, const nd4c_step *step, nd4c_status status) {
  for (int32_t i = 0; i < step->output_count; i++) {
    nd4c_storage_poison(plan->slot_arrays[step->outputs[i]]->storage, status, nd4c_error_message());
  }
  return status;
}

static nd4c_status submit(const nd4c_plan *plan, nd4c_step *step, nd4c_submission *submission) {
  nd4c_shared_fence *fence = NULL;
  ND4C_TRY(acquire_all(plan, step, submission));
  for (int32_t i = 0; i < step->output_count; i++) {
    plan->step_outputs[i] = plan->slot_arrays[step->outputs[i]];
  }
  nd4c_status status = execute(plan, step, plan->step_outputs, submission);
  if (status != ND4C_OK) {
    nd4c_submission_settle(plan->context, status);
    status = nd4c_submission_explain(submission, status);
    return fail_outputs(plan, step, status);
  }
  status = nd4c_submission_record(submission, NULL, &fence);
  if (status != ND4C_OK) {
    return fail_outputs(plan, step, status);
  }
  if (fence != NULL) {
    nd4c_submission_keep(submission, fence, nd4c_compiled_retain(step->segment->compiled), release_compiled);
  }
  nd4c_submission_commit(submission, fence);
  nd4c_fence_release(fence);
  return ND4C_OK;
}

nd4c_status nd4c_plan_run_segment(nd4c_plan *plan, nd4c_step *step) {
  nd4c_submission submission;
  const bool traced = nd4c_tracer_is_on();
  const int64_t begin = traced ? nd4c_tracer_begin("segment", plan->context) : 0;
  nd4c_status status =
      nd4c_submission_start(&submission, plan->context, "segment", step->input_count + step->output_count);
  status = status == ND4C_OK ? submit(plan, step, &submission) : status;
  nd4c_submission_end(&submission);
  if (traced) {
    for (int32_t i = 0; i < step->output_count; i++) {
      nd4c_tracer_write(plan->slot_arrays[step->outputs[i]]->storage, plan->device);
    }
    nd4c_tracer_end(begin, status == ND4C_OK ? plan->device : NULL, "segment", step->segment->compiler->engine, NULL,
                    0);
  }
  return status;
}
