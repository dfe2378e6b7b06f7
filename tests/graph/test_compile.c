/* Options of a plan for compilers: they reach the compilers, and are refused if they make no sense. On the stub, with
 * its compiler beside its kernels. */
#define _POSIX_C_SOURCE 200809L
#include "graph_check.h"
#include "stub_plugin.h"

enum { ROWS = 3, COLUMNS = 4 };
static const int64_t shape[] = {ROWS, COLUMNS};

/* y = (x + x) * x - x */
static nd4c_graph *make_graph(void) {
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 2, shape);
  nd4c_value product = check_binary(graph, ND4C_OP_multiply, check_binary(graph, ND4C_OP_add, x, x), x);
  CHECK_OK(nd4c_graph_output(graph, "y", check_binary(graph, ND4C_OP_subtract, product, x)));
  return graph;
}

static nd4c_status make_plan(const nd4c_compile_request *request, nd4c_plan **plan) {
  nd4c_graph *graph = make_graph();
  const nd4c_plan_options options = {.struct_size = sizeof options, .compile = request};
  nd4c_status status = nd4c_plan_create(graph, stub_context, &options, plan);
  nd4c_graph_destroy(graph);
  return status;
}

static void assert_report(const nd4c_plan *plan, const char *words, bool there) {
  char *text = NULL;
  CHECK_OK(nd4c_plan_report(plan, &text));
  if ((strstr(text, words) != NULL) != there) {
    fail_msg("%s \"%s\" in:\n%s", there ? "no" : "found", words, text);
  }
  nd4c_free(text);
}

static void options_reach_the_compiler(void **state) {
  (void)state;
  char key[] = "stub_compiler.DECLINE", value[] = "multiply";
  const nd4c_compile_option options[] = {{key, value}, {"LEVEL", "3"}, {"other.LEVEL", "4"}};
  const nd4c_compile_request request = {.struct_size = sizeof request,
                                        .math = ND4C_MATH_FAST,
                                        .memory_bytes = 4096,
                                        .options = options,
                                        .option_count = 3};
  nd4c_plan *plan = NULL;
  CHECK_OK(make_plan(&request, &plan));
  memset(key, 'x', sizeof key - 1); /* nd4c has copied the request */
  memset(value, 'x', sizeof value - 1);
  assert_report(plan, "the caller's options decline multiply, with math 2 and 4096 bytes", true);
  assert_report(plan,
                "asked of compilers: math fast, at most 4096 bytes, stub_compiler.DECLINE=multiply, LEVEL=3, "
                "other.LEVEL=4\n",
                true);
  assert_report(plan, "compile option other.LEVEL: no compiler here takes it", true);
  assert_report(plan, "compile option LEVEL:", false);
  nd4c_plan_destroy(plan);
}

/* Options for another engine, and a plan without any. */
static void options_for_others_stay_away(void **state) {
  (void)state;
  const nd4c_compile_option options[] = {{"stub_compile.DECLINE", "multiply"}};
  const nd4c_compile_request request = {.struct_size = sizeof request, .options = options, .option_count = 1};
  nd4c_plan *plan = NULL;
  CHECK_OK(make_plan(&request, &plan));
  assert_report(plan, "segment of 3 nodes", true);
  nd4c_plan_destroy(plan);
  CHECK_OK(make_plan(NULL, &plan));
  assert_report(plan, "asked of compilers", false);
  nd4c_plan_destroy(plan);
}

static const char long_key[] =
    "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
    "kk"
    "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk";

static void odd_requests_are_refused(void **state) {
  (void)state;
  static const struct {
    nd4c_compile_option options[2];
    int32_t count, math;
    int64_t memory_bytes;
    nd4c_status status;
    const char *words;
  } cases[] = {
      {.math = 4, .status = ND4C_ARGUMENT, .words = "compile.math is 4, expected an nd4c_math"},
      {.math = -1, .status = ND4C_ARGUMENT, .words = "compile.math is -1"},
      {.memory_bytes = -5, .status = ND4C_ARGUMENT, .words = "compile.memory_bytes is -5"},
      {.count = -1, .status = ND4C_ARGUMENT, .words = "-1 compile options, expected 0 to 64"},
      {.count = 65, .status = ND4C_ARGUMENT, .words = "65 compile options"},
      {.options = {{NULL, "1"}}, .count = 1, .status = ND4C_NULL_ARGUMENT, .words = "option 0 has no key"},
      {.options = {{"A", NULL}}, .count = 1, .status = ND4C_NULL_ARGUMENT, .words = "option 0 has no value"},
      {.options = {{"", "1"}}, .count = 1, .status = ND4C_ARGUMENT, .words = "expected a key of 1 to 127"},
      {.options = {{"A\n", "1"}}, .count = 1, .status = ND4C_ARGUMENT, .words = "expected a key of 1 to 127"},
      {.options = {{"A=B", "1"}}, .count = 1, .status = ND4C_ARGUMENT, .words = "expected a key of 1 to 127"},
      {.options = {{"\xc3\xa4", "1"}}, .count = 1, .status = ND4C_ARGUMENT, .words = "expected a key of 1 to 127"},
      {.options = {{long_key, "1"}}, .count = 1, .status = ND4C_ARGUMENT, .words = "expected a key of 1 to 127"},
      {.options = {{"A", "1\x1b"}}, .count = 1, .status = ND4C_ARGUMENT, .words = "'A': expected a value"},
      {.options = {{"A", "1"}, {"A", "2"}}, .count = 2, .status = ND4C_ARGUMENT, .words = "'A' is given twice"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const nd4c_compile_request request = {.struct_size = sizeof request,
                                          .math = cases[i].math,
                                          .memory_bytes = cases[i].memory_bytes,
                                          .options = cases[i].options,
                                          .option_count = cases[i].count};
    nd4c_plan *plan = NULL;
    assert_int_equal(make_plan(&request, &plan), cases[i].status);
    if (strstr(nd4c_error_message(), cases[i].words) == NULL) {
      fail_msg("case %zu: no \"%s\" in: %s", i, cases[i].words, nd4c_error_message());
    }
    assert_null(plan);
  }
  const nd4c_compile_request cut = {.struct_size = 8}, none = {.struct_size = sizeof none, .option_count = 1};
  nd4c_plan *plan = NULL;
  assert_int_equal(make_plan(&cut, &plan), ND4C_ARGUMENT);
  assert_int_equal(make_plan(&none, &plan), ND4C_NULL_ARGUMENT);
}

int main(void) {
  (void)setenv("STUB_MODE", "both", 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(options_reach_the_compiler, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(options_for_others_stay_away, stub_test_begin, stub_test_end),
      cmocka_unit_test_setup_teardown(odd_requests_are_refused, stub_test_begin, stub_test_end)};
  if (stub_start() != ND4C_OK) {
    return 1;
  }
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  return failed + stub_stop();
}
