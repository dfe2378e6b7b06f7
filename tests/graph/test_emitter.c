/* Emitters: a composite and a gradient give the same through eager calls, in a graph, and added to a graph by a pass; a
 * pass adds nodes in front of nodes and behind values. */
#include "dispatch/eager_emitter.h"
#include "graph/ir/graph_emitter.h"
#include "graph_check.h"
#include "ops/compose/compose.h"
#include "ops/gradient/gradient.h"

/* -- chains of one input, x [4, 6, 2] of positive numbers -----------------------------------------------------------
 */

typedef nd4c_status (*chain)(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *y);

static nd4c_status split_and_stack(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *y) {
  nd4c_emitted parts[3];
  const int64_t lengths[] = {2, 2, 2};
  ND4C_TRY(nd4c_compose_split(e, x, 1, 3, lengths, false, parts));
  return nd4c_compose_stack(e, parts, 3, -1, y);
}
static nd4c_status select_one(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *y) {
  return nd4c_compose_select(e, x, 1, 4, y);
}
static nd4c_status fit_longer(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *y) {
  return nd4c_compose_fit(e, x, 1, 9, y);
}
static nd4c_status fit_shorter(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *y) {
  return nd4c_compose_fit(e, x, 1, 5, y);
}
static nd4c_status center_longer(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *y) {
  return nd4c_compose_center(e, x, 1, 9, y);
}
static nd4c_status tile_and_repeat(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *y) {
  ND4C_TRY(nd4c_compose_tile(e, x, 0, 2, y));
  return nd4c_compose_repeat(e, *y, 1, 3, y);
}
static nd4c_status mean_of_three(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *y) {
  nd4c_emitted inputs[] = {x, ND4C_EMITTED_NONE, x};
  ND4C_TRY(nd4c_emit_unary(e, ND4C_OP_square, x, &inputs[1]));
  return nd4c_compose_mean(e, inputs, 3, y);
}
static nd4c_status largest(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *y) {
  const int64_t axes[] = {0, -1};
  return nd4c_compose_reduce(e, ND4C_OP_max, x, 2, axes, false, y);
}
static nd4c_status least_of_nothing(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *y) {
  const int64_t axis = 1;
  ND4C_TRY(nd4c_emit_slice(e, x, 1, 0, 0, 1, y));
  return nd4c_compose_reduce(e, ND4C_OP_min, *y, 1, &axis, false, y);
}
static nd4c_status logsumexp_of_integers(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *y) {
  const int64_t axis = 1;
  ND4C_TRY(nd4c_emit_with_scalar(e, ND4C_OP_multiply, x, 20, y));
  ND4C_TRY(nd4c_emit_cast(e, *y, ND4C_INT64, y));
  return nd4c_compose_logsumexp(e, *y, 1, &axis, false, y);
}
static nd4c_status last_largest(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *y) {
  return nd4c_compose_arg_reduce(e, ND4C_OP_argmax, x, 1, false, true, y);
}
static nd4c_status instance_norm(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *y) {
  const int64_t shape[] = {6};
  nd4c_emitted scale, bias;
  ND4C_TRY(nd4c_emit_full(e, ND4C_FLOAT32, 1.5, 1, shape, &scale));
  ND4C_TRY(nd4c_emit_full(e, ND4C_FLOAT32, 0.25, 1, shape, &bias));
  return nd4c_compose_instance_norm(e, x, scale, bias, 1e-5, y);
}
static nd4c_status rms_norm(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *y) {
  nd4c_emitted scale;
  ND4C_TRY(nd4c_emit_scalar_like(e, x, 3, &scale));
  return nd4c_compose_rms_norm(e, x, scale, 1, 1e-5, y);
}
static nd4c_status normalize_by_length(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *y) {
  return nd4c_compose_normalize_rows(e, ND4C_OP_lp_normalize, x, y);
}
static nd4c_status normalize_by_sum(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *y) {
  return nd4c_compose_normalize_rows(e, ND4C_OP_sum, x, y);
}
static nd4c_status gemm_of(nd4c_emitter *e, nd4c_emitted x, double alpha, nd4c_emitted *y) {
  const int64_t shape[] = {8, 6};
  nd4c_gemm gemm = {.alpha = alpha, .beta = 0.5, .transpose_b = true};
  ND4C_TRY(nd4c_emit_reshape(e, x, 2, shape, &gemm.a));
  gemm.b = gemm.a;
  ND4C_TRY(nd4c_emit_scalar_like(e, x, 2, &gemm.c));
  ND4C_TRY(nd4c_emit_broadcast(e, gemm.c, 1, shape, &gemm.c));
  return nd4c_compose_gemm(e, &gemm, y);
}
static nd4c_status gemm_as_linear(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *y) {
  return gemm_of(e, x, 1, y);
}
static nd4c_status gemm_scaled(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *y) {
  return gemm_of(e, x, 0.75, y);
}
static nd4c_status pairs_and_back(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *y) {
  bool is_complex = false;
  ND4C_TRY(nd4c_compose_numbers(e, x, &is_complex, y));
  assert_true(is_complex);
  ND4C_TRY(nd4c_emit_with_scalar(e, ND4C_OP_multiply, *y, 2, y));
  return nd4c_compose_pairs(e, *y, ND4C_FLOAT32, y);
}
static nd4c_status scores_of_two(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *y) {
  const int64_t shape[] = {48, 1};
  ND4C_TRY(nd4c_emit_reshape(e, x, 2, shape, y));
  ND4C_TRY(nd4c_compose_both_signs(e, *y, 1, y));
  return nd4c_compose_score_transform(e, *y, ND4C_POST_TRANSFORM_SOFTMAX, y);
}

