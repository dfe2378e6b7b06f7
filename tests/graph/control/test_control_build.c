/* Recording nodes with bodies: what is refused and leaves the graph as it was, bounds of nesting and of nodes, and
 * what a graph says about such nodes. */
#include "control_cases.h"
#include "graph/control.h"

typedef nd4c_status (*refused_function)(nd4c_graph *graph, const nd4c_value *values, nd4c_value *outputs);

/* The graph's values: x [3, 4], w [4], a bool, an int64 number, x as int64. */
enum { X, W, CONDITION, NUMBER, INTS, VALUES };

static nd4c_graph *make_graph(nd4c_value *values) {
  nd4c_graph *graph = control_graph();
  values[X] = control_input(graph, ND4C_FLOAT32, 2, pair);
  values[W] = control_input(graph, ND4C_FLOAT32, 1, &pair[1]);
  values[CONDITION] = control_input(graph, ND4C_BOOL, 0, NULL);
  values[NUMBER] = control_input(graph, ND4C_INT64, 0, NULL);
  values[INTS] = control_input(graph, ND4C_INT64, 2, pair);
  return graph;
}

/* -- what is refused ----------------------------------------------------------------------------------------------- */

static nd4c_status branch(nd4c_graph *graph, nd4c_value condition, nd4c_graph *then_body, nd4c_graph *else_body,
                          const nd4c_value *inputs, int32_t input_count, nd4c_value *outputs, int32_t output_count) {
  const nd4c_status status =
      nd4c_graph_if(graph, condition, then_body, else_body, inputs, input_count, "here", outputs, output_count);
  nd4c_graph_destroy(then_body);
  nd4c_graph_destroy(else_body);
  return status;
}

static nd4c_status no_bool(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  return branch(graph, v[NUMBER], branch_body(ND4C_OP_tanh), branch_body(ND4C_OP_exp), v, 2, outputs, 1);
}

static nd4c_status many_bools(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  const nd4c_value less = check_binary(graph, ND4C_OP_less, v[X], v[W]);
  return branch(graph, less, branch_body(ND4C_OP_tanh), branch_body(ND4C_OP_exp), v, 2, outputs, 1);
}

static nd4c_status few_inputs(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  return branch(graph, v[CONDITION], branch_body(ND4C_OP_tanh), branch_body(ND4C_OP_exp), v, 1, outputs, 1);
}

static nd4c_status wrong_dtype(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  const nd4c_value inputs[] = {v[INTS], v[W]};
  return branch(graph, v[CONDITION], branch_body(ND4C_OP_tanh), branch_body(ND4C_OP_exp), inputs, 2, outputs, 1);
}

static nd4c_status wrong_shape(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  const nd4c_value inputs[] = {v[W], v[W]};
  return branch(graph, v[CONDITION], branch_body(ND4C_OP_tanh), branch_body(ND4C_OP_exp), inputs, 2, outputs, 1);
}

static nd4c_status unlike_branches(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  nd4c_graph *other = control_graph();
  (void)control_input(other, ND4C_FLOAT32, 2, pair);
  control_output(other, control_input(other, ND4C_FLOAT32, 1, &pair[1]));
  return branch(graph, v[CONDITION], branch_body(ND4C_OP_tanh), other, v, 2, outputs, 1);
}

/* Shapes of the same rank: each axis counts. */
static nd4c_status other_extent(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs, int64_t rows,
                                int64_t columns) {
  nd4c_graph *other = control_graph();
  control_output(other, control_input(other, ND4C_FLOAT32, 2, (int64_t[]){rows, columns}));
  (void)control_input(other, ND4C_FLOAT32, 1, &pair[1]);
  return branch(graph, v[CONDITION], branch_body(ND4C_OP_tanh), other, v, 2, outputs, 1);
}

static nd4c_status other_rows(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  return other_extent(graph, v, outputs, 2, 4);
}

static nd4c_status other_columns(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  return other_extent(graph, v, outputs, 3, 5);
}

