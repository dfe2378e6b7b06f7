#include "io/onnx/emission.h"

#include <inttypes.h>

#include "array/array.h"
#include "base/alloc.h"
#include "base/status.h"
#include "dispatch/execute.h"
#include "ops/op.h"

/* Results of constant folding beyond this stay in the graph: they would cost more memory than they save time. */
enum { FOLD_BYTES = 64 << 20, FOLD_ELEMENTS = 64 << 20, FOLD_FACTOR = 64 << 10 };
enum { MOST_INPUTS = 64, MOST_OUTPUTS = 16, MOST_ATTRS = 32, LABEL_SIZE = 256 };

/* -- operands ------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_onnx_add_slot(nd4c_onnx_importer *importer, nd4c_onnx_operand_slot slot, nd4c_onnx_operand *operand) {
  if (importer->slot_count == importer->slot_capacity) {
    int32_t capacity = importer->slot_capacity == 0 ? 256 : 2 * importer->slot_capacity;
    nd4c_onnx_operand_slot *grown = nd4c_reallocate(importer->slots, (size_t)capacity * sizeof *grown);
    if (grown == NULL) {
      nd4c_array_release(slot.array);
      return nd4c_fail_memory("the values of a model", (size_t)capacity * sizeof *grown);
    }
    importer->slots = grown;
    importer->slot_capacity = capacity;
  }
  importer->slots[importer->slot_count] = slot;
  *operand = importer->slot_count++;
  return ND4C_OK;
}

nd4c_status nd4c_onnx_graph_value(nd4c_onnx_importer *importer, nd4c_onnx_operand operand, nd4c_value *value) {
  nd4c_onnx_operand_slot *slot = &importer->slots[operand];
  if (slot->value == ND4C_VALUE_NONE) {
    ND4C_TRY(nd4c_graph_constant(importer->graph, slot->array, &slot->value));
  }
  *value = slot->value;
  return ND4C_OK;
}

nd4c_onnx_operand_info nd4c_onnx_operand_get(const nd4c_onnx_emission *emission, nd4c_onnx_operand operand) {
  const nd4c_onnx_operand_slot *slot = &emission->importer->slots[operand];
  nd4c_onnx_operand_info info = {0};
  const int64_t *shape = NULL;
  if (slot->array != NULL) {
    info.dtype = nd4c_array_dtype(slot->array);
    info.rank = nd4c_array_rank(slot->array);
    shape = nd4c_array_shape(slot->array);
  } else {
    (void)nd4c_graph_value_info(emission->importer->graph, slot->value, &info.dtype, &info.rank, &shape);
  }
  if (info.rank > 0) {
    memcpy(info.shape, shape, (size_t)info.rank * sizeof *shape);
  }
  return info;
}

nd4c_onnx_operand nd4c_onnx_input(const nd4c_onnx_emission *emission, int32_t index) {
  return index < emission->input_count ? emission->inputs[index] : ND4C_ONNX_OPERAND_NONE;
}

nd4c_array *nd4c_onnx_constant_array(const nd4c_onnx_emission *emission, nd4c_onnx_operand operand) {
  return operand == ND4C_ONNX_OPERAND_NONE ? NULL : emission->importer->slots[operand].array;
}

/* -- ops ------------------------------------------------------------------------------------------------------ */

/* Products and windows read their inputs many times. */
static bool reads_many_times(const nd4c_op_def *def) {
  return def->info.category == ND4C_CATEGORY_LINALG || def->info.category == ND4C_CATEGORY_NN;
}

/* Whether computing the op takes a bearable time: views of one element can stand for inputs of any size. */
static bool is_cheap(const nd4c_op_def *def, const nd4c_tensor *tensors, int32_t count, int64_t output_size) {
  int64_t most = reads_many_times(def) ? FOLD_FACTOR : FOLD_ELEMENTS;
  bool cheap = output_size <= most;
  for (int32_t i = 0; i < count; i++) {
    cheap = cheap && tensors[i].size <= most;
  }
  return cheap;
}

