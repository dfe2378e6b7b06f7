/* Loops of which only a run says how long their results are: the rounds run in a plan of the body, beside nodes that
 * are interpreted. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "model_loops.h"

enum { THREADS = 4, RUNS = 25, SOME = 10 };

static const loop_case cases[] = {
    {NULL, "Loop k - x > y z", "Identity go > on; Add v x > u; Mul u half > q", "on u q",
     "2 steps a round in mode direct"},
    /* data ends it */
    {NULL, "Loop - - x > y z", "Add v one > u; ReduceSum u v0 keepdims=0 > s; Less s c > on", "on u s",
     "in mode direct, carries float32 [4]"},
    {NULL, "Loop k - x > y z", "Add v one > u; ReduceMax u keepdims=0 > s; Less s c > on; Mul v i1f > q", "on u q",
     planned},
    /* data says whether it begins */
    {"Less one c > first", "Loop k first x > y z", "Identity go > on; Sub v x > u; Neg u > q", "on u q", planned},
    /* at most one round */
    {NULL, "Loop k - x > y z", "Not go > on; Sub v x > u; Neg u > q", "on u q", planned},
    /* values of the run, constants, and the round are read */
    {"Mul x x > m; Neg m > n", "Loop k - x > y z",
     "Identity go > on; Cast i to=1 > f; Mul n f > a; Add a m > b; MatMul v w > p; Add p b > u; Sub u half > q",
     "on u q", planned},
    /* weights in another order */
    {"Transpose w > t", "Loop k - x > y z", "Identity go > on; MatMul v t > u; Neg u > q", "on u q", planned},
    /* only one of two is read */
    {NULL, "Loop k - x > y - z", "Identity go > on; Sub v half > u; Neg u > q; Exp u > r", "on u q r",
     "2 steps a round"},
    /* what is carried is collected, and passed on as it is */
    {NULL, "Loop k - x > y z", "Identity go > on; Identity v > u; Identity v > q", "on u q", planned},
    /* numbers that shapes need */
    {"Shape x > s; Mul s v2 > s2", "Loop k - x > y z",
     "Identity go > on; Sub v half > u; Concat u v axis=0 > b; Reshape b s2 > q", "on u q", planned},
    /* carried values that grow */
    {NULL, "Loop k - x > y", "Identity go > on; Neg x > n; Concat v n axis=0 > u", "on u",
     "2 nodes a round, bound anew when a shape changes, carries float32 [?]"},
    {NULL, "Loop k - x > y z", "Identity go > on; Concat v x axis=0 > u; ReduceMax u keepdims=0 > q", "on u q",
     "carries float32 [?]"},
    {NULL, "Loop - - x > y z",
     "Concat v x axis=0 > u; Shape u > s; Cast s to=1 > f; ReduceMax f keepdims=0 > q; Less q c > on", "on u q",
     "carries float32 [?]"},
    /* what grows is read before and after; it begins without rows; what is new comes first */
    {NULL, "Loop k - x > y z",
     "Identity go > on; Neg x > n; ReduceSum v v0 keepdims=0 > s; Concat v n axis=0 > u; ReduceSum v v0 keepdims=0 > "
     "t; "
     "ReduceMax u keepdims=0 > m; Add s t > st; Add st m > q",
     "on u q", "carries float32 [?]"},
    {"Slice x v0 v0 > none", "Loop k - none > y z",
     "Identity go > on; Concat v x axis=0 > u; ReduceSum u v0 keepdims=0 > q", "on u q", "carries float32 [?]"},
    {NULL, "Loop k - x > y z", "Identity go > on; Neg x > n; Concat n v axis=0 > u; ReduceMax v keepdims=0 > q",
     "on u q", "carries float32 [?]"},
    /* along an inner axis: read before and after, in its own shape */
    {"Concat v2 v2 axis=0 > s22; Reshape x s22 > m", "Loop k - m > y z",
     "Identity go > on; Neg m > n; Concat v n axis=1 > u; MatMul n v > p; ReduceSum p keepdims=0 > s; Transpose u > t; "
     "MatMul u t > o; ReduceMax o keepdims=0 > r; ReduceSum v v1 keepdims=0 > w1; ReduceMax w1 keepdims=0 > w2; Add s "
     "r > "
     "sr; Add sr w2 > q",
     "on u q", "carries float32 [2, ?]"},
    /* what cannot be in a graph */
    {NULL, "Loop k - x > y z", "Identity go > on; NonZero v > n; Cast n to=1 > f; Neg v > u; ReduceSum f > q", "on u q",
     "rounds interpreted: node 0 (Loop): node 1 (NonZero): "},
};

