/* Attention of engine simd, and that of bfloat16 by tiles (simd.attention_tiled), against engine reference: sizes that
 * fill no tile, no panel of queries and no block of keys, masks, windows, heads that share keys, a cache before the
 * keys, layouts; values that are not finite; results that do not depend on the width. Of tiles, nothing is checked
 * where the processor has no AMX, but for the reason that it gives. */
#include <math.h>

#include "kernels/kernel_call.h"
#include "nd4c/ops/enums.h"

typedef enum mask_kind { NO_MASK, CHOSEN, ADDED } mask_kind;

typedef struct attention_case {
  int64_t batch, q_heads, kv_heads, queries, keys, head, v_head, past;
  bool packed; /* operands of rank 3 */
  mask_kind mask;
  int64_t mask_shape[4];
  layout order;
  bool causal, lengths;
  int64_t left, right; /* windows; 0: none */
  double scale, softcap;
} attention_case;

static const attention_case cases[] = {
    {.batch = 1, .q_heads = 1, .kv_heads = 1, .queries = 32, .keys = 128, .head = 32, .v_head = 16},
    {.batch = 2, .q_heads = 3, .kv_heads = 3, .queries = 1, .keys = 7, .head = 64, .v_head = 64},
    {.batch = 1, .q_heads = 2, .kv_heads = 2, .queries = 165, .keys = 300, .head = 64, .v_head = 64, .packed = true},
    {.batch = 2, .q_heads = 6, .kv_heads = 2, .queries = 23, .keys = 131, .head = 40, .v_head = 19, .scale = -0.5},
    {.batch = 1, .q_heads = 2, .kv_heads = 1, .queries = 50, .keys = 50, .head = 5, .v_head = 33, .causal = true},
    {.batch = 1,
     .q_heads = 2,
     .kv_heads = 2,
     .queries = 300,
     .keys = 300,
     .head = 32,
     .v_head = 48,
     .causal = true,
     .left = 140,
     .order = SPARSE},
    {.batch = 1,
     .q_heads = 1,
     .kv_heads = 1,
     .queries = 70,
     .keys = 400,
     .head = 96,
     .v_head = 32,
     .left = 9,
     .right = 3,
     .order = SWAPPED},
    {.batch = 2,
     .q_heads = 2,
     .kv_heads = 1,
     .queries = 33,
     .keys = 40,
     .head = 64,
     .v_head = 64,
     .past = 117,
     .causal = true},
    {.batch = 2, .q_heads = 2, .kv_heads = 2, .queries = 17, .keys = 150, .head = 32, .v_head = 16, .lengths = true},
    {.batch = 2,
     .q_heads = 2,
     .kv_heads = 2,
     .queries = 20,
     .keys = 137,
     .head = 32,
     .v_head = 16,
     .mask = CHOSEN,
     .mask_shape = {2, 1, 20, 137}},
    {.batch = 2,
     .q_heads = 4,
     .kv_heads = 2,
     .queries = 19,
     .keys = 70,
     .head = 32,
     .v_head = 16,
     .mask = ADDED,
     .mask_shape = {2, 4, 19, 70},
     .softcap = 1.5},
    {.batch = 2,
     .q_heads = 2,
     .kv_heads = 2,
     .queries = 20,
     .keys = 137,
     .head = 32,
     .v_head = 16,
     .mask = ADDED,
     .mask_shape = {2, 1, 1, 137},
     .packed = true},
    {.batch = 1,
     .q_heads = 2,
     .kv_heads = 2,
     .queries = 40,
     .keys = 90,
     .head = 32,
     .v_head = 16,
     .mask = CHOSEN,
     .mask_shape = {1, 1, 40, 1},
     .causal = true},
    {.batch = 1,
     .q_heads = 1,
     .kv_heads = 1,
     .queries = 34,
     .keys = 90,
     .head = 32,
     .v_head = 16,
     .mask = ADDED,
     .mask_shape = {1, 1, 34, 77},
     .order = SWAPPED},
    /* few queries read a head of keys */
    {.batch = 2, .q_heads = 8, .kv_heads = 4, .queries = 1, .keys = 300, .head = 64, .v_head = 64},
    {.batch = 1, .q_heads = 4, .kv_heads = 1, .queries = 1, .keys = 131, .head = 19, .v_head = 37, .packed = true},
    {.batch = 2, .q_heads = 2, .kv_heads = 2, .queries = 3, .keys = 129, .head = 40, .v_head = 71, .scale = -0.3},
    {.batch = 1, .q_heads = 2, .kv_heads = 2, .queries = 4, .keys = 5, .head = 5, .v_head = 3, .order = SPARSE},
    {.batch = 1,
     .q_heads = 2,
     .kv_heads = 1,
     .queries = 2,
     .keys = 9,
     .head = 64,
     .v_head = 64,
     .past = 260,
     .causal = true},
    {.batch = 1,
     .q_heads = 2,
     .kv_heads = 2,
     .queries = 3,
     .keys = 290,
     .head = 33,
     .v_head = 32,
     .left = 9,
     .right = 140},
    {.batch = 2, .q_heads = 2, .kv_heads = 2, .queries = 1, .keys = 150, .head = 32, .v_head = 16, .lengths = true},
    {.batch = 2,
     .q_heads = 2,
     .kv_heads = 2,
     .queries = 4,
     .keys = 137,
     .head = 32,
     .v_head = 48,
     .mask = CHOSEN,
     .mask_shape = {2, 1, 4, 137}},
    {.batch = 2,
     .q_heads = 4,
     .kv_heads = 2,
     .queries = 1,
     .keys = 200,
     .head = 32,
     .v_head = 64,
     .mask = ADDED,
     .mask_shape = {2, 4, 1, 200},
     .softcap = 1.5},
    {.batch = 1, .q_heads = 2, .kv_heads = 2, .queries = 2, .keys = 140, .head = 16, .v_head = 16, .order = SWAPPED},
    {.batch = 1, .q_heads = 2, .kv_heads = 1, .queries = 70, .keys = 2200, .head = 512, .v_head = 8}, /* more than a
                                                                                         worker keeps */
};
enum { CASES = sizeof cases / sizeof *cases, SMALL_CASES = CASES - 1 };

