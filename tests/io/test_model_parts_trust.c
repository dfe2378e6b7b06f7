/* What parts of a model rest on: guards, sizes that are not 0, shapes that files declare, constants that all runs read.
 * Where it does not hold, the model gives what it gives when it is interpreted. */
#include "import/model_internal.h"
#include "model_parts.h"

/* What a file computes from sizes is a constant only where guards and the bounds of dims hold: a number to which a size
 * is compared is taken for another one, and a free size for 1 or more. */
static void sizes_are_compared(void **state) {
  (void)state;
  static const char rest[] =
      "MatMul x w > a; Relu a > b; MatMul b v > c; NonZero m > z; Squeeze z v0 > i; Gather c i > r; "
      "MatMul r w > d; Relu d > f; MatMul f v > g";
  static const char *const cases[] = {
      "Shape z > s; Gather s v1 > n; Equal n v1 > e; Cast e to=1 > y",
      "Shape z > s; Gather s v1 > n; Equal n v1 > e; Cast e to=1 > o; NonZero o > q; Cast q to=1 > y",
      "Shape x > s; Gather s v0 > n; Greater n zero > e; Cast e to=1 > y",
  };
  static const int64_t counts[] = {3, 1, 2, 1}, free_rows[] = {-1, SIDE};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    wire_bytes graph = {0};
    example e;
    add_constants(&graph);
    build_nodes(&graph, rest);
    build_nodes(&graph, cases[i]);
    build_value(&graph, 11, "x", FLOAT, 2, free_rows);
    build_value(&graph, 11, "m", FLOAT, 1, rows);
    build_name(&graph, 12, "y");
    build_value(&graph, 12, "g", FLOAT, 2, free_rows);
    open_graph(&e, &graph, 13);
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
      nd4c_array *x = make_x(2, square), *m = make_mask(counts[k]);
      (void)check_run(&e, x, m);
      nd4c_array_release(x);
      nd4c_array_release(m);
    }
    nd4c_array *x = make_x(2, (const int64_t[]){0, SIDE}), *m = make_mask(0);
    (void)check_run(&e, x, m);
    nd4c_array_release(x);
    nd4c_array_release(m);
    expect_reported(e.model, "2 planned parts\n");
    close_example(&e);
  }
}

/* The file declares a shape that a loop's result has in no run but one, and nothing reads but this shape. */
static void shapes_alone_are_read(void **state) {
  (void)state;
  static const int64_t deep[32] = {SIDE, SIDE};
  static const char *const cases[] = {
      "Shape c > s; Gather s zero > n; Cast n to=1 > o; Add o b > d; MatMul d v > f; Relu f > y",
      "Shape c > s; Cast s to=1 > y",
  };
  for (size_t i = 0; i < 4; i++) {
    wire_bytes graph = {0}, body = {0};
    example e;
    add_constants(&graph);
    build_nodes(&body, "NonZero g > n; Concat g b axis=0 > h; Identity on > go"); /* NonZero: no graph tells h */
    build_name(&body, 11, "i");
    build_name(&body, 11, "on");
    build_name(&body, 11, "g");
    build_name(&body, 12, "go");
    build_value(&body, 12, "h", FLOAT, i < 2 ? 2 : 32, deep);
    build_nodes(&graph, "MatMul x w > a; Relu a > b");
    build_holder(&graph, "Loop m - b > c", "body", &body, NULL, NULL);
    build_nodes(&graph, cases[i % 2]);
    build_value(&graph, 11, "x", FLOAT, 2, square);
    build_value(&graph, 11, "m", INT64, 1, one);
    build_name(&graph, 12, "y");
    open_graph(&e, &graph, 13);
    nd4c_array *x = make_x(2, square);
    for (int64_t trips = 0; trips < 3; trips++) {
      nd4c_array *m = make_scalar(ND4C_INT64, (double)trips);
      (void)check_run(&e, x, m);
      nd4c_array_release(m);
    }
    expect_reported(e.model, "interpreted in part: ");
    nd4c_array_release(x);
    close_example(&e);
  }
}

