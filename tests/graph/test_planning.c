/* Planning that is stopped: by a request or a deadline in each of its stages, and for want of memory. The text names
 * where, the graph and its other plans stay usable, and nothing leaks (the sanitizers' build). */
#include "graph_check.h"

enum { NODES = 60 };
static const int64_t shape[] = {4, 8};

static nd4c_cancellation *make(void) {
  nd4c_cancellation *cancellation = NULL;
  CHECK_OK(nd4c_cancellation_create(&cancellation));
  return cancellation;
}

/* Products between functions, which no compiler takes, and functions that one may take. n: the first extent. */
static nd4c_graph *make_graph(bool with_dim) {
  nd4c_graph *graph = NULL;
  int64_t n = shape[0];
  CHECK_OK(nd4c_graph_create(&graph));
  if (with_dim) {
    CHECK_OK(nd4c_graph_dim(graph, "n", 1, 100, &n));
  }
  const int64_t given[] = {n, shape[1]}, square[] = {8, 8};
  nd4c_value x = check_input(graph, "x", 2, given);
  const nd4c_value w = check_constant(graph, 2, square, 1, -0.3, 0.3);
  for (int32_t i = 0; i < NODES; i++) {
    char label[24];
    nd4c_value y = ND4C_VALUE_NONE;
    const nd4c_value inputs[] = {x, w};
    const bool product = i % 4 == 3;
    (void)snprintf(label, sizeof label, "layer%d", (int)i);
    CHECK_OK(nd4c_graph_op(graph,
                           product      ? ND4C_OP_matmul
                           : i % 2 == 0 ? ND4C_OP_tanh
                                        : ND4C_OP_sin,
                           inputs, product ? 2 : 1, NULL, 0, label, &y, 1));
    x = y;
  }
  CHECK_OK(nd4c_graph_output(graph, "y", x));
  return graph;
}

/* The plan computes what eager calls do. */
static void check_plan(const nd4c_graph *graph, nd4c_plan *plan, int64_t rows) {
  const int64_t given[] = {rows, shape[1]};
  const char *const names[] = {"n"};
  nd4c_array *x = check_array(ND4C_FLOAT32, 2, given, 3, -1, 1), *expected = NULL, *y = NULL;
  nd4c_graph *bound = NULL;
  CHECK_OK(nd4c_graph_bind(graph, names, &rows, nd4c_graph_dim_count(graph), &bound));
  check_evaluate(bound, &x, &expected);
  CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *[]){x}, 1, &y, 1));
  assert_true(check_difference(expected, y) <= 1e-5);
  check_release((nd4c_array *[]){x, expected, y}, 3);
  nd4c_graph_destroy(bound);
}

/* -- stages -------------------------------------------------------------------------------------------------------- */

/* Requests at a point of a stage, and how far the stage went after that. */
typedef struct stop {
  const char *stage;
  int64_t at, after;
  bool asked;
  nd4c_cancellation *cancellation;
} stop;

static void tell(void *user, const char *what, int64_t done, int64_t total) {
  stop *s = user;
  (void)total;
  if (s->asked) {
    s->after++;
  } else if (strcmp(what, s->stage) == 0 && done >= s->at) {
    s->asked = true;
    CHECK_OK(nd4c_cancellation_request(s->cancellation));
  }
}

static const struct {
  const char *stage, *part; /* the text has it */
  int64_t at;
} stages[] = {
    {"optimizing", "pass ", 0},
    {"optimizing", "pass ", 20},
    {"preparing", "node 'layer31' (", 31},
    {"placing", "planning 60 nodes: laying out memory: cancelled", 2},
};

static void each_stage_stops(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph(false);
  const int32_t nodes = nd4c_graph_node_count(graph);
  for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
    stop s = {.stage = stages[i].stage, .at = stages[i].at, .cancellation = make()};
    const nd4c_plan_progress progress = {.on = true, .tell = tell, .user = &s};
    nd4c_plan *plan = NULL;
    CHECK_OK(nd4c_cancellation_enter(s.cancellation));
    const nd4c_status status = nd4c_plan_create_told(graph, NULL, NULL, &progress, &plan);
    if (!s.asked || status != ND4C_CANCELLED || strstr(nd4c_error_message(), stages[i].part) == NULL || s.after > 0) {
      fail_msg("%s %d: asked %d, %d later; %s: %s", stages[i].stage, (int)stages[i].at, s.asked, (int)s.after,
               nd4c_status_name(status), nd4c_error_message());
    }
    assert_null(plan);
    assert_int_equal(nd4c_graph_node_count(graph), nodes);
    CHECK_OK(nd4c_cancellation_leave(s.cancellation));
    CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
    check_plan(graph, plan, shape[0]);
    nd4c_plan_destroy(plan);
    nd4c_cancellation_destroy(s.cancellation);
  }
  nd4c_graph_destroy(graph);
}