static void add(call_frame *frame, int32_t input, nd4c_dtype dtype, int32_t rank, const int64_t *shape, layout how) {
  operand *x = &frame->operands[input];
  x->dtype = dtype;
  x->rank = rank;
  memcpy(x->shape, shape, (size_t)rank * sizeof *shape);
  lay_out(x, how);
  fill(x, (uint64_t)input + 3, -1);
}

static void add_heads(call_frame *frame, const attention_case *c, nd4c_dtype dtype, int32_t input, int64_t heads,
                      int64_t places, int64_t size) {
  if (c->packed) {
    add(frame, input, dtype, 3, (int64_t[]){c->batch, places, heads * size}, c->order);
  } else {
    add(frame, input, dtype, 4, (int64_t[]){c->batch, heads, places, size}, c->order);
  }
}

static void put(const operand *x, int64_t at, double number) {
  nd4c_value_store(x->dtype, x->memory, at, (nd4c_value){.f = number});
}

/* A tenth of the numbers of a mask are -infinity, and those of one row; of a mask of bool, half of them and one row. */
static void leave_out(operand *mask) {
  const int64_t size = shape_size(mask->rank, mask->shape), row = mask->shape[3];
  int64_t index[8] = {0};
  for (int64_t i = 0; i < size; i++, nd4c_index_next(mask->rank, mask->shape, index)) {
    const int64_t at = nd4c_index_offset(mask->rank, index, mask->strides);
    const bool out = size > row && i / row == 3;
    if (mask->dtype == ND4C_BOOL) {
      ((uint8_t *)mask->memory)[at] = out ? 0 : (uint8_t)(i * 7 % 3 != 0);
    } else if (out || i * 7 % 10 == 0) {
      put(mask, at, -INFINITY);
    }
  }
}

