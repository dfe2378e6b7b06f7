#include "io/onnx/import.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/status.h"
#include "io/onnx/emission.h"

/* A name NUL-terminated, for the graph; those of the model are not. */
static nd4c_status copy_name(nd4c_span name, char **copy) {
  *copy = nd4c_allocate(name.size + 1);
  if (*copy == NULL) {
    return nd4c_fail_memory("a name", name.size + 1);
  }
  memcpy(*copy, name.bytes, name.size);
  (*copy)[name.size] = '\0';
  return ND4C_OK;
}

static nd4c_status declare_inputs(nd4c_onnx_importer *importer) {
  const nd4c_onnx_model *model = importer->model;
  for (int32_t i = 0; i < model->inputs.count; i++) {
    const nd4c_onnx_value_info *info = nd4c_onnx_model_input(model, i);
    nd4c_dtype dtype = ND4C_DTYPE_NONE;
    nd4c_value value = ND4C_VALUE_NONE;
    char *name = NULL;
    ND4C_TRY(nd4c_onnx_dtype_resolve(info->type, &dtype));
    ND4C_TRY(copy_name(info->name, &name));
    nd4c_status status = nd4c_graph_input(importer->graph, name, dtype, importer->options->input_ranks[i],
                                          importer->options->input_shapes[i], &value);
    nd4c_deallocate(name);
    ND4C_TRY(status);
    ND4C_TRY(
        nd4c_onnx_add_slot(importer, (nd4c_onnx_operand_slot){.value = value}, &importer->environment[info->value]));
  }
  return ND4C_OK;
}

/* The operand of a value of the model; an initializer becomes an array when it is first read. */
static nd4c_status operand_of(nd4c_onnx_importer *importer, int32_t number, nd4c_onnx_operand *operand) {
  const nd4c_onnx_value *value = nd4c_onnx_model_value(importer->model, number);
  *operand = importer->environment[number];
  if (*operand != ND4C_ONNX_OPERAND_NONE || value->source != ND4C_ONNX_FROM_INITIALIZER) {
    return ND4C_OK;
  }
  nd4c_array **array = &importer->options->initializers[value->index];
  if (*array == NULL) {
    ND4C_TRY(nd4c_onnx_tensor_array(nd4c_onnx_model_initializer(importer->model, value->index), false, array));
  }
  nd4c_onnx_operand_slot slot = {nd4c_array_retain(*array), ND4C_VALUE_NONE};
  ND4C_TRY(nd4c_onnx_add_slot(importer, slot, &importer->environment[number]));
  *operand = importer->environment[number];
  return ND4C_OK;
}

/* An attribute that nobody asked for could change the result. */
static nd4c_status check_attributes(const nd4c_onnx_emission *emission) {
  const nd4c_onnx_node *node = emission->node;
  for (int32_t i = 0; i < node->attribute_count; i++) {
    if ((emission->used[i / 64] >> (i % 64) & 1) == 0) {
      return nd4c_fail(ND4C_UNSUPPORTED, "attribute %s is not known at opset %" PRId64,
                       nd4c_span_show(node->attributes[i].name).text, emission->opset);
    }
  }
  return ND4C_OK;
}

static nd4c_status emit_into(nd4c_onnx_importer *importer, const nd4c_onnx_node *node, nd4c_onnx_operand *inputs,
                             nd4c_onnx_operand *outputs) {
  for (int32_t i = 0; i < node->input_count; i++) {
    inputs[i] = ND4C_ONNX_OPERAND_NONE;
    if (node->inputs[i] != ND4C_ONNX_NONE) {
      ND4C_TRY(operand_of(importer, node->inputs[i], &inputs[i]));
    }
  }
  for (int32_t i = 0; i < node->output_count; i++) {
    outputs[i] = ND4C_ONNX_OPERAND_NONE;
  }
  nd4c_onnx_emission emission = {.importer = importer,
                                 .model = importer->model,
                                 .node = node,
                                 .opset = node->opset,
                                 .input_count = node->input_count,
                                 .inputs = inputs,
                                 .outputs = outputs};
  nd4c_status status = node->mapping->emit(&emission);
  if (status == ND4C_OK) {
    status = check_attributes(&emission);
  }
  if (status != ND4C_OK) {
    return nd4c_fail_prefix(status, "%s at byte %" PRIu64, nd4c_onnx_node_show(importer->model, node).text,
                            node->offset);
  }
  for (int32_t i = 0; i < node->output_count; i++) {
    if (node->outputs[i] != ND4C_ONNX_NONE) {
      importer->environment[node->outputs[i]] = outputs[i];
    }
  }
  return ND4C_OK;
}

static nd4c_status emit_node(nd4c_onnx_importer *importer, const nd4c_onnx_node *node) {
  enum { FEW = 32 };
  nd4c_onnx_operand few[FEW];
  nd4c_onnx_operand *operands = few;
  size_t count = (size_t)node->input_count + (size_t)node->output_count;
  if (count > FEW) {
    operands = nd4c_allocate(count * sizeof *operands);
    if (operands == NULL) {
      return nd4c_fail_memory("the values of a node", count * sizeof *operands);
    }
  }
  nd4c_status status = emit_into(importer, node, operands, operands + node->input_count);
  if (operands != few) {
    nd4c_deallocate(operands);
  }
  return status;
}

