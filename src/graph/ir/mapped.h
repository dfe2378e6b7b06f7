/* Constants mapped by channel: from * scale + shift. Large ones are deferred (device/storage/deferred.h), so that they
 * take no memory where kernels read them packed. passes/fold_affine.c makes them. */
#ifndef ND4C_GRAPH_IR_MAPPED_H
#define ND4C_GRAPH_IR_MAPPED_H

#include "graph/ir/derived.h"
#include "graph/ir/rewrite.h"

/* Maps `size` numbers in place; each entry of scale and shift is for size / channels numbers in a row. */
void nd4c_map_numbers(double *numbers, int64_t size, const nd4c_derived_key *key);

/* A deferred array for the key; *array stays NULL if the constant cannot be deferred, or is too small for that. */
nd4c_status nd4c_mapped_constant(const nd4c_rewrite *rewrite, const nd4c_derived_key *key, nd4c_array **array);

#endif
