/* Ops whose result is a view of their first input, for call.c. */
#ifndef ND4C_DISPATCH_VIEWS_H
#define ND4C_DISPATCH_VIEWS_H

#include "array/array.h"
#include "ops/op.h"

/* Makes the view; *out stays NULL if the elements must be copied. */
nd4c_status nd4c_view_make(const nd4c_op_def *def, const nd4c_inference *inference, const nd4c_array *input,
                           nd4c_array **out);

#endif
