/* Warm calls request no memory from the system, even without the cache of calls: several results, given results, more
 * signatures than the cache holds, ops that no kernel computes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/recycle.h"
#include "nd4c/dlpack.h"
#include "nd4c/nd4c.h"

enum { WARM = 4, COUNTED = 5, INPUTS = 4, OUTPUTS = 4, SIDE = 5 };

/* A debug build makes a new handle each time, and AddressSanitizer a new block. */
#if defined(NDEBUG)
enum { COUNTS = ND4C_RECYCLES };
#else
enum { COUNTS = 0 };
#endif

/* A call and its arguments. */
typedef struct step {
  nd4c_op op;
  int32_t input_count;
  const nd4c_array *const *inputs; /* of `calls` calls, one after the other */
  int calls;
  nd4c_array *const *given; /* results; NULL: fresh ones */
  const nd4c_attr *attrs;
  int32_t attr_count;
} step;

static nd4c_status call(const step *s, int number) {
  nd4c_array *outputs[OUTPUTS] = {NULL};
  int32_t count = nd4c_op_get(s->op)->output_count;
  for (int32_t i = 0; s->given != NULL && i < count; i++) {
    outputs[i] = nd4c_array_retain(s->given[i]);
  }
  const nd4c_array *const *inputs = s->inputs + number * s->input_count;
  nd4c_status status = nd4c_op_call(NULL, s->op, inputs, s->input_count, s->attrs, s->attr_count, outputs, count);
  for (int32_t i = 0; i < count; i++) {
    nd4c_array_release(outputs[i]);
  }
  return status;
}

/* Allocations of rounds in a workspace, once they are warm. */
static int64_t count_allocations(const step *s) {
  nd4c_workspace_options options = {.struct_size = sizeof options};
  nd4c_workspace *workspace = NULL;
  int64_t before = 0;
  assert_int_equal(nd4c_workspace_create(&options, &workspace), ND4C_OK);
  for (int cycle = 0; cycle < WARM + COUNTED; cycle++) {
    before = cycle == WARM ? nd4c_allocation_count() : before;
    assert_int_equal(nd4c_workspace_enter(workspace), ND4C_OK);
    for (int i = 0; i < s->calls; i++) {
      if (call(s, i) != ND4C_OK) {
        fail_msg("%s: %s", nd4c_op_get(s->op)->name, nd4c_error_message());
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
  const int64_t shape[2] = {LARGE, LARGE}, begin[2] = {0, 0}, by[2] = {2, 2}, small[2] = {SIDE, SIDE};
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
  assert_int_equal(nd4c_array_slice(result, begin, shape, by, &view), ND4C_OK);
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
        int64_t allocations = count_allocations(&(step){rows[r].op, rows[r].inputs, inputs, 1, NULL, NULL, 0});
        if (allocations != 0) {
          fail_msg("%s, %s%s: %lld allocations in %d calls", nd4c_op_get(rows[r].op)->name, nd4c_dtype_name(dtypes[d]),
                   strided != 0 ? ", strided" : "", (long long)allocations, COUNTED);
        }
        nd4c_array_release(a);
      }
    }
  }
}

/* An op that may refuse late computes into separate memory first. */
static void results_that_are_given(void **state) {
  (void)state;
  static const nd4c_op ops[] = {ND4C_OP_inv, ND4C_OP_det};
  for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
    nd4c_array *a = matrix(ND4C_FLOAT32, false), *given = NULL;
    const nd4c_array *inputs[1] = {a};
    assert_int_equal(nd4c_op_call(NULL, ops[i], inputs, 1, NULL, 0, &given, 1), ND4C_OK);
    assert_int_equal(count_allocations(&(step){ops[i], 1, inputs, 1, &given, NULL, 0}), 0);
    nd4c_array_release(a);
    nd4c_array_release(given);
  }
}

/* Each call replaces the cache entry of another. */
static void more_signatures_than_room(void **state) {
  (void)state;
  enum { MANY = 600 };
  static nd4c_array *inputs[MANY];
  static const nd4c_array *borrowed[MANY];
  for (int64_t i = 0; i < MANY; i++) {
    const int64_t shape[1] = {i + 1};
    assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, shape, 1, NULL, &inputs[i]), ND4C_OK);
    borrowed[i] = inputs[i];
  }
  assert_int_equal(count_allocations(&(step){ND4C_OP_square, 1, borrowed, MANY, NULL, NULL, 0}), 0);
  for (int i = 0; i < MANY; i++) {
    nd4c_array_release(inputs[i]);
  }
}

/* Each allocation of a call fails once. */
static void check_failures(const step *s) {
  bool reached = true;
  for (int64_t skip = 0; reached; skip++) {
    int64_t before = nd4c_allocation_count();
    nd4c_allocation_fail_at(skip);
    nd4c_status status = call(s, 0);
    nd4c_allocation_fail_at(-1);
    reached = nd4c_allocation_count() - before > skip;
    if (status != ND4C_OK && !(reached && status == ND4C_MEMORY)) {
      fail_msg("%s, allocation %lld: %s", nd4c_op_get(s->op)->name, (long long)skip, nd4c_error_message());
    }
  }
}