/* Bytes of a result, FOLD_BYTES + 1 if there are more. */
static int64_t bytes_of(const nd4c_inferred *output) {
  int64_t size = nd4c_dtype_size(output->dtype);
  for (int32_t i = 0; i < output->rank && size > 0 && size <= FOLD_BYTES; i++) {
    size = output->shape[i] > FOLD_BYTES / size ? FOLD_BYTES + 1 : size * output->shape[i];
  }
  return size;
}

/* Whether computing the op now gives a view or results of bearable size. The inputs are all constants. */
static nd4c_status worth_folding(const nd4c_op_def *def, const nd4c_array *const *arrays, int32_t count,
                                 const nd4c_attr *attrs, int32_t attr_count, bool *worth) {
  nd4c_attr_value values[MOST_ATTRS];
  nd4c_tensor tensors[MOST_INPUTS];
  nd4c_inferred outputs[MOST_OUTPUTS];
  int64_t strides[ND4C_MAX_RANK];
  int64_t offset = 0;
  memset(outputs, 0, sizeof outputs);
  ND4C_TRY(nd4c_op_resolve_attrs(&def->info, attrs, attr_count, values));
  for (int32_t i = 0; i < count; i++) {
    nd4c_tensor_describe(arrays[i], &tensors[i]);
  }
  nd4c_inference inference = {&def->info, count, tensors, values, outputs};
  ND4C_TRY(nd4c_op_infer(def, &inference));
  if (def->view != NULL && def->view(&inference, strides, &offset)) {
    *worth = true;
    return ND4C_OK;
  }
  int64_t bytes = 0;
  for (int32_t i = 0; i < def->info.output_count && bytes <= FOLD_BYTES; i++) {
    bytes += bytes_of(&outputs[i]);
  }
  *worth = bytes <= FOLD_BYTES && is_cheap(def, tensors, count, bytes);
  return ND4C_OK;
}

static nd4c_status try_folding(nd4c_onnx_emission *emission, nd4c_op op, const nd4c_onnx_operand *inputs,
                               int32_t input_count, const nd4c_attr *attrs, int32_t attr_count, bool *folded,
                               nd4c_onnx_operand *outputs) {
  const nd4c_array *arrays[MOST_INPUTS];
  nd4c_array *results[MOST_OUTPUTS] = {0};
  const nd4c_op_def *def = nd4c_op_get_def(op);
  int32_t output_count = def->info.output_count;
  *folded = false;
  if (input_count > MOST_INPUTS || def->info.attr_count > MOST_ATTRS || output_count > MOST_OUTPUTS) {
    return ND4C_OK;
  }
  for (int32_t i = 0; i < input_count; i++) {
    arrays[i] = nd4c_onnx_constant_array(emission, inputs[i]);
    if (arrays[i] == NULL && inputs[i] != ND4C_ONNX_OPERAND_NONE) {
      return ND4C_OK;
    }
  }
  ND4C_TRY(worth_folding(def, arrays, input_count, attrs, attr_count, folded));
  if (!*folded) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_op_call(emission->importer->options->context, op, arrays, input_count, attrs, attr_count, results,
                        output_count));
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < output_count; i++) {
    if (status == ND4C_OK) {
      status = nd4c_onnx_constant(emission, results[i], &outputs[i]);
    } else {
      nd4c_array_release(results[i]);
    }
  }
  return status;
}

/* The node's name as a label, NUL-terminated; its op if it has none. */
static void label_of(const nd4c_onnx_node *node, char *label) {
  nd4c_span name = node->name.size > 0 ? node->name : node->op;
  size_t length = name.size < LABEL_SIZE - 1 ? name.size : LABEL_SIZE - 1;
  while (length < name.size && length > 0 && (name.bytes[length] & 0xc0) == 0x80) {
    length--; /* not inside a code point */
  }
  memcpy(label, name.bytes, length);
  label[length] = '\0';
}

