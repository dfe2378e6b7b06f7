/* Inference rules of op_table/attention.h. nd4c_op_infer (infer.c) calls the rule that an op's row names. */
#include "base/status.h"
#include "ops/infer/rules.h"

enum { KEY_AXES = 4, ANY = -1 /* number of outputs */ };

/* Sizes of one of q, k, v. */
typedef struct operand {
  int64_t batch, heads, length, head;
} operand;

static nd4c_status read_operand(const nd4c_inference *inference, int32_t position, int64_t heads, operand *o) {
  const nd4c_tensor *x = &inference->inputs[position];
  if (x->rank == 4) {
    *o = (operand){x->shape[0], x->shape[1], x->shape[2], x->shape[3]};
    return ND4C_OK;
  }
  if (heads < 1 || !nd4c_rule_is_multiple(inference, x->shape[2], heads)) {
    return nd4c_rule_refuse(inference, position, heads < 1 ? ND4C_ARGUMENT : ND4C_SHAPE,
                            "expected a last axis that is a multiple of the number of heads, which is %lld",
                            (long long)heads);
  }
  *o = (operand){x->shape[0], heads, x->shape[1], 0};
  (void)nd4c_rule_divide(inference, x->shape[2], heads, &o->head);
  return ND4C_OK;
}

static nd4c_status check_ranks(const nd4c_inference *inference) {
  const nd4c_tensor *q = &inference->inputs[0];
  const nd4c_attr_value *attrs = inference->attrs;
  if (q->rank != 3 && q->rank != 4) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected [n, heads, t, head] or [n, t, heads * head]");
  }
  for (int32_t i = 1; i < 3; i++) {
    ND4C_TRY(nd4c_rule_expect_rank(inference, i, q->rank, "as many axes as q has"));
  }
  bool given = attrs[ND4C_ATTR_attention_q_heads].as.i != 0 || attrs[ND4C_ATTR_attention_kv_heads].as.i != 0;
  if (q->rank == 4 && given) {
    return nd4c_rule_refuse(inference, 0, ND4C_ARGUMENT, "expected no numbers of heads beside 4 axes");
  }
  return ND4C_OK;
}

static nd4c_status check_match(const nd4c_inference *inference, const operand *q, const operand *k, const operand *v) {
  if (!nd4c_rule_is_equal(inference, k->batch, q->batch) || !nd4c_rule_is_equal(inference, k->head, q->head) ||
      !nd4c_rule_is_at_least(inference, k->heads, 1) || !nd4c_rule_is_multiple(inference, q->heads, k->heads)) {
    return nd4c_rule_refuse(inference, 1, ND4C_SHAPE,
                            "expected q's batch %lld and head size %lld, and a number of heads that divides its %lld",
                            (long long)q->batch, (long long)q->head, (long long)q->heads);
  }
  if (!nd4c_rule_is_equal(inference, v->batch, k->batch) || !nd4c_rule_is_equal(inference, v->heads, k->heads) ||
      !nd4c_rule_is_equal(inference, v->length, k->length)) {
    return nd4c_rule_refuse(inference, 2, ND4C_SHAPE, "expected k's batch %lld, heads %lld and length %lld",
                            (long long)k->batch, (long long)k->heads, (long long)k->length);
  }
  return ND4C_OK;
}

