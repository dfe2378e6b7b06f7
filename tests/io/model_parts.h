/* Models with parts, for the tests of them: an example is open twice, in parts and interpreted as a whole, and both
 * give the same. */
#ifndef ND4C_TESTS_IO_MODEL_PARTS_H
#define ND4C_TESTS_IO_MODEL_PARTS_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_build.h"
#include "nd4c/nd4c.h"

enum { FLOAT = 1, INT64 = 7, BOOL = 9, SIDE = 64 };

static const int64_t square[] = {SIDE, SIDE}, rows[] = {SIDE}, one[] = {1};

static inline float noise(uint32_t *state) {
  *state = *state * 1664525U + 1013904223U;
  return (float)(*state >> 8) / (float)(1 << 24) - 0.5F;
}

static inline void add_noise(wire_bytes *graph, const char *name, int rank, const int64_t *shape, uint32_t seed) {
  size_t count = 1;
  for (int i = 0; i < rank; i++) {
    count *= (size_t)shape[i];
  }
  float *values = malloc(count * sizeof *values);
  assert_non_null(values);
  for (size_t i = 0; i < count; i++) {
    values[i] = 0.3F * noise(&seed);
  }
  build_initializer(graph, name, FLOAT, rank, shape, values, count * sizeof *values);
  free(values);
}

static inline void add_number(wire_bytes *graph, const char *name, int rank, int64_t value) {
  build_initializer(graph, name, INT64, rank, one, &value, sizeof value);
}

/* Weights w, v [64, 64], and the numbers that nodes name: zero, two (0-d), v0, v1 ([1]). */
static inline void add_constants(wire_bytes *graph) {
  add_noise(graph, "w", 2, square, 1);
  add_noise(graph, "v", 2, square, 2);
  add_number(graph, "zero", 0, 0);
  add_number(graph, "two", 0, 2);
  add_number(graph, "v0", 1, 0);
  add_number(graph, "v1", 1, 1);
}

typedef struct example {
  wire_bytes bytes;
  nd4c_model *model, *whole; /* whole: interpreted node after node */
} example;

static inline nd4c_model *open_bytes(const wire_bytes *bytes, bool whole) {
  const nd4c_model_options options = {.struct_size = sizeof options, .all_intermediates = whole};
  nd4c_model *model = NULL;
  if (nd4c_model_open_memory(bytes->bytes, bytes->size, &options, NULL, NULL, &model) != ND4C_OK) {
    fail_msg("%s", nd4c_error_message());
  }
  return model;
}

static inline void open_graph(example *e, wire_bytes *graph, int64_t opset) {
  e->bytes = (wire_bytes){0};
  build_model(&e->bytes, graph, opset);
  e->model = open_bytes(&e->bytes, false);
  e->whole = open_bytes(&e->bytes, true);
}

static inline void close_example(example *e) {
  nd4c_model_close(e->model);
  nd4c_model_close(e->whole);
}

/* The first output of a model of x and m. */
static inline nd4c_status run_model(nd4c_model *model, const nd4c_array *x, const nd4c_array *m, nd4c_array **y) {
  static const char *const names[] = {"x", "m"};
  const nd4c_array *inputs[] = {x, m};
  const int32_t count = nd4c_model_output_count(model);
  nd4c_array **outputs = calloc((size_t)count, sizeof *outputs);
  assert_non_null(outputs);
  const nd4c_status status = nd4c_model_run(model, NULL, names, inputs, 2, outputs, count);
  *y = outputs[0];
  for (int32_t i = 1; i < count; i++) {
    nd4c_array_release(outputs[i]);
  }
  free(outputs);
  return status;
}

static inline nd4c_array *make_x(int32_t rank, const int64_t *shape) {
  nd4c_array *x = NULL;
  uint32_t state = 7;
  assert_int_equal(nd4c_array_zeros(ND4C_FLOAT32, rank, shape, NULL, &x), ND4C_OK);
  const int64_t count = nd4c_array_size(x);
  float *values = malloc((size_t)count * sizeof *values);
  assert_non_null(values);
  for (int64_t i = 0; i < count; i++) {
    values[i] = noise(&state);
  }
  assert_int_equal(nd4c_array_write(x, values, (size_t)count * sizeof *values), ND4C_OK);
  free(values);
  return x;
}

/* A mask of 64 numbers, of which `count` are not zero. */
static inline nd4c_array *make_mask(int64_t count) {
  nd4c_array *m = NULL;
  float values[SIDE] = {0};
  for (int64_t i = 0; i < count; i++) {
    values[(i * 37) % SIDE] = 1;
  }
  assert_int_equal(nd4c_array_zeros(ND4C_FLOAT32, 1, rows, NULL, &m), ND4C_OK);
  assert_int_equal(nd4c_array_write(m, values, sizeof values), ND4C_OK);
  return m;
}

static inline nd4c_array *make_scalar(nd4c_dtype dtype, double value) {
  nd4c_array *m = NULL;
  assert_int_equal(nd4c_array_full(dtype, 1, one, value, NULL, &m), ND4C_OK);
  return m;
}

static inline float *read_floats(const nd4c_array *array) {
  const size_t bytes = (size_t)nd4c_array_size(array) * sizeof(float);
  float *values = malloc(bytes + 1);
  assert_non_null(values);
  assert_int_equal(nd4c_array_read(array, values, bytes), ND4C_OK);
  return values;
}

static inline bool are_close(const nd4c_array *a, const nd4c_array *b) {
  bool close = nd4c_array_rank(a) == nd4c_array_rank(b);
  for (int32_t i = 0; close && i < nd4c_array_rank(a); i++) {
    close = nd4c_array_shape(a)[i] == nd4c_array_shape(b)[i];
  }
  if (!close) {
    return false;
  }
  float *left = read_floats(a), *right = read_floats(b);
  for (int64_t i = 0; close && i < nd4c_array_size(a); i++) {
    close = fabsf(left[i] - right[i]) <= 1e-4F * (1 + fabsf(right[i]));
  }
  free(left);
  free(right);
  return close;
}

/* Runs both models, and compares; returns the rows of y. */
static inline int64_t check_run(const example *e, const nd4c_array *x, const nd4c_array *m) {
  nd4c_array *y = NULL, *expected = NULL;
  if (run_model(e->whole, x, m, &expected) != ND4C_OK || run_model(e->model, x, m, &y) != ND4C_OK) {
    fail_msg("%s", nd4c_error_message());
  }
  assert_true(are_close(y, expected));
  const int64_t count = nd4c_array_shape(y)[0];
  nd4c_array_release(y);
  nd4c_array_release(expected);
  return count;
}

/* The report of the latest run has the text. */
static inline void expect_reported(const nd4c_model *model, const char *part) {
  char *text = NULL;
  assert_int_equal(nd4c_model_report(model, &text), ND4C_OK);
  if (strstr(text, part) == NULL) {
    fail_msg("'%s' is not in: %s", part, text);
  }
  nd4c_free(text);
}

#endif
