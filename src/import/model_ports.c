/* Inputs and outputs of a model: describes what is declared when model.c opens it, and checks the inputs that
 * model_run.c is given. */
#include <inttypes.h>
#include <stdio.h>

#include "array/array.h"
#include "array/shape.h"
#include "base/status.h"
#include "base/text.h"
#include "import/model_internal.h"
#include "io/datum.h"

/* -- description ---------------------------------------------------------------------------------------------- */

static nd4c_status keep_text(nd4c_model *model, nd4c_span slice, const char **text) {
  char *copy = NULL;
  ND4C_TRY(nd4c_region_claim(&model->region, slice.size + 1, 1, "a name", &copy));
  if (slice.size > 0) {
    memcpy(copy, slice.bytes, slice.size);
  }
  *text = copy;
  return ND4C_OK;
}

static nd4c_status describe_port(nd4c_model *model, const nd4c_onnx_value_info *info, nd4c_model_port *port) {
  ND4C_TRY(keep_text(model, info->name, &port->name));
  const nd4c_onnx_dtype *row = nd4c_onnx_dtype_get(info->type);
  port->dtype = row == NULL ? ND4C_DTYPE_NONE : row->dtype;
  port->rank = info->rank;
  port->kind_count = info->kind_count;
  for (int32_t i = 0; i < info->kind_count; i++) {
    port->kinds[i] = (nd4c_datum_kind)info->kinds[i];
  }
  size_t rank = info->rank > 0 ? (size_t)info->rank : 0;
  ND4C_TRY(nd4c_region_claim(&model->region, rank, sizeof *port->shape, "a shape", &port->shape));
  ND4C_TRY(nd4c_region_claim(&model->region, rank, sizeof *port->symbols, "a shape", &port->symbols));
  for (size_t i = 0; i < rank; i++) {
    port->shape[i] = info->shape[i];
    if (info->symbols[i].size > 0) {
      ND4C_TRY(keep_text(model, info->symbols[i], &port->symbols[i]));
    }
  }
  return ND4C_OK;
}

/* The declaration of each value in the file, by the value's number; NULL: there is none. */
static nd4c_status index_value_infos(nd4c_model *model, const nd4c_onnx_value_info ***infos) {
  size_t count = (size_t)model->onnx.graph.values.count;
  ND4C_TRY(nd4c_region_claim(&model->region, count, sizeof **infos, "declared values", infos));
  for (int32_t i = 0; i < model->onnx.graph.value_infos.count; i++) {
    const nd4c_onnx_value_info *info = (const nd4c_onnx_value_info *)model->onnx.graph.value_infos.items + i;
    (*infos)[info->value] = info;
  }
  return ND4C_OK;
}

static nd4c_status describe_intermediates(nd4c_model *model, int32_t count, nd4c_model_port *ports) {
  int32_t *numbers = NULL;
  const nd4c_onnx_value_info **infos = NULL;
  ND4C_TRY(nd4c_region_claim(&model->region, (size_t)count, sizeof *numbers, "the intermediates", &numbers));
  ND4C_TRY(index_value_infos(model, &infos));
  (void)nd4c_onnx_intermediates(&model->onnx, numbers);
  for (int32_t i = 0; i < count; i++) {
    nd4c_onnx_value_info unknown = {.name = nd4c_onnx_graph_value(&model->onnx.graph, numbers[i])->name, .rank = -1};
    const nd4c_onnx_value_info *info = infos[numbers[i]];
    ND4C_TRY(describe_port(model, info != NULL ? info : &unknown, &ports[i]));
  }
  return ND4C_OK;
}

nd4c_status nd4c_model_describe(nd4c_model *model) {
  const nd4c_onnx_model *onnx = &model->onnx;
  int32_t more = model->all_intermediates ? nd4c_onnx_intermediates(onnx, NULL) : 0;
  model->input_count = onnx->graph.inputs.count;
  model->output_count = onnx->graph.outputs.count + more;
  ND4C_TRY(
      nd4c_region_claim(&model->region, (size_t)model->input_count, sizeof *model->inputs, "inputs", &model->inputs));
  ND4C_TRY(nd4c_region_claim(&model->region, (size_t)model->output_count, sizeof *model->outputs, "outputs",
                             &model->outputs));
  model->default_count = onnx->graph.defaults.count;
  ND4C_TRY(nd4c_region_claim(&model->region, (size_t)model->default_count, sizeof *model->defaults, "inputs",
                             &model->defaults));
  for (int32_t i = 0; i < model->input_count; i++) {
    ND4C_TRY(describe_port(model, nd4c_onnx_graph_input(&onnx->graph, i), &model->inputs[i]));
  }
  for (int32_t i = 0; i < model->default_count; i++) {
    ND4C_TRY(describe_port(model, (const nd4c_onnx_value_info *)onnx->graph.defaults.items + i, &model->defaults[i]));
  }
  for (int32_t i = 0; i < onnx->graph.outputs.count; i++) {
    ND4C_TRY(describe_port(model, nd4c_onnx_graph_output(&onnx->graph, i), &model->outputs[i]));
  }
  return more > 0 ? describe_intermediates(model, more, model->outputs + onnx->graph.outputs.count) : ND4C_OK;
}

