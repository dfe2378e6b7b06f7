/* Implements lists.h. In import/onnx/ops, constant.c, text.c and the files of ai.onnx.ml call it. */
#include "import/onnx/emission/lists.h"

#include "base/status.h"

nd4c_status nd4c_onnx_float_list(nd4c_onnx_emission *emission, const double *values, int64_t count, nd4c_dtype dtype,
                                 nd4c_onnx_operand *operand) {
  static const double nothing;
  nd4c_array *array = NULL;
  ND4C_TRY(nd4c_onnx_host_array(ND4C_FLOAT64, 1, &count, count > 0 ? values : &nothing, &array));
  ND4C_TRY(nd4c_emit_constant(&emission->emitter, array, operand));
  return nd4c_emit_cast(&emission->emitter, *operand, dtype, operand);
}

nd4c_status nd4c_onnx_strings(nd4c_onnx_emission *emission, const nd4c_span *spans, int32_t rank, int64_t count,
                              nd4c_onnx_operand *operand) {
  const char **texts = NULL;
  int64_t *lengths = NULL;
  nd4c_array *array = NULL;
  ND4C_TRY(nd4c_onnx_claim(emission, (size_t)count + 1, sizeof *texts, "strings", &texts));
  ND4C_TRY(nd4c_onnx_claim(emission, (size_t)count + 1, sizeof *lengths, "strings", &lengths));
  for (int64_t i = 0; i < count; i++) {
    texts[i] = spans[i].size > 0 ? (const char *)spans[i].bytes : "";
    lengths[i] = (int64_t)spans[i].size;
  }
  ND4C_TRY(nd4c_array_from_strings(rank, &count, texts, lengths, &array));
  return nd4c_emit_constant(&emission->emitter, array, operand);
}

nd4c_status nd4c_onnx_string_list(nd4c_onnx_emission *emission, const nd4c_span *spans, int32_t count,
                                  nd4c_onnx_operand *operand) {
  return nd4c_onnx_strings(emission, spans, 1, count, operand);
}

nd4c_status nd4c_onnx_tensor_constant(nd4c_onnx_emission *emission, const char *name, nd4c_onnx_operand *operand,
                                      int64_t *size) {
  const nd4c_onnx_tensor *tensor = NULL;
  nd4c_array *array = NULL;
  *operand = ND4C_ONNX_OPERAND_NONE;
  ND4C_TRY(nd4c_onnx_get_tensor(emission, name, &tensor));
  if (tensor == NULL) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_onnx_tensor_array(tensor, false, &array));
  if (size != NULL) {
    *size = nd4c_array_size(array);
  }
  return nd4c_emit_constant(&emission->emitter, array, operand);
}

nd4c_status nd4c_onnx_class_labels(nd4c_onnx_emission *emission, const char *integers, nd4c_onnx_operand *labels,
                                   int64_t *count) {
  const int64_t *numbers = NULL;
  const nd4c_span *names = NULL;
  int32_t number_count = 0, name_count = 0;
  ND4C_TRY(nd4c_onnx_get_ints(emission, integers, &numbers, &number_count));
  ND4C_TRY(nd4c_onnx_get_strings(emission, "classlabels_strings", &names, &name_count));
  *count = number_count > 0 ? number_count : name_count;
  if (*count == 0) {
    return nd4c_fail(ND4C_FORMAT, "labels of classes are missing");
  }
  return number_count > 0 ? nd4c_onnx_int64s(emission, 1, number_count, numbers, labels)
                          : nd4c_onnx_string_list(emission, names, name_count, labels);
}
