/* Graphs with dims: what values say of their extents, what is refused, and binding to graphs of numbers, which run like
 * those that were built of numbers. */
#include "graph_check.h"

static const int64_t no_extent = -2;

static void assert_shape(const nd4c_graph *graph, nd4c_value value, const char *expected) {
  int32_t rank = 0;
  const int64_t *shape = NULL;
  char text[512] = "";
  CHECK_OK(nd4c_graph_value_info(graph, value, NULL, &rank, &shape));
  for (int32_t i = 0; i < rank; i++) {
    char *extent = NULL;
    CHECK_OK(nd4c_graph_extent_text(graph, shape[i], &extent));
    (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i > 0 ? ", " : "", extent);
    nd4c_free(extent);
  }
  assert_string_equal(text, expected);
}

static void assert_guards(const nd4c_graph *graph, const char *expected) {
  char *text = NULL;
  CHECK_OK(nd4c_graph_guards(graph, &text));
  assert_string_equal(text, expected);
  nd4c_free(text);
}

/* A convolution network and its head: x [batch, 3, height, 32]. */
static nd4c_graph *make_network(int64_t batch, int64_t height, nd4c_value *y) {
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  if (batch < 0) {
    CHECK_OK(nd4c_graph_dim(graph, "batch", 1, -1, &batch));
    CHECK_OK(nd4c_graph_dim(graph, "height", 8, 512, &height));
    assert_true(nd4c_extent_is_symbolic(batch) && nd4c_extent_is_symbolic(height));
  }
  nd4c_value x = check_input(graph, "x", 4, (int64_t[]){batch, 3, height, 32});
  nd4c_value w = check_constant(graph, 4, (int64_t[]){4, 3, 3, 3}, 1, -1, 1);
  nd4c_value dense = check_constant(graph, 2, (int64_t[]){4, 5}, 2, -1, 1);
  nd4c_attr conv[] = {check_ints("strides", (int64_t[]){2, 2}, 2), check_ints("pads", (int64_t[]){1, 1, 1, 1}, 4)};
  nd4c_attr pool[] = {check_ints("kernel", (int64_t[]){2, 2}, 2), check_ints("strides", (int64_t[]){2, 2}, 2)};
  nd4c_attr flat[] = {check_ints("shape", (int64_t[]){batch, 4, -1}, 3)};
  nd4c_attr axes[] = {check_ints("axes", (int64_t[]){2}, 1)};
  nd4c_value a = check_op(graph, ND4C_OP_conv, (nd4c_value[]){x, w}, 2, conv, 2);
  nd4c_value b = check_op(graph, ND4C_OP_relu, &a, 1, NULL, 0);
  nd4c_value c = check_op(graph, ND4C_OP_max_pool, &b, 1, pool, 2);
  nd4c_value d = check_op(graph, ND4C_OP_reshape, &c, 1, flat, 1);
  nd4c_value e = check_op(graph, ND4C_OP_mean, &d, 1, axes, 1);
  *y = check_op(graph, ND4C_OP_matmul, (nd4c_value[]){e, dense}, 2, NULL, 0);
  CHECK_OK(nd4c_graph_output(graph, "pooled", c));
  CHECK_OK(nd4c_graph_output(graph, "y", *y));
  return graph;
}

static void extents_are_carried_through(void **state) {
  (void)state;
  nd4c_value y = ND4C_VALUE_NONE;
  nd4c_graph *graph = make_network(no_extent, 0, &y);
  assert_int_equal(nd4c_graph_dim_count(graph), 2);
  assert_string_equal(nd4c_graph_dim_name(graph, 1), "height");
  assert_null(nd4c_graph_dim_name(graph, 2));
  assert_shape(graph, y, "batch, 5");
  assert_shape(graph, nd4c_graph_output_value(graph, 0), "batch, 4, (height + 1) / 4, 8");
  assert_guards(graph, "");
  nd4c_graph_destroy(graph);
}

static nd4c_graph *bind_both(const nd4c_graph *graph, int64_t batch, int64_t height) {
  nd4c_graph *bound = NULL;
  const char *names[] = {"height", "batch"};
  CHECK_OK(nd4c_graph_bind(graph, names, (int64_t[]){height, batch}, 2, &bound));
  return bound;
}

