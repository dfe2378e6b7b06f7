/* Inner loops of binary ops: contiguous operands of one dtype, or one of them a single element. */
#ifndef ND4C_KERNELS_CPU_ELEMENTWISE_BINARY_H
#define ND4C_KERNELS_CPU_ELEMENTWISE_BINARY_H

#include <stdint.h>

#include "nd4c/dtype.h"

#define ND4C_BINARY_ARITHMETIC(X) X(add) X(subtract) X(multiply) X(divide) X(power) X(maximum) X(minimum)
#define ND4C_BINARY_COMPARISONS(X) X(equal) X(not_equal) X(less) X(less_equal) X(greater) X(greater_equal)
#define ND4C_BINARY_LOGIC(X) X(logical_and) X(logical_or) X(logical_xor)
#define ND4C_BINARY_LOOPS(X) ND4C_BINARY_ARITHMETIC(X) ND4C_BINARY_COMPARISONS(X) ND4C_BINARY_LOGIC(X) X(prelu)

enum nd4c_binary_index {
#define ND4C_BINARY_INDEX(name) ND4C_BINARY_##name,
  ND4C_BINARY_LOOPS(ND4C_BINARY_INDEX)
#undef ND4C_BINARY_INDEX
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