/* -- what is given -------------------------------------------------------------------------------------------- */

/* "(batch, 3, ?)" */
static void print_declared(const nd4c_model_port *port, nd4c_text *text) {
  nd4c_text_print(text, "(");
  for (int32_t i = 0; i < port->rank; i++) {
    if (port->shape[i] >= 0) {
      nd4c_text_print(text, "%s%" PRId64, i > 0 ? ", " : "", port->shape[i]);
    } else {
      nd4c_text_print(text, "%s%s", i > 0 ? ", " : "", port->symbols[i] != NULL ? port->symbols[i] : "?");
    }
  }
  nd4c_text_print(text, port->rank == 1 ? ",)" : ")");
}

static nd4c_status fail_shape(const char *what, const nd4c_model_port *port, const nd4c_array *array) {
  char given[512];
  nd4c_text expected = {0};
  print_declared(port, &expected);
  nd4c_shape_text(nd4c_array_rank(array), nd4c_array_shape(array), given, sizeof given);
  nd4c_status status = nd4c_fail(ND4C_SHAPE, "%s '%s' has shape %s, expected %s", what, port->name, given,
                                 expected.failed ? "(no memory for it)" : expected.bytes);
  nd4c_text_free(&expected);
  return status;
}

nd4c_status nd4c_model_check_port(const char *what, const nd4c_model_port *port, const nd4c_array *array) {
  if (nd4c_array_dtype(array) != port->dtype) {
    return nd4c_fail(ND4C_DTYPE, "%s '%s' is %s, expected %s", what, port->name,
                     nd4c_dtype_name(nd4c_array_dtype(array)), nd4c_dtype_name(port->dtype));
  }
  if (port->rank < 0) {
    return ND4C_OK;
  }
  bool agrees = nd4c_array_rank(array) == port->rank;
  for (int32_t i = 0; agrees && i < port->rank; i++) {
    agrees = port->shape[i] < 0 || port->shape[i] == nd4c_array_shape(array)[i];
  }
  return agrees ? ND4C_OK : fail_shape(what, port, array);
}

