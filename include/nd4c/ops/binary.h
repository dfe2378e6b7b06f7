/* Op functions of the family binary, made from include/nd4c/op_table/binary.h by scripts/ops_header.py (target
 * ops-header): change the table, not this file. nd4c/ops.h says how to read the comments. */
#ifndef ND4C_OPS_BINARY_H
#define ND4C_OPS_BINARY_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/array.h"
#include "nd4c/context.h"
#include "nd4c/dtype.h"
#include "nd4c/export.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* add: y = a + b, broadcast; integers wrap.
 * In: a (int, uint, float, complex), b.
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_add(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_add_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

/* subtract: y = a - b, broadcast; integers wrap.
 * In: a (int, uint, float, complex), b.
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_subtract(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_subtract_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

/* multiply: y = a * b, broadcast; integers wrap.
 * In: a (int, uint, float, complex), b.
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_multiply(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_multiply_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

/* divide: y = a / b, broadcast; integers truncate toward zero, division by zero gives 0.
 * In: a (int, uint, float, complex), b.
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_divide(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_divide_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

/* power: y = a^b, broadcast; integers wrap, and a negative exponent of integers truncates the result toward zero.
 * In: a (int, uint, float, complex), b.
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_power(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_power_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

/* maximum: y = the larger of a and b; NaN wins.
 * In: a (int, uint, float), b.
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_maximum(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_maximum_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

/* minimum: y = the smaller of a and b; NaN wins.
 * In: a (int, uint, float), b.
 * Out: y: the shape that the inputs broadcast to, in the dtype that they promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_minimum(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_minimum_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

/* equal: y = a == b, exact even where dtypes are promoted; strings are compared by code points.
 * In: a (bool, int, uint, float, complex, utf8), b.
 * Out: y: bool, in the shape that the inputs broadcast to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_equal(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_equal_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

/* not_equal: y = a != b.
 * In: a (bool, int, uint, float, complex, utf8), b.
 * Out: y: bool, in the shape that the inputs broadcast to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_not_equal(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_not_equal_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

/* less: y = a < b.
 * In: a (int, uint, float, utf8), b.
 * Out: y: bool, in the shape that the inputs broadcast to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_less(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_less_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

/* less_equal: y = a <= b.
 * In: a (int, uint, float, utf8), b.
 * Out: y: bool, in the shape that the inputs broadcast to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_less_equal(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_less_equal_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b,
                                        nd4c_array **y);

/* greater: y = a > b.
 * In: a (int, uint, float, utf8), b.
 * Out: y: bool, in the shape that the inputs broadcast to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_greater(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_greater_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);

/* greater_equal: y = a >= b.
 * In: a (int, uint, float, utf8), b.
 * Out: y: bool, in the shape that the inputs broadcast to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_greater_equal(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_greater_equal_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b,
                                           nd4c_array **y);

/* logical_and: y = a and b.
 * In: a (bool), b.
 * Out: y: bool, in the shape that the inputs broadcast to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_logical_and(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_logical_and_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b,
                                         nd4c_array **y);

/* logical_or: y = a or b.
 * In: a (bool), b.
 * Out: y: bool, in the shape that the inputs broadcast to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_logical_or(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_logical_or_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b,
                                        nd4c_array **y);

/* logical_xor: y = a xor b.
 * In: a (bool), b.
 * Out: y: bool, in the shape that the inputs broadcast to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_logical_xor(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_logical_xor_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b,
                                         nd4c_array **y);

/* where: y = a where condition holds, else b; broadcast.
 * In: condition (bool), a, b.
 * Out: y: the shape that the three inputs broadcast to, in the dtype that a and b promote to.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_where(const nd4c_array *condition, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
ND4C_API nd4c_status nd4c_where_on(nd4c_context *context, const nd4c_array *condition, const nd4c_array *a,
                                   const nd4c_array *b, nd4c_array **y);

ND4C_EXTERN_C_END
#endif
