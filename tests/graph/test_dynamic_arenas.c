/* Memory of plans with dims: runs share arenas, whatever their sizes, and what was prepared for dropped bindings goes.
 */
#include "dynamic_cases.h"
#include "graph/dynamic.h"
#include "graph/plan/common.h"
#include "stub_plugin.h"

enum { LENGTHS = 40, ATTENTION = 2, CHAIN = 4, GROWING = 8 };

static void run_size(const nd4c_graph *graph, nd4c_plan *plan, int64_t n, int64_t m) {
  const int64_t dims[] = {n, m};
  sample s = make_sample(graph, dims, NULL);
  check_sample(plan, &s, "a size", dims);
  free_sample(&s);
}

static int64_t arena_of_latest(const nd4c_plan *plan) {
  return nd4c_bindings_latest(plan->dynamic)->plan->arena_bytes;
}

static void sizes_share_an_arena(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph(&graphs[ATTENTION]);
  for (int growing = 0; growing < 2; growing++) {
    nd4c_plan *plan = make_plan(graph, NULL);
    int64_t largest = 0, all = 0;
    for (int64_t i = 1; i <= LENGTHS; i++) {
      run_size(graph, plan, 50, growing ? i : LENGTHS + 1 - i);
      largest = arena_of_latest(plan) > largest ? arena_of_latest(plan) : largest;
      all += arena_of_latest(plan);
    }
    assert_true(largest > 0 && all > 10 * largest);
    assert_int_equal(bindings_of(plan).kept, LENGTHS);
    assert_in_range(bindings_of(plan).arena_bytes, largest, 4 * largest);
    nd4c_plan_destroy(plan);
  }
  nd4c_graph_destroy(graph);
}