/* -- results ------------------------------------------------------------------------------------------------------- */

static void results_are_those_of_the_interpreter(void **state) {
  (void)state;
  compare_cases(cases, sizeof cases / sizeof *cases);
}

/* Collected values of 200,000 rounds: more than 1 MB, so that their memory doubles. */
static void many_rounds_are_collected(void **state) {
  (void)state;
  const int64_t rounds = 200000;
  example e;
  nd4c_array *y[2] = {NULL};
  open_case(&e, &cases[0], NULL);
  assert_int_equal(run_loop(e.model, WIDE, rounds, 0, y), ND4C_OK);
  assert_true(nd4c_array_rank(y[1]) == 2 && nd4c_array_shape(y[1])[0] == rounds && nd4c_array_shape(y[1])[1] == WIDE);
  nd4c_array *x = make_x(1, wide);
  float *first = read_floats(x), *all = read_floats(y[1]);
  for (int i = 0; i < WIDE; i++) {
    float v = first[i];
    for (int64_t k = 0; k < rounds; k++) {
      v += first[i];
      assert_true(all[k * WIDE + i] == v * 0.5F);
    }
  }
  free(first);
  free(all);
  nd4c_array_release(x);
  drop(y);
  close_example(&e);
}

/* -- a loop in a loop ---------------------------------------------------------------------------------------------- */

/* The inner one collects as many values as the outer one has had rounds; the outer one is interpreted. */
static void an_inner_loop_has_a_plan(void **state) {
  (void)state;
  wire_bytes graph = {0}, outer = {0}, inner = {0};
  example e;
  build_nodes(&inner, "Identity go2 > on2; Add v2 x > u2; Mul u2 v > q2");
  build_names(&inner, 11, "i2 go2 v2");
  build_names(&inner, 12, "on2 u2 q2");
  build_nodes(&outer, "Identity go > on");
  build_holder(&outer, "Loop i - v > a all", "body", &inner, NULL, NULL);
  build_nodes(&outer, "ReduceSum all v0 keepdims=0 > t; Add a t > u");
  build_names(&outer, 11, "i go v");
  build_names(&outer, 12, "on u t");
  build_holder(&graph, "Loop k - x > y z", "body", &outer, NULL, NULL);
  add_number(&graph, "v0", 1, 0);
  build_value(&graph, 11, "x", FLOAT, 1, wide);
  build_value(&graph, 11, "k", INT64, 0, NULL);
  build_value(&graph, 11, "c", FLOAT, 0, NULL);
  build_names(&graph, 12, "y z");
  open_graph(&e, &graph, 16);
  for (int64_t k = 3; k < 6; k++) {
    nd4c_array *y[2] = {NULL}, *expected[2] = {NULL};
    assert_int_equal(run_loop(e.whole, WIDE, k, 0, expected), ND4C_OK);
    assert_int_equal(run_loop(e.model, WIDE, k, 0, y), ND4C_OK);
    assert_true(are_close(y[0], expected[0]) && are_close(y[1], expected[1]));
    drop(y);
    drop(expected);
  }
  expect_reported(e.model, "rounds interpreted: node ");
  expect_reported(e.model, "rounds in a plan: node ");
  close_example(&e);
}

