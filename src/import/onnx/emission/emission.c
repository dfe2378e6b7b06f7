/* Implements emission.h, except for attributes and inner graphs: the emitter that computes or records ops, and the
 * functions that read constants. The emit functions of import/onnx/ops call it. */
#include <inttypes.h>
#include <stdio.h>

#include "array/array.h"
#include "array/shape.h"
#include "base/os.h"
#include "base/status.h"
#include "device/device.h"
#include "dispatch/execute.h"
#include "import/onnx/importer.h"
#include "ops/op.h"

/* Results of constant folding beyond this stay in the graph: they would cost more memory than they save time. */
enum { FOLD_BYTES = 64 << 20, FOLD_ELEMENTS = 64 << 20, FOLD_FACTOR = 64 << 10 };
enum { MOST_INPUTS = 64, MOST_ATTRS = 32, LABEL_SIZE = 256 };

/* -- operands ------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_onnx_claim(nd4c_onnx_emission *emission, size_t count, size_t size, const char *what, void *block) {
  return nd4c_region_claim(&emission->region, count, size, what, block);
}

nd4c_onnx_operand nd4c_onnx_input(const nd4c_onnx_emission *emission, int32_t index) {
  return index < emission->input_count ? emission->inputs[index] : ND4C_ONNX_OPERAND_NONE;
}

const nd4c_onnx_graph *nd4c_onnx_emission_graph(const nd4c_onnx_emission *emission) {
  return emission->scope->graph;
}

nd4c_status nd4c_onnx_read_value(nd4c_onnx_emission *emission, int32_t number, nd4c_onnx_operand *operand) {
  *operand = ND4C_ONNX_OPERAND_NONE;
  return number == ND4C_ONNX_NONE ? ND4C_OK
                                  : nd4c_onnx_scope_read(emission->importer, emission->scope, number, operand);
}

nd4c_status nd4c_onnx_fix_axis(const nd4c_onnx_emission *emission, nd4c_onnx_operand operand, int64_t axis,
                               int32_t *fixed) {
  return nd4c_axis_normalize(axis, nd4c_emitted_get(&emission->emitter, operand).rank, "attribute 'axis'", fixed);
}

nd4c_span_text nd4c_onnx_input_name(const nd4c_onnx_emission *emission, int32_t index) {
  int32_t number = index < emission->node->input_count ? emission->node->inputs[index] : ND4C_ONNX_NONE;
  return nd4c_span_show(number == ND4C_ONNX_NONE ? (nd4c_span){0}
                                                 : nd4c_onnx_graph_value(emission->scope->graph, number)->name);
}

bool nd4c_onnx_wants(const nd4c_onnx_emission *emission, int32_t index) {
  const nd4c_onnx_graph *graph = emission->scope->graph;
  if (index >= emission->node->output_count || emission->node->outputs[index] == ND4C_ONNX_NONE) {
    return false;
  }
  const nd4c_onnx_value *value = nd4c_onnx_graph_value(graph, emission->node->outputs[index]);
  return value->last_use != value->index || graph->keeps_values || emission->importer->options->all_intermediates;
}

nd4c_onnx_kind nd4c_onnx_operand_kind(const nd4c_onnx_emission *emission, nd4c_onnx_operand operand) {
  return operand == ND4C_ONNX_OPERAND_NONE ? ND4C_ONNX_KIND_NONE : emission->importer->slots[operand].kind;
}

nd4c_array *nd4c_onnx_constant_array(const nd4c_onnx_emission *emission, nd4c_onnx_operand operand) {
  return operand == ND4C_ONNX_OPERAND_NONE ? NULL : emission->importer->slots[operand].array;
}

bool nd4c_onnx_is_interpreting(const nd4c_onnx_emission *emission) {
  return emission->importer->graph == NULL;
}

int32_t nd4c_onnx_unrolled(const nd4c_onnx_emission *emission) {
  return emission->importer->unrolled == 0 ? 1 : emission->importer->unrolled;
}

void nd4c_onnx_set_unrolled(const nd4c_onnx_emission *emission, int32_t rounds) {
  emission->importer->unrolled = rounds;
}

int64_t nd4c_onnx_loop_limit(const nd4c_onnx_emission *emission) {
  return emission->importer->options->loop_limit;
}

static nd4c_status need(nd4c_onnx_emission *emission, const char *what, const char *why) {
  nd4c_onnx_importer *importer = emission->importer;
  importer->needs_values = true;
  (void)snprintf(importer->need, sizeof importer->need, "%s: %s %s", nd4c_onnx_node_show(emission->node).text, what,
                 why);
  return nd4c_fail(ND4C_UNSUPPORTED, "%s %s", what, why);
}

nd4c_status nd4c_onnx_need_values(nd4c_onnx_emission *emission, const char *what) {
  return need(emission, what, "depends on the values of the model's inputs");
}

/* -- ops ------------------------------------------------------------------------------------------------------ */

