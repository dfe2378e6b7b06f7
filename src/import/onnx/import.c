/* Implements import.h: binds the inputs, runs the nodes (emission/scope.c) and collects the outputs.
 * import/model_plans.c imports graphs; import/model_run.c interprets. */
#include "import/onnx/import.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/text.h"
#include "import/onnx/importer.h"

nd4c_status nd4c_onnx_copy_name(nd4c_span name, char **copy) {
  *copy = nd4c_allocate(name.size + 1);
  if (*copy == NULL) {
    return nd4c_fail_memory("a name", name.size + 1);
  }
  memcpy(*copy, name.bytes, name.size);
  (*copy)[name.size] = '\0';
  return ND4C_OK;
}

/* -- inputs --------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_onnx_describe_input(nd4c_onnx_importer *importer, int32_t index, nd4c_dtype *dtype, int32_t *rank,
                                     int64_t shape[ND4C_MAX_RANK]) {
  const nd4c_onnx_value_info *info = nd4c_onnx_graph_input(&importer->model->graph, index);
  const nd4c_onnx_import_options *options = importer->options;
  ND4C_TRY(nd4c_onnx_dtype_resolve(info->type, dtype));
  if (options->input_ranks == NULL) {
    *rank = info->rank;
    return nd4c_onnx_declare_shape(importer, info, shape);
  }
  *rank = options->input_ranks[index];
  for (int32_t i = 0; i < *rank; i++) {
    shape[i] = options->input_shapes[index][i];
  }
  return ND4C_OK;
}

static nd4c_status declare_input(nd4c_onnx_importer *importer, int32_t index, nd4c_onnx_operand *operand) {
  int64_t shape[ND4C_MAX_RANK];
  int32_t rank = 0;
  nd4c_dtype dtype = ND4C_DTYPE_NONE;
  nd4c_value value = ND4C_VALUE_NONE;
  char *name = NULL;
  ND4C_TRY(nd4c_onnx_describe_input(importer, index, &dtype, &rank, shape));
  ND4C_TRY(nd4c_onnx_copy_name(nd4c_onnx_graph_input(&importer->model->graph, index)->name, &name));
  nd4c_status status = nd4c_graph_input(importer->graph, name, dtype, rank, shape, &value);
  nd4c_deallocate(name);
  ND4C_TRY(status);
  return nd4c_onnx_add_value(importer, value, operand);
}

/* inputs NULL: declares the inputs of a graph. */
nd4c_status nd4c_onnx_bind_inputs(nd4c_onnx_importer *importer, const nd4c_onnx_scope *scope,
                                  const nd4c_datum *const *inputs) {
  for (int32_t i = 0; i < scope->graph->inputs.count; i++) {
    nd4c_onnx_operand operand = ND4C_ONNX_OPERAND_NONE;
    ND4C_TRY(inputs == NULL ? declare_input(importer, i, &operand)
                            : nd4c_onnx_operand_of_datum(importer, inputs[i], &operand));
    nd4c_onnx_scope_bind(importer, scope, nd4c_onnx_graph_input(scope->graph, i)->value, operand);
  }
  return ND4C_OK;
}

/* -- outputs -------------------------------------------------------------------------------------------------- */

static bool is_output(const nd4c_onnx_graph *graph, int32_t number) {
  return nd4c_onnx_graph_value(graph, number)->last_use == INT32_MAX;
}

