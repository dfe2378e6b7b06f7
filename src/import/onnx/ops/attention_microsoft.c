/* Attention and rotary embedding of ONNX Runtime. emission/scope.c calls the emit functions through the rows below.
 * Group query attention, with its cache, is in attention_group.c. */
#include <math.h>

#include "base/status.h"
#include "import/onnx/emission/fused.h"
#include "import/onnx/family.h"
#include "ops/compose/compose.h"

/* -- masks --------------------------------------------------------------------------------------------------------- */

/* What a mask is for: its keys, and what is added to the scores of a key that it hides. */
typedef struct masked {
  nd4c_dtype dtype; /* of q */
  int64_t batch, keys;
  double hidden;
} masked;

/* x as 0-d, or [n, 1, 1, 1] for one number a sequence. */
static nd4c_status spread(nd4c_onnx_emission *emission, nd4c_onnx_operand x, int64_t batch, nd4c_onnx_operand *y) {
  const int64_t shape[4] = {batch, 1, 1, 1};
  ND4C_TRY(nd4c_emit_cast(&emission->emitter, x, ND4C_INT64, y));
  return nd4c_emit_reshape(&emission->emitter, *y, 4, shape, y);
}

/* Which keys stand before the ends: ends [n], or [2, n] with the first keys behind them. */
static nd4c_status keys_between(nd4c_onnx_emission *emission, const masked *to, nd4c_onnx_operand ends, bool begins,
                                nd4c_onnx_operand *kept) {
  const nd4c_attr stop = nd4c_attr_of_int("stop", to->keys);
  nd4c_onnx_operand keys, first = ND4C_ONNX_OPERAND_NONE, behind;
  ND4C_TRY(nd4c_emit(&emission->emitter, ND4C_OP_integer_range, NULL, 0, &stop, 1, &keys));
  if (begins) {
    const int64_t pairs[2] = {2, to->batch};
    ND4C_TRY(nd4c_emit_reshape(&emission->emitter, ends, 2, pairs, &ends));
    ND4C_TRY(nd4c_compose_select(&emission->emitter, ends, 0, 1, &first));
    ND4C_TRY(nd4c_compose_select(&emission->emitter, ends, 0, 0, &ends));
  }
  ND4C_TRY(spread(emission, ends, to->batch, &ends));
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_less, keys, ends, kept));
  if (begins) {
    ND4C_TRY(spread(emission, first, to->batch, &first));
    ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_greater_equal, keys, first, &behind));
    ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_logical_and, *kept, behind, kept));
  }
  return ND4C_OK;
}

/* A mask [n, keys] or [n, queries, keys] holds 0 for a key that is hidden; one of rank 1 tells the keys of each
 * sequence. *kept broadcasts to [n, heads, queries, keys]. */
static nd4c_status keys_kept(nd4c_onnx_emission *emission, const masked *to, nd4c_onnx_operand mask,
                             nd4c_onnx_operand *kept) {
  const nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, mask);
  int64_t twice = 0;
  if (info.rank == 1) {
    ND4C_TRY(nd4c_onnx_extent_sum(emission, to->batch, to->batch, &twice));
    const bool begins = info.shape[0] == twice;
    if (!begins && !nd4c_onnx_assume(emission, ND4C_RELATION_EQUAL, info.shape[0], to->batch)) {
      return nd4c_fail(ND4C_UNSUPPORTED, "a mask of rank 1 that has neither one nor two numbers a sequence");
    }
    return keys_between(emission, to, mask, begins, kept);
  }
  if (info.rank != 2 && info.rank != 3) {
    return nd4c_fail(ND4C_UNSUPPORTED, "a mask of rank %d; nd4c knows those of rank 1, 2 and 3", (int)info.rank);
  }
  const int64_t shape[4] = {info.shape[0], 1, info.rank == 3 ? info.shape[1] : 1, info.shape[info.rank - 1]};
  ND4C_TRY(nd4c_emit_with_scalar(&emission->emitter, ND4C_OP_greater, mask, 0, kept));
  return nd4c_emit_reshape(&emission->emitter, *kept, 4, shape, kept);
}

