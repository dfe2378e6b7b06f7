/* Op functions of the family linalg, made from include/nd4c/op_table/linalg.h by scripts/ops_header.py (target
 * ops-header): change the table, not this file. nd4c/ops.h says how to read the comments. */
#ifndef ND4C_OPS_LINALG_H
#define ND4C_OPS_LINALG_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/array.h"
#include "nd4c/context.h"
#include "nd4c/dtype.h"
#include "nd4c/export.h"
#include "nd4c/ops/enums.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* matmul: matrix product over the last two axes, the others broadcast; 1-D operands as NumPy's matmul.
 * In: a (int, uint, float, complex), b.
 * Out: y.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_matmul(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_matmul_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

/* linear: y = activation(x w + bias + addend): x [..., k], w [k, n] or, transposed, [n, k], bias [n] or broadcastable
 * to y, addend like y.
 * In: x (float), w, bias or NULL, addend or NULL.
 * Attributes: transpose_w (false), activation (ND4C_ACTIVATION_NONE).
 * Out: y.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_linear(const nd4c_array *x, const nd4c_array *w, const nd4c_array *bias,
                                 const nd4c_array *addend, bool transpose_w, nd4c_activation activation,
                                 nd4c_array **y);
ND4C_API nd4c_status nd4c_linear_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *w,
                                    const nd4c_array *bias, const nd4c_array *addend, bool transpose_w,
                                    nd4c_activation activation, nd4c_array **y);

ND4C_EXTERN_C_END
#endif
