/* What a model says about its outputs beside their declarations: the classes of those that are probabilities in place
 * of maps. Programs ask for the classes; model.c appends the lines of the report. */
#include <inttypes.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/text.h"
#include "import/model_internal.h"

static nd4c_status array_of_texts(const nd4c_onnx_attribute *attribute, nd4c_array **array) {
  const int64_t count = attribute->count;
  const char **texts = NULL;
  int64_t *lengths = NULL;
  ND4C_TRY(nd4c_allocate_or_fail((size_t)count, sizeof *texts, "classes", &texts));
  nd4c_status status = nd4c_allocate_or_fail((size_t)count, sizeof *lengths, "classes", &lengths);
  for (int64_t i = 0; i < count && status == ND4C_OK; i++) {
    texts[i] = attribute->strings[i].size > 0 ? (const char *)attribute->strings[i].bytes : "";
    lengths[i] = (int64_t)attribute->strings[i].size;
  }
  status = status == ND4C_OK ? nd4c_array_from_strings(1, &count, texts, lengths, array) : status;
  nd4c_deallocate(lengths);
  nd4c_deallocate(texts);
  return status;
}

nd4c_status nd4c_model_classes(const nd4c_model *model, int32_t index, nd4c_array **classes) {
  ND4C_TRY(nd4c_model_check(model));
  if (classes == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_model_classes: classes is NULL");
  }
  if (index < 0 || index >= model->output_count) {
    return nd4c_fail(ND4C_INDEX, "nd4c_model_classes: the model has %d outputs, not one number %d",
                     (int)model->output_count, (int)index);
  }
  const nd4c_onnx_attribute *found =
      index < model->onnx.graph.outputs.count ? nd4c_onnx_map_classes(&model->onnx, index) : NULL;
  nd4c_array *made = NULL;
  if (found != NULL) {
    const int64_t count = found->count;
    ND4C_TRY(found->type == ND4C_ONNX_ATTR_STRINGS
                 ? array_of_texts(found, &made)
                 : nd4c_array_from_data(ND4C_INT64, 1, &count, found->ints, NULL, &made));
  }
  *classes = made;
  return ND4C_OK;
}

/* -- the report --------------------------------------------------------------------------------------------------- */

static void tell_classes(const nd4c_model *model, int32_t output, nd4c_text *text) {
  enum { SHOWN = 16 };
  const nd4c_onnx_attribute *classes = nd4c_onnx_map_classes(&model->onnx, output);
  if (classes == NULL) {
    return;
  }
  nd4c_text_print(text,
                  "output '%s' has the probabilities in place of the maps that ZipMap makes of them, a column for each "
                  "class:",
                  model->outputs[output].name);
  for (int32_t i = 0; i < classes->count && i < SHOWN; i++) {
    if (classes->type == ND4C_ONNX_ATTR_STRINGS) {
      nd4c_text_print(text, "%s%s", i > 0 ? ", " : " ", nd4c_span_show(classes->strings[i]).text);
    } else {
      nd4c_text_print(text, "%s%" PRId64, i > 0 ? ", " : " ", classes->ints[i]);
    }
  }
  if (classes->count > SHOWN) {
    nd4c_text_print(text, " and %d more", (int)(classes->count - SHOWN));
  }
  nd4c_text_print(text, "\n");
}

nd4c_status nd4c_model_tell_outputs(const nd4c_model *model, char **text) {
  nd4c_text told = {0};
  nd4c_text_print(&told, "%s", *text);
  nd4c_free(*text);
  *text = NULL;
  for (int32_t i = 0; i < model->onnx.graph.outputs.count; i++) {
    const char *contradiction = atomic_load(&model->contradictions[i]);
    tell_classes(model, i, &told);
    if (contradiction != NULL) {
      nd4c_text_print(&told, "warning: %s\n", contradiction);
    }
  }
  return nd4c_text_take(&told, text);
}