/* A run that would make a binding stops in it; sizes with a binding run on, and the new one can be bound later. */
static void bindings_stop(void **state) {
  (void)state;
  static const char *const buckets[] = {NULL, "8"};
  nd4c_graph *graph = make_graph(true);
  for (size_t i = 0; i < sizeof buckets / sizeof *buckets; i++) {
    const nd4c_plan_options options = {.struct_size = sizeof options, .buckets = buckets[i]};
    stop s = {.stage = "preparing", .at = 9, .asked = true, .cancellation = make()};
    const nd4c_plan_progress progress = {.on = true, .tell = tell, .user = &s};
    const int64_t more[] = {6, shape[1]};
    nd4c_array *x = check_array(ND4C_FLOAT32, 2, more, 3, -1, 1), *y = NULL;
    nd4c_plan *plan = NULL;
    CHECK_OK(nd4c_plan_create_told(graph, NULL, &options, &progress, &plan));
    check_plan(graph, plan, 5);
    s.asked = false;
    s.after = 0;
    CHECK_OK(nd4c_cancellation_enter(s.cancellation));
    assert_int_equal(nd4c_plan_run(plan, (const nd4c_array *[]){x}, 1, &y, 1), ND4C_CANCELLED);
    assert_true(s.asked);
    assert_int_equal(s.after, 0);
    assert_non_null(strstr(nd4c_error_message(), "node 'layer"));
    assert_null(y);
    CHECK_OK(nd4c_cancellation_leave(s.cancellation));
    check_plan(graph, plan, 5);
    check_plan(graph, plan, 6);
    nd4c_plan_destroy(plan);
    nd4c_cancellation_destroy(s.cancellation);
    nd4c_array_release(x);
  }
  nd4c_graph_destroy(graph);
}

/* -- functions ----------------------------------------------------------------------------------------------------- */

/* What a call makes: at most one of each. */
typedef struct made {
  nd4c_graph *graph;
  nd4c_plan *plan;
  char *text;
} made;

static void free_made(made *m) {
  nd4c_graph_destroy(m->graph);
  nd4c_plan_destroy(m->plan);
  nd4c_free(m->text);
  *m = (made){NULL};
}

static nd4c_status plan_it(nd4c_graph *graph, made *m) {
  return nd4c_plan_create(graph, NULL, NULL, &m->plan);
}

static nd4c_status plan_little(nd4c_graph *graph, made *m) {
  const nd4c_plan_options options = {.struct_size = sizeof options, .arena_bytes = 1};
  return nd4c_plan_create(graph, NULL, &options, &m->plan);
}

static nd4c_status plan_as_it_is(nd4c_graph *graph, made *m) {
  const nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = true};
  return nd4c_plan_create(graph, NULL, &options, &m->plan);
}

static nd4c_status optimize_it(nd4c_graph *graph, made *m) {
  return nd4c_graph_optimize(graph, NULL, NULL, &m->graph);
}

static nd4c_status explain_it(nd4c_graph *graph, made *m) {
  return nd4c_graph_explain(graph, NULL, NULL, 3, &m->text);
}

static nd4c_status bind_it(nd4c_graph *graph, made *m) {
  return nd4c_graph_bind(graph, NULL, NULL, 0, &m->graph);
}

static nd4c_status differentiate(nd4c_graph *graph, made *m) {
  nd4c_value sum = ND4C_VALUE_NONE, gradient = ND4C_VALUE_NONE;
  (void)m;
  const nd4c_value y = nd4c_graph_output_value(graph, 0), x = nd4c_graph_input_value(graph, 0);
  ND4C_TRY(nd4c_graph_op(graph, ND4C_OP_sum, &y, 1, NULL, 0, NULL, &sum, 1));
  return nd4c_graph_gradient(graph, sum, &x, 1, &gradient);
}

static nd4c_status (*const calls[])(nd4c_graph *, made *) = {plan_it,    plan_little, plan_as_it_is, optimize_it,
                                                             explain_it, bind_it,     differentiate};
enum { CALLS = sizeof calls / sizeof *calls };