/* Products and windows read their inputs many times. */
static bool reads_many_times(const nd4c_op_def *def) {
  return def->info.category == ND4C_CATEGORY_LINALG || def->info.category == ND4C_CATEGORY_NN;
}

/* Whether computing the op is fast enough. The bytes of the inputs do not show it: a view of one element can have any
 * shape. */
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
  int64_t size = nd4c_dtype_bytes(output->dtype, 1);
  for (int32_t i = 0; i < output->rank && size > 0 && size <= FOLD_BYTES; i++) {
    size = output->shape[i] > FOLD_BYTES / size ? FOLD_BYTES + 1 : size * output->shape[i];
  }
  return size;
}

/* Whether computing the op now gives a view, or results that are small enough. The inputs are all constants. */
static nd4c_status worth_folding(const nd4c_op_def *def, const nd4c_array *const *arrays, int32_t count,
                                 const nd4c_attr *attrs, int32_t attr_count, bool *worth) {
  nd4c_attr_value values[MOST_ATTRS];
  nd4c_tensor tensors[MOST_INPUTS];
  nd4c_inferred outputs[ND4C_ONNX_OUTPUTS];
  int64_t strides[ND4C_MAX_RANK];
  int64_t offset = 0;
  if (def->info.attr_count > MOST_ATTRS) {
    *worth = false;
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_op_resolve_attrs(&def->info, attrs, attr_count, values));
  for (int32_t i = 0; i < count; i++) {
    nd4c_tensor_describe(arrays[i], &tensors[i]);
  }
  nd4c_inference inference = {
      .op = &def->info, .input_count = count, .inputs = tensors, .attrs = values, .outputs = outputs};
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

/* A constant may be a view of one element in any shape. A reduction reads it whole, without the memory for it, and one
 * that the machine could not hold would keep a run busy for minutes or days. */
static nd4c_status check_reduction(const nd4c_op_def *def, const nd4c_array *const *arrays, int32_t count) {
  const int64_t machine = nd4c_os_memory_bytes();
  for (int32_t i = 0; i < count && def->info.category == ND4C_CATEGORY_REDUCTION && machine > 0; i++) {
    int64_t bytes = 0;
    if (arrays[i] != NULL) {
      ND4C_TRY(nd4c_shape_bytes(nd4c_array_dtype(arrays[i]), nd4c_array_rank(arrays[i]), nd4c_array_shape(arrays[i]),
                                &bytes));
    }
    if (bytes > machine) {
      return nd4c_fail(ND4C_MEMORY, "%s reads a constant of %" PRId64 " bytes, and the machine has %" PRId64,
                       def->info.name, bytes, machine);
    }
  }
  return ND4C_OK;
}

/* Computes the op and gives its results as constants. */
static nd4c_status compute(nd4c_onnx_emission *emission, nd4c_op op, const nd4c_array *const *arrays,
                           int32_t input_count, const nd4c_attr *attrs, int32_t attr_count, nd4c_onnx_operand *outputs,
                           int32_t output_count) {
  nd4c_array *results[ND4C_ONNX_OUTPUTS] = {0};
  ND4C_TRY(nd4c_op_call(emission->importer->options->context, op, arrays, input_count, attrs, attr_count, results,
                        output_count));
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < output_count; i++) {
    if (status == ND4C_OK) {
      status = nd4c_emit_constant(&emission->emitter, results[i], &outputs[i]);
    } else {
      nd4c_array_release(results[i]);
    }
  }
  return status;
}

