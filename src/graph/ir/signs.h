/* What is known of the signs of a value's elements. The passes peephole and strength call it. */
#ifndef ND4C_GRAPH_IR_SIGNS_H
#define ND4C_GRAPH_IR_SIGNS_H

#include "graph/ir/rewrite.h"

/* True if the value is of floats and no element has its sign bit set, besides NaN, by the ops that it comes from: abs,
 * exp, square, sums and products of such values. relu is not among the ops: its engines may keep -0. */
bool nd4c_value_is_never_negative(const nd4c_rewrite *rewrite, nd4c_value value);

#endif
