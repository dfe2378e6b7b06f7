/* Attention on numbers in C order (numbers.h). The family attention of engine reference calls these. */
#ifndef ND4C_KERNELS_REFERENCE_ATTENTION_ATTENTION_H
#define ND4C_KERNELS_REFERENCE_ATTENTION_ATTENTION_H

#include <stdbool.h>
#include <stdint.h>

/* An operand [n, heads, t, head] by its steps between batches, heads and places; the head's features lie together. */
typedef struct nd4c_ref_heads {
  const double *data;
  int64_t batch_step, head_step, place_step;
} nd4c_ref_heads;

typedef struct nd4c_ref_attend_args {
  int64_t batch, q_heads, kv_heads, queries, keys, head, v_head;
  int64_t past; /* keys before the first query's own: the offset of the frontier; -1: from key_lengths */
  nd4c_ref_heads q, k, v, y;
  double *y_data;     /* what y names, to write */
  const double *mask; /* NULL, or by mask_steps over [n, heads, queries, keys]; keys from mask_keys on are left out */
  int64_t mask_steps[4], mask_keys;
  bool mask_is_bool, is_causal;
  const int64_t *key_lengths; /* NULL: all */
  double scale, softcap;
  int64_t left, right; /* -1: no bound */
  int64_t scores_mode;
  double *scores;  /* NULL, or what scores_mode says */
  double *scratch; /* keys for each worker */
} nd4c_ref_attend_args;
/* Range over batch, heads and queries. */
void nd4c_ref_attend(const nd4c_ref_attend_args *args, int64_t begin, int64_t end, int32_t worker);

typedef struct nd4c_ref_rotary_args {
  int64_t batch, heads, length, head, pairs, positions;
  bool interleaved, packed; /* packed: [n, t, heads * head] */
  const double *x, *cos, *sin;
  const int64_t *ids; /* NULL: cos and sin by batch and place */
  double *y;
} nd4c_ref_rotary_args;
/* Range over batch, heads and places in the order of x. */
void nd4c_ref_rotary(const nd4c_ref_rotary_args *args, int64_t begin, int64_t end);

typedef struct nd4c_ref_linear_attend_args {
  int64_t batch, q_heads, kv_heads, length, head, v_head, decay_heads, beta_heads; /* last extents of decay and beta */
  const double *q, *k, *v, *decay, *beta;                                          /* the last two may be NULL */
  double scale;
  double *state, *y; /* state: begins as the past one */
  double *scratch;   /* v_head for each state */
} nd4c_ref_linear_attend_args;
/* Range over batch and heads of k. */
void nd4c_ref_linear_attend(const nd4c_ref_linear_attend_args *args, int64_t begin, int64_t end);

typedef struct nd4c_ref_bag_args {
  int64_t bags, features, count, each, mode, padding; /* each: indices a bag without offsets */
  const double *table, *weights;                      /* weights may be NULL */
  const int64_t *indices, *offsets;                   /* offsets may be NULL */
  double *y;
} nd4c_ref_bag_args;
/* Range over bags. */
void nd4c_ref_embedding_bag(const nd4c_ref_bag_args *args, int64_t begin, int64_t end);

#endif
