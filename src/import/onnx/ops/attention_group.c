/* GroupQueryAttention of ONNX Runtime: attention with rotary embedding and a cache. emission/scope.c calls the emit
 * function through the row below.
 *
 * Each sequence of a batch has a length of its own, which the values of seqlens_k tell: its new keys stand behind
 * those that it has. A single sequence has all keys of the cache, so that a batch of one needs no values. Graphs with
 * dims are made for that, with a guard; other batches are imported by themselves. */
#include "base/status.h"
#include "import/onnx/emission/fused.h"
#include "import/onnx/family.h"
#include "ops/compose/compose.h"

enum { QUERY, KEY, VALUE, PAST_KEY, PAST_VALUE, LENGTHS, TOTAL, COS, SIN, POSITIONS, BIAS, KNOWN };

typedef struct group {
  nd4c_onnx_operand q, k, v;              /* [n, t, heads * head] */
  nd4c_onnx_operand past_key, past_value; /* [n, heads, past, head]; NONE: none */
  int64_t heads, kv_heads;
  int64_t batch, length, past, total; /* extents; total = past + length */
  bool single;                        /* a batch of one */
  nd4c_onnx_operand before;           /* [n, 1]: keys of each sequence in the cache; NONE if single */
} group;

/* -- reading ----------------------------------------------------------------------------------------------------- */

static nd4c_status refuse_what_lacks(nd4c_onnx_emission *emission) {
  static const char *const zeros[] = {"sliding_window_cache", "qk_output", "kv_cache_bit_width"};
  int64_t smooth = 0;
  nd4c_span word;
  for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++) {
    ND4C_TRY(nd4c_onnx_refuse_int(emission, zeros[i], 0));
  }
  ND4C_TRY(nd4c_onnx_get_int(emission, "smooth_softmax", -1, &smooth));
  for (int32_t i = 0; i < 2; i++) {
    const char *name = i == 0 ? "k_quant_type" : "v_quant_type";
    ND4C_TRY(nd4c_onnx_get_text(emission, name, "NONE", &word));
    if (!nd4c_span_is(word, "NONE")) {
      return nd4c_fail(ND4C_UNSUPPORTED, "attribute '%s' is %s; nd4c knows only NONE", name, nd4c_span_show(word).text);
    }
  }
  nd4c_onnx_ignore(emission, "qk_norm_epsilon"); /* read only with the norms' weights */
  ND4C_TRY(nd4c_onnx_refuse_inputs(emission, KNOWN, KNOWN + 4, "head sink, quantised cache and norm of q and k"));
  ND4C_TRY(nd4c_onnx_refuse_outputs(emission, 3, 3, "scores"));
  return smooth > 0 ? nd4c_fail(ND4C_UNSUPPORTED, "attribute 'smooth_softmax' is set; nd4c knows the plain softmax")
                    : ND4C_OK;
}

/* q, k and v, which may stand side by side in the query. */
static nd4c_status read_operands(nd4c_onnx_emission *emission, group *g) {
  nd4c_onnx_operand parts[3];
  g->q = emission->inputs[QUERY];
  g->k = nd4c_onnx_input(emission, KEY);
  g->v = nd4c_onnx_input(emission, VALUE);
  const nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, g->q);
  if ((g->k == ND4C_ONNX_OPERAND_NONE) != (g->v == ND4C_ONNX_OPERAND_NONE) || info.rank != 3 || g->heads < 1 ||
      g->kv_heads < 1 || g->heads > INT32_MAX || g->kv_heads > INT32_MAX) {
    return nd4c_fail(ND4C_FORMAT,
                     "expected a query [batch, length, features], num_heads and kv_num_heads of at least 1, and key "
                     "and value together");
  }
  g->batch = info.shape[0];
  g->length = info.shape[1];
  if (g->k != ND4C_ONNX_OPERAND_NONE) {
    return ND4C_OK;
  }
  const int64_t heads = g->heads + 2 * g->kv_heads;
  ND4C_TRY(nd4c_onnx_check_number(emission, info.shape[2], "the number of features"));
  if (info.shape[2] % heads != 0) {
    return nd4c_fail(ND4C_SHAPE, "a query of %lld features does not split into %lld heads", (long long)info.shape[2],
                     (long long)heads);
  }
  const int64_t head = info.shape[2] / heads, sizes[3] = {g->heads * head, g->kv_heads * head, g->kv_heads * head};
  ND4C_TRY(nd4c_onnx_emit_parts(emission, g->q, 3, sizes, parts));
  g->q = parts[0];
  g->k = parts[1];
  g->v = parts[2];
  return ND4C_OK;
}