static void passed_deadlines_are_seen(void **state) {
  (void)state;
  for (int32_t i = 0; i < CALLS; i++) {
    nd4c_graph *graph = make_graph(false);
    nd4c_cancellation *limit = make();
    made m = {NULL};
    CHECK_OK(nd4c_cancellation_set_timeout(limit, 1));
    while (nd4c_cancellation_check(limit) == ND4C_OK) {
    }
    CHECK_OK(nd4c_cancellation_enter(limit));
    if (calls[i](graph, &m) != ND4C_DEADLINE) {
      fail_msg("call %d does not see the deadline: %s", (int)i, nd4c_error_message());
    }
    assert_true(m.graph == NULL && m.plan == NULL && m.text == NULL);
    CHECK_OK(nd4c_cancellation_leave(limit));
    CHECK_OK(calls[i](graph, &m));
    free_made(&m);
    nd4c_cancellation_destroy(limit);
    nd4c_graph_destroy(graph);
  }
}

/* -- memory -------------------------------------------------------------------------------------------------------- */

/* Each allocation fails once: a status, and no part of a result. The texts of plans say what was planned; most of them
 * name the node or the pass. */
static void memory_may_run_out(void **state) {
  (void)state;
  for (int32_t i = 0; i < CALLS; i++) {
    nd4c_graph *graph = make_graph(false);
    int32_t failures = 0, named = 0;
    bool done = false;
    for (int64_t skip = 0; !done; skip += 1 + skip / 32) {
      made m = {NULL};
      assert_true(skip < 1000000);
      nd4c_allocation_fail_at(skip);
      const nd4c_status status = calls[i](graph, &m);
      nd4c_allocation_fail_at(-1);
      done = status == ND4C_OK;
      if (!done) {
        const char *text = nd4c_error_message();
        assert_int_equal(status, ND4C_MEMORY);
        assert_true(m.graph == NULL && m.plan == NULL && m.text == NULL);
        if (i <= 2 && strncmp(text, "planning 60 nodes: ", 19) != 0 && strstr(text, "of a graph (") == NULL &&
            strstr(text, "a plan (") == NULL) {
          fail_msg("call %d, allocation %lld: %s", (int)i, (long long)skip, text);
        }
        named += strstr(text, "node '") != NULL || strstr(text, "pass ") != NULL;
        failures++;
      }
      free_made(&m);
    }
    assert_true(failures > 2);
    assert_true(i > 2 || 2 * named > failures);
    nd4c_graph_destroy(graph);
  }
}

/* An output that no memory holds is named with its node: by plans that are optimised and that are not, of numbers and
 * of dims. */
static void too_large_outputs_are_named(void **state) {
  (void)state;
  for (int32_t way = 0; way < 4; way++) {
    const nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = way % 2 == 1};
    int64_t extents[] = {(int64_t)1 << 40, (int64_t)1 << 20}, one = 1;
    nd4c_graph *graph = NULL;
    nd4c_plan *plan = NULL;
    nd4c_array *input = NULL, *output = NULL;
    nd4c_value y = ND4C_VALUE_NONE;
    CHECK_OK(nd4c_graph_create(&graph));
    if (way / 2 == 1) {
      CHECK_OK(nd4c_graph_dim(graph, "n", 1, -1, &one));
      extents[1] = one;
    }
    const nd4c_value x = check_input(graph, "x", 1, &one);
    const nd4c_attr attr = check_ints("shape", extents, 2);
    CHECK_OK(nd4c_graph_op(graph, ND4C_OP_broadcast_to, &x, 1, &attr, 1, "wide", &y, 1));
    CHECK_OK(nd4c_graph_output(graph, "all", y));
    CHECK_OK(nd4c_plan_create(graph, NULL, &options, &plan));
    const int64_t given = way / 2 == 1 ? (int64_t)1 << 20 : 1;
    input = check_array(ND4C_FLOAT32, 1, &given, 1, 0, 1);
    const nd4c_status status = nd4c_plan_run(plan, (const nd4c_array *const *)&input, 1, &output, 1);
    const char *text = nd4c_error_message();
    if ((status != ND4C_OVERFLOW && status != ND4C_MEMORY) || output != NULL ||
        strstr(text, "memory for output 'all' of node 'wide' (broadcast_to): ") == NULL ||
        strstr(text, "4611686018427387904 bytes") == NULL) {
      fail_msg("%d: %s: %s", (int)way, nd4c_status_name(status), text);
    }
    nd4c_array_release(input);
    nd4c_plan_destroy(plan);
    nd4c_graph_destroy(graph);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_stage_stops),
      cmocka_unit_test(bindings_stop),
      cmocka_unit_test(passed_deadlines_are_seen),
      cmocka_unit_test(memory_may_run_out),
      cmocka_unit_test(too_large_outputs_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
