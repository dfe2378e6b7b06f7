/* What the two files of typed functions share (typed.c, typed_options.c): the choice between them by the form of an
 * op's row, and the call. */
#ifndef ND4C_DISPATCH_TYPED_H
#define ND4C_DISPATCH_TYPED_H

#include <stddef.h>

#include "nd4c/ops.h"

/* The form of a row, from the names on: PLAIN or OPTIONS. */
#define TYPED_FORM(...) TYPED_FORM_OF(__VA_ARGS__, PLAIN, PLAIN, )
#define TYPED_FORM_OF(names, trait, form, ...) form
#define TYPED_JOIN(a, b) TYPED_JOIN_(a, b)
#define TYPED_JOIN_(a, b) a##b

#define TYPED_REST_(first, ...) __VA_ARGS__
#define TYPED_REST(...) TYPED_REST_(__VA_ARGS__)

/* The outputs of a signature, as a list of pointers to the caller's places. */
#define OUTPUT_IN(name)
#define OUTPUT_OPT(name)
#define OUTPUT_VAR(name)
#define OUTPUT_INT(name)
#define OUTPUT_BOOL(name)
#define OUTPUT_FLOAT(name)
#define OUTPUT_INTS(name)
#define OUTPUT_FLOATS(name)
#define OUTPUT_DTYPE(name)
#define OUTPUT_STRING(name)
#define OUTPUT_WORD(name)
#define OUTPUT_WORDS(name)
#define OUTPUT_OUT(name) name,
#define OUTPUT(op, kind, name, ...) OUTPUT_##kind(name)

/* Calls the op. The place of one of several outputs may be NULL: the result is computed and released. */
nd4c_status nd4c_typed_call_several(nd4c_context *context, nd4c_op op, const nd4c_array *const *inputs,
                                    int32_t input_count, const nd4c_attr_value *attrs, nd4c_array **const *places,
                                    int32_t count);

static inline nd4c_status nd4c_typed_call(nd4c_context *context, nd4c_op op, const nd4c_array *const *inputs,
                                          int32_t input_count, const nd4c_attr_value *attrs, nd4c_array **const *places,
                                          int32_t count) {
  return count == 1 ? nd4c_op_call_positional(context, op, inputs, input_count, attrs, places[0])
                    : nd4c_typed_call_several(context, op, inputs, input_count, attrs, places, count);
}

#endif
