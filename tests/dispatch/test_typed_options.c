/* The typed functions that take an options struct pass on the fields that the caller has and the table's defaults for
 * the others. Their source is compiled here once more, with the generic call replaced by one that records its
 * arguments. */
#define nd4c_op_call_positional recorded_call
#define nd4c_typed_call_several recorded_call_several
#include "dispatch/typed_options.c"
#undef nd4c_op_call_positional
#undef nd4c_typed_call_several

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct {
  nd4c_context *context;
  nd4c_op op;
  const nd4c_array *inputs[16];
  int32_t input_count, output_count;
  nd4c_attr_value attrs[16];
  int calls;
} last;

nd4c_status recorded_call_several(nd4c_context *context, nd4c_op op, const nd4c_array *const *inputs,
                                  int32_t input_count, const nd4c_attr_value *attrs, nd4c_array **const *places,
                                  int32_t count) {
  (void)places;
  last.context = context;
  last.op = op;
  last.input_count = input_count;
  last.output_count = count;
  memcpy(last.inputs, inputs, (size_t)input_count * sizeof *inputs);
  memcpy(last.attrs, attrs, (size_t)nd4c_op_get(op)->attr_count * sizeof *attrs);
  last.calls++;
  return ND4C_OK;
}

nd4c_status recorded_call(nd4c_context *context, nd4c_op op, const nd4c_array *const *inputs, int32_t input_count,
                          const nd4c_attr_value *attrs, nd4c_array **outputs) {
  return recorded_call_several(context, op, inputs, input_count, attrs, &outputs, 1);
}

/* Addresses that distinguish arguments; they are never dereferenced. */
static char marks[16];

static const nd4c_array *array(int i) {
  return (const nd4c_array *)(const void *)&marks[i];
}

/* -- every op ----------------------------------------------------------------------------------------------------- */

/* Each op with the form OPTIONS, and the name of its defaults; every_op_has_its_defaults compares with the table. */
#define DEFAULTS_TABLE(X)                           \
  X(attention, ATTENTION)                           \
  X(attention_with_cache, ATTENTION_WITH_CACHE)     \
  X(multi_head_attention, MULTI_HEAD_ATTENTION)     \
  X(linear_attention, LINEAR_ATTENTION)             \
  X(resize, RESIZE)                                 \
  X(roi_align, ROI_ALIGN)                           \
  X(im2col, IM2COL)                                 \
  X(col2im, COL2IM)                                 \
  X(tree_ensemble, TREE_ENSEMBLE)                   \
  X(momentum_step, MOMENTUM_STEP)                   \
  X(adam_step, ADAM_STEP)                           \
  X(adamw_step, ADAMW_STEP)                         \
  X(conv, CONV)                                     \
  X(max_pool, MAX_POOL)                             \
  X(average_pool, AVERAGE_POOL)                     \
  X(conv_integer, CONV_INTEGER)                     \
  X(qlinear_conv, QLINEAR_CONV)                     \
  X(rnn, RNN)                                       \
  X(lstm, LSTM)                                     \
  X(gru, GRU)                                       \
  X(slice, SLICE)                                   \
  X(tfidf_vectorizer, TFIDF_VECTORIZER)             \
  X(conv_transpose, CONV_TRANSPOSE)                 \
  X(deformable_conv, DEFORMABLE_CONV)               \
  X(max_pool_with_indices, MAX_POOL_WITH_INDICES)   \
  X(max_unpool, MAX_UNPOOL)                         \
  X(lp_pool, LP_POOL)                               \
  X(morphological_dilation, MORPHOLOGICAL_DILATION) \
  X(morphological_erosion, MORPHOLOGICAL_EROSION)   \
  X(separable_conv2d, SEPARABLE_CONV2D)

#define DEFAULTS_OF(name, NAME) static const nd4c_##name##_options defaults_##name = ND4C_##NAME##_DEFAULTS;
DEFAULTS_TABLE(DEFAULTS_OF)

#define GIVEN_IN , array(0)
#define GIVEN_OPT
#define GIVEN_INT
#define GIVEN_BOOL
#define GIVEN_FLOAT
#define GIVEN_INTS
#define GIVEN_FLOATS
#define GIVEN_DTYPE
#define GIVEN_STRING
#define GIVEN_WORD
#define GIVEN_WORDS
#define GIVEN_OUT
#define GIVEN(op, kind, ...) GIVEN_##kind

#define WANTED_IN
#define WANTED_OPT
#define WANTED_INT
#define WANTED_BOOL
#define WANTED_FLOAT
#define WANTED_INTS
#define WANTED_FLOATS
#define WANTED_DTYPE
#define WANTED_STRING
#define WANTED_WORD
#define WANTED_WORDS
#define WANTED_OUT , &y
#define WANTED(op, kind, ...) WANTED_##kind