/* mine::Steps(p, k) -> q: k rounds that add `step`, an attribute of the call, to p. */
static void build_steps(wire_bytes *model) {
  wire_bytes body = {0}, nodes = {0}, function = {0}, import = {0}, constant = {0}, attribute = {0};
  wire_text(&attribute, 1, "value_int");
  wire_number(&attribute, 20, 2);
  wire_text(&attribute, 21, "step");
  wire_text(&constant, 4, "Constant");
  wire_text(&constant, 2, "s");
  wire_message(&constant, 5, &attribute);
  wire_message(&body, 1, &constant);
  build_nodes(&body, "Cast s to=1 > f; Identity go > on; Add v f > u");
  build_names(&body, 11, "i go v");
  build_names(&body, 12, "on u u2");
  build_nodes(&body, "Neg u > u2");
  build_holder(&nodes, "Loop k - p > last q", "body", &body, NULL, NULL);
  wire_text(&function, 1, "Steps");
  wire_text(&function, 4, "p");
  wire_text(&function, 4, "k");
  wire_text(&function, 5, "q");
  wire_text(&function, 6, "step");
  build_function_nodes(&function, &nodes, NULL);
  wire_number(&import, 2, 16);
  wire_message(&function, 9, &import);
  wire_text(&function, 10, "mine");
  wire_message(model, 25, &function);
}

/* One loop, of a function that is called twice with other attributes. */
static void each_call_of_a_function_has_a_plan(void **state) {
  (void)state;
  wire_bytes graph = {0}, bytes = {0}, import = {0};
  build_nodes(&graph, "mine::Steps x k step=1 > y; mine::Steps x k step=10 > z");
  build_value(&graph, 11, "x", FLOAT, 1, wide);
  build_value(&graph, 11, "k", INT64, 0, NULL);
  build_value(&graph, 11, "c", FLOAT, 0, NULL);
  build_names(&graph, 12, "y z");
  wire_text(&import, 1, "mine");
  wire_number(&import, 2, 1);
  wire_message(&bytes, 8, &import);
  build_steps(&bytes);
  build_model(&bytes, &graph, 16);
  nd4c_model *model = open_bytes(&bytes, false);
  nd4c_array *x = make_x(1, wide);
  float *first = read_floats(x);
  for (int64_t k = 1; k < 5; k++) {
    nd4c_array *y[2] = {NULL};
    assert_int_equal(run_loop(model, WIDE, k, 0, y), ND4C_OK);
    for (int i = 0; i < 2; i++) {
      float *values = read_floats(y[i]);
      assert_int_equal(nd4c_array_size(y[i]), k * WIDE);
      for (int64_t at = 0; at < k * WIDE; at++) {
        const float step = i == 0 ? 1 : 10;
        assert_true(fabsf(values[at] + first[at % WIDE] + step * (float)(at / WIDE + 1)) < 1e-4F);
      }
      free(values);
    }
    drop(y);
  }
  free(first);
  nd4c_array_release(x);
  assert_int_equal(count_reported(model, planned), 2);
  nd4c_model_close(model);
}

/* -- plans --------------------------------------------------------------------------------------------------------- */

/* One plan serves any number of rounds; another shape needs another one, and the latest ones are kept. */
static void plans_are_kept_by_shape(void **state) {
  (void)state;
  example e;
  open_case(&e, &cases[0], NULL);
  for (int64_t k = 1; k < 6; k++) {
    compare(&e, &cases[0], WIDE, k, 0);
  }
  assert_int_equal(count_reported(e.model, planned), 1);
  close_example(&e);
  open_case(&e, &cases[11], NULL); /* grows */
  for (int64_t k = 1; k < 6; k++) {
    compare(&e, &cases[11], k, 6 - k, 0);
  }
  assert_int_equal(count_reported(e.model, planned), 1);
  close_example(&e);
}

/* A plan for each run would cost more than it saves. */
static void other_shapes_in_each_run_get_no_plans(void **state) {
  (void)state;
  enum { SHAPES = 110, KEPT = 8 };
  static const loop_case varied = {"Range i0 k i1 > r; Cast r to=1 > xs", "Loop k - xs > y z",
                                   "Identity go > on; Add v half > u; Neg u > q", "on u q", planned};
  example e;
  open_case(&e, &varied, NULL);
  for (int64_t k = 1; k <= SHAPES; k++) {
    compare(&e, &varied, WIDE, k, 0);
  }
  expect_reported(e.model, "since nearly each had other shapes: ");
  assert_int_equal(count_reported(e.model, planned), KEPT);
  close_example(&e);
}

