/* Engine tile: random chains of element-wise ops, as one loop over tiles, give the bits of eager calls, which compute
 * one op at a time. Then which chains the engine takes, how it is turned off, and what happens without memory. */
#include "base/alloc.h"
#include "graph/graph_check.h"

enum { SEEDS = 240, MOST_VALUES = 80, FORMS = 6, OUTPUTS = 3 };

static int32_t pick(uint64_t *random, int32_t limit) {
  return (int32_t)(check_random(random) % (uint64_t)limit);
}

/* -- random chains --------------------------------------------------------------------------------------------------
 */

static const nd4c_dtype dtypes[] = {ND4C_FLOAT32, ND4C_FLOAT32, ND4C_FLOAT32,  ND4C_FLOAT64,
                                    ND4C_FLOAT16, ND4C_INT32,   ND4C_BFLOAT16, ND4C_INT64};
static const nd4c_op any_unary[] = {ND4C_OP_negative, ND4C_OP_abs, ND4C_OP_square, ND4C_OP_sign, ND4C_OP_relu};
static const nd4c_op float_unary[] = {
    ND4C_OP_sqrt,      ND4C_OP_exp,        ND4C_OP_log,         ND4C_OP_tanh,       ND4C_OP_erf,
    ND4C_OP_sigmoid,   ND4C_OP_gelu,       ND4C_OP_sin,         ND4C_OP_cos,        ND4C_OP_floor,
    ND4C_OP_round,     ND4C_OP_reciprocal, ND4C_OP_leaky_relu,  ND4C_OP_elu,        ND4C_OP_selu,
    ND4C_OP_celu,      ND4C_OP_softplus,   ND4C_OP_softsign,    ND4C_OP_mish,       ND4C_OP_swish,
    ND4C_OP_threshold, ND4C_OP_ceil,       ND4C_OP_log_sigmoid, ND4C_OP_hard_swish, ND4C_OP_hard_sigmoid};
static const nd4c_op any_binary[] = {ND4C_OP_add,     ND4C_OP_subtract, ND4C_OP_multiply, ND4C_OP_divide,
                                     ND4C_OP_maximum, ND4C_OP_minimum,  ND4C_OP_multiply, ND4C_OP_add};
static const nd4c_op comparisons[] = {ND4C_OP_equal,      ND4C_OP_not_equal, ND4C_OP_less,
                                      ND4C_OP_less_equal, ND4C_OP_greater,   ND4C_OP_greater_equal};

/* What AVX-512 computes in registers. */
static const nd4c_op plain_unary[] = {ND4C_OP_negative, ND4C_OP_abs,  ND4C_OP_square, ND4C_OP_relu, ND4C_OP_reciprocal,
                                      ND4C_OP_exp,      ND4C_OP_log,  ND4C_OP_tanh,   ND4C_OP_sqrt, ND4C_OP_sigmoid,
                                      ND4C_OP_erf,      ND4C_OP_gelu, ND4C_OP_tanh};

typedef struct maker {
  nd4c_graph *graph;
  bool plain; /* only ops and operands that can stay in registers */
  uint64_t random;
  nd4c_dtype dtype;
  int64_t shape[4];
  nd4c_value values[MOST_VALUES]; /* of the dtype and the whole shape */
  int32_t count;
  nd4c_value smaller[FORMS]; /* of the dtype, which broadcast to the shape */
  nd4c_array *inputs[1 + FORMS];
} maker;

/* Small numbers, among them those that formulas treat apart. Integers are not 0, because they divide. */
static nd4c_array *make_numbers(maker *work, int32_t rank, const int64_t *shape) {
  static const float special[] = {0.0F, -0.0F, INFINITY, -INFINITY, NAN, 1e-40F, 3e38F, -100.0F};
  const bool whole = work->dtype == ND4C_INT32 || work->dtype == ND4C_INT64;
  nd4c_array *numbers = check_array(ND4C_FLOAT32, rank, shape, check_random(&work->random), whole ? 1 : -3, 9),
             *cast = NULL;
  void *data = NULL;
  CHECK_OK(nd4c_array_data_mutable(numbers, &data));
  for (int64_t i = 0; i < nd4c_array_size(numbers) && !whole; i += 1 + pick(&work->random, 400)) {
    ((float *)data)[i] = special[pick(&work->random, 8)];
  }
  CHECK_OK(nd4c_cast(numbers, work->dtype, &cast));
  nd4c_array_release(numbers);
  return cast;
}

