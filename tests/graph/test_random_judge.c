/* What random graphs (random_graphs/) let pass, and what not: differences that a pass or a kernel may make, and faults
 * that look like them. Each graph is a sketch of one or two ops. */
#include "graph/graph_check.h"
#include "graph/precision.h"
#include "random_graphs/random_graphs.h"

/* The judge's verdict on `got` in place of the output of a sketch. Takes over `got`. */
static bool accepts(rg_sketch *sketch, rg_precision precision, nd4c_array *got) {
  char text[RG_TEXT];
  nd4c_array *base[RG_PORTS] = {sketch->values[sketch->outputs[0]].array};
  rg_judge *judge = rg_judge_make(sketch, base, precision);
  const bool accepted = rg_judge_output(judge, 0, got, false, text, sizeof text) == NULL;
  rg_judge_free(judge);
  nd4c_array_release(got);
  return accepted;
}

static rg_sketch *begin(void) {
  rg_sketch *sketch = rg_need(sizeof *sketch);
  rg_sketch_begin(sketch, 4); /* a seed of which plans do not reorder */
  return sketch;
}

static void end(rg_sketch *sketch) {
  rg_sketch_clear(sketch);
  free(sketch);
}

static int32_t number(rg_sketch *sketch, nd4c_dtype dtype, double value) {
  nd4c_array *array = NULL;
  rg_must(nd4c_array_scalar(dtype, value, NULL, &array), "number");
  return rg_leaf(sketch, array, false);
}

static void set_output(rg_sketch *sketch, int32_t value) {
  assert_true(value >= 0);
  sketch->outputs[0] = value;
  sketch->output_count = 1;
}

static nd4c_array *scalar(nd4c_dtype dtype, double value) {
  nd4c_array *array = NULL;
  CHECK_OK(nd4c_array_scalar(dtype, value, NULL, &array));
  return array;
}

static const rg_precision none = {.calibrated = false};

static void sums_round_in_some_units(void **state) {
  (void)state;
  rg_sketch *sketch = begin();
  set_output(sketch,
             rg_binary(sketch, ND4C_OP_add, number(sketch, ND4C_FLOAT32, 1.1), number(sketch, ND4C_FLOAT32, 2.2)));
  assert_true(accepts(sketch, none, scalar(ND4C_FLOAT32, 3.3 + 0x1p-21)));
  assert_false(accepts(sketch, none, scalar(ND4C_FLOAT32, 3.301)));
  end(sketch);
}

/* The sign of NaN is open; that of a number is not. */
static void nan_has_no_sign(void **state) {
  (void)state;
  const double numbers[] = {(double)NAN, 1.5};
  for (int32_t i = 0; i < 2; i++) {
    rg_sketch *sketch = begin();
    set_output(sketch, rg_unary(sketch, ND4C_OP_signbit, number(sketch, ND4C_FLOAT32, numbers[i])));
    assert_true(accepts(sketch, none, scalar(ND4C_BOOL, i)) == (i == 0));
    assert_true(accepts(sketch, none, scalar(ND4C_BOOL, 1 - i)) || i == 1);
    end(sketch);
  }
}

/* Neighbours may be equal or not after another rounding, numbers apart may not. */
static void neighbours_may_be_equal(void **state) {
  (void)state;
  const double apart[] = {0x1p-9, 0x1p-1};
  for (int32_t i = 0; i < 2; i++) {
    rg_sketch *sketch = begin();
    const int32_t x = number(sketch, ND4C_FLOAT16, 1.3), y = number(sketch, ND4C_FLOAT16, 1.3 + apart[i]);
    set_output(sketch, rg_binary(sketch, ND4C_OP_not_equal, x, y));
    assert_true(accepts(sketch, none, scalar(ND4C_BOOL, 0)) == (i == 0));
    end(sketch);
  }
}

/* Asked for int8 with a calibration, a number near 0 may be 0. */
static void bytes_near_0_may_be_false(void **state) {
  (void)state;
  static const float numbers[] = {2, 0.004F, 0.5F};
  const int64_t size = 3;
  rg_sketch *sketch = begin();
  nd4c_array *x = NULL;
  CHECK_OK(nd4c_array_from_data(ND4C_FLOAT32, 1, &size, numbers, NULL, &x));
  set_output(sketch, rg_op_int(sketch, ND4C_OP_cast, rg_leaf(sketch, x, false), "dtype", ND4C_BOOL));
  for (int32_t zero = 0; zero < 3; zero++) {
    const bool truth[] = {zero != 0, zero != 1, zero != 2};
    for (int32_t calibrated = 0; calibrated < 2; calibrated++) {
      const rg_precision precision = {calibrated ? ND4C_INT8 : ND4C_DTYPE_NONE, calibrated};
      nd4c_array *got = NULL;
      CHECK_OK(nd4c_array_from_data(ND4C_BOOL, 1, &size, truth, NULL, &got));
      assert_true(accepts(sketch, precision, got) == (zero == 1 && calibrated));
    }
  }
  end(sketch);
}