/* Who writes into an output changes no later run: y is a constant, of constants or of a fixed shape. */
static void callers_own_constants(void **state) {
  (void)state;
  static const char *const cases[] = {"Add w v > y", "Shape x > s; Cast s to=1 > y"};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    wire_bytes graph = {0};
    example e;
    add_constants(&graph);
    build_nodes(&graph, "MatMul x w > a; Relu a > b; MatMul b v > c; NonZero m > z; Squeeze z v0 > i; Gather c i > r");
    build_nodes(&graph, cases[i]);
    build_value(&graph, 11, "x", FLOAT, 2, square);
    build_value(&graph, 11, "m", FLOAT, 1, rows);
    build_name(&graph, 12, "y");
    build_value(&graph, 12, "r", FLOAT, 2, (const int64_t[]){-1, SIDE});
    open_graph(&e, &graph, 13);
    nd4c_array *x = make_x(2, square), *m = make_mask(3), *y = NULL;
    (void)check_run(&e, x, m);
    expect_reported(e.model, "1 planned part\n");
    assert_int_equal(run_model(e.model, x, m, &y), ND4C_OK);
    static const float zeros[SIDE * SIDE];
    assert_int_equal(nd4c_array_write(y, zeros, (size_t)nd4c_array_size(y) * sizeof *zeros), ND4C_OK);
    (void)check_run(&e, x, m);
    nd4c_array_release(y);
    nd4c_array_release(x);
    nd4c_array_release(m);
    close_example(&e);
  }
}

/* A branch declares an output of a dtype that does not exist, behind one of free size. */
static void declared_dtypes_may_be_wrong(void **state) {
  (void)state;
  wire_bytes graph = {0}, branches[2] = {{0}, {0}};
  example e;
  add_constants(&graph);
  for (int i = 0; i < 2; i++) {
    build_nodes(&branches[i], i == 0 ? "NonZero m > p; Neg m > q" : "NonZero x > p; Abs m > q");
    build_value(&branches[i], 12, "p", INT64, 2, (const int64_t[]){-1, -1});
    build_value(&branches[i], 12, "q", 77, 1, rows);
  }
  build_nodes(&graph, "MatMul x w > a; Relu a > b; MatMul b v > c; ReduceSum m keepdims=0 > t; Cast t to=9 > u");
  build_holder(&graph, "If u > p q", "then_branch", &branches[0], "else_branch", &branches[1]);
  build_nodes(&graph, "Gather p zero > i; Gather c i > r; MatMul r w > d; Relu d > f; MatMul f v > y");
  build_value(&graph, 11, "x", FLOAT, 2, square);
  build_value(&graph, 11, "m", FLOAT, 1, rows);
  build_value(&graph, 12, "y", FLOAT, 2, (const int64_t[]){-1, SIDE});
  build_value(&graph, 12, "q", FLOAT, 1, rows);
  open_graph(&e, &graph, 13);
  nd4c_array *x = make_x(2, square), *m = make_mask(3);
  assert_int_equal(check_run(&e, x, m), 3);
  nd4c_array_release(x);
  nd4c_array_release(m);
  close_example(&e);
}

/* Sizes that the plan with dims refuses, and for which the model is no graph: it is split for them once. */
static void refused_sizes_are_split_once(void **state) {
  (void)state;
  static const int64_t free_rows[] = {-1, SIDE};
  wire_bytes graph = {0}, yes = {0}, no = {0};
  example e;
  add_constants(&graph);
  build_nodes(&yes, "NonZero m > z; Squeeze z v0 > i; Gather w i > p");
  build_name(&yes, 12, "p");
  build_nodes(&no, "Neg b > q");
  build_name(&no, 12, "q");
  build_nodes(&graph, "MatMul x w > a; Relu a > b; Shape x > s; Gather s v0 > n; Equal n v1 > k");
  build_holder(&graph, "If k > c", "then_branch", &yes, "else_branch", &no);
  build_nodes(&graph, "MatMul c v > d; Relu d > y");
  build_value(&graph, 11, "x", FLOAT, 2, free_rows);
  build_value(&graph, 11, "m", FLOAT, 1, rows);
  build_value(&graph, 12, "y", FLOAT, 2, free_rows);
  open_graph(&e, &graph, 13);
  nd4c_array *x = make_x(2, square), *row = make_x(2, (const int64_t[]){1, SIDE}), *m = make_mask(3);
  assert_int_equal(check_run(&e, x, m), SIDE);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(check_run(&e, row, m), 3);
  }
  assert_non_null(e.model->plans->parts);
  assert_null(e.model->plans->next->next);
  nd4c_array_release(x);
  nd4c_array_release(row);
  nd4c_array_release(m);
  close_example(&e);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_are_compared), cmocka_unit_test(shapes_alone_are_read),
                                     cmocka_unit_test(callers_own_constants),
                                     cmocka_unit_test(declared_dtypes_may_be_wrong),
                                     cmocka_unit_test(refused_sizes_are_split_once)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