static void make(const attention_case *c, nd4c_dtype dtype, call_frame *frame) {
  add_heads(frame, c, dtype, ND4C_IN_attention_q, c->q_heads, c->queries, c->head);
  add_heads(frame, c, dtype, ND4C_IN_attention_k, c->kv_heads, c->keys, c->head);
  add_heads(frame, c, dtype, ND4C_IN_attention_v, c->kv_heads, c->keys, c->v_head);
  if (c->mask != NO_MASK) {
    add(frame, ND4C_IN_attention_mask, c->mask == CHOSEN ? ND4C_BOOL : dtype, 4, c->mask_shape, c->order);
    leave_out(&frame->operands[ND4C_IN_attention_mask]);
  }
  if (c->past > 0) {
    add(frame, ND4C_IN_attention_past_key, dtype, 4, (int64_t[]){c->batch, c->kv_heads, c->past, c->head}, C_ORDER);
    add(frame, ND4C_IN_attention_past_value, dtype, 4, (int64_t[]){c->batch, c->kv_heads, c->past, c->v_head}, C_ORDER);
  }
  if (c->lengths) {
    add(frame, ND4C_IN_attention_key_lengths, ND4C_INT64, 1, &c->batch, C_ORDER);
    for (int64_t i = 0; i < c->batch; i++) {
      ((int64_t *)frame->operands[ND4C_IN_attention_key_lengths].memory)[i] = c->keys - 20 - 9 * i;
    }
  }
  const nd4c_op_info *info = NULL;
  assert_int_equal(nd4c_op_find("attention", &info), ND4C_OK);
  const nd4c_attr attrs[] = {{"q_heads", {.kind = ND4C_ATTR_INT, .as.i = c->packed ? c->q_heads : 0}},
                             {"kv_heads", {.kind = ND4C_ATTR_INT, .as.i = c->packed ? c->kv_heads : 0}},
                             {"scale", {.kind = ND4C_ATTR_FLOAT, .as.f = c->scale}},
                             {"softcap", {.kind = ND4C_ATTR_FLOAT, .as.f = c->softcap}},
                             {"is_causal", {.kind = ND4C_ATTR_BOOL, .as.i = c->causal}},
                             {"left_window", {.kind = ND4C_ATTR_INT, .as.i = c->left > 0 ? c->left : -1}},
                             {"right_window", {.kind = ND4C_ATTR_INT, .as.i = c->right > 0 ? c->right : -1}}};
  nd4c_attr_value values[MAX_ATTRS];
  assert_int_equal(nd4c_op_resolve_attrs(info, attrs, sizeof attrs / sizeof *attrs, values), ND4C_OK);
  ready(frame, "attention", ND4C_IN_attention_count, values, c->packed ? C_ORDER : c->order);
}

static void make_reduced(const attention_case *c, call_frame *frame) {
  make(c, ND4C_BFLOAT16, frame);
  frame->call.flags |= ND4C_CALL_REDUCED;
}

static const nd4c_kernel *tiled_kernel(void) {
  const nd4c_kernel *kernel = named_kernel("attention", "simd.attention_tiled");
  assert_non_null(kernel);
  return kernel;
}

/* True, and the test ends, where this process has no tiles; the kernel must say so. */
static bool is_without_tiles(void) {
  call_frame frame = {.output.rank = 0};
  char reason[TEXT_SIZE] = "";
  make_reduced(&cases[0], &frame);
  const bool usable = tiled_kernel()->usable(&frame.call, reason, sizeof reason);
  release(&frame);
  if (!usable && strstr(reason, "AMX") == NULL && strstr(reason, "has no tiles") == NULL) {
    fail_msg("refused: %s", reason);
  }
  return !usable;
}

/* Numbers of v are below 1. `error`: of a result, twice what rounding it to its dtype and summing it up cost. */
static bool agrees(double got, double expected, double error) {
  return isnan(expected) ? isnan(got) : isinf(expected) ? got == expected : fabs(got - expected) < error;
}