/* Runs the graph's plan on an input of that shape. */
static nd4c_array *run_network(const nd4c_graph *graph, int64_t batch, int64_t height) {
  nd4c_plan *plan = NULL;
  nd4c_array *outputs[2] = {NULL, NULL};
  nd4c_array *x = check_array(ND4C_FLOAT32, 4, (int64_t[]){batch, 3, height, 32}, 9, -1, 1);
  const nd4c_array *inputs[] = {x};
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  CHECK_OK(nd4c_plan_run(plan, inputs, 1, outputs, 2));
  nd4c_plan_destroy(plan);
  nd4c_array_release(x);
  nd4c_array_release(outputs[0]);
  return outputs[1];
}

static void bound_graphs_run_like_graphs_of_numbers(void **state) {
  (void)state;
  static const int64_t sizes[][2] = {{1, 8}, {3, 32}, {2, 37}};
  nd4c_value y = ND4C_VALUE_NONE;
  nd4c_graph *graph = make_network(no_extent, 0, &y);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    nd4c_value of_numbers = ND4C_VALUE_NONE;
    nd4c_graph *bound = bind_both(graph, sizes[i][0], sizes[i][1]);
    nd4c_graph *numbers = make_network(sizes[i][0], sizes[i][1], &of_numbers);
    assert_int_equal(nd4c_graph_dim_count(bound), 0);
    assert_int_equal(y, of_numbers);
    assert_int_equal(bound->value_count, numbers->value_count);
    for (int32_t v = 0; v < bound->value_count; v++) {
      assert_int_equal(bound->values[v].rank, numbers->values[v].rank);
      assert_memory_equal(bound->values[v].shape, numbers->values[v].shape,
                          (size_t)bound->values[v].rank * sizeof(int64_t));
      assert_int_equal(bound->values[v].size, numbers->values[v].size);
    }
    nd4c_array *left = run_network(bound, sizes[i][0], sizes[i][1]),
               *right = run_network(numbers, sizes[i][0], sizes[i][1]);
    assert_true(check_difference(left, right) == 0);
    nd4c_array_release(left);
    nd4c_array_release(right);
    nd4c_graph_destroy(bound);
    nd4c_graph_destroy(numbers);
  }
  nd4c_graph_destroy(graph);
}

static void dims_that_are_not_named_stay(void **state) {
  (void)state;
  nd4c_value y = ND4C_VALUE_NONE;
  nd4c_graph *graph = make_network(no_extent, 0, &y), *half = NULL;
  const char *name = "height";
  CHECK_OK(nd4c_graph_bind(graph, &name, (int64_t[]){64}, 1, &half));
  assert_int_equal(nd4c_graph_dim_count(half), 1);
  assert_shape(half, nd4c_graph_output_value(half, 0), "batch, 4, 16, 8");
  nd4c_graph *whole = NULL;
  name = "batch";
  CHECK_OK(nd4c_graph_bind(half, &name, (int64_t[]){2}, 1, &whole));
  assert_shape(whole, nd4c_graph_output_value(whole, 0), "2, 4, 16, 8");
  nd4c_graph_destroy(whole);
  nd4c_graph_destroy(half);
  nd4c_graph_destroy(graph);
}

static void expect_text(nd4c_status status, nd4c_status expected, const char *text) {
  assert_int_equal(status, expected);
  assert_string_equal(nd4c_error_message(), text);
}