/* What is added to the scores: the hidden keys' number, and the bias. NONE if there is neither. */
static nd4c_status score_mask(nd4c_onnx_emission *emission, const masked *to, nd4c_onnx_operand mask,
                              nd4c_onnx_operand bias, nd4c_onnx_operand *added) {
  nd4c_onnx_operand kept, zero, hidden;
  *added = bias;
  if (mask == ND4C_ONNX_OPERAND_NONE) {
    return ND4C_OK;
  }
  ND4C_TRY(keys_kept(emission, to, mask, &kept));
  ND4C_TRY(nd4c_emit_scalar(&emission->emitter, to->dtype, 0, &zero));
  ND4C_TRY(nd4c_emit_scalar(&emission->emitter, to->dtype, to->hidden, &hidden));
  ND4C_TRY(nd4c_emit_where(&emission->emitter, kept, zero, hidden, added));
  return bias == ND4C_ONNX_OPERAND_NONE ? ND4C_OK
                                        : nd4c_emit_binary(&emission->emitter, ND4C_OP_add, *added, bias, added);
}

/* -- one attention ---------------------------------------------------------------------------------------------------
 */

/* The operands of a node: q, k and v are [n, t, heads * head], or all [n, heads, t, head]. */
typedef struct attended {
  nd4c_onnx_operand q, k, v, mask, bias, past_key, past_value;
  int64_t heads;
} attended;

/* Emits it with what the node's attributes say. outputs: those of attention_with_cache; without `cache` the first
 * alone. */
static nd4c_status attend(nd4c_onnx_emission *emission, const attended *a, bool cache, nd4c_onnx_operand outputs[4]) {
  const nd4c_emitted_info q = nd4c_emitted_get(&emission->emitter, a->q);
  const nd4c_emitted_info k = nd4c_emitted_get(&emission->emitter, a->k);
  masked to = {.dtype = q.dtype, .batch = q.shape[0], .keys = k.shape[k.rank - 2]};
  nd4c_onnx_operand inputs[6] = {a->q, a->k, a->v, ND4C_ONNX_OPERAND_NONE, a->past_key, a->past_value};
  int64_t causal = 0;
  double scale = 0;
  if ((a->past_key == ND4C_ONNX_OPERAND_NONE) != (a->past_value == ND4C_ONNX_OPERAND_NONE)) {
    return nd4c_fail(ND4C_FORMAT, "one of past_key and past_value is left out; expected both or none");
  }
  ND4C_TRY(nd4c_onnx_get_float(emission, "mask_filter_value", -10000, &to.hidden));
  ND4C_TRY(nd4c_onnx_get_int(emission, "unidirectional", 0, &causal));
  ND4C_TRY(nd4c_onnx_get_float(emission, "scale", 0, &scale));
  if (a->past_key != ND4C_ONNX_OPERAND_NONE) {
    const nd4c_emitted_info past = nd4c_emitted_get(&emission->emitter, a->past_key);
    ND4C_TRY(nd4c_onnx_extent_sum(emission, to.keys, past.rank == 4 ? past.shape[2] : 0, &to.keys));
  }
  ND4C_TRY(score_mask(emission, &to, a->mask, a->bias, &inputs[3]));
  const int64_t heads = q.rank == 3 ? a->heads : 0;
  const nd4c_attr attrs[] = {nd4c_attr_of_int("q_heads", heads), nd4c_attr_of_int("kv_heads", heads),
                             nd4c_attr_of_float("scale", scale), nd4c_attr_of_bool("is_causal", causal != 0),
                             nd4c_attr_of_int("scores_mode", ND4C_SCORES_MODE_SOFTMAX)};
  return cache ? nd4c_emit_outputs(&emission->emitter, ND4C_OP_attention_with_cache, inputs, 6, attrs, 5, outputs, 4)
               : nd4c_emit(&emission->emitter, ND4C_OP_attention, inputs, 6, attrs, 4, outputs);
}

/* -- Attention and QAttention: one product gives q, k and v ----------------------------------------------------------
 */

/* How many features q, k and v have. */
static nd4c_status read_sizes(nd4c_onnx_emission *emission, int64_t features, int64_t sizes[3]) {
  const int64_t *given = NULL;
  int32_t count = 0;
  ND4C_TRY(nd4c_onnx_get_ints(emission, "qkv_hidden_sizes", &given, &count));
  ND4C_TRY(nd4c_onnx_check_number(emission, features, "the number of features"));
  bool sound = count == 0 ? features % 3 == 0 : count == 3;
  int64_t rest = features;
  for (int32_t i = 0; i < 3 && sound; i++) {
    sizes[i] = count == 0 ? features / 3 : given[i];
    sound = sizes[i] >= 0 && sizes[i] <= rest;
    rest -= sound ? sizes[i] : 0;
  }
  return sound && rest == 0 ? ND4C_OK
                            : nd4c_fail(ND4C_SHAPE, "the weights give %lld features, which are not those of q, k and v",
                                        (long long)features);
}

