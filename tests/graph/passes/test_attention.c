/* The pass attention: fires on every spelling of softmax(scale q k^T + mask) v, keeps what only looks like one, and
 * never changes a result. The pass attention_cache does not, either. */
#include <float.h>

#include "graph/graph_check.h"

enum { BATCH = 2, HEADS = 3, QUERIES = 5, KEYS = 7, HEAD = 4, V_HEAD = 6 };

typedef enum scaling { UNSCALED, TIMES, TIMES_LEFT, OVER, BOTH_OPERANDS, ZERO, LATE, CAPPED, UNEVEN, BELOW } scaling;
typedef enum masking { BARE, ADDED, ADDED_LEFT, CHOSEN, LEFT_OUT, LOW, FINITE, WIDER } masking;

typedef struct spelling {
  const char *name;
  int32_t rank;
  scaling scaling;
  masking masking;
  int64_t axis; /* of softmax */
  int64_t kv_heads;
  int32_t changes;
} spelling;

static const spelling spellings[] = {
    {"no scale", 4, UNSCALED, BARE, -1, HEADS, 1},
    {"scores times a number", 4, TIMES, BARE, 3, HEADS, 1},
    {"a number times scores", 4, TIMES_LEFT, BARE, -1, HEADS, 1},
    {"scores divided", 4, OVER, BARE, -1, HEADS, 1},
    {"q and k scaled", 4, BOTH_OPERANDS, BARE, -1, HEADS, 1},
    {"a mask added", 4, TIMES, ADDED, -1, HEADS, 1},
    {"scores added to a mask", 4, OVER, ADDED_LEFT, -1, HEADS, 1},
    {"scores chosen by a condition", 4, TIMES, CHOSEN, -1, HEADS, 1},
    {"scores left out by a condition", 4, BOTH_OPERANDS, LEFT_OUT, -1, HEADS, 1},
    {"one head of k and v", 4, TIMES, ADDED, -1, 1, 1},
    {"three axes", 3, TIMES, ADDED, -1, HEADS, 1},
    {"two axes", 2, OVER, LEFT_OUT, -1, HEADS, 1},
    {"scores capped", 4, CAPPED, BARE, -1, HEADS, 1},
    {"scores capped before a mask", 4, CAPPED, ADDED, -1, HEADS, 1},
    {"scores capped, the scale in the quotient", 3, UNEVEN, LEFT_OUT, -1, HEADS, 1},
    {"a cap below 0", 4, BELOW, BARE, -1, HEADS, 0},
    {"scale 0", 4, ZERO, BARE, -1, HEADS, 0},
    {"a scale after the mask", 4, LATE, ADDED, -1, HEADS, 0},
    {"scores replaced by the lowest number", 4, TIMES, LOW, -1, HEADS, 1},
    {"scores replaced by a finite number", 4, TIMES, FINITE, -1, HEADS, 0},
    {"a mask that widens the scores", 4, TIMES, WIDER, -1, HEADS, 0},
    {"softmax of another axis", 4, TIMES, BARE, 2, HEADS, 0},
};

/* The last `rank` of four extents. */
static nd4c_value operand(nd4c_graph *graph, const char *name, int32_t rank, int64_t heads, int64_t rows,
                          int64_t columns) {
  const int64_t shape[] = {BATCH, heads, rows, columns};
  return check_input(graph, name, rank, shape + 4 - rank);
}

static nd4c_value transposed(nd4c_graph *graph, nd4c_value x) {
  nd4c_attr attrs[] = {check_int("axis1", -1), check_int("axis2", -2)};
  return check_op(graph, ND4C_OP_swapaxes, &x, 1, attrs, 2);
}

static nd4c_value scaled(nd4c_graph *graph, nd4c_value x, double factor) {
  return check_binary(graph, ND4C_OP_multiply, x, check_scalar(graph, factor));
}

/* cap tanh(scores factor) */
static nd4c_value capped(nd4c_graph *graph, nd4c_value scores, double factor, double cap) {
  return scaled(graph, check_unary(graph, ND4C_OP_tanh, scaled(graph, scores, factor)), cap);
}

