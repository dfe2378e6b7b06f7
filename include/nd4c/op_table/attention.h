/* Rows of the op table: attention, linear attention, rotary embedding, embedding_bag. op_table.h says how to read
 * them. */
#ifndef ND4C_OP_TABLE_ATTENTION_H
#define ND4C_OP_TABLE_ATTENTION_H

/* How linear_attention updates its state. */
#define ND4C_UPDATE_RULE_TABLE(X) \
  X(LINEAR, 0, "linear")          \
  X(GATED, 1, "gated")            \
  X(DELTA, 2, "delta")            \
  X(GATED_DELTA, 3, "gated_delta")

/* q, k, v: [n, heads, t, head], or [n, t, heads * head] if q_heads and kv_heads are given. scale 0: 1 / sqrt(head). */
#define ND4C_SIG_ATTENTION_BASE(A, op) \
  A(op, IN, q, 0)                      \
  A(op, IN, k, 0)                      \
  A(op, IN, v, 0)                      \
  A(op, OPT, mask, 0)                  \
  A(op, OPT, past_key, 0)              \
  A(op, OPT, past_value, 0)            \
  A(op, OPT, key_lengths, 0)           \
  A(op, INT, q_heads, 0)               \
  A(op, INT, kv_heads, 0)              \
  A(op, FLOAT, scale, 0.0)             \
  A(op, BOOL, is_causal, 0)            \
  A(op, FLOAT, softcap, 0.0) A(op, INT, left_window, -1) A(op, INT, right_window, -1)
#define ND4C_SIG_ATTENTION(A, op) ND4C_SIG_ATTENTION_BASE(A, op) A(op, OUT, y, 0)
/* The step after which attention_with_cache gives the scores: scale q k^T, the soft cap, the mask, the softmax. The
 * numbers are ONNX's. */
#define ND4C_SCORES_MODE_TABLE(X) \
  X(SCALED, 0, "scaled")          \
  X(CAPPED, 1, "capped")          \
  X(MASKED, 2, "masked")          \
  X(SOFTMAX, 3, "softmax")

#define ND4C_SIG_ATTENTION_CACHE(A, op)                          \
  ND4C_SIG_ATTENTION_BASE(A, op)                                 \
  A(op, WORD, scores_mode, scores_mode, ND4C_SCORES_MODE_SCALED) \
  A(op, OUT, y, 0) A(op, OUT, present_key, 0) A(op, OUT, present_value, 0) A(op, OUT, scores, 0)
#define ND4C_SIG_MULTI_HEAD(A, op) \
  A(op, IN, q, 0)                  \
  A(op, IN, k, 0)                  \
  A(op, IN, v, 0)                  \
  A(op, IN, wq, 0)                 \
  A(op, IN, wk, 0)                 \
  A(op, IN, wv, 0)                 \
  A(op, IN, wo, 0)                 \
  A(op, OPT, bq, 0)                \
  A(op, OPT, bk, 0)                \
  A(op, OPT, bv, 0)                \
  A(op, OPT, bo, 0)                \
  A(op, OPT, mask, 0) A(op, INT, heads, 1) A(op, BOOL, is_causal, 0) A(op, OUT, y, 0)
#define ND4C_SIG_ROTARY(A, op) \
  A(op, IN, x, 0)              \
  A(op, IN, cos, 0)            \
  A(op, IN, sin, 0)            \
  A(op, OPT, position_ids, 0)  \
  A(op, INT, heads, 0)         \
  A(op, INT, rotary_dim, 0) A(op, BOOL, interleaved, 0) A(op, OUT, y, 0)