/* product: [n, t, features]; past: keys and values in one array, NONE for none. */
static nd4c_status attend_to_product(nd4c_onnx_emission *emission, nd4c_onnx_operand product, nd4c_onnx_operand past,
                                     nd4c_onnx_operand mask, nd4c_onnx_operand bias) {
  attended a = {.mask = mask, .bias = bias, .past_key = ND4C_ONNX_OPERAND_NONE, .past_value = ND4C_ONNX_OPERAND_NONE};
  nd4c_onnx_operand parts[3], outputs[4];
  const nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, product);
  const bool cache = nd4c_onnx_wants(emission, 1);
  int64_t sizes[3] = {0};
  if (info.rank != 3) {
    return nd4c_fail(ND4C_SHAPE, "the input has rank %d; expected [batch, length, features]", (int)info.rank);
  }
  ND4C_TRY(nd4c_onnx_refuse_int(emission, "do_rotary", 0));
  ND4C_TRY(nd4c_onnx_refuse_int(emission, "past_present_share_buffer", 0));
  ND4C_TRY(nd4c_onnx_get_int(emission, "num_heads", 0, &a.heads));
  ND4C_TRY(read_sizes(emission, info.shape[2], sizes));
  ND4C_TRY(nd4c_onnx_emit_parts(emission, product, 3, sizes, parts));
  a.q = parts[0];
  a.k = parts[1];
  a.v = parts[2];
  if (past != ND4C_ONNX_OPERAND_NONE) {
    ND4C_TRY(nd4c_compose_select(&emission->emitter, past, 0, 0, &a.past_key));
    ND4C_TRY(nd4c_compose_select(&emission->emitter, past, 0, 1, &a.past_value));
  }
  ND4C_TRY(attend(emission, &a, cache, outputs));
  emission->outputs[0] = outputs[0];
  return cache ? nd4c_compose_stack(&emission->emitter, &outputs[1], 2, 0, &emission->outputs[1]) : ND4C_OK;
}

static nd4c_status emit_attention(nd4c_onnx_emission *emission) {
  const nd4c_onnx_operand inputs[3] = {emission->inputs[0], emission->inputs[1], nd4c_onnx_input(emission, 2)};
  nd4c_onnx_operand product;
  nd4c_onnx_ignore(emission, "rotary_embedding_dim"); /* read only with do_rotary */
  ND4C_TRY(nd4c_onnx_refuse_inputs(emission, 6, 6, "cache in one buffer"));
  ND4C_TRY(nd4c_emit(&emission->emitter, ND4C_OP_linear, inputs, 3, NULL, 0, &product));
  return attend_to_product(emission, product, nd4c_onnx_input(emission, 4), nd4c_onnx_input(emission, 3),
                           nd4c_onnx_input(emission, 5));
}

static nd4c_status emit_quantized_attention(nd4c_onnx_emission *emission) {
  const nd4c_onnx_scaled_product scaled = {.a = emission->inputs[0],
                                           .b = emission->inputs[1],
                                           .a_scale = emission->inputs[3],
                                           .b_scale = emission->inputs[4],
                                           .a_zero_point = nd4c_onnx_input(emission, 6),
                                           .b_zero_point = nd4c_onnx_input(emission, 7),
                                           .bias = emission->inputs[2]};
  nd4c_onnx_operand product;
  ND4C_TRY(nd4c_onnx_emit_scaled_product(emission, &scaled, &product));
  return attend_to_product(emission, product, nd4c_onnx_input(emission, 8), nd4c_onnx_input(emission, 5),
                           ND4C_ONNX_OPERAND_NONE);
}

/* -- MultiHeadAttention ----------------------------------------------------------------------------------------------
 */