/* The cache, and how many keys there are with it. */
static nd4c_status read_cache(nd4c_onnx_emission *emission, group *g) {
  int64_t total = 0;
  int32_t count = 0;
  nd4c_onnx_operand operand;
  g->past_key = nd4c_onnx_input(emission, PAST_KEY);
  g->past_value = nd4c_onnx_input(emission, PAST_VALUE);
  if ((g->past_key == ND4C_ONNX_OPERAND_NONE) != (g->past_value == ND4C_ONNX_OPERAND_NONE)) {
    return nd4c_fail(ND4C_FORMAT, "one of past_key and past_value is left out; expected both or none");
  }
  if (g->past_key != ND4C_ONNX_OPERAND_NONE) {
    const nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, g->past_key);
    if (info.rank != 4) {
      return nd4c_fail(ND4C_SHAPE, "past_key has rank %d; expected [batch, heads, past, head]", (int)info.rank);
    }
    g->past = info.shape[2];
  }
  ND4C_TRY(nd4c_onnx_extent_sum(emission, g->past, g->length, &g->total));
  ND4C_TRY(nd4c_onnx_require_input(emission, LENGTHS, &operand));
  ND4C_TRY(nd4c_onnx_require_input(emission, TOTAL, &operand));
  ND4C_TRY(nd4c_onnx_read_extents(emission, operand, "input 'total_sequence_length'", 1, &total, &count));
  return count == 1 && nd4c_onnx_assume(emission, ND4C_RELATION_EQUAL, total, g->total)
             ? ND4C_OK
             : nd4c_fail(ND4C_UNSUPPORTED,
                         "total_sequence_length is not the length of past_key and the query's "
                         "together; nd4c knows no cache in one buffer");
}

/* The keys that each sequence has before this node: seqlens_k, which is their number with the new ones less 1. */
static nd4c_status read_lengths(nd4c_onnx_emission *emission, group *g) {
  const int64_t shape[2] = {g->batch, 1}, less[1] = {g->length};
  nd4c_onnx_operand length;
  g->before = ND4C_ONNX_OPERAND_NONE;
  g->single = nd4c_onnx_assume(emission, ND4C_RELATION_EQUAL, g->batch, 1);
  if (g->single) {
    return ND4C_OK;
  }
  if (g->past == 0) {
    return nd4c_emit_full(&emission->emitter, ND4C_INT64, 0, 2, shape, &g->before);
  }
  ND4C_TRY(nd4c_emit_cast(&emission->emitter, emission->inputs[LENGTHS], ND4C_INT64, &g->before));
  ND4C_TRY(nd4c_emit_reshape(&emission->emitter, g->before, 2, shape, &g->before));
  ND4C_TRY(nd4c_emit_with_scalar(&emission->emitter, ND4C_OP_add, g->before, 1, &g->before));
  ND4C_TRY(nd4c_onnx_extent_list(emission, 1, 1, less, &length));
  return nd4c_emit_binary(&emission->emitter, ND4C_OP_subtract, g->before, length, &g->before);
}

/* -- positions --------------------------------------------------------------------------------------------------- */

