/* The driver of passes: phases, rounds, what runs again and what does not, the limit; and the rows of the real
 * passes. */
#include "graph/graph_check.h"

/* -- passes of this test ------------------------------------------------------------------------------------------- */

/* Removes each pair of negative after negative. */
static nd4c_status drop_pairs(nd4c_rewrite *rewrite) {
  for (int32_t i = 0; i < rewrite->graph->node_count; i++) {
    const nd4c_graph_node *outer = &rewrite->graph->nodes[i];
    if (outer->def == NULL || outer->def->info.op != ND4C_OP_negative) {
      continue;
    }
    const nd4c_graph_node *inner = nd4c_rewrite_producer(rewrite, outer->inputs[0], ND4C_OP_negative);
    if (inner != NULL && rewrite->uses[outer->outputs[0]] > 0) {
      ND4C_TRY(nd4c_rewrite_replace(rewrite, outer->outputs[0], inner->inputs[0], rewrite->graph->node_count));
    }
  }
  return ND4C_OK;
}

/* Turns the first node of one op into another op. */
static nd4c_status turn_one(nd4c_rewrite *rewrite, nd4c_op from, nd4c_op to) {
  for (int32_t i = 0; i < rewrite->graph->node_count; i++) {
    const nd4c_graph_node *node = &rewrite->graph->nodes[i];
    if (node->def->info.op == from) {
      bool done = false;
      return nd4c_rewrite_node(rewrite, i, to, node->inputs, 1, NULL, NULL, &done);
    }
  }
  return ND4C_OK;
}

static nd4c_status turn_abs(nd4c_rewrite *rewrite) {
  return turn_one(rewrite, ND4C_OP_abs, ND4C_OP_negative);
}

/* Never ends: exp becomes sin, sin becomes exp. */
static nd4c_status turn_around(nd4c_rewrite *rewrite) {
  bool exps = false;
  for (int32_t i = 0; i < rewrite->graph->node_count; i++) {
    exps = exps || rewrite->graph->nodes[i].def->info.op == ND4C_OP_exp;
  }
  return exps ? turn_one(rewrite, ND4C_OP_exp, ND4C_OP_sin) : turn_one(rewrite, ND4C_OP_sin, ND4C_OP_exp);
}

static nd4c_status do_nothing(nd4c_rewrite *rewrite) {
  (void)rewrite;
  return ND4C_OK;
}

