/* Buckets of plans with dims: sizes that share a binding give the results of plans of numbers, and keep the arena, the
 * places in it and the kernels that take other extents. */
#include <stddef.h>

#include "dynamic_cases.h"
#include "graph/dynamic.h"

/* A bucket's kernel may round otherwise than the one that a plan of numbers has. */
static sample make_close(const nd4c_graph *graph, const int64_t *dims) {
  sample s = make_sample(graph, dims, NULL);
  s.tolerance = 1e-5;
  return s;
}

static void run_size(const nd4c_graph *graph, nd4c_plan *plan, int64_t n, int64_t m) {
  const int64_t dims[] = {n, m};
  sample s = make_close(graph, dims);
  check_sample(plan, &s, "a size in a bucket", dims);
  free_sample(&s);
}

static nd4c_plan *make_with(const nd4c_graph *graph, const char *buckets) {
  const nd4c_plan_options options = {.struct_size = sizeof options, .buckets = buckets};
  return make_plan(graph, &options);
}

static void sizes_of_a_bucket_are_right(void **state) {
  (void)state;
  const char *const policies[] = {"powers", "64", "7"};
  for (int which = 0; which < GRAPHS; which++) {
    nd4c_graph *graph = make_graph(&graphs[which]);
    for (int policy = 0; policy < 3; policy++) {
      nd4c_plan *plan = make_with(graph, policies[policy]);
      for (int i = 0; i < 8 && graphs[which].sizes[i][1] > 0; i++) {
        run_size(graph, plan, graphs[which].sizes[i][0], graphs[which].sizes[i][1]);
      }
      for (int64_t i = 0; i < 9; i++) { /* up and down again */
        const int64_t step = i < 5 ? i : 8 - i;
        run_size(graph, plan, graphs[which].low[0] + 3, graphs[which].low[1] + step);
      }
      assert_true(bindings_of(plan).patched > 0);
      nd4c_plan_destroy(plan);
    }
    nd4c_graph_destroy(graph);
  }
}

typedef struct snapshot {
  const void *arena;
  int64_t offsets[256];
  int32_t count;
  const nd4c_choice *softmax;
} snapshot;

static snapshot look(const nd4c_plan *plan) {
  const nd4c_plan *bound = nd4c_bindings_latest(plan->dynamic)->plan;
  snapshot s = {.arena = bound->arena_at, .count = bound->slot_count};
  assert_in_range(bound->slot_count, 1, 256);
  for (int32_t i = 0; i < bound->slot_count; i++) {
    s.offsets[i] = bound->slots[i].kind == ND4C_SLOT_ARENA ? bound->slots[i].arena_offset : -1;
  }
  for (int32_t i = 0; i < bound->step_count; i++) {
    const nd4c_step *step = &bound->steps[i];
    s.softmax = step->choice != NULL && step->call.op->op == ND4C_OP_softmax ? step->choice : s.softmax;
  }
  return s;
}

static void assert_reported(const nd4c_plan *plan, const char *text) {
  char *report = NULL;
  CHECK_OK(nd4c_plan_report(plan, &report));
  if (strstr(report, text) == NULL) {
    fail_msg("no '%s' in\n%s", text, report);
  }
  nd4c_free(report);
}