int32_t nd4c_onnx_intermediates(const nd4c_onnx_model *model, int32_t *numbers) {
  const nd4c_onnx_graph *graph = &model->graph;
  int32_t count = 0;
  for (int32_t i = 0; i < graph->nodes.count; i++) {
    const nd4c_onnx_node *node = nd4c_onnx_graph_node(graph, i);
    int32_t made = node->mapping != NULL ? node->mapping->outputs : node->output_count;
    for (int32_t j = 0; j < node->output_count && j < made; j++) {
      int32_t number = node->outputs[j];
      if (number == ND4C_ONNX_NONE || is_output(graph, number)) {
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

/* Numbers of all outputs, to be freed with nd4c_deallocate. */
static nd4c_status list_outputs(const nd4c_onnx_importer *importer, int32_t **numbers, int32_t *count) {
  const nd4c_onnx_graph *graph = &importer->model->graph;
  int32_t own = graph->outputs.count;
  int32_t more = importer->options->all_intermediates ? nd4c_onnx_intermediates(importer->model, NULL) : 0;
  *numbers = nd4c_allocate(((size_t)own + (size_t)more) * sizeof **numbers);
  if (*numbers == NULL) {
    return nd4c_fail_memory("the outputs of a model", ((size_t)own + (size_t)more) * sizeof **numbers);
  }
  for (int32_t i = 0; i < own; i++) {
    (*numbers)[i] = nd4c_onnx_graph_output(graph, i)->value;
  }
  if (more > 0) {
    (void)nd4c_onnx_intermediates(importer->model, *numbers + own);
  }
  *count = own + more;
  return ND4C_OK;
}

static nd4c_status check_dtype(const nd4c_onnx_value_info *info, nd4c_dtype dtype) {
  nd4c_dtype declared = ND4C_DTYPE_NONE;
  if (info->kind_count != 1 || info->type == 0) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_onnx_dtype_resolve(info->type, &declared));
  return declared == dtype
             ? ND4C_OK
             : nd4c_fail(ND4C_FORMAT, "output %s is declared as %s, but its node gives %s",
                         nd4c_span_show(info->name).text, nd4c_dtype_name(declared), nd4c_dtype_name(dtype));
}

/* "(2, ?, 3)": what is not known is "?". */
static void tell_shape(nd4c_text *text, int32_t rank, const int64_t *shape) {
  for (int32_t i = 0; i < rank; i++) {
    nd4c_text_print(text, "%s", i == 0 ? "(" : ", ");
    if (shape[i] < 0 || nd4c_extent_is_symbolic(shape[i])) {
      nd4c_text_print(text, "?");
    } else {
      nd4c_text_print(text, "%" PRId64, shape[i]);
    }
  }
  nd4c_text_print(text, "%s", rank == 0 ? "()" : rank == 1 ? ",)" : ")");
}

/* Notes a shape that contradicts the declared one: files are used with such declarations, so it is not refused. */
static nd4c_status compare_shape(const nd4c_onnx_value_info *info, nd4c_emitted_info given, nd4c_onnx_remark *remark) {
  bool agrees = info->rank < 0 || info->rank == given.rank;
  for (int32_t i = 0; i < info->rank && agrees; i++) {
    agrees = info->shape[i] < 0 || nd4c_extent_is_symbolic(given.shape[i]) || info->shape[i] == given.shape[i];
  }
  if (agrees || info->kind_count != 1 || atomic_load_explicit(remark, memory_order_relaxed) != NULL) {
    return ND4C_OK;
  }
  nd4c_text text = {0};
  char *told = NULL, *none = NULL;
  nd4c_text_print(&text, "output %s is declared with shape ", nd4c_span_show(info->name).text);
  tell_shape(&text, info->rank, info->shape);
  nd4c_text_print(&text, ", but the model gives ");
  tell_shape(&text, given.rank, given.shape);
  ND4C_TRY(nd4c_text_take(&text, &told));
  if (!atomic_compare_exchange_strong(remark, &none, told)) {
    nd4c_free(told); /* another run was first */
  }
  return ND4C_OK;
}

/* The operand of output value `number`. */
static nd4c_status read_output(nd4c_onnx_importer *importer, const nd4c_onnx_scope *scope, int32_t number,
                               nd4c_onnx_operand *operand) {
  ND4C_TRY(nd4c_onnx_scope_read(importer, scope, number, operand));
  if (*operand == ND4C_ONNX_OPERAND_NONE) {
    return nd4c_fail(ND4C_FORMAT, "output %s has no value",
                     nd4c_span_show(nd4c_onnx_graph_value(scope->graph, number)->name).text);
  }
  return ND4C_OK;
}

static nd4c_status mark_output(nd4c_onnx_importer *importer, const nd4c_onnx_scope *scope, int32_t number) {
  nd4c_onnx_operand operand = ND4C_ONNX_OPERAND_NONE;
  nd4c_value value = ND4C_VALUE_NONE;
  nd4c_span slice = nd4c_onnx_graph_value(scope->graph, number)->name;
  char *name = NULL;
  ND4C_TRY(read_output(importer, scope, number, &operand));
  if (importer->slots[operand].kind != ND4C_ONNX_KIND_ARRAY) {
    importer->needs_values = true;
    (void)snprintf(importer->need, sizeof importer->need, "output %s is a sequence or optional",
                   nd4c_span_show(slice).text);
    return nd4c_fail(ND4C_UNSUPPORTED, "%s", importer->need);
  }
  ND4C_TRY(nd4c_onnx_value_of(importer, operand, &value));
  ND4C_TRY(nd4c_onnx_copy_name(slice, &name));
  nd4c_status status = nd4c_graph_output(importer->graph, name, value);
  nd4c_deallocate(name);
  return status;
}

/* Checks the declared dtypes of outputs that are arrays, and compares their shapes. */
static nd4c_status check_outputs(nd4c_onnx_importer *importer, const nd4c_onnx_scope *scope) {
  nd4c_onnx_emission emission = {.emitter = nd4c_onnx_emitter, .importer = importer, .scope = scope};
  for (int32_t i = 0; i < scope->graph->outputs.count; i++) {
    const nd4c_onnx_value_info *info = nd4c_onnx_graph_output(scope->graph, i);
    nd4c_onnx_operand operand = ND4C_ONNX_OPERAND_NONE;
    ND4C_TRY(read_output(importer, scope, info->value, &operand));
    if (importer->slots[operand].kind == ND4C_ONNX_KIND_ARRAY) {
      const nd4c_emitted_info given = nd4c_emitted_get(&emission.emitter, operand);
      ND4C_TRY(check_dtype(info, given.dtype));
      if (importer->options->contradictions != NULL) {
        ND4C_TRY(compare_shape(info, given, &importer->options->contradictions[i]));
      }
    }
  }
  return ND4C_OK;
}

static nd4c_status mark_outputs(nd4c_onnx_importer *importer, const nd4c_onnx_scope *scope) {
  int32_t *numbers = NULL;
  int32_t count = 0;
  ND4C_TRY(list_outputs(importer, &numbers, &count));
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < count && status == ND4C_OK; i++) {
    status = mark_output(importer, scope, numbers[i]);
  }
  nd4c_deallocate(numbers);
  return status;
}

/* Gives an output to the caller. A value that is declared as optional becomes an optional. */
static nd4c_status give_output(nd4c_onnx_importer *importer, const nd4c_onnx_value_info *info,
                               nd4c_onnx_operand operand, nd4c_datum **output) {
  nd4c_datum *datum = NULL;
  ND4C_TRY(nd4c_onnx_datum_of_operand(importer, operand, &datum));
  bool wrap = info != NULL && info->kind_count > 0 && info->kinds[0] == ND4C_ONNX_KIND_OPTIONAL &&
              nd4c_datum_get_kind(datum) != ND4C_DATUM_OPTIONAL;
  if (!wrap) {
    *output = datum;
    return ND4C_OK;
  }
  nd4c_status status = nd4c_datum_of_optional(datum, output);
  nd4c_datum_release(datum);
  return status;
}

nd4c_status nd4c_onnx_give_outputs(nd4c_onnx_importer *importer, const nd4c_onnx_scope *scope, nd4c_datum **outputs) {
  const nd4c_onnx_graph *graph = scope->graph;
  int32_t *numbers = NULL;
  int32_t count = 0;
  ND4C_TRY(check_outputs(importer, scope));
  ND4C_TRY(list_outputs(importer, &numbers, &count));
  nd4c_status status = ND4C_OK;
  int32_t given = 0;
  for (; given < count && status == ND4C_OK; given++) {
    nd4c_onnx_operand operand = ND4C_ONNX_OPERAND_NONE;
    outputs[given] = NULL;
    status = read_output(importer, scope, numbers[given], &operand);
    if (status == ND4C_OK) {
      const nd4c_onnx_value_info *info = given < graph->outputs.count ? nd4c_onnx_graph_output(graph, given) : NULL;
      status = give_output(importer, info, operand, &outputs[given]);
    }
  }
  for (int32_t i = 0; status != ND4C_OK && i < given; i++) {
    nd4c_datum_release(outputs[i]);
    outputs[i] = NULL;
  }
  nd4c_deallocate(numbers);
  return status;
}

/* -- the whole ------------------------------------------------------------------------------------------------- */

static nd4c_status run_model(nd4c_onnx_importer *importer, const nd4c_onnx_scope *scope,
                             const nd4c_datum *const *inputs, nd4c_datum **outputs) {
  ND4C_TRY(nd4c_onnx_bind_inputs(importer, scope, inputs));
  ND4C_TRY(nd4c_onnx_scope_run(importer, scope));
  if (outputs != NULL) {
    return nd4c_onnx_give_outputs(importer, scope, outputs);
  }
  ND4C_TRY(check_outputs(importer, scope));
  return mark_outputs(importer, scope);
}

static nd4c_status run(nd4c_onnx_importer *importer, const nd4c_datum *const *inputs, nd4c_datum **outputs) {
  nd4c_onnx_scope scope = {.graph = &importer->model->graph};
  importer->free_slot = ND4C_ONNX_OPERAND_NONE;
  nd4c_status status = nd4c_onnx_scope_open(importer, &scope);
  if (status == ND4C_OK) {
    status = run_model(importer, &scope, inputs, outputs);
    nd4c_onnx_scope_close(importer, &scope);
  }
  nd4c_onnx_operands_free(importer);
  return status;
}

nd4c_status nd4c_onnx_import(const nd4c_onnx_model *model, const nd4c_onnx_import_options *options, nd4c_graph **graph,
                             char **need) {
  nd4c_onnx_importer importer = {.model = model, .options = options};
  *need = NULL;
  ND4C_TRY(nd4c_graph_create(&importer.graph));
  nd4c_status status = run(&importer, NULL, NULL);
  if (status == ND4C_OK) {
    *graph = importer.graph;
    return ND4C_OK;
  }
  nd4c_graph_destroy(importer.graph);
  if (status == ND4C_UNSUPPORTED && importer.needs_values) {
    *need = nd4c_duplicate_text(importer.need);
    return *need != NULL ? status : nd4c_fail_memory("a report", strlen(importer.need));
  }
  return status;
}

nd4c_status nd4c_onnx_interpret(const nd4c_onnx_model *model, const nd4c_onnx_import_options *options,
                                const nd4c_datum *const *inputs, nd4c_datum **outputs) {
  static const nd4c_datum *const none[1];
  nd4c_onnx_importer importer = {.model = model, .options = options};
  return run(&importer, inputs != NULL ? inputs : none, outputs);
}
