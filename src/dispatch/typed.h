/* What the two files of typed functions share (typed.c, typed_options.c): the choice between them by the form of an
 * op's row, and the call. */
#ifndef ND4C_DISPATCH_TYPED_H
#define ND4C_DISPATCH_TYPED_H

#include <stddef.h>

#include "nd4c/ops.h"
#include "ops/signature.h"

/* The form of a row, from the names on: PLAIN or OPTIONS. */
#define TYPED_FORM(...) TYPED_FORM_OF(__VA_ARGS__, PLAIN, PLAIN, )
#define TYPED_FORM_OF(names, trait, form, ...) form
#define TYPED_JOIN(a, b) TYPED_JOIN_(a, b)
#define TYPED_JOIN_(a, b) a##b

#define TYPED_REST_(first, ...) __VA_ARGS__
#define TYPED_REST(...) TYPED_REST_(__VA_ARGS__)

/* The inputs and attributes of a signature as the generic call takes them. Each file defines TYPED_VALUE(op, name,
 * preset): what the caller passes for an optional input, an attribute or its count. */
#define INPUT_IN(op, name) name,
#define INPUT_OPT(op, name) TYPED_VALUE(op, name, NULL),
#define INPUT_VAR(op, name) NULL,
#define INPUT(op, kind, name, ...) ND4C_FOR_INPUT(kind, INPUT_##kind)(op, name)

#define ATTR_INT(op, name, preset) {ND4C_ATTR_INT, 0, {.i = TYPED_VALUE(op, name, preset)}},
#define ATTR_BOOL(op, name, preset) {ND4C_ATTR_BOOL, 0, {.i = TYPED_VALUE(op, name, preset)}},
#define ATTR_FLOAT(op, name, preset) {ND4C_ATTR_FLOAT, 0, {.f = TYPED_VALUE(op, name, preset)}},
#define ATTR_INTS(op, name, preset) \
  {ND4C_ATTR_INTS, TYPED_VALUE(op, name##_count, 0), {.ints = TYPED_VALUE(op, name, NULL)}},
#define ATTR_FLOATS(op, name, preset) \
  {ND4C_ATTR_FLOATS, TYPED_VALUE(op, name##_count, 0), {.floats = TYPED_VALUE(op, name, NULL)}},
#define ATTR_DTYPE(op, name, preset) {ND4C_ATTR_DTYPE, 0, {.i = TYPED_VALUE(op, name, preset)}},
#define ATTR_STRING(op, name, preset) {ND4C_ATTR_STRING, 0, {.string = TYPED_VALUE(op, name, preset)}},
#define ATTR_WORD(op, name, type, preset) {ND4C_ATTR_INT, 0, {.i = (int32_t)TYPED_VALUE(op, name, preset)}},
#define ATTR_WORDS(op, name, type, preset) ATTR_INTS(op, name, preset)
#define ATTR(op, kind, name, ...) ND4C_FOR_ATTR(kind, ATTR_##kind)(op, name, __VA_ARGS__)

/* The outputs of a signature, as a list of pointers to the caller's places. */
#define OUTPUT_PLACE(name) name,
#define OUTPUT(op, kind, name, ...) ND4C_FOR_OUTPUT(kind, OUTPUT_PLACE)(name)

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
