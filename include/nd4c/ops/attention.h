/* Op functions of the family attention, made from include/nd4c/op_table/attention.h by scripts/ops_header.py (target
 * ops-header): change the table, not this file. nd4c/ops.h says how to read the comments. */
#ifndef ND4C_OPS_ATTENTION_H
#define ND4C_OPS_ATTENTION_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/array.h"
#include "nd4c/context.h"
#include "nd4c/dtype.h"
#include "nd4c/export.h"
#include "nd4c/options.h"
#include "nd4c/ops/enums.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* Options of nd4c_attention. */
typedef struct nd4c_attention_options {
  uint32_t struct_size; /* set by ND4C_ATTENTION_DEFAULTS */
  const nd4c_array *mask;
  const nd4c_array *past_key;
  const nd4c_array *past_value;
  const nd4c_array *key_lengths;
  int64_t q_heads;
  int64_t kv_heads;
  double scale;
  bool is_causal;
  double softcap;
  int64_t left_window;
  int64_t right_window;
} nd4c_attention_options;
#define ND4C_ATTENTION_DEFAULTS \
  {ND4C_OPTIONS_SIZE(nd4c_attention_options, right_window), NULL, NULL, NULL, NULL, 0, 0, 0.0, false, 0.0, -1, -1}

/* attention: y = softmax(softcap(scale q k^T) + mask) v for each head; past_key and past_value stand before k and v;
 * each group of q's heads shares one head of k and v. A key takes no part if a boolean mask is false there, if it is
 * past key_lengths, if is_causal and it comes after the query, or if it is outside the windows; a query without keys
 * gives 0.
 * In: q (float), k, v.
 * Options: mask (NULL), past_key (NULL), past_value (NULL), key_lengths (NULL), q_heads (0), kv_heads (0), scale
 *     (0.0), is_causal (false), softcap (0.0), left_window (-1), right_window (-1).
 * Out: y: q's layout with the head size of v: [n, heads, queries, v_head], or [n, queries, heads * v_head] for q of 3
 *     axes; in q's dtype.
 * Statuses: ARGUMENT, DTYPE, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_attention(const nd4c_array *q, const nd4c_array *k, const nd4c_array *v,
                                    const nd4c_attention_options *options, nd4c_array **y);
ND4C_API nd4c_status nd4c_attention_on(nd4c_context *context, const nd4c_array *q, const nd4c_array *k,
                                       const nd4c_array *v, const nd4c_attention_options *options, nd4c_array **y);

/* Options of nd4c_attention_with_cache. */
typedef struct nd4c_attention_with_cache_options {
  uint32_t struct_size; /* set by ND4C_ATTENTION_WITH_CACHE_DEFAULTS */
  const nd4c_array *mask;
  const nd4c_array *past_key;
  const nd4c_array *past_value;
  const nd4c_array *key_lengths;
  int64_t q_heads;
  int64_t kv_heads;
  double scale;
  bool is_causal;
  double softcap;
  int64_t left_window;
  int64_t right_window;
  nd4c_scores_mode scores_mode;
} nd4c_attention_with_cache_options;
#define ND4C_ATTENTION_WITH_CACHE_DEFAULTS \
  {ND4C_OPTIONS_SIZE(nd4c_attention_with_cache_options, scores_mode), NULL, NULL, NULL, NULL, 0, 0, 0.0, false, 0.0, \
   -1, -1, ND4C_SCORES_MODE_SCALED}

/* attention_with_cache: attention; also gives past_key with k appended, past_value with v appended, and the scores
 * after the step that scores_mode names.
 * In: q (float), k, v.
 * Options: mask (NULL), past_key (NULL), past_value (NULL), key_lengths (NULL), q_heads (0), kv_heads (0), scale
 *     (0.0), is_causal (false), softcap (0.0), left_window (-1), right_window (-1), scores_mode
 *     (ND4C_SCORES_MODE_SCALED).
 * Out: y: as attention's; present_key [n, kv_heads, keys, head] in k's dtype and present_value [n, kv_heads, keys,
 *     v_head] in v's, the past ones included; scores [n, heads, queries, keys] in q's dtype.
 * Statuses: ARGUMENT, DTYPE, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_attention_with_cache(const nd4c_array *q, const nd4c_array *k, const nd4c_array *v,
                                               const nd4c_attention_with_cache_options *options, nd4c_array **y,
                                               nd4c_array **present_key, nd4c_array **present_value,
                                               nd4c_array **scores);
ND4C_API nd4c_status nd4c_attention_with_cache_on(nd4c_context *context, const nd4c_array *q, const nd4c_array *k,
                                                  const nd4c_array *v, const nd4c_attention_with_cache_options *options,
                                                  nd4c_array **y, nd4c_array **present_key, nd4c_array **present_value,
                                                  nd4c_array **scores);

/* Options of nd4c_multi_head_attention. */
typedef struct nd4c_multi_head_attention_options {
  uint32_t struct_size; /* set by ND4C_MULTI_HEAD_ATTENTION_DEFAULTS */
  const nd4c_array *bq;
  const nd4c_array *bk;
  const nd4c_array *bv;
  const nd4c_array *bo;
  const nd4c_array *mask;
  int64_t heads;
  bool is_causal;
} nd4c_multi_head_attention_options;
#define ND4C_MULTI_HEAD_ATTENTION_DEFAULTS \
  {ND4C_OPTIONS_SIZE(nd4c_multi_head_attention_options, is_causal), NULL, NULL, NULL, NULL, NULL, 1, false}

