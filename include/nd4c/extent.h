/* Extents of a graph's shapes (nd4c/graph.h). An extent of 0 or more is a number. Other extents stand for expressions
 * in the graph's dims, such as 2*batch + 1; they mean something to that graph alone. */
#ifndef ND4C_EXTENT_H
#define ND4C_EXTENT_H

#include <stdbool.h>
#include <stdint.h>

/* Expressions are numbered from here down. No count from the end of an axis, no -1 that stands for "what is left" and
 * no number that programs use for "everything" lies there. */
#define ND4C_EXTENT_FIRST (-INT64_C(6148914691236517205))
#define ND4C_EXTENT_LIMIT (INT64_C(1) << 30) /* expressions of one graph */

/* Whether an extent stands for an expression. */
static inline bool nd4c_extent_is_symbolic(int64_t extent) {
  return extent <= ND4C_EXTENT_FIRST && extent > ND4C_EXTENT_FIRST - ND4C_EXTENT_LIMIT;
}

#endif