/* past_key and past_value: both are given or none; each is [n, heads, past, head] in the dtype of k or v. */
static nd4c_status check_past(const nd4c_inference *inference, const operand *k, const operand *v, int64_t *total) {
  const nd4c_tensor *key = nd4c_rule_input(inference, ND4C_IN_attention_past_key);
  const nd4c_tensor *value = nd4c_rule_input(inference, ND4C_IN_attention_past_value);
  const nd4c_tensor *lengths = nd4c_rule_input(inference, ND4C_IN_attention_key_lengths);
  *total = k->length;
  if ((key == NULL) != (value == NULL) || (key != NULL && lengths != NULL)) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: expected past_key and past_value together, and without key_lengths",
                     inference->op->name);
  }
  if (key == NULL) {
    return ND4C_OK;
  }
  const int64_t key_shape[KEY_AXES] = {k->batch, k->heads, key->rank == KEY_AXES ? key->shape[2] : 0, k->head};
  const int64_t value_shape[KEY_AXES] = {k->batch, k->heads, key_shape[2], v->head};
  ND4C_TRY(
      nd4c_rule_expect_shape(inference, ND4C_IN_attention_past_key, KEY_AXES, key_shape, "k's but for the length"));
  ND4C_TRY(nd4c_rule_expect_shape(inference, ND4C_IN_attention_past_value, KEY_AXES, value_shape, "as past_key"));
  if (value->dtype != inference->inputs[2].dtype) {
    return nd4c_rule_refuse(inference, ND4C_IN_attention_past_value, ND4C_DTYPE, "expected %s, the dtype of input v",
                            nd4c_dtype_name(inference->inputs[2].dtype));
  }
  if (!nd4c_rule_add(inference, *total, key->shape[2], total)) {
    return nd4c_rule_refuse(inference, ND4C_IN_attention_past_key, ND4C_OVERFLOW, "expected fewer than 2^63 keys");
  }
  return ND4C_OK;
}

/* Any numbers or bools that broadcast to [n, heads, queries, keys]; its last axis may be shorter than the keys. */
static nd4c_status check_mask(const nd4c_inference *inference, int32_t position, const operand *q, int64_t total) {
  const nd4c_tensor *mask = nd4c_rule_input(inference, position);
  if (mask == NULL) {
    return ND4C_OK;
  }
  nd4c_dtype_kind kind = nd4c_dtype_get_info(mask->dtype)->kind;
  if (kind == ND4C_KIND_COMPLEX || kind == ND4C_KIND_STRING) {
    return nd4c_rule_refuse(inference, position, ND4C_DTYPE, "expected bool or real numbers");
  }
  int64_t shape[KEY_AXES] = {q->batch, q->heads, q->length, total};
  if (mask->rank > 0 && nd4c_rule_is_at_least(inference, total, mask->shape[mask->rank - 1])) {
    shape[3] = mask->shape[mask->rank - 1];
  }
  return nd4c_rule_broadcasts_to(inference, position, "[n, heads, queries, keys]", KEY_AXES, shape);
}

static nd4c_status check_windows(const nd4c_inference *inference) {
  const nd4c_attr_value *attrs = inference->attrs;
  for (int32_t i = ND4C_ATTR_attention_left_window; i <= ND4C_ATTR_attention_right_window; i++) {
    if (attrs[i].as.i < -1) {
      return nd4c_fail(ND4C_ARGUMENT, "%s: %s is %lld, expected -1 (no bound) or more", inference->op->name,
                       inference->op->attrs[i].name, (long long)attrs[i].as.i);
    }
  }
  double cap = attrs[ND4C_ATTR_attention_softcap].as.f;
  if (!(cap >= 0)) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: softcap is %g, expected 0 (none) or a bound above", inference->op->name, cap);
  }
  return ND4C_OK;
}