/* a [n, 4] + b [m, 4] and what is made of them. */
static void guards_are_checked(void **state) {
  (void)state;
  nd4c_graph *graph = NULL, *bound = NULL;
  int64_t n = 0, m = 0;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_dim(graph, "n", 0, -1, &n));
  CHECK_OK(nd4c_graph_dim(graph, "m", 0, 100, &m));
  nd4c_value a = check_input(graph, "a", 2, (int64_t[]){n, 4}), b = check_input(graph, "b", 2, (int64_t[]){m, 4});
  nd4c_value sum = check_op(graph, ND4C_OP_add, (nd4c_value[]){a, b}, 2, NULL, 0);
  nd4c_attr shape[] = {check_ints("shape", (int64_t[]){-1, 8}, 2)};
  nd4c_value halves = check_op(graph, ND4C_OP_reshape, &sum, 1, shape, 1);
  nd4c_value best = check_op(graph, ND4C_OP_max, &halves, 1, NULL, 0);
  CHECK_OK(nd4c_graph_output(graph, "best", best));
  assert_shape(graph, halves, "n / 2, 8");
  assert_guards(graph, "add: n == m\nreshape: 4*n is a multiple of 8\nmax: n / 2 != 0\n");
  const char *names[] = {"n", "m"};
  expect_text(nd4c_graph_bind(graph, names, (int64_t[]){4, 6}, 2, &bound), ND4C_SHAPE,
              "nd4c_graph_bind: the graph was built on add: n == m; here the two are 4 and 6");
  expect_text(nd4c_graph_bind(graph, names, (int64_t[]){5, 5}, 2, &bound), ND4C_SHAPE,
              "nd4c_graph_bind: the graph was built on reshape: 4*n is a multiple of 8; here the two are 20 and 8");
  expect_text(nd4c_graph_bind(graph, names, (int64_t[]){0, 0}, 2, &bound), ND4C_SHAPE,
              "nd4c_graph_bind: the graph was built on max: n / 2 != 0; here the two are 0 and 0");
  expect_text(nd4c_graph_bind(graph, names, (int64_t[]){200, 200}, 2, &bound), ND4C_SHAPE,
              "nd4c_graph_bind: dim 'm' is 200, expected 0 to 100");
  CHECK_OK(nd4c_graph_bind(graph, names, (int64_t[]){6, 6}, 2, &bound));
  assert_shape(bound, halves, "3, 8");
  nd4c_graph_destroy(bound);
  nd4c_graph_destroy(graph);
}

static int64_t computed(nd4c_graph *graph, nd4c_extent_operation operation, int64_t a, int64_t b) {
  int64_t extent = no_extent;
  CHECK_OK(nd4c_graph_extent(graph, operation, a, b, &extent));
  return extent;
}

static void assert_extent(const nd4c_graph *graph, int64_t extent, const char *expected) {
  char *text = NULL;
  CHECK_OK(nd4c_graph_extent_text(graph, extent, &text));
  assert_string_equal(text, expected);
  nd4c_free(text);
}

/* Programs compute extents, which stand in shapes and attributes as dims do. */
static void programs_compute_extents(void **state) {
  (void)state;
  nd4c_graph *graph = NULL, *bound = NULL;
  int64_t n = 0, m = 0, number = 0;
  CHECK_OK(nd4c_graph_create(&graph));
  assert_int_equal(computed(graph, ND4C_EXTENT_ADD, 3, 4), 7);
  CHECK_OK(nd4c_graph_dim(graph, "n", 0, -1, &n));
  CHECK_OK(nd4c_graph_dim(graph, "m", 0, -1, &m));
  int64_t rest = computed(graph, ND4C_EXTENT_SUBTRACT, n, 2), half = computed(graph, ND4C_EXTENT_DIVIDE, n, 2);
  int64_t sum = computed(graph, ND4C_EXTENT_ADD, n, 1), product = computed(graph, ND4C_EXTENT_MULTIPLY, n, m);
  int64_t odd = computed(graph, ND4C_EXTENT_REMAINDER, n, 3), share = computed(graph, ND4C_EXTENT_DIVIDE, n, m);
  assert_extent(graph, rest, "n - 2");
  assert_extent(graph, half, "n / 2");
  assert_extent(graph, sum, "n + 1");
  assert_extent(graph, product, "n*m");
  assert_extent(graph, odd, "n - 3*(n / 3)");
  assert_extent(graph, share, "n / m");
  assert_extent(graph, computed(graph, ND4C_EXTENT_MAXIMUM, n, m), "max(n, m)");
  assert_extent(graph, computed(graph, ND4C_EXTENT_MINIMUM, 7, n), "min(n, 7)");
  assert_extent(graph, computed(graph, ND4C_EXTENT_SUBTRACT, n, half), "n - n / 2");
  assert_int_equal(computed(graph, ND4C_EXTENT_SUBTRACT, sum, n), 1);
  assert_guards(graph, "the extent n - 2: n >= 2\nthe extent n / m: m >= 1\n");
  nd4c_value x = check_input(graph, "x", 1, &n);
  nd4c_attr slice[] = {check_ints("starts", &half, 1), check_ints("stops", &n, 1)};
  nd4c_value y = check_op(graph, ND4C_OP_slice, &x, 1, slice, 2);
  CHECK_OK(nd4c_graph_output(graph, "y", y));
  assert_shape(graph, y, "n - n / 2");
  const char *names[] = {"m", "n", "n"};
  CHECK_OK(nd4c_graph_extent_number(graph, product, names, (int64_t[]){5, 9}, 2, &number));
  assert_int_equal(number, 45);
  CHECK_OK(nd4c_graph_extent_number(graph, odd, names, (int64_t[]){5, 8}, 2, &number));
  assert_int_equal(number, 2);
  CHECK_OK(nd4c_graph_extent_number(graph, 6, NULL, NULL, 0, &number));
  assert_int_equal(number, 6);
  CHECK_OK(nd4c_graph_bind(graph, names, (int64_t[]){2, 9}, 2, &bound));
  assert_shape(bound, y, "5");
  nd4c_graph_destroy(bound);
  bound = NULL;
  expect_text(nd4c_graph_bind(graph, names, (int64_t[]){1, 1}, 2, &bound), ND4C_SHAPE,
              "nd4c_graph_bind: the graph was built on the extent n - 2: n >= 2; here the two are 1 and 2");
  /* The names stay those of the extents when only some dims become numbers. */
  CHECK_OK(nd4c_graph_bind(graph, names, (int64_t[]){3}, 1, &bound));
  assert_guards(bound, "the extent n - 2: n >= 2\n");
  nd4c_graph_destroy(bound);
  nd4c_graph_destroy(graph);
}