static nd4c_value scores_of(nd4c_graph *graph, const spelling *s, nd4c_value q, nd4c_value keys) {
  bool both = s->scaling == BOTH_OPERANDS;
  nd4c_value scores =
      check_binary(graph, ND4C_OP_matmul, both ? scaled(graph, q, 0.7) : q, both ? scaled(graph, keys, 0.7) : keys);
  switch (s->scaling) {
    case TIMES:
      return scaled(graph, scores, 0.5);
    case TIMES_LEFT:
      return check_binary(graph, ND4C_OP_multiply, check_scalar(graph, 0.4), scores);
    case OVER:
      return check_binary(graph, ND4C_OP_divide, scores, check_scalar(graph, 1.7));
    case ZERO:
      return scaled(graph, scores, 0);
    case CAPPED:
      return capped(graph, scaled(graph, scores, 0.5), 1 / 0.7, 0.7);
    case UNEVEN:
      return capped(graph, scores, 0.9, 1.3);
    case BELOW:
      return capped(graph, scores, -0.9, -1.3);
    default:
      return scores;
  }
}

/* True where a random number is above 0. */
static nd4c_value condition(nd4c_graph *graph) {
  nd4c_value numbers = check_constant(graph, 2, (int64_t[]){QUERIES, KEYS}, 8, -1, 2);
  return check_binary(graph, ND4C_OP_greater, numbers, check_scalar(graph, 0));
}

static nd4c_value masked(nd4c_graph *graph, const spelling *s, nd4c_value scores) {
  nd4c_value mask, lowest;
  switch (s->masking) {
    case ADDED:
    case ADDED_LEFT:
      mask = check_input(graph, "mask", 2, (int64_t[]){QUERIES, KEYS});
      return check_binary(graph, ND4C_OP_add, s->masking == ADDED ? scores : mask, s->masking == ADDED ? mask : scores);
    case WIDER:
      mask = check_input(graph, "mask", 5, (int64_t[]){2, 1, 1, 1, KEYS});
      return check_binary(graph, ND4C_OP_add, scores, mask);
    case CHOSEN:
    case LOW:
    case FINITE:
    case LEFT_OUT:
      lowest = check_scalar(graph, s->masking == FINITE ? -100 : s->masking == LOW ? -FLT_MAX : -(double)INFINITY);
      return s->masking == LEFT_OUT
                 ? check_op(graph, ND4C_OP_where, (nd4c_value[]){condition(graph), lowest, scores}, 3, NULL, 0)
                 : check_op(graph, ND4C_OP_where, (nd4c_value[]){condition(graph), scores, lowest}, 3, NULL, 0);
    default:
      return scores;
  }
}

/* Builds a spelling; gives the shares, too. */
static nd4c_value build(nd4c_graph *graph, const spelling *s, nd4c_value *shares) {
  nd4c_value q = operand(graph, "q", s->rank, HEADS, QUERIES, HEAD);
  nd4c_value k = operand(graph, "k", s->rank, s->kv_heads, KEYS, HEAD);
  nd4c_value v = operand(graph, "v", s->rank, s->kv_heads, KEYS, V_HEAD);
  nd4c_value scores = masked(graph, s, scores_of(graph, s, q, transposed(graph, k)));
  if (s->scaling == LATE) {
    scores = scaled(graph, scores, 0.5);
  }
  nd4c_attr axis = check_int("axis", s->axis);
  *shares = check_op(graph, ND4C_OP_softmax, &scores, 1, &axis, 1);
  return check_binary(graph, ND4C_OP_matmul, *shares, v);
}

static int32_t changes_of(const nd4c_plan *plan) {
  return check_changes(plan, "attention");
}

static void check_spelling(const spelling *s, bool shares_are_read) {
  nd4c_graph *graph = NULL;
  nd4c_value shares;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_output(graph, "y", build(graph, s, &shares)));
  if (shares_are_read) {
    CHECK_OK(nd4c_graph_output(graph, "shares", shares));
  }
  nd4c_plan *plan = check_graph(graph, 5, 1e-5);
  int32_t expected = shares_are_read ? 0 : s->changes;
  if (changes_of(plan) != expected || check_has_step(plan, ND4C_OP_attention) != (expected != 0) ||
      check_has_step(plan, ND4C_OP_softmax) != (expected == 0)) {
    fail_msg("%s: %d changes, expected %d", s->name, (int)changes_of(plan), (int)expected);
  }
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void spellings_become_attention(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
    check_spelling(&spellings[i], false);
    check_spelling(&spellings[i], true);
  }
}

static nd4c_value split(nd4c_graph *graph, nd4c_value x, int64_t places) {
  int64_t shape[] = {BATCH, places, HEADS, HEAD}, order[] = {0, 2, 1, 3};
  nd4c_attr sizes = check_ints("shape", shape, 4), axes = check_ints("axes", order, 4);
  x = check_op(graph, ND4C_OP_reshape, &x, 1, &sizes, 1);
  return check_op(graph, ND4C_OP_transpose, &x, 1, &axes, 1);
}