/* start to stop, as int64. */
static nd4c_status range(nd4c_onnx_emission *emission, int64_t start, int64_t stop, nd4c_onnx_operand *y) {
  const nd4c_attr attrs[] = {nd4c_attr_of_int("start", start), nd4c_attr_of_int("stop", stop)};
  return nd4c_emit(&emission->emitter, ND4C_OP_integer_range, NULL, 0, attrs, 2, y);
}

/* Where each query stands in its sequence: [n, t]. */
static nd4c_status positions_of(nd4c_onnx_emission *emission, const group *g, nd4c_onnx_operand *positions) {
  const int64_t shape[2] = {g->batch, g->length};
  ND4C_TRY(range(emission, g->single ? g->past : 0, g->single ? g->total : g->length, positions));
  if (!g->single) {
    ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_add, g->before, *positions, positions));
  }
  return nd4c_emit_broadcast(&emission->emitter, *positions, 2, shape, positions);
}

/* Turns q and k. */
static nd4c_status rotate(nd4c_onnx_emission *emission, group *g) {
  nd4c_onnx_operand inputs[4] = {[3] = nd4c_onnx_input(emission, POSITIONS)};
  int64_t interleaved = 0;
  ND4C_TRY(nd4c_onnx_require_input(emission, COS, &inputs[1]));
  ND4C_TRY(nd4c_onnx_require_input(emission, SIN, &inputs[2]));
  ND4C_TRY(nd4c_onnx_get_int(emission, "rotary_interleaved", 0, &interleaved));
  if (inputs[3] == ND4C_ONNX_OPERAND_NONE) {
    ND4C_TRY(positions_of(emission, g, &inputs[3]));
  }
  const nd4c_emitted_info cos = nd4c_emitted_get(&emission->emitter, inputs[1]);
  if (cos.rank != 2 || cos.shape[1] > INT32_MAX) {
    return nd4c_fail(ND4C_SHAPE, "cos_cache has rank %d; expected [positions, pairs]", (int)cos.rank);
  }
  ND4C_TRY(nd4c_onnx_check_number(emission, cos.shape[1], "the number of turned pairs"));
  for (int32_t i = 0; i < 2; i++) {
    nd4c_onnx_operand *x = i == 0 ? &g->q : &g->k;
    const nd4c_attr attrs[] = {nd4c_attr_of_int("heads", i == 0 ? g->heads : g->kv_heads),
                               nd4c_attr_of_int("rotary_dim", 2 * cos.shape[1]),
                               nd4c_attr_of_bool("interleaved", interleaved != 0)};
    inputs[0] = *x;
    ND4C_TRY(nd4c_emit(&emission->emitter, ND4C_OP_rotary_embedding, inputs, 4, attrs, 3, x));
  }
  return ND4C_OK;
}

/* -- attention --------------------------------------------------------------------------------------------------- */