static void extents_that_are_none_are_refused(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  int64_t n = 0, extent = 77;
  CHECK_OK(nd4c_graph_create(&graph));
  expect_text(nd4c_graph_extent(graph, ND4C_EXTENT_SUBTRACT, 3, 4, &extent), ND4C_SHAPE,
              "nd4c_graph_extent: (3) - (4) is no extent: it is below 0, divides by 0, or exceeds 64 bits");
  expect_text(nd4c_graph_extent_number(graph, ND4C_EXTENT_FIRST, NULL, NULL, 0, &extent), ND4C_SHAPE,
              "nd4c_graph_extent_number: -6148914691236517205 is no extent of this graph");
  CHECK_OK(nd4c_graph_dim(graph, "n", 2, 9, &n));
  expect_text(nd4c_graph_extent(graph, ND4C_EXTENT_SUBTRACT, n, 10, &extent), ND4C_SHAPE,
              "nd4c_graph_extent: (n) - (10) is no extent: it is below 0, divides by 0, or exceeds 64 bits");
  expect_text(nd4c_graph_extent(graph, ND4C_EXTENT_DIVIDE, n, 0, &extent), ND4C_SHAPE,
              "nd4c_graph_extent: (n) / (0) is no extent: it is below 0, divides by 0, or exceeds 64 bits");
  expect_text(nd4c_graph_extent(graph, ND4C_EXTENT_ADD, n, -3, &extent), ND4C_SHAPE,
              "nd4c_graph_extent: -3 is no extent of this graph");
  expect_text(nd4c_graph_extent(graph, (nd4c_extent_operation)7, n, 3, &extent), ND4C_ARGUMENT,
              "nd4c_graph_extent: operation 7, expected 0 to 6");
  expect_text(nd4c_graph_extent(graph, ND4C_EXTENT_ADD, n, 3, NULL), ND4C_NULL_ARGUMENT,
              "nd4c_graph_extent: extent is NULL");
  const char *names[] = {"n", "n", "k"};
  int64_t numbers[] = {4, 4, 4};
  expect_text(nd4c_graph_extent_number(graph, n, names, numbers, 0, &extent), ND4C_NAME,
              "nd4c_graph_extent_number: the number of dim 'n' lacks");
  expect_text(nd4c_graph_extent_number(graph, n, names, numbers, 2, &extent), ND4C_NAME,
              "nd4c_graph_extent_number: dim 'n' is given twice");
  expect_text(nd4c_graph_extent_number(graph, n, names + 2, numbers, 1, &extent), ND4C_NAME,
              "nd4c_graph_extent_number: 'k' is no dim of the graph");
  expect_text(nd4c_graph_extent_number(graph, n, names, &(int64_t){1}, 1, &extent), ND4C_SHAPE,
              "nd4c_graph_extent_number: dim 'n' is 1, expected 2 to 9");
  expect_text(nd4c_graph_extent_number(graph, n, names, numbers, 1, NULL), ND4C_NULL_ARGUMENT,
              "nd4c_graph_extent_number: names, extents or number are NULL, or count is negative");
  assert_int_equal(extent, 77);
  assert_guards(graph, "");
  nd4c_graph_destroy(graph);
}

