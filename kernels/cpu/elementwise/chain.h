/* Chains of element-wise ops of float32 on values that stay in registers. A chain is a list of steps, each of which
 * changes the running values of one block of elements, and jumps to the next step. Engine tile (backends/cpu/tile)
 * makes and runs such lists. The results have the bits of the loops of unary.h and binary.h. */
#ifndef ND4C_KERNELS_CPU_ELEMENTWISE_CHAIN_H
#define ND4C_KERNELS_CPU_ELEMENTWISE_CHAIN_H

#include <stdint.h>

#include "kernels/cpu/elementwise/binary.h"
#include "kernels/cpu/elementwise/unary.h"

/* The code of a step; its true type is known to chain.c alone. */
typedef void (*nd4c_chain_code)(void);

typedef struct nd4c_chain_step {
  nd4c_chain_code code;
  int64_t slot; /* of the operand in memory */
} nd4c_chain_step;

/* An operand in memory: its address in block 0, and -1 if it has a block of elements for each block, 0 if it is the
 * same for all. */
typedef struct nd4c_chain_slot {
  char *address;
  int64_t moves;
} nd4c_chain_slot;

/* How a binary step finds its operands: the running values are the first or (REVERSED) the second one; the other one is
 * a block in memory or (ONE) a single element. */
typedef enum nd4c_chain_form {
  ND4C_CHAIN_BLOCK,
  ND4C_CHAIN_ONE,
  ND4C_CHAIN_BLOCK_REVERSED,
  ND4C_CHAIN_ONE_REVERSED,
  ND4C_CHAIN_FORMS
} nd4c_chain_form;

/* NULL: the level has no such step. */
typedef struct nd4c_chain_table {
  int32_t block; /* elements; 0: the level has no chains */
  nd4c_chain_code load, load_one, store, stream, end;
  nd4c_chain_code unary[ND4C_UNARY_COUNT];
  nd4c_chain_code binary[ND4C_BINARY_COUNT][ND4C_CHAIN_FORMS];
  /* Runs the steps, of which `end` is the last one, on blocks [begin, end). The first `inputs` slots are read only:
   * later blocks of them are prefetched. Blocks that are streamed begin on cache lines, and a move table's stream_fence
   * ends that. */
  void (*run)(const nd4c_chain_step *steps, const nd4c_chain_slot *slots, int32_t inputs, int64_t begin, int64_t end);
} nd4c_chain_table;

#endif