static nd4c_value add_input(maker *work, int32_t number, int32_t rank, const int64_t *shape) {
  char name[16];
  nd4c_value value = ND4C_VALUE_NONE;
  (void)snprintf(name, sizeof name, "x%d", number);
  CHECK_OK(nd4c_graph_input(work->graph, name, work->dtype, rank, shape, &value));
  work->inputs[number] = make_numbers(work, rank, shape);
  return value;
}

/* Operands in C order, transposed, repeated along leading, inner or trailing axes, of one element. */
static void make_operands(maker *work) {
  const int64_t *s = work->shape;
  const int64_t turned[4] = {s[3], s[2], s[1], s[0]};
  work->values[0] = add_input(work, 0, 4, s);
  work->count = 1;
  work->smaller[0] = add_input(work, 1, 1, &s[3]);
  work->smaller[1] = add_input(work, 2, 3, (const int64_t[]){s[1], 1, 1});
  work->smaller[2] = add_input(work, 3, 0, NULL);
  work->smaller[3] = add_input(work, 4, 4, (const int64_t[]){s[0], 1, s[2], 1});
  const nd4c_value backwards = add_input(work, 5, 4, turned);
  work->smaller[4] = check_op(work->graph, ND4C_OP_transpose, &backwards, 1, NULL, 0);
  work->smaller[5] = add_input(work, 6, 2, (const int64_t[]){s[2], s[3]});
}

static nd4c_value any_value(maker *work) {
  return work->values[pick(&work->random, work->count)];
}

static nd4c_value any_operand(maker *work) {
  if (work->plain) {
    return pick(&work->random, 3) == 0 ? work->smaller[2] : any_value(work);
  }
  return pick(&work->random, 3) == 0 ? work->smaller[pick(&work->random, FORMS)] : any_value(work);
}

static nd4c_value add_cast(maker *work, nd4c_value x, nd4c_dtype dtype) {
  const nd4c_attr attr = {.name = "dtype", .value = {.kind = ND4C_ATTR_DTYPE, .as.i = dtype}};
  return check_op(work->graph, ND4C_OP_cast, &x, 1, &attr, 1);
}

static nd4c_value add_where(maker *work) {
  const nd4c_op op = comparisons[pick(&work->random, 6)];
  nd4c_value condition = check_binary(work->graph, op, any_value(work), any_operand(work));
  if (pick(&work->random, 2) == 0) {
    condition = check_binary(work->graph, ND4C_OP_logical_xor, condition,
                             check_binary(work->graph, op, any_operand(work), any_value(work)));
  }
  return check_op(work->graph, ND4C_OP_where, (nd4c_value[]){condition, any_operand(work), any_operand(work)}, 3, NULL,
                  0);
}

static nd4c_value add_node(maker *work) {
  const bool real = work->dtype != ND4C_INT32 && work->dtype != ND4C_INT64;
  const int32_t kind = pick(&work->random, 16);
  if (work->plain && kind < 8) {
    return check_unary(work->graph, plain_unary[pick(&work->random, sizeof plain_unary / sizeof *plain_unary)],
                       any_value(work));
  }
  if (kind < 4 && real) {
    return check_unary(work->graph, float_unary[pick(&work->random, sizeof float_unary / sizeof *float_unary)],
                       any_value(work));
  }
  if (kind < 5) {
    return check_unary(work->graph, any_unary[pick(&work->random, 5)], any_value(work));
  }
  if (kind == 5) {
    return add_where(work);
  }
  if (kind == 6) {
    return check_op(work->graph, ND4C_OP_clip, (nd4c_value[]){any_value(work), work->smaller[2], ND4C_VALUE_NONE}, 3,
                    NULL, 0);
  }
  if (kind == 7) {
    return add_cast(work, add_cast(work, any_value(work), ND4C_FLOAT64), work->dtype);
  }
  const nd4c_op op = any_binary[pick(&work->random, real ? 8 : 3)]; /* a sum of integers may be 0: no division */
  const nd4c_value a = any_operand(work), b = any_value(work);
  return pick(&work->random, 2) == 0 ? check_binary(work->graph, op, a, b) : check_binary(work->graph, op, b, a);
}