/* Attention over more and more positions: two buckets, and one arena, which the second one makes larger. */
static void a_growing_sequence_keeps_its_memory(void **state) {
  (void)state;
  const nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = true, .buckets = "32"};
  nd4c_graph *graph = make_graph(&graphs[2]);
  nd4c_plan *plan = make_plan(graph, &options);
  run_size(graph, plan, 32, 2);
  assert_int_equal(bindings_of(plan).made, 1); /* of the largest sizes */
  assert_int_equal(bindings_of(plan).patched, 1);
  const snapshot first = look(plan);
  assert_non_null(first.softmax);
  for (int64_t m = 3; m <= 32; m++) {
    run_size(graph, plan, 32, m);
    const snapshot now = look(plan);
    assert_ptr_equal(now.arena, first.arena);
    assert_int_equal(now.count, first.count);
    assert_memory_equal(now.offsets, first.offsets, (size_t)now.count * sizeof *now.offsets);
    assert_ptr_equal(now.softmax, first.softmax);
  }
  assert_int_equal(bindings_of(plan).made, 1);
  assert_int_equal(bindings_of(plan).patched, 31);
  assert_int_equal(bindings_of(plan).kept, 1);
  run_size(graph, plan, 32, 33);
  assert_int_equal(bindings_of(plan).made, 2);
  assert_int_equal(bindings_of(plan).kept, 2);
  assert_reported(
      plan, "buckets: 'n' up to multiples of 32, 'm' up to multiples of 32; bindings got other extents 32 times\n");
  run_size(graph, plan, 32, 7); /* the first bucket's binding is still there */
  assert_int_equal(bindings_of(plan).made, 2);
  assert_reported(plan, "n = 32, m = 33 (bucket up to n = 32, m = 64): ");
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static const nd4c_choice *choice_of_product(const nd4c_plan *plan) {
  const nd4c_plan *bound = nd4c_bindings_latest(plan->dynamic)->plan;
  const nd4c_choice *found = NULL;
  for (int32_t i = 0; i < bound->step_count && found == NULL; i++) {
    found = bound->steps[i].call.op->op == ND4C_OP_matmul ? bound->steps[i].choice : NULL;
  }
  return found;
}

/* A kernel that prepares itself for extents, as that of float16 does, prepares itself no more where those of other
 * steps change. */
static void steps_of_the_same_extents_keep_their_choice(void **state) {
  (void)state;
  const nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = true, .buckets = "8"};
  const nd4c_attr half = {.name = "dtype", .value = {.kind = ND4C_ATTR_DTYPE, .as.i = ND4C_FLOAT16}};
  const nd4c_attr single = {.name = "dtype", .value = {.kind = ND4C_ATTR_DTYPE, .as.i = ND4C_FLOAT32}};
  builder b = {0};
  CHECK_OK(nd4c_graph_create(&b.graph));
  CHECK_OK(nd4c_graph_dim(b.graph, "n", 1, -1, &b.n));
  CHECK_OK(nd4c_graph_dim(b.graph, "m", 1, -1, &b.m));
  nd4c_value x = check_input(b.graph, "x", 3, (int64_t[]){b.n, 6, 6}), k = check_input(b.graph, "k", 1, &b.m);
  x = check_op(b.graph, ND4C_OP_cast, &x, 1, &half, 1);
  x = check_binary(b.graph, ND4C_OP_matmul, x, x);
  CHECK_OK(nd4c_graph_output(b.graph, "y", check_op(b.graph, ND4C_OP_cast, &x, 1, &single, 1)));
  CHECK_OK(nd4c_graph_output(b.graph, "k", check_unary(b.graph, ND4C_OP_exp, k)));
  nd4c_plan *plan = make_plan(b.graph, &options);
  const nd4c_choice *first = NULL;
  for (int64_t m = 5; m <= 8; m++) {
    const int64_t dims[] = {5, m};
    sample s = make_sample(b.graph, dims, &options);
    check_sample(plan, &s, "a size", dims);
    free_sample(&s);
    first = first == NULL ? choice_of_product(plan) : first;
    assert_non_null(first);
    assert_ptr_equal(choice_of_product(plan), first);
  }
  assert_int_equal(bindings_of(plan).made, 1);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(b.graph);
}

