/* Windows of constants that begin where a dim says: bindings whose operands differ in nothing but the constant of one
 * of them, often the last, give the results of plans of numbers. */
#include "graph/dynamic.h"
#include "graph/dynamic_cases.h"

enum { WIDTH = 64, WINDOWS = 24, FEW = 5, MANY = 300 };

typedef struct window_case {
  const char *name;
  nd4c_op op;
  /* x: [n, WIDTH], an input; W, B: a window of WIDTH rows or elements from m on; w, b: constants of that shape. */
  const char *operands;
  int32_t times; /* how often the op follows itself: a compiler takes a chain */
} window_case;

static const window_case cases[] = {
    {"a row is added", ND4C_OP_add, "xB", 1},
    {"a row is the first operand", ND4C_OP_subtract, "Bx", 1},
    {"weights", ND4C_OP_matmul, "xW", 1},
    {"weights of a layer", ND4C_OP_linear, "xWb", 1},
    {"the bias of a layer", ND4C_OP_linear, "xwB", 1},
    {"both of a layer", ND4C_OP_linear, "xWB", 1},
    {"a chain with a row", ND4C_OP_multiply, "xB", 6},
    {"a chain behind a row", ND4C_OP_subtract, "Bx", 6},
};

static const int64_t begins[] = {1, 2, 3, 2, WINDOWS, 1, 17};

static nd4c_value window_of(const builder *b, nd4c_value constant) {
  const int64_t axis = 0;
  int64_t stop = 0;
  CHECK_OK(nd4c_graph_extent(b->graph, ND4C_EXTENT_ADD, b->m, WIDTH, &stop));
  const nd4c_attr attrs[] = {check_ints("starts", &b->m, 1), check_ints("stops", &stop, 1),
                             check_ints("axes", &axis, 1)};
  return check_op(b->graph, ND4C_OP_slice, &constant, 1, attrs, 3);
}

static nd4c_value operand_of(const builder *b, char kind, nd4c_value x) {
  const int64_t square[] = {WIDTH, WIDTH}, table[] = {WIDTH + WINDOWS, WIDTH};
  switch (kind) {
    case 'W':
      return window_of(b, check_constant(b->graph, 2, table, 3, -0.2, 0.2));
    case 'B':
      return window_of(b, check_constant(b->graph, 1, table, 4, -1, 1));
    case 'w':
      return check_constant(b->graph, 2, square, 5, -0.2, 0.2);
    case 'b':
      return check_constant(b->graph, 1, square, 6, -1, 1);
    default:
      return x;
  }
}

static nd4c_graph *make_windows(const window_case *c) {
  builder b = {0};
  CHECK_OK(nd4c_graph_create(&b.graph));
  CHECK_OK(nd4c_graph_dim(b.graph, "n", 1, -1, &b.n));
  CHECK_OK(nd4c_graph_dim(b.graph, "m", 1, WINDOWS, &b.m));
  nd4c_value y = check_input(b.graph, "x", 2, (int64_t[]){b.n, WIDTH}), operands[3];
  const nd4c_value k = check_input(b.graph, "k", 1, &b.m); /* inputs tell what the dims are */
  const int32_t count = (int32_t)strlen(c->operands);
  for (int32_t time = 0; time < c->times; time++) {
    for (int32_t i = 0; i < count; i++) {
      operands[i] = operand_of(&b, c->operands[i], y);
    }
    y = check_op(b.graph, c->op, operands, count, NULL, 0);
    y = c->times > 1 ? check_unary(b.graph, ND4C_OP_tanh, y) : y;
  }
  CHECK_OK(nd4c_graph_output(b.graph, "y", y));
  CHECK_OK(nd4c_graph_output(b.graph, "k", check_unary(b.graph, ND4C_OP_exp, k)));
  return b.graph;
}

static void check_windows(const window_case *c, const nd4c_graph *graph, const nd4c_plan_options *options) {
  nd4c_plan *plan = make_plan(graph, options);
  for (int64_t n = FEW; n <= MANY; n += MANY - FEW) {
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
      const int64_t dims[] = {n, begins[i]};
      sample s = make_sample(graph, dims, NULL);
      s.tolerance = 1e-5; /* a kernel for other extents may round otherwise */
      check_sample(plan, &s, c->name, dims);
      free_sample(&s);
    }
  }
  assert_true(options->buckets == NULL || bindings_of(plan).patched > 0);
  nd4c_plan_destroy(plan);
}

static void a_window_that_moves_is_read(void **state) {
  (void)state;
  static const char *const buckets[] = {NULL, "m=32"};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    nd4c_graph *graph = make_windows(&cases[i]);
    for (int which = 0; which < 4; which++) {
      const nd4c_plan_options options = {
          .struct_size = sizeof options, .buckets = buckets[which / 2], .no_optimization = which % 2 == 1};
      check_windows(&cases[i], graph, &options);
    }
    nd4c_graph_destroy(graph);
  }
}

