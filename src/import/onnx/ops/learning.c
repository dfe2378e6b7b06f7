/* The domain ai.onnx.ml: classical machine learning, without trees (trees.c) and support vectors (vectors.c).
 * emission/scope.c calls the emit functions through the rows below. */
#include <inttypes.h>

#include "base/status.h"
#include "import/onnx/emission/lists.h"
#include "import/onnx/family.h"
#include "ops/compose/compose.h"

/* -- lists --------------------------------------------------------------------------------------------------------- */

/* The list that an attribute of tensor type holds, as 1-D. */
static nd4c_status tensor_list(nd4c_onnx_emission *emission, const char *name, nd4c_onnx_operand *operand) {
  int64_t size = 0;
  ND4C_TRY(nd4c_onnx_tensor_constant(emission, name, operand, &size));
  return *operand == ND4C_ONNX_OPERAND_NONE ? ND4C_OK
                                            : nd4c_emit_reshape(&emission->emitter, *operand, 1, &size, operand);
}

/* A list that one of four attributes holds; NONE if none of them does. */
static nd4c_status any_list(nd4c_onnx_emission *emission, const char *const names[4], nd4c_onnx_operand *operand) {
  const int64_t *integers = NULL;
  const double *floats = NULL;
  const nd4c_span *strings = NULL;
  int32_t integer_count = 0, float_count = 0, string_count = 0;
  ND4C_TRY(tensor_list(emission, names[0], operand));
  ND4C_TRY(nd4c_onnx_get_ints(emission, names[1], &integers, &integer_count));
  ND4C_TRY(nd4c_onnx_get_floats(emission, names[2], &floats, &float_count));
  ND4C_TRY(nd4c_onnx_get_strings(emission, names[3], &strings, &string_count));
  if (*operand != ND4C_ONNX_OPERAND_NONE) {
    return ND4C_OK;
  }
  if (integer_count > 0) {
    return nd4c_onnx_int64s(emission, 1, integer_count, integers, operand);
  }
  if (float_count > 0) {
    return nd4c_onnx_float_list(emission, floats, float_count, ND4C_FLOAT32, operand);
  }
  return string_count > 0 ? nd4c_onnx_string_list(emission, strings, string_count, operand) : ND4C_OK;
}

/* -- labels ------------------------------------------------------------------------------------------------------- */

/* The value for labels that are not among the keys: a list of one, of the values' dtype. */
static nd4c_status default_label(nd4c_onnx_emission *emission, nd4c_dtype dtype, const char *preset,
                                 nd4c_onnx_operand *operand) {
  int64_t integer = 0;
  double real = 0;
  nd4c_span text;
  ND4C_TRY(tensor_list(emission, "default_tensor", operand));
  ND4C_TRY(nd4c_onnx_get_int(emission, "default_int64", -1, &integer));
  ND4C_TRY(nd4c_onnx_get_float(emission, "default_float", -0.0, &real));
  ND4C_TRY(nd4c_onnx_get_text(emission, "default_string", preset, &text));
  if (*operand != ND4C_ONNX_OPERAND_NONE) {
    return ND4C_OK;
  }
  switch (dtype) {
    case ND4C_UTF8:
      return nd4c_onnx_string_list(emission, &text, 1, operand);
    case ND4C_INT64:
      return nd4c_onnx_int64s(emission, 1, 1, &integer, operand);
    default:
      return nd4c_onnx_float_list(emission, &real, 1, dtype, operand);
  }
}

static nd4c_status encode(nd4c_onnx_emission *emission, nd4c_onnx_operand keys, nd4c_onnx_operand values,
                          const char *preset) {
  nd4c_onnx_operand fallback, index, inputs[2] = {emission->inputs[0], keys};
  nd4c_emitted_info key_info = nd4c_emitted_get(&emission->emitter, keys);
  nd4c_emitted_info value_info = nd4c_emitted_get(&emission->emitter, values);
  if (key_info.shape[0] != value_info.shape[0]) {
    return nd4c_fail(ND4C_FORMAT, "%lld keys and %lld values; expected as many of each", (long long)key_info.shape[0],
                     (long long)value_info.shape[0]);
  }
  ND4C_TRY(default_label(emission, value_info.dtype, preset, &fallback));
  nd4c_onnx_operand table[] = {values, fallback};
  ND4C_TRY(nd4c_emit_along(&emission->emitter, ND4C_OP_concat, table, 2, 0, &values));
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_label_index, inputs[0], inputs[1], &index));
  return nd4c_compose_pick(&emission->emitter, values, index, &emission->outputs[0]);
}