static void compare(const attention_case *c, const nd4c_kernel *kernel, double error, call_frame *frame) {
  char reason[TEXT_SIZE] = "";
  if (!kernel->usable(&frame->call, reason, sizeof reason)) {
    fail_msg("%s, case %d: %s", kernel->name, (int)(c - cases), reason);
  }
  run_kernel(engine_kernel("attention", "reference"), frame);
  double *expected = result_numbers(frame);
  run_kernel(kernel, frame);
  double *got = result_numbers(frame);
  for (int64_t i = 0; i < frame->output.size; i++) {
    if (!agrees(got[i], expected[i], error)) {
      fail_msg("%s, case %d, element %lld: %.9g, reference %.9g", kernel->name, (int)(c - cases), (long long)i, got[i],
               expected[i]);
    }
  }
  for (int32_t width = 1; width < 6; width += 4) { /* panels are smaller where more workers share them */
    frame->call.width = width;
    run_kernel(kernel, frame);
    double *other = result_numbers(frame);
    assert_memory_equal(other, got, (size_t)frame->output.size * sizeof *got);
    free(other);
  }
  free(expected);
  free(got);
}

typedef struct own_dtype {
  nd4c_dtype dtype;
  double error;
} own_dtype;
static const own_dtype own_dtypes[] = {
    {ND4C_FLOAT32, 0x1p-19}, {ND4C_FLOAT64, 0x1p-46}, {ND4C_FLOAT16, 0x1p-10}, {ND4C_BFLOAT16, 0x1p-7}};
enum { OWN_DTYPES = sizeof own_dtypes / sizeof *own_dtypes };

static const nd4c_kernel *own_kernel(void) {
  return engine_kernel("attention", "simd");
}

static void any_size_mask_and_dtype(void **state) {
  (void)state;
  for (int i = 0; i < OWN_DTYPES * SMALL_CASES; i++) {
    const own_dtype *d = &own_dtypes[i % OWN_DTYPES];
    call_frame frame = {.output.rank = 0};
    make(&cases[i / OWN_DTYPES], d->dtype, &frame);
    compare(&cases[i / OWN_DTYPES], own_kernel(), d->error, &frame);
    release(&frame);
  }
}

/* As numbers_that_are_not_finite, for every part of a panel. */
static void own_numbers_that_are_not_finite(void **state) {
  static const double specials[] = {NAN, INFINITY, -INFINITY};
  (void)state;
  for (int i = 0; i < OWN_DTYPES * 3; i++) {
    const attention_case *c = &cases[5];
    const own_dtype *d = &own_dtypes[i % OWN_DTYPES];
    call_frame frame = {.output.rank = 0};
    make(c, d->dtype, &frame);
    const operand *k = &frame.operands[ND4C_IN_attention_k], *v = &frame.operands[ND4C_IN_attention_v];
    put(v, 150 * v->strides[2] + 5 * v->strides[3], specials[i / OWN_DTYPES]);
    put(k, (c->keys - 2) * k->strides[2], NAN);
    compare(c, own_kernel(), d->error, &frame);
    release(&frame);
  }
}

static const attention_case *masked_case_of_one_query(void) {
  const attention_case *c = cases;
  while (c < cases + CASES && (c->queries != 1 || c->mask != ADDED)) {
    c++;
  }
  assert_true(c < cases + CASES && c->keys > 151);
  return c;
}

/* The mask leaves out every tenth key, whose value then does not matter. */
static void few_queries_and_numbers_that_are_not_finite(void **state) {
  static const double specials[] = {NAN, INFINITY, -INFINITY};
  (void)state;
  for (int i = 0; i < OWN_DTYPES * 3 * 2; i++) {
    const attention_case *c = masked_case_of_one_query();
    const own_dtype *d = &own_dtypes[i % OWN_DTYPES];
    const int64_t key = 150 + i / (OWN_DTYPES * 3);
    call_frame frame = {.output.rank = 0};
    make(c, d->dtype, &frame);
    const operand *v = &frame.operands[ND4C_IN_attention_v];
    put(v, key * v->strides[2] + 5 * v->strides[3], specials[i / OWN_DTYPES % 3]);
    compare(c, own_kernel(), d->error, &frame);
    double *got = result_numbers(&frame);
    assert_int_equal(isfinite(got[5]) != 0, key == 150);
    free(got);
    release(&frame);
  }
}

