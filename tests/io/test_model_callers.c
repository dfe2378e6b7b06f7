/* Models that are interpreted as a whole, run by several threads at once: results are right, and no run waits for
 * another, or for a loop without an end. How such loops end, in plans, too. */
#include <pthread.h>
#include <sched.h>
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

/* -- loops without an end --------------------------------------------------------------------------------------- */

/* How the loop of a model runs. While c is above 0, data asks for another round. */
static const struct {
  const char *body, *node, *reason; /* the nodes of the body; in the report, NULL: the model is not interpreted */
  const float rounds;               /* where c is 0 */
} loops[] = {
    {"Add v x > u; Less zero c > on", "Loop - - x > y", NULL, 1},
    {"SequenceAt s k > e; Add v e > u; Less zero c > on", "Loop - - x > y", "an inner graph reads 's'", 1},
    {"Add v x > u; Identity go > on", "Loop fifty - x > y", NULL, 50},
};

static nd4c_model *open_loop(wire_bytes *bytes, size_t index, int64_t limit) {
  wire_bytes graph = {0}, body = {0};
  const nd4c_model_options options = {.struct_size = sizeof options, .loop_limit = limit};
  *bytes = (wire_bytes){0};
  build_nodes(&graph, "Constant > fifty value_int=50; Constant > k value_int=0; SequenceConstruct x w > s");
  build_nodes(&body, loops[index].body);
  build_name(&body, 11, "i");
  build_name(&body, 11, "go");
  build_name(&body, 11, "v");
  build_name(&body, 12, "on");
  build_name(&body, 12, "u");
  build_holder(&graph, loops[index].node, "body", &body, NULL, NULL);
  build_name(&graph, 12, "y");
  return open_graph(bytes, &graph, &options);
}

static void expect_failure(nd4c_status given, nd4c_status expected, const char *words, const char *more) {
  const char *text = nd4c_error_message();
  if (given != expected || strstr(text, words) == NULL || strstr(text, more) == NULL) {
    fail_msg("%s \"%s\"; expected %s \"%s\" and \"%s\"", nd4c_status_name(given), text, nd4c_status_name(expected),
             words, more);
  }
}

static void loops_end_at_their_limit(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
    wire_bytes bytes;
    float values[VALUES] = {0};
    int count = 0;
    char *report = NULL;
    nd4c_model *model = open_loop(&bytes, i, 50);
    assert_int_equal(run(model, 1, 0, values, &count), ND4C_OK);
    assert_true(count == 2 && values[0] == 1 + loops[i].rounds && values[1] == 2 * (1 + loops[i].rounds));
    assert_int_equal(nd4c_model_report(model, &report), ND4C_OK);
    const bool interpreted = strstr(report, "interpreted, node after node") != NULL;
    if (interpreted != (loops[i].reason != NULL) || (interpreted && strstr(report, loops[i].reason) == NULL)) {
      fail_msg("%s", report);
    }
    nd4c_free(report);
    nd4c_model_close(model);
    model = open_loop(&bytes, i, 10);
    for (int k = 0; k < 2; k++) {
      expect_failure(run(model, 1, 1, values, &count), ND4C_OVERFLOW, "oop", "after 10, the limit of the loop");
    }
    nd4c_model_close(model);
  }
}

static void limits_are_checked(void **state) {
  (void)state;
  const nd4c_model_options options = {.struct_size = sizeof options, .loop_limit = -1};
  wire_bytes bytes = {0}, graph = {0};
  nd4c_model *model = NULL;
  build_nodes(&graph, "Neg x > y");
  build_value(&graph, 11, "x", 1, 1, two);
  build_name(&graph, 12, "y");
  build_model(&bytes, &graph, 16);
  expect_failure(nd4c_model_open_memory(bytes.bytes, bytes.size, &options, NULL, NULL, &model), ND4C_ARGUMENT,
                 "options.loop_limit is -1", "expected 0");
  assert_null(model);
}

typedef struct spinner {
  pthread_t thread;
  nd4c_model *model;
  nd4c_cancellation *cancellation;
  _Atomic bool began;
  nd4c_status status;
  char text[512];
} spinner;

static void note_loop(void *user, const char *what, int64_t done, int64_t total) {
  if (strcmp(what, "running") == 0 && done == total - 1) {
    atomic_store(&((spinner *)user)->began, true);
  }
}

static void *spin(void *argument) {
  spinner *s = argument;
  float values[VALUES];
  int count = 0;
  s->status = nd4c_cancellation_enter(s->cancellation);
  if (s->status == ND4C_OK) {
    s->status = run(s->model, 1, 1, values, &count);
    (void)snprintf(s->text, sizeof s->text, "%s", nd4c_error_message());
    (void)nd4c_cancellation_leave(s->cancellation);
  }
  atomic_store(&s->began, true); /* also if it never came so far */
  return NULL;
}

