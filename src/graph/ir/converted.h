/* Constants in another floating dtype: float32 in 16 bits, and 16 bits in float32. Plans share them (derived.h), and
 * large ones are deferred (device/storage/deferred.h), so that they take no memory where kernels read them packed.
 * passes/dtypes makes them. */
#ifndef ND4C_GRAPH_IR_CONVERTED_H
#define ND4C_GRAPH_IR_CONVERTED_H

#include "graph/ir/rewrite.h"

/* The constant `from`, of float32, as a constant of bfloat16 or float16: rounded to the nearest number; a finite number
 * beyond the dtype's largest one becomes that one. Or one of bfloat16 or float16 as one of float32, which is exact. */
nd4c_status nd4c_converted_constant(nd4c_rewrite *rewrite, nd4c_value from, nd4c_dtype dtype, nd4c_value *made);

#endif