static void refusals_name_extents_and_change_nothing(void **state) {
  (void)state;
  nd4c_graph *graph = NULL, *bound = NULL;
  int64_t n = 0, t = 0, other = 0;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_dim(graph, "n", 1, -1, &n));
  CHECK_OK(nd4c_graph_dim(graph, "t", 2, 16, &t));
  nd4c_value x = check_input(graph, "x", 2, (int64_t[]){n, t}), y = check_input(graph, "y", 2, (int64_t[]){n, 32}), z;
  nd4c_value w = check_input(graph, "w", 2, (int64_t[]){32, 4}), pair[] = {x, y};
  nd4c_attr axis[] = {check_int("axis", 0)}, shape[] = {check_ints("shape", (int64_t[]){n, 8 * INT64_C(1000)}, 2)};
  int32_t values = graph->value_count;
  expect_text(nd4c_graph_op(graph, ND4C_OP_add, pair, 2, NULL, 0, "sum", &z, 1), ND4C_SHAPE,
              "node 'sum': add: input b is float32 (n, 32): expected a shape that broadcasts with input a (n, t)");
  expect_text(nd4c_graph_op(graph, ND4C_OP_matmul, (nd4c_value[]){x, w}, 2, NULL, 0, "", &z, 1), ND4C_SHAPE,
              "matmul: input b is float32 (32, 4): expected t rows for input a's (n, t), not 32");
  expect_text(nd4c_graph_op(graph, ND4C_OP_reshape, &x, 1, shape, 1, "", &z, 1), ND4C_SHAPE,
              "reshape: input x is float32 (n, t): shape (n, 8000) has 8000*n elements, expected n*t");
  expect_text(nd4c_graph_op(graph, ND4C_OP_nonzero, &x, 1, NULL, 0, "", &z, 1), ND4C_UNSUPPORTED,
              "nonzero: input x is float32 (n, t): its inference rule takes numbers only: bind the graph's dims first "
              "(nd4c_graph_bind)");
  shape[0] = check_ints("shape", (int64_t[]){n - 99, 2}, 2);
  expect_text(nd4c_graph_op(graph, ND4C_OP_reshape, &x, 1, shape, 1, "", &z, 1), ND4C_SHAPE,
              "reshape: input x is float32 (n, t): shape has the extent -6148914691236517304, expected at least -1");
  axis[0] = check_ints("axes", &n, 1);
  expect_text(nd4c_graph_op(graph, ND4C_OP_sum, &x, 1, axis, 1, "", &z, 1), ND4C_UNSUPPORTED,
              "sum: attribute axes holds an extent of the graph's dims, expected a number");
  assert_int_equal(graph->value_count, values);
  assert_guards(graph, "");
  expect_text(nd4c_graph_dim(graph, "n", 1, 2, &other), ND4C_NAME,
              "graph: dim 'n' is there already, expected another name");
  expect_text(nd4c_graph_dim(graph, "m", 3, 2, &other), ND4C_SHAPE,
              "graph: dim 'm' is 3 to 2, expected bounds of at least 0 in ascending order");
  CHECK_OK(nd4c_graph_output(graph, "x", x));
  expect_text(nd4c_plan_compile(graph, "cpu:0", NULL, "none", NULL), ND4C_UNSUPPORTED,
              "nd4c_plan_compile: the graph has 2 dims ('n', ...), expected numbers: nd4c_graph_bind makes a graph of "
              "them");
  const char *names[] = {"n", "n", "q"};
  int64_t extents[] = {4, 5, 6};
  expect_text(nd4c_graph_bind(graph, names, extents, 2, &bound), ND4C_NAME, "nd4c_graph_bind: dim 'n' is given twice");
  expect_text(nd4c_graph_bind(graph, names + 2, extents, 1, &bound), ND4C_NAME,
              "nd4c_graph_bind: 'q' is no dim of the graph");
  expect_text(nd4c_graph_bind(graph, names, &(int64_t){-4}, 1, &bound), ND4C_SHAPE,
              "nd4c_graph_bind: dim 'n' is -4, expected at least 0");
  assert_null(bound);
  nd4c_graph_destroy(graph);
}