/* Heads are views of q, k and v, and of the result. A factor in front of the views goes into the scale. */
static void heads_are_not_copied(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value x[3];
  for (int32_t i = 0; i < 3; i++) {
    int64_t places = i == 0 ? QUERIES : KEYS;
    x[i] = split(
        graph,
        check_input(graph, (const char *[]){"q", "k", "v"}[i], 3, (int64_t[]){BATCH, places, (int64_t)HEADS * HEAD}),
        places);
  }
  nd4c_value scores = check_binary(graph, ND4C_OP_matmul, x[0], transposed(graph, x[1]));
  nd4c_attr axis = check_int("axis", -1);
  nd4c_value shares = check_op(graph, ND4C_OP_softmax, &scores, 1, &axis, 1);
  nd4c_value y = check_binary(graph, ND4C_OP_matmul, shares, x[2]);
  int64_t order[] = {0, 2, 1, 3}, shape[] = {BATCH, QUERIES, (int64_t)HEADS * HEAD};
  nd4c_attr axes = check_ints("axes", order, 4), sizes = check_ints("shape", shape, 3);
  y = check_op(graph, ND4C_OP_transpose, &y, 1, &axes, 1);
  y = check_op(graph, ND4C_OP_reshape, &y, 1, &sizes, 1);
  CHECK_OK(nd4c_graph_output(graph, "y", check_unary(graph, ND4C_OP_negative, y)));
  nd4c_plan *plan = check_graph(graph, 9, 1e-5);
  int32_t run = 0;
  for (int32_t i = 0; i < plan->step_count; i++) {
    run += plan->steps[i].choice != NULL;
  }
  assert_int_equal(run, 2); /* attention and the change of sign */
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* Factors on both sides of the views of q and k, whose product something else reads, too: another attention, or an
 * output. */
static void factors_that_others_read_stay(void **state) {
  (void)state;
  const nd4c_attr axis = check_int("axis", -1);
  for (int32_t variant = 0; variant < 2; variant++) {
    nd4c_graph *graph = NULL;
    CHECK_OK(nd4c_graph_create(&graph));
    const nd4c_value k = scaled(graph, operand(graph, "k", 4, HEADS, KEYS, HEAD), 3);
    const nd4c_value keys = scaled(graph, transposed(graph, k), 0.25);
    const nd4c_value v = operand(graph, "v", 4, HEADS, KEYS, V_HEAD);
    const nd4c_value flat = check_input(graph, "q", 3, (int64_t[]){BATCH, QUERIES, (int64_t)HEADS * HEAD});
    nd4c_value q = scaled(graph, split(graph, scaled(graph, flat, 3), QUERIES), 0.5);
    for (int32_t i = 0; i < 2 - variant; i++) {
      nd4c_value scores = check_binary(graph, ND4C_OP_matmul, q, keys);
      scores = check_op(graph, ND4C_OP_softmax, &scores, 1, &axis, 1);
      CHECK_OK(nd4c_graph_output(graph, i == 0 ? "y" : "z", check_binary(graph, ND4C_OP_matmul, scores, v)));
      if (variant == 1) {
        CHECK_OK(nd4c_graph_output(graph, "q read", check_unary(graph, ND4C_OP_exp, q)));
        CHECK_OK(nd4c_graph_output(graph, "k read", check_unary(graph, ND4C_OP_exp, keys)));
      }
      q = i == 0 && variant == 0 ? operand(graph, "other q", 4, HEADS, QUERIES, HEAD) : q;
    }
    nd4c_plan *plan = check_graph(graph, 21, 1e-5);
    assert_int_equal(changes_of(plan), 2 - variant);
    nd4c_plan_destroy(plan);
    nd4c_graph_destroy(graph);
  }
}

enum { GROUP = 2 }; /* heads of q for one of k and v */

/* How exporters repeat heads; ANOTHER only looks like it. */
typedef enum repetition { BROADCAST, TILED, CONCATENATED, ANOTHER, REPETITIONS } repetition;

static nd4c_value widened(nd4c_graph *graph, repetition how, nd4c_value x, const nd4c_attr *wide) {
  const nd4c_attr repeats = check_ints("repeats", (int64_t[]){1, 1, GROUP, 1, 1}, 5), axis = check_int("axis", 2);
  switch (how) {
    case BROADCAST:
      return check_op(graph, ND4C_OP_broadcast_to, &x, 1, wide, 1);
    case TILED:
      return check_op(graph, ND4C_OP_tile, &x, 1, &repeats, 1);
    default:
      return check_op(graph, ND4C_OP_concat,
                      (nd4c_value[]){x, how == ANOTHER ? check_unary(graph, ND4C_OP_negative, x) : x}, GROUP, &axis, 1);
  }
}

/* k or v with each head GROUP times, as exporters repeat them. */
static nd4c_value repeated(nd4c_graph *graph, repetition how, nd4c_value x, int64_t places, int64_t features) {
  int64_t apart[] = {BATCH, HEADS, 1, places, features}, wide[] = {BATCH, HEADS, GROUP, places, features};
  int64_t joined[] = {BATCH, (int64_t)HEADS * GROUP, places, features};
  nd4c_attr shapes[] = {check_ints("shape", apart, 5), check_ints("shape", wide, 5), check_ints("shape", joined, 4)};
  x = check_op(graph, ND4C_OP_reshape, &x, 1, &shapes[0], 1);
  x = widened(graph, how, x, &shapes[1]);
  return check_op(graph, ND4C_OP_reshape, &x, 1, &shapes[2], 1);
}

static nd4c_value attend(nd4c_graph *graph, nd4c_value q, nd4c_value k, nd4c_value v, nd4c_value mask) {
  const int64_t order[] = {0, 1, 3, 2};
  const nd4c_attr axes = check_ints("axes", order, 4), axis = check_int("axis", -1);
  const nd4c_value keys = check_op(graph, ND4C_OP_transpose, &k, 1, &axes, 1);
  nd4c_value scores = scaled(graph, check_binary(graph, ND4C_OP_matmul, q, keys), 0.5);
  scores = mask < 0 ? scores : check_binary(graph, ND4C_OP_add, scores, mask);
  return check_binary(graph, ND4C_OP_matmul, check_op(graph, ND4C_OP_softmax, &scores, 1, &axis, 1), v);
}

/* The repetitions are not computed: attention shares heads of k and v. */
static void shared_heads_are_not_repeated(void **state) {
  (void)state;
  for (repetition how = BROADCAST; how < REPETITIONS; how++) {
    nd4c_graph *graph = NULL;
    CHECK_OK(nd4c_graph_create(&graph));
    const nd4c_value q = operand(graph, "q", 4, (int64_t)GROUP * HEADS, QUERIES, HEAD);
    const nd4c_value k = repeated(graph, how, operand(graph, "k", 4, HEADS, KEYS, HEAD), KEYS, HEAD);
    const nd4c_value v = repeated(graph, how, operand(graph, "v", 4, HEADS, KEYS, V_HEAD), KEYS, V_HEAD);
    CHECK_OK(nd4c_graph_output(graph, "y", attend(graph, q, k, v, ND4C_VALUE_NONE)));
    nd4c_plan *plan = check_graph(graph, 11, 1e-5);
    assert_int_equal(changes_of(plan), 1);
    assert_int_equal(plan->step_count == 1, how != ANOTHER);
    nd4c_plan_destroy(plan);
    nd4c_graph_destroy(graph);
  }
}

/* x cos + rotate_half(x) sin, of all features or of the first half of them. */
static nd4c_value rotated(nd4c_graph *graph, nd4c_value x, int64_t places, bool partial) {
  const int64_t turned = partial ? HEAD / 2 : HEAD, last[] = {-1};
  nd4c_value parts[3];
  for (int32_t i = 0; i < 3; i++) {
    const int64_t starts[] = {i * turned / 2}, stops[] = {i == 2 ? HEAD : (i + 1) * turned / 2};
    const nd4c_attr cut[] = {check_ints("starts", starts, 1), check_ints("stops", stops, 1),
                             check_ints("axes", last, 1)};
    parts[i] = i < 2 || partial ? check_op(graph, ND4C_OP_slice, &x, 1, cut, 3) : ND4C_VALUE_NONE;
  }
  const nd4c_attr axis = check_int("axis", -1);
  const nd4c_value halves[] = {check_unary(graph, ND4C_OP_negative, parts[1]), parts[0]};
  const nd4c_value half = check_op(graph, ND4C_OP_concat, halves, 2, &axis, 1);
  const nd4c_value whole = partial ? check_op(graph, ND4C_OP_concat, parts, 2, &axis, 1) : x;
  const int64_t shape[] = {places, turned};
  const nd4c_value cosine = check_constant(graph, 2, shape, 5, -1, 1), sine = check_constant(graph, 2, shape, 6, -1, 1);
  const nd4c_value sum = check_binary(graph, ND4C_OP_add, check_binary(graph, ND4C_OP_multiply, whole, cosine),
                                      check_binary(graph, ND4C_OP_multiply, half, sine));
  return partial ? check_op(graph, ND4C_OP_concat, (nd4c_value[]){sum, parts[2]}, 2, &axis, 1) : sum;
}

/* A decode step as exporters write it: rotary positions, the cache in front, heads repeated, a mask. The grown cache is
 * an output. `partial`: as Phi has it, else as Llama. */
static void check_decode_step(repetition how, bool partial) {
  enum { PAST = 6, NEW = 1 };
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_attr axis = check_int("axis", 2);
  const nd4c_value q = rotated(graph, operand(graph, "q", 4, (int64_t)GROUP * HEADS, NEW, HEAD), NEW, partial);
  nd4c_value cache[2];
  for (int32_t i = 0; i < 2; i++) {
    nd4c_value fresh = operand(graph, i == 0 ? "k" : "v", 4, HEADS, NEW, HEAD);
    fresh = i == 0 ? rotated(graph, fresh, NEW, partial) : fresh;
    const nd4c_value past = operand(graph, i == 0 ? "past_k" : "past_v", 4, HEADS, PAST, HEAD);
    cache[i] = check_op(graph, ND4C_OP_concat, (nd4c_value[]){past, fresh}, 2, &axis, 1);
    CHECK_OK(nd4c_graph_output(graph, i == 0 ? "new_k" : "new_v", cache[i]));
    cache[i] = repeated(graph, how, cache[i], PAST + NEW, HEAD);
  }
  const nd4c_value mask = check_input(graph, "mask", 4, (int64_t[]){BATCH, 1, NEW, PAST + NEW});
  CHECK_OK(nd4c_graph_output(graph, "y", attend(graph, q, cache[0], cache[1], mask)));
  nd4c_plan *plan = check_graph(graph, 17, 1e-5);
  assert_int_equal(changes_of(plan), 1);
  assert_true(check_has_step(plan, ND4C_OP_attention));
  assert_false(check_has_step(plan, ND4C_OP_tile) || check_has_step(plan, ND4C_OP_softmax));
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void exported_decode_steps_become_attention(void **state) {
  (void)state;
  for (repetition how = BROADCAST; how < ANOTHER; how++) {
    check_decode_step(how, false);
    check_decode_step(how, true);
  }
}

/* 16-bit scores are often widened for softmax alone; a softmax whose shares stay wide is no such one. */
static void a_wide_softmax_of_halves_is_attention(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  const nd4c_attr half = {.name = "dtype", .value = {.kind = ND4C_ATTR_DTYPE, .as.i = ND4C_FLOAT16}};
  const nd4c_attr whole = {.name = "dtype", .value = {.kind = ND4C_ATTR_DTYPE, .as.i = ND4C_FLOAT32}};
  nd4c_value x[3];
  for (int32_t i = 0; i < 3; i++) {
    x[i] = operand(graph, (const char *[]){"q", "k", "v"}[i], 4, HEADS, i == 0 ? QUERIES : KEYS, HEAD);
    x[i] = check_op(graph, ND4C_OP_cast, &x[i], 1, &half, 1);
  }
  const nd4c_value scores = check_binary(graph, ND4C_OP_matmul, x[0], transposed(graph, x[1]));
  const nd4c_value wide = check_op(graph, ND4C_OP_cast, &scores, 1, &whole, 1);
  const nd4c_value shares = check_op(graph, ND4C_OP_softmax, &wide, 1, NULL, 0);
  const nd4c_value y = check_binary(graph, ND4C_OP_matmul, check_op(graph, ND4C_OP_cast, &shares, 1, &half, 1), x[2]);
  CHECK_OK(nd4c_graph_output(graph, "y", check_op(graph, ND4C_OP_cast, &y, 1, &whole, 1)));
  nd4c_plan *plan = check_graph(graph, 19, 2e-3);
  assert_int_equal(changes_of(plan), 1);
  assert_false(check_has_step(plan, ND4C_OP_softmax));
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* attention_with_cache, with a past or without, of three axes or four; some of its outputs are read. */
static void check_cache(bool past, bool packed, bool scores_are_read) {
  enum { PAST = 3 };
  nd4c_graph *graph = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  const int64_t four[] = {BATCH, HEADS, KEYS, HEAD}, three[] = {BATCH, KEYS, (int64_t)HEADS * HEAD};
  const int64_t before[] = {BATCH, HEADS, PAST, HEAD};
  nd4c_value inputs[6], outputs[4];
  for (int32_t i = 0; i < 3; i++) {
    inputs[i] = check_input(graph, (const char *[]){"q", "k", "v"}[i], packed ? 3 : 4, packed ? three : four);
  }
  inputs[3] = ND4C_VALUE_NONE;
  inputs[4] = past ? check_input(graph, "past_key", 4, before) : ND4C_VALUE_NONE;
  inputs[5] = past ? check_input(graph, "past_value", 4, before) : ND4C_VALUE_NONE;
  nd4c_attr attrs[] = {check_int("q_heads", packed ? HEADS : 0),
                       check_int("kv_heads", packed ? HEADS : 0),
                       {.name = "is_causal", .value = {.kind = ND4C_ATTR_BOOL, .as.i = 1}}};
  CHECK_OK(nd4c_graph_op(graph, ND4C_OP_attention_with_cache, inputs, past ? 6 : 3, attrs, 3, NULL, outputs, 4));
  CHECK_OK(nd4c_graph_output(graph, "y", outputs[0]));
  CHECK_OK(nd4c_graph_output(graph, "key", outputs[1]));
  CHECK_OK(nd4c_graph_output(graph, "value", outputs[2]));
  if (scores_are_read) {
    CHECK_OK(nd4c_graph_output(graph, "scores", outputs[3]));
  }
  nd4c_plan *plan = check_graph(graph, 13, 1e-5);
  assert_int_equal(check_changes(plan, "attention_cache"), !scores_are_read);
  assert_int_equal(check_has_step(plan, ND4C_OP_attention_with_cache), scores_are_read);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

static void a_cache_without_scores_is_taken_apart(void **state) {
  (void)state;
  for (int32_t i = 0; i < 8; i++) {
    check_cache((i & 1) != 0, (i & 2) != 0, (i & 4) != 0);
  }
}

/* Where only the reference has the op, the single ops are faster. */
static void the_reference_does_not_fuse(void **state) {
  (void)state;
  nd4c_graph *graph = NULL;
  nd4c_value shares;
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_config_set("SD_KERNEL_DISABLE_ENGINES", "simd"));
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_output(graph, "y", build(graph, &spellings[0], &shares)));
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  assert_int_equal(changes_of(plan), 0);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
  CHECK_OK(nd4c_config_set("SD_KERNEL_DISABLE_ENGINES", NULL));
}

/* What the pass's text says: 0, where the single ops give NaN. */
static void a_query_without_keys_gives_zero(void **state) {
  (void)state;
  static const spelling added = {"", 4, TIMES, ADDED, -1, HEADS, 1};
  nd4c_graph *graph = NULL;
  nd4c_value shares;
  nd4c_plan *plan = NULL;
  nd4c_array *inputs[CHECK_PORTS] = {NULL}, *y = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_output(graph, "y", build(graph, &added, &shares)));
  check_make_inputs(graph, 3, inputs);
  void *mask = NULL;
  const void *results = NULL;
  CHECK_OK(nd4c_array_data_mutable(inputs[3], &mask));
  for (int32_t i = 0; i < KEYS; i++) {
    ((float *)mask)[KEYS + i] = -INFINITY; /* of query 1 */
  }
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  CHECK_OK(nd4c_plan_run(plan, (const nd4c_array *const *)inputs, 4, &y, 1));
  CHECK_OK(nd4c_array_data(y, &results));
  for (int32_t i = 0; i < BATCH * HEADS * QUERIES * V_HEAD; i++) {
    float number = ((const float *)results)[i];
    assert_true(i / V_HEAD % QUERIES == 1 ? number == 0 : isfinite(number) && number != 0);
  }
  nd4c_array_release(y);
  check_release(inputs, 4);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(spellings_become_attention),
      cmocka_unit_test(heads_are_not_copied),
      cmocka_unit_test(factors_that_others_read_stay),
      cmocka_unit_test(shared_heads_are_not_repeated),
      cmocka_unit_test(a_cache_without_scores_is_taken_apart),
      cmocka_unit_test(exported_decode_steps_become_attention),
      cmocka_unit_test(a_wide_softmax_of_halves_is_attention),
      cmocka_unit_test(the_reference_does_not_fuse),
      cmocka_unit_test(a_query_without_keys_gives_zero),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
