/* Inner loops of binary ops: contiguous operands of one dtype, or one of them a single element. simd/elementwise.c runs
 * them for binary ops, simd/indexing.c for updates that add. */
#ifndef ND4C_KERNELS_CPU_ELEMENTWISE_BINARY_H
#define ND4C_KERNELS_CPU_ELEMENTWISE_BINARY_H

#include <stdint.h>

#include "nd4c/dtype.h"

/* X(name, DTYPE, dtype): lists of ops, to be written out for one dtype. */
#define ND4C_BINARY_SUMS(X, D, d) X(add, D, d) X(subtract, D, d) X(multiply, D, d)
#define ND4C_BINARY_EXTREMES(X, D, d) X(maximum, D, d) X(minimum, D, d)
#define ND4C_BINARY_NUMBERS(X, D, d) X(divide, D, d) ND4C_BINARY_EXTREMES(X, D, d)
#define ND4C_BINARY_COMPARISONS(X, D, d) \
  X(equal, D, d) X(not_equal, D, d) X(less, D, d) X(less_equal, D, d) X(greater, D, d) X(greater_equal, D, d)
#define ND4C_BINARY_LOGIC(X, D, d) X(logical_and, D, d) X(logical_or, D, d) X(logical_xor, D, d)

enum nd4c_binary_index {
#define ND4C_BINARY_INDEX(name, D, d) ND4C_BINARY_##name,
  ND4C_BINARY_SUMS(ND4C_BINARY_INDEX, , ) ND4C_BINARY_NUMBERS(ND4C_BINARY_INDEX, , )
      ND4C_BINARY_COMPARISONS(ND4C_BINARY_INDEX, , ) ND4C_BINARY_LOGIC(ND4C_BINARY_INDEX, , ) ND4C_BINARY_power,
#undef ND4C_BINARY_INDEX
  ND4C_BINARY_prelu,
  ND4C_BINARY_COUNT
};

/* y[i] = a[i] op b[i] for i in [0, n). y may be a or b. Comparisons and logic write one byte, 0 or 1, an element. */
typedef void (*nd4c_binary_loop)(int64_t n, const void *a, const void *b, void *y);

/* As a loop, operands stepping by any number of elements, y written past the caches (a move table's stream_fence ends
 * that); y is neither operand. */
typedef void (*nd4c_binary_stream)(int64_t n, const void *a, int64_t a_step, const void *b, int64_t b_step, void *y);

/* Both operands vary; only the first does (b points to one element); only the second does. NULL: no such loop. */
typedef struct nd4c_binary_loops {
  nd4c_binary_loop both, first, second;
  nd4c_binary_stream stream;
} nd4c_binary_loops;

typedef struct nd4c_binary_table {
  nd4c_binary_loops loops[ND4C_BINARY_COUNT][ND4C_DTYPE_END];
} nd4c_binary_table;

#endif
