/* Models that are interpreted as a whole, run by several threads at once: results are right, and no run waits for
 * another. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_build.h"
#include "nd4c/nd4c.h"

enum { THREADS = 4, RUNS = 30, VALUES = 4 };

static const int64_t two[] = {2};
static const float weights[] = {3, 5};

/* -- models ----------------------------------------------------------------------------------------------------- */

/* Why a model is interpreted. */
typedef enum kind { BRANCHES, SEQUENCE, TEXTS, KINDS } kind;

static const char *const reasons[KINDS] = {"has shape (2,), expected (4,)", "'y' is a sequence",
                                           "strings are computed on the host"};

static void build_kind(wire_bytes *graph, kind k) {
  wire_bytes yes = {0}, no = {0};
  switch (k) {
    case BRANCHES:
      build_nodes(&yes, "Concat x w > a axis=0");
      build_name(&yes, 12, "a");
      build_nodes(&no, "Mul x w > b");
      build_name(&no, 12, "b");
      build_nodes(graph, "Less zero c > positive");
      build_holder(graph, "If positive > y", "then_branch", &yes, "else_branch", &no);
      break;
    case SEQUENCE:
      build_nodes(graph, "Add x c > m; Mul m w > n; SequenceConstruct n m > y");
      break;
    default:
      build_nodes(graph, "Cast x to=8 > text; Cast text to=1 > again; Mul again w > m; Add m c > y");
  }
}

static void build_sequence_output(wire_bytes *graph, const char *name) {
  wire_bytes info = {0}, outer = {0}, sequence = {0}, inner = {0}, tensor = {0};
  wire_number(&tensor, 1, 1);
  wire_message(&inner, 1, &tensor);
  wire_message(&sequence, 1, &inner);
  wire_message(&outer, 4, &sequence);
  wire_text(&info, 1, name);
  wire_message(&info, 2, &outer);
  wire_message(graph, 12, &info);
}

/* Inputs float32 "x" [2] and "c" []; constants "w" and "zero". */
static nd4c_model *open_graph(wire_bytes *bytes, wire_bytes *graph, const nd4c_model_options *options) {
  const float zero = 0;
  nd4c_model *model = NULL;
  build_initializer(graph, "w", 1, 1, two, weights, sizeof weights);
  build_initializer(graph, "zero", 1, 0, NULL, &zero, sizeof zero);
  build_value(graph, 11, "x", 1, 1, two);
  build_value(graph, 11, "c", 1, 0, NULL);
  build_model(bytes, graph, 16);
  if (nd4c_model_open_memory(bytes->bytes, bytes->size, options, NULL, NULL, &model) != ND4C_OK) {
    fail_msg("%s", nd4c_error_message());
  }
  return model;
}

static nd4c_model *open_kind(wire_bytes *bytes, kind k) {
  wire_bytes graph = {0};
  *bytes = (wire_bytes){0};
  build_kind(&graph, k);
  if (k == SEQUENCE) {
    build_sequence_output(&graph, "y");
  } else {
    build_name(&graph, 12, "y");
  }
  return open_graph(bytes, &graph, NULL);
}

static int expect_of(kind k, float x, float c, float *values) {
  const float first[] = {x, x + 1};
  for (int i = 0; i < 2; i++) {
    values[i] = k == BRANCHES ? (c > 0 ? first[i] : first[i] * weights[i])
                : k == TEXTS  ? first[i] * weights[i] + c
                              : (first[i] + c) * weights[i];
    values[2 + i] = k == BRANCHES ? weights[i] : first[i] + c;
  }
  return k == SEQUENCE || (k == BRANCHES && c > 0) ? 4 : 2;
}

/* -- runs ------------------------------------------------------------------------------------------------------- */

/* How many values were appended; -1: too many. */
static int append_values(const nd4c_datum *datum, float *values, int count) {
  for (int32_t i = 0; i < nd4c_datum_count(datum) && nd4c_datum_array(datum) == NULL; i++) {
    count = count < 0 ? count : append_values(nd4c_datum_item(datum, i), values, count);
  }
  const nd4c_array *array = nd4c_datum_array(datum);
  if (array == NULL || count < 0) {
    return count;
  }
  const int64_t size = nd4c_array_size(array);
  const bool fits = size <= VALUES - count;
  return fits && nd4c_array_read(array, values + count, (size_t)size * sizeof *values) == ND4C_OK ? count + (int)size
                                                                                                  : -1;
}