static void another_thread_ends_a_loop(void **state) {
  (void)state;
  wire_bytes bytes;
  spinner s = {.model = open_loop(&bytes, 1, 0)};
  float values[VALUES] = {0};
  int count = 0;
  assert_int_equal(nd4c_cancellation_create(&s.cancellation), ND4C_OK);
  nd4c_model_set_progress(s.model, note_loop, &s);
  assert_int_equal(pthread_create(&s.thread, NULL, spin, &s), 0);
  while (!atomic_load(&s.began)) {
    (void)sched_yield();
  }
  nd4c_model_set_progress(s.model, NULL, NULL);
  for (int i = 1; i <= RUNS; i++) { /* the loop goes on beside these runs */
    assert_int_equal(run(s.model, (float)i, 0, values, &count), ND4C_OK);
    assert_true(count == 2 && values[0] == (float)(2 * i) && values[1] == (float)(2 * (i + 1)));
  }
  assert_int_equal(nd4c_cancellation_request(s.cancellation), ND4C_OK);
  assert_int_equal(pthread_join(s.thread, NULL), 0);
  assert_int_equal(s.status, ND4C_CANCELLED);
  if (strstr(s.text, "(Loop) at byte") == NULL || strstr(s.text, "cancelled by") == NULL) {
    fail_msg("%s", s.text);
  }
  nd4c_cancellation_destroy(s.cancellation);
  nd4c_model_close(s.model);
}

/* The output is a sequence, so the model has no parts; the rounds, of which there are c, have a plan nevertheless. */
static void rounds_beside_sequences_have_a_plan(void **state) {
  (void)state;
  wire_bytes bytes = {0}, graph = {0}, body = {0};
  float values[VALUES] = {0};
  int count = 0;
  char *report = NULL;
  build_nodes(&graph, "Cast c to=7 > k");
  build_nodes(&body, "Add v w > u; Identity go > on; Neg u > q");
  build_names(&body, 11, "i go v");
  build_names(&body, 12, "on u q");
  build_holder(&graph, "Loop k - x > last all", "body", &body, NULL, NULL);
  build_nodes(&graph, "SequenceConstruct all > y");
  build_sequence_output(&graph, "y");
  nd4c_model *model = open_graph(&bytes, &graph, NULL);
  for (int c = 1; c <= 2; c++) {
    assert_int_equal(run(model, 1, (float)c, values, &count), ND4C_OK);
    assert_int_equal(count, 2 * c);
    for (int i = 0; i < count; i++) {
      assert_true(values[i] == -(1 + (float)(i % 2) + weights[i % 2] * (float)(1 + i / 2)));
    }
  }
  assert_int_equal(nd4c_model_report(model, &report), ND4C_OK);
  if (strstr(report, "'y' is a sequence") == NULL || strstr(report, "rounds in a plan: node ") == NULL) {
    fail_msg("%s", report);
  }
  nd4c_free(report);
  nd4c_model_close(model);
}

/* A body without nodes, which carries a sequence. The limit is for a loop that no deadline would end. */
static void a_deadline_ends_an_empty_loop(void **state) {
  (void)state;
  const nd4c_model_options options = {.struct_size = sizeof options, .loop_limit = 5000000};
  wire_bytes bytes = {0}, graph = {0}, body = {0};
  nd4c_cancellation *limit = NULL;
  float values[VALUES];
  int count = 0;
  build_nodes(&graph, "SequenceConstruct x w > s");
  build_name(&body, 11, "i");
  build_name(&body, 11, "go");
  build_name(&body, 11, "v");
  build_name(&body, 12, "go");
  build_name(&body, 12, "v");
  build_holder(&graph, "Loop - - s > y", "body", &body, NULL, NULL);
  build_sequence_output(&graph, "y");
  nd4c_model *model = open_graph(&bytes, &graph, &options);
  assert_int_equal(nd4c_cancellation_create(&limit), ND4C_OK);
  assert_int_equal(nd4c_cancellation_set_timeout(limit, 3000000), ND4C_OK);
  assert_int_equal(nd4c_cancellation_enter(limit), ND4C_OK);
  expect_failure(run(model, 1, 1, values, &count), ND4C_DEADLINE, "the deadline of", "ms ago");
  assert_int_equal(nd4c_cancellation_leave(limit), ND4C_OK);
  nd4c_cancellation_destroy(limit);
  nd4c_model_close(model);
}

static void failures_name_the_round(void **state) {
  (void)state;
  wire_bytes bytes = {0}, graph = {0}, body = {0};
  float values[VALUES];
  int count = 0;
  build_nodes(&graph, "SequenceConstruct x w > s");
  build_nodes(&body, "SequenceAt s i > e; Add v e > u; Identity go > on");
  build_name(&body, 11, "i");
  build_name(&body, 11, "go");
  build_name(&body, 11, "v");
  build_name(&body, 12, "on");
  build_name(&body, 12, "u");
  build_holder(&graph, "Loop - - x > y", "body", &body, NULL, NULL);
  build_name(&graph, 12, "y");
  nd4c_model *model = open_graph(&bytes, &graph, NULL);
  expect_failure(run(model, 1, 1, values, &count), ND4C_INDEX, "node 1 (Loop) at byte",
                 ": round 2: node 0 (SequenceAt)");
  nd4c_model_close(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(callers_have_their_own_results), cmocka_unit_test(a_run_that_is_held_holds_no_other),
      cmocka_unit_test(loops_end_at_their_limit),       cmocka_unit_test(limits_are_checked),
      cmocka_unit_test(another_thread_ends_a_loop),     cmocka_unit_test(a_deadline_ends_an_empty_loop),
      cmocka_unit_test(failures_name_the_round),        cmocka_unit_test(rounds_beside_sequences_have_a_plan)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
