/* Element-wise ops of the reference: one function an op on one element, one loop over any strides for all of them. */
#ifndef ND4C_KERNELS_REFERENCE_ELEMENTWISE_H
#define ND4C_KERNELS_REFERENCE_ELEMENTWISE_H

#include "kernels/reference/value.h"

/* Computes one element. Inputs are of the kind given; the result is of the output dtype's kind. */
typedef nd4c_value (*nd4c_value_function)(nd4c_dtype_kind kind, const nd4c_value *inputs);

nd4c_value nd4c_value_add(nd4c_dtype_kind kind, const nd4c_value *inputs);
nd4c_value nd4c_value_subtract(nd4c_dtype_kind kind, const nd4c_value *inputs);
nd4c_value nd4c_value_multiply(nd4c_dtype_kind kind, const nd4c_value *inputs);
nd4c_value nd4c_value_copy(nd4c_dtype_kind kind, const nd4c_value *inputs);

/* output = function(inputs), the inputs cast to `common` first. All operands have the rank and shape given (repeated
 * axes by stride 0). */
void nd4c_reference_map(nd4c_value_function function, nd4c_dtype common, int32_t input_count,
                        const nd4c_operand *inputs, const nd4c_operand *output, int32_t rank, const int64_t *shape);

#endif