/* The arrays behind the operands; false if one is not known. */
static bool all_known(const nd4c_onnx_emission *emission, const nd4c_onnx_operand *inputs, int32_t count,
                      const nd4c_array **arrays) {
  for (int32_t i = 0; i < count; i++) {
    arrays[i] = nd4c_onnx_constant_array(emission, inputs[i]);
    if (arrays[i] == NULL && inputs[i] != ND4C_ONNX_OPERAND_NONE) {
      return false;
    }
  }
  return true;
}

/* Computes the op if all inputs are known and it is worth it; always if the model is interpreted. Quantised weights
 * stay as they are: the passes quantized_*.c multiply their bytes. */
static nd4c_status try_folding(nd4c_onnx_emission *emission, const nd4c_op_def *def, const nd4c_onnx_operand *inputs,
                               int32_t input_count, const nd4c_attr *attrs, int32_t attr_count, bool *folded,
                               nd4c_onnx_operand *outputs) {
  const nd4c_array *few[MOST_INPUTS];
  const nd4c_array **arrays = few;
  bool interprets = nd4c_onnx_is_interpreting(emission);
  *folded = false;
  if (input_count > MOST_INPUTS) {
    if (!interprets) {
      return ND4C_OK;
    }
    ND4C_TRY(nd4c_onnx_claim(emission, (size_t)input_count, sizeof *arrays, "the inputs of a node", &arrays));
  }
  const bool kept = !interprets && def->info.op == ND4C_OP_dequantize_linear;
  *folded = !kept && !nd4c_onnx_has_symbolic(attrs, attr_count) && all_known(emission, inputs, input_count, arrays);
  if (*folded) {
    ND4C_TRY(check_reduction(def, arrays, input_count));
  }
  if (*folded && !interprets) {
    ND4C_TRY(worth_folding(def, arrays, input_count, attrs, attr_count, folded));
  }
  return *folded
             ? compute(emission, def->info.op, arrays, input_count, attrs, attr_count, outputs, def->info.output_count)
             : ND4C_OK;
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

/* Fast kernels want weights without gaps. A constant that is a broadcast or transposed view is copied when an op that
 * reads it many times is first recorded; a large one stays a view. */
static nd4c_status make_dense(nd4c_onnx_emission *emission, nd4c_onnx_operand operand) {
  nd4c_onnx_operand_slot *slot = &emission->importer->slots[operand];
  if (slot->array == NULL || slot->value != ND4C_VALUE_NONE || nd4c_array_is_contiguous(slot->array) ||
      nd4c_dtype_bytes(nd4c_array_dtype(slot->array), nd4c_array_size(slot->array)) > FOLD_BYTES) {
    return ND4C_OK;
  }
  const nd4c_onnx_import_options *options = emission->importer->options;
  nd4c_array *dense = NULL;
  ND4C_TRY(nd4c_onnx_dense_get(options->dense, options->context, slot->array, &dense));
  nd4c_array_release(slot->array);
  slot->array = dense;
  return ND4C_OK;
}

/* Records the op in the graph. */
static nd4c_status record(nd4c_onnx_emission *emission, const nd4c_op_def *def, const nd4c_onnx_operand *inputs,
                          int32_t input_count, const nd4c_attr *attrs, int32_t attr_count, nd4c_value *results) {
  const bool dense = reads_many_times(def);
  nd4c_value few[MOST_INPUTS];
  nd4c_value *values = few;
  if (input_count > MOST_INPUTS) {
    ND4C_TRY(nd4c_onnx_claim(emission, (size_t)input_count, sizeof *values, "the inputs of a node", &values));
  }
  for (int32_t i = 0; i < input_count; i++) {
    values[i] = ND4C_VALUE_NONE;
    if (inputs[i] != ND4C_ONNX_OPERAND_NONE) {
      ND4C_TRY(dense ? make_dense(emission, inputs[i]) : ND4C_OK);
      ND4C_TRY(nd4c_onnx_value_of(emission->importer, inputs[i], &values[i]));
    }
  }
  char label[LABEL_SIZE];
  label_of(emission->node, label);
  return nd4c_graph_op(emission->importer->graph, def->info.op, values, input_count, attrs, attr_count, label, results,
                       def->info.output_count);
}

static nd4c_status check_emitted(const nd4c_onnx_emission *emission, const nd4c_op_def *def,
                                 const nd4c_onnx_operand *inputs, int32_t input_count) {
  if (def->info.output_count > ND4C_ONNX_OUTPUTS) {
    return nd4c_fail(ND4C_UNSUPPORTED, "%s has %d outputs; an import takes at most %d", def->info.name,
                     (int)def->info.output_count, (int)ND4C_ONNX_OUTPUTS);
  }
  for (int32_t i = 0; i < input_count; i++) {
    nd4c_onnx_kind kind = nd4c_onnx_operand_kind(emission, inputs[i]);
    if (kind == ND4C_ONNX_KIND_SEQUENCE || kind == ND4C_ONNX_KIND_OPTIONAL) {
      return nd4c_fail(ND4C_FORMAT, "an input is a%s; expected an array",
                       kind == ND4C_ONNX_KIND_SEQUENCE ? " sequence" : "n optional");
    }
  }
  return ND4C_OK;
}

/* -- the emitter ----------------------------------------------------------------------------------------------- */

static nd4c_status emit(nd4c_emitter *emitter, const nd4c_op_def *def, const nd4c_emitted *inputs, int32_t input_count,
                        const nd4c_attr *attrs, int32_t attr_count, nd4c_emitted *outputs) {
  nd4c_onnx_emission *emission = (nd4c_onnx_emission *)emitter;
  nd4c_value results[ND4C_ONNX_OUTPUTS];
  int32_t output_count = def->info.output_count;
  bool folded = false;
  ND4C_TRY(check_emitted(emission, def, inputs, input_count));
  ND4C_TRY(nd4c_onnx_fold_extents(emission, def, inputs, input_count, attrs, attr_count, &folded, outputs));
  if (folded) {
    return ND4C_OK;
  }
  ND4C_TRY(try_folding(emission, def, inputs, input_count, attrs, attr_count, &folded, outputs));
  if (folded) {
    return ND4C_OK;
  }
  nd4c_status status = record(emission, def, inputs, input_count, attrs, attr_count, results);
  if (status == ND4C_UNSUPPORTED && !emission->importer->needs_values) {
    /* a graph cannot hold the result, such as a shape that depends on data; the interpreter can compute it */
    emission->importer->needs_values = true;
    (void)snprintf(emission->importer->need, sizeof emission->importer->need, "%s: %s",
                   nd4c_onnx_node_show(emission->node).text, nd4c_error_message());
  }
  for (int32_t i = 0; i < output_count && status == ND4C_OK; i++) {
    status = nd4c_onnx_add_value(emission->importer, results[i], &outputs[i]);
  }
  return status;
}

static nd4c_status add_constant(nd4c_emitter *emitter, nd4c_array *array, nd4c_emitted *output) {
  return nd4c_onnx_add_array(((nd4c_onnx_emission *)emitter)->importer, array, output);
}

/* NONE and rank 0 for an operand that is no array. */
static nd4c_emitted_info describe(const nd4c_emitter *emitter, nd4c_emitted operand) {
  const nd4c_onnx_emission *emission = (const nd4c_onnx_emission *)emitter;
  const nd4c_onnx_operand_slot *slot = &emission->importer->slots[operand];
  nd4c_emitted_info info = {0};
  const int64_t *shape = NULL;
  if (slot->array != NULL) {
    info.dtype = nd4c_array_dtype(slot->array);
    info.rank = nd4c_array_rank(slot->array);
    shape = nd4c_array_shape(slot->array);
  } else if (slot->extents != NULL) {
    info.dtype = slot->dtype;
    info.rank = nd4c_array_rank(slot->extents);
    shape = nd4c_array_shape(slot->extents);
  } else if (slot->known != NULL) {
    info.dtype = slot->known->dtype;
    info.rank = slot->known->rank;
    shape = slot->known->shape;
  } else if (slot->kind == ND4C_ONNX_KIND_ARRAY) {
    (void)nd4c_graph_value_info(emission->importer->graph, slot->value, &info.dtype, &info.rank, &shape);
  }
  if (info.rank > 0) {
    memcpy(info.shape, shape, (size_t)info.rank * sizeof *shape);
  }
  return info;
}

const nd4c_emitter nd4c_onnx_emitter = {.emit = emit, .constant = add_constant, .describe = describe};

/* -- constants ------------------------------------------------------------------------------------------------ */

nd4c_status nd4c_onnx_int64s(nd4c_onnx_emission *emission, int32_t rank, int64_t count, const int64_t *values,
                             nd4c_onnx_operand *output) {
  static const int64_t nothing;
  nd4c_array *array = NULL;
  ND4C_TRY(nd4c_onnx_host_array(ND4C_INT64, rank, &count, count > 0 ? values : &nothing, &array));
  return nd4c_emit_constant(&emission->emitter, array, output);
}

nd4c_status nd4c_onnx_read_array(nd4c_onnx_emission *emission, nd4c_onnx_operand operand, const char *what,
                                 nd4c_array **array) {
  if (nd4c_onnx_operand_kind(emission, operand) != ND4C_ONNX_KIND_ARRAY) {
    return nd4c_fail(ND4C_FORMAT, "%s is %s; expected an array", what,
                     operand == ND4C_ONNX_OPERAND_NONE ? "left out" : "a sequence or optional");
  }
  *array = nd4c_onnx_constant_array(emission, operand);
  if (*array == NULL && emission->importer->slots[operand].extents != NULL) {
    return need(emission, what, "is computed from extents of the model's inputs; this op takes only numbers here");
  }
  return *array != NULL ? ND4C_OK : nd4c_onnx_need_values(emission, what);
}

nd4c_status nd4c_onnx_read_ints(nd4c_onnx_emission *emission, nd4c_onnx_operand operand, const char *what,
                                int32_t limit, int64_t *values, int32_t *count) {
  nd4c_array *array = NULL;
  ND4C_TRY(nd4c_onnx_read_array(emission, operand, what, &array));
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
  /* Read into the upper half of the room, then widened from below. */
  int32_t *narrow = (int32_t *)values + *count;
  ND4C_TRY(nd4c_array_read(array, narrow, (size_t)*count * sizeof *narrow));
  for (int32_t i = 0; i < *count; i++) {
    int32_t value = 0;
    memcpy(&value, (const unsigned char *)narrow + (size_t)i * sizeof value, sizeof value);
    values[i] = value;
  }
  return ND4C_OK;
}

bool nd4c_onnx_is_extents(const nd4c_onnx_emission *emission, nd4c_onnx_operand operand) {
  return operand != ND4C_ONNX_OPERAND_NONE && emission->importer->slots[operand].extents != NULL;
}

nd4c_status nd4c_onnx_read_extents(nd4c_onnx_emission *emission, nd4c_onnx_operand operand, const char *what,
                                   int32_t limit, int64_t *values, int32_t *count) {
  if (!nd4c_onnx_is_extents(emission, operand)) {
    ND4C_TRY(nd4c_onnx_read_ints(emission, operand, what, limit, values, count));
    for (int32_t i = 0; i < *count; i++) {
      ND4C_TRY(nd4c_onnx_check_number(emission, values[i], what));
    }
    return ND4C_OK;
  }
  const nd4c_array *extents = emission->importer->slots[operand].extents;
  const nd4c_dtype dtype = emission->importer->slots[operand].dtype;
  if ((dtype != ND4C_INT64 && dtype != ND4C_INT32) || nd4c_array_rank(extents) > 1 ||
      nd4c_array_size(extents) > limit) {
    return nd4c_fail(ND4C_FORMAT,
                     "%s is %s of rank %d with %" PRId64 " elements; expected at most %d of int64 or int32", what,
                     nd4c_dtype_name(dtype), (int)nd4c_array_rank(extents), nd4c_array_size(extents), (int)limit);
  }
  *count = (int32_t)nd4c_array_size(extents);
  return nd4c_array_read(extents, values, (size_t)*count * sizeof *values);
}

nd4c_status nd4c_onnx_check_number(nd4c_onnx_emission *emission, int64_t extent, const char *what) {
  return nd4c_onnx_extents(emission->importer) != NULL && nd4c_extent_is_symbolic(extent)
             ? nd4c_fail(ND4C_UNSUPPORTED, "%s depends on the extents of the model's inputs", what)
             : ND4C_OK;
}

nd4c_status nd4c_onnx_check_no_dims(nd4c_onnx_emission *emission, const char *what) {
  return nd4c_onnx_extents(emission->importer) == NULL
             ? ND4C_OK
             : nd4c_fail(ND4C_UNSUPPORTED, "%s needs the numbers of all extents", what);
}

nd4c_status nd4c_onnx_read_int(nd4c_onnx_emission *emission, int32_t index, const char *what, int64_t preset,
                               int64_t *value) {
  int32_t count = 0;
  *value = preset;
  if (nd4c_onnx_input(emission, index) == ND4C_ONNX_OPERAND_NONE) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_onnx_read_ints(emission, emission->inputs[index], what, 1, value, &count));
  return count == 1 ? ND4C_OK : nd4c_fail(ND4C_FORMAT, "%s is empty; expected one number", what);
}

