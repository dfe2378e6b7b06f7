/* The op table at run time, look-up by name, and attributes by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ops/op.h"

static void every_row_is_whole(void **state) {
  (void)state;
  assert_true(nd4c_op_count() >= 69);
  for (int32_t i = 0; i < nd4c_op_count(); i++) {
    const nd4c_op_info *info = nd4c_op_at(i), *found = NULL;
    const nd4c_op_def *def = nd4c_op_get_def(info->op);
    char versioned[64];
    (void)snprintf(versioned, sizeof versioned, "%s@%u", info->name, (unsigned)info->version);
    assert_ptr_equal(&def->info, info);
    assert_ptr_equal(nd4c_op_get(info->op), info);
    assert_int_equal(nd4c_op_find(info->name, &found), ND4C_OK);
    assert_ptr_equal(found, info);
    assert_int_equal(nd4c_op_find(versioned, &found), ND4C_OK);
    assert_ptr_equal(found, info);
    assert_non_null(def->infer);
    assert_int_equal(info->struct_size, sizeof *info);
    assert_true(info->version >= 1 && info->input_count >= 0 && info->output_count >= 1);
    int32_t bars = 0;
    for (const char *c = info->names; *c != '\0'; c++) {
      bars += *c == '|';
    }
    assert_int_equal(bars, 3); /* NumPy, PyTorch, ONNX, ND4J */
    assert_true(info->dtypes != 0 && info->doc[0] != '\0' && info->category_name[0] != '\0');
    for (int32_t j = 0; j < i; j++) {
      assert_true(nd4c_op_at(j)->op != info->op);
      assert_string_not_equal(nd4c_op_at(j)->name, info->name);
    }
    for (nd4c_dtype dtype = 0; dtype < 64; dtype++) {
      const nd4c_dtype_info *row = nd4c_dtype_get_info(dtype);
      assert_true((info->dtypes >> dtype & 1) == 0 || (row != NULL && row->available));
    }
  }
}

/* The words of an op's attribute by its name. */
static const nd4c_attr_word *words_of(const char *op, const char *attr, int32_t *count) {
  const nd4c_op_info *info = NULL;
  assert_int_equal(nd4c_op_find(op, &info), ND4C_OK);
  for (int32_t i = 0; i < info->attr_count; i++) {
    if (strcmp(info->attrs[i].name, attr) == 0) {
      return nd4c_op_attr_words(info->op, i, count);
    }
  }
  fail_msg("%s has no attribute %s", op, attr);
  return NULL;
}

static void values_of_attributes_have_words(void **state) {
  (void)state;
  int32_t count = 0;
  const nd4c_attr_word *words = words_of("conv", "auto_pad", &count);
  assert_int_equal(count, 4);
  assert_string_equal(words[ND4C_AUTO_PAD_SAME_LOWER].word, "same_lower");
  assert_int_equal(words[ND4C_AUTO_PAD_SAME_LOWER].value, ND4C_AUTO_PAD_SAME_LOWER);
  words = words_of("scatter_nd", "reduction", &count); /* `reduction` of a loss has other words */
  assert_int_equal(count, 7);
  assert_string_equal(words[ND4C_SCATTER_REDUCTION_ADD].word, "add");
  words = words_of("huber_loss", "reduction", &count);
  assert_int_equal(count, 4);
  assert_string_equal(words[ND4C_LOSS_REDUCTION_MEAN].word, "mean");
  assert_null(words_of("conv", "groups", &count));
  assert_int_equal(count, 0);
  assert_null(nd4c_op_attr_words(ND4C_OP_conv, -1, NULL));
  assert_null(nd4c_op_attr_words(ND4C_OP_conv, ND4C_ATTR_conv_count, NULL));
  assert_null(nd4c_op_attr_words(ND4C_OP_NONE, 0, &count));
}

/* Each default is one of the words. */
static void defaults_have_words(void **state) {
  (void)state;
  int32_t worded = 0;
  for (int32_t i = 0; i < nd4c_op_count(); i++) {
    const nd4c_op_info *info = nd4c_op_at(i);
    for (int32_t a = 0; a < info->attr_count; a++) {
      int32_t count = 0;
      const nd4c_op_attr *attr = &info->attrs[a];
      const nd4c_attr_word *words = nd4c_op_attr_words(info->op, a, &count);
      bool fits = words == NULL || attr->preset.kind == ND4C_ATTR_INTS;
      for (int32_t w = 0; w < count; w++) {
        fits = fits || words[w].value == attr->preset.as.i;
      }
      assert_true(fits);
      worded += words != NULL;
    }
  }
  assert_true(worded > 50);
}