/* Fast kernels want weights without gaps: a constant seen through a stretched or turned view becomes a copy before an
 * op that reads it many times first meets it in the graph. A large one stays as it is. */
static nd4c_status make_dense(nd4c_onnx_emission *emission, nd4c_onnx_operand operand) {
  nd4c_onnx_operand_slot *slot = &emission->importer->slots[operand];
  if (slot->array == NULL || slot->value != ND4C_VALUE_NONE || nd4c_array_is_contiguous(slot->array) ||
      nd4c_array_size(slot->array) > FOLD_BYTES / nd4c_dtype_size(nd4c_array_dtype(slot->array))) {
    return ND4C_OK;
  }
  const nd4c_array *view = slot->array;
  nd4c_array *dense = NULL;
  ND4C_TRY(nd4c_op_call(emission->importer->options->context, ND4C_OP_copy, &view, 1, NULL, 0, &dense, 1));
  nd4c_array_release(slot->array);
  slot->array = dense;
  return ND4C_OK;
}

/* Records the op in the graph. */
static nd4c_status record(nd4c_onnx_emission *emission, nd4c_op op, const nd4c_onnx_operand *inputs,
                          int32_t input_count, const nd4c_attr *attrs, int32_t attr_count, nd4c_value *results,
                          int32_t output_count) {
  nd4c_value few[MOST_INPUTS];
  nd4c_value *values = few;
  if (input_count > MOST_INPUTS) {
    values = nd4c_allocate((size_t)input_count * sizeof *values);
    if (values == NULL) {
      return nd4c_fail_memory("the inputs of a node", (size_t)input_count * sizeof *values);
    }
  }
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < input_count && status == ND4C_OK; i++) {
    values[i] = ND4C_VALUE_NONE;
    if (inputs[i] != ND4C_ONNX_OPERAND_NONE && reads_many_times(nd4c_op_get_def(op))) {
      status = make_dense(emission, inputs[i]);
    }
    if (inputs[i] != ND4C_ONNX_OPERAND_NONE && status == ND4C_OK) {
      status = nd4c_onnx_graph_value(emission->importer, inputs[i], &values[i]);
    }
  }
  if (status == ND4C_OK) {
    char label[LABEL_SIZE];
    label_of(emission->node, label);
    status = nd4c_graph_op(emission->importer->graph, op, values, input_count, attrs, attr_count, label, results,
                           output_count);
  }
  if (values != few) {
    nd4c_deallocate(values);
  }
  return status;
}

nd4c_status nd4c_onnx_emit_outputs(nd4c_onnx_emission *emission, nd4c_op op, const nd4c_onnx_operand *inputs,
                                   int32_t input_count, const nd4c_attr *attrs, int32_t attr_count,
                                   nd4c_onnx_operand *outputs, int32_t output_count) {
  nd4c_value results[MOST_OUTPUTS];
  bool folded = false;
  const nd4c_op_def *def = nd4c_op_get_def(op);
  if (def == NULL || def->info.output_count != output_count || output_count > MOST_OUTPUTS) {
    return nd4c_fail(ND4C_ARGUMENT, "op %d has other outputs than the %d that the import expects", (int)op,
                     (int)output_count);
  }
  ND4C_TRY(try_folding(emission, op, inputs, input_count, attrs, attr_count, &folded, outputs));
  if (folded) {
    return ND4C_OK;
  }
  ND4C_TRY(record(emission, op, inputs, input_count, attrs, attr_count, results, output_count));
  for (int32_t i = 0; i < output_count; i++) {
    ND4C_TRY(nd4c_onnx_add_slot(emission->importer, (nd4c_onnx_operand_slot){.value = results[i]}, &outputs[i]));
  }
  return ND4C_OK;
}

nd4c_status nd4c_onnx_emit(nd4c_onnx_emission *emission, nd4c_op op, const nd4c_onnx_operand *inputs,
                           int32_t input_count, const nd4c_attr *attrs, int32_t attr_count, nd4c_onnx_operand *output) {
  return nd4c_onnx_emit_outputs(emission, op, inputs, input_count, attrs, attr_count, output, 1);
}

