/* The faster tier of float32 functions, by request only (property nd4c.cpu.math): simd/engine.c puts these loops in
 * place of unary's and binary's. Their errors, in units of the last place, are the column `fast` of
 * tests/accuracy/functions.c. */
#ifndef ND4C_KERNELS_CPU_ELEMENTWISE_FAST_H
#define ND4C_KERNELS_CPU_ELEMENTWISE_FAST_H

#include "kernels/cpu/elementwise/binary.h"
#include "kernels/cpu/elementwise/unary.h"

/* NULL: this level has no faster loop. All of them, where products are rounded apart from sums. */
typedef struct nd4c_fast_table {
  nd4c_unary_loop unary[ND4C_UNARY_COUNT];
  nd4c_binary_loops power;
} nd4c_fast_table;

#endif