/* The generic call takes a word instead of its number, because attributes with few words were texts before. */
static void words_stand_for_numbers(void **state) {
  (void)state;
  const nd4c_op_info *fft = nd4c_op_get(ND4C_OP_fft), *correlate = nd4c_op_get(ND4C_OP_correlate);
  nd4c_attr_value values[ND4C_ATTR_fft_count];
  nd4c_attr norm = {"norm", {.kind = ND4C_ATTR_STRING, .as.string = "ortho"}};
  assert_int_equal(nd4c_op_resolve_attrs(fft, &norm, 1, values), ND4C_OK);
  assert_int_equal(values[ND4C_ATTR_fft_norm].kind, ND4C_ATTR_INT);
  assert_int_equal(values[ND4C_ATTR_fft_norm].as.i, ND4C_FFT_NORM_ORTHO);
  norm.value.as.string = NULL;
  assert_int_equal(nd4c_op_resolve_attrs(fft, &norm, 1, values), ND4C_OK);
  assert_int_equal(values[ND4C_ATTR_fft_norm].as.i, ND4C_FFT_NORM_BACKWARD);
  nd4c_attr mode = {"mode", {.kind = ND4C_ATTR_STRING, .as.string = ""}};
  assert_int_equal(nd4c_op_resolve_attrs(correlate, &mode, 1, values), ND4C_OK);
  assert_int_equal(values[ND4C_ATTR_correlate_mode].as.i, ND4C_CONVOLVE_MODE_VALID);
  norm.value.as.string = "orthogonal";
  assert_int_equal(nd4c_op_resolve_attrs(fft, &norm, 1, values), ND4C_ARGUMENT);
  assert_string_equal(nd4c_error_message(), "fft: norm is 'orthogonal', expected one of backward, ortho, forward");
  nd4c_attr axis = {"axis", {.kind = ND4C_ATTR_STRING, .as.string = "ortho"}}; /* an attribute without words */
  assert_int_equal(nd4c_op_resolve_attrs(fft, &axis, 1, values), ND4C_ARGUMENT);
}

static void outputs_have_names(void **state) {
  (void)state;
  for (int32_t i = 0; i < nd4c_op_count(); i++) {
    const nd4c_op_info *info = nd4c_op_at(i);
    for (int32_t o = 0; o < info->output_count; o++) {
      assert_true(nd4c_op_output_name(info->op, o)[0] != '\0');
    }
    assert_null(nd4c_op_output_name(info->op, info->output_count));
  }
  assert_string_equal(nd4c_op_output_name(ND4C_OP_lstm, 0), "y");
  assert_string_equal(nd4c_op_output_name(ND4C_OP_lstm, 1), "h");
  assert_string_equal(nd4c_op_output_name(ND4C_OP_lstm, 2), "c");
  assert_null(nd4c_op_output_name(ND4C_OP_lstm, -1));
  assert_null(nd4c_op_output_name(ND4C_OP_NONE, 0));
}

static void unknown_numbers_have_no_row(void **state) {
  (void)state;
  const nd4c_op unknown[] = {ND4C_OP_NONE, 25, 39, ND4C_OP_gather + 1, 65535, 65536 + ND4C_OP_add, UINT32_MAX};
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
    assert_null(nd4c_op_get(unknown[i]));
    assert_null(nd4c_op_get_def(unknown[i]));
  }
  assert_null(nd4c_op_at(-1));
  assert_null(nd4c_op_at(nd4c_op_count()));
  assert_null(nd4c_op_at(INT32_MIN));
}