static nd4c_status body_without_outputs(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  return branch(graph, v[CONDITION], branch_body(ND4C_OP_tanh), control_graph(), v, 2, outputs, 1);
}

static nd4c_status few_outputs(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  return branch(graph, v[CONDITION], branch_body(ND4C_OP_tanh), branch_body(ND4C_OP_exp), v, 2, outputs, 2);
}

static nd4c_status no_value(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  const nd4c_value inputs[] = {v[X], 99};
  return branch(graph, v[CONDITION], branch_body(ND4C_OP_tanh), branch_body(ND4C_OP_exp), inputs, 2, outputs, 1);
}

static nd4c_status no_body(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  return branch(graph, v[CONDITION], branch_body(ND4C_OP_tanh), NULL, v, 2, outputs, 1);
}

/* A loop over x and number whose body is `body`. */
static nd4c_status loop(nd4c_graph *graph, nd4c_graph *body, nd4c_loop_options options, nd4c_value *outputs,
                        int32_t output_count) {
  options.struct_size = options.struct_size == 0 ? sizeof options : options.struct_size;
  const nd4c_status status = nd4c_graph_loop(graph, body, &options, "here", outputs, output_count);
  nd4c_graph_destroy(body);
  return status;
}

static const int64_t ten = 10, below = -5;

static nd4c_status no_end(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  return loop(graph, swap_body(), (nd4c_loop_options){.carried_count = 1, .carried = v}, outputs, 2);
}

static nd4c_status old_options(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  return loop(graph, swap_body(), (nd4c_loop_options){.struct_size = 8, .carried = v}, outputs, 2);
}

static nd4c_status changing_shape(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  nd4c_graph *body = control_graph();
  (void)control_input(body, ND4C_INT64, 0, NULL);
  const nd4c_value x = control_input(body, ND4C_FLOAT32, 2, pair);
  control_output(body, check_op(body, ND4C_OP_transpose, &x, 1, NULL, 0));
  return loop(graph, body, (nd4c_loop_options){.carried_count = 1, .carried = v, .rounds = &ten}, outputs, 1);
}

static nd4c_status changing_dtype(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  nd4c_graph *body = control_graph();
  (void)control_input(body, ND4C_INT64, 0, NULL);
  const nd4c_value x = control_input(body, ND4C_FLOAT32, 2, pair);
  control_output(body, check_binary(body, ND4C_OP_less, x, x));
  return loop(graph, body, (nd4c_loop_options){.carried_count = 1, .carried = v, .rounds = &ten}, outputs, 1);
}

static nd4c_status no_decision(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  nd4c_graph *body = control_graph();
  (void)control_input(body, ND4C_INT64, 0, NULL);
  const nd4c_value x = control_input(body, ND4C_FLOAT32, 2, pair);
  control_output(body, x);
  control_output(body, x);
  return loop(graph, body, (nd4c_loop_options){.carried_count = 1, .carried = v, .decides = true}, outputs, 1);
}

static nd4c_status unbounded_collection(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  const nd4c_value carried[] = {v[NUMBER], v[X]};
  return loop(graph, while_body(true),
              (nd4c_loop_options){
                  .carried_count = 2, .carried = carried, .captured_count = 1, .captured = &v[NUMBER], .decides = true},
              outputs, 3);
}

static nd4c_status negative_rounds(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  return loop(graph, swap_body(), (nd4c_loop_options){.carried_count = 1, .carried = v, .rounds = &below}, outputs, 2);
}

static nd4c_status negative_limit(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  return loop(graph, swap_body(), (nd4c_loop_options){.carried_count = 1, .carried = v, .rounds = &ten, .limit = -1},
              outputs, 2);
}

static nd4c_status trips_of_floats(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  const nd4c_value carried[] = {v[X], v[X]};
  return loop(graph, swap_body(),
              (nd4c_loop_options){
                  .carried_count = 2, .carried = carried, .captured_count = 1, .captured = &v[W], .trips = &v[X]},
              outputs, 2);
}