/* Shares from 1 down to e^-91: the values are those of a unit matrix, so that each result is a share. */
static void shares_for(int64_t queries) {
  enum { KEYS = 1024 };
  const attention_case c = {
      .batch = 1, .q_heads = 1, .kv_heads = 1, .queries = queries, .keys = KEYS, .head = 1, .v_head = KEYS};
  call_frame frame = {.output.rank = 0};
  double scores[KEYS], sum = 0;
  make(&c, ND4C_FLOAT32, &frame);
  for (int64_t i = 0; i < KEYS; i++) {
    scores[i] = (float)-i / 11.25f;
    sum += exp(scores[i]);
    put(&frame.operands[ND4C_IN_attention_k], i, scores[i]);
    for (int64_t j = 0; j < KEYS; j++) {
      put(&frame.operands[ND4C_IN_attention_v], i * KEYS + j, i == j ? 1 : 0);
    }
  }
  for (int64_t i = 0; i < c.queries; i++) {
    put(&frame.operands[ND4C_IN_attention_q], i, 1);
  }
  run_kernel(own_kernel(), &frame);
  double *got = result_numbers(&frame);
  for (int64_t i = 0; i < frame.output.size; i++) {
    const double expected = exp(scores[i % KEYS]) / sum, least = exp(-87) / sum;
    if (fabs(got[i] - expected) > expected * 0x1p-21 + 0x1p-149 && (expected > least || got[i] != 0)) {
      fail_msg("%d queries, score %.9g: share %.9g instead of %.9g", (int)queries, scores[i % KEYS], got[i], expected);
    }
  }
  free(got);
  release(&frame);
}

static void shares_of_every_size(void **state) {
  (void)state;
  shares_for(20);
  shares_for(2); /* few: the other way */
}

static void any_size_and_mask(void **state) {
  (void)state;
  for (int i = 0; i < CASES && !is_without_tiles(); i++) {
    call_frame frame = {.output.rank = 0};
    make_reduced(&cases[i], &frame);
    compare(&cases[i], tiled_kernel(), 0x1p-7, &frame);
    release(&frame);
  }
}

/* Values that no query may take do not matter; of one that is taken, only the queries that take it. */
static void numbers_that_are_not_finite(void **state) {
  static const uint16_t specials[] = {0x7fc0, 0x7f80, 0xff80};
  (void)state;
  for (size_t i = 0; i < sizeof specials / sizeof *specials && !is_without_tiles(); i++) {
    const attention_case *c = &cases[7]; /* causal, with a cache: later keys are left out of the first queries */
    call_frame frame = {.output.rank = 0};
    make_reduced(c, &frame);
    const int64_t last = (c->keys - 1) * c->v_head;
    ((uint16_t *)frame.operands[ND4C_IN_attention_v].memory)[last + 5] = specials[i];
    ((uint16_t *)frame.operands[ND4C_IN_attention_k].memory)[(c->keys - 2) * c->head] = specials[0];
    compare(c, tiled_kernel(), 0x1p-7, &frame);
    release(&frame);
  }
}

static void refusals_have_reasons(void **state) {
  call_frame frame = {.output.rank = 0};
  char reason[TEXT_SIZE] = "";
  (void)state;
  make_reduced(&cases[0], &frame);
  frame.call.flags &= ~(uint32_t)ND4C_CALL_REDUCED;
  assert_false(tiled_kernel()->usable(&frame.call, reason, sizeof reason));
  assert_string_equal(reason, "no reduced precision is asked for");
  release(&frame);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(any_size_mask_and_dtype),
                                     cmocka_unit_test(own_numbers_that_are_not_finite),
                                     cmocka_unit_test(few_queries_and_numbers_that_are_not_finite),
                                     cmocka_unit_test(shares_of_every_size),
                                     cmocka_unit_test(any_size_and_mask),
                                     cmocka_unit_test(numbers_that_are_not_finite),
                                     cmocka_unit_test(refusals_have_reasons)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