static nd4c_status count_up(nd4c_onnx_emission *emission, int64_t count, nd4c_onnx_operand *operand) {
  nd4c_array *array = NULL;
  ND4C_TRY(nd4c_array_arange(ND4C_INT64, 0, 1, count, NULL, &array));
  return nd4c_emit_constant(&emission->emitter, array, operand);
}

/* Up to opset 1: strings to their positions in a list, and back. */
static nd4c_status emit_label_encoder_1(nd4c_onnx_emission *emission) {
  const nd4c_span *classes = NULL;
  int32_t count = 0;
  nd4c_onnx_operand names, numbers;
  ND4C_TRY(nd4c_onnx_get_strings(emission, "classes_strings", &classes, &count));
  ND4C_TRY(nd4c_onnx_string_list(emission, classes, count, &names));
  ND4C_TRY(count_up(emission, count, &numbers));
  bool strings = nd4c_emitted_get(&emission->emitter, emission->inputs[0]).dtype == ND4C_UTF8;
  return encode(emission, strings ? names : numbers, strings ? numbers : names, "_Unused");
}

static nd4c_status emit_label_encoder(nd4c_onnx_emission *emission) {
  static const char *const keys[4] = {"keys_tensor", "keys_int64s", "keys_floats", "keys_strings"};
  static const char *const values[4] = {"values_tensor", "values_int64s", "values_floats", "values_strings"};
  nd4c_onnx_operand from, to;
  ND4C_TRY(any_list(emission, keys, &from));
  ND4C_TRY(any_list(emission, values, &to));
  if (from == ND4C_ONNX_OPERAND_NONE || to == ND4C_ONNX_OPERAND_NONE) {
    return nd4c_fail(ND4C_FORMAT, "%s are missing", from == ND4C_ONNX_OPERAND_NONE ? "keys" : "values");
  }
  return encode(emission, from, to, "_Unused");
}

/* Maps strings to integers by a pair of lists, or integers to strings if the input has integers. */
static nd4c_status emit_category_mapper(nd4c_onnx_emission *emission) {
  static const char *const names[4] = {"", "", "", "cats_strings"};
  static const char *const numbers[4] = {"", "cats_int64s", "", ""};
  nd4c_onnx_operand strings, integers;
  ND4C_TRY(any_list(emission, names, &strings));
  ND4C_TRY(any_list(emission, numbers, &integers));
  if (strings == ND4C_ONNX_OPERAND_NONE || integers == ND4C_ONNX_OPERAND_NONE) {
    return nd4c_fail(ND4C_FORMAT, "%s is missing", strings == ND4C_ONNX_OPERAND_NONE ? names[3] : numbers[1]);
  }
  bool to_integers = nd4c_emitted_get(&emission->emitter, emission->inputs[0]).dtype == ND4C_UTF8;
  return encode(emission, to_integers ? strings : integers, to_integers ? integers : strings, "_Unused");
}

/* A row of the unit matrix for each category. Other values get a row of zeros, if the node allows it. */
static nd4c_status emit_one_hot_encoder(nd4c_onnx_emission *emission) {
  static const char *const categories[4] = {"", "cats_int64s", "", "cats_strings"};
  nd4c_onnx_operand cats, x = emission->inputs[0], index, numbers, rows, table;
  int64_t zeros = 1;
  ND4C_TRY(any_list(emission, categories, &cats));
  ND4C_TRY(nd4c_onnx_get_int(emission, "zeros", 1, &zeros));
  if (cats == ND4C_ONNX_OPERAND_NONE) {
    return nd4c_fail(ND4C_FORMAT, "categories are missing");
  }
  int64_t count = nd4c_emitted_get(&emission->emitter, cats).shape[0], column = count + (zeros != 0);
  if (nd4c_emitted_get(&emission->emitter, x).dtype != ND4C_UTF8) {
    ND4C_TRY(nd4c_emit_cast(&emission->emitter, x, ND4C_INT64, &x));
  }
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_label_index, x, cats, &index));
  ND4C_TRY(count_up(emission, count, &numbers));
  ND4C_TRY(count_up(emission, column, &rows));
  ND4C_TRY(nd4c_emit_reshape(&emission->emitter, rows, 2, (int64_t[]){column, 1}, &rows));
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_equal, rows, numbers, &table));
  ND4C_TRY(nd4c_emit_cast(&emission->emitter, table, ND4C_FLOAT32, &table));
  return nd4c_compose_pick(&emission->emitter, table, index, &emission->outputs[0]);
}

/* -- features ----------------------------------------------------------------------------------------------------- */

