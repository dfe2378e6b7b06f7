/* One model, several threads: runs of plans do not wait, for other runs or for an import; the model's own progress
 * callback is refused. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_build.h"
#include "nd4c/nd4c.h"

enum { THREADS = 4, RUNS = 60, COLUMNS = 3 };

static wire_bytes bytes;

/* y = relu(x) + x; x [n, 3]. */
static nd4c_model *open_example(void) {
  static const int64_t shape[] = {-1, COLUMNS};
  wire_bytes graph = {0};
  nd4c_model *model = NULL;
  bytes = (wire_bytes){0};
  build_nodes(&graph, "Relu x > r; Add r x > y");
  build_value(&graph, 11, "x", 1, 2, shape);
  build_value(&graph, 12, "y", 1, 2, shape);
  build_model(&bytes, &graph, 13);
  assert_int_equal(nd4c_model_open_memory(bytes.bytes, bytes.size, NULL, NULL, NULL, &model), ND4C_OK);
  return model;
}

typedef struct worker {
  pthread_t thread;
  nd4c_model *model;
  int64_t rows; /* each thread has another shape, so that plans are made and dropped all the time */
  int wrong;
} worker;

static int run_once(const worker *w, double value) {
  const char *name = "x";
  nd4c_array *x = NULL, *y = NULL;
  float first = 0;
  int64_t shape[] = {w->rows, COLUMNS};
  nd4c_status status = nd4c_array_full(ND4C_FLOAT32, 2, shape, value, NULL, &x);
  if (status == ND4C_OK) {
    const nd4c_array *inputs[] = {x};
    status = nd4c_model_run(w->model, NULL, &name, inputs, 1, &y, 1);
  }
  bool right = status == ND4C_OK && nd4c_array_shape(y)[0] == w->rows;
  if (right) {
    float *values = malloc((size_t)w->rows * COLUMNS * sizeof *values);
    right = values != NULL && nd4c_array_read(y, values, (size_t)w->rows * COLUMNS * sizeof *values) == ND4C_OK;
    first = right ? values[w->rows * COLUMNS - 1] : 0;
    free(values);
  }
  nd4c_array_release(x);
  nd4c_array_release(y);
  return right && first == (float)(2 * value) ? 0 : 1;
}

static void *work(void *argument) {
  worker *w = argument;
  for (int i = 1; i <= RUNS; i++) {
    w->wrong += run_once(w, i);
    w->rows = w->rows % 11 + 1;
  }
  return NULL;
}

static void threads_share_a_model(void **state) {
  (void)state;
  worker workers[THREADS] = {0};
  nd4c_model *model = open_example();
  for (int i = 0; i < THREADS; i++) {
    workers[i].model = model;
    workers[i].rows = i + 1;
    assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    assert_int_equal(workers[i].wrong, 0);
  }
  nd4c_model_close(model);
}

typedef struct meddler {
  nd4c_model *model;
  int calls, refused;
} meddler;

static void meddle(void *user, const char *what, int64_t done, int64_t total) {
  meddler *m = user;
  char *text = NULL;
  (void)what;
  (void)done;
  (void)total;
  m->calls++;
  m->refused +=
      nd4c_model_report(m->model, &text) == ND4C_ARGUMENT && strstr(nd4c_error_message(), "progress callback") != NULL;
  nd4c_model_set_progress(m->model, NULL, NULL);
}

static void its_own_callback_is_refused(void **state) {
  (void)state;
  meddler m = {.model = open_example()};
  worker w = {.model = m.model, .rows = 2};
  nd4c_model_set_progress(m.model, meddle, &m);
  assert_int_equal(run_once(&w, 1.0), 0);
  assert_true(m.calls > 1);
  assert_int_equal(m.refused, m.calls);
  nd4c_model_close(m.model);
}

/* Runs the other model, whose callback runs this one. */
typedef struct visitor {
  struct visitor *other;
  nd4c_model *model;
  int calls, refused;
} visitor;