nd4c_status nd4c_onnx_read_number(nd4c_onnx_emission *emission, nd4c_onnx_operand operand, const char *what,
                                  double *value) {
  int64_t index[ND4C_MAX_RANK] = {0};
  nd4c_array *array = NULL;
  ND4C_TRY(nd4c_onnx_read_array(emission, operand, what, &array));
  if (nd4c_array_size(array) != 1) {
    return nd4c_fail(ND4C_FORMAT, "%s has %" PRId64 " elements; expected one", what, nd4c_array_size(array));
  }
  return nd4c_array_item(array, index, value);
}

/* -- sequences, optionals, loops ------------------------------------------------------------------------------- */

nd4c_status nd4c_onnx_sequence(nd4c_onnx_emission *emission, nd4c_dtype dtype, const nd4c_onnx_operand *items,
                               int32_t count, nd4c_onnx_operand *output) {
  for (int32_t i = 0; i < count; i++) {
    nd4c_dtype found = nd4c_emitted_get(&emission->emitter, items[i]).dtype;
    dtype = dtype == ND4C_DTYPE_NONE ? found : dtype;
    if (nd4c_onnx_operand_kind(emission, items[i]) != ND4C_ONNX_KIND_ARRAY || found != dtype) {
      return nd4c_fail(ND4C_FORMAT, "item %d of a sequence is %s; expected an array of %s", (int)i,
                       found == ND4C_DTYPE_NONE ? "no array" : nd4c_dtype_name(found), nd4c_dtype_name(dtype));
    }
  }
  return nd4c_onnx_add_list(emission->importer, ND4C_ONNX_KIND_SEQUENCE, dtype, items, count, output);
}