static const struct {
  const char *name;
  chain emit;
} chains[] = {{"split, stack", split_and_stack},
              {"select", select_one},
              {"fit, longer", fit_longer},
              {"fit, shorter", fit_shorter},
              {"center", center_longer},
              {"tile, repeat", tile_and_repeat},
              {"mean", mean_of_three},
              {"reduce", largest},
              {"reduce nothing", least_of_nothing},
              {"logsumexp", logsumexp_of_integers},
              {"argmax, last", last_largest},
              {"instance_norm", instance_norm},
              {"rms_norm", rms_norm},
              {"normalize_rows, length", normalize_by_length},
              {"normalize_rows, sum", normalize_by_sum},
              {"gemm as linear", gemm_as_linear},
              {"gemm", gemm_scaled},
              {"numbers, pairs", pairs_and_back},
              {"both_signs", scores_of_two}};

/* -- the same three ways --------------------------------------------------------------------------------------------
 */

static const int64_t shape[] = {4, 6, 2};

static nd4c_array *make_x(void) {
  return check_array(ND4C_FLOAT32, 3, shape, 7, 0.25, 2.0);
}

static nd4c_array *run_eager(chain emit) {
  nd4c_eager_emitter eager;
  nd4c_emitted x = ND4C_EMITTED_NONE, y = ND4C_EMITTED_NONE;
  nd4c_array *array = make_x();
  nd4c_eager_emitter_open(&eager, NULL);
  CHECK_OK(nd4c_eager_emitter_add(&eager, array, &x));
  nd4c_array_release(array);
  CHECK_OK(emit(&eager.emitter, x, &y));
  array = nd4c_array_retain(nd4c_eager_emitter_array(&eager, y));
  nd4c_eager_emitter_close(&eager);
  return array;
}

/* Runs a plan of the graph on x and compares. */
static void check_plan(const nd4c_graph *graph, const nd4c_array *expected, const char *name) {
  nd4c_plan *plan = NULL;
  nd4c_array *x = make_x(), *y = NULL;
  const nd4c_array *input = x;
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  CHECK_OK(nd4c_plan_run(plan, &input, 1, &y, 1));
  if (!(check_difference(expected, y) <= 1e-5)) {
    fail_msg("%s: differs by %g", name, check_difference(expected, y));
  }
  nd4c_array_release(x);
  nd4c_array_release(y);
  nd4c_plan_destroy(plan);
}