static void visit_other(void *user, const char *what, int64_t done, int64_t total) {
  visitor *v = user;
  (void)done;
  (void)total;
  v->calls++;
  if (strcmp(what, "preparing") == 0) {
    const worker w = {.model = v->other->model, .rows = v->calls + 1}; /* mostly a shape without a plan */
    v->refused += run_once(&w, 1.0) != 0 && strstr(nd4c_error_message(), "progress callback") != NULL;
  }
}

static void callbacks_in_turns_are_refused(void **state) {
  (void)state;
  visitor a = {.model = open_example()};
  visitor b = {.other = &a, .model = open_example()};
  const worker w = {.model = a.model, .rows = 2};
  a.other = &b;
  nd4c_model_set_progress(a.model, visit_other, &a);
  nd4c_model_set_progress(b.model, visit_other, &b);
  assert_int_equal(run_once(&w, 1.0), 0);
  assert_true(a.calls > 0 && b.calls > 0);
  assert_int_equal(a.refused, 0);
  assert_true(b.refused > 0);
  nd4c_model_close(a.model);
  nd4c_model_close(b.model);
}

typedef struct importer {
  worker other; /* runs a plan that exists while the import is going on */
  int started;
} importer;

static void *run_beside(void *argument) {
  worker *w = argument;
  w->wrong = run_once(w, 3.0);
  return NULL;
}

static void begin_beside(void *user, const char *what, int64_t done, int64_t total) {
  importer *i = user;
  (void)done;
  (void)total;
  if (strcmp(what, "preparing") == 0 && i->started++ == 0) {
    assert_int_equal(pthread_create(&i->other.thread, NULL, run_beside, &i->other), 0);
    assert_int_equal(pthread_join(i->other.thread, NULL), 0); /* if it waited for the import, this would not end */
  }
}

static void runs_go_on_during_an_import(void **state) {
  (void)state;
  importer i = {.other = {.model = open_example(), .rows = 2}};
  worker w = {.model = i.other.model, .rows = 5};
  assert_int_equal(run_once(&i.other, 1.0), 0); /* makes the plan */
  nd4c_model_set_progress(w.model, begin_beside, &i);
  assert_int_equal(run_once(&w, 2.0), 0);
  assert_true(i.started > 0);
  assert_int_equal(i.other.wrong, 0);
  nd4c_model_close(w.model);
}

/* Runs a shape without a plan, for which it needs the turn. */
static void *run_until_deadline(void *argument) {
  worker *w = argument;
  nd4c_cancellation *limit = NULL;
  w->wrong = nd4c_cancellation_create(&limit) != ND4C_OK || nd4c_cancellation_set_timeout(limit, 20000000) != ND4C_OK ||
             nd4c_cancellation_enter(limit) != ND4C_OK || run_once(w, 3.0) == 0 ||
             nd4c_cancellation_check(limit) != ND4C_DEADLINE || nd4c_cancellation_leave(limit) != ND4C_OK;
  nd4c_cancellation_destroy(limit);
  return NULL;
}

static void wait_beside(void *user, const char *what, int64_t done, int64_t total) {
  importer *i = user;
  (void)done;
  (void)total;
  if (strcmp(what, "preparing") == 0 && i->started++ == 0) {
    assert_int_equal(pthread_create(&i->other.thread, NULL, run_until_deadline, &i->other), 0);
    assert_int_equal(pthread_join(i->other.thread, NULL), 0); /* if it waited for the turn, this would not end */
  }
}

static void a_deadline_ends_the_wait_for_a_turn(void **state) {
  (void)state;
  importer i = {.other = {.model = open_example(), .rows = 2}};
  worker w = {.model = i.other.model, .rows = 5};
  nd4c_model_set_progress(w.model, wait_beside, &i);
  assert_int_equal(run_once(&w, 2.0), 0);
  assert_true(i.started > 0);
  assert_int_equal(i.other.wrong, 0);
  nd4c_model_close(w.model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_share_a_model), cmocka_unit_test(its_own_callback_is_refused),
      cmocka_unit_test(callbacks_in_turns_are_refused), cmocka_unit_test(runs_go_on_during_an_import),
      cmocka_unit_test(a_deadline_ends_the_wait_for_a_turn)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