/* The plan takes v, which grows, to be as long as w4, or one number. It serves no two, nor does the interpreter, which
 * is asked then, and says what is wrong. */
static void the_interpreter_is_asked_for_the_rest(void **state) {
  (void)state;
  static const loop_case assuming = {"ReduceSum w v0 keepdims=0 > w4", "Loop k - x > y z",
                                     "Identity go > on; Concat v x axis=0 > u; Add v w4 > q", "on u q", planned};
  example e;
  nd4c_array *y[2] = {NULL};
  open_case(&e, &assuming, NULL);
  compare(&e, &assuming, 1, 1, 0);
  assert_int_equal(count_reported(e.model, "did not serve"), 0);
  assert_int_equal(run_loop(e.model, 1, 2, 0, y), ND4C_SHAPE);
  assert_non_null(strstr(nd4c_error_message(), "(Loop) at byte"));
  assert_non_null(strstr(nd4c_error_message(), ": round 1: node 2 (Add)"));
  expect_reported(e.model, "runs that it did not serve, which were interpreted: 1\n");
  compare(&e, &assuming, 1, 1, 0);
  close_example(&e);
}

/* What a run gives has memory of its own, which the program may write to. */
static void results_have_memory_of_their_own(void **state) {
  (void)state;
  static const loop_case constant = {"ConstantOfShape i4 > t; Add t half > z", "Loop k - x > y q",
                                     "Identity go > on; Add v z > u; Mul v z > q", "on u q", planned};
  example e;
  wire_bytes graph = {0}, body = {0};
  const float half = 0.5F;
  const int64_t four = WIDE;
  build_nodes(&graph, constant.before);
  build_nodes(&body, constant.nodes);
  build_names(&body, 11, "i go v");
  build_names(&body, 12, constant.outputs);
  build_holder(&graph, constant.node, "body", &body, NULL, NULL);
  build_initializer(&graph, "half", FLOAT, 0, NULL, &half, sizeof half);
  build_initializer(&graph, "i4", INT64, 1, one, &four, sizeof four);
  build_value(&graph, 11, "x", FLOAT, 1, wide);
  build_value(&graph, 11, "k", INT64, 0, NULL);
  build_value(&graph, 11, "c", FLOAT, 0, NULL);
  build_names(&graph, 12, "z q y");
  open_graph(&e, &graph, 16);
  for (int i = 0; i < 3; i++) {
    static const float wrong[WIDE] = {100, 100, 100, 100};
    nd4c_array *y[2] = {NULL};
    assert_int_equal(run_loop(e.model, WIDE, 3, 0, y), ND4C_OK);
    float *z = read_floats(y[0]), *q = read_floats(y[1]);
    nd4c_array *x = make_x(1, wide);
    float *first = read_floats(x);
    for (int k = 0; k < WIDE; k++) {
      assert_true(z[k] == 0.5F && fabsf(q[k] - first[k] * 0.5F) < 1e-6F);
    }
    assert_int_equal(nd4c_array_write(y[0], wrong, sizeof wrong), ND4C_OK);
    free(z);
    free(q);
    free(first);
    nd4c_array_release(x);
    drop(y);
  }
  expect_reported(e.model, planned);
  close_example(&e);
}