/* Each dim has its own buckets, or none. An extent of 1 is a bucket by itself. */
static void dims_have_their_own_buckets(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph(&graphs[2]);
  nd4c_plan *plan = make_with(graph, "m=16");
  for (int64_t n = 1; n <= 2; n++) {
    for (int64_t m = 2; m <= 16; m += 7) {
      run_size(graph, plan, n, m);
    }
  }
  assert_int_equal(bindings_of(plan).made, 2);
  assert_reported(plan, "buckets: 'm' up to multiples of 16;");
  assert_reported(plan, "n = 2, m = 16 (bucket up to n = 2, m = 16): ");
  nd4c_plan_destroy(plan);
  plan = make_with(graph, "64");
  run_size(graph, plan, 1, 3);
  assert_reported(plan, "n = 1, m = 3 (bucket up to n = 1, m = 64): ");
  nd4c_plan_destroy(plan);
  plan = make_with(graph, "64,n=powers");
  run_size(graph, plan, 1, 3);
  assert_reported(plan, "n = 1, m = 3 (bucket up to n = 1, m = 64): ");
  run_size(graph, plan, 3, 3);
  assert_reported(plan, "n = 3, m = 3 (bucket up to n = 4, m = 64): ");
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* A profile goes on when a binding gets other extents. */
static void profiles_go_on(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph(&graphs[2]);
  nd4c_plan *plan = make_with(graph, "32");
  CHECK_OK(nd4c_plan_profile(plan, true));
  for (int64_t m = 5; m < 9; m++) {
    run_size(graph, plan, 4, m); /* two runs each */
    nd4c_step_info info = {.struct_size = sizeof info};
    CHECK_OK(nd4c_plan_get_step(plan, 0, &info));
    assert_int_equal(info.runs, 2 * (m - 4));
  }
  assert_int_equal(bindings_of(plan).patched, 4);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* A bucket ends at a dim's bound. */
static void buckets_stay_within_bounds(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph(&graphs[0]);
  nd4c_plan *plan = make_with(graph, "powers");
  run_size(graph, plan, 3, 4999);
  assert_reported(plan, "n = 3, m = 4999 (bucket up to n = 4, m = 5000): ");
  run_size(graph, plan, 4, 5000);
  assert_int_equal(bindings_of(plan).made, 1);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* Where the largest sizes violate a guard, the run's are bound by themselves. */
static void a_guard_may_refuse_the_largest_sizes(void **state) {
  (void)state;
  const int64_t sizes[] = {3, 6, 9, 12};
  nd4c_graph *graph = NULL;
  int64_t n = 0;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_dim(graph, "n", 1, -1, &n));
  nd4c_value x = check_input(graph, "x", 1, &n);
  nd4c_attr shape[] = {check_ints("shape", (int64_t[]){-1, 3}, 2)}; /* n is a multiple of 3 */
  nd4c_value y = check_op(graph, ND4C_OP_reshape, &x, 1, shape, 1);
  CHECK_OK(nd4c_graph_output(graph, "y", check_unary(graph, ND4C_OP_abs, y)));
  nd4c_plan *plan = make_with(graph, "4");
  for (int i = 0; i < 4; i++) {
    nd4c_array *given = check_array(ND4C_FLOAT32, 1, &sizes[i], 1, -1, 1), *output = NULL;
    CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *[]){given}, 1, &output, 1));
    assert_int_equal(nd4c_array_shape(output)[0], sizes[i] / 3);
    check_release((nd4c_array *[]){given, output}, 2);
  }
  assert_int_equal(bindings_of(plan).made, 3); /* 3, 6, and 12 for 9; not 4 and 8 */
  assert_int_equal(bindings_of(plan).patched, 2);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void policies_are_checked(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph(&graphs[0]), *fork = check_make_fork();
  nd4c_plan *plan = NULL;
  const char *const wrong[] = {"power", "1",   "0",  "-4",   "3.5", "64 ", "9999999999999999999",
                               "8,",    "n=1", "m=", "8,n=x"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    const nd4c_plan_options options = {.struct_size = sizeof options, .buckets = wrong[i]};
    expect(nd4c_plan_create(graph, NULL, &options, &plan), ND4C_ARGUMENT, "options.buckets has '");
    expect(nd4c_plan_create(fork, NULL, &options, &plan), ND4C_ARGUMENT, "expected none, powers");
  }
  const nd4c_plan_options other = {.struct_size = sizeof other, .buckets = "k=64"};
  expect(nd4c_plan_create(graph, NULL, &other, &plan), ND4C_NAME, "options.buckets: 'k' is no dim of the graph");
  char text[1200];
  memset(text, '6', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  const nd4c_plan_options lengthy = {.struct_size = sizeof lengthy, .buckets = text};
  expect(nd4c_plan_create(graph, NULL, &lengthy, &plan), ND4C_ARGUMENT, "1199 characters");
  CHECK_OK(nd4c_config_set("nd4c.plan.buckets", "k=8,n=16,m=16")); /* 'k' may be a dim of other graphs */
  plan = make_plan(graph, NULL);
  run_size(graph, plan, 5, 5);
  assert_reported(plan, "buckets: 'n' up to multiples of 16, 'm' up to multiples of 16;");
  nd4c_plan_destroy(plan);
  plan = make_with(graph, "none");
  run_size(graph, plan, 5, 5);
  assert_int_equal(bindings_of(plan).patched, 0);
  nd4c_plan_destroy(plan);
  CHECK_OK(nd4c_config_set("nd4c.plan.buckets", "many"));
  expect(nd4c_plan_create(graph, NULL, NULL, &plan), ND4C_CONFIG, "nd4c.plan.buckets has 'many'");
  CHECK_OK(nd4c_config_set("nd4c.plan.buckets", NULL));
  nd4c_graph_destroy(fork);
  nd4c_graph_destroy(graph);
}

/* Programs that were compiled before the counts of buckets have a shorter struct. */
static void shorter_counts_are_filled_in(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph(&graphs[0]);
  nd4c_plan *plan = make_with(graph, "8");
  run_size(graph, plan, 5, 5);
  nd4c_plan_bindings counts = {.struct_size = offsetof(nd4c_plan_bindings, patched), .patched = 77};
  CHECK_OK(nd4c_plan_get_bindings(plan, &counts));
  assert_int_equal(counts.made, 1);
  assert_int_equal(counts.patched, 77);
  assert_int_equal(bindings_of(plan).patched, 1);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* Each allocation fails in turn: the bucket's binding stays, and serves again. */
static void memory_may_run_out(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph(&graphs[2]);
  sample a = make_close(graph, (int64_t[]){2, 5}), b = make_close(graph, (int64_t[]){2, 6});
  nd4c_plan *plan = make_with(graph, "8");
  nd4c_array *outputs[CHECK_PORTS] = {NULL};
  bool done = false;
  check_sample(plan, &a, "before", (int64_t[]){2, 5});
  for (int64_t skip = 0; !done; skip += 1 + skip / 16) {
    nd4c_allocation_fail_at(skip);
    const nd4c_status status = run_sample(plan, &b, outputs);
    nd4c_allocation_fail_at(-1);
    done = status == ND4C_OK;
    if (!done) {
      assert_int_equal(status, ND4C_MEMORY);
      assert_int_equal(bindings_of(plan).kept, 1);
      check_sample(plan, &a, "after a failure", (int64_t[]){2, 5});
    }
    check_release(outputs, b.output_count);
  }
  free_sample(&a);
  free_sample(&b);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* Threads take each other's bindings of one bucket, but none that runs. */
static void threads_share_a_bucket(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph(&graphs[2]);
  nd4c_plan *plan = make_with(graph, "16");
  sample samples[SIZES];
  for (int64_t i = 0; i < SIZES; i++) {
    samples[i] = make_close(graph, (int64_t[]){1 + i % 2, 3 + i});
  }
  run_threads(plan, samples);
  assert_int_equal(bindings_of(plan).runs, THREADS * ROUNDS);
  nd4c_plan_destroy(plan);
  for (int i = 0; i < SIZES; i++) {
    free_sample(&samples[i]);
  }
  nd4c_graph_destroy(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sizes_of_a_bucket_are_right),
      cmocka_unit_test(a_growing_sequence_keeps_its_memory),
      cmocka_unit_test(steps_of_the_same_extents_keep_their_choice),
      cmocka_unit_test(dims_have_their_own_buckets),
      cmocka_unit_test(profiles_go_on),
      cmocka_unit_test(buckets_stay_within_bounds),
      cmocka_unit_test(a_guard_may_refuse_the_largest_sizes),
      cmocka_unit_test(policies_are_checked),
      cmocka_unit_test(shorter_counts_are_filled_in),
      cmocka_unit_test(memory_may_run_out),
      cmocka_unit_test(threads_share_a_bucket),
  };
  return cmocka_run_group_tests_name("dynamic_buckets", tests, NULL, NULL);
}
