/* Several threads run one plan at once: each gets the results of its own inputs, whatever their strides and whether it
 * gives outputs; a cancellation stops only the thread that entered it. In modes with one caller, threads wait. */
#include <pthread.h>

#include "graph/callers.h"
#include "graph/modes/mode.h"
#include "graph_check.h"
#include "stub_plugin.h"

enum { THREADS = 4, RUNS = 40, ROWS = 24, COLUMNS = 32 };

static const int64_t shape[] = {ROWS, COLUMNS};

/* y = tanh(x w) * x + x, z = y transposed: with a packed constant, values in the arena, and two outputs. */
static nd4c_plan *make_plan(nd4c_context *context) {
  const int64_t square[] = {COLUMNS, COLUMNS};
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  nd4c_value w = ND4C_VALUE_NONE;
  nd4c_array *weights = check_array(ND4C_FLOAT32, 2, square, 3, -1, 1);
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 2, shape);
  CHECK_OK(nd4c_graph_constant(graph, weights, &w));
  nd4c_value y = check_unary(graph, ND4C_OP_tanh, check_binary(graph, ND4C_OP_matmul, x, w));
  y = check_binary(graph, ND4C_OP_add, check_binary(graph, ND4C_OP_multiply, y, x), x);
  CHECK_OK(nd4c_graph_output(graph, "y", y));
  CHECK_OK(nd4c_graph_output(graph, "z", check_unary(graph, ND4C_OP_exp, y)));
  CHECK_OK(nd4c_plan_create(graph, context, NULL, &plan));
  nd4c_graph_destroy(graph);
  nd4c_array_release(weights);
  return plan;
}

typedef struct worker {
  pthread_t thread;
  nd4c_plan *plan;
  uint64_t seed;
  nd4c_array *x, *y, *z; /* an input and what a run alone gave for it */
  bool cancelled;        /* its runs are cancelled: they must be refused */
  int wrong;
} worker;

static bool equals(const nd4c_array *a, const nd4c_array *b) {
  float left[ROWS * COLUMNS], right[ROWS * COLUMNS];
  return nd4c_array_read(a, left, sizeof left) == ND4C_OK && nd4c_array_read(b, right, sizeof right) == ND4C_OK &&
         memcmp(left, right, sizeof left) == 0;
}

/* Even runs give the first output, odd ones give none; inputs of every third run are not contiguous. */
static int run_once(const worker *w, int run, const nd4c_array *strided) {
  nd4c_array *given = NULL, *outputs[2] = {NULL, NULL};
  const nd4c_array *inputs[] = {run % 3 == 0 ? strided : w->x};
  if (run % 2 == 0 && nd4c_array_empty(ND4C_FLOAT32, 2, shape, NULL, &given) != ND4C_OK) {
    return 1;
  }
  outputs[0] = given;
  const nd4c_status status = nd4c_plan_run(w->plan, inputs, 1, outputs, 2);
  bool right = w->cancelled ? status == ND4C_CANCELLED
                            : status == ND4C_OK && equals(outputs[0], w->y) && equals(outputs[1], w->z);
  nd4c_array_release(outputs[0]);
  nd4c_array_release(outputs[1]);
  return right ? 0 : 1;
}

/* The same elements, by columns. */
static nd4c_array *make_strided(const nd4c_array *x) {
  nd4c_array *turned = NULL, *dense = NULL, *strided = NULL;
  bool made = nd4c_matrix_transpose(x, &turned) == ND4C_OK && nd4c_copy(turned, &dense) == ND4C_OK &&
              nd4c_matrix_transpose(dense, &strided) == ND4C_OK;
  nd4c_array_release(turned);
  nd4c_array_release(dense);
  return made ? strided : NULL;
}

static void *work(void *argument) {
  worker *w = argument;
  nd4c_cancellation *cancellation = NULL;
  nd4c_array *strided = make_strided(w->x);
  w->wrong += strided == NULL || nd4c_cancellation_create(&cancellation) != ND4C_OK ||
              nd4c_cancellation_enter(cancellation) != ND4C_OK;
  if (w->cancelled) {
    w->wrong += nd4c_cancellation_request(cancellation) != ND4C_OK;
  }
  for (int run = 0; run < RUNS && w->wrong == 0; run++) {
    w->wrong += run_once(w, run, strided);
  }
  w->wrong += nd4c_cancellation_leave(cancellation) != ND4C_OK;
  nd4c_cancellation_destroy(cancellation);
  nd4c_array_release(strided);
  return NULL;
}