/* The cache with x [n, t, heads * head] behind the keys that each sequence has, and zeros behind both. */
static nd4c_status append(nd4c_onnx_emission *emission, const group *g, nd4c_onnx_operand cache, nd4c_onnx_operand x,
                          nd4c_onnx_operand *present) {
  const int64_t past[1] = {g->past}, most[1] = {g->total - 1}, row[4] = {g->batch, 1, g->total, 1};
  nd4c_onnx_operand parts[2] = {cache}, steps, old, fresh, bound, used, zero;
  ND4C_TRY(nd4c_onnx_split_heads(emission, x, g->kv_heads, &parts[1]));
  ND4C_TRY(nd4c_emit_along(&emission->emitter, ND4C_OP_concat, parts, 2, 2, present));
  const nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, *present);
  ND4C_TRY(range(emission, 0, g->total, &steps));
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_less, steps, g->before, &old));
  ND4C_TRY(nd4c_emit_with_scalar(&emission->emitter, ND4C_OP_add, g->before, (double)g->length, &used));
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_less, steps, used, &used));
  ND4C_TRY(nd4c_emit_reshape(&emission->emitter, used, 4, row, &used));
  ND4C_TRY(nd4c_onnx_int64s(emission, 1, 1, past, &bound));
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_subtract, bound, g->before, &fresh)); /* how far it moves */
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_add, steps, fresh, &fresh));
  ND4C_TRY(nd4c_onnx_int64s(emission, 1, 1, most, &bound));
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_minimum, fresh, bound, &fresh));
  ND4C_TRY(nd4c_emit_where(&emission->emitter, old, steps, fresh, &steps));
  ND4C_TRY(nd4c_emit_reshape(&emission->emitter, steps, 4, row, &steps));
  ND4C_TRY(nd4c_emit_broadcast(&emission->emitter, steps, 4, info.shape, &steps));
  nd4c_onnx_operand inputs[2] = {*present, steps};
  ND4C_TRY(nd4c_emit_along(&emission->emitter, ND4C_OP_gather_elements, inputs, 2, 2, present));
  ND4C_TRY(nd4c_emit_scalar(&emission->emitter, info.dtype, 0, &zero));
  return nd4c_emit_where(&emission->emitter, used, *present, zero, present);
}

/* 0 where a query of its sequence may look at a key, else minus infinity; [n, 1, t, total]. window: how many keys
 * before its own; -1: all. */
static nd4c_status length_mask(nd4c_onnx_emission *emission, const group *g, nd4c_dtype dtype, bool causal,
                               int64_t window, nd4c_onnx_operand *mask) {
  const int64_t queries[4] = {g->batch, 1, g->length, 1}, ends[4] = {g->batch, 1, 1, 1};
  nd4c_onnx_operand keys, last, first, behind, zero, hidden;
  ND4C_TRY(range(emission, 0, g->total, &keys));
  ND4C_TRY(positions_of(emission, g, &last));
  ND4C_TRY(nd4c_emit_reshape(&emission->emitter, last, 4, queries, &last));
  first = last;
  if (!causal) {
    ND4C_TRY(nd4c_emit_with_scalar(&emission->emitter, ND4C_OP_add, g->before, (double)(g->length - 1), &last));
    ND4C_TRY(nd4c_emit_reshape(&emission->emitter, last, 4, ends, &last));
  }
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_less_equal, keys, last, mask));
  if (window >= 0) {
    ND4C_TRY(nd4c_emit_with_scalar(&emission->emitter, ND4C_OP_subtract, first, (double)window, &first));
    ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_greater_equal, keys, first, &behind));
    ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_logical_and, *mask, behind, mask));
  }
  ND4C_TRY(nd4c_emit_scalar(&emission->emitter, dtype, 0, &zero));
  ND4C_TRY(nd4c_emit_scalar(&emission->emitter, dtype, -(double)INFINITY, &hidden));
  return nd4c_emit_where(&emission->emitter, *mask, zero, hidden, mask);
}

