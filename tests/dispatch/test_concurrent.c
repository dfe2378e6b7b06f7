/* Calls of a binding from several threads at once: threads read shared arrays, make views and results and release them,
 * also those of other threads. Run it under ThreadSanitizer. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "nd4c/nd4c.h"

enum { THREADS = 8, ROUNDS = 2000, LENGTH = 64, SIDE = 8 };

typedef struct shared {
  nd4c_array *vector, *matrix, *indices, *mask;
  _Atomic(nd4c_array *) boxes[THREADS]; /* arrays that one thread leaves for the next to release */
} shared;

typedef struct worker {
  shared *common;
  int number, failures;
  pthread_t thread;
} worker;

static void expect(worker *w, bool holds) {
  w->failures += holds ? 0 : 1;
}

static double first(nd4c_array *array) {
  double value = -1;
  int64_t index[1] = {0};
  return nd4c_array_item(array, nd4c_array_rank(array) > 0 ? index : NULL, &value) == ND4C_OK ? value : -1;
}

/* x + x, leaving the result for the next thread and dropping what another one left here. */
static void pass_on(worker *w) {
  nd4c_array *sum = NULL;
  expect(w, nd4c_add(w->common->vector, w->common->vector, &sum) == ND4C_OK);
  nd4c_array *left = atomic_exchange(&w->common->boxes[(w->number + 1) % THREADS], sum);
  expect(w, left == NULL || first(left) == 2);
  nd4c_array_release(left);
}

static void read_views(worker *w, int round) {
  const nd4c_index row = {.kind = ND4C_INDEX_INTEGER, .start = round % SIDE};
  const nd4c_index picked = {.kind = ND4C_INDEX_ARRAY, .array = w->common->indices};
  const nd4c_index masked = {.kind = ND4C_INDEX_MASK, .array = w->common->mask};
  nd4c_array *view = NULL, *some = NULL, *product = NULL, *total = NULL;
  expect(w, nd4c_array_get(w->common->matrix, &row, 1, &view) == ND4C_OK);
  expect(w, nd4c_array_get(w->common->matrix, round % 2 == 0 ? &picked : &masked, 1, &some) == ND4C_OK);
  expect(w, nd4c_matmul(w->common->matrix, w->common->matrix, &product) == ND4C_OK);
  expect(w, nd4c_max(view, NULL, 0, false, &total) == ND4C_OK && first(total) == 1);
  nd4c_array_release(view);
  nd4c_array_release(some);
  nd4c_array_release(product);
  nd4c_array_release(total);
}

/* An array that only this thread uses, written by items. */
static void write_own(worker *w, int round) {
  const int64_t shape[1] = {LENGTH};
  const nd4c_index at = {.kind = ND4C_INDEX_INTEGER, .start = 0};
  nd4c_array *own = NULL, *value = NULL;
  expect(w, nd4c_array_zeros(ND4C_FLOAT64, 1, shape, NULL, &own) == ND4C_OK);
  expect(w, nd4c_array_scalar(ND4C_FLOAT64, round, NULL, &value) == ND4C_OK);
  expect(w, nd4c_array_set(own, &at, 1, value) == ND4C_OK && first(own) == round);
  nd4c_array_release(own);
  nd4c_array_release(value);
}

/* Each thread has its own failure text. */
static void be_refused(worker *w) {
  char text[32];
  const nd4c_index far = {.kind = ND4C_INDEX_INTEGER, .start = 1000 + w->number};
  nd4c_array *none = NULL;
  snprintf(text, sizeof text, "index %d ", 1000 + w->number);
  expect(w, nd4c_array_get(w->common->vector, &far, 1, &none) == ND4C_INDEX);
  expect(w, strstr(nd4c_error_message(), text) != NULL);
}

static void *run(void *argument) {
  worker *w = argument;
  for (int round = 0; round < ROUNDS; round++) {
    nd4c_array *held = nd4c_array_retain(w->common->vector);
    pass_on(w);
    read_views(w, round);
    write_own(w, round);
    be_refused(w);
    nd4c_array_release(held);
  }
  return NULL;
}

static void make_shared(shared *common) {
  const int64_t vector[1] = {LENGTH}, matrix[2] = {SIDE, SIDE}, three[1] = {3}, side[1] = {SIDE};
  const int64_t indices[3] = {0, -1, 3};
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, vector, 1, NULL, &common->vector), ND4C_OK);
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 2, matrix, 1, NULL, &common->matrix), ND4C_OK);
  assert_int_equal(nd4c_array_from_data(ND4C_INT64, 1, three, indices, NULL, &common->indices), ND4C_OK);
  assert_int_equal(nd4c_array_full(ND4C_BOOL, 1, side, 1, NULL, &common->mask), ND4C_OK);
  for (int i = 0; i < THREADS; i++) {
    atomic_init(&common->boxes[i], NULL);
  }
}

static void arrays_from_several_threads(void **state) {
  (void)state;
  shared common = {0};
  worker workers[THREADS];
  make_shared(&common);
  for (int i = 0; i < THREADS; i++) {
    workers[i] = (worker){.common = &common, .number = i};
    assert_int_equal(pthread_create(&workers[i].thread, NULL, run, &workers[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    assert_int_equal(workers[i].failures, 0);
  }
  for (int i = 0; i < THREADS; i++) {
    nd4c_array_release(atomic_load(&common.boxes[i]));
  }
  nd4c_array_release(common.vector);
  nd4c_array_release(common.matrix);
  nd4c_array_release(common.indices);
  nd4c_array_release(common.mask);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(arrays_from_several_threads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