static nd4c_array *halves(const float *numbers) {
  const int64_t size = 4;
  nd4c_array *wide = NULL, *array = NULL;
  CHECK_OK(nd4c_array_from_data(ND4C_FLOAT32, 1, &size, numbers, NULL, &wide));
  CHECK_OK(nd4c_cast(wide, ND4C_FLOAT16, &array));
  nd4c_array_release(wide);
  return array;
}

/* 300 * 300 is beyond float16, and infinite from then on; less 4 * 60000 it is beyond on the other side. The other
 * elements are plain, so that the graph is not dull. */
static void infinities_of_the_truth_are_right(void **state) {
  (void)state;
  rg_sketch *sketch = begin();
  const int32_t x = rg_leaf(sketch, halves((const float[]){300, 1, 1, 1}), false);
  const int32_t step = rg_leaf(sketch, halves((const float[]){60000, 0, 0, 0}), false);
  int32_t y = rg_binary(sketch, ND4C_OP_multiply, x, x);
  for (int32_t i = 0; i < 4; i++) {
    y = rg_binary(sketch, ND4C_OP_subtract, y, step);
  }
  set_output(sketch, y);
  assert_true(accepts(sketch, none, halves((const float[]){-INFINITY, 1, 1, 1})));
  assert_false(accepts(sketch, none, halves((const float[]){7, 1, 1, 1})));
  end(sketch);
}

/* x w of 16 values. */
static rg_sketch *make_product(nd4c_dtype dtype) {
  rg_sketch *sketch = begin();
  const int32_t x = rg_between(sketch, dtype, 2, (int64_t[]){1, 16}, -2, 2);
  const int32_t w = rg_between(sketch, dtype, 2, (int64_t[]){16, 1}, -2, 2);
  set_output(sketch, rg_binary(sketch, ND4C_OP_matmul, x, w));
  return sketch;
}

/* The product plus that. */
static nd4c_array *moved_product(const rg_sketch *sketch, double by) {
  const nd4c_array *y = sketch->values[sketch->outputs[0]].array;
  nd4c_array *step = scalar(nd4c_array_dtype(y), by), *sum = NULL;
  CHECK_OK(nd4c_op_call_positional(NULL, ND4C_OP_add, (const nd4c_array *const[]){y, step}, 2, NULL, &sum));
  nd4c_array_release(step);
  return sum;
}

/* Asked for int8, a product may be off by what bytes lose, also one of float16, which widen lets compute in float32:
 * sixteen products of steps of 2 / 255 lose some hundredths. */
static void products_of_int8_lose_a_step(void **state) {
  (void)state;
  static const nd4c_dtype dtypes[] = {ND4C_FLOAT32, ND4C_FLOAT16, ND4C_BFLOAT16};
  const rg_precision int8 = {.dtype = ND4C_INT8};
  for (int32_t i = 0; i < 3; i++) {
    rg_sketch *sketch = make_product(dtypes[i]);
    assert_true(accepts(sketch, int8, moved_product(sketch, 0.0625)));
    assert_false(accepts(sketch, int8, moved_product(sketch, 8)));
    assert_false(accepts(sketch, none, moved_product(sketch, i == 2 ? 4 : 0.5)));
    end(sketch);
  }
}

/* Convolutions become bytes only by a calibration. */
static void convolutions_need_a_calibration(void **state) {
  (void)state;
  rg_sketch *sketch = begin();
  const int32_t x = rg_between(sketch, ND4C_FLOAT32, 4, (int64_t[]){1, 3, 3, 3}, -2, 2);
  const int32_t w = rg_between(sketch, ND4C_FLOAT32, 4, (int64_t[]){1, 3, 3, 3}, -2, 2);
  set_output(sketch, rg_op(sketch, ND4C_OP_conv, (int32_t[]){x, w}, 2, NULL, 0));
  assert_true(accepts(sketch, (rg_precision){ND4C_INT8, true}, moved_product(sketch, 0.0625)));
  assert_false(accepts(sketch, (rg_precision){ND4C_INT8, true}, moved_product(sketch, 16)));
  assert_false(accepts(sketch, (rg_precision){ND4C_INT8, false}, moved_product(sketch, 0.0625)));
  end(sketch);
}

/* A whole trial of random graph 777425 as it was made smaller: widen and quantize make linear_int8 of a product of
 * float16. */