/* Outputs y and, of attention_with_cache, the others. */
static nd4c_status infer_attention(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  const nd4c_attr_value *attrs = inference->attrs;
  operand q, k, v;
  int64_t total, kv_heads = attrs[ND4C_ATTR_attention_kv_heads].as.i;
  ND4C_TRY(nd4c_rule_same_dtype(inference, 1));
  ND4C_TRY(nd4c_rule_accepted_dtype(inference, 2));
  ND4C_TRY(nd4c_rule_same_dtype(inference, ND4C_IN_attention_past_key));
  ND4C_TRY(nd4c_rule_integers(inference, ND4C_IN_attention_key_lengths));
  ND4C_TRY(check_ranks(inference));
  ND4C_TRY(read_operand(inference, 0, attrs[ND4C_ATTR_attention_q_heads].as.i, &q));
  ND4C_TRY(read_operand(inference, 1, kv_heads, &k));
  ND4C_TRY(read_operand(inference, 2, kv_heads, &v));
  ND4C_TRY(check_match(inference, &q, &k, &v));
  ND4C_TRY(check_past(inference, &k, &v, &total));
  ND4C_TRY(check_mask(inference, ND4C_IN_attention_mask, &q, total));
  ND4C_TRY(nd4c_rule_expect_shape(inference, ND4C_IN_attention_key_lengths, 1, &q.batch, "one length a sequence"));
  ND4C_TRY(check_windows(inference));
  int64_t packed = 0;
  if (x->rank == 3 && !nd4c_rule_multiply(inference, q.heads, v.head, &packed)) {
    return nd4c_rule_refuse(inference, 2, ND4C_OVERFLOW, "expected fewer than 2^63 features");
  }
  const int64_t spread[KEY_AXES] = {q.batch, q.heads, q.length, v.head}, dense[3] = {q.batch, q.length, packed};
  nd4c_rule_output(inference, x->dtype, x->rank, x->rank == 3 ? dense : spread);
  if (inference->op->output_count > 1) {
    const int64_t key[KEY_AXES] = {q.batch, k.heads, total, k.head},
                  value[KEY_AXES] = {q.batch, k.heads, total, v.head};
    const int64_t scores[KEY_AXES] = {q.batch, q.heads, q.length, total};
    nd4c_rule_output_at(inference, 1, x->dtype, KEY_AXES, key);
    nd4c_rule_output_at(inference, 2, inference->inputs[2].dtype, KEY_AXES, value);
    nd4c_rule_output_at(inference, 3, x->dtype, KEY_AXES, scores);
  }
  return ND4C_OK;
}

/* Gives: q's layout with the head size of v: [n, heads, queries, v_head], or [n, queries, heads * v_head] for q of 3
 * axes; in q's dtype. */
nd4c_status nd4c_infer_attention(nd4c_inference *inference) {
  return infer_attention(inference);
}

/* Gives: y: as attention's; present_key [n, kv_heads, keys, head] in k's dtype and present_value [n, kv_heads, keys,
 * v_head] in v's, the past ones included; scores [n, heads, queries, keys] in q's dtype. */
nd4c_status nd4c_infer_attention_with_cache(nd4c_inference *inference) {
  ND4C_TRY(nd4c_rule_choice(inference, ND4C_ATTR_attention_with_cache_scores_mode));
  return infer_attention(inference);
}

/* -- multi_head_attention ----------------------------------------------------------------------------------------- */

/* Weights [outputs, features of input x], bias [outputs]. */
static nd4c_status check_projection(const nd4c_inference *inference, int32_t x, int32_t w, int32_t bias,
                                    int64_t features, int64_t heads, int64_t outputs) {
  const nd4c_tensor *weights = &inference->inputs[w];
  if (weights->rank != 2 || !nd4c_rule_is_equal(inference, weights->shape[1], features) ||
      !nd4c_rule_is_multiple(inference, weights->shape[0], heads) ||
      (outputs != ANY && !nd4c_rule_is_equal(inference, weights->shape[0], outputs))) {
    return nd4c_rule_refuse(inference, w, ND4C_SHAPE,
                            "expected [features out, %lld], features out a multiple of the %lld heads%s",
                            (long long)features, (long long)heads, outputs != ANY ? " and as wq's" : "");
  }
  (void)x;
  return nd4c_rule_expect_shape(inference, bias, 1, weights->shape, "one value a feature");
}

/* Gives: [n, queries, rows of wo], in q's dtype, for q, k and v [n, t, features]. All operands but the mask have one
 * dtype. */
