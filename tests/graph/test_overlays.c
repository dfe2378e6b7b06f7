/* Steps that compute in place (plan/overlays.c): which operand's memory a step may take, and which not although dtype
 * and layout fit. Each graph is one in which the wrong answer gives wrong results, too. */
#include "graph_check.h"

enum { SIDE = 64 };

static const int64_t square[] = {SIDE, SIDE};

/* The step that computes the op. */
static const nd4c_step *step_of(const nd4c_plan *plan, nd4c_op op) {
  for (int32_t i = 0; i < plan->step_count; i++) {
    const nd4c_step *step = &plan->steps[i];
    if (step->segment == NULL && plan->graph->nodes[step->node].def->info.op == op) {
      return step;
    }
  }
  fail_msg("there is no step of %s", nd4c_op_get(op)->name);
  return NULL;
}

/* A plan of the ops as they are, with values in the arena. Destroys the graph. */
static nd4c_plan *plan_of(nd4c_graph *graph, nd4c_value y) {
  const nd4c_plan_options plain = {.struct_size = sizeof plain, .no_optimization = true};
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_graph_output(graph, "y", check_unary(graph, ND4C_OP_softmax, y)));
  nd4c_plan_destroy(check_graph(graph, 1, 1e-5));
  CHECK_OK(nd4c_plan_create(graph, NULL, &plain, &plan));
  nd4c_graph_destroy(graph);
  return plan;
}

/* A value that the arena has. */
static nd4c_value in_arena(nd4c_graph *graph, const char *name) {
  return check_unary(graph, ND4C_OP_softmax, check_input(graph, name, 2, square));
}

/* scatter_nd with rows from last to first: were they written over the updates, half of them would be gone. */
static void updates_are_not_written_over(void **state) {
  (void)state;
  int64_t rows[SIDE];
  nd4c_graph *graph = NULL;
  nd4c_array *array = NULL;
  nd4c_value indices = ND4C_VALUE_NONE;
  for (int64_t i = 0; i < SIDE; i++) {
    rows[i] = SIDE - 1 - i;
  }
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_array_from_data(ND4C_INT64, 2, (int64_t[]){SIDE, 1}, rows, NULL, &array));
  CHECK_OK(nd4c_graph_constant(graph, array, &indices));
  nd4c_array_release(array);
  const nd4c_value inputs[] = {in_arena(graph, "x"), indices, in_arena(graph, "updates")};
  nd4c_plan *plan = plan_of(graph, check_op(graph, ND4C_OP_scatter_nd, inputs, 3, NULL, 0));
  const nd4c_step *step = step_of(plan, ND4C_OP_scatter_nd);
  assert_true(nd4c_plan_is_in_place(plan, step, 0));
  assert_false(nd4c_plan_is_in_place(plan, step, 2));
  nd4c_plan_destroy(plan);
}

/* x + y as it is, turned or from another row on. */
typedef enum second { AS_IT_IS, TURNED, SHIFTED } second;

static nd4c_value view_of(nd4c_graph *graph, nd4c_value x, second how) {
  const nd4c_attr part[] = {check_ints("starts", (int64_t[]){1, 0}, 2),
                            check_ints("stops", (int64_t[]){SIDE, SIDE}, 2)};
  return how == AS_IT_IS ? x
         : how == TURNED ? check_op(graph, ND4C_OP_transpose, &x, 1, NULL, 0)
                         : check_op(graph, ND4C_OP_slice, &x, 1, part, 2);
}

/* An element-wise op reads an operand twice: in place only if it reads each element where it writes it. */
static void operands_with_one_memory_lie_alike(void **state) {
  (void)state;
  for (second how = AS_IT_IS; how <= TURNED; how++) {
    nd4c_graph *graph = NULL;
    CHECK_OK(nd4c_graph_create(&graph));
    const nd4c_value x = in_arena(graph, "x");
    nd4c_plan *plan = plan_of(graph, check_binary(graph, ND4C_OP_subtract, x, view_of(graph, x, how)));
    assert_true(nd4c_plan_is_in_place(plan, step_of(plan, ND4C_OP_subtract), 0) == (how == AS_IT_IS));
    nd4c_plan_destroy(plan);
  }
}

/* Views that are a part of an operand's memory are not as large as the result, so there is nothing to take over. */
static void parts_are_no_place_for_a_result(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value part = view_of(graph, in_arena(graph, "x"), SHIFTED);
  const nd4c_value more = view_of(graph, in_arena(graph, "more"), SHIFTED);
  nd4c_plan *plan = plan_of(graph, check_binary(graph, ND4C_OP_subtract, part, more));
  const nd4c_step *step = step_of(plan, ND4C_OP_subtract);
  assert_false(nd4c_plan_is_in_place(plan, step, 0) || nd4c_plan_is_in_place(plan, step, 1));
  nd4c_plan_destroy(plan);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(updates_are_not_written_over),
                                     cmocka_unit_test(operands_with_one_memory_lie_alike),
                                     cmocka_unit_test(parts_are_no_place_for_a_result)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
