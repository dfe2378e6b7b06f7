/* Warm calls ask the system for no memory, also where they go the whole way: several results, results that are given,
 * a slot of the call cache that two calls share. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/recycle.h"
#include "nd4c/nd4c.h"

enum { WARM = 4, COUNTED = 5, INPUTS = 4, OUTPUTS = 4, SIDE = 5 };

/* Handles are new each time in a debug build, and all blocks are where AddressSanitizer watches. */
#if defined(NDEBUG)
enum { COUNTS = ND4C_RECYCLES };
#else
enum { COUNTS = 0 };
#endif

static nd4c_status call(nd4c_op op, const nd4c_array *const *inputs, int32_t input_count, nd4c_array *const *given) {
  nd4c_array *outputs[OUTPUTS] = {NULL};
  int32_t count = nd4c_op_get(op)->output_count;
  for (int32_t i = 0; given != NULL && i < count; i++) {
    outputs[i] = nd4c_array_retain(given[i]);
  }
  nd4c_status status = nd4c_op_call(NULL, op, inputs, input_count, NULL, 0, outputs, count);
  for (int32_t i = 0; i < count; i++) {
    nd4c_array_release(outputs[i]);
  }
  return status;
}

/* Of rounds of `count` calls in a workspace, each of inputs of its own, once they are warm. */
static int64_t count_allocations(nd4c_op op, const nd4c_array *const *inputs, int32_t input_count, int count,
                                 nd4c_array *const *given) {
  nd4c_workspace_options options = {.struct_size = sizeof options};
  nd4c_workspace *workspace = NULL;
  int64_t before = 0;
  assert_int_equal(nd4c_workspace_create(&options, &workspace), ND4C_OK);
  for (int cycle = 0; cycle < WARM + COUNTED; cycle++) {
    before = cycle == WARM ? nd4c_allocation_count() : before;
    assert_int_equal(nd4c_workspace_enter(workspace), ND4C_OK);
    for (int i = 0; i < count; i++) {
      if (call(op, inputs + i * input_count, input_count, given) != ND4C_OK) {
        fail_msg("%s: %s", nd4c_op_get(op)->name, nd4c_error_message());
      }
    }
    assert_int_equal(nd4c_workspace_leave(workspace), ND4C_OK);
  }
  int64_t after = nd4c_allocation_count();
  assert_int_equal(nd4c_workspace_destroy(workspace), ND4C_OK);
  return COUNTS ? after - before : 0;
}

/* Neither singular nor symmetric; every second row and column of a larger one if strided. */
static nd4c_array *matrix(nd4c_dtype dtype, bool strided) {
  enum { LARGE = 2 * SIDE };
  static double values[LARGE][LARGE];
  const int64_t shape[2] = {LARGE, LARGE}, begin[2] = {0, 0}, step[2] = {2, 2}, small[2] = {SIDE, SIDE};
  nd4c_array *large = NULL, *view = NULL, *result = NULL;
  for (int i = 0; i < LARGE; i++) {
    for (int j = 0; j < LARGE; j++) {
      values[i][j] = (7 * i + 3 * j) % 11 + (i == j ? 20 : 0);
    }
  }
  assert_int_equal(nd4c_array_from_data(ND4C_FLOAT64, 2, strided ? shape : small, values, NULL, &large), ND4C_OK);
  assert_int_equal(nd4c_cast(large, dtype, &result), ND4C_OK);
  nd4c_array_release(large);
  if (!strided) {
    return result;
  }
  assert_int_equal(nd4c_array_slice(result, begin, shape, step, &view), ND4C_OK);
  nd4c_array_release(result);
  return view;
}

static void several_results(void **state) {
  (void)state;
  static const struct {
    nd4c_op op;
    int inputs;
  } rows[] = {{ND4C_OP_qr, 1},    {ND4C_OP_svd, 1},        {ND4C_OP_eigh, 1},     {ND4C_OP_eig, 1},
              {ND4C_OP_lu, 1},    {ND4C_OP_lu_factor, 1},  {ND4C_OP_slogdet, 1},  {ND4C_OP_cumulative_max, 1},
              {ND4C_OP_lstsq, 2}, {ND4C_OP_unique_all, 1}, {ND4C_OP_histogram, 1}};
  static const nd4c_dtype dtypes[] = {ND4C_FLOAT32, ND4C_FLOAT64, ND4C_FLOAT16};
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++) {
      for (int strided = 0; strided < 2; strided++) {
        nd4c_array *a = matrix(dtypes[d], strided != 0);
        const nd4c_array *inputs[2] = {a, a};
        int64_t allocations = count_allocations(rows[r].op, inputs, rows[r].inputs, 1, NULL);
        if (allocations != 0) {
          fail_msg("%s, %s%s: %lld allocations in %d calls", nd4c_op_get(rows[r].op)->name, nd4c_dtype_name(dtypes[d]),
                   strided != 0 ? ", strided" : "", (long long)allocations, COUNTED);
        }
        nd4c_array_release(a);
      }
    }
  }
}

/* What refuses late computes beside the result that is given. */
static void results_that_are_given(void **state) {
  (void)state;
  static const nd4c_op ops[] = {ND4C_OP_inv, ND4C_OP_det};
  for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
    nd4c_array *a = matrix(ND4C_FLOAT32, false), *given = NULL;
    const nd4c_array *inputs[1] = {a};
    assert_int_equal(nd4c_op_call(NULL, ops[i], inputs, 1, NULL, 0, &given, 1), ND4C_OK);
    assert_int_equal(count_allocations(ops[i], inputs, 1, 1, &given), 0);
    nd4c_array_release(a);
    nd4c_array_release(given);
  }
}

/* More signatures in turn than the cache of calls has slots. */
static void slots_that_are_shared(void **state) {
  (void)state;
  enum { MANY = 600 };
  static nd4c_array *inputs[MANY];
  static const nd4c_array *borrowed[MANY];
  for (int64_t i = 0; i < MANY; i++) {
    const int64_t shape[1] = {i + 1};
    assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, shape, 1, NULL, &inputs[i]), ND4C_OK);
    borrowed[i] = inputs[i];
  }
  assert_int_equal(count_allocations(ND4C_OP_square, borrowed, 1, MANY, NULL), 0);
  for (int i = 0; i < MANY; i++) {
    nd4c_array_release(inputs[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(several_results),
      cmocka_unit_test(results_that_are_given),
      cmocka_unit_test(slots_that_are_shared),
  };
  return cmocka_run_group_tests_name("dispatch.warm", tests, NULL, NULL);
}