/* A loop between products: x goes through parts before and behind it, and the second part takes any length. */
static void a_loop_lies_between_parts(void **state) {
  (void)state;
  wire_bytes graph = {0}, body = {0};
  example e;
  add_constants(&graph);
  build_nodes(&graph, "MatMul x w > a; Relu a > b; MatMul b v > c; Cast m to=7 > k1; Squeeze k1 v0 > k");
  build_nodes(&body, "Identity go > on; Mul u half > next; ReduceSum next v1 keepdims=0 > q");
  build_names(&body, 11, "i go u");
  build_names(&body, 12, "on next q");
  build_holder(&graph, "Loop k - c > last all", "body", &body, NULL, NULL);
  build_nodes(&graph, "MatMul all w > d; Relu d > f; MatMul f v > g; MatMul g w > y");
  const float half = 0.5F;
  build_initializer(&graph, "half", FLOAT, 0, NULL, &half, sizeof half);
  build_value(&graph, 11, "x", FLOAT, 2, square);
  build_value(&graph, 11, "m", FLOAT, 1, one);
  build_value(&graph, 12, "y", FLOAT, 2, (const int64_t[]){-1, SIDE});
  open_graph(&e, &graph, 13);
  nd4c_array *x = make_x(2, square);
  for (int k = 0; k < 40; k += 9) {
    nd4c_array *m = make_scalar(ND4C_FLOAT32, k);
    assert_int_equal(check_run(&e, x, m), k);
    nd4c_array_release(m);
  }
  expect_reported(e.model, "interpreted in part: ");
  expect_reported(e.model, "2 planned parts\n");
  expect_reported(e.model, "did not serve the sizes: 0\n");
  assert_int_equal(count_reported(e.model, planned), 1);
  nd4c_array_release(x);
  close_example(&e);
}

/* -- memory -------------------------------------------------------------------------------------------------------- */

/* Whichever allocation fails, of the first run, which makes the plan, and of later ones: a later run is right. */
static void memory_may_be_short(void **state) {
  (void)state;
  static const size_t which[] = {0, 5, 9, 11};
  for (size_t i = 0; i < sizeof which / sizeof *which; i++) {
    nd4c_status status = ND4C_MEMORY;
    for (int64_t skip = 0; status != ND4C_OK; skip += 1 + skip / 16) {
      example e;
      nd4c_array *y[2] = {NULL};
      open_case(&e, &cases[which[i]], NULL);
      fails_at = skip;
      status = run_loop(e.model, WIDE, 5, 0, y);
      fails_at = -1;
      assert_true(status == ND4C_OK || status == ND4C_MEMORY);
      drop(y);
      compare(&e, &cases[which[i]], WIDE, 5, 0);
      if (status != ND4C_OK) {
        nd4c_array *z[2] = {NULL};
        fails_at = skip / 8;
        const nd4c_status again = run_loop(e.model, WIDE, 6, 0, z);
        fails_at = -1;
        assert_true(again == ND4C_OK || again == ND4C_MEMORY);
        drop(z);
        compare(&e, &cases[which[i]], WIDE, 7, 0);
      }
      expect_reported(e.model, planned);
      close_example(&e);
    }
  }
}

/* What a run allocates does not depend on the rounds, where all that they collect fits into 1 MB. */
static void rounds_allocate_nothing(void **state) {
  (void)state;
  example e;
  int64_t taken[2] = {0};
  open_case(&e, &cases[0], NULL);
  for (int i = 0; i < 4; i++) { /* the first two fill caches of memory */
    nd4c_array *y[2] = {NULL};
    const int64_t before = nd4c_allocation_count();
    assert_int_equal(run_loop(e.model, WIDE, i % 2 == 0 ? 10 : 10000, 0, y), ND4C_OK);
    taken[i % 2] = nd4c_allocation_count() - before;
    drop(y);
  }
  assert_true(taken[1] < taken[0] + SOME);
  close_example(&e);
}

/* -- ends ---------------------------------------------------------------------------------------------------------- */

static void expect_failure(nd4c_status given, nd4c_status expected, const char *words, const char *more) {
  const char *text = nd4c_error_message();
  if (given != expected || strstr(text, words) == NULL || strstr(text, more) == NULL) {
    fail_msg("%s \"%s\"; expected %s \"%s\" and \"%s\"", nd4c_status_name(given), text, nd4c_status_name(expected),
             words, more);
  }
}