static void schema_of_conv(void **state) {
  (void)state;
  const nd4c_op_info *conv = nd4c_op_get(ND4C_OP_conv);
  assert_int_equal(conv->input_count, 4);
  assert_string_equal(conv->inputs[ND4C_IN_conv_addend].name, "addend");
  assert_true(conv->inputs[ND4C_IN_conv_bias].optional && !conv->inputs[ND4C_IN_conv_w].optional);
  assert_int_equal(conv->attr_count, 6);
  assert_string_equal(conv->attrs[ND4C_ATTR_conv_groups].name, "groups");
  assert_int_equal(conv->attrs[ND4C_ATTR_conv_groups].preset.as.i, 1);
  assert_int_equal(conv->attrs[ND4C_ATTR_conv_pads].preset.kind, ND4C_ATTR_INTS);
  assert_string_equal(conv->category_name, "NN");
  assert_true(nd4c_op_get(ND4C_OP_concat)->inputs[0].variadic);
  assert_true(nd4c_op_get(ND4C_OP_lrn)->attrs[ND4C_ATTR_lrn_alpha].preset.as.f == 1e-4);
}

typedef struct set_record {
  nd4c_op op;
  nd4c_dtype dtype;
  bool taken;
} set_record;

static void dtype_sets(void **state) {
  (void)state;
  const set_record records[] = {
      {ND4C_OP_add, ND4C_BOOL, false},   {ND4C_OP_add, ND4C_INT8, true},        {ND4C_OP_add, ND4C_UTF8, false},
      {ND4C_OP_floor, ND4C_INT64, true}, {ND4C_OP_floor, ND4C_BOOL, false},     {ND4C_OP_exp, ND4C_FLOAT64, true},
      {ND4C_OP_exp, ND4C_INT32, false},  {ND4C_OP_logical_or, ND4C_BOOL, true}, {ND4C_OP_logical_or, ND4C_INT8, false},
      {ND4C_OP_cast, ND4C_BOOL, true},   {ND4C_OP_cast, ND4C_UTF8, true},       {ND4C_OP_copy, ND4C_UTF8, true},
      {ND4C_OP_sum, ND4C_BOOL, true},    {ND4C_OP_conv, ND4C_FLOAT32, true},    {ND4C_OP_conv, ND4C_INT8, false},
#ifdef ND4C_DTYPES_LITE
      {ND4C_OP_add, ND4C_INT16, false},  {ND4C_OP_copy, ND4C_COMPLEX64, false},
#else
      {ND4C_OP_add, ND4C_COMPLEX64, true},    {ND4C_OP_floor, ND4C_COMPLEX64, false},
      {ND4C_OP_exp, ND4C_COMPLEX64, true},    {ND4C_OP_erf, ND4C_COMPLEX64, false},
      {ND4C_OP_erf, ND4C_BFLOAT16, true},     {ND4C_OP_add, ND4C_UINT16, true},
#endif
  };
  for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
    const nd4c_op_info *info = nd4c_op_get(records[i].op);
    if (((info->dtypes & ND4C_DTYPE_BIT(records[i].dtype)) != 0) != records[i].taken) {
      fail_msg("%s and %s: expected taken %d", info->name, nd4c_dtype_name(records[i].dtype), records[i].taken);
    }
  }
}

typedef struct rule_record {
  nd4c_op op;
  nd4c_order_rule order;
  nd4c_alias_rule alias;
  bool views;
} rule_record;