static nd4c_status emit_nodes(nd4c_onnx_importer *importer) {
  const nd4c_onnx_import_options *options = importer->options;
  for (int32_t i = 0; i < importer->model->nodes.count; i++) {
    if (options->progress != NULL) {
      options->progress(options->user, "importing", i, importer->model->nodes.count);
    }
    ND4C_TRY(emit_node(importer, nd4c_onnx_model_node(importer->model, i)));
  }
  if (options->progress != NULL) {
    options->progress(options->user, "importing", importer->model->nodes.count, importer->model->nodes.count);
  }
  return ND4C_OK;
}

/* -- outputs -------------------------------------------------------------------------------------------------- */

static nd4c_status mark_output(nd4c_onnx_importer *importer, int32_t number, int64_t declared_type) {
  nd4c_onnx_operand operand = ND4C_ONNX_OPERAND_NONE;
  nd4c_value value = ND4C_VALUE_NONE;
  nd4c_span slice = nd4c_onnx_model_value(importer->model, number)->name;
  char *name = NULL;
  ND4C_TRY(operand_of(importer, number, &operand));
  ND4C_TRY(nd4c_onnx_graph_value(importer, operand, &value));
  if (declared_type != 0) {
    nd4c_dtype declared = ND4C_DTYPE_NONE;
    nd4c_dtype dtype = ND4C_DTYPE_NONE;
    int32_t rank = 0;
    const int64_t *shape = NULL;
    ND4C_TRY(nd4c_onnx_dtype_resolve(declared_type, &declared));
    ND4C_TRY(nd4c_graph_value_info(importer->graph, value, &dtype, &rank, &shape));
    if (declared != dtype) {
      return nd4c_fail(ND4C_FORMAT, "output %s is declared as %s, but its node gives %s", nd4c_span_show(slice).text,
                       nd4c_dtype_name(declared), nd4c_dtype_name(dtype));
    }
  }
  ND4C_TRY(copy_name(slice, &name));
  nd4c_status status = nd4c_graph_output(importer->graph, name, value);
  nd4c_deallocate(name);
  return status;
}

static bool is_output(const nd4c_onnx_model *model, int32_t number) {
  for (int32_t i = 0; i < model->outputs.count; i++) {
    if (nd4c_onnx_model_output(model, i)->value == number) {
      return true;
    }
  }
  return false;
}

int32_t nd4c_onnx_intermediates(const nd4c_onnx_model *model, int32_t *numbers) {
  int32_t count = 0;
  for (int32_t i = 0; i < model->nodes.count; i++) {
    const nd4c_onnx_node *node = nd4c_onnx_model_node(model, i);
    for (int32_t j = 0; j < node->output_count && j < node->mapping->outputs; j++) {
      int32_t number = node->outputs[j];
      if (number == ND4C_ONNX_NONE || is_output(model, number)) {
        continue;
      }
      if (numbers != NULL) {
        numbers[count] = number;
      }
      count++;
    }
  }
  return count;
}

static nd4c_status mark_intermediates(nd4c_onnx_importer *importer) {
  int32_t count = nd4c_onnx_intermediates(importer->model, NULL);
  int32_t *numbers = nd4c_allocate((size_t)count * sizeof *numbers);
  if (numbers == NULL) {
    return nd4c_fail_memory("the intermediates of a model", (size_t)count * sizeof *numbers);
  }
  nd4c_status status = ND4C_OK;
  (void)nd4c_onnx_intermediates(importer->model, numbers);
  for (int32_t i = 0; i < count && status == ND4C_OK; i++) {
    status = mark_output(importer, numbers[i], 0);
  }
  nd4c_deallocate(numbers);
  return status;
}

static nd4c_status build(nd4c_onnx_importer *importer) {
  ND4C_TRY(nd4c_graph_create(&importer->graph));
  ND4C_TRY(declare_inputs(importer));
  ND4C_TRY(emit_nodes(importer));
  for (int32_t i = 0; i < importer->model->outputs.count; i++) {
    const nd4c_onnx_value_info *info = nd4c_onnx_model_output(importer->model, i);
    ND4C_TRY(mark_output(importer, info->value, info->is_tensor ? info->type : 0));
  }
  return importer->options->all_intermediates ? mark_intermediates(importer) : ND4C_OK;
}

nd4c_status nd4c_onnx_import(const nd4c_onnx_model *model, const nd4c_onnx_import_options *options,
                             nd4c_graph **graph) {
  nd4c_onnx_importer importer = {.model = model, .options = options};
  size_t count = (size_t)model->values.count;
  importer.environment = nd4c_allocate(count * sizeof *importer.environment);
  if (importer.environment == NULL) {
    return nd4c_fail_memory("the values of a model", count * sizeof *importer.environment);
  }
  for (size_t i = 0; i < count; i++) {
    importer.environment[i] = ND4C_ONNX_OPERAND_NONE;
  }
  nd4c_status status = build(&importer);
  for (int32_t i = 0; i < importer.slot_count; i++) {
    nd4c_array_release(importer.slots[i].array);
  }
  nd4c_deallocate(importer.slots);
  nd4c_deallocate(importer.environment);
  if (status != ND4C_OK) {
    nd4c_graph_destroy(importer.graph);
    return status;
  }
  *graph = importer.graph;
  return ND4C_OK;
}