#define ROW(phase_, name_, where_, function) \
  {.name = name_, .doc = "test", .phase = ND4C_PHASE_##phase_, .where = ND4C_PASS_##where_, .run = function}
static const nd4c_pass pairs = ROW(SIMPLIFY, "pairs", ANY, drop_pairs), idle = ROW(SIMPLIFY, "idle", ANY, do_nothing),
                       simple_turn = ROW(SIMPLIFY, "turn", ANY, turn_abs), fuse_turn = ROW(FUSE, "turn", ANY, turn_abs),
                       late = ROW(LAYOUT, "late", DEVICE, do_nothing),
                       around = ROW(SIMPLIFY, "around", ANY, turn_around),
                       fuse_around = ROW(FUSE, "around", ANY, turn_around),
                       layout_around = ROW(LAYOUT, "around", DEVICE, turn_around);

/* -- driving them -------------------------------------------------------------------------------------------------- */

/* A chain of ops, an output at its end, as a plan's graph before its passes. */
static nd4c_plan *make_chain(nd4c_op op, int32_t count) {
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  nd4c_context *context = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value value = check_input(graph, "x", 1, (int64_t[]){3});
  for (int32_t i = 0; i < count; i++) {
    value = check_unary(graph, op, value);
  }
  CHECK_OK(nd4c_graph_output(graph, "y", value));
  CHECK_OK(nd4c_plan_allocate(&plan));
  CHECK_OK(nd4c_context_resolve(NULL, &context));
  plan->context = nd4c_context_retain(context);
  plan->device = context->device;
  CHECK_OK(nd4c_graph_clone(graph, &plan->graph));
  nd4c_graph_destroy(graph);
  return plan;
}

typedef struct expected {
  int32_t runs, changes;
} expected;

static void assert_records(const nd4c_plan *plan, const expected *rows, int32_t count) {
  assert_int_equal(plan->pass_count, count);
  for (int32_t i = 0; i < count; i++) {
    if (plan->passes[i].runs != rows[i].runs || plan->passes[i].changes != rows[i].changes) {
      fail_msg("pass %s: %d runs with %d changes, expected %d with %d", plan->passes[i].name, plan->passes[i].runs,
               plan->passes[i].changes, rows[i].runs, rows[i].changes);
    }
  }
}

/* turn comes after pairs, and makes work for it: six abs become negatives one by one, and vanish in pairs. */
static void a_pass_runs_again_after_a_later_one(void **state) {
  (void)state;
  nd4c_plan *plan = make_chain(ND4C_OP_abs, 6);
  const nd4c_pass *const rows[] = {&pairs, &idle, &simple_turn};
  CHECK_OK(nd4c_passes_drive(plan, rows, 3, NULL));
  assert_int_equal(plan->graph->node_count, 0);
  /* Rounds 1 to 6 turn one node each; 3, 5 and 7 begin with a pair; 8 asks only pairs, which changed the graph last. */
  assert_records(plan, (expected[]){{8, 3}, {7, 0}, {7, 6}}, 3);
  assert_int_equal(plan->passes[0].before, 6);
  assert_int_equal(plan->passes[0].after, 0);
  assert_int_equal(plan->passes[2].before, 6);
  assert_int_equal(plan->passes[2].after, 6);
  assert_int_equal(plan->unsettled, 0);
  nd4c_plan_destroy(plan);
}

/* Each replacement looks at the readers of one value, not at every node, which takes seconds here. */
static void many_values_are_replaced(void **state) {
  (void)state;
  enum { COUNT = 100001 };
  nd4c_plan *plan = make_chain(ND4C_OP_negative, COUNT);
  const nd4c_pass *const rows[] = {&pairs};
  CHECK_OK(nd4c_passes_drive(plan, rows, 1, NULL));
  assert_int_equal(plan->graph->node_count, 1);
  assert_records(plan, (expected[]){{2, COUNT / 2}}, 1);
  nd4c_plan_destroy(plan);
}

static void simplification_follows_each_later_round(void **state) {
  (void)state;
  nd4c_plan *plan = make_chain(ND4C_OP_abs, 4);
  const nd4c_pass *const rows[] = {&pairs, &fuse_turn, &late};
  CHECK_OK(nd4c_passes_drive(plan, rows, 3, NULL));
  assert_int_equal(plan->graph->node_count, 0);
  /* pairs: at first, after each of four rounds, and once more after the two that removed a pair. */
  assert_records(plan, (expected[]){{7, 2}, {5, 4}, {1, 0}}, 3);
  nd4c_plan_destroy(plan);
}

static void what_changed_nothing_does_not_run_again(void **state) {
  (void)state;
  nd4c_plan *plan = make_chain(ND4C_OP_abs, 1);
  const nd4c_pass *const rows[] = {&pairs, &idle, &late};
  CHECK_OK(nd4c_passes_drive(plan, rows, 3, NULL));
  assert_records(plan, (expected[]){{1, 0}, {1, 0}, {1, 0}}, 3);
  nd4c_plan_destroy(plan);
}

static void switches_and_devices_hold_in_every_round(void **state) {
  (void)state;
  nd4c_plan *plan = make_chain(ND4C_OP_abs, 4);
  const nd4c_pass *const rows[] = {&pairs, &simple_turn, &late};
  plan->switches.off[0] = true;
  plan->ahead = true; /* such a plan has no device to ask */
  CHECK_OK(nd4c_passes_drive(plan, rows, 3, NULL));
  assert_int_equal(plan->graph->node_count, 4);
  assert_records(plan, (expected[]){{0, 0}, {5, 4}, {0, 0}}, 3);
  nd4c_plan_destroy(plan);
}

/* A pass of LAYOUT does not run again because of its own changes. */
static void layout_settles_at_once(void **state) {
  (void)state;
  nd4c_plan *plan = make_chain(ND4C_OP_exp, 1);
  const nd4c_pass *const rows[] = {&idle, &layout_around};
  CHECK_OK(nd4c_passes_drive(plan, rows, 2, NULL));
  assert_records(plan, (expected[]){{2, 0}, {1, 1}}, 2);
  assert_int_equal(plan->unsettled, 0);
  nd4c_plan_destroy(plan);
}

static void assert_report(const nd4c_plan *plan, const char *words) {
  nd4c_text text = {0};
  nd4c_plan_print_passes(plan, false, &text);
  if (strstr(text.bytes, words) == NULL) {
    fail_msg("no \"%s\" in:\n%s", words, text.bytes);
  }
  nd4c_text_free(&text);
}

static void passes_without_end_are_stopped_and_named(void **state) {
  (void)state;
  nd4c_plan *plan = make_chain(ND4C_OP_exp, 1);
  const nd4c_pass *const rows[] = {&pairs, &around};
  CHECK_OK(nd4c_passes_drive(plan, rows, 2, NULL));
  assert_records(plan, (expected[]){{16, 0}, {16, 16}}, 2);
  assert_report(plan, "passes of phase simplify were stopped after 16 rounds; still changing the graph: around\n");
  nd4c_plan_destroy(plan);
  plan = make_chain(ND4C_OP_exp, 1);
  const nd4c_pass *const later[] = {&pairs, &fuse_around};
  CHECK_OK(nd4c_passes_drive(plan, later, 2, NULL));
  assert_records(plan, (expected[]){{17, 0}, {16, 16}}, 2);
  assert_report(plan, "passes of phase fuse were stopped after 16 rounds; still changing the graph: around\n");
  nd4c_plan_destroy(plan);
}

static nd4c_status turn_negative(nd4c_rewrite *rewrite) {
  return turn_one(rewrite, ND4C_OP_negative, ND4C_OP_exp);
}

/* Puts one more node behind the last one, the first time that it runs. */
static nd4c_status add_copy(nd4c_rewrite *rewrite) {
  nd4c_value more;
  const int32_t until = rewrite->graph->node_count;
  const nd4c_value last = rewrite->graph->outputs.items[0].value;
  if (until > 3) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_emit_unary(&rewrite->emitter, ND4C_OP_abs, last, &more));
  return nd4c_rewrite_replace(rewrite, last, more, until);
}