nd4c_status nd4c_onnx_emit_unary(nd4c_onnx_emission *emission, nd4c_op op, nd4c_onnx_operand x,
                                 nd4c_onnx_operand *output) {
  return nd4c_onnx_emit(emission, op, &x, 1, NULL, 0, output);
}

nd4c_status nd4c_onnx_emit_binary(nd4c_onnx_emission *emission, nd4c_op op, nd4c_onnx_operand a, nd4c_onnx_operand b,
                                  nd4c_onnx_operand *output) {
  nd4c_onnx_operand inputs[2] = {a, b};
  return nd4c_onnx_emit(emission, op, inputs, 2, NULL, 0, output);
}

nd4c_status nd4c_onnx_emit_with_scalar(nd4c_onnx_emission *emission, nd4c_op op, nd4c_onnx_operand x, double value,
                                       nd4c_onnx_operand *output) {
  nd4c_onnx_operand scalar = ND4C_ONNX_OPERAND_NONE;
  ND4C_TRY(nd4c_onnx_scalar_like(emission, x, value, &scalar));
  return nd4c_onnx_emit_binary(emission, op, x, scalar, output);
}

nd4c_status nd4c_onnx_emit_cast(nd4c_onnx_emission *emission, nd4c_onnx_operand x, nd4c_dtype dtype,
                                nd4c_onnx_operand *output) {
  if (nd4c_onnx_operand_get(emission, x).dtype == dtype) {
    *output = x;
    return ND4C_OK;
  }
  nd4c_attr attr = nd4c_attr_of_dtype("dtype", dtype);
  return nd4c_onnx_emit(emission, ND4C_OP_cast, &x, 1, &attr, 1, output);
}

nd4c_status nd4c_onnx_emit_reshape(nd4c_onnx_emission *emission, nd4c_onnx_operand x, int32_t rank,
                                   const int64_t *shape, nd4c_onnx_operand *output) {
  nd4c_attr attr = nd4c_attr_of_ints("shape", shape, rank);
  return nd4c_onnx_emit(emission, ND4C_OP_reshape, &x, 1, &attr, 1, output);
}

nd4c_status nd4c_onnx_emit_broadcast(nd4c_onnx_emission *emission, nd4c_onnx_operand x, int32_t rank,
                                     const int64_t *shape, nd4c_onnx_operand *output) {
  nd4c_attr attr = nd4c_attr_of_ints("shape", shape, rank);
  return nd4c_onnx_emit(emission, ND4C_OP_broadcast_to, &x, 1, &attr, 1, output);
}

nd4c_status nd4c_onnx_emit_axes(nd4c_onnx_emission *emission, nd4c_op op, nd4c_onnx_operand x, int32_t count,
                                const int64_t *axes, nd4c_onnx_operand *output) {
  nd4c_attr attr = nd4c_attr_of_ints("axes", axes, count);
  return nd4c_onnx_emit(emission, op, &x, 1, &attr, 1, output);
}

nd4c_status nd4c_onnx_emit_reduce(nd4c_onnx_emission *emission, nd4c_op op, nd4c_onnx_operand x, int32_t count,
                                  const int64_t *axes, bool keepdims, nd4c_onnx_operand *output) {
  nd4c_attr attrs[] = {nd4c_attr_of_ints("axes", axes, count), nd4c_attr_of_bool("keepdims", keepdims)};
  return nd4c_onnx_emit(emission, op, &x, 1, attrs, 2, output);
}

nd4c_status nd4c_onnx_emit_slice(nd4c_onnx_emission *emission, nd4c_onnx_operand x, int64_t axis, int64_t start,
                                 int64_t stop, int64_t step, nd4c_onnx_operand *output) {
  nd4c_attr attrs[] = {nd4c_attr_of_ints("starts", &start, 1), nd4c_attr_of_ints("stops", &stop, 1),
                       nd4c_attr_of_ints("axes", &axis, 1), nd4c_attr_of_ints("steps", &step, 1)};
  return nd4c_onnx_emit(emission, ND4C_OP_slice, &x, 1, attrs, 4, output);
}