/* multi_head_attention: attention of q wq^T + bq, k wk^T + bk and v wv^T + bv ([n, t, features]), split into heads;
 * the result times wo^T, plus bo.
 * In: q (float), k, v, wq, wk, wv, wo.
 * Options: bq (NULL), bk (NULL), bv (NULL), bo (NULL), mask (NULL), heads (1), is_causal (false).
 * Out: y: [n, queries, rows of wo], in q's dtype, for q, k and v [n, t, features]. All operands but the mask have one
 *     dtype.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_multi_head_attention(const nd4c_array *q, const nd4c_array *k, const nd4c_array *v,
                                               const nd4c_array *wq, const nd4c_array *wk, const nd4c_array *wv,
                                               const nd4c_array *wo, const nd4c_multi_head_attention_options *options,
                                               nd4c_array **y);
ND4C_API nd4c_status nd4c_multi_head_attention_on(nd4c_context *context, const nd4c_array *q, const nd4c_array *k,
                                                  const nd4c_array *v, const nd4c_array *wq, const nd4c_array *wk,
                                                  const nd4c_array *wv, const nd4c_array *wo,
                                                  const nd4c_multi_head_attention_options *options, nd4c_array **y);

/* rotary_embedding: rotates pairs of x's first rotary_dim (0: all) features by the angles of cos and sin, [n, t,
 * pairs] or, with position_ids [n, t], [positions, pairs]; a pair is one feature from each half or, if interleaved,
 * two neighbours.
 * In: x (float), cos, sin, position_ids or NULL.
 * Attributes: heads (0), rotary_dim (0), interleaved (false).
 * Out: y: the shape and dtype of x, [n, heads, t, head] or [n, t, heads * head].
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_rotary_embedding(const nd4c_array *x, const nd4c_array *cos, const nd4c_array *sin,
                                           const nd4c_array *position_ids, int64_t heads, int64_t rotary_dim,
                                           bool interleaved, nd4c_array **y);
ND4C_API nd4c_status nd4c_rotary_embedding_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *cos,
                                              const nd4c_array *sin, const nd4c_array *position_ids, int64_t heads,
                                              int64_t rotary_dim, bool interleaved, nd4c_array **y);

/* Options of nd4c_linear_attention. */
typedef struct nd4c_linear_attention_options {
  uint32_t struct_size; /* set by ND4C_LINEAR_ATTENTION_DEFAULTS */
  const nd4c_array *past_state;
  const nd4c_array *decay;
  const nd4c_array *beta;
  int64_t q_heads;
  int64_t kv_heads;
  double scale;
  nd4c_update_rule update_rule;
} nd4c_linear_attention_options;
#define ND4C_LINEAR_ATTENTION_DEFAULTS \
  {ND4C_OPTIONS_SIZE(nd4c_linear_attention_options, update_rule), NULL, NULL, NULL, 1, 1, 0.0, \
   ND4C_UPDATE_RULE_LINEAR}

/* linear_attention: y = scale q^T S of a state S [n, heads, head, v_head] with S += k v^T at each step; gated: S
 * scaled by e^decay before; delta: v replaced by beta (v - S^T k).
 * In: q (float), k, v.
 * Options: past_state (NULL), decay (NULL), beta (NULL), q_heads (1), kv_heads (1), scale (0.0), update_rule
 *     (ND4C_UPDATE_RULE_LINEAR).
 * Out: y: [n, t, q_heads * v_head] in q's dtype; present_state: [n, kv_heads, head, v_head] in the dtype of
 *     past_state, or q's without past_state.
 * Statuses: ARGUMENT, DTYPE, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_linear_attention(const nd4c_array *q, const nd4c_array *k, const nd4c_array *v,
                                           const nd4c_linear_attention_options *options, nd4c_array **y,
                                           nd4c_array **present_state);
ND4C_API nd4c_status nd4c_linear_attention_on(nd4c_context *context, const nd4c_array *q, const nd4c_array *k,
                                              const nd4c_array *v, const nd4c_linear_attention_options *options,
                                              nd4c_array **y, nd4c_array **present_state);

/* embedding_bag: rows of table at indices, times weights, reduced for each bag; a bag is a row of indices [bags, n],
 * or the indices from one of offsets to the next; padding_index is left out; an empty bag gives 0.
 * In: table (float), indices, offsets or NULL, weights or NULL.
 * Attributes: mode (ND4C_BAG_MODE_SUM), padding_index (-1).
 * Out: y: [bags, features], in table's dtype, for table [rows, features]. There are as many bags as offsets, or as
 *     rows of indices [bags, n].
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_embedding_bag(const nd4c_array *table, const nd4c_array *indices, const nd4c_array *offsets,
                                        const nd4c_array *weights, nd4c_bag_mode mode, int64_t padding_index,
                                        nd4c_array **y);
ND4C_API nd4c_status nd4c_embedding_bag_on(nd4c_context *context, const nd4c_array *table, const nd4c_array *indices,
                                           const nd4c_array *offsets, const nd4c_array *weights, nd4c_bag_mode mode,
                                           int64_t padding_index, nd4c_array **y);

ND4C_EXTERN_C_END
#endif