static void orders_and_aliases(void **state) {
  (void)state;
  const rule_record records[] = {
      {ND4C_OP_add, ND4C_ORDER_INPUTS, ND4C_ALIAS_SAME, false},
      {ND4C_OP_exp, ND4C_ORDER_INPUTS, ND4C_ALIAS_SAME, false},
      {ND4C_OP_where, ND4C_ORDER_INPUTS, ND4C_ALIAS_SAME, false},
      {ND4C_OP_copy, ND4C_ORDER_C, ND4C_ALIAS_SAME, false},
      {ND4C_OP_sum, ND4C_ORDER_C, ND4C_ALIAS_NONE, false},
      {ND4C_OP_matmul, ND4C_ORDER_C, ND4C_ALIAS_NONE, false},
      {ND4C_OP_conv, ND4C_ORDER_FIRST, ND4C_ALIAS_NONE, false},
      {ND4C_OP_concat, ND4C_ORDER_FIRST, ND4C_ALIAS_NONE, false},
      {ND4C_OP_max_pool, ND4C_ORDER_INPUTS, ND4C_ALIAS_NONE, false},
      {ND4C_OP_average_pool, ND4C_ORDER_INPUTS, ND4C_ALIAS_NONE, false},
      {ND4C_OP_batch_norm, ND4C_ORDER_INPUTS, ND4C_ALIAS_NONE, false},
      {ND4C_OP_lrn, ND4C_ORDER_INPUTS, ND4C_ALIAS_NONE, false},
      {ND4C_OP_softmax, ND4C_ORDER_INPUTS, ND4C_ALIAS_NONE, false},
      {ND4C_OP_layer_norm, ND4C_ORDER_C, ND4C_ALIAS_NONE, false},
      {ND4C_OP_reshape, ND4C_ORDER_C, ND4C_ALIAS_NONE, true},
      {ND4C_OP_slice, ND4C_ORDER_C, ND4C_ALIAS_NONE, true},
      {ND4C_OP_gather, ND4C_ORDER_C, ND4C_ALIAS_NONE, false},
  };
  for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
    const nd4c_op_def *def = nd4c_op_get_def(records[i].op);
    if (def->order != records[i].order || def->alias != records[i].alias || (def->view != NULL) != records[i].views) {
      fail_msg("%s has order %d, alias rule %d, views %d", def->info.name, (int)def->order, (int)def->alias,
               def->view != NULL);
    }
  }
}

typedef struct name_record {
  const char *name, *text;
} name_record;

static void unknown_names_say_the_nearest(void **state) {
  (void)state;
  const name_record records[] = {
      {"conv2", "op 'conv2' is not known: the nearest is 'conv'"},
      {"sofmax", "op 'sofmax' is not known: the nearest is 'softmax'"},
      {"Add", "op 'Add' is not known: the nearest is 'add'"},
      {"multply@1", "op 'multply@1' is not known: the nearest is 'multiply'"},
      {"conv@2", "op 'conv@2' is not known: this build has conv@1"},
      {"conv@", "op 'conv@' is not known: this build has conv@1"},
      {"conv@01", "op 'conv@01' is not known: this build has conv@1"},
      {"a_name_that_is_longer_than_any_op_of_ours_and_than_a_plug_in_may",
       "op 'a_name_that_is_longer_than_any_op_of_ours_and_than_a_plug_in_may' is not known: no op's name has more than "
       "63 letters"},
  };
  for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
    const nd4c_op_info *info = NULL;
    assert_int_equal(nd4c_op_find(records[i].name, &info), ND4C_NAME);
    assert_string_equal(nd4c_error_message(), records[i].text);
    assert_null(info);
  }
  const nd4c_op_info *info;
  assert_int_equal(nd4c_op_find("", &info), ND4C_NAME);
  assert_int_equal(nd4c_op_find("@", &info), ND4C_NAME);
  assert_int_equal(nd4c_op_find(NULL, &info), ND4C_NULL_ARGUMENT);
  assert_string_equal(nd4c_error_message(), "nd4c_op_find: name is NULL");
  assert_int_equal(nd4c_op_find("add", NULL), ND4C_NULL_ARGUMENT);
  assert_string_equal(nd4c_error_message(), "nd4c_op_find: info is NULL");
}

static void attributes_take_the_schemas_order(void **state) {
  (void)state;
  const nd4c_op_info *conv = nd4c_op_get(ND4C_OP_conv);
  const int64_t strides[] = {2, 3};
  const nd4c_attr given[] = {{"groups", {.kind = ND4C_ATTR_INT, .as.i = 4}},
                             {"strides", {.kind = ND4C_ATTR_INTS, .count = 2, .as.ints = strides}}};
  nd4c_attr_value values[ND4C_ATTR_conv_count];
  assert_int_equal(nd4c_op_resolve_attrs(conv, given, 2, values), ND4C_OK);
  assert_int_equal(values[ND4C_ATTR_conv_groups].as.i, 4);
  assert_ptr_equal(values[ND4C_ATTR_conv_strides].as.ints, strides);
  assert_int_equal(values[ND4C_ATTR_conv_strides].count, 2);
  assert_int_equal(values[ND4C_ATTR_conv_pads].count, 0);
  assert_int_equal(values[ND4C_ATTR_conv_pads].kind, ND4C_ATTR_INTS);
  assert_int_equal(values[ND4C_ATTR_conv_activation].as.i, 0);
}