static nd4c_status emit_array_feature_extractor(nd4c_onnx_emission *emission) {
  nd4c_onnx_operand inputs[2] = {emission->inputs[0], emission->inputs[1]};
  nd4c_emitted_info x = nd4c_emitted_get(&emission->emitter, inputs[0]);
  int64_t all = -1;
  if (x.rank == 1) {
    ND4C_TRY(nd4c_emit_reshape(&emission->emitter, inputs[0], 2, (int64_t[]){1, x.shape[0]}, &inputs[0]));
  }
  ND4C_TRY(nd4c_emit_reshape(&emission->emitter, inputs[1], 1, &all, &inputs[1]));
  return nd4c_emit_along(&emission->emitter, ND4C_OP_gather, inputs, 2, -1, &emission->outputs[0]);
}

static nd4c_status emit_binarizer(nd4c_onnx_emission *emission) {
  nd4c_onnx_operand y;
  double threshold = 0;
  ND4C_TRY(nd4c_onnx_get_float(emission, "threshold", 0, &threshold));
  ND4C_TRY(nd4c_emit_with_scalar(&emission->emitter, ND4C_OP_greater, emission->inputs[0], threshold, &y));
  return nd4c_emit_cast(&emission->emitter, y, nd4c_emitted_get(&emission->emitter, emission->inputs[0]).dtype,
                        &emission->outputs[0]);
}

/* A list of floats for the last axis of x, in float32. */
static nd4c_status row_of(nd4c_onnx_emission *emission, const char *name, nd4c_onnx_operand *row) {
  const double *values = NULL;
  int32_t count = 0;
  ND4C_TRY(nd4c_onnx_get_floats(emission, name, &values, &count));
  return count > 0 ? nd4c_onnx_float_list(emission, values, count, ND4C_FLOAT32, row)
                   : nd4c_fail(ND4C_FORMAT, "attribute %s is missing", name);
}

static nd4c_status emit_scaler(nd4c_onnx_emission *emission) {
  nd4c_onnx_operand x, offset, scale;
  ND4C_TRY(nd4c_emit_cast(&emission->emitter, emission->inputs[0], ND4C_FLOAT32, &x));
  ND4C_TRY(row_of(emission, "offset", &offset));
  ND4C_TRY(row_of(emission, "scale", &scale));
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_subtract, x, offset, &x));
  return nd4c_emit_binary(&emission->emitter, ND4C_OP_multiply, x, scale, &emission->outputs[0]);
}

static nd4c_status emit_normalizer(nd4c_onnx_emission *emission) {
  static const char *const norms[] = {"MAX", "L1", "L2", NULL};
  static const nd4c_op ops[] = {ND4C_OP_max, ND4C_OP_sum, ND4C_OP_lp_normalize};
  nd4c_onnx_operand x;
  int64_t norm = 0;
  ND4C_TRY(nd4c_onnx_get_word(emission, "norm", "MAX", norms, &norm));
  ND4C_TRY(nd4c_emit_cast(&emission->emitter, emission->inputs[0], ND4C_FLOAT32, &x));
  return nd4c_compose_normalize_rows(&emission->emitter, ops[norm], x, &emission->outputs[0]);
}

static nd4c_status emit_imputer(nd4c_onnx_emission *emission) {
  const int64_t *integers = NULL;
  const double *floats = NULL;
  int32_t integer_count = 0, float_count = 0;
  int64_t integer = 0;
  double real = 0;
  nd4c_onnx_operand x = emission->inputs[0], values, missing;
  nd4c_dtype dtype = nd4c_emitted_get(&emission->emitter, x).dtype;
  ND4C_TRY(nd4c_onnx_get_ints(emission, "imputed_value_int64s", &integers, &integer_count));
  ND4C_TRY(nd4c_onnx_get_floats(emission, "imputed_value_floats", &floats, &float_count));
  ND4C_TRY(nd4c_onnx_get_int(emission, "replaced_value_int64", 0, &integer));
  ND4C_TRY(nd4c_onnx_get_float(emission, "replaced_value_float", 0, &real));
  if (float_count > 0) {
    ND4C_TRY(nd4c_onnx_float_list(emission, floats, float_count, dtype, &values));
  } else {
    ND4C_TRY(nd4c_onnx_int64s(emission, 1, integer_count, integers, &values));
    ND4C_TRY(nd4c_emit_cast(&emission->emitter, values, dtype, &values));
  }
  if (float_count > 0 && real != real) {
    ND4C_TRY(nd4c_emit_unary(&emission->emitter, ND4C_OP_is_nan, x, &missing));
  } else {
    ND4C_TRY(nd4c_emit_with_scalar(&emission->emitter, ND4C_OP_equal, x, float_count > 0 ? real : (double)integer,
                                   &missing));
  }
  return nd4c_emit_where(&emission->emitter, missing, values, x, &emission->outputs[0]);
}