/* Refuses an axis whose symbol stands for another extent on an earlier axis. */
static nd4c_status check_symbols(const nd4c_model *model, const nd4c_array *const *ordered, int32_t input,
                                 int32_t axis) {
  const char *symbol = model->inputs[input].symbols[axis];
  int64_t extent = nd4c_array_shape(ordered[input])[axis];
  for (int32_t i = 0; i <= input; i++) {
    const nd4c_model_port *port = &model->inputs[i];
    for (int32_t j = 0; j < port->rank && (i < input || j < axis); j++) {
      if (port->symbols[j] != NULL && strcmp(port->symbols[j], symbol) == 0 &&
          nd4c_array_shape(ordered[i])[j] != extent) {
        return nd4c_fail(ND4C_SHAPE, "input '%s' has %" PRId64 " for '%s' (axis %d), but input '%s' has %" PRId64,
                         model->inputs[input].name, extent, symbol, (int)axis, port->name,
                         nd4c_array_shape(ordered[i])[j]);
      }
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_model_check_symbols(const nd4c_model *model, const nd4c_array *const *ordered) {
  for (int32_t i = 0; i < model->input_count; i++) {
    for (int32_t j = 0; j < model->inputs[i].rank; j++) {
      if (model->inputs[i].symbols[j] != NULL) {
        ND4C_TRY(check_symbols(model, ordered, i, j));
      }
    }
  }
  return ND4C_OK;
}

static nd4c_status fail_name(const nd4c_model *model, const char *name) {
  nd4c_text names = {0};
  for (int32_t i = 0; i < model->default_count; i++) {
    if (strcmp(model->defaults[i].name, name) == 0) {
      return nd4c_fail(ND4C_NAME, "input %s has an initializer; a model opened with it in options.overridden takes it",
                       nd4c_span_show(nd4c_span_of_text(name)).text);
    }
  }
  for (int32_t i = 0; i < model->input_count; i++) {
    nd4c_text_print(&names, "%s'%s'", i > 0 ? ", " : "", model->inputs[i].name);
  }
  nd4c_status status =
      nd4c_fail(ND4C_NAME, "the model has no input %s; it has %s", nd4c_span_show(nd4c_span_of_text(name)).text,
                names.failed          ? "(no memory for the list)"
                : names.bytes != NULL ? names.bytes
                                      : "none");
  nd4c_text_free(&names);
  return status;
}

/* The number of the input with this name. */
static nd4c_status find_input(const nd4c_model *model, const char *name, int32_t *index) {
  for (*index = 0; *index < model->input_count; ++*index) {
    if (strcmp(model->inputs[*index].name, name) == 0) {
      return ND4C_OK;
    }
  }
  return fail_name(model, name);
}

enum { INPUT_TEXT = 256 };

static const char *input_text(const char *name, char text[INPUT_TEXT]) {
  (void)snprintf(text, INPUT_TEXT, "input '%s'", name);
  return text;
}

static nd4c_status check_given(const char *const *names, const void *inputs, int32_t count) {
  if (count < 0) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_model_run: input_count is %d, expected at least 0", (int)count);
  }
  if (count > 0 && (names == NULL || inputs == NULL)) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_model_run: %s is NULL, but input_count is %d",
                     names == NULL ? "input_names" : "inputs", (int)count);
  }
  for (int32_t i = 0; i < count; i++) {
    if (names[i] == NULL) {
      return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_model_run: the name of input %d is NULL", (int)i);
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_model_match(const nd4c_model *model, const char *const *names, const nd4c_array *const *inputs,
                             int32_t count, const nd4c_array **ordered) {
  ND4C_TRY(check_given(names, (const void *)inputs, count));
  for (int32_t i = 0; i < count; i++) {
    int32_t index = 0;
    if (nd4c_array_check(inputs[i], "array") != ND4C_OK) {
      char text[INPUT_TEXT];
      return nd4c_array_check(inputs[i], input_text(names[i], text));
    }
    ND4C_TRY(find_input(model, names[i], &index));
    if (ordered[index] != NULL) {
      return nd4c_fail(ND4C_NAME, "input '%s' is given twice", names[i]);
    }
    ordered[index] = inputs[i];
  }
  for (int32_t i = 0; i < model->input_count; i++) {
    if (ordered[i] == NULL) {
      return nd4c_fail(ND4C_NAME, "input '%s' of the model is not given", model->inputs[i].name);
    }
    ND4C_TRY(nd4c_model_check_port("input", &model->inputs[i], ordered[i]));
  }
  return nd4c_model_check_symbols(model, ordered);
}

/* -- data ----------------------------------------------------------------------------------------------------- */

const nd4c_model_port *nd4c_model_odd_port(const nd4c_model *model) {
  for (int32_t i = 0; i < model->input_count; i++) {
    if (model->inputs[i].kind_count > 1) {
      return &model->inputs[i];
    }
  }
  for (int32_t i = 0; i < model->output_count; i++) {
    if (model->outputs[i].kind_count > 1) {
      return &model->outputs[i];
    }
  }
  return NULL;
}

/* Refuses a datum whose kinds are not those that the port declares from `level` on, or that has another dtype. */
static nd4c_status check_datum(const nd4c_model_port *port, int32_t level, const nd4c_datum *datum) {
  static const char *const names[] = {"nothing", "an array", "a sequence", "an optional"};
  nd4c_datum_kind kind = nd4c_datum_get_kind(datum);
  if (level == port->kind_count || kind != port->kinds[level]) {
    return nd4c_fail(ND4C_ARGUMENT, "input '%s' is or holds %s, expected %s", port->name, names[kind],
                     names[level == port->kind_count ? 0 : port->kinds[level]]);
  }
  nd4c_dtype dtype = nd4c_datum_dtype(datum);
  if (dtype != ND4C_DTYPE_NONE && dtype != port->dtype) {
    return nd4c_fail(ND4C_DTYPE, "input '%s' is or holds %s, expected %s", port->name, nd4c_dtype_name(dtype),
                     nd4c_dtype_name(port->dtype));
  }
  for (int32_t i = 0; i < nd4c_datum_count(datum); i++) {
    ND4C_TRY(check_datum(port, level + 1, nd4c_datum_item(datum, i)));
  }
  return port->kind_count == 1 ? nd4c_model_check_port("input", port, nd4c_datum_array(datum)) : ND4C_OK;
}

nd4c_status nd4c_model_match_data(const nd4c_model *model, const char *const *names, const nd4c_datum *const *inputs,
                                  int32_t count, const nd4c_datum **ordered) {
  ND4C_TRY(check_given(names, (const void *)inputs, count));
  for (int32_t i = 0; i < count; i++) {
    int32_t index = 0;
    if (nd4c_datum_check(inputs[i], "datum") != ND4C_OK) {
      char text[INPUT_TEXT];
      return nd4c_datum_check(inputs[i], input_text(names[i], text));
    }
    ND4C_TRY(find_input(model, names[i], &index));
    if (ordered[index] != NULL) {
      return nd4c_fail(ND4C_NAME, "input '%s' is given twice", names[i]);
    }
    ordered[index] = inputs[i];
  }
  for (int32_t i = 0; i < model->input_count; i++) {
    if (ordered[i] == NULL) {
      return nd4c_fail(ND4C_NAME, "input '%s' of the model is not given", model->inputs[i].name);
    }
    ND4C_TRY(check_datum(&model->inputs[i], 0, ordered[i]));
  }
  return ND4C_OK;
}