#define ND4C_SIG_LINEAR_ATTENTION(A, op) \
  A(op, IN, q, 0)                        \
  A(op, IN, k, 0)                        \
  A(op, IN, v, 0)                        \
  A(op, OPT, past_state, 0)              \
  A(op, OPT, decay, 0)                   \
  A(op, OPT, beta, 0)                    \
  A(op, INT, q_heads, 1)                 \
  A(op, INT, kv_heads, 1)                \
  A(op, FLOAT, scale, 0.0)               \
  A(op, WORD, update_rule, update_rule, ND4C_UPDATE_RULE_LINEAR) A(op, OUT, y, 0) A(op, OUT, present_state, 0)

/* How embedding_bag combines the rows of a bag. */
#define ND4C_BAG_MODE_TABLE(X) \
  X(SUM, 0, "sum")             \
  X(MEAN, 1, "mean")           \
  X(MAX, 2, "max")

#define ND4C_SIG_EMBEDDING_BAG(A, op) \
  A(op, IN, table, 0)                 \
  A(op, IN, indices, 0)               \
  A(op, OPT, offsets, 0)              \
  A(op, OPT, weights, 0) A(op, WORD, mode, bag_mode, ND4C_BAG_MODE_SUM) A(op, INT, padding_index, -1) A(op, OUT, y, 0)

#define ND4C_OPS_ATTENTION(OP)                                                                                        \
  OP(660, 1, attention, NN, ND4C_SIG_ATTENTION, attention, REAL_FLOATING,                                             \
     "y = softmax(softcap(scale q k^T) + mask) v for each head; past_key and past_value stand before k and v; each "  \
     "group of q's heads shares one head of k and v. A key takes no part if a boolean mask is false there, if it is " \
     "past key_lengths, if is_causal and it comes after the query, or if it is outside the windows; a query without " \
     "keys gives 0",                                                                                                  \
     "|nn.functional.scaled_dot_product_attention|Attention|dotProductAttention", NONE, OPTIONS)                      \
  OP(661, 1, attention_with_cache, NN, ND4C_SIG_ATTENTION_CACHE, attention_with_cache, REAL_FLOATING,                 \
     "attention; also gives past_key with k appended, past_value with v appended, and the scores after the step "     \
     "that scores_mode names",                                                                                        \
     "||Attention|", NONE, OPTIONS)                                                                                   \
  OP(662, 1, multi_head_attention, NN, ND4C_SIG_MULTI_HEAD, multi_head_attention, REAL_FLOATING,                      \
     "attention of q wq^T + bq, k wk^T + bk and v wv^T + bv ([n, t, features]), split into heads; the result times "  \
     "wo^T, plus bo",                                                                                                 \
     "|nn.MultiheadAttention||multiHeadDotProductAttention", NONE, OPTIONS)                                           \
  OP(663, 1, rotary_embedding, NN, ND4C_SIG_ROTARY, rotary_embedding, REAL_FLOATING,                                  \
     "rotates pairs of x's first rotary_dim (0: all) features by the angles of cos and sin, [n, t, pairs] or, with "  \
     "position_ids [n, t], [positions, pairs]; a pair is one feature from each half or, if interleaved, two "         \
     "neighbours",                                                                                                    \
     "||RotaryEmbedding, com.microsoft.RotaryEmbedding|")                                                             \
  OP(664, 1, linear_attention, NN, ND4C_SIG_LINEAR_ATTENTION, linear_attention, REAL_FLOATING,                        \
     "y = scale q^T S of a state S [n, heads, head, v_head] with S += k v^T at each step; gated: S scaled by "        \
     "e^decay before; delta: v replaced by beta (v - S^T k)",                                                         \
     "||LinearAttention|", NONE, OPTIONS)                                                                             \
  OP(665, 1, embedding_bag, NN, ND4C_SIG_EMBEDDING_BAG, embedding_bag, REAL_FLOATING,                                 \
     "rows of table at indices, times weights, reduced for each bag; a bag is a row of indices [bags, n], or the "    \
     "indices from one of offsets to the next; padding_index is left out; an empty bag gives 0",                      \
     "|nn.functional.embedding_bag||")

#endif
