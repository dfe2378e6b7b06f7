/* Implements fast.h. */
#include "graph/match/fast.h"

#include "dispatch/choice.h"

/* Operands of a question, inputs before outputs, with what they point to. */
typedef struct question {
  nd4c_tensor tensors[2 * ND4C_FAST_OPERANDS];
  int64_t shapes[2 * ND4C_FAST_OPERANDS][ND4C_MAX_RANK], strides[2 * ND4C_FAST_OPERANDS][ND4C_MAX_RANK];
} question;

/* An output that the graph does not have. */
static void describe_output(const nd4c_graph *graph, const nd4c_inferred *inferred, question *asked, int32_t at) {
  int64_t *shape = asked->shapes[at];
  nd4c_tensor *tensor = &asked->tensors[at];
  *tensor = (nd4c_tensor){.dtype = inferred->dtype, .rank = inferred->rank, .size = 1, .shape = shape};
  for (int32_t i = 0; i < inferred->rank; i++) {
    shape[i] = nd4c_graph_least(graph, inferred->shape[i]);
    tensor->size *= shape[i];
  }
  const nd4c_graph_value value = {.dtype = inferred->dtype, .rank = inferred->rank, .shape = shape};
  nd4c_graph_value_strides(&value, asked->strides[at]);
  tensor->strides = asked->strides[at];
}

/* Infers the outputs and takes back what that assumes. */
static bool infer(const nd4c_graph *graph, const nd4c_op_def *def, const nd4c_value *inputs, int32_t input_count,
                  const nd4c_attr_value *attrs, nd4c_inferred *outputs) {
  const int32_t guards = graph->extents == NULL ? 0 : nd4c_extents_guard_count(graph->extents);
  const bool fits = nd4c_graph_infer(graph, def, inputs, input_count, attrs, outputs) == ND4C_OK;
  if (graph->extents != NULL) {
    nd4c_extents_forget(graph->extents, guards);
  }
  return fits;
}

bool nd4c_rewrite_is_fast(const nd4c_rewrite *rewrite, nd4c_op op, const nd4c_value *inputs, int32_t input_count,
                          const nd4c_attr_value *attrs) {
  const nd4c_graph *graph = rewrite->graph;
  const nd4c_context *context = rewrite->context;
  const nd4c_op_def *def = nd4c_op_get_def(op);
  nd4c_inferred inferred[ND4C_FAST_OPERANDS];
  question asked;
  if (def == NULL || input_count > ND4C_FAST_OPERANDS || def->info.output_count > ND4C_FAST_OPERANDS ||
      !infer(graph, def, inputs, input_count, attrs, inferred)) {
    return false;
  }
  for (int32_t i = 0; i < input_count; i++) {
    nd4c_graph_describe_least(graph, inputs[i], asked.shapes[i], asked.strides[i], &asked.tensors[i]);
  }
  for (int32_t i = 0; i < def->info.output_count; i++) {
    describe_output(graph, &inferred[i], &asked, input_count + i);
  }
  const nd4c_call call = {.struct_size = ND4C_SIZE_OF(nd4c_call),
                          .flags = context->deterministic ? ND4C_CALL_DETERMINISTIC : 0,
                          .op = &def->info,
                          .input_count = input_count,
                          .output_count = def->info.output_count,
                          .inputs = asked.tensors,
                          .outputs = &asked.tensors[input_count],
                          .attrs = attrs,
                          .stream = context->stream,
                          .device = context->device->handle,
                          .width = context->width};
  return nd4c_choice_is_fast(context, &call);
}

/* A product large enough that only a kernel made for the dtype takes it. */
bool nd4c_multiplies_fast(const nd4c_context *context, nd4c_dtype dtype) {
  enum { SIDE = 256 };
  static const int64_t shape[] = {SIDE, SIDE}, strides[] = {SIDE, 1};
  const nd4c_op_def *def = nd4c_op_get_def(ND4C_OP_matmul);
  nd4c_tensor square = {.dtype = dtype,
                        .rank = 2,
                        .flags = ND4C_TENSOR_CONTIGUOUS,
                        .size = (int64_t)SIDE * SIDE,
                        .shape = shape,
                        .strides = strides};
  const nd4c_tensor inputs[] = {square, square};
  const nd4c_call call = {.struct_size = ND4C_SIZE_OF(nd4c_call),
                          .flags = context->deterministic ? ND4C_CALL_DETERMINISTIC : 0,
                          .op = &def->info,
                          .input_count = 2,
                          .output_count = 1,
                          .inputs = inputs,
                          .outputs = &square,
                          .stream = context->stream,
                          .device = context->device->handle,
                          .width = context->width};
  return nd4c_choice_is_fast(context, &call);
}