nd4c_status nd4c_infer_multi_head_attention(nd4c_inference *inference) {
  const nd4c_tensor *q = &inference->inputs[0], *k = &inference->inputs[1], *v = &inference->inputs[2];
  const nd4c_tensor *wq = &inference->inputs[ND4C_IN_multi_head_attention_wq];
  const nd4c_tensor *wv = &inference->inputs[ND4C_IN_multi_head_attention_wv];
  const nd4c_tensor *wo = &inference->inputs[ND4C_IN_multi_head_attention_wo];
  int64_t heads = inference->attrs[ND4C_ATTR_multi_head_attention_heads].as.i;
  for (int32_t i = 1; i < ND4C_IN_multi_head_attention_mask; i++) {
    ND4C_TRY(nd4c_rule_same_dtype(inference, i));
  }
  if (heads < 1) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: heads is %lld, expected at least 1", inference->op->name, (long long)heads);
  }
  for (int32_t i = 0; i < 3; i++) {
    ND4C_TRY(nd4c_rule_expect_rank(inference, i, 3, "[n, t, features]"));
  }
  if (!nd4c_rule_is_equal(inference, k->shape[0], q->shape[0]) ||
      !nd4c_rule_is_equal(inference, v->shape[0], q->shape[0]) ||
      !nd4c_rule_is_equal(inference, v->shape[1], k->shape[1])) {
    return nd4c_rule_refuse(inference, 2, ND4C_SHAPE, "expected the batch of q and k, and the length of k");
  }
  ND4C_TRY(check_projection(inference, 0, ND4C_IN_multi_head_attention_wq, ND4C_IN_multi_head_attention_bq, q->shape[2],
                            heads, ANY));
  ND4C_TRY(check_projection(inference, 1, ND4C_IN_multi_head_attention_wk, ND4C_IN_multi_head_attention_bk, k->shape[2],
                            heads, wq->shape[0]));
  ND4C_TRY(check_projection(inference, 2, ND4C_IN_multi_head_attention_wv, ND4C_IN_multi_head_attention_bv, v->shape[2],
                            heads, ANY));
  ND4C_TRY(check_projection(inference, 3, ND4C_IN_multi_head_attention_wo, ND4C_IN_multi_head_attention_bo,
                            wv->shape[0], 1, ANY));
  const operand queries = {q->shape[0], heads, q->shape[1], 0};
  ND4C_TRY(check_mask(inference, ND4C_IN_multi_head_attention_mask, &queries, k->shape[1]));
  const int64_t shape[3] = {q->shape[0], q->shape[1], wo->shape[0]};
  nd4c_rule_output(inference, q->dtype, 3, shape);
  return ND4C_OK;
}

/* -- rotary_embedding --------------------------------------------------------------------------------------------- */

/* Gives: the shape and dtype of x, [n, heads, t, head] or [n, t, heads * head]. */
nd4c_status nd4c_infer_rotary_embedding(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0], *cos = &inference->inputs[1];
  const nd4c_tensor *ids = nd4c_rule_input(inference, ND4C_IN_rotary_embedding_position_ids);
  const nd4c_attr_value *attrs = inference->attrs;
  int64_t heads = attrs[ND4C_ATTR_rotary_embedding_heads].as.i,
          turned = attrs[ND4C_ATTR_rotary_embedding_rotary_dim].as.i, pairs = 0;
  operand o = {0};
  ND4C_TRY(nd4c_rule_same_dtype(inference, 1));
  ND4C_TRY(nd4c_rule_same_dtype(inference, 2));
  ND4C_TRY(nd4c_rule_integers(inference, ND4C_IN_rotary_embedding_position_ids));
  if (x->rank != 3 && x->rank != 4) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected [n, heads, t, head] or [n, t, heads * head]");
  }
  ND4C_TRY(read_operand(inference, 0, heads, &o));
  turned = turned == 0 ? o.head : turned;
  bool sound = (turned >= 0 || nd4c_extents_has(inference->extents, turned)) &&
               nd4c_rule_is_at_least(inference, o.head, turned) && nd4c_rule_is_multiple(inference, turned, 2) &&
               nd4c_rule_divide(inference, turned, 2, &pairs);
  if (!sound) {
    return nd4c_rule_refuse(inference, 0, ND4C_ARGUMENT,
                            "rotary_dim is %lld, expected an even number up to the head size %lld", (long long)turned,
                            (long long)o.head);
  }
  const int64_t direct[3] = {o.batch, o.length, pairs};
  const int64_t table[2] = {cos->rank == 2 ? cos->shape[0] : 0, pairs};
  for (int32_t i = 1; i < 3; i++) {
    ND4C_TRY(nd4c_rule_expect_shape(inference, i, ids != NULL ? 2 : 3, ids != NULL ? table : direct,
                                    ids != NULL ? "[positions, pairs]" : "[n, t, pairs]"));
  }
  ND4C_TRY(nd4c_rule_expect_shape(inference, ND4C_IN_rotary_embedding_position_ids, 2, direct, "[n, t]"));
  return nd4c_infer_same(inference);
}

