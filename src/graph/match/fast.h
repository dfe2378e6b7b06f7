/* Whether a device has a fast kernel for a node that a pass would make, and fast products. */
#ifndef ND4C_GRAPH_MATCH_FAST_H
#define ND4C_GRAPH_MATCH_FAST_H

#include "graph/ir/rewrite.h"

enum { ND4C_FAST_INPUTS = 10, ND4C_FAST_OUTPUTS = 8 };

/* True if the rewrite's device computes the op on these inputs by another kernel than the reference's. False also if
 * the op refuses the inputs, or has more than ND4C_FAST_INPUTS inputs or ND4C_FAST_OUTPUTS outputs. Extents that are
 * dims count by their lowest values. The graph assumes nothing new about its dims. */
bool nd4c_rewrite_is_fast(const nd4c_rewrite *rewrite, nd4c_op op, const nd4c_value *inputs, int32_t input_count,
                          const nd4c_attr_value *attrs);

/* The same for ops of quantised values: kernels of the host see the numbers of constant scales, zero points and
 * biases, and extents that are dims count as 64, since these kernels ask whether there is enough work. */
bool nd4c_quantized_is_fast(const nd4c_rewrite *rewrite, nd4c_op op, const nd4c_value *inputs, int32_t input_count,
                            const nd4c_attr_value *attrs);

/* Whether the context's device has a fast product of matrices of this floating dtype. */
bool nd4c_multiplies_fast(const nd4c_context *context, nd4c_dtype dtype);

/* The same for one row and a constant matrix: reading the matrix takes the time, so a narrow dtype gains without
 * instructions that multiply it. */
bool nd4c_multiplies_rows_fast(const nd4c_context *context, nd4c_dtype dtype);

#endif