static void check_recorded(chain emit, const nd4c_array *expected, const char *name) {
  nd4c_graph *graph = NULL;
  nd4c_graph_emitter recorder;
  nd4c_emitted y = ND4C_EMITTED_NONE;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_graph_emitter_open(&recorder, graph, name);
  CHECK_OK(emit(&recorder.emitter, check_input(graph, "x", 3, shape), &y));
  CHECK_OK(nd4c_graph_output(graph, "y", y));
  assert_string_equal(graph->nodes[0].label, name);
  check_plan(graph, expected, name);
  nd4c_graph_destroy(graph);
}

/* A pass replaces two nodes by the chain. */
static void check_rewritten(chain emit, const nd4c_array *expected, const char *name) {
  nd4c_graph *graph = NULL;
  nd4c_rewrite rewrite;
  nd4c_emitted y = ND4C_EMITTED_NONE;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 3, shape);
  nd4c_value old = check_unary(graph, ND4C_OP_exp, check_unary(graph, ND4C_OP_negative, x));
  CHECK_OK(nd4c_graph_output(graph, "y", old));
  CHECK_OK(nd4c_rewrite_begin(&rewrite, graph, nd4c_context_current()));
  CHECK_OK(emit(&rewrite.emitter, x, &y));
  nd4c_rewrite_output(&rewrite, 0, y);
  CHECK_OK(nd4c_rewrite_end(&rewrite));
  for (int32_t i = 0; i < graph->node_count; i++) {
    assert_int_not_equal(graph->nodes[i].outputs[0], old);
  }
  check_plan(graph, expected, name);
  nd4c_graph_destroy(graph);
}

static void check_chain(chain emit, const char *name) {
  nd4c_array *expected = run_eager(emit);
  check_recorded(emit, expected, name);
  check_rewritten(emit, expected, name);
  nd4c_array_release(expected);
}

static void test_composites(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof chains / sizeof chains[0]; i++) {
    check_chain(chains[i].emit, chains[i].name);
  }
}

/* -- gradients ------------------------------------------------------------------------------------------------------
 */

enum { STEP = 1000 }; /* differences are taken over 1 / STEP */

/* The op whose gradient is being checked, on x and, if it is binary, on a constant row. */
static nd4c_op current;
static bool is_binary;

static nd4c_status forward(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted inputs[2], nd4c_gradient_step *step) {
  inputs[0] = x;
  *step = (nd4c_gradient_step){.inputs = inputs, .input_count = is_binary ? 2 : 1};
  if (!is_binary) {
    return nd4c_emit_unary(e, current, x, &step->output);
  }
  ND4C_TRY(nd4c_emit_full(e, nd4c_emitted_get(e, x).dtype, 1.75, 1, &shape[2], &inputs[1]));
  return nd4c_emit_binary(e, current, x, inputs[1], &step->output);
}

/* The gradient by x, of ones. */
static nd4c_status backward(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *y) {
  nd4c_gradient_step step;
  nd4c_emitted inputs[2];
  ND4C_TRY(forward(e, x, inputs, &step));
  const nd4c_emitted_info info = nd4c_emitted_get(e, step.output);
  ND4C_TRY(nd4c_emit_full(e, info.dtype, 1, info.rank, info.shape, &step.given));
  return nd4c_gradient_emit(e, nd4c_gradient_find(current), &step, 0, y);
}

/* (f(x + d) - f(x - d)) / 2d, in float64. */
static nd4c_status difference(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *y) {
  nd4c_gradient_step above, below;
  nd4c_emitted inputs[2];
  ND4C_TRY(nd4c_emit_cast(e, x, ND4C_FLOAT64, &x));
  ND4C_TRY(nd4c_emit_with_scalar(e, ND4C_OP_add, x, 1.0 / STEP, y));
  ND4C_TRY(forward(e, *y, inputs, &above));
  ND4C_TRY(nd4c_emit_with_scalar(e, ND4C_OP_add, x, -1.0 / STEP, y));
  ND4C_TRY(forward(e, *y, inputs, &below));
  ND4C_TRY(nd4c_emit_binary(e, ND4C_OP_subtract, above.output, below.output, y));
  ND4C_TRY(nd4c_emit_with_scalar(e, ND4C_OP_multiply, *y, STEP / 2.0, y));
  return nd4c_emit_cast(e, *y, ND4C_FLOAT32, y);
}