/* Ops on strings, and those whose results no inference bounds. */
static void what_the_library_computes(void **state) {
  (void)state;
  static const char *const texts[] = {"one two", " three ", "Four", "", "five", "six", "seven", "eight"};
  static const int64_t tokens[] = {1, 2, 3, 2, 1, 2}, pool[] = {1, 2, 1, 2}, counts[] = {0, 2}, columns[] = {0, 1, 2};
  static const char picture[] = "P5 3 2 255 abcdef";
  const int64_t eight = 8, two_by_three[2] = {2, 3}, four = 4, file = sizeof picture - 1;
  const nd4c_attr grams[] = {{"ngram_counts", {.kind = ND4C_ATTR_INTS, .count = 2, .as.ints = counts}},
                             {"ngram_indexes", {.kind = ND4C_ATTR_INTS, .count = 3, .as.ints = columns}},
                             {"max_gram_length", {.kind = ND4C_ATTR_INT, .as.i = 2}}};
  nd4c_array *strings = NULL, *numbers = NULL, *words = NULL, *bytes = NULL;
  assert_int_equal(nd4c_array_from_strings(1, &eight, texts, NULL, &strings), ND4C_OK);
  assert_int_equal(nd4c_array_from_data(ND4C_INT64, 2, two_by_three, tokens, NULL, &numbers), ND4C_OK);
  assert_int_equal(nd4c_array_from_data(ND4C_INT64, 1, &four, pool, NULL, &words), ND4C_OK);
  assert_int_equal(nd4c_array_from_data(ND4C_UINT8, 1, &file, picture, NULL, &bytes), ND4C_OK);
  const nd4c_array *of_strings[2] = {strings, strings}, *of_numbers[2] = {numbers, words}, *of_bytes[1] = {bytes};
  const step rows[] = {{ND4C_OP_equal, 2, of_strings, 1, NULL, NULL, 0},
                       {ND4C_OP_string_concat, 2, of_strings, 1, NULL, NULL, 0},
                       {ND4C_OP_string_upper, 1, of_strings, 1, NULL, NULL, 0},
                       {ND4C_OP_string_strip, 1, of_strings, 1, NULL, NULL, 0},
                       {ND4C_OP_string_length, 1, of_strings, 1, NULL, NULL, 0},
                       {ND4C_OP_string_split, 1, of_strings, 1, NULL, NULL, 0},
                       {ND4C_OP_string_normalizer, 2, of_strings, 1, NULL, NULL, 0},
                       {ND4C_OP_label_index, 2, of_strings, 1, NULL, NULL, 0},
                       {ND4C_OP_concat, 2, of_strings, 1, NULL, NULL, 0},
                       {ND4C_OP_tfidf_vectorizer, 2, of_numbers, 1, NULL, grams, 3},
                       {ND4C_OP_decode_image, 1, of_bytes, 1, NULL, NULL, 0}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    int64_t allocations = count_allocations(&rows[i]);
    if (allocations != 0) {
      fail_msg("%s: %lld allocations in %d calls", nd4c_op_get(rows[i].op)->name, (long long)allocations, COUNTED);
    }
    check_failures(&rows[i]);
  }
  nd4c_array_release(strings);
  nd4c_array_release(numbers);
  nd4c_array_release(words);
  nd4c_array_release(bytes);
}

/* more axes than a handle holds inline */
static void many_axes(void **state) {
  (void)state;
  const int64_t shape[9] = {1, 2, 1, 2, 1, 2, 1, 2, 1};
  nd4c_array *x = NULL;
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 9, shape, 3, NULL, &x), ND4C_OK);
  const nd4c_array *inputs[1] = {x};
  assert_int_equal(count_allocations(&(step){ND4C_OP_exp, 1, inputs, 1, NULL, NULL, 0}), 0);
  nd4c_array_release(x);
}

/* The program's memory as an array; an array exported to another library. */
static void memory_of_others(void **state) {
  (void)state;
  static float memory[100];
  const int64_t shape[1] = {100};
  nd4c_array *x = NULL;
  int64_t before = 0;
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, shape, 3, NULL, &x), ND4C_OK);
  for (int cycle = 0; cycle < WARM + COUNTED; cycle++) {
    nd4c_array *wrapped = NULL;
    nd4c_dl_managed *lent = NULL;
    before = cycle == WARM ? nd4c_allocation_count() : before;
    assert_int_equal(nd4c_array_wrap(ND4C_FLOAT32, 1, shape, NULL, memory, true, NULL, NULL, &wrapped), ND4C_OK);
    assert_int_equal(nd4c_array_to_dlpack(x, &lent), ND4C_OK);
    lent->deleter(lent);
    nd4c_array_release(wrapped);
  }
  assert_int_equal(COUNTS ? nd4c_allocation_count() - before : 0, 0);
  nd4c_array_release(x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(several_results),
      cmocka_unit_test(results_that_are_given),
      cmocka_unit_test(more_signatures_than_room),
      cmocka_unit_test(what_the_library_computes),
      cmocka_unit_test(many_axes),
      cmocka_unit_test(memory_of_others),
  };
  return cmocka_run_group_tests_name("dispatch.warm", tests, NULL, NULL);
}