/* exp of three elements costs what negative costs: the call, and the bytes that it moves. One node more costs a third.
 */
static void a_dearer_graph_is_reported(void **state) {
  (void)state;
  static const nd4c_pass dearer = ROW(FUSE, "dearer", ANY, turn_negative);
  const nd4c_pass *const rows[] = {&pairs, &dearer};
  nd4c_plan *plan = make_chain(ND4C_OP_negative, 1);
  CHECK_OK(nd4c_passes_drive(plan, rows, 2, NULL));
  assert_true(plan->passes[1].changes == 1 && plan->passes[1].raised == 0);
  nd4c_plan_destroy(plan);
  plan = make_chain(ND4C_OP_abs, 3);
  static const nd4c_pass added = ROW(FUSE, "added", ANY, add_copy);
  const nd4c_pass *const adding[] = {&pairs, &added};
  CHECK_OK(nd4c_passes_drive(plan, adding, 2, NULL));
  assert_true(fabs(plan->passes[1].raised - 1.0 / 3) < 1e-9);
  assert_report(plan, "pass added raised the estimated time by 33.3 %\n");
  nd4c_plan_destroy(plan);
}

static nd4c_status run_out(nd4c_rewrite *rewrite) {
  (void)rewrite;
  return nd4c_fail(ND4C_MEMORY, "of this test");
}

static void a_failure_names_the_pass(void **state) {
  (void)state;
  const nd4c_pass failing = ROW(FUSE, "failing", ANY, run_out);
  const nd4c_pass *const rows[] = {&pairs, &failing};
  nd4c_plan *plan = make_chain(ND4C_OP_negative, 2);
  assert_int_equal(nd4c_passes_drive(plan, rows, 2, NULL), ND4C_MEMORY);
  assert_string_equal(nd4c_error_message(), "pass failing: of this test");
  nd4c_plan_destroy(plan);
}

/* The list of readers may find no memory when a value is replaced, or later, when it has to grow. */
static void any_failing_allocation_is_survived(void **state) {
  (void)state;
  const nd4c_pass *const rows[] = {&pairs, &simple_turn};
  int32_t failures = 0;
  for (int64_t skip = 0; skip < 40; skip++) {
    nd4c_plan *plan = make_chain(ND4C_OP_abs, 6);
    nd4c_allocation_fail_at(skip);
    const nd4c_status status = nd4c_passes_drive(plan, rows, 2, NULL);
    nd4c_allocation_fail_at(-1);
    assert_true(status == ND4C_MEMORY || (status == ND4C_OK && plan->graph->node_count == 0));
    failures += status != ND4C_OK;
    nd4c_plan_destroy(plan);
  }
  assert_true(failures > 5 && failures < 40);
}

/* -- the real ones ------------------------------------------------------------------------------------------------- */