static void check_gradient(nd4c_op op, bool binary) {
  current = op;
  is_binary = binary;
  check_chain(backward, nd4c_op_get(op)->name);
  nd4c_array *gradient = run_eager(backward), *expected = run_eager(difference);
  if (!(check_difference(expected, gradient) <= 1e-4)) {
    fail_msg("%s: the gradient differs by %g", nd4c_op_get(op)->name, check_difference(expected, gradient));
  }
  nd4c_array_release(gradient);
  nd4c_array_release(expected);
}

static void test_gradients(void **state) {
  (void)state;
  static const nd4c_op unary[] = {ND4C_OP_copy, ND4C_OP_negative, ND4C_OP_exp,  ND4C_OP_log,     ND4C_OP_sqrt,
                                  ND4C_OP_sin,  ND4C_OP_cos,      ND4C_OP_tanh, ND4C_OP_sigmoid, ND4C_OP_relu};
  static const nd4c_op binary[] = {ND4C_OP_add, ND4C_OP_subtract, ND4C_OP_multiply, ND4C_OP_divide};
  for (size_t i = 0; i < sizeof unary / sizeof unary[0]; i++) {
    check_gradient(unary[i], false);
  }
  for (size_t i = 0; i < sizeof binary / sizeof binary[0]; i++) {
    check_gradient(binary[i], true);
  }
  assert_null(nd4c_gradient_find(ND4C_OP_argmax));
}

/* -- a pass adds nodes ----------------------------------------------------------------------------------------------
 */

static void check_order(const nd4c_graph *graph) {
  for (int32_t i = 0; i < graph->node_count; i++) {
    for (int32_t k = 0; k < graph->nodes[i].input_count; k++) {
      nd4c_value input = graph->nodes[i].inputs[k];
      assert_true(input < 0 || graph->values[input].producer < i);
    }
    assert_int_equal(graph->values[graph->nodes[i].outputs[0]].producer, i);
  }
}

/* a = tanh(x), b = exp(a), c = sin(a). */
static nd4c_graph *make_graph(nd4c_value *a) {
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  *a = check_unary(graph, ND4C_OP_tanh, check_input(graph, "x", 3, shape));
  CHECK_OK(nd4c_graph_output(graph, "b", check_unary(graph, ND4C_OP_exp, *a)));
  CHECK_OK(nd4c_graph_output(graph, "c", check_unary(graph, ND4C_OP_sin, *a)));
  return graph;
}

static void begin(nd4c_rewrite *rewrite, nd4c_graph *graph) {
  CHECK_OK(nd4c_rewrite_begin(rewrite, graph, nd4c_context_current()));
}

