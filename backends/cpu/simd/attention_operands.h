/* What attention of engine simd computes, read from a call. simd/attention.c and simd/attention_tiled.c share the
 * panels of queries out among the workers. */
#ifndef ND4C_BACKENDS_CPU_SIMD_ATTENTION_OPERANDS_H
#define ND4C_BACKENDS_CPU_SIMD_ATTENTION_OPERANDS_H

#include "backends/cpu/simd/simd.h"

/* An operand [n, heads, t, head], or [n, t, heads * head], by its steps in elements. */
typedef struct nd4c_attention_heads {
  const char *data;
  int64_t batch, head, place, feature;
} nd4c_attention_heads;

typedef struct nd4c_attention_job {
  const nd4c_attend_loops *loops;
  int64_t bytes; /* of an element */
  int64_t batch, q_heads, kv_heads, queries, keys, past, mask_keys;
  int64_t rows;               /* queries that read the same keys: of all heads that share a head of k and v */
  int64_t panel_rows, panels; /* rows of a panel, for `loops`, and the panels of all rows */
  bool is_causal;
  int64_t left, right;
  char *to; /* what y names, to write */
  nd4c_attention_heads q, y, mask, k[ND4C_ATTEND_RUNS], v[ND4C_ATTEND_RUNS];
  int64_t mask_bytes;
  const int64_t *lengths; /* NULL: all keys */
  nd4c_attend_panel start;
  int64_t buffer_bytes; /* of a worker, for `loops` */
} nd4c_attention_job;

/* False, with the reason, if engine simd does not compute the call. */
bool nd4c_attention_usable(const nd4c_call *call, char *reason, size_t reason_size);
/* All but the lengths. */
nd4c_attention_job nd4c_attention_read(const nd4c_call *call);
/* Divides the rows into panels of another size: a multiple of the lanes of `loops`, at most ND4C_ATTEND_LANES. */
void nd4c_attention_divide(nd4c_attention_job *j, int64_t panel_rows);
/* Checks the lengths of keys and copies them; lengths: room for one of each batch. */
nd4c_status nd4c_attention_read_lengths(const nd4c_call *call, int64_t *lengths, nd4c_attention_job *j);

/* Sets the runs of a panel to the keys and values number `heads`, counted over all batches. */
void nd4c_attention_find_keys(const nd4c_attention_job *j, int64_t heads, nd4c_attend_panel *p);
/* Describes `count` of the rows that read these keys, from row `first` on. */
void nd4c_attention_find_lanes(const nd4c_attention_job *j, int64_t heads, int64_t first, int64_t count,
                               nd4c_attend_lane *lanes);
/* Computes panel `index`, counted over all keys and values, by `loops`; buffer: buffer_bytes. */
void nd4c_attention_attend(const nd4c_attention_job *j, int64_t index, nd4c_attend_panel *p, void *buffer);

#endif