static void an_int_stands_for_float_and_bool(void **state) {
  (void)state;
  nd4c_attr_value values[ND4C_ATTR_lrn_count];
  const nd4c_attr alpha = {"alpha", {.kind = ND4C_ATTR_INT, .as.i = -3}};
  assert_int_equal(nd4c_op_resolve_attrs(nd4c_op_get(ND4C_OP_lrn), &alpha, 1, values), ND4C_OK);
  assert_int_equal(values[ND4C_ATTR_lrn_alpha].kind, ND4C_ATTR_FLOAT);
  assert_true(values[ND4C_ATTR_lrn_alpha].as.f == -3.0);
  assert_true(values[ND4C_ATTR_lrn_beta].as.f == 0.75);
  const nd4c_attr keepdims = {"keepdims", {.kind = ND4C_ATTR_INT, .as.i = 1}};
  assert_int_equal(nd4c_op_resolve_attrs(nd4c_op_get(ND4C_OP_sum), &keepdims, 1, values), ND4C_OK);
  assert_int_equal(values[ND4C_ATTR_sum_keepdims].kind, ND4C_ATTR_BOOL);
}

typedef struct attr_record {
  nd4c_op op;
  int32_t count;
  nd4c_attr attrs[2];
  nd4c_status status;
  const char *text;
} attr_record;

static void wrong_attributes_are_refused(void **state) {
  (void)state;
  const attr_record records[] = {
      {ND4C_OP_softmax,
       1,
       {{"axes", {.kind = ND4C_ATTR_INT}}},
       ND4C_NAME,
       "softmax: attribute 'axes' is not known, expected axis"},
      {ND4C_OP_add,
       1,
       {{"alpha", {.kind = ND4C_ATTR_INT}}},
       ND4C_NAME,
       "add: attribute 'alpha' is not known, expected none"},
      {ND4C_OP_sum,
       1,
       {{"x", {.kind = ND4C_ATTR_INT}}},
       ND4C_NAME,
       "sum: attribute 'x' is not known, expected axes, keepdims, dtype"},
      {ND4C_OP_softmax,
       2,
       {{"axis", {.kind = ND4C_ATTR_INT}}, {"axis", {.kind = ND4C_ATTR_INT}}},
       ND4C_NAME,
       "softmax: attribute axis is given twice"},
      {ND4C_OP_softmax,
       1,
       {{"axis", {.kind = ND4C_ATTR_FLOAT}}},
       ND4C_ARGUMENT,
       "softmax: attribute axis is given as float, expected int"},
      {ND4C_OP_softmax,
       1,
       {{"axis", {.kind = ND4C_ATTR_UNSET}}},
       ND4C_ARGUMENT,
       "softmax: attribute axis is given as nothing, expected int"},
      {ND4C_OP_softmax,
       1,
       {{"axis", {.kind = (nd4c_attr_kind)77}}},
       ND4C_ARGUMENT,
       "softmax: attribute axis is given as an unknown kind, expected int"},
      {ND4C_OP_sum,
       1,
       {{"keepdims", {.kind = ND4C_ATTR_INT, .as.i = 2}}},
       ND4C_ARGUMENT,
       "sum: attribute keepdims is 2, expected 0 or 1"},
      {ND4C_OP_sum,
       1,
       {{"axes", {.kind = ND4C_ATTR_INTS, .count = -1}}},
       ND4C_ARGUMENT,
       "sum: attribute axes is a list whose count is -1, expected 0 or more"},
      {ND4C_OP_sum,
       1,
       {{"axes", {.kind = ND4C_ATTR_INTS, .count = 2}}},
       ND4C_ARGUMENT,
       "sum: attribute axes is a list of 2 without values, expected ints"},
      {ND4C_OP_cast,
       1,
       {{"dtype", {.kind = ND4C_ATTR_INT, .as.i = 12}}},
       ND4C_ARGUMENT,
       "cast: attribute dtype is given as int, expected dtype"},
      {ND4C_OP_sum, 1, {{NULL, {.kind = ND4C_ATTR_INT}}}, ND4C_NULL_ARGUMENT, "sum: the name of attribute 0 is NULL"},
      {ND4C_OP_sum,
       -1,
       {{NULL, {.kind = ND4C_ATTR_INT}}},
       ND4C_ARGUMENT,
       "sum: -1 attributes given, expected 0 or more"},
  };
  for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
    nd4c_attr_value values[8];
    nd4c_status status = nd4c_op_resolve_attrs(nd4c_op_get(records[i].op), records[i].attrs, records[i].count, values);
    if (status != records[i].status || strcmp(nd4c_error_message(), records[i].text) != 0) {
      fail_msg("record %zu: %s %s", i, nd4c_status_name(status), nd4c_error_message());
    }
  }
  nd4c_attr_value values[8];
  assert_int_equal(nd4c_op_resolve_attrs(nd4c_op_get(ND4C_OP_sum), NULL, 1, values), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_op_resolve_attrs(nd4c_op_get(ND4C_OP_sum), NULL, 0, values), ND4C_OK);
}