static void make_chain(maker *work) {
  static const int64_t extents[] = {1, 2, 3, 4, 7, 16, 33};
  const int32_t size = pick(&work->random, 8), nodes = 2 + pick(&work->random, size == 0 ? 70 : 16);
  for (int32_t i = 0; i < 4; i++) {
    work->shape[i] = extents[pick(&work->random, 7)];
  }
  work->shape[3] *= size > 3 ? 40 : 1;
  work->shape[0] = work->shape[1] * work->shape[2] * work->shape[3] > 20000 ? 1 : work->shape[0];
  work->shape[1] = work->shape[2] * work->shape[3] > 2000 ? 2 : work->shape[1];
  work->shape[pick(&work->random, 4)] *= size == 1 ? 0 : 1;
  make_operands(work);
  for (int32_t i = 0; i < nodes; i++) {
    const nd4c_value value = add_node(work);
    const nd4c_graph_value *info = &work->graph->values[value];
    if (info->rank == 4 && memcmp(info->shape, work->shape, sizeof work->shape) == 0 && info->dtype == work->dtype &&
        work->count < MOST_VALUES) {
      work->values[work->count++] = value;
    }
  }
  for (int32_t i = 0; i < 1 + pick(&work->random, OUTPUTS); i++) {
    char name[16];
    (void)snprintf(name, sizeof name, "y%d", i);
    CHECK_OK(nd4c_graph_output(work->graph, name, i == 0 ? work->values[work->count - 1] : any_value(work)));
  }
}

static int32_t count_chains(const nd4c_plan *plan) {
  int32_t count = 0;
  for (int32_t i = 0; i < plan->segment_count; i++) {
    count += strcmp(plan->segments[i].compiler->engine, "tile") == 0;
  }
  return count;
}

/* Whether the element is NaN. */
static bool is_nan(nd4c_dtype dtype, const unsigned char *element) {
  double wide = 0;
  float single = 0;
  uint16_t half = 0;
  switch (dtype) {
    case ND4C_FLOAT64:
      memcpy(&wide, element, sizeof wide);
      return isnan(wide);
    case ND4C_FLOAT32:
      memcpy(&single, element, sizeof single);
      return isnan(single);
    case ND4C_FLOAT16:
    case ND4C_BFLOAT16:
      memcpy(&half, element, sizeof half);
      return (half & 0x7fff) > (dtype == ND4C_FLOAT16 ? 0x7c00 : 0x7f80);
    default:
      return false;
  }
}

/* Whether byte `i` belongs to two NaN: of two NaN operands, either may be the result. */
static bool are_nan(nd4c_dtype dtype, const unsigned char *left, const unsigned char *right, size_t i) {
  const size_t size = (size_t)nd4c_dtype_size(dtype), at = i / size * size;
  return is_nan(dtype, left + at) && is_nan(dtype, right + at);
}

static void check_bits(const nd4c_array *expected, const nd4c_array *actual) {
  const size_t bytes = (size_t)(nd4c_array_size(expected) * nd4c_dtype_size(nd4c_array_dtype(expected)));
  unsigned char *left = malloc(bytes + 1), *right = malloc(bytes + 1);
  CHECK_OK(nd4c_array_read(expected, left, bytes));
  CHECK_OK(nd4c_array_read(actual, right, bytes));
  for (size_t i = 0; i < bytes; i++) {
    if (left[i] != right[i] && !are_nan(nd4c_array_dtype(expected), left, right, i)) {
      fail_msg("ND4C_TEST_SEED=%llu: byte %zu of %zu differs from that of eager calls", (unsigned long long)check_seed,
               i, bytes);
    }
  }
  free(left);
  free(right);
}

