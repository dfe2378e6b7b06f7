/* Typed functions of all ops, derived from the op table:
 *
 *   nd4c_status nd4c_add(const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
 *   nd4c_status nd4c_add_on(nd4c_context *context, const nd4c_array *a, const nd4c_array *b, nd4c_array **y);
 *
 * Parameters stand in the order of the signature in op_table.h; the doc line there is the op's meaning, and
 * docs/ops.md lists all. Lists are a pointer and a count; NULL and 0 leave a list at its default. Ownership, errors
 * and the meaning of outputs are nd4c_op_call's. Of several outputs, one whose pointer is NULL is not wanted. */
#ifndef ND4C_OPS_H
#define ND4C_OPS_H

#include "nd4c/op.h"

ND4C_EXTERN_C_BEGIN

#define ND4C_PARAM_IN(name) , const nd4c_array *name
#define ND4C_PARAM_OPT(name) , const nd4c_array *name
#define ND4C_PARAM_VAR(name) , const nd4c_array *const *name, int32_t name##_count
#define ND4C_PARAM_INT(name) , int64_t name
#define ND4C_PARAM_BOOL(name) , bool name
#define ND4C_PARAM_FLOAT(name) , double name
#define ND4C_PARAM_INTS(name) , const int64_t *name, int32_t name##_count
#define ND4C_PARAM_FLOATS(name) , const double *name, int32_t name##_count
#define ND4C_PARAM_DTYPE(name) , nd4c_dtype name
#define ND4C_PARAM_STRING(name) , const char *name
#define ND4C_PARAM_OUT(name) , nd4c_array **name
#define ND4C_PARAM(op, kind, name, preset) ND4C_PARAM_##kind(name)
#define ND4C_REST_(first, ...) __VA_ARGS__
#define ND4C_REST(...) ND4C_REST_(__VA_ARGS__)

#define ND4C_OP_DECLARE(number, version, name, category, SIGNATURE, ...)                 \
  ND4C_API nd4c_status nd4c_##name(ND4C_REST(_ SIGNATURE(ND4C_PARAM, name)));            \
  ND4C_API nd4c_status nd4c_##name##_on(nd4c_context *context SIGNATURE(ND4C_PARAM, name));
ND4C_OP_TABLE(ND4C_OP_DECLARE)
#undef ND4C_OP_DECLARE

ND4C_EXTERN_C_END
#endif
