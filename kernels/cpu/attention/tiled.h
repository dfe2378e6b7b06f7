/* Attention of bfloat16 by the tile registers of x86-64 (AMX), without a matrix of all scores. simd/attention_tiled.c
 * describes the operands and calls this for panels of queries that read the same keys and values. */
#ifndef ND4C_KERNELS_CPU_ATTENTION_TILED_H
#define ND4C_KERNELS_CPU_ATTENTION_TILED_H

#include "kernels/cpu/attention/attention.h"

/* Queries of a panel, at most, and of a group of them, which are stored or refused together. */
enum { ND4C_TILED_QUERIES = 128, ND4C_TILED_GROUP = 32 };

typedef struct nd4c_tiled_panel {
  const nd4c_attend_panel *operands; /* its lanes are not read */
  int64_t keys;                      /* of all runs */
  int64_t number; /* of these keys and values among those of the call: what is packed is kept from panel to panel */
  int64_t queries;
  nd4c_attend_lane query[ND4C_TILED_QUERIES];
} nd4c_tiled_panel;

typedef struct nd4c_tiled_table {
  bool exists; /* else the functions are NULL */
  /* Bytes of the buffer of a thread, which begins at a multiple of 64. */
  int64_t (*buffer_bytes)(int64_t head, int64_t v_head, int64_t keys);
  /* Forgets what is packed in a buffer: before the first panel of a call. */
  void (*start)(int64_t head, int64_t v_head, int64_t keys, void *buffer);
  /* As nd4c_attend_loops.attend: y of all queries, with shares that are rounded to bfloat16. Groups whose results are
   * not all finite are not stored: values whose share is 0 would have to be skipped. Returns them, a bit each. For one
   * thread; the process may use AMX. */
  uint32_t (*attend)(const nd4c_tiled_panel *panel, void *buffer);
} nd4c_tiled_table;

#endif