static void run_together(nd4c_plan *plan) {
  worker workers[THREADS];
  for (int i = 0; i < THREADS; i++) {
    nd4c_array *alone[2] = {NULL, NULL};
    worker *w = &workers[i];
    *w = (worker){.plan = plan, .cancelled = i == THREADS - 1};
    w->x = check_array(ND4C_FLOAT32, 2, shape, 20 + (uint64_t)i, -1, 1);
    const nd4c_array *inputs[] = {w->x};
    CHECK_OK(nd4c_plan_run(plan, inputs, 1, alone, 2));
    w->y = alone[0];
    w->z = alone[1];
  }
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    assert_int_equal(workers[i].wrong, 0);
    check_release((nd4c_array *[]){workers[i].x, workers[i].y, workers[i].z}, 3);
  }
}

static void threads_run_one_plan(void **state) {
  (void)state;
  nd4c_plan *plan = make_plan(NULL);
  assert_string_equal(plan->mode->name, "direct");
  run_together(plan);
  nd4c_plan_destroy(plan);
}

/* On an asynchronous device the plan is the only caller. */
static void threads_wait_for_one_stream(void **state) {
  (void)state;
  nd4c_plan *plan = make_plan(stub_context), *caller = NULL;
  assert_string_not_equal(plan->mode->name, "direct");
  CHECK_OK(nd4c_callers_take(plan, &caller));
  assert_true(caller == plan);
  nd4c_callers_give(plan, caller);
  run_together(plan);
  assert_null(plan->callers->idle);
  nd4c_plan_destroy(plan);
}

static int64_t live_bytes(void) {
  nd4c_memory_info info = {.struct_size = sizeof info};
  nd4c_device *host = NULL;
  CHECK_OK(nd4c_device_host(&host));
  CHECK_OK(nd4c_memory_get_info(host, &info));
  return info.live_bytes;
}

/* A further caller costs an arena, not the constants; it is used again, and freed with the plan. */
static void callers_share_constants(void **state) {
  (void)state;
  const int64_t before = live_bytes();
  nd4c_plan *plan = make_plan(NULL), *first = NULL, *second = NULL, *again = NULL;
  CHECK_OK(nd4c_callers_take(plan, &first));
  assert_true(first == plan);
  const int64_t alone = live_bytes();
  CHECK_OK(nd4c_callers_take(plan, &second));
  assert_true(second != plan && second->parent == plan);
  assert_true(live_bytes() - alone <= nd4c_memory_granted(plan->arena_bytes));
  for (int32_t i = 0; i < plan->step_count; i++) {
    assert_true(second->steps[i].choice == plan->steps[i].choice);
  }
  nd4c_callers_give(plan, second);
  CHECK_OK(nd4c_callers_take(plan, &again));
  assert_true(again == second);
  nd4c_callers_give(plan, again);
  nd4c_callers_give(plan, first);
  nd4c_plan_destroy(plan);
  assert_int_equal(live_bytes(), before);
}

/* Only the first run of a further caller allocates; a failure of that leaves the plan usable. */
static void further_callers_need_memory_once(void **state) {
  (void)state;
  nd4c_plan *plan = make_plan(NULL), *first = NULL, *second = NULL;
  nd4c_array *x = check_array(ND4C_FLOAT32, 2, shape, 9, -1, 1), *y = check_array(ND4C_FLOAT32, 2, shape, 1, 0, 1),
             *z = check_array(ND4C_FLOAT32, 2, shape, 1, 0, 1);
  const nd4c_array *inputs[] = {x};
  nd4c_array *outputs[] = {y, z};
  CHECK_OK(nd4c_callers_take(plan, &first));
  nd4c_status status = ND4C_MEMORY;
  for (int64_t failing = 0; status == ND4C_MEMORY; failing++) {
    assert_true(failing < 1000);
    nd4c_allocation_fail_at(failing);
    status = nd4c_callers_take(plan, &second);
    nd4c_allocation_fail_at(-1);
  }
  CHECK_OK(status);
  nd4c_callers_give(plan, second);
  CHECK_OK(nd4c_plan_run(plan, inputs, 1, outputs, 2));
  const int64_t allocations = nd4c_allocation_count();
  CHECK_OK(nd4c_plan_run(plan, inputs, 1, outputs, 2));
  assert_int_equal(nd4c_allocation_count(), allocations);
  nd4c_callers_give(plan, first);
  nd4c_plan_destroy(plan);
  check_release((nd4c_array *[]){x, y, z}, 3);
}

int main(void) {
  if (stub_start() != ND4C_OK) {
    return 1;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_run_one_plan),
      cmocka_unit_test_setup_teardown(threads_wait_for_one_stream, stub_test_begin, stub_test_end),
      cmocka_unit_test(callers_share_constants),
      cmocka_unit_test(further_callers_need_memory_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL) + stub_stop();
}
