/* Compares what engine simd computes with what the reference does, byte by byte, for operands of any dtype and layout.
 * For calls of whole numbers, of moves, and of floats whose results are exact. */
#ifndef ND4C_TESTS_KERNELS_SAME_H
#define ND4C_TESTS_KERNELS_SAME_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nd4c/nd4c.h"

enum { SAME_RANK = 6, SAME_OPERANDS = 6, SAME_RESULTS = 4 };

/* How an operand lies in memory. */
typedef enum same_layout { SAME_PLAIN, SAME_TURNED, SAME_SPARSE, SAME_BACKWARDS, SAME_LAYOUTS } same_layout;

static uint64_t same_state = 1;

static int64_t same_number(int64_t below) {
  same_state = same_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (int64_t)((same_state >> 33) % (uint64_t)below);
}

/* An array with whole numbers in [low, low + below), strides as the layout has them. */
static nd4c_array *same_array(nd4c_dtype dtype, int32_t rank, const int64_t *shape, same_layout how, int64_t low,
                              int64_t below) {
  int64_t strides[SAME_RANK], size = 1, first = 0;
  for (int32_t i = 0; i < rank; i++) {
    const int32_t axis = how == SAME_TURNED ? i : rank - 1 - i;
    strides[axis] = size;
    size *= shape[axis];
  }
  const int64_t room = size * 2 + 1;
  nd4c_array *numbers = NULL, *all = NULL, *seen = NULL;
  int64_t *values = malloc((size_t)room * sizeof *values);
  assert_non_null(values);
  for (int64_t i = 0; i < room; i++) {
    values[i] = low + same_number(below);
  }
  assert_int_equal(nd4c_array_from_data(ND4C_INT64, 1, &room, values, NULL, &numbers), ND4C_OK);
  free(values);
  assert_int_equal(nd4c_cast(numbers, dtype, &all), ND4C_OK);
  for (int32_t axis = 0; axis < rank; axis++) {
    strides[axis] *= how == SAME_SPARSE ? 2 : 1;
    if (how == SAME_BACKWARDS && shape[axis] > 0) {
      first += (shape[axis] - 1) * strides[axis];
      strides[axis] = -strides[axis];
    }
  }
  assert_int_equal(nd4c_array_as_strided(all, rank, shape, strides, first, &seen), ND4C_OK);
  nd4c_array_release(numbers);
  nd4c_array_release(all);
  return seen;
}

static void same_free(nd4c_array **arrays, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    nd4c_array_release(arrays[i]);
  }
}

/* The engine of the kernel that the call would take, into `engine`. */
static void same_engine(nd4c_op op, const nd4c_array *const *inputs, int32_t count, const nd4c_attr *attrs,
                        int32_t attr_count, char *engine, size_t size) {
  char *text = NULL;
  engine[0] = '\0';
  assert_int_equal(nd4c_explain(NULL, op, inputs, count, attrs, attr_count, &text), ND4C_OK);
  const char *end = strstr(text, "): taken"), *at = end;
  while (at != NULL && at > text && strncmp(at, "(engine ", 8) != 0) {
    at--;
  }
  if (end != NULL) {
    (void)snprintf(engine, size, "%.*s", (int)(end - at - 8), at + 8);
  }
  nd4c_free(text);
}

static void *same_bytes(const nd4c_array *x, size_t *bytes) {
  *bytes = (size_t)nd4c_array_size(x) * (size_t)nd4c_dtype_size(nd4c_array_dtype(x));
  void *data = malloc(*bytes + 1);
  assert_non_null(data);
  assert_int_equal(nd4c_array_read(x, data, *bytes), ND4C_OK);
  return data;
}

/* Engine `engine` takes the call, and its results are the reference's. */
static void same_check(const char *what, nd4c_op op, const nd4c_array *const *inputs, int32_t count,
                       const nd4c_attr *attrs, int32_t attr_count, int32_t results, const char *engine) {
  nd4c_array *got[SAME_RESULTS] = {NULL}, *expected[SAME_RESULTS] = {NULL};
  char taken[64];
  same_engine(op, inputs, count, attrs, attr_count, taken, sizeof taken);
  if (strcmp(taken, engine) != 0) {
    fail_msg("%s: taken by engine '%s', expected '%s'", what, taken, engine);
  }
  assert_int_equal(nd4c_op_call(NULL, op, inputs, count, attrs, attr_count, got, results), ND4C_OK);
  assert_int_equal(nd4c_config_set("SD_KERNEL_FORCE_ENGINE", "reference"), ND4C_OK);
  assert_int_equal(nd4c_op_call(NULL, op, inputs, count, attrs, attr_count, expected, results), ND4C_OK);
  assert_int_equal(nd4c_config_set("SD_KERNEL_FORCE_ENGINE", NULL), ND4C_OK);
  for (int32_t i = 0; i < results; i++) {
    size_t bytes, expected_bytes;
    char *a = same_bytes(got[i], &bytes), *b = same_bytes(expected[i], &expected_bytes);
    assert_int_equal(bytes, expected_bytes);
    for (size_t at = 0; at < bytes; at++) {
      if (a[at] != b[at]) {
        fail_msg("%s: result %d differs at byte %zu of %zu", what, (int)i, at, bytes);
      }
    }
    free(a);
    free(b);
  }
  same_free(got, results);
  same_free(expected, results);
}

#endif