static nd4c_status few_body_outputs(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  return loop(graph, branch_body(ND4C_OP_tanh), (nd4c_loop_options){.carried_count = 2, .carried = v, .rounds = &ten},
              outputs, 2);
}

static nd4c_status null_carried(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  (void)v;
  return loop(graph, swap_body(), (nd4c_loop_options){.carried_count = 2, .rounds = &ten}, outputs, 2);
}

static nd4c_status scan(nd4c_graph *graph, nd4c_scan_options options, nd4c_value *outputs) {
  nd4c_graph *body = sum_body();
  options.struct_size = options.struct_size == 0 ? sizeof options : options.struct_size;
  const nd4c_status status = nd4c_graph_scan(graph, body, &options, "here", outputs, 2);
  nd4c_graph_destroy(body);
  return status;
}

static nd4c_status nothing_scanned(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  return scan(graph, (nd4c_scan_options){.carried_count = 1, .carried = &v[W]}, outputs);
}

static nd4c_status no_such_axis(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  return scan(graph,
              (nd4c_scan_options){
                  .carried_count = 1, .carried = &v[W], .scanned_count = 1, .scanned = &v[X], .axes = (int32_t[]){2}},
              outputs);
}

/* The transpose that brings axis 1 to the front goes again, too. */
static nd4c_status wrong_element(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  return scan(graph,
              (nd4c_scan_options){
                  .carried_count = 1, .carried = &v[W], .scanned_count = 1, .scanned = &v[X], .axes = (int32_t[]){1}},
              outputs);
}

static nd4c_status no_output_axis(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  return scan(
      graph,
      (nd4c_scan_options){
          .carried_count = 1, .carried = &v[W], .scanned_count = 1, .scanned = &v[X], .output_axes = (int32_t[]){-3}},
      outputs);
}

static nd4c_status unlike_lengths(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  const nd4c_value scanned[] = {v[X], v[W]};
  nd4c_graph *body = control_graph();
  const nd4c_value x = control_input(body, ND4C_FLOAT32, 1, &pair[1]);
  (void)control_input(body, ND4C_FLOAT32, 0, NULL);
  control_output(body, x);
  const nd4c_scan_options options = {.struct_size = sizeof options, .scanned_count = 2, .scanned = scanned};
  const nd4c_status status = nd4c_graph_scan(graph, body, &options, "here", outputs, 1);
  nd4c_graph_destroy(body);
  return status;
}

static nd4c_status old_scan_options(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  (void)v;
  return scan(graph, (nd4c_scan_options){.struct_size = 8}, outputs);
}

static nd4c_value cast_to(nd4c_graph *graph, nd4c_value x, nd4c_dtype dtype) {
  const nd4c_attr attr = {"dtype", {.kind = ND4C_ATTR_DTYPE, .as.i = dtype}};
  return check_op(graph, ND4C_OP_cast, &x, 1, &attr, 1);
}

/* A loop that carries nothing, decides, and collects `collects` (ND4C_VALUE_NONE: nothing), a value of the body. */
static nd4c_status collecting_loop(nd4c_graph *graph, nd4c_graph *body, nd4c_value collects, nd4c_value *outputs) {
  (void)control_input(body, ND4C_INT64, 0, NULL);
  control_output(body, control_constant(body, control_bool(true)));
  if (collects != ND4C_VALUE_NONE) {
    control_output(body, collects);
  }
  return loop(graph, body, (nd4c_loop_options){.rounds = &ten, .decides = true}, outputs, 1);
}

static nd4c_status nothing_given(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  (void)v;
  return collecting_loop(graph, control_graph(), ND4C_VALUE_NONE, outputs);
}

static nd4c_status full_rank(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  (void)v;
  nd4c_graph *body = control_graph();
  int64_t shape[ND4C_MAX_RANK];
  for (int32_t i = 0; i < ND4C_MAX_RANK; i++) {
    shape[i] = 1;
  }
  return collecting_loop(graph, body, check_constant(body, ND4C_MAX_RANK, shape, 1, -1, 1), outputs);
}

