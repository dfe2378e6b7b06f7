/* Attention of some queries over all keys, without a matrix of all scores. simd/attention.c describes the operands and
 * calls this for panels of queries that read the same keys and values. */
#ifndef ND4C_KERNELS_CPU_ATTENTION_ATTENTION_H
#define ND4C_KERNELS_CPU_ATTENTION_ATTENTION_H

#include <stdbool.h>
#include <stdint.h>

/* Most queries of a panel, and most runs of keys. FEW: queries that are computed one by one. */
enum { ND4C_ATTEND_LANES = 128, ND4C_ATTEND_SPARE = 3, ND4C_ATTEND_RUNS = 2, ND4C_ATTEND_FEW = 4 };

/* How operands are stored: as the numbers of the loops, or as halves that f32 computes with. */
typedef enum nd4c_attend_storage { ND4C_ATTEND_PLAIN, ND4C_ATTEND_BFLOAT16, ND4C_ATTEND_FLOAT16 } nd4c_attend_storage;

typedef enum nd4c_attend_mask {
  ND4C_ATTEND_UNMASKED,
  ND4C_ATTEND_CHOSEN, /* bytes: 0 leaves the key out */
  ND4C_ATTEND_ADDED   /* numbers, stored as the operands: added to the score; -infinity leaves the key out */
} nd4c_attend_mask;

/* Keys that lie evenly, with their values. Steps count elements. */
typedef struct nd4c_attend_run {
  const void *k, *v;
  int64_t first, count; /* the number of the first one among all keys */
  int64_t k_step, k_feature, v_step, v_feature;
} nd4c_attend_run;

/* One query: it takes the keys [first, last). */
typedef struct nd4c_attend_lane {
  const void *q, *mask;
  void *y;
  int64_t first, last;
} nd4c_attend_lane;

typedef struct nd4c_attend_panel {
  nd4c_attend_storage storage;
  nd4c_attend_mask mask;
  bool mask_is_shared; /* all lanes have the same one */
  bool few;            /* no other panel reads these keys, and this one has up to ND4C_ATTEND_FEW lanes */
  bool pairs;          /* multiply pairs of bfloat16, to which shares are rounded: the caller asked for a reduced
                          precision, the table has them, the processor has AVX-512 BF16 */
  int64_t head, v_head, lanes, runs;
  int64_t q_feature, y_feature, mask_step; /* mask_step: from key to key */
  double scale, softcap;                   /* softcap: 0 for none */
  nd4c_attend_run run[ND4C_ATTEND_RUNS];
  nd4c_attend_lane lane[ND4C_ATTEND_LANES + ND4C_ATTEND_SPARE]; /* spare ones may be read, and mean nothing */
} nd4c_attend_panel;

typedef struct nd4c_attend_loops {
  int64_t lanes; /* that are computed together: panels have a multiple of them, the last one of all queries aside */
  /* Bytes of the buffer of `attend` for panels of so many lanes. */
  int64_t (*buffer_bytes)(int64_t lanes, int64_t head, int64_t v_head, nd4c_attend_storage storage);
  /* y = softmax(softcap(scale q k^T) + mask) v of all lanes; 0 for a lane that takes no key. What a lane gives does not
   * depend on how many lanes the panel has. For one thread. */
  void (*attend)(const nd4c_attend_panel *panel, void *buffer);
} nd4c_attend_loops;

typedef struct nd4c_attention_table {
  const nd4c_attend_loops *float32, *float64;
  bool has_pairs; /* float32's loops can multiply pairs of bfloat16 */
} nd4c_attention_table;

#endif