/* Makes, binds and asks; releases all that was made. */
static nd4c_status build_and_bind(void) {
  nd4c_graph *graph = NULL, *bound = NULL;
  char *text = NULL;
  int64_t n = 0;
  nd4c_value x = ND4C_VALUE_NONE, y = ND4C_VALUE_NONE;
  const char *name = "n";
  ND4C_TRY(nd4c_graph_create(&graph));
  nd4c_status status = nd4c_graph_dim(graph, name, 1, -1, &n);
  nd4c_attr attrs[] = {check_ints("shape", (int64_t[]){-1, 2}, 2)};
  status = status == ND4C_OK ? nd4c_graph_input(graph, "x", ND4C_FLOAT32, 2, (int64_t[]){n, 3}, &x) : status;
  status = status == ND4C_OK ? nd4c_graph_op(graph, ND4C_OP_reshape, &x, 1, attrs, 1, "", &y, 1) : status;
  status = status == ND4C_OK ? nd4c_graph_output(graph, "y", y) : status;
  status = status == ND4C_OK ? nd4c_graph_guards(graph, &text) : status;
  status = status == ND4C_OK ? nd4c_graph_bind(graph, &name, (int64_t[]){4}, 1, &bound) : status;
  nd4c_free(text);
  nd4c_graph_destroy(bound);
  nd4c_graph_destroy(graph);
  return status;
}

/* n - 2, m / n, max(n, m) and the number of one of them. */
static nd4c_status compute_extents(int64_t *number) {
  nd4c_graph *graph = NULL;
  int64_t n = 0, m = 0, made[3];
  const char *names[] = {"n", "m"};
  nd4c_status status = nd4c_graph_create(&graph);
  status = status == ND4C_OK ? nd4c_graph_dim(graph, "n", 0, -1, &n) : status;
  status = status == ND4C_OK ? nd4c_graph_dim(graph, "m", 0, -1, &m) : status;
  status = status == ND4C_OK ? nd4c_graph_extent(graph, ND4C_EXTENT_SUBTRACT, n, 2, &made[0]) : status;
  status = status == ND4C_OK ? nd4c_graph_extent(graph, ND4C_EXTENT_DIVIDE, m, n, &made[1]) : status;
  status = status == ND4C_OK ? nd4c_graph_extent(graph, ND4C_EXTENT_MAXIMUM, n, m, &made[2]) : status;
  status = status == ND4C_OK ? nd4c_graph_extent_number(graph, made[1], names, (int64_t[]){3, 19}, 2, number) : status;
  nd4c_graph_destroy(graph);
  return status;
}

static void extents_lack_memory(void **state) {
  (void)state;
  nd4c_status status = ND4C_MEMORY;
  int64_t skip = 0, number = 0;
  for (; status != ND4C_OK; skip++) {
    nd4c_allocation_fail_at(skip);
    status = compute_extents(&number);
    nd4c_allocation_fail_at(-1);
    assert_true(status == ND4C_OK || status == ND4C_MEMORY);
  }
  assert_true(skip > 5 && number == 6);
}

static void lack_of_memory_is_reported(void **state) {
  (void)state;
  nd4c_status status = ND4C_MEMORY;
  int64_t skip = 0;
  for (; status != ND4C_OK; skip++) {
    nd4c_allocation_fail_at(skip);
    status = build_and_bind();
    nd4c_allocation_fail_at(-1);
    assert_true(status == ND4C_OK || status == ND4C_MEMORY);
  }
  assert_true(skip > 15);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(extents_are_carried_through),  cmocka_unit_test(bound_graphs_run_like_graphs_of_numbers),
      cmocka_unit_test(dims_that_are_not_named_stay), cmocka_unit_test(guards_are_checked),
      cmocka_unit_test(programs_compute_extents),     cmocka_unit_test(extents_that_are_none_are_refused),
      cmocka_unit_test(extents_lack_memory),          cmocka_unit_test(refusals_name_extents_and_change_nothing),
      cmocka_unit_test(lack_of_memory_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