static int32_t check_plan_of(maker *work, nd4c_context *context, nd4c_array *const *expected) {
  const nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = true};
  const int32_t outputs = work->graph->outputs.count;
  nd4c_plan *plan = NULL;
  nd4c_array *results[OUTPUTS + 1] = {NULL};
  CHECK_OK(nd4c_plan_create(work->graph, context, &options, &plan));
  for (int run = 0; run < 2; run++) {
    CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *const *)work->inputs, 1 + FORMS, results, outputs));
    for (int32_t i = 0; i < outputs; i++) {
      check_bits(expected[i], results[i]);
    }
  }
  const int32_t chains = count_chains(plan);
  check_release(results, outputs);
  nd4c_plan_destroy(plan);
  return chains;
}

static void chains_give_the_bits_of_eager_calls(void **state) {
  (void)state;
  const char *only = getenv("ND4C_TEST_SEED");
  nd4c_context *contexts[2] = {NULL, NULL};
  int32_t chains = 0;
  for (int i = 0; i < 2; i++) {
    const nd4c_context_options options = {.struct_size = sizeof options, .width = i + 1, .deterministic = i == 1};
    CHECK_OK(nd4c_context_create(&options, &contexts[i]));
  }
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    if (only != NULL && strtoull(only, NULL, 10) != seed) {
      continue;
    }
    nd4c_array *expected[OUTPUTS + 1] = {NULL};
    maker work = {.random = seed * 1000003, .dtype = dtypes[seed % 8], .plain = seed % 8 == 1 || seed % 8 == 2};
    check_seed = seed;
    CHECK_OK(nd4c_graph_create(&work.graph));
    make_chain(&work);
    check_evaluate(work.graph, work.inputs, expected);
    chains += check_plan_of(&work, contexts[seed % 2], expected);
    check_release(expected, OUTPUTS + 1);
    check_release(work.inputs, 1 + FORMS);
    nd4c_graph_destroy(work.graph);
  }
  assert_true(only != NULL || chains > SEEDS / 4);
  for (int i = 0; i < 2; i++) {
    CHECK_OK(nd4c_context_destroy(contexts[i]));
  }
}

/* -- what is taken --------------------------------------------------------------------------------------------------
 */

/* tanh(x * y + y) of this many elements. */
static nd4c_plan *make_plan(int64_t count, nd4c_value (*end)(nd4c_graph *, nd4c_value)) {
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_value x = check_input(graph, "x", 1, &count), y = check_input(graph, "y", 1, &count);
  nd4c_value z = check_binary(graph, ND4C_OP_add, check_binary(graph, ND4C_OP_multiply, x, y), y);
  z = check_unary(graph, ND4C_OP_tanh, z);
  CHECK_OK(nd4c_graph_output(graph, "z", end == NULL ? z : end(graph, z)));
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  nd4c_graph_destroy(graph);
  return plan;
}

static void assert_report(const nd4c_plan *plan, const char *words) {
  char *text = NULL;
  CHECK_OK(nd4c_plan_report(plan, &text));
  if (strstr(text, words) == NULL) {
    (void)fprintf(stderr, "no \"%s\" in:\n%s", words, text);
    fail();
  }
  nd4c_free(text);
}

static void large_chains_are_one_step(void **state) {
  (void)state;
  nd4c_plan *plan = make_plan(100000, NULL);
  assert_int_equal(count_chains(plan), 1);
  assert_int_equal(plan->step_count, 1);
  assert_report(plan, "segment of 3 nodes, compiled by tile (about ");
  assert_report(plan, " ns, 1200000 bytes read and written): multiply add tanh float32(100000,) float32(100000,) -> ");
  assert_int_equal(plan->arena_bytes, plan->scratch_bytes); /* no intermediate result has memory */
  nd4c_plan_destroy(plan);
}