static void trials_know_widened_products(void **state) {
  (void)state;
  nd4c_context *context = NULL;
  CHECK_OK(nd4c_context_resolve(NULL, &context));
  if (nd4c_precision_check_device(context, ND4C_INT8, "test") != ND4C_OK) {
    skip();
  }
  rg_sketch *sketch = begin();
  const int32_t x = rg_between(sketch, ND4C_FLOAT16, 3, (int64_t[]){2, 8, 5}, -2, 2);
  const int32_t w = rg_between(sketch, ND4C_FLOAT16, 2, (int64_t[]){5, 8}, -2, 2);
  const int32_t y = rg_binary(sketch, ND4C_OP_matmul, x, w);
  sketch->values[x].is_constant = false;
  sketch->values[w].is_constant = true;
  set_output(sketch, rg_op_int(sketch, ND4C_OP_cast, y, "dtype", ND4C_FLOAT32));
  rg_failure failure;
  int64_t runs = 0;
  const rg_trial_options options = {.passes = "widen,quantize", .precision = {.dtype = ND4C_INT8}};
  if (!rg_trial(sketch, &options, &runs, &failure)) {
    fail_msg("%s", failure.what);
  }
  assert_true(runs > 0);
  end(sketch);
}

static int32_t channels(rg_sketch *sketch, double first, double second) {
  nd4c_array *array = NULL;
  const float numbers[] = {(float)first, (float)second};
  CHECK_OK(nd4c_array_from_data(ND4C_FLOAT32, 4, (int64_t[]){1, 2, 1, 1}, numbers, NULL, &array));
  return rg_leaf(sketch, array, true);
}

/* Random graph 99990139 as it was made smaller: fold_affine lets a convolution give what a division by unlike numbers
 * of its channels gives, and quantize makes bytes of it. The channel with the large number decides how far apart the
 * bytes are; those of the division's operand are nearer. */
static void channels_share_the_steps_of_bytes(void **state) {
  (void)state;
  const rg_precision int8 = {ND4C_INT8, true};
  for (int32_t divided = 0; divided < 2; divided++) {
    rg_sketch *sketch = begin();
    const int32_t x = rg_between(sketch, ND4C_FLOAT32, 4, (int64_t[]){1, 2, 3, 3}, 1, 2);
    const int32_t w = rg_between(sketch, ND4C_FLOAT32, 4, (int64_t[]){2, 2, 1, 1}, 1, 2);
    const int32_t y = rg_op(sketch, ND4C_OP_conv, (int32_t[]){x, w}, 2, NULL, 0);
    set_output(sketch, divided ? rg_binary(sketch, ND4C_OP_divide, y, channels(sketch, 1, 0.01))
                               : rg_binary(sketch, ND4C_OP_maximum, y, channels(sketch, 1, 0.01)));
    /* The second channel reaches some hundreds: a step is 1 or more. */
    assert_true(accepts(sketch, int8, moved_product(sketch, 0.75)) == (divided == 1));
    assert_false(accepts(sketch, (rg_precision){ND4C_INT8, false}, moved_product(sketch, 0.75)));
    assert_false(accepts(sketch, int8, moved_product(sketch, 100)));
    end(sketch);
  }
}

/* A calibration refuses NaN: such a graph is tried without one, and counted. */
static void graphs_with_nan_are_not_calibrated(void **state) {
  (void)state;
  nd4c_context *context = NULL;
  CHECK_OK(nd4c_context_resolve(NULL, &context));
  if (nd4c_precision_check_device(context, ND4C_INT8, "test") != ND4C_OK) {
    skip();
  }
  rg_sketch *sketch = begin();
  const float numbers[25] = {NAN}; /* in a corner, so that other elements of the result are numbers */
  nd4c_array *array = NULL;
  CHECK_OK(nd4c_array_from_data(ND4C_FLOAT32, 4, (int64_t[]){1, 1, 5, 5}, numbers, NULL, &array));
  const int32_t x = rg_leaf(sketch, array, false);
  const int32_t w = rg_between(sketch, ND4C_FLOAT32, 4, (int64_t[]){1, 1, 3, 3}, -2, 2);
  sketch->values[w].is_constant = true;
  set_output(sketch, rg_op(sketch, ND4C_OP_conv, (int32_t[]){x, w}, 2, NULL, 0));
  rg_failure failure;
  int64_t runs = 0;
  const int64_t before = rg_trial_uncalibrated();
  const rg_trial_options options = {.passes = "", .precision = {ND4C_INT8, true}};
  if (!rg_trial(sketch, &options, &runs, &failure)) {
    fail_msg("%s", failure.what);
  }
  assert_int_equal(rg_trial_uncalibrated() - before, 1);
  end(sketch);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_round_in_some_units),          cmocka_unit_test(nan_has_no_sign),
      cmocka_unit_test(bytes_near_0_may_be_false),         cmocka_unit_test(infinities_of_the_truth_are_right),
      cmocka_unit_test(neighbours_may_be_equal),           cmocka_unit_test(products_of_int8_lose_a_step),
      cmocka_unit_test(convolutions_need_a_calibration),   cmocka_unit_test(trials_know_widened_products),
      cmocka_unit_test(channels_share_the_steps_of_bytes), cmocka_unit_test(graphs_with_nan_are_not_calibrated),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
