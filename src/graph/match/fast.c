/* Implements fast.h. */
#include "graph/match/fast.h"

#include <string.h>

#include "array/shape.h"
#include "base/status.h"
#include "device/device.h"
#include "dispatch/choice.h"

/* How operands are described. */
typedef struct manner {
  bool shows;       /* kernels of the host see constants of one axis or none */
  int64_t stand_in; /* for extents that are dims; 0: their lowest values */
} manner;

enum { OPERANDS = ND4C_FAST_INPUTS + ND4C_FAST_OUTPUTS };

/* Operands of a question, inputs before outputs, with what they point to. */
typedef struct question {
  nd4c_tensor tensors[OPERANDS];
  int64_t shapes[OPERANDS][ND4C_MAX_RANK], strides[OPERANDS][ND4C_MAX_RANK];
} question;

static int64_t number_of(const nd4c_graph *graph, int64_t extent, const manner *how) {
  return how->stand_in > 0 && nd4c_extents_has(graph->extents, extent) ? how->stand_in
                                                                       : nd4c_graph_least(graph, extent);
}

/* Fills in extents and strides of operand `at`, a value of the graph or like one. */
static void describe(const nd4c_graph *graph, nd4c_graph_value value, const manner *how, question *asked, int32_t at) {
  int64_t *shape = asked->shapes[at], *strides = asked->strides[at];
  nd4c_tensor *tensor = &asked->tensors[at];
  tensor->dtype = value.dtype;
  tensor->rank = value.rank;
  tensor->size = 1;
  for (int32_t i = 0; i < value.rank; i++) {
    shape[i] = number_of(graph, value.shape[i], how);
    tensor->size *= shape[i];
  }
  value.shape = shape;
  if (value.constant != NULL) {
    memcpy(strides, value.constant->strides, (size_t)value.rank * sizeof *strides);
  } else {
    nd4c_graph_value_strides(&value, strides);
  }
  tensor->shape = shape;
  tensor->strides = strides;
  tensor->flags |= nd4c_shape_is_contiguous(value.rank, shape, strides) ? ND4C_TENSOR_CONTIGUOUS : 0;
}

/* Lets kernels of the host see a constant scale, zero point or bias. */
static nd4c_status show(const nd4c_rewrite *rewrite, const nd4c_array *constant, nd4c_tensor *tensor) {
  nd4c_device *host = NULL;
  const void *data = NULL;
  if (constant == NULL || constant->rank > 1) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_device_host(&host));
  if (rewrite->context->device == host) {
    ND4C_TRY(nd4c_array_data(constant, &data));
    tensor->data = (void *)(uintptr_t)data;
  }
  return ND4C_OK;
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

static nd4c_status describe_all(const nd4c_rewrite *rewrite, const nd4c_value *inputs, int32_t input_count,
                                const nd4c_inferred *outputs, int32_t output_count, const manner *how,
                                question *asked) {
  const nd4c_graph *graph = rewrite->graph;
  for (int32_t i = 0; i < input_count; i++) {
    nd4c_graph_describe(graph, inputs[i], &asked->tensors[i]);
    if (inputs[i] >= 0) {
      describe(graph, graph->values[inputs[i]], how, asked, i);
      ND4C_TRY(how->shows ? show(rewrite, graph->values[inputs[i]].constant, &asked->tensors[i]) : ND4C_OK);
    }
  }
  for (int32_t i = 0; i < output_count; i++) {
    const nd4c_graph_value made = {.dtype = outputs[i].dtype, .rank = outputs[i].rank, .shape = outputs[i].shape};
    asked->tensors[input_count + i] = (nd4c_tensor){.flags = 0};
    describe(graph, made, how, asked, input_count + i);
  }
  return ND4C_OK;
}

static bool is_fast(const nd4c_rewrite *rewrite, nd4c_op op, const nd4c_value *inputs, int32_t input_count,
                    const nd4c_attr_value *attrs, const manner *how) {
  const nd4c_context *context = rewrite->context;
  const nd4c_op_def *def = nd4c_op_get_def(op);
  nd4c_inferred inferred[ND4C_FAST_OUTPUTS];
  question asked;
  if (def == NULL || input_count > ND4C_FAST_INPUTS || def->info.output_count > ND4C_FAST_OUTPUTS ||
      !infer(rewrite->graph, def, inputs, input_count, attrs, inferred) ||
      describe_all(rewrite, inputs, input_count, inferred, def->info.output_count, how, &asked) != ND4C_OK) {
    return false;
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

/* A product of so many rows of 256 numbers and a square matrix, large enough that only a kernel made for the dtype
 * takes it. flags: of the matrix. */
static bool is_fast_product(const nd4c_context *context, nd4c_dtype dtype, int64_t rows, int32_t flags) {
  enum { SIDE = 256 };
  static const int64_t side[] = {SIDE, SIDE}, strides[] = {SIDE, 1};
  const int64_t shape[] = {rows, SIDE};
  const nd4c_op_def *def = nd4c_op_get_def(ND4C_OP_matmul);
  nd4c_tensor matrix = {.dtype = dtype,
                        .rank = 2,
                        .flags = ND4C_TENSOR_CONTIGUOUS,
                        .size = rows * SIDE,
                        .shape = shape,
                        .strides = strides};
  nd4c_tensor inputs[] = {matrix, matrix};
  inputs[1].shape = side;
  inputs[1].size = (int64_t)SIDE * SIDE;
  inputs[1].flags |= flags;
  const nd4c_call call = {.struct_size = ND4C_SIZE_OF(nd4c_call),
                          .flags = context->deterministic ? ND4C_CALL_DETERMINISTIC : 0,
                          .op = &def->info,
                          .input_count = 2,
                          .output_count = 1,
                          .inputs = inputs,
                          .outputs = &matrix,
                          .stream = context->stream,
                          .device = context->device->handle,
                          .width = context->width};
  return nd4c_choice_is_fast(context, &call);
}

bool nd4c_multiplies_fast(const nd4c_context *context, nd4c_dtype dtype) {
  return is_fast_product(context, dtype, 256, 0);
}

bool nd4c_multiplies_rows_fast(const nd4c_context *context, nd4c_dtype dtype) {
  return is_fast_product(context, dtype, 1, ND4C_TENSOR_CONSTANT);
}

bool nd4c_rewrite_is_fast(const nd4c_rewrite *rewrite, nd4c_op op, const nd4c_value *inputs, int32_t input_count,
                          const nd4c_attr_value *attrs) {
  static const manner plain = {.shows = false};
  return is_fast(rewrite, op, inputs, input_count, attrs, &plain);
}

bool nd4c_quantized_is_fast(const nd4c_rewrite *rewrite, nd4c_op op, const nd4c_value *inputs, int32_t input_count,
                            const nd4c_attr_value *attrs) {
  static const manner shown = {.shows = true, .stand_in = 64};
  return is_fast(rewrite, op, inputs, input_count, attrs, &shown);
}