nd4c_status nd4c_onnx_optional(nd4c_onnx_emission *emission, nd4c_onnx_operand item, nd4c_onnx_operand *output) {
  nd4c_onnx_kind kind = nd4c_onnx_operand_kind(emission, item);
  if (kind == ND4C_ONNX_KIND_OPTIONAL) {
    return nd4c_fail(ND4C_FORMAT, "an optional of an optional");
  }
  return nd4c_onnx_add_list(emission->importer, ND4C_ONNX_KIND_OPTIONAL, ND4C_DTYPE_NONE, &item,
                            kind != ND4C_ONNX_KIND_NONE, output);
}

nd4c_status nd4c_onnx_items(nd4c_onnx_emission *emission, nd4c_onnx_operand operand, nd4c_onnx_kind kind,
                            const nd4c_onnx_operand **items, int32_t *count) {
  if (nd4c_onnx_operand_kind(emission, operand) != kind) {
    return nd4c_fail(ND4C_FORMAT, "an input is no %s", kind == ND4C_ONNX_KIND_SEQUENCE ? "sequence" : "optional");
  }
  *items = emission->importer->slots[operand].items;
  *count = emission->importer->slots[operand].count;
  return ND4C_OK;
}

void nd4c_onnx_hold(nd4c_onnx_emission *emission, nd4c_onnx_operand operand) {
  nd4c_onnx_operand_hold(emission->importer, operand);
}

void nd4c_onnx_release(nd4c_onnx_emission *emission, nd4c_onnx_operand operand) {
  nd4c_onnx_operand_release(emission->importer, operand);
}

nd4c_status nd4c_onnx_pass(nd4c_onnx_emission *emission, nd4c_onnx_operand operand) {
  return nd4c_onnx_operand_pass(emission->importer, operand);
}

int32_t nd4c_onnx_mark(const nd4c_onnx_emission *emission) {
  return emission->importer->created_count;
}

void nd4c_onnx_sweep(nd4c_onnx_emission *emission, int32_t mark) {
  nd4c_onnx_operands_sweep(emission->importer, mark);
}