static void small_chains_are_left_to_kernels(void **state) {
  (void)state;
  nd4c_plan *plan = make_plan(8, NULL);
  assert_int_equal(count_chains(plan), 0);
  assert_int_equal(plan->step_count, 3);
  assert_report(plan, "node 0 (multiply) and 2 other nodes: declined by tile: too few elements");
  nd4c_plan_destroy(plan);
}

static void rules_of_engines_turn_it_off(void **state) {
  (void)state;
  static const char *const rules[][2] = {{"SD_KERNEL_DISABLE_ENGINES", "tile"}, {"SD_KERNEL_FORCE_ENGINE", "simd"}};
  for (int i = 0; i < 2; i++) {
    CHECK_OK(nd4c_config_set(rules[i][0], rules[i][1]));
    nd4c_plan *plan = make_plan(100000, NULL);
    CHECK_OK(nd4c_config_set(rules[i][0], NULL));
    assert_int_equal(count_chains(plan), 0);
    assert_int_equal(plan->step_count, 3);
    nd4c_plan_destroy(plan);
  }
}

/* z - (the sum of z): the sum ends the chain, and a path leaves through it, so the difference is a chain of its own. */
static nd4c_value add_loop(nd4c_graph *graph, nd4c_value z) {
  const nd4c_value sum = check_unary(graph, ND4C_OP_sum, z);
  return check_unary(graph, ND4C_OP_relu, check_binary(graph, ND4C_OP_subtract, z, sum));
}

static void a_path_never_enters_a_chain_again(void **state) {
  (void)state;
  nd4c_plan *plan = make_plan(100000, add_loop);
  assert_int_equal(count_chains(plan), 2);
  assert_int_equal(plan->step_count, 2);
  nd4c_plan_destroy(plan);
}

/* A part of a constant, from its third number on, as a value of the shape (8, 1, 1). */
static nd4c_value part_of_constant(nd4c_graph *graph, uint64_t seed) {
  const int64_t all = 12, start = 3, stop = 11, shape[] = {8, 1, 1};
  const nd4c_value numbers = check_constant(graph, 1, &all, seed, -2, 2);
  const nd4c_attr range[] = {check_ints("starts", &start, 1), check_ints("stops", &stop, 1)};
  const nd4c_value part = check_op(graph, ND4C_OP_slice, &numbers, 1, range, 2);
  const nd4c_attr form = check_ints("shape", shape, 3);
  return check_op(graph, ND4C_OP_reshape, &part, 1, &form, 1);
}

/* The graph's only chain gives the bits of eager calls. Destroys the graph. */
static void check_one_chain(nd4c_graph *graph) {
  const nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = true};
  nd4c_plan *plan = NULL;
  nd4c_array *expected = NULL, *result = NULL, *inputs[CHECK_PORTS] = {NULL};
  check_make_inputs(graph, 1, inputs);
  check_evaluate(graph, inputs, &expected);
  CHECK_OK(nd4c_plan_create(graph, NULL, &options, &plan));
  assert_int_equal(count_chains(plan), 1);
  CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *const *)inputs, graph->inputs.count, &result, 1));
  check_bits(expected, result);
  check_release(&expected, 1);
  check_release(&result, 1);
  check_release(inputs, graph->inputs.count);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void operands_may_be_views_of_constants(void **state) {
  (void)state;
  const int64_t shape[] = {2, 8, 64, 64};
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value y = check_input(graph, "x", 4, shape);
  y = check_binary(graph, ND4C_OP_multiply, y, part_of_constant(graph, 2));
  y = check_binary(graph, ND4C_OP_add, y, part_of_constant(graph, 3));
  CHECK_OK(nd4c_graph_output(graph, "y", check_unary(graph, ND4C_OP_tanh, y)));
  check_one_chain(graph);
}

