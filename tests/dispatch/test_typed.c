/* The typed functions pack the arguments that the generic call expects. This test compiles their source again, with the
 * generic call replaced by one that records its arguments. */
#define nd4c_op_call_positional recorded_call
#include "dispatch/typed.c"
#undef nd4c_op_call_positional

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct {
  nd4c_context *context;
  nd4c_op op;
  const nd4c_array *inputs[8];
  int32_t input_count;
  bool attrs_given;
  nd4c_attr_value attrs[8];
  nd4c_array **outputs;
  int calls;
} last;

nd4c_status recorded_call(nd4c_context *context, nd4c_op op, const nd4c_array *const *inputs, int32_t input_count,
                          const nd4c_attr_value *attrs, nd4c_array **outputs) {
  last.context = context;
  last.op = op;
  last.input_count = input_count;
  memcpy(last.inputs, inputs, (size_t)input_count * sizeof *inputs);
  last.attrs_given = attrs != NULL;
  if (attrs != NULL) {
    memcpy(last.attrs, attrs, (size_t)nd4c_op_get(op)->attr_count * sizeof *attrs);
  }
  last.outputs = outputs;
  return ND4C_MEMORY + ++last.calls;
}

/* Addresses that distinguish arguments; they are never dereferenced. */
static char marks[8];

static const nd4c_array *array(int i) {
  return (const nd4c_array *)(const void *)&marks[i];
}

static void an_op_without_attributes(void **state) {
  (void)state;
  nd4c_array *y = NULL;
  last.calls = 0;
  assert_int_equal(nd4c_add(array(0), array(1), &y), ND4C_MEMORY + 1);
  assert_int_equal(last.op, ND4C_OP_add);
  assert_null(last.context);
  assert_int_equal(last.input_count, 2);
  assert_ptr_equal(last.inputs[0], array(0));
  assert_ptr_equal(last.inputs[1], array(1));
  assert_false(last.attrs_given);
  assert_ptr_equal(last.outputs, &y);
}

static void attributes_carry_kind_and_place(void **state) {
  (void)state;
  const int64_t pads[] = {1, 1, 2, 2};
  nd4c_array *y = NULL;
  nd4c_context *context = (nd4c_context *)(void *)&marks[7];
  (void)nd4c_pad_on(context, array(0), array(3), pads, 4, NULL, 0, ND4C_PAD_MODE_REFLECT, &y);
  assert_ptr_equal(last.context, context);
  assert_int_equal(last.op, ND4C_OP_pad);
  assert_int_equal(last.input_count, 2);
  assert_ptr_equal(last.inputs[ND4C_IN_pad_value], array(3));
  const nd4c_op_info *pad = nd4c_op_get(ND4C_OP_pad);
  for (int32_t i = 0; i < pad->attr_count; i++) {
    assert_int_equal(last.attrs[i].kind, pad->attrs[i].preset.kind);
  }
  assert_ptr_equal(last.attrs[ND4C_ATTR_pad_pads].as.ints, pads);
  assert_int_equal(last.attrs[ND4C_ATTR_pad_pads].count, 4);
  assert_null(last.attrs[ND4C_ATTR_pad_axes].as.ints);
  assert_int_equal(last.attrs[ND4C_ATTR_pad_axes].count, 0);
  assert_int_equal(last.attrs[ND4C_ATTR_pad_mode].as.i, ND4C_PAD_MODE_REFLECT);
}

static void other_kinds_of_attributes(void **state) {
  (void)state;
  nd4c_array *y = NULL;
  (void)nd4c_cast(array(0), ND4C_FLOAT64, &y);
  assert_int_equal(last.attrs[0].kind, ND4C_ATTR_DTYPE);
  assert_int_equal(last.attrs[0].as.i, ND4C_FLOAT64);
  (void)nd4c_gelu(array(0), true, &y);
  assert_int_equal(last.attrs[0].kind, ND4C_ATTR_BOOL);
  assert_int_equal(last.attrs[0].as.i, 1);
  (void)nd4c_lrn(array(0), 3, 0.5, 0.25, 2.0, &y);
  assert_int_equal(last.attrs[ND4C_ATTR_lrn_size].as.i, 3);
  assert_true(last.attrs[ND4C_ATTR_lrn_alpha].as.f == 0.5);
  assert_true(last.attrs[ND4C_ATTR_lrn_beta].as.f == 0.25);
  assert_true(last.attrs[ND4C_ATTR_lrn_bias].as.f == 2.0);
}

static void a_variadic_op_passes_the_list_on(void **state) {
  (void)state;
  const nd4c_array *xs[] = {array(4), array(2), array(5)};
  nd4c_array *y = NULL;
  (void)nd4c_concat(xs, 3, -1, &y);
  assert_int_equal(last.op, ND4C_OP_concat);
  assert_int_equal(last.input_count, 3);
  assert_memory_equal(last.inputs, xs, sizeof xs);
  assert_int_equal(last.attrs[0].as.i, -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_op_without_attributes),
      cmocka_unit_test(attributes_carry_kind_and_place),
      cmocka_unit_test(other_kinds_of_attributes),
      cmocka_unit_test(a_variadic_op_passes_the_list_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