/* 2 a after a, for both readers, and a square before the sine: exp(2 tanh x) and sin((2 tanh x)^2). */
static void test_pass_adds_nodes(void **state) {
  (void)state;
  nd4c_rewrite rewrite;
  nd4c_value a, twice, square;
  nd4c_graph *graph = make_graph(&a), *expected = NULL;
  begin(&rewrite, graph);
  CHECK_OK(nd4c_emit_with_scalar(&rewrite.emitter, ND4C_OP_multiply, a, 2, &twice));
  CHECK_OK(nd4c_rewrite_replace(&rewrite, a, twice, rewrite.existing));
  CHECK_OK(nd4c_emit_unary(&rewrite.emitter, ND4C_OP_square, twice, &square));
  nd4c_rewrite_input(&rewrite, &graph->nodes[2], 0, square);
  CHECK_OK(nd4c_rewrite_end(&rewrite));
  assert_int_equal(graph->node_count, 5);
  check_order(graph);

  CHECK_OK(nd4c_graph_create(&expected));
  nd4c_value x = check_input(expected, "x", 3, shape);
  nd4c_value doubled =
      check_binary(expected, ND4C_OP_multiply, check_unary(expected, ND4C_OP_tanh, x), check_scalar(expected, 2));
  CHECK_OK(nd4c_graph_output(expected, "b", check_unary(expected, ND4C_OP_exp, doubled)));
  CHECK_OK(nd4c_graph_output(expected, "c",
                             check_unary(expected, ND4C_OP_sin, check_unary(expected, ND4C_OP_square, doubled))));
  nd4c_array *inputs[1], *left[2], *right[2];
  check_make_inputs(graph, 3, inputs);
  check_evaluate(graph, inputs, left);
  check_evaluate(expected, inputs, right);
  for (int32_t i = 0; i < 2; i++) {
    assert_true(check_difference(right[i], left[i]) == 0);
  }
  check_release(inputs, 1);
  check_release(left, 2);
  check_release(right, 2);
  nd4c_plan_destroy(check_graph(graph, 3, 1e-5));
  nd4c_graph_destroy(graph);
  nd4c_graph_destroy(expected);
}

/* A long chain that follows its reader in the list: the sort must not recurse. */
static void test_long_chains_are_sorted(void **state) {
  (void)state;
  enum { LENGTH = 20000 };
  nd4c_rewrite rewrite;
  nd4c_value a, last;
  nd4c_graph *graph = make_graph(&a);
  begin(&rewrite, graph);
  last = a;
  for (int32_t i = 0; i < LENGTH; i++) {
    CHECK_OK(nd4c_emit_unary(&rewrite.emitter, ND4C_OP_negative, last, &last));
  }
  nd4c_rewrite_input(&rewrite, &graph->nodes[1], 0, last);
  CHECK_OK(nd4c_rewrite_end(&rewrite));
  assert_int_equal(graph->node_count, 3 + LENGTH);
  check_order(graph);
  nd4c_graph_destroy(graph);
}

static void test_unread_nodes_go(void **state) {
  (void)state;
  nd4c_rewrite rewrite;
  nd4c_value a, unread;
  nd4c_graph *graph = make_graph(&a);
  begin(&rewrite, graph);
  CHECK_OK(nd4c_emit_with_scalar(&rewrite.emitter, ND4C_OP_add, a, 1, &unread));
  CHECK_OK(nd4c_rewrite_end(&rewrite));
  assert_int_equal(graph->node_count, 3);
  check_order(graph);
  nd4c_graph_destroy(graph);
}

static void test_mistakes_are_told(void **state) {
  (void)state;
  nd4c_rewrite rewrite;
  nd4c_value a, made;
  nd4c_graph *graph = make_graph(&a);
  const int64_t axis = 0;
  begin(&rewrite, graph);
  CHECK_OK(nd4c_emit_reduce(&rewrite.emitter, ND4C_OP_sum, a, 1, &axis, false, &made));
  assert_int_equal(nd4c_rewrite_replace(&rewrite, a, made, rewrite.existing), ND4C_INTERNAL); /* another shape */
  assert_int_equal(nd4c_emit_binary(&rewrite.emitter, ND4C_OP_matmul, a, made, &made), ND4C_SHAPE);
  assert_int_equal(nd4c_emit_outputs(&rewrite.emitter, ND4C_OP_tanh, &a, 1, NULL, 0, &made, 2), ND4C_ARGUMENT);
  CHECK_OK(nd4c_emit_unary(&rewrite.emitter, ND4C_OP_negative, a, &made));
  nd4c_rewrite_input(&rewrite, &graph->nodes[0], 0, made); /* a cycle: tanh reads its own reader */
  assert_int_equal(nd4c_rewrite_end(&rewrite), ND4C_INTERNAL);
  nd4c_graph_destroy(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_composites),      cmocka_unit_test(test_gradients),
      cmocka_unit_test(test_pass_adds_nodes), cmocka_unit_test(test_long_chains_are_sorted),
      cmocka_unit_test(test_unread_nodes_go), cmocka_unit_test(test_mistakes_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