/* Part `index` of x [n, t, heads, parts, head], as [n, t, heads * head]. */
static nd4c_status packed_part(nd4c_onnx_emission *emission, nd4c_onnx_operand x, int64_t index, nd4c_onnx_operand *y) {
  const nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, x);
  const int64_t shape[3] = {info.shape[0], info.shape[1], -1};
  ND4C_TRY(nd4c_compose_select(&emission->emitter, x, 3, index, y));
  return nd4c_emit_reshape(&emission->emitter, *y, 3, shape, y);
}

/* q, k and v from the inputs, which may hold two or three of them in one array. */
static nd4c_status read_operands(nd4c_onnx_emission *emission, attended *a) {
  const nd4c_onnx_operand query = emission->inputs[0];
  const nd4c_onnx_operand key = nd4c_onnx_input(emission, 1), value = nd4c_onnx_input(emission, 2);
  const bool three = nd4c_emitted_get(&emission->emitter, query).rank == 5;
  if (three != (key == ND4C_ONNX_OPERAND_NONE) || (three && value != ND4C_ONNX_OPERAND_NONE)) {
    return nd4c_fail(ND4C_FORMAT, "expected a query of rank 5 that holds key and value, or both beside it");
  }
  if (three) {
    ND4C_TRY(packed_part(emission, query, 0, &a->q));
    ND4C_TRY(packed_part(emission, query, 1, &a->k));
    return packed_part(emission, query, 2, &a->v);
  }
  const bool two = nd4c_emitted_get(&emission->emitter, key).rank == 5;
  if (two != (value == ND4C_ONNX_OPERAND_NONE)) {
    return nd4c_fail(ND4C_FORMAT, "expected a key of rank 5 that holds the value, or a value beside it");
  }
  a->q = query;
  a->k = key;
  a->v = value;
  if (two) {
    ND4C_TRY(packed_part(emission, key, 0, &a->k));
    return packed_part(emission, key, 1, &a->v);
  }
  return ND4C_OK;
}

/* Adds the bias of the projections, one vector for q, k and v; where k and v are split into heads, they have theirs. */
static nd4c_status add_bias(nd4c_onnx_emission *emission, attended *a, bool split) {
  const nd4c_onnx_operand bias = nd4c_onnx_input(emission, 3);
  nd4c_onnx_operand *const to[3] = {&a->q, &a->k, &a->v}, parts[3];
  int64_t sizes[3];
  if (bias == ND4C_ONNX_OPERAND_NONE) {
    return ND4C_OK;
  }
  for (int32_t i = 0; i < 3; i++) {
    const nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, *to[i]);
    const int64_t factors[2] = {info.shape[info.rank - 1], info.rank == 4 ? a->heads : 1};
    ND4C_TRY(nd4c_onnx_check_number(emission, factors[0], "the number of features"));
    ND4C_TRY(nd4c_onnx_extent_size(emission, 2, factors, &sizes[i]));
  }
  ND4C_TRY(nd4c_onnx_emit_parts(emission, bias, 3, sizes, parts));
  for (int32_t i = 0; i < (split ? 1 : 3); i++) {
    ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_add, *to[i], parts[i], to[i]));
  }
  return ND4C_OK;
}

static nd4c_status emit_multi_head_attention(nd4c_onnx_emission *emission) {
  attended a = {.mask = nd4c_onnx_input(emission, 4),
                .bias = nd4c_onnx_input(emission, 5),
                .past_key = nd4c_onnx_input(emission, 6),
                .past_value = nd4c_onnx_input(emission, 7)};
  nd4c_onnx_operand outputs[4];
  const bool cache = nd4c_onnx_wants(emission, 1) || nd4c_onnx_wants(emission, 2) || nd4c_onnx_wants(emission, 3);
  ND4C_TRY(nd4c_onnx_refuse_inputs(emission, 8, 9, "cache in one buffer"));
  ND4C_TRY(nd4c_onnx_get_int(emission, "num_heads", 0, &a.heads));
  ND4C_TRY(read_operands(emission, &a));
  const int32_t rank = nd4c_emitted_get(&emission->emitter, a.k).rank;
  const bool split = rank == 4;
  if (a.heads < 1 || nd4c_emitted_get(&emission->emitter, a.q).rank != 3 || (rank != 3 && !split) ||
      nd4c_emitted_get(&emission->emitter, a.v).rank != rank) {
    return nd4c_fail(ND4C_FORMAT,
                     "expected num_heads of at least 1, a query of rank 3 or 5, and a key and a value of "
                     "rank 3 or 4");
  }
  ND4C_TRY(add_bias(emission, &a, split));
  if (split) {
    ND4C_TRY(nd4c_onnx_split_heads(emission, a.q, a.heads, &a.q));
  }
  ND4C_TRY(attend(emission, &a, cache, outputs));
  for (int32_t i = 0; i < (cache ? 4 : 1); i++) {
    emission->outputs[i] = outputs[i];
  }
  return split ? nd4c_onnx_join_heads(emission, outputs[0], &emission->outputs[0]) : ND4C_OK;
}