static void rows_are_in_order_and_described(void **state) {
  (void)state;
  for (int32_t i = 0; i < nd4c_passes_count(); i++) {
    const nd4c_pass *row = nd4c_passes_at(i);
    assert_true(strlen(row->doc) > 10);
    for (int32_t k = 0; k < i; k++) {
      const nd4c_pass *before = nd4c_passes_at(k);
      if (before->phase > row->phase || before->order >= row->order) {
        fail_msg("%s (%s, %d) stands before %s (%s, %d): give it a number after those of earlier phases", before->name,
                 nd4c_phase_name(before->phase), before->order, row->name, nd4c_phase_name(row->phase), row->order);
      }
    }
  }
}

/* A second optimisation of an optimised graph has nothing left to do: otherwise a pass reports changes that it does
 * not make, or misses what it could do. */
static void an_optimised_graph_is_settled(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL, *again = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 4, (int64_t[]){1, 3, 8, 8});
  nd4c_value w = check_constant(graph, 4, (int64_t[]){4, 3, 3, 3}, 1, -1, 1);
  nd4c_value y = check_op(graph, ND4C_OP_conv, (nd4c_value[]){x, w}, 2, NULL, 0);
  y = check_binary(graph, ND4C_OP_multiply, y, check_constant(graph, 3, (int64_t[]){4, 1, 1}, 2, 1, 2));
  y = check_unary(graph, ND4C_OP_relu, check_unary(graph, ND4C_OP_copy, y));
  CHECK_OK(nd4c_graph_output(graph, "y", check_unary(graph, ND4C_OP_tanh, y)));
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  CHECK_OK(nd4c_plan_create(plan->graph, NULL, NULL, &again));
  for (int32_t i = 0; i < again->pass_count; i++) {
    const bool places = strcmp(again->passes[i].name, "layout") == 0; /* a clone has no orders yet */
    if (again->passes[i].changes != 0 && !places) {
      fail_msg("pass %s made %d changes again", again->passes[i].name, again->passes[i].changes);
    }
  }
  nd4c_plan_destroy(plan);
  nd4c_plan_destroy(again);
  nd4c_graph_destroy(graph);
}

static int64_t live_bytes(void) {
  nd4c_device *host = NULL;
  nd4c_memory_info info = {.struct_size = sizeof info};
  CHECK_OK(nd4c_device_find("cpu:0", &host));
  CHECK_OK(nd4c_memory_get_info(host, &info));
  return info.live_bytes - info.scratch_bytes;
}

/* A constant that one run makes and the next replaces must not live on in the list of shared ones. */
static void replaced_constants_are_freed(void **state) {
  (void)state;
  int64_t before = 0;
  for (int32_t round = 0; round < 2; round++) {
    before = round == 1 ? live_bytes() : 0; /* the first round fills caches */
    nd4c_graph *graph = NULL;
    nd4c_plan *plan = NULL;
    CHECK_OK(nd4c_graph_create(&graph));
    nd4c_value x = check_input(graph, "x", 4, (int64_t[]){1, 16, 4, 4});
    nd4c_value w = check_constant(graph, 4, (int64_t[]){64, 16, 3, 3}, 1 + (uint64_t)round, -1, 1);
    nd4c_value y = check_op(graph, ND4C_OP_conv, (nd4c_value[]){x, w}, 2, NULL, 0);
    for (uint64_t i = 0; i < 3; i++) {
      y = check_binary(graph, ND4C_OP_multiply, y, check_constant(graph, 3, (int64_t[]){64, 1, 1}, 9 + i, 1, 2));
    }
    CHECK_OK(nd4c_graph_output(graph, "y", y));
    CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
    assert_int_equal(plan->graph->node_count, 1);
    nd4c_plan_destroy(plan);
    nd4c_graph_destroy(graph);
  }
  assert_int_equal(live_bytes() - before, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_pass_runs_again_after_a_later_one),
      cmocka_unit_test(many_values_are_replaced),
      cmocka_unit_test(simplification_follows_each_later_round),
      cmocka_unit_test(what_changed_nothing_does_not_run_again),
      cmocka_unit_test(switches_and_devices_hold_in_every_round),
      cmocka_unit_test(layout_settles_at_once),
      cmocka_unit_test(passes_without_end_are_stopped_and_named),
      cmocka_unit_test(a_dearer_graph_is_reported),
      cmocka_unit_test(a_failure_names_the_pass),
      cmocka_unit_test(any_failing_allocation_is_survived),
      cmocka_unit_test(rows_are_in_order_and_described),
      cmocka_unit_test(an_optimised_graph_is_settled),
      cmocka_unit_test(replaced_constants_are_freed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
