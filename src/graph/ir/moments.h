/* Means and squares as the passes layer_norm and rms_norm look for them. */
#ifndef ND4C_GRAPH_IR_MOMENTS_H
#define ND4C_GRAPH_IR_MOMENTS_H

#include "graph/ir/rewrite.h"

/* The producer of a value that only one node reads, if its op is `op`; else NULL. */
nd4c_graph_node *nd4c_rewrite_inner(const nd4c_rewrite *rewrite, nd4c_value value, nd4c_op op);
/* The first axis, if a node of op mean reduces all axes from there on and keeps them; -1 otherwise. */
int32_t nd4c_mean_axis(const nd4c_rewrite *rewrite, const nd4c_graph_node *mean);
/* The value of which this one is the square: by square, by power with 2, or as a product with itself. NONE if it is no
 * square or another node reads it. */
nd4c_value nd4c_square_source(const nd4c_rewrite *rewrite, nd4c_value value);
/* What op(x, number) reads if the op has a constant of one element on one side: x, with the number; else NONE. */
nd4c_value nd4c_scalar_partner(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, double *number);

#endif