static void loops_end_at_their_limit(void **state) {
  (void)state;
  static const size_t which[] = {0, 11};
  const nd4c_model_options options = {.struct_size = sizeof options, .loop_limit = 10};
  for (size_t i = 0; i < 2; i++) {
    example e;
    nd4c_array *y[2] = {NULL};
    open_case(&e, &cases[which[i]], &options);
    for (int k = 0; k < 2; k++) {
      expect_failure(run_loop(e.model, WIDE, 11, 0, y), ND4C_OVERFLOW, "(Loop) at byte",
                     "after 10, the limit of the loop");
      compare(&e, &cases[which[i]], WIDE, 10, 0);
    }
    expect_reported(e.model, planned);
    close_example(&e);
  }
}

static void failures_name_the_round(void **state) {
  (void)state;
  static const loop_case failing = {"Unsqueeze x v0 > rows; Squeeze rows v0 > flat", "Loop k - x > y z",
                                    "Identity go > on; Gather flat i > q; Add v q > u", "on u q", planned};
  example e;
  nd4c_array *y[2] = {NULL};
  open_case(&e, &failing, NULL);
  compare(&e, &failing, WIDE, WIDE, 0);
  for (int i = 0; i < 2; i++) {
    expect_failure(run_loop(e.model, WIDE, WIDE + 1, 0, y), ND4C_INDEX, "(Loop) at byte", ": round 4: node 'Gather'");
    compare(&e, &failing, WIDE, 2, 0);
  }
  expect_reported(e.model, planned);
  close_example(&e);
}

/* Without an end while c is above 0. */
static void open_endless(example *e) {
  static const float none = 0;
  wire_bytes graph = {0}, body = {0};
  build_nodes(&body, "Neg v > u; ReduceSum u v0 keepdims=0 > q; Less zero c > on");
  build_names(&body, 11, "i go v");
  build_names(&body, 12, "on u q");
  build_holder(&graph, "Loop - - x > y z", "body", &body, NULL, NULL);
  build_initializer(&graph, "zero", FLOAT, 0, NULL, &none, sizeof none);
  add_number(&graph, "v0", 1, 0);
  build_value(&graph, 11, "x", FLOAT, 1, wide);
  build_value(&graph, 11, "k", INT64, 0, NULL);
  build_value(&graph, 11, "c", FLOAT, 0, NULL);
  build_names(&graph, 12, "y z");
  open_graph(e, &graph, 16);
}

static void a_deadline_ends_a_loop(void **state) {
  (void)state;
  example e;
  nd4c_cancellation *limit = NULL;
  nd4c_array *y[2] = {NULL};
  open_endless(&e);
  assert_int_equal(run_loop(e.model, WIDE, 0, 0, y), ND4C_OK);
  drop(y);
  assert_int_equal(nd4c_cancellation_create(&limit), ND4C_OK);
  assert_int_equal(nd4c_cancellation_set_timeout(limit, 5000000), ND4C_OK);
  assert_int_equal(nd4c_cancellation_enter(limit), ND4C_OK);
  expect_failure(run_loop(e.model, WIDE, 0, 1, y), ND4C_DEADLINE, "(Loop) at byte", "the deadline of");
  assert_int_equal(nd4c_cancellation_leave(limit), ND4C_OK);
  nd4c_cancellation_destroy(limit);
  assert_int_equal(run_loop(e.model, WIDE, 0, 0, y), ND4C_OK);
  drop(y);
  expect_reported(e.model, planned);
  close_example(&e);
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
  (void)total;
  if (strcmp(what, "running") == 0 && done == 0) {
    atomic_store(&((spinner *)user)->began, true);
  }
}

static void *spin(void *argument) {
  spinner *s = argument;
  nd4c_array *y[2] = {NULL};
  s->status = nd4c_cancellation_enter(s->cancellation);
  if (s->status == ND4C_OK) {
    s->status = run_loop(s->model, WIDE, 0, 1, y);
    (void)snprintf(s->text, sizeof s->text, "%s", nd4c_error_message());
    (void)nd4c_cancellation_leave(s->cancellation);
  }
  atomic_store(&s->began, true); /* also if it never came so far */
  return NULL;
}