static nd4c_status packed_collected(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  (void)v;
  nd4c_graph *body = control_graph();
  return collecting_loop(graph, body, cast_to(body, check_constant(body, 1, pair, 1, -1, 1), ND4C_INT4), outputs);
}

static nd4c_status packed_scanned(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  const nd4c_value packed = cast_to(graph, v[X], ND4C_INT4);
  return scan(graph, (nd4c_scan_options){.carried_count = 1, .carried = &v[W], .scanned_count = 1, .scanned = &packed},
              outputs);
}

static nd4c_status no_function(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  return nd4c_graph_call(graph, NULL, v, 2, "here", outputs, 1);
}

static nd4c_status call_with_one_input(nd4c_graph *graph, const nd4c_value *v, nd4c_value *outputs) {
  nd4c_graph *body = branch_body(ND4C_OP_tanh);
  nd4c_function *function = NULL;
  CHECK_OK(nd4c_function_create("layer", body, &function));
  const nd4c_status status = nd4c_graph_call(graph, function, v, 1, "here", outputs, 1);
  nd4c_function_release(function);
  nd4c_graph_destroy(body);
  return status;
}

typedef struct refusal {
  refused_function record;
  nd4c_status status;
  const char *part; /* of the text */
} refusal;

static const refusal refusals[] = {
    {no_bool, ND4C_DTYPE, "node 'here': if: the condition has dtype int64, expected bool"},
    {many_bools, ND4C_SHAPE, "node 'here': if: the condition does not have one element"},
    {few_inputs, ND4C_ARGUMENT, "node 'here': if: then: has 2 inputs, expected 1"},
    {wrong_dtype, ND4C_DTYPE, "node 'here': if: then: input 0 has dtype float32, expected int64"},
    {wrong_shape, ND4C_SHAPE, "node 'here': if: then: input 0 has shape (3, 4), expected (4,)"},
    {unlike_branches, ND4C_SHAPE, "node 'here': if: else: output 0 has shape (4,), expected (3, 4)"},
    {other_rows, ND4C_SHAPE, "node 'here': if: else: input 0 has shape (2, 4), expected (3, 4)"},
    {other_columns, ND4C_SHAPE, "node 'here': if: else: input 0 has shape (3, 5), expected (3, 4)"},
    {body_without_outputs, ND4C_ARGUMENT, "node 'here': if: the body has no outputs"},
    {few_outputs, ND4C_ARGUMENT, "node 'here': if: it has 1 outputs, room was given for 2"},
    {no_value, ND4C_INDEX, "node 'here': if: an input: value 99 is not one of the graph's 5 values"},
    {no_body, ND4C_NULL_ARGUMENT, "node 'here': if: graph is NULL"},
    {no_end, ND4C_ARGUMENT, "node 'here': loop: nothing ends the loop"},
    {old_options, ND4C_ARGUMENT, "node 'here': loop: options.struct_size is 8, expected at least"},
    {changing_shape, ND4C_SHAPE, "loop: body: the output for carried value 0 has shape (4, 3), expected (3, 4)"},
    {changing_dtype, ND4C_DTYPE, "loop: body: the output for carried value 0 has dtype bool, expected float32"},
    {no_decision, ND4C_DTYPE, "loop: body: output 0 says whether another round follows, expected one bool"},
    {unbounded_collection, ND4C_ARGUMENT, "loop: 1 values are collected, and the most rounds are not known"},
    {negative_rounds, ND4C_SHAPE, "loop: the number of rounds is -5, expected an extent"},
    {negative_limit, ND4C_ARGUMENT, "loop: the limit of rounds is -1"},
    {trips_of_floats, ND4C_DTYPE, "loop: the number of rounds has dtype float32, expected int64"},
    {few_body_outputs, ND4C_ARGUMENT, "loop: the body has 1 outputs, expected at least 2"},
    {null_carried, ND4C_NULL_ARGUMENT, "loop: carried values are NULL"},
    {nothing_scanned, ND4C_ARGUMENT, "node 'here': scan: there is no scanned value"},
    {no_such_axis, ND4C_INDEX, "scan: axis 2 of scanned value 0, which has 2 axes"},
    {wrong_element, ND4C_SHAPE, "scan: body: the input for scanned value 0 has shape (4,), expected (3,)"},
    {no_output_axis, ND4C_INDEX, "scan: axis -3 of collected value 0, which has 2 axes"},
    {unlike_lengths, ND4C_SHAPE, "scan: scanned value 1 has 4 elements, expected 3"},
    {old_scan_options, ND4C_ARGUMENT, "scan: options.struct_size is 8, expected at least"},
    {nothing_given, ND4C_ARGUMENT, "loop: the loop has no outputs, expected carried or collected values"},
    {full_rank, ND4C_UNSUPPORTED, "loop: body: a value to collect has as many axes as an array can have"},
    {packed_collected, ND4C_UNSUPPORTED, "loop: body: a value to collect has several elements in a byte"},
    {packed_scanned, ND4C_UNSUPPORTED, "scan: scanned value 0 has several elements in a byte"},
    {no_function, ND4C_NULL_ARGUMENT, "node 'here': call: function is NULL"},
    {call_with_one_input, ND4C_ARGUMENT, "node 'here': call: 1 inputs, expected 2"},
};