/* Sequences of several lengths: the cache is made first, and a mask says what each query sees. */
static nd4c_status attend_by_lengths(nd4c_onnx_emission *emission, const group *g, double scale, double softcap,
                                     bool causal, int64_t window) {
  nd4c_onnx_operand inputs[4], *outputs = emission->outputs;
  const nd4c_onnx_operand bias = nd4c_onnx_input(emission, BIAS);
  const nd4c_emitted_info q = nd4c_emitted_get(&emission->emitter, g->q);
  const bool has_past = g->past_key != ND4C_ONNX_OPERAND_NONE && g->past != 0;
  ND4C_TRY(nd4c_onnx_check_number(emission, g->total, "the number of keys"));
  ND4C_TRY(nd4c_onnx_check_number(emission, g->length, "the number of queries"));
  ND4C_TRY(nd4c_onnx_split_heads(emission, g->q, g->heads, &inputs[0]));
  ND4C_TRY(has_past ? append(emission, g, g->past_key, g->k, &inputs[1])
                    : nd4c_onnx_split_heads(emission, g->k, g->kv_heads, &inputs[1]));
  ND4C_TRY(has_past ? append(emission, g, g->past_value, g->v, &inputs[2])
                    : nd4c_onnx_split_heads(emission, g->v, g->kv_heads, &inputs[2]));
  ND4C_TRY(length_mask(emission, g, q.dtype, causal, window, &inputs[3]));
  if (bias != ND4C_ONNX_OPERAND_NONE) {
    ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_add, inputs[3], bias, &inputs[3]));
  }
  const nd4c_attr attrs[] = {nd4c_attr_of_float("scale", scale), nd4c_attr_of_float("softcap", softcap)};
  outputs[1] = inputs[1];
  outputs[2] = inputs[2];
  ND4C_TRY(nd4c_emit(&emission->emitter, ND4C_OP_attention, inputs, 4, attrs, 2, &outputs[0]));
  return nd4c_onnx_join_heads(emission, outputs[0], &outputs[0]);
}

static nd4c_status emit_group_query_attention(nd4c_onnx_emission *emission) {
  group g = {.heads = 0};
  double scale = 0, softcap = 0;
  int64_t rotary = 0, causal = 0, window = 0;
  ND4C_TRY(refuse_what_lacks(emission));
  ND4C_TRY(nd4c_onnx_get_int(emission, "num_heads", 0, &g.heads));
  ND4C_TRY(nd4c_onnx_get_int(emission, "kv_num_heads", 0, &g.kv_heads));
  ND4C_TRY(nd4c_onnx_get_int(emission, "do_rotary", 0, &rotary));
  ND4C_TRY(nd4c_onnx_get_int(emission, "causal", 1, &causal));
  ND4C_TRY(nd4c_onnx_get_int(emission, "local_window_size", -1, &window));
  if (window == 0 || window < -1) {
    return nd4c_fail(ND4C_FORMAT, "attribute 'local_window_size' is %lld; expected -1, or 1 and more",
                     (long long)window);
  }
  window = window > 0 ? window - 1 : -1; /* nd4c does not count the query's own key */
  ND4C_TRY(nd4c_onnx_get_float(emission, "scale", 0, &scale));
  ND4C_TRY(nd4c_onnx_get_float(emission, "softcap", 0, &softcap));
  ND4C_TRY(read_operands(emission, &g));
  ND4C_TRY(read_cache(emission, &g));
  ND4C_TRY(read_lengths(emission, &g));
  if (rotary != 0) {
    ND4C_TRY(rotate(emission, &g));
  } else {
    nd4c_onnx_ignore(emission, "rotary_interleaved");
  }
  if (!g.single) {
    return attend_by_lengths(emission, &g, scale, softcap, causal != 0, window);
  }
  const nd4c_onnx_operand inputs[6] = {g.q, g.k, g.v, nd4c_onnx_input(emission, BIAS), g.past_key, g.past_value};
  const nd4c_attr attrs[] = {nd4c_attr_of_int("q_heads", g.heads),        nd4c_attr_of_int("kv_heads", g.kv_heads),
                             nd4c_attr_of_float("scale", scale),          nd4c_attr_of_float("softcap", softcap),
                             nd4c_attr_of_bool("is_causal", causal != 0), nd4c_attr_of_int("left_window", window)};
  return nd4c_emit_outputs(&emission->emitter, ND4C_OP_attention_with_cache, inputs, 6, attrs, 6, emission->outputs, 4);
}

/* -- rows -------------------------------------------------------------------------------------------------------- */

#define ROWS                                                                 \
  CHAIN(GroupQueryAttention, 1, LAST, 1, 16, 4, group_query_attention, NONE, \
        "rotary_embedding, attention_with_cache; of several sequences: concat, gather_elements, attention")

ND4C_ONNX_FAMILY(attention_group, "com.microsoft", ROWS)
