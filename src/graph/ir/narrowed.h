/* Constants of float32 in a narrower floating dtype. Plans share them (derived.h), and large ones are deferred
 * (device/storage/deferred.h), so that they take no memory where kernels read them packed.
 * passes/reduced_precision.c makes them. */
#ifndef ND4C_GRAPH_IR_NARROWED_H
#define ND4C_GRAPH_IR_NARROWED_H

#include "graph/ir/rewrite.h"

/* The constant `from`, of float32, as a constant of bfloat16 or float16: rounded to the nearest number; a finite number
 * beyond the dtype's largest one becomes that one. */
nd4c_status nd4c_narrowed_constant(nd4c_rewrite *rewrite, nd4c_value from, nd4c_dtype dtype, nd4c_value *made);

#endif