/* Between two sizes that alternate, no arena is made or freed. */
static void sizes_alternate_in_one_arena(void **state) {
  (void)state;
  const int64_t sizes[][DIMS] = {{40, 30}, {7, 5}};
  nd4c_graph *graph = make_graph(&graphs[ATTENTION]);
  nd4c_plan *plan = make_plan(graph, NULL);
  sample s[] = {make_sample(graph, sizes[0], NULL), make_sample(graph, sizes[1], NULL)};
  nd4c_array *outputs[2][CHECK_PORTS] = {{NULL}};
  nd4c_memory_info before = {.struct_size = sizeof before}, after = before;
  for (int round = 0; round < 12; round++) {
    if (round == 2) {
      CHECK_OK(nd4c_memory_get_info(plan->device, &before));
    }
    CHECK_OK(run_sample(plan, &s[round % 2], outputs[round % 2]));
    assert_true(is_expected(&s[round % 2], 0, outputs[round % 2][0]));
  }
  CHECK_OK(nd4c_memory_get_info(plan->device, &after));
  assert_int_equal(after.live_bytes, before.live_bytes);
  assert_int_equal(after.total_count, before.total_count);
  for (int i = 0; i < 2; i++) {
    check_release(outputs[i], s[i].output_count);
    free_sample(&s[i]);
  }
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* A run that finds no idle arena makes one, and each run has its own. */
static void runs_at_once_have_an_arena_each(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph(&graphs[ATTENTION]);
  nd4c_plan *plan = make_plan(graph, NULL);
  nd4c_storage *taken = NULL;
  run_size(graph, plan, 20, 10);
  const int64_t one = bindings_of(plan).arena_bytes, bytes = arena_of_latest(plan);
  CHECK_OK(nd4c_arenas_take(&plan->dynamic->arenas, bytes, &taken));
  memset(taken->address, 0x5a, (size_t)bytes);
  run_size(graph, plan, 20, 10);
  assert_true(bindings_of(plan).arena_bytes >= one + bytes);
  for (int64_t i = 0; i < bytes; i++) {
    assert_int_equal(((const unsigned char *)taken->address)[i], 0x5a);
  }
  nd4c_arenas_give(&plan->dynamic->arenas, taken);
  run_size(graph, plan, 20, 10); /* in the arena that was given back last */
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* What replaces an arena that is too small serves the next sizes, too. */
static void an_arena_that_grows_has_room_to_spare(void **state) {
  (void)state;
  enum { BYTES = 64 << 10, SPARE = 4 };
  nd4c_device *host = NULL;
  nd4c_storage *first = NULL, *second = NULL, *third = NULL;
  nd4c_plan_arenas arenas;
  CHECK_OK(nd4c_device_find("cpu:0", &host));
  nd4c_arenas_init(&arenas, host);
  nd4c_arenas_want(&arenas, BYTES);
  CHECK_OK(nd4c_arenas_take(&arenas, BYTES, &first));
  assert_in_range(first->bytes, BYTES, SPARE * BYTES - 1);
  const int64_t earlier = first->bytes;
  nd4c_arenas_give(&arenas, first);
  nd4c_arenas_want(&arenas, earlier + 1);
  CHECK_OK(nd4c_arenas_take(&arenas, earlier + 1, &second));
  assert_true(second->bytes >= SPARE * earlier);
  assert_int_equal(nd4c_arenas_bytes(&arenas), second->bytes); /* the first one is gone */
  nd4c_arenas_give(&arenas, second);
  CHECK_OK(nd4c_arenas_take(&arenas, SPARE * earlier, &third));
  assert_ptr_equal(third, second);
  nd4c_arenas_give(&arenas, third);
  nd4c_arenas_free(&arenas);
}

static void a_large_arena_goes_with_its_binding(void **state) {
  (void)state;
  const nd4c_plan_options least = {.struct_size = sizeof least, .binding_bytes = 1};
  nd4c_graph *graph = make_graph(&graphs[ATTENTION]);
  nd4c_plan *plan = make_plan(graph, &least);
  run_size(graph, plan, 200, 100);
  const int64_t large = bindings_of(plan).arena_bytes;
  run_size(graph, plan, 20, 10);
  run_size(graph, plan, 20, 10);
  assert_int_equal(bindings_of(plan).kept, 1);
  assert_true(arena_of_latest(plan) < large / 4);
  assert_true(bindings_of(plan).arena_bytes <= 4 * arena_of_latest(plan));
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void choices_go_with_their_bindings(void **state) {
  (void)state;
  const nd4c_plan_options least = {.struct_size = sizeof least, .binding_bytes = 1};
  nd4c_graph *graph = make_graph(&graphs[ATTENTION]);
  nd4c_plan *plan = make_plan(graph, &least);
  run_size(graph, plan, 50, 1);
  run_size(graph, plan, 50, 2);
  const int32_t two = plan->dynamic->common->choice_count;
  assert_true(two > 0);
  for (int64_t m = 3; m <= LENGTHS; m++) {
    run_size(graph, plan, 50, m);
    assert_true(plan->dynamic->common->choice_count <= 7 * two);
  }
  assert_int_equal(bindings_of(plan).dropped, LENGTHS - 1);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* Runs sizes that grow, so that no arena serves the next one, and keeps their arrays: what is cached then was in
 * arenas. Returns the bytes of all arenas that there were. */
static int64_t run_growing(const graph_case *c, nd4c_context *context, int64_t *cached) {
  const nd4c_plan_options least = {.struct_size = sizeof least, .binding_bytes = 1, .no_optimization = true};
  nd4c_graph *graph = make_graph(c);
  nd4c_plan *plan = NULL;
  nd4c_array *inputs[GROWING][CHECK_PORTS] = {{NULL}}, *outputs[GROWING][CHECK_PORTS] = {{NULL}};
  nd4c_memory_info info = {.struct_size = sizeof info};
  int64_t bytes = 0;
  CHECK_OK(nd4c_plan_create(graph, context, &least, &plan));
  CHECK_OK(nd4c_memory_trim(plan->device, 0));
  for (int64_t i = 0; i < GROWING; i++) {
    nd4c_graph *bound = bind(graph, (const int64_t[]){30 + 20 * i, 100});
    check_make_inputs(bound, 1, inputs[i]);
    CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *const *)inputs[i], bound->inputs.count, outputs[i],
                           bound->outputs.count));
    CHECK_OK(nd4c_device_synchronize(plan->device));
    bytes += arena_of_latest(plan);
    nd4c_graph_destroy(bound);
  }
  assert_int_equal(bindings_of(plan).kept, 1);
  CHECK_OK(nd4c_memory_get_info(plan->device, &info));
  *cached = info.cached_bytes;
  for (int64_t i = 0; i < GROWING; i++) {
    check_release(inputs[i], graph->inputs.count);
    check_release(outputs[i], graph->outputs.count);
  }
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  return bytes;
}

/* Neither arenas that bindings share nor, on a device of another mode, those of their own. */
static void arenas_do_not_stay_in_the_cache(void **state) {
  (void)state;
  int64_t cached = 0;
  int64_t bytes = run_growing(&graphs[ATTENTION], NULL, &cached);
  assert_true(bytes > 1 << 20);
  assert_in_range(cached, 0, bytes / 8);
  bytes = run_growing(&graphs[CHAIN], stub_context, &cached);
  assert_true(bytes > 1 << 18);
  assert_in_range(cached, 0, bytes / 8);
}

int main(void) {
  if (stub_start() != ND4C_OK) {
    return 1;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sizes_share_an_arena),
      cmocka_unit_test(sizes_alternate_in_one_arena),
      cmocka_unit_test(runs_at_once_have_an_arena_each),
      cmocka_unit_test(an_arena_that_grows_has_room_to_spare),
      cmocka_unit_test(a_large_arena_goes_with_its_binding),
      cmocka_unit_test(choices_go_with_their_bindings),
      cmocka_unit_test_setup_teardown(arenas_do_not_stay_in_the_cache, stub_test_begin, stub_test_end),
  };
  return cmocka_run_group_tests_name("dynamic_arenas", tests, NULL, NULL);
}
