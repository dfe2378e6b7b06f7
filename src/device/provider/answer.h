/* A compiler's answer to a region: which nodes it takes, as which pieces, and why it declines the others.
 * graph/plan/partition.c and dispatch/choice.c ask. */
#ifndef ND4C_DEVICE_PROVIDER_ANSWER_H
#define ND4C_DEVICE_PROVIDER_ANSWER_H

#include "device/provider/compilers.h"

typedef struct nd4c_answer_piece {
  int32_t node_count;
  int64_t nanoseconds; /* or ND4C_COST_UNKNOWN */
  uint32_t flags;
} nd4c_answer_piece;

/* A checked answer: numbers are in range, no node is in two pieces, each piece can run as one. */
typedef struct nd4c_answer {
  nd4c_partition partition; /* the struct that the compiler gets */
  const nd4c_compiler *compiler;
  const nd4c_segment *region;
  int32_t *piece_of; /* by node of the region, -1: declined */
  nd4c_answer_piece *pieces;
  int32_t piece_count;
  char **reasons;    /* by node; NULL: none given */
  char refusal[256]; /* why the whole answer was refused and cleared; "": it was not */
} nd4c_answer;

/* Asks the compiler. `handle`: the device's. A failure of the compiler is an answer that takes no node; this function
 * fails only if memory is exhausted. The caller frees the answer in any case. */
nd4c_status nd4c_answer_ask(const nd4c_compiler *compiler, void *handle, const nd4c_segment *region,
                            const nd4c_compile_options *options, nd4c_answer *answer);
/* Why the compiler does not take a node. */
const char *nd4c_answer_reason(const nd4c_answer *answer, int32_t node);
void nd4c_answer_free(nd4c_answer *answer);

#endif