/* -- RotaryEmbedding -------------------------------------------------------------------------------------------------
 */

/* Positions [n, t] from one, the first, that is [1]. */
static nd4c_status positions_from(nd4c_onnx_emission *emission, int64_t batch, int64_t length,
                                  nd4c_onnx_operand *positions) {
  const nd4c_attr stop = nd4c_attr_of_int("stop", length);
  const int64_t shape[2] = {batch, length};
  nd4c_onnx_operand steps;
  ND4C_TRY(nd4c_emit(&emission->emitter, ND4C_OP_integer_range, NULL, 0, &stop, 1, &steps));
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_add, steps, *positions, positions));
  return nd4c_emit_broadcast(&emission->emitter, *positions, 2, shape, positions);
}

static nd4c_status emit_rotary_embedding(nd4c_onnx_emission *emission) {
  nd4c_onnx_operand inputs[4] = {emission->inputs[0], emission->inputs[2], emission->inputs[3], emission->inputs[1]};
  const nd4c_emitted_info x = nd4c_emitted_get(&emission->emitter, inputs[0]);
  const nd4c_emitted_info cos = nd4c_emitted_get(&emission->emitter, inputs[1]);
  double scale = 1;
  nd4c_onnx_attrs attrs;
  ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  ND4C_TRY(nd4c_onnx_refuse_int(emission, "is_packed_batching", 0));
  ND4C_TRY(nd4c_onnx_get_float(emission, "scale", 1, &scale));
  if (scale != 1) {
    return nd4c_fail(ND4C_UNSUPPORTED, "attribute 'scale' is %g; nd4c knows only 1 here", scale);
  }
  if ((x.rank != 3 && x.rank != 4) || cos.rank != 2) {
    return nd4c_fail(ND4C_SHAPE, "the input has rank %d and cos_cache %d; expected 3 or 4, and 2", (int)x.rank,
                     (int)cos.rank);
  }
  int64_t *heads = &attrs.list[0].value.as.i;
  if (x.rank == 4) {
    *heads = 0;
  } else if (*heads == 0) { /* whole heads are turned */
    ND4C_TRY(nd4c_onnx_check_number(emission, cos.shape[1], "the size of a head"));
    ND4C_TRY(nd4c_onnx_check_number(emission, x.shape[2], "the number of features"));
    *heads = cos.shape[1] > 0 ? x.shape[2] / 2 / cos.shape[1] : 0;
  }
  if (nd4c_emitted_get(&emission->emitter, inputs[3]).rank == 1) {
    ND4C_TRY(positions_from(emission, x.shape[0], x.shape[x.rank - 2], &inputs[3]));
  }
  return nd4c_onnx_emit_attrs(emission, ND4C_OP_rotary_embedding, inputs, 4, &attrs);
}

/* -- rows ---------------------------------------------------------------------------------------------------------- */

#define ROWS                                                                                                      \
  CHAIN(Attention, 1, LAST, 2, 7, 2, attention, NONE, "linear, slice, attention (with_cache, stack)")             \
  CHAIN(QAttention, 1, LAST, 5, 9, 2, quantized_attention, NONE,                                                  \
        "matmul_integer, cast, multiply, add, slice, attention (with_cache, stack)")                              \
  CHAIN(MultiHeadAttention, 1, LAST, 1, 10, 4, multi_head_attention, NONE, "add, attention (with_cache)")         \
  READ(RotaryEmbedding, 1, LAST, 4, 4, 1, rotary_embedding, rotary_embedding, ATTR("num_heads", INT, "heads", 0), \
       ATTR("rotary_embedding_dim", INT, "rotary_dim", 0), ATTR("interleaved", BOOL, "interleaved", 0))

ND4C_ONNX_FAMILY(attention_microsoft, "com.microsoft", ROWS)