/* The recorded call has the defaults of the table in all places. */
static void check_defaults(nd4c_op op, nd4c_status status) {
  const nd4c_op_info *info = nd4c_op_get(op);
  assert_int_equal(status, ND4C_OK);
  assert_int_equal(last.op, op);
  assert_int_equal(last.input_count, info->input_count);
  assert_int_equal(last.output_count, info->output_count);
  for (int32_t i = 0; i < info->input_count; i++) {
    assert_ptr_equal(last.inputs[i], info->inputs[i].optional ? NULL : array(0));
  }
  for (int32_t i = 0; i < info->attr_count; i++) {
    assert_int_equal(last.attrs[i].kind, info->attrs[i].preset.kind);
    assert_int_equal(last.attrs[i].count, info->attrs[i].preset.count);
    assert_int_equal(last.attrs[i].as.i, info->attrs[i].preset.as.i);
  }
}

static int checked;

#define CHECK_PLAIN(name, SIGNATURE)
#define CHECK_OPTIONS(name, SIGNATURE)                                                                     \
  static void check_##name(void) {                                                                         \
    nd4c_array *y = NULL;                                                                                  \
    const nd4c_##name##_options none = {.struct_size = sizeof none.struct_size};                           \
    const nd4c_##name##_options *const given[] = {NULL, &defaults_##name, &none};                          \
    for (int i = 0; i < 3; i++) {                                                                          \
      check_defaults(ND4C_OP_##name,                                                                       \
                     nd4c_##name(TYPED_REST(_ SIGNATURE(GIVEN, name)), given[i] SIGNATURE(WANTED, name))); \
    }                                                                                                      \
    checked++;                                                                                             \
  }
#define CHECK(number, version, name, category, SIGNATURE, rule, dtypes, doc, ...) \
  TYPED_JOIN(CHECK_, TYPED_FORM(__VA_ARGS__))(name, SIGNATURE)
ND4C_OP_TABLE(CHECK)

/* NULL, the initialiser, and a struct of a caller whose header has no field yet. */
static void every_op_has_its_defaults(void **state) {
  (void)state;
#define RUN_PLAIN(name)
#define RUN_OPTIONS(name) check_##name();
#define RUN(number, version, name, category, SIGNATURE, rule, dtypes, doc, ...) \
  TYPED_JOIN(RUN_, TYPED_FORM(__VA_ARGS__))(name)
  ND4C_OP_TABLE(RUN)
  assert_true(checked >= 30);
}

/* -- fields ------------------------------------------------------------------------------------------------------- */

static void fields_carry_kind_and_place(void **state) {
  (void)state;
  const int64_t strides[] = {2, 2}, pads[] = {1, 1, 1, 1};
  nd4c_array *y = NULL;
  nd4c_context *context = (nd4c_context *)(void *)&marks[7];
  nd4c_conv_options options = ND4C_CONV_DEFAULTS;
  options.addend = array(3);
  options.strides = strides;
  options.strides_count = 2;
  options.pads = pads;
  options.pads_count = 4;
  options.groups = 3;
  options.auto_pad = ND4C_AUTO_PAD_SAME_UPPER;
  options.activation = ND4C_ACTIVATION_TANH;
  assert_int_equal(nd4c_conv_on(context, array(0), array(1), &options, &y), ND4C_OK);
  assert_ptr_equal(last.context, context);
  assert_ptr_equal(last.inputs[ND4C_IN_conv_x], array(0));
  assert_ptr_equal(last.inputs[ND4C_IN_conv_w], array(1));
  assert_null(last.inputs[ND4C_IN_conv_bias]);
  assert_ptr_equal(last.inputs[ND4C_IN_conv_addend], array(3));
  assert_ptr_equal(last.attrs[ND4C_ATTR_conv_strides].as.ints, strides);
  assert_int_equal(last.attrs[ND4C_ATTR_conv_strides].count, 2);
  assert_ptr_equal(last.attrs[ND4C_ATTR_conv_pads].as.ints, pads);
  assert_int_equal(last.attrs[ND4C_ATTR_conv_pads].count, 4);
  assert_int_equal(last.attrs[ND4C_ATTR_conv_dilations].count, 0);
  assert_int_equal(last.attrs[ND4C_ATTR_conv_groups].as.i, 3);
  assert_int_equal(last.attrs[ND4C_ATTR_conv_auto_pad].as.i, ND4C_AUTO_PAD_SAME_UPPER);
  assert_int_equal(last.attrs[ND4C_ATTR_conv_activation].as.i, ND4C_ACTIVATION_TANH);
}

/* A field counts if all of it is within struct_size; fields beyond it are not read. */
static void an_older_struct_ends_early(void **state) {
  (void)state;
  nd4c_array *y = NULL;
  nd4c_conv_options options = ND4C_CONV_DEFAULTS;
  options.groups = 3;
  options.auto_pad = ND4C_AUTO_PAD_VALID;
  options.activation = ND4C_ACTIVATION_RELU;
  options.struct_size = offsetof(nd4c_conv_options, activation);
  assert_int_equal(nd4c_conv(array(0), array(1), &options, &y), ND4C_OK);
  assert_int_equal(last.attrs[ND4C_ATTR_conv_auto_pad].as.i, ND4C_AUTO_PAD_VALID);
  assert_int_equal(last.attrs[ND4C_ATTR_conv_activation].as.i, ND4C_ACTIVATION_NONE);
  options.struct_size = offsetof(nd4c_conv_options, auto_pad) - 1;
  assert_int_equal(nd4c_conv(array(0), array(1), &options, &y), ND4C_OK);
  assert_int_equal(last.attrs[ND4C_ATTR_conv_groups].as.i, 1);
  assert_int_equal(last.attrs[ND4C_ATTR_conv_auto_pad].as.i, ND4C_AUTO_PAD_EXPLICIT);
}