/* Mistakes that only callers in C can make: lists that are NULL, kinds in positional attributes, numbers of no
 * dtype. */
static void positional_calls_are_checked(void **state) {
  (void)state;
  const int64_t shape[] = {2, 3}, strides[] = {3, 1};
  nd4c_tensor x = {.dtype = ND4C_FLOAT32, .rank = 2, .shape = shape, .strides = strides};
  nd4c_attr_value axis = {.kind = ND4C_ATTR_FLOAT, .as.f = 1.0};
  nd4c_inferred output;
  nd4c_inference inference = {.input_count = 1, .inputs = &x, .attrs = &axis, .outputs = &output};
  const nd4c_op_def *softmax = nd4c_op_get_def(ND4C_OP_softmax);
  assert_int_equal(nd4c_op_infer(softmax, &inference), ND4C_ARGUMENT);
  assert_string_equal(nd4c_error_message(), "softmax: attribute axis is given as float, expected int");
  inference.attrs = NULL;
  assert_int_equal(nd4c_op_infer(softmax, &inference), ND4C_NULL_ARGUMENT);
  assert_string_equal(nd4c_error_message(), "softmax: the list of attributes is NULL, expected 1");
  axis = (nd4c_attr_value){.kind = ND4C_ATTR_INT, .as.i = -1};
  inference.attrs = &axis;
  inference.inputs = NULL;
  assert_int_equal(nd4c_op_infer(softmax, &inference), ND4C_NULL_ARGUMENT);
  assert_string_equal(nd4c_error_message(), "softmax: the list of inputs is NULL");
  inference.inputs = &x;
  x.shape = NULL;
  assert_int_equal(nd4c_op_infer(softmax, &inference), ND4C_SHAPE);
  assert_string_equal(nd4c_error_message(), "softmax: input x has rank 2 without a shape, expected 0 to 32 axes");
  x.shape = shape;
  x.dtype = 99;
  assert_int_equal(nd4c_op_infer(softmax, &inference), ND4C_DTYPE);
  assert_string_equal(nd4c_error_message(), "softmax: input x has dtype ? (number 99), which this build does not have");
  x.dtype = -5;
  assert_int_equal(nd4c_op_infer(softmax, &inference), ND4C_DTYPE);
  x.dtype = ND4C_FLOAT32;
  x.rank = -1;
  assert_int_equal(nd4c_op_infer(softmax, &inference), ND4C_SHAPE);
  x.rank = 2;
  inference.input_count = -1;
  assert_int_equal(nd4c_op_infer(softmax, &inference), ND4C_ARGUMENT);
  inference.input_count = 1;
  assert_int_equal(nd4c_op_infer(softmax, &inference), ND4C_OK);
  assert_int_equal(output.rank, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_row_is_whole),
      cmocka_unit_test(values_of_attributes_have_words),
      cmocka_unit_test(defaults_have_words),
      cmocka_unit_test(words_stand_for_numbers),
      cmocka_unit_test(outputs_have_names),
      cmocka_unit_test(unknown_numbers_have_no_row),
      cmocka_unit_test(schema_of_conv),
      cmocka_unit_test(dtype_sets),
      cmocka_unit_test(orders_and_aliases),
      cmocka_unit_test(unknown_names_say_the_nearest),
      cmocka_unit_test(attributes_take_the_schemas_order),
      cmocka_unit_test(an_int_stands_for_float_and_bool),
      cmocka_unit_test(wrong_attributes_are_refused),
      cmocka_unit_test(positional_calls_are_checked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