/* -- constants ------------------------------------------------------------------------------------------------ */

nd4c_status nd4c_onnx_constant(nd4c_onnx_emission *emission, nd4c_array *array, nd4c_onnx_operand *output) {
  return nd4c_onnx_add_slot(emission->importer, (nd4c_onnx_operand_slot){array, ND4C_VALUE_NONE}, output);
}

nd4c_status nd4c_onnx_scalar(nd4c_onnx_emission *emission, nd4c_dtype dtype, double value, nd4c_onnx_operand *output) {
  nd4c_array *array = NULL;
  ND4C_TRY(nd4c_array_scalar(dtype, value, NULL, &array));
  return nd4c_onnx_constant(emission, array, output);
}

nd4c_status nd4c_onnx_scalar_like(nd4c_onnx_emission *emission, nd4c_onnx_operand like, double value,
                                  nd4c_onnx_operand *output) {
  return nd4c_onnx_scalar(emission, nd4c_onnx_operand_get(emission, like).dtype, value, output);
}

nd4c_status nd4c_onnx_int64s(nd4c_onnx_emission *emission, int32_t rank, int64_t count, const int64_t *values,
                             nd4c_onnx_operand *output) {
  static const int64_t nothing;
  nd4c_array *array = NULL;
  ND4C_TRY(nd4c_array_from_data(ND4C_INT64, rank, &count, count > 0 ? values : &nothing, NULL, &array));
  return nd4c_onnx_constant(emission, array, output);
}

nd4c_status nd4c_onnx_read_ints(nd4c_onnx_emission *emission, nd4c_onnx_operand operand, const char *what,
                                int32_t limit, int64_t *values, int32_t *count) {
  nd4c_array *array = nd4c_onnx_constant_array(emission, operand);
  if (array == NULL) {
    return nd4c_fail(ND4C_UNSUPPORTED, "%s depends on the values of the model's inputs; nd4c needs it at import", what);
  }
  nd4c_dtype dtype = nd4c_array_dtype(array);
  if ((dtype != ND4C_INT64 && dtype != ND4C_INT32) || nd4c_array_rank(array) > 1 || nd4c_array_size(array) > limit) {
    return nd4c_fail(ND4C_FORMAT,
                     "%s is %s of rank %d with %" PRId64 " elements; expected at most %d of int64 or int32", what,
                     nd4c_dtype_name(dtype), (int)nd4c_array_rank(array), nd4c_array_size(array), (int)limit);
  }
  *count = (int32_t)nd4c_array_size(array);
  if (dtype == ND4C_INT64) {
    return nd4c_array_read(array, values, (size_t)*count * sizeof *values);
  }
  int32_t narrow[ND4C_MAX_RANK];
  if (*count > ND4C_MAX_RANK) {
    return nd4c_fail(ND4C_FORMAT, "%s has %d elements; expected at most %d", what, (int)*count, ND4C_MAX_RANK);
  }
  ND4C_TRY(nd4c_array_read(array, narrow, (size_t)*count * sizeof *narrow));
  for (int32_t i = 0; i < *count; i++) {
    values[i] = narrow[i];
  }
  return ND4C_OK;
}

nd4c_status nd4c_onnx_read_number(nd4c_onnx_emission *emission, nd4c_onnx_operand operand, const char *what,
                                  double *value) {
  int64_t index[ND4C_MAX_RANK] = {0};
  nd4c_array *array = nd4c_onnx_constant_array(emission, operand);
  if (array == NULL) {
    return nd4c_fail(ND4C_UNSUPPORTED, "%s depends on the values of the model's inputs; nd4c needs it at import", what);
  }
  if (nd4c_array_size(array) != 1) {
    return nd4c_fail(ND4C_FORMAT, "%s has %" PRId64 " elements; expected one", what, nd4c_array_size(array));
  }
  return nd4c_array_item(array, index, value);
}