static void a_newer_struct_may_not_ask_for_more(void **state) {
  (void)state;
  struct {
    nd4c_conv_options known;
    int64_t unknown;
  } newer = {.known = ND4C_CONV_DEFAULTS};
  nd4c_array *y = NULL;
  newer.known.struct_size = sizeof newer;
  newer.known.groups = 3;
  assert_int_equal(nd4c_conv(array(0), array(1), &newer.known, &y), ND4C_OK);
  assert_int_equal(last.attrs[ND4C_ATTR_conv_groups].as.i, 3);
  const int calls = last.calls;
  newer.unknown = INT64_C(1) << 40;
  assert_int_equal(nd4c_conv(array(0), array(1), &newer.known, &y), ND4C_ARGUMENT);
  assert_non_null(strstr(nd4c_error_message(), "newer libnd4c.so"));
  assert_int_equal(last.calls, calls);
}

static void a_struct_without_a_size_is_refused(void **state) {
  (void)state;
  nd4c_array *y = NULL;
  static union {
    nd4c_conv_options options;
    unsigned char bytes[2 * LONGEST];
  } given;
  const uint32_t wrong[] = {0, 3, 4097, UINT32_MAX};
  const int calls = last.calls;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    given.options.struct_size = wrong[i];
    assert_int_equal(nd4c_conv(array(0), array(1), &given.options, &y), ND4C_ARGUMENT);
    assert_non_null(strstr(nd4c_error_message(), "DEFAULTS"));
  }
  assert_int_equal(last.calls, calls);
}

static void a_list_without_a_count_is_refused(void **state) {
  (void)state;
  static const int64_t ints[] = {2, 2};
  static const double floats[] = {0.5};
  nd4c_array *y = NULL;
  nd4c_conv_options conv = ND4C_CONV_DEFAULTS;
  nd4c_resize_options resize = ND4C_RESIZE_DEFAULTS;
  const int calls = last.calls;
  conv.strides = ints;
  assert_int_equal(nd4c_conv(array(0), array(1), &conv, &y), ND4C_ARGUMENT);
  assert_string_equal(nd4c_error_message(),
                      "conv: the options have a list strides, but strides_count is 0: set the "
                      "count, or leave the list at NULL");
  resize.scales = floats;
  assert_int_equal(nd4c_resize(array(0), &resize, &y), ND4C_ARGUMENT);
  assert_non_null(strstr(nd4c_error_message(), "scales_count is 0"));
  assert_int_equal(last.calls, calls);
  conv.strides_count = 2;
  assert_int_equal(nd4c_conv(array(0), array(1), &conv, &y), ND4C_OK);
  conv.strides = NULL;
  conv.strides_count = 0;
  assert_int_equal(nd4c_conv(array(0), array(1), &conv, &y), ND4C_OK);
  conv.dilations = ints;
  conv.struct_size = offsetof(nd4c_conv_options, dilations); /* the field is not the caller's */
  assert_int_equal(nd4c_conv(array(0), array(1), &conv, &y), ND4C_OK);
}

/* Empty lists are no axes, if starts and stops are empty; an empty list beside others lacks its count. */
static void a_slice_of_no_axis_has_empty_lists(void **state) {
  (void)state;
  static const int64_t ints[] = {1};
  nd4c_array *y = NULL;
  nd4c_slice_options options = ND4C_SLICE_DEFAULTS;
  options.starts = options.stops = options.axes = options.steps = ints;
  assert_int_equal(nd4c_slice(array(0), &options, &y), ND4C_OK);
  assert_int_equal(last.attrs[ND4C_ATTR_slice_starts].count, 0);
  options.stops_count = 1;
  assert_int_equal(nd4c_slice(array(0), &options, &y), ND4C_ARGUMENT);
  assert_non_null(strstr(nd4c_error_message(), "starts_count is 0"));
  options.starts_count = options.axes_count = 1;
  assert_int_equal(nd4c_slice(array(0), &options, &y), ND4C_ARGUMENT);
  assert_non_null(strstr(nd4c_error_message(), "steps_count is 0"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_op_has_its_defaults),          cmocka_unit_test(fields_carry_kind_and_place),
      cmocka_unit_test(an_older_struct_ends_early),         cmocka_unit_test(a_newer_struct_may_not_ask_for_more),
      cmocka_unit_test(a_struct_without_a_size_is_refused), cmocka_unit_test(a_list_without_a_count_is_refused),
      cmocka_unit_test(a_slice_of_no_axis_has_empty_lists),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