enum { CHANNELS = 16, SIDE = 12, OTHERS = 32 };

static nd4c_value make_conv(nd4c_graph *graph, nd4c_value x, int64_t channels, int64_t outputs) {
  const nd4c_attr pads[] = {check_ints("pads", (int64_t[]){1, 1, 1, 1}, 4)};
  const nd4c_value w = check_constant(graph, 4, (int64_t[]){outputs, channels, 3, 3}, 5, -1, 1);
  return check_op(graph, ND4C_OP_conv, (nd4c_value[]){x, w}, 2, pads, 1);
}

/* A conv's result beside m other channels, which a plan computes in the concat's memory. Of the conv's operands only
 * the last one, its result, depends on m, and only by its strides. */
static nd4c_graph *make_gaps(void) {
  builder b = {0};
  CHECK_OK(nd4c_graph_create(&b.graph));
  CHECK_OK(nd4c_graph_dim(b.graph, "n", 1, -1, &b.n));
  CHECK_OK(nd4c_graph_dim(b.graph, "m", 1, OTHERS, &b.m));
  const nd4c_value x = check_input(b.graph, "x", 4, (int64_t[]){b.n, 3, SIDE, SIDE});
  const nd4c_value z = check_input(b.graph, "z", 4, (int64_t[]){b.n, b.m, SIDE, SIDE});
  const nd4c_value first = make_conv(b.graph, x, 3, CHANNELS);
  const nd4c_value parts[] = {make_conv(b.graph, first, CHANNELS, 2 * CHANNELS), check_unary(b.graph, ND4C_OP_tanh, z)};
  const nd4c_attr axis = check_int("axis", 1), kernel = check_ints("kernel", (int64_t[]){2, 2}, 2);
  const nd4c_value whole = check_op(b.graph, ND4C_OP_concat, parts, 2, &axis, 1);
  CHECK_OK(nd4c_graph_output(b.graph, "y", check_op(b.graph, ND4C_OP_max_pool, &whole, 1, &kernel, 1)));
  return b.graph;
}

/* The second conv. */
static const nd4c_step *last_conv(const nd4c_plan *plan) {
  const nd4c_plan *bound = nd4c_bindings_latest(plan->dynamic)->plan;
  const nd4c_step *found = NULL;
  for (int32_t i = 0; i < bound->step_count; i++) {
    found = bound->steps[i].call.op->op == ND4C_OP_conv ? &bound->steps[i] : found;
  }
  assert_non_null(found);
  return found;
}

/* What a kernel has prepared for a result with gaps serves no other gaps, and what it has for a batch no other one.
 * Engine simd's kernels would write these, too; oneDNN's would not. An engine that asks for no order of memory has no
 * gaps. */
static void results_with_other_gaps_have_their_own_choice(void **state) {
  (void)state;
  static const char *const disabled[] = {NULL, "simd"};
  static const int64_t sizes[][DIMS] = {{2, 2}, {2, 12}, {2, 32}, {3, 32}, {8, 32}};
  const nd4c_plan_options options = {.struct_size = sizeof options, .buckets = "n=8,m=32"};
  nd4c_graph *graph = make_gaps();
  for (int which = 0; which < 2; which++) {
    CHECK_OK(nd4c_config_set("SD_KERNEL_DISABLE_ENGINES", disabled[which]));
    nd4c_plan *plan = make_plan(graph, &options);
    nd4c_choice *before = NULL; /* held, so that no other choice gets its address */
    int64_t gaps = 0, batch = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      sample s = make_sample(graph, sizes[i], NULL);
      s.tolerance = 1e-5;
      check_sample(plan, &s, "gaps", sizes[i]);
      free_sample(&s);
      const nd4c_step *step = last_conv(plan);
      const bool other = batch != sizes[i][0] || gaps != step->call.outputs[0].strides[0];
      if (other && step->choice->kernel != NULL && step->choice->kernel->prepare != NULL) {
        assert_ptr_not_equal(step->choice, before);
      }
      batch = sizes[i][0];
      gaps = step->call.outputs[0].strides[0];
      nd4c_choice_release(before);
      before = nd4c_choice_retain(step->choice);
    }
    nd4c_choice_release(before);
    assert_int_equal(bindings_of(plan).made, 1);
    nd4c_plan_destroy(plan);
  }
  CHECK_OK(nd4c_config_set("SD_KERNEL_DISABLE_ENGINES", NULL));
  nd4c_graph_destroy(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_window_that_moves_is_read),
      cmocka_unit_test(results_with_other_gaps_have_their_own_choice),
  };
  return cmocka_run_group_tests_name("last_operands", tests, NULL, NULL);
}