/* An input as float32 [n, columns]: cut, or filled up with zeros. */
static nd4c_status fit_columns(nd4c_onnx_emission *emission, int64_t columns, nd4c_onnx_operand *x) {
  nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, *x);
  const int64_t shape[2] = {info.rank > 0 ? info.shape[0] : 1, 1};
  ND4C_TRY(nd4c_emit_cast(&emission->emitter, *x, ND4C_FLOAT32, x));
  if (info.rank < 2) {
    ND4C_TRY(nd4c_emit_reshape(&emission->emitter, *x, 2, shape, x));
  }
  return nd4c_compose_fit(&emission->emitter, *x, 1, columns, x);
}

static nd4c_status emit_feature_vectorizer(nd4c_onnx_emission *emission) {
  const int64_t *columns = NULL;
  int32_t count = 0;
  nd4c_onnx_operand *parts = NULL;
  ND4C_TRY(nd4c_onnx_get_ints(emission, "inputdimensions", &columns, &count));
  if (count != emission->input_count) {
    return nd4c_fail(ND4C_FORMAT, "%d inputdimensions for %d inputs", (int)count, (int)emission->input_count);
  }
  ND4C_TRY(nd4c_onnx_claim(emission, (size_t)count, sizeof *parts, "the inputs of a node", &parts));
  for (int32_t i = 0; i < count; i++) {
    parts[i] = emission->inputs[i];
    ND4C_TRY(fit_columns(emission, columns[i] > 0 ? columns[i] : 0, &parts[i]));
  }
  return nd4c_emit_along(&emission->emitter, ND4C_OP_concat, parts, count, 1, &emission->outputs[0]);
}

/* The probabilities, [n, classes], in place of a list of n maps (maps.c). */
static nd4c_status emit_zip_map(nd4c_onnx_emission *emission) {
  const nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, emission->inputs[0]);
  nd4c_onnx_operand labels = ND4C_ONNX_OPERAND_NONE;
  int64_t shape[2] = {1, 0};
  ND4C_TRY(nd4c_onnx_class_labels(emission, "classlabels_int64s", &labels, &shape[1]));
  if (info.rank < 1 || info.rank > 2 ||
      !nd4c_onnx_assume(emission, ND4C_RELATION_EQUAL, info.shape[info.rank - 1], shape[1])) {
    return nd4c_fail(ND4C_SHAPE, "probabilities of rank %d; expected a column for each of the %" PRId64 " classes",
                     (int)info.rank, shape[1]);
  }
  emission->outputs[0] = emission->inputs[0];
  return info.rank == 2 ? ND4C_OK
                        : nd4c_emit_reshape(&emission->emitter, emission->inputs[0], 2, shape, &emission->outputs[0]);
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS                                                                                               \
  CHAIN(ArrayFeatureExtractor, 1, LAST, 2, 2, 1, array_feature_extractor, NONE, "gather on the last axis") \
  CHAIN(Binarizer, 1, LAST, 1, 1, 1, binarizer, NONE, "greater, cast")                                     \
  CHAIN(CategoryMapper, 1, LAST, 1, 1, 1, category_mapper, NONE, "label_index, gather")                    \
  CHAIN(FeatureVectorizer, 1, LAST, 1, ANY, 1, feature_vectorizer, NONE, "cast, concat")                   \
  CHAIN(Imputer, 1, LAST, 1, 1, 1, imputer, NONE, "is_nan or equal, where")                                \
  OP(LabelEncoder, 1, 1, 1, 1, 1, label_encoder_1, NONE)                                                   \
  OP(LabelEncoder, 2, LAST, 1, 1, 1, label_encoder, NONE)                                                  \
  CHAIN(Normalizer, 1, LAST, 1, 1, 1, normalizer, NONE, "abs or square, max or sum, divide")               \
  CHAIN(OneHotEncoder, 1, LAST, 1, 1, 1, one_hot_encoder, NONE, "label_index, equal, cast")                \
  CHAIN(Scaler, 1, LAST, 1, 1, 1, scaler, NONE, "subtract, multiply")                                      \
  CHAIN(ZipMap, 1, LAST, 1, 1, 1, zip_map, NONE, "its input, where a model gives the maps")

ND4C_ONNX_FAMILY(learning, "ai.onnx.ml", ROWS)