/* A view that repeats a number, and a number: the loops that take a repeated operand take one of them. */
static void both_operands_may_repeat_one_number(void **state) {
  (void)state;
  const int64_t shape[] = {17, 17, 64};
  for (int32_t first = 0; first < 2; first++) {
    nd4c_graph *graph = NULL;
    CHECK_OK(nd4c_graph_create(&graph));
    const nd4c_value number = check_input(graph, "a", 0, NULL), repeated = check_input(graph, "b", 0, NULL);
    const nd4c_attr whole = check_ints("shape", shape, 3);
    const nd4c_value view = check_op(graph, ND4C_OP_broadcast_to, &repeated, 1, &whole, 1);
    const nd4c_value sum =
        check_binary(graph, ND4C_OP_subtract, first == 0 ? number : view, first == 0 ? view : number);
    const nd4c_value y = check_binary(graph, ND4C_OP_multiply, sum, check_input(graph, "c", 3, shape));
    CHECK_OK(nd4c_graph_output(graph, "y", check_unary(graph, ND4C_OP_tanh, y)));
    check_one_chain(graph);
  }
}

/* -- failures -------------------------------------------------------------------------------------------------------
 */

static bool plan_and_run(const nd4c_graph *graph, nd4c_array *const *inputs) {
  nd4c_plan *plan = NULL;
  nd4c_array *result = NULL;
  const bool good = nd4c_plan_create(graph, NULL, NULL, &plan) == ND4C_OK &&
                    nd4c_plan_run(plan, (const nd4c_array *const *)inputs, 2, &result, 1) == ND4C_OK;
  nd4c_array_release(result);
  nd4c_plan_destroy(plan);
  return good;
}

static void memory_may_run_out(void **state) {
  (void)state;
  const int64_t shape[] = {1200, 3}, row[] = {3};
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x = check_input(graph, "x", 2, shape), y = check_input(graph, "y", 1, row);
  for (int i = 0; i < 6; i++) {
    x = check_unary(graph, ND4C_OP_sigmoid, check_binary(graph, ND4C_OP_add, x, y));
  }
  CHECK_OK(nd4c_graph_output(graph, "z", x));
  nd4c_array *inputs[2] = {check_array(ND4C_FLOAT32, 2, shape, 1, -1, 1), check_array(ND4C_FLOAT32, 1, row, 2, -1, 1)};
  assert_true(plan_and_run(graph, inputs));
  int32_t failures = 0, skip = 0;
  for (bool good = false; !good && skip < 5000; skip++) {
    nd4c_error_clear();
    nd4c_allocation_fail_at(skip);
    good = plan_and_run(graph, inputs);
    nd4c_allocation_fail_at(-1);
    failures += !good;
    if (!good && nd4c_error_code() != ND4C_MEMORY) {
      fail_msg("allocation %d: %s", skip, nd4c_error_message());
    }
  }
  assert_in_range(failures, 5, 4999);
  check_release(inputs, 2);
  nd4c_graph_destroy(graph);
}

static void warm_runs_allocate_nothing(void **state) {
  (void)state;
  const int64_t count = 100000;
  nd4c_plan *plan = make_plan(count, NULL);
  nd4c_array *inputs[2] = {check_array(ND4C_FLOAT32, 1, &count, 1, -1, 1),
                           check_array(ND4C_FLOAT32, 1, &count, 2, -1, 1)},
             *result = NULL;
  int64_t before = 0;
  for (int run = 0; run < 6; run++) {
    before = run == 3 ? nd4c_allocation_count() : before;
    CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *const *)inputs, 2, &result, 1));
  }
  assert_int_equal(nd4c_allocation_count(), before);
  nd4c_array_release(result);
  check_release(inputs, 2);
  nd4c_plan_destroy(plan);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chains_give_the_bits_of_eager_calls), cmocka_unit_test(large_chains_are_one_step),
      cmocka_unit_test(small_chains_are_left_to_kernels),    cmocka_unit_test(rules_of_engines_turn_it_off),
      cmocka_unit_test(a_path_never_enters_a_chain_again),   cmocka_unit_test(memory_may_run_out),
      cmocka_unit_test(warm_runs_allocate_nothing),          cmocka_unit_test(operands_may_be_views_of_constants),
      cmocka_unit_test(both_operands_may_repeat_one_number)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