/* Another thread's runs of the same plan go on meanwhile. */
static void another_thread_ends_a_loop(void **state) {
  (void)state;
  example e;
  nd4c_array *y[2] = {NULL};
  open_endless(&e);
  assert_int_equal(run_loop(e.model, WIDE, 0, 0, y), ND4C_OK);
  drop(y);
  spinner s = {.model = e.model};
  assert_int_equal(nd4c_cancellation_create(&s.cancellation), ND4C_OK);
  nd4c_model_set_progress(e.model, note_loop, &s);
  assert_int_equal(pthread_create(&s.thread, NULL, spin, &s), 0);
  while (!atomic_load(&s.began)) {
    (void)sched_yield();
  }
  nd4c_model_set_progress(e.model, NULL, NULL);
  for (int i = 0; i < RUNS; i++) {
    assert_int_equal(run_loop(e.model, WIDE, 0, 0, y), ND4C_OK);
    assert_int_equal(nd4c_array_shape(y[1])[0], 1);
    drop(y);
  }
  assert_int_equal(nd4c_cancellation_request(s.cancellation), ND4C_OK);
  assert_int_equal(pthread_join(s.thread, NULL), 0);
  assert_int_equal(s.status, ND4C_CANCELLED);
  if (strstr(s.text, "(Loop) at byte") == NULL || strstr(s.text, "cancelled by") == NULL) {
    fail_msg("%s", s.text);
  }
  nd4c_cancellation_destroy(s.cancellation);
  expect_reported(e.model, planned);
  close_example(&e);
}

/* -- threads ------------------------------------------------------------------------------------------------------- */

typedef struct caller {
  pthread_t thread;
  nd4c_model *model;
  int64_t rounds;
  nd4c_array *expected[2];
  int wrong;
} caller;

static void *call(void *argument) {
  caller *c = argument;
  for (int i = 0; i < RUNS && c->wrong == 0; i++) {
    nd4c_array *y[2] = {NULL};
    c->wrong = run_loop(c->model, WIDE, c->rounds, 0, y) != ND4C_OK || !are_close(y[0], c->expected[0]) ||
               !are_close(y[1], c->expected[1]);
    drop(y);
  }
  return NULL;
}

/* All of them need the plan at first; one is kept. */
static void threads_share_a_plan(void **state) {
  (void)state;
  static const size_t which[] = {0, 5, 12};
  for (size_t i = 0; i < sizeof which / sizeof *which; i++) {
    example e;
    caller callers[THREADS] = {0};
    open_case(&e, &cases[which[i]], NULL);
    for (int k = 0; k < THREADS; k++) {
      callers[k].model = e.model;
      callers[k].rounds = which[i] == 12 ? 2 : 7 * k + 1;
      assert_int_equal(run_loop(e.whole, WIDE, callers[k].rounds, 0, callers[k].expected), ND4C_OK);
    }
    for (int k = 0; k < THREADS; k++) {
      assert_int_equal(pthread_create(&callers[k].thread, NULL, call, &callers[k]), 0);
    }
    for (int k = 0; k < THREADS; k++) {
      assert_int_equal(pthread_join(callers[k].thread, NULL), 0);
      assert_int_equal(callers[k].wrong, 0);
      drop(callers[k].expected);
    }
    assert_int_equal(count_reported(e.model, planned), 1);
    close_example(&e);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(results_are_those_of_the_interpreter),
      cmocka_unit_test(many_rounds_are_collected),
      cmocka_unit_test(an_inner_loop_has_a_plan),
      cmocka_unit_test(each_call_of_a_function_has_a_plan),
      cmocka_unit_test(plans_are_kept_by_shape),
      cmocka_unit_test(other_shapes_in_each_run_get_no_plans),
      cmocka_unit_test(the_interpreter_is_asked_for_the_rest),
      cmocka_unit_test(results_have_memory_of_their_own),
      cmocka_unit_test(a_loop_lies_between_parts),
      cmocka_unit_test(memory_may_be_short),
      cmocka_unit_test(rounds_allocate_nothing),
      cmocka_unit_test(loops_end_at_their_limit),
      cmocka_unit_test(failures_name_the_round),
      cmocka_unit_test(a_deadline_ends_a_loop),
      cmocka_unit_test(another_thread_ends_a_loop),
      cmocka_unit_test(threads_share_a_plan),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
