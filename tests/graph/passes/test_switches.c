/* Switches of passes: the lists in options and in nd4c.plan.passes, what they switch off, and what they refuse. */
#include "graph/graph_check.h"

/* y = relu(copy(x) + (1 + 2)): work for identity and fold_constants. */
static nd4c_graph *make_graph(void) {
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 2, (int64_t[]){3, 4});
  nd4c_value three = check_binary(graph, ND4C_OP_add, check_scalar(graph, 1.0), check_scalar(graph, 2.0));
  nd4c_value sum = check_binary(graph, ND4C_OP_add, check_unary(graph, ND4C_OP_copy, x), three);
  CHECK_OK(nd4c_graph_output(graph, "y", check_unary(graph, ND4C_OP_relu, sum)));
  return graph;
}

static nd4c_status make_plan(const char *passes, nd4c_plan **plan) {
  nd4c_graph *graph = make_graph();
  const nd4c_plan_options options = {.struct_size = sizeof options, .passes = passes};
  nd4c_status status = nd4c_plan_create(graph, NULL, &options, plan);
  nd4c_graph_destroy(graph);
  return status;
}

/* Changes of a pass; -1: it did not run. */
static int32_t changes_of(const nd4c_plan *plan, const char *pass) {
  for (int32_t i = 0; i < plan->pass_count; i++) {
    if (strcmp(plan->passes[i].name, pass) == 0) {
      return plan->passes[i].runs > 0 ? plan->passes[i].changes : -1;
    }
  }
  return -1;
}

static void assert_report(const nd4c_plan *plan, const char *words, bool there) {
  char *text = NULL;
  CHECK_OK(nd4c_plan_report(plan, &text));
  if ((strstr(text, words) != NULL) != there) {
    fail_msg("%s \"%s\" in:\n%s", there ? "no" : "found", words, text);
  }
  nd4c_free(text);
}

typedef struct row {
  const char *passes, *property;
  int32_t identity, folds; /* changes; -1: the pass does not run */
  const char *report;      /* NULL: nothing is switched off */
} row;

static void lists_switch_passes(void **state) {
  (void)state;
  static const row rows[] = {
      {NULL, NULL, 1, 1, NULL},
      {"", NULL, 1, 1, NULL},
      {" ", NULL, 1, 1, NULL},
      {"-identity", NULL, -1, 1, "passes switched off: identity (options.passes)\n"},
      {" -fold_constants , -identity ", NULL, -1, -1,
       "passes switched off: identity, fold_constants (options.passes)\n"},
      {"fold_constants", NULL, -1, 1, "passes switched off: dead, inline_calls, loop_invariants, widen, identity"},
      {"identity, fold_constants", NULL, 1, 1, "passes switched off: dead"},
      {NULL, "-identity", -1, 1, "passes switched off: identity (nd4c.plan.passes)\n"},
      {"", "identity", 1, -1, "(nd4c.plan.passes)\n"},
      {"-fold_constants", "-identity", 1, -1, "passes switched off: fold_constants (options.passes)\n"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    nd4c_plan *plan = NULL;
    CHECK_OK(nd4c_config_set("nd4c.plan.passes", rows[i].property));
    CHECK_OK(make_plan(rows[i].passes, &plan));
    assert_int_equal(changes_of(plan, "identity"), rows[i].identity);
    assert_int_equal(changes_of(plan, "fold_constants"), rows[i].folds);
    assert_report(plan, rows[i].report != NULL ? rows[i].report : "switched off", rows[i].report != NULL);
    nd4c_plan_destroy(plan);
  }
  CHECK_OK(nd4c_config_set("nd4c.plan.passes", NULL));
}

static void assert_refused(const char *passes, nd4c_status status, const char *text) {
  nd4c_plan *plan = NULL;
  assert_int_equal(make_plan(passes, &plan), status);
  assert_null(plan);
  assert_string_equal(nd4c_error_message(), text);
}

static void wrong_lists_are_refused(void **state) {
  (void)state;
  assert_refused("-identty", ND4C_NAME, "options.passes: there is no pass 'identty': the nearest is 'identity'");
  assert_refused("identity,Gelo", ND4C_NAME, "options.passes: there is no pass 'Gelo': the nearest is 'gelu'");
  assert_refused("-identity,gelu", ND4C_ARGUMENT,
                 "options.passes: '-identity,gelu' mixes names with and without '-', expected either names with '-', "
                 "which do not run, or names without, which alone run");
  assert_refused("identity,", ND4C_ARGUMENT,
                 "options.passes: 'identity,' has an empty entry, expected names of passes separated by commas");
  assert_refused(",", ND4C_ARGUMENT,
                 "options.passes: ',' has an empty entry, expected names of passes separated by commas");
  assert_refused("-", ND4C_ARGUMENT,
                 "options.passes: '-' has an empty entry, expected names of passes separated by commas");
  char longest[101];
  memset(longest, 'a', sizeof longest);
  longest[100] = '\0';
  nd4c_plan *plan = NULL;
  assert_int_equal(make_plan(longest, &plan), ND4C_NAME);
  assert_non_null(strstr(nd4c_error_message(), "no pass has so long a name"));
  CHECK_OK(nd4c_config_set("nd4c.plan.passes", "nothing"));
  assert_int_equal(make_plan(NULL, &plan), ND4C_NAME);
  assert_non_null(strstr(nd4c_error_message(), "nd4c.plan.passes (ND4C_PLAN_PASSES): there is no pass 'nothing'"));
  CHECK_OK(nd4c_config_set("nd4c.plan.passes", NULL));
}

/* A caller that was compiled before the option existed. */
static void old_options_are_read_to_their_end(void **state) {
  (void)state;
  nd4c_graph *graph = make_graph();
  const nd4c_plan_options options = {.struct_size = offsetof(nd4c_plan_options, passes), .passes = "nothing"};
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_plan_create(graph, NULL, &options, &plan));
  assert_report(plan, "switched off", false);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lists_switch_passes),
      cmocka_unit_test(wrong_lists_are_refused),
      cmocka_unit_test(old_options_are_read_to_their_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