/* -- linear_attention --------------------------------------------------------------------------------------------- */

/* Some update rules require decay or beta; the others refuse it. */
static nd4c_status check_gates(const nd4c_inference *inference, const operand *k) {
  int64_t rule = inference->attrs[ND4C_ATTR_linear_attention_update_rule].as.i;
  bool gated = rule == ND4C_UPDATE_RULE_GATED || rule == ND4C_UPDATE_RULE_GATED_DELTA;
  bool delta = rule == ND4C_UPDATE_RULE_DELTA || rule == ND4C_UPDATE_RULE_GATED_DELTA;
  const nd4c_tensor *decay = nd4c_rule_input(inference, ND4C_IN_linear_attention_decay);
  const nd4c_tensor *beta = nd4c_rule_input(inference, ND4C_IN_linear_attention_beta);
  if ((decay != NULL) != gated || (beta != NULL) != delta) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: expected decay %s and beta %s for update_rule %lld", inference->op->name,
                     gated ? "given" : "left out", delta ? "given" : "left out", (long long)rule);
  }
  for (int32_t i = ND4C_IN_linear_attention_decay; i <= ND4C_IN_linear_attention_beta; i++) {
    const nd4c_tensor *tensor = nd4c_rule_input(inference, i);
    int64_t other = 1;
    if (tensor != NULL && tensor->rank == 3 && nd4c_extents_has(inference->extents, tensor->shape[2])) {
      return nd4c_rule_needs_numbers(inference, i, "expected a number as its last extent");
    }
    if (i == ND4C_IN_linear_attention_decay && !nd4c_rule_multiply(inference, k->heads, k->head, &other)) {
      return nd4c_rule_refuse(inference, 1, ND4C_OVERFLOW, "expected fewer than 2^63 features");
    }
    if (tensor != NULL && (tensor->rank != 3 || !nd4c_rule_is_equal(inference, tensor->shape[0], k->batch) ||
                           !nd4c_rule_is_equal(inference, tensor->shape[1], k->length) ||
                           (tensor->shape[2] != k->heads && !nd4c_rule_is_equal(inference, tensor->shape[2], other)))) {
      return nd4c_rule_refuse(inference, i, ND4C_SHAPE, "expected (%lld, %lld, %lld or %lld)", (long long)k->batch,
                              (long long)k->length, (long long)k->heads, (long long)other);
    }
  }
  return ND4C_OK;
}

/* Gives: y: [n, t, q_heads * v_head] in q's dtype; present_state: [n, kv_heads, head, v_head] in the dtype of
 * past_state, or q's without past_state. */
