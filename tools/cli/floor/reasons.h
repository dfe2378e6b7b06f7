/* Why some pairs of op and dtype may stay on scalar loops; floor.c prints the reasons. A row that fits no pair on
 * scalar loops any more is reported as stale: delete it then. */
#ifndef ND4C_CLI_FLOOR_REASONS_H
#define ND4C_CLI_FLOOR_REASONS_H

#include <nd4c/nd4c.h>

typedef struct floor_reason {
  const char *op;
  nd4c_dtype_set dtypes;
  const char *reason;
} floor_reason;

static const floor_reason floor_reasons[] = {
    {"random_advance", ND4C_DTYPE_BIT(ND4C_INT64), "it adds one number to a state of few"},
    {"tree_ensemble", ND4C_DTYPE_BIT(ND4C_FLOAT32) | ND4C_DTYPE_BIT(ND4C_FLOAT64),
     "trees that a plan holds as constants run on engine simd; a single call would spend its time on arranging them"},
};

#endif
