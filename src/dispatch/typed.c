/* The typed functions of ops.h whose row has no form, derived from the op table; programs call them. Each puts its
 * arguments on the stack and calls the generic form. typed_options.c has the others. The compiler compares each with
 * its committed prototype: a row that changed needs `ninja ops-header`. */
#include "dispatch/typed.h"

#include "base/status.h"

#define PARAM_IN(name, ...) , const nd4c_array *name
#define PARAM_OPT(name, ...) , const nd4c_array *name
#define PARAM_VAR(name, ...) , const nd4c_array *const *name, int32_t name##_count
#define PARAM_INT(name, ...) , int64_t name
#define PARAM_BOOL(name, ...) , bool name
#define PARAM_FLOAT(name, ...) , double name
#define PARAM_INTS(name, ...) , const int64_t *name, int32_t name##_count
#define PARAM_FLOATS(name, ...) , const double *name, int32_t name##_count
#define PARAM_DTYPE(name, ...) , nd4c_dtype name
#define PARAM_STRING(name, ...) , const char *name
#define PARAM_WORD(name, type, preset) , nd4c_##type name
#define PARAM_WORDS(name, type, preset) PARAM_INTS(name, )
#define PARAM_OUT(name, ...) , nd4c_array **name
#define PARAM(op, kind, name, ...) PARAM_##kind(name, __VA_ARGS__)

#define TYPED_VALUE(op, name, preset) name

#define COUNT_IN(name) +1
#define COUNT_OPT(name) +1
#define COUNT_VAR(name) +name##_count
#define COUNT(op, kind, name, ...) ND4C_FOR_INPUT(kind, COUNT_##kind)(name)

/* A variadic op passes on its caller's list. */
#define LIST_IN(name)
#define LIST_OPT(name)
#define LIST_VAR(name) list_ = name;
#define LIST(op, kind, name, ...) ND4C_FOR_INPUT(kind, LIST_##kind)(name)

nd4c_status nd4c_typed_call_several(nd4c_context *context, nd4c_op op, const nd4c_array *const *inputs,
                                    int32_t input_count, const nd4c_attr_value *attrs, nd4c_array **const *places,
                                    int32_t count) {
  enum { MOST = 8 };
  nd4c_array *outputs[MOST] = {NULL};
  if (count > MOST) {
    return nd4c_fail(ND4C_INTERNAL, "op %u has more than %d outputs", op, MOST);
  }
  for (int32_t i = 0; i < count; i++) {
    outputs[i] = places[i] != NULL ? *places[i] : NULL;
  }
  ND4C_TRY(nd4c_op_call_positional(context, op, inputs, input_count, attrs, outputs));
  for (int32_t i = 0; i < count; i++) {
    if (places[i] != NULL) {
      *places[i] = outputs[i];
    } else {
      nd4c_array_release(outputs[i]);
    }
  }
  return ND4C_OK;
}

/* The list of attributes ends in an empty row because C17 has no empty initialiser; an op without attributes leaves it
 * out altogether. So do the lists of inputs and of outputs. */
#define BODY(name, SIGNATURE, context)                                                 \
  {                                                                                    \
    const nd4c_array *const inputs_[] = {SIGNATURE(INPUT, name) NULL};                 \
    const nd4c_attr_value attrs_[] = {SIGNATURE(ATTR, name){ND4C_ATTR_UNSET, 0, {0}}}; \
    const nd4c_array *const *list_ = inputs_;                                          \
    SIGNATURE(LIST, name)                                                              \
    nd4c_array **const outputs_[] = {SIGNATURE(OUTPUT, name) NULL};                    \
    return nd4c_typed_call(context, ND4C_OP_##name, list_, 0 SIGNATURE(COUNT, name),   \
                           ND4C_ATTR_##name##_count > 0 ? attrs_ : NULL, outputs_,     \
                           (int32_t)(sizeof outputs_ / sizeof *outputs_) - 1);         \
  }

#define DEFINE_PLAIN(name, SIGNATURE)                                                       \
  nd4c_status nd4c_##name(TYPED_REST(_ SIGNATURE(PARAM, name))) BODY(name, SIGNATURE, NULL) \
      nd4c_status nd4c_##name##_on(nd4c_context *context SIGNATURE(PARAM, name)) BODY(name, SIGNATURE, context)
#define DEFINE_OPTIONS(name, SIGNATURE)
#define DEFINE(number, version, name, category, SIGNATURE, rule, dtypes, doc, ...) \
  TYPED_JOIN(DEFINE_, TYPED_FORM(__VA_ARGS__))(name, SIGNATURE)
ND4C_OP_TABLE(DEFINE)