nd4c_status nd4c_infer_linear_attention(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0], *past = nd4c_rule_input(inference, ND4C_IN_linear_attention_past_state);
  const nd4c_attr_value *attrs = inference->attrs;
  int64_t kv_heads = attrs[ND4C_ATTR_linear_attention_kv_heads].as.i, packed;
  operand q, k, v;
  for (int32_t i = 1; i < inference->input_count; i++) {
    if (i != ND4C_IN_linear_attention_past_state) {
      ND4C_TRY(nd4c_rule_same_dtype(inference, i));
    } else if (past != NULL) {
      ND4C_TRY(nd4c_rule_accepted_dtype(inference, i));
    }
  }
  ND4C_TRY(nd4c_rule_choice(inference, ND4C_ATTR_linear_attention_update_rule));
  for (int32_t i = 0; i < 3; i++) {
    ND4C_TRY(nd4c_rule_expect_rank(inference, i, 3, "[n, t, heads * head]"));
  }
  ND4C_TRY(read_operand(inference, 0, attrs[ND4C_ATTR_linear_attention_q_heads].as.i, &q));
  ND4C_TRY(read_operand(inference, 1, kv_heads, &k));
  ND4C_TRY(read_operand(inference, 2, kv_heads, &v));
  ND4C_TRY(check_match(inference, &q, &k, &v));
  if (!nd4c_rule_is_equal(inference, k.length, q.length)) {
    return nd4c_rule_refuse(inference, 1, ND4C_SHAPE, "expected q's length %lld", (long long)q.length);
  }
  ND4C_TRY(check_gates(inference, &k));
  const int64_t state[KEY_AXES] = {k.batch, k.heads, k.head, v.head};
  ND4C_TRY(nd4c_rule_expect_shape(inference, ND4C_IN_linear_attention_past_state, KEY_AXES, state,
                                  "[n, heads, head, v_head]"));
  if (!nd4c_rule_multiply(inference, q.heads, v.head, &packed)) {
    return nd4c_rule_refuse(inference, 2, ND4C_OVERFLOW, "expected fewer than 2^63 features");
  }
  const int64_t y[3] = {q.batch, q.length, packed};
  nd4c_rule_output(inference, x->dtype, 3, y);
  nd4c_rule_output_at(inference, 1, past != NULL ? past->dtype : x->dtype, KEY_AXES, state);
  return ND4C_OK;
}

/* Gives: [bags, features], in table's dtype, for table [rows, features]. There are as many bags as offsets, or as
 * rows of indices [bags, n]. */
nd4c_status nd4c_infer_embedding_bag(nd4c_inference *inference) {
  const nd4c_tensor *table = &inference->inputs[0], *indices = &inference->inputs[1];
  const nd4c_tensor *offsets = nd4c_rule_input(inference, ND4C_IN_embedding_bag_offsets);
  const nd4c_tensor *weights = nd4c_rule_input(inference, ND4C_IN_embedding_bag_weights);
  int64_t mode = inference->attrs[ND4C_ATTR_embedding_bag_mode].as.i;
  ND4C_TRY(nd4c_rule_choice(inference, ND4C_ATTR_embedding_bag_mode));
  ND4C_TRY(nd4c_rule_integers(inference, ND4C_IN_embedding_bag_indices));
  ND4C_TRY(nd4c_rule_integers(inference, ND4C_IN_embedding_bag_offsets));
  ND4C_TRY(nd4c_rule_same_dtype(inference, ND4C_IN_embedding_bag_weights));
  ND4C_TRY(nd4c_rule_expect_rank(inference, 0, 2, "[rows, features]"));
  ND4C_TRY(nd4c_rule_expect_rank(inference, 1, offsets != NULL ? 1 : 2,
                                 offsets != NULL ? "1 axis beside offsets" : "[bags, n] without offsets"));
  ND4C_TRY(nd4c_rule_expect_rank(inference, ND4C_IN_embedding_bag_offsets, 1, "[bags]"));
  ND4C_TRY(nd4c_rule_expect_shape(inference, ND4C_IN_embedding_bag_weights, indices->rank, indices->shape,
                                  "the shape of indices"));
  if (weights != NULL && mode != 0) {
    return nd4c_rule_refuse(inference, ND4C_IN_embedding_bag_weights, ND4C_ARGUMENT,
                            "expected none for mode %lld: only sums are weighted", (long long)mode);
  }
  const int64_t shape[2] = {offsets != NULL ? offsets->shape[0] : indices->shape[0], table->shape[1]};
  nd4c_rule_output(inference, table->dtype, 2, shape);
  return ND4C_OK;
}