static void what_does_not_fit_is_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    nd4c_value values[VALUES], outputs[] = {-7, -7, -7, -7};
    nd4c_graph *graph = make_graph(values);
    const int32_t extra = refusals[i].record == many_bools || refusals[i].record == packed_scanned ? 1 : 0;
    const nd4c_status status = refusals[i].record(graph, values, outputs);
    if (status != refusals[i].status || strstr(nd4c_error_message(), refusals[i].part) == NULL) {
      fail_msg("row %zu gave %s: %s; expected %s", i, nd4c_status_name(status), nd4c_error_message(), refusals[i].part);
    }
    assert_int_equal(graph->node_count, extra);
    assert_int_equal(graph->value_count, VALUES + extra);
    for (int32_t k = 0; k < 4; k++) {
      assert_int_equal(outputs[k], -7);
    }
    nd4c_graph_destroy(graph);
  }
}

static void functions_have_names_and_outputs(void **state) {
  (void)state;
  nd4c_graph *body = branch_body(ND4C_OP_tanh), *empty = control_graph();
  nd4c_function *function = NULL;
  assert_int_equal(nd4c_function_create(NULL, body, &function), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_function_create("f", body, NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_function_create("f", NULL, &function), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_function_create("", body, &function), ND4C_NAME);
  assert_int_equal(nd4c_function_create("f", empty, &function), ND4C_ARGUMENT);
  assert_non_null(strstr(nd4c_error_message(), "function 'f': the body has no outputs"));
  assert_null(function);
  nd4c_function_release(NULL);
  nd4c_graph_destroy(body);
  nd4c_graph_destroy(empty);
}

/* -- bounds -------------------------------------------------------------------------------------------------------- */

/* A function that calls another one `times` times. */
static nd4c_status call_often(nd4c_function *called, int32_t times, nd4c_function **function) {
  nd4c_graph *body = control_graph();
  nd4c_value x = control_input(body, ND4C_FLOAT32, 2, pair);
  for (int32_t i = 0; i < times; i++) {
    if (called == NULL) {
      x = check_unary(body, ND4C_OP_tanh, x);
    } else {
      CHECK_OK(nd4c_graph_call(body, called, &x, 1, NULL, &x, 1));
    }
  }
  control_output(body, x);
  const nd4c_status status = nd4c_function_create("f", body, function);
  nd4c_graph_destroy(body);
  return status;
}

/* Each function calls the one before it sixteen times: nodes grow without bounds, memory does not. */
static void bombs_are_refused(void **state) {
  (void)state;
  nd4c_function *functions[ND4C_CONTROL_DEPTH + 2] = {NULL};
  nd4c_status status = ND4C_OK;
  int32_t made = 0;
  while (status == ND4C_OK) {
    assert_true(made < 16);
    status = call_often(made == 0 ? NULL : functions[made - 1], 16, &functions[made]);
    made += status == ND4C_OK;
  }
  assert_int_equal(status, ND4C_UNSUPPORTED);
  assert_non_null(strstr(nd4c_error_message(), "nodes with those of the bodies and functions in it, expected 1048576"));
  assert_int_equal(made, 4); /* 16^5 and the calls are above the bound */
  for (int32_t i = 0; i < made; i++) {
    nd4c_function_release(functions[i]);
  }
}

static void depth_is_bounded(void **state) {
  (void)state;
  nd4c_function *functions[ND4C_CONTROL_DEPTH + 2] = {NULL};
  nd4c_status status = ND4C_OK;
  int32_t made = 0;
  while (status == ND4C_OK) {
    assert_true(made <= ND4C_CONTROL_DEPTH);
    status = call_often(made == 0 ? NULL : functions[made - 1], 1, &functions[made]);
    made += status == ND4C_OK;
  }
  assert_int_equal(status, ND4C_UNSUPPORTED);
  assert_non_null(strstr(nd4c_error_message(), "bodies lie in each other 33 deep, expected 32 at most"));
  for (int32_t i = 0; i < made; i++) {
    nd4c_function_release(functions[i]);
  }
}

/* -- looking ------------------------------------------------------------------------------------------------------- */

static void graphs_tell_about_bodies(void **state) {
  (void)state;
  nd4c_graph *graph = build_while(6);
  nd4c_control_info info = {.struct_size = sizeof info}, none = {.struct_size = 4};
  nd4c_node_info node = {.struct_size = sizeof node};
  CHECK_OK(nd4c_graph_get_control(graph, 0, &info));
  assert_int_equal(info.kind, ND4C_CONTROL_NONE);
  assert_int_equal(info.rounds, 0);
  assert_null(nd4c_graph_body(graph, 0, 0));
  CHECK_OK(nd4c_graph_get_control(graph, 1, &info));
  assert_int_equal(info.kind, ND4C_CONTROL_LOOP);
  assert_true(info.decides && info.has_condition && !info.has_trips);
  assert_int_equal(info.carried_count, 2);
  assert_int_equal(info.captured_count, 1);
  assert_int_equal(info.collected_count, 1);
  assert_int_equal(info.rounds, 6);
  assert_true(info.limit == ND4C_LOOP_LIMIT);
  assert_null(info.function);
  assert_int_equal(nd4c_graph_input_count(nd4c_graph_body(graph, 1, 0)), 4);
  assert_null(nd4c_graph_body(graph, 1, 1));
  assert_null(nd4c_graph_body(NULL, 1, 0));
  CHECK_OK(nd4c_graph_get_node(graph, 1, &node));
  assert_string_equal(node.op->name, "loop");
  assert_null(nd4c_op_get(node.op->op));
  assert_int_equal(node.op->attr_count, 0);
  /* 6 rounds of an addition, a comparison, and 12 elements each of a product and of a sine */
  assert_true(node.operations == 6 * (1 + 1 + 12 + 12 * 8));
  assert_int_equal(nd4c_graph_get_control(graph, 2, &info), ND4C_INDEX);
  assert_int_equal(nd4c_graph_get_control(graph, 0, &none), ND4C_ARGUMENT);
  assert_int_equal(nd4c_graph_get_control(graph, 0, NULL), ND4C_NULL_ARGUMENT);
  nd4c_graph_destroy(graph);
  graph = build_calls(1);
  CHECK_OK(nd4c_graph_get_control(graph, 0, &info));
  assert_int_equal(info.kind, ND4C_CONTROL_CALL);
  assert_string_equal(info.function, "two");
  nd4c_graph_destroy(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_does_not_fit_is_refused),
      cmocka_unit_test(functions_have_names_and_outputs),
      cmocka_unit_test(bombs_are_refused),
      cmocka_unit_test(depth_is_bounded),
      cmocka_unit_test(graphs_tell_about_bodies),
  };
  return cmocka_run_group_tests_name("graph control build", tests, NULL, NULL);
}