static nd4c_status run(nd4c_model *model, float x, float c, float *values, int *count) {
  const char *const names[] = {"x", "c"};
  const float first[] = {x, x + 1};
  nd4c_array *arrays[2] = {NULL};
  nd4c_datum *data[2] = {NULL}, *y = NULL;
  nd4c_status status = nd4c_array_from_data(ND4C_FLOAT32, 1, two, first, NULL, &arrays[0]);
  status = status == ND4C_OK ? nd4c_array_scalar(ND4C_FLOAT32, (double)c, NULL, &arrays[1]) : status;
  for (int i = 0; i < 2 && status == ND4C_OK; i++) {
    status = nd4c_datum_of_array(arrays[i], &data[i]);
  }
  status =
      status == ND4C_OK ? nd4c_model_run_data(model, NULL, names, (const nd4c_datum *const *)data, 2, &y, 1) : status;
  if (status == ND4C_OK) {
    *count = append_values(y, values, 0);
  }
  for (int i = 0; i < 2; i++) {
    nd4c_array_release(arrays[i]);
    nd4c_datum_release(data[i]);
  }
  nd4c_datum_release(y);
  return status;
}

static bool is_right(nd4c_model *model, kind k, float x, float c) {
  float values[VALUES] = {0}, expected[VALUES];
  int count = 0;
  return run(model, x, c, values, &count) == ND4C_OK && count == expect_of(k, x, c, expected) &&
         memcmp(values, expected, (size_t)count * sizeof *values) == 0;
}

static void expect_interpreted(const nd4c_model *model, kind k) {
  char *report = NULL;
  assert_int_equal(nd4c_model_report(model, &report), ND4C_OK);
  if (strstr(report, "interpreted, node after node") == NULL || strstr(report, reasons[k]) == NULL) {
    fail_msg("%s", report);
  }
  nd4c_free(report);
}

/* -- results ---------------------------------------------------------------------------------------------------- */

typedef struct caller {
  pthread_t thread;
  nd4c_model *model;
  kind k;
  int number, wrong;
} caller;

static void *call(void *argument) {
  caller *c = argument;
  for (int i = 0; i < RUNS; i++) {
    c->wrong += !is_right(c->model, c->k, (float)(c->number * RUNS + i), (float)((c->number + i) % 3 - 1));
  }
  return NULL;
}

/* The first runs, in which threads need the same constants for the first time, are among them. */
static void callers_have_their_own_results(void **state) {
  (void)state;
  for (kind k = 0; k < KINDS; k++) {
    wire_bytes bytes;
    caller callers[THREADS];
    nd4c_model *model = open_kind(&bytes, k);
    for (int i = 0; i < THREADS; i++) {
      callers[i] = (caller){.model = model, .k = k, .number = i};
      assert_int_equal(pthread_create(&callers[i].thread, NULL, call, &callers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
      assert_int_equal(pthread_join(callers[i].thread, NULL), 0);
      assert_int_equal(callers[i].wrong, 0);
    }
    expect_interpreted(model, k);
    nd4c_model_close(model);
  }
}

/* -- waiting ---------------------------------------------------------------------------------------------------- */

/* A run under a deadline that no run comes near, so that one which waits for another fails. */
static bool is_right_in_time(nd4c_model *model, kind k, float x, float c) {
  nd4c_cancellation *limit = NULL;
  bool right = nd4c_cancellation_create(&limit) == ND4C_OK &&
               nd4c_cancellation_set_timeout(limit, INT64_C(20000000000)) == ND4C_OK &&
               nd4c_cancellation_enter(limit) == ND4C_OK;
  if (right) {
    right = is_right(model, k, x, c);
    right = nd4c_cancellation_leave(limit) == ND4C_OK && right;
  }
  nd4c_cancellation_destroy(limit);
  return right;
}

static void *call_in_time(void *argument) {
  caller *c = argument;
  c->wrong = !is_right_in_time(c->model, c->k, 7, 0);
  return NULL;
}

typedef struct holder {
  caller other;
  int held;
} holder;

/* Stays in the first run, between two nodes, until another thread's run has ended. */
static void hold(void *user, const char *what, int64_t done, int64_t total) {
  holder *h = user;
  (void)total;
  if (strcmp(what, "running") == 0 && done == 1 && h->held == 0) {
    h->held++;
    assert_int_equal(pthread_create(&h->other.thread, NULL, call_in_time, &h->other), 0);
    assert_int_equal(pthread_join(h->other.thread, NULL), 0);
  }
}

static void a_run_that_is_held_holds_no_other(void **state) {
  (void)state;
  for (kind k = 0; k < KINDS; k++) {
    wire_bytes bytes;
    holder h = {.other = {.model = open_kind(&bytes, k), .k = k, .wrong = -1}};
    nd4c_model_set_progress(h.other.model, hold, &h);
    assert_true(is_right(h.other.model, k, 2, 1));
    assert_int_equal(h.held, 1);
    assert_int_equal(h.other.wrong, 0);
    expect_interpreted(h.other.model, k);
    nd4c_model_close(h.other.model);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(callers_have_their_own_results),
                                     cmocka_unit_test(a_run_that_is_held_holds_no_other)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
