/* Means, squares, roots and factors, as layer_norm, rms_norm, attention and scale_products look for them. */
#ifndef ND4C_GRAPH_MATCH_MOMENTS_H
#define ND4C_GRAPH_MATCH_MOMENTS_H

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
/* What the node's result is a multiple of, by one number: x, which has the result's dtype and shape, with the factor;
 * NONE if it is no product with a number and no quotient by one. */
nd4c_value nd4c_factor_source(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, double *factor);

/* sqrt(mean(v^2) + epsilon) with the mean over the axes from `axis` on. */
typedef struct nd4c_root {
  nd4c_value squared; /* v */
  int32_t reads;      /* how often the square reads v: a product with itself does twice */
  int32_t axis;
  double epsilon;
} nd4c_root;

/* The numerator, if the node is a quotient by such a root, also as a product with its reciprocal; else NONE. */
nd4c_value nd4c_root_numerator(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, nd4c_root *root);
/* Whether `reader` may become a node that computes what `norm` gives and more: nothing else reads it, or computing it
 * again costs no more than the reader does now. A reader of which both operands are the norm stays. */
bool nd4c_may_take_in(const nd4c_rewrite *rewrite, const nd4c_graph_node *norm, const nd4c_graph_node *reader);
/* Whether a parameter has exactly the axes of x from `axis` on, and its dtype. */
bool nd4c_is_parameter(const nd4c_rewrite *rewrite, nd4c_value parameter, nd4c_value x, int32_t axis);

#endif
