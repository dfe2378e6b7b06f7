/* Constants mapped by channel: from * scale + shift. Large ones are deferred (device/storage/deferred.h), so that they
 * take no memory where kernels read them packed. The passes fold_affine and scale_products make them. */
#ifndef ND4C_GRAPH_IR_MAPPED_H
#define ND4C_GRAPH_IR_MAPPED_H

#include "graph/ir/derived.h"
#include "graph/ir/rewrite.h"

/* The most elements of a constant that is mapped. */
enum { ND4C_MAPPED_ELEMENTS = 1 << 27 };

/* Whether a factor may go into the terms of a sum. False if it is NaN, or 0, or so large or small that a product with a
 * weight or a partial sum could overflow or underflow: 0 times an infinite factor is NaN where the sum times the factor
 * is infinite, and a factor of 0 loses the sign of the zero. */
bool nd4c_factor_distributes(double factor);

/* A new constant `old` mapped by the key, whose `from` is the array of `old`, of float32 or float64. It is shared by
 * all plans that need it. *made is ND4C_VALUE_NONE if the dtype cannot hold a number of the result, or if
 * numbers become so small that they lose digits and none of the result is so large that this does not matter. */
nd4c_status nd4c_map_constant(nd4c_rewrite *rewrite, nd4c_value old, const nd4c_derived_key *key, nd4c_value *made);

/* A deferred array for the key; *array stays NULL if the constant cannot be deferred, or is too small for that. */
nd4c_status nd4c_mapped_constant(const nd4c_rewrite *rewrite, const nd4c_derived_key *key, nd4c_array **array);

#endif
