/* The typed functions of ops.h that take an options struct (nd4c/options.h), derived from the op table; programs call
 * them. Each reads the fields that the caller's struct has, takes the defaults of the table for the others, and calls
 * the generic form. The struct is neither copied nor allocated for. */
#include "dispatch/typed.h"

#include "base/status.h"

#define PARAM_IN(name) , const nd4c_array *name
#define PARAM_OPT(name)
#define PARAM(op, kind, name, ...) ND4C_FOR_INPUT(kind, PARAM_##kind)(name)

#define PLACE_OUT(name) , nd4c_array **name
#define PLACE(op, kind, name, ...) ND4C_FOR_OUTPUT(kind, PLACE_OUT)(name)

/* A field of the caller's struct, or its default where the struct ends before the end of the field. */
#define TYPED_VALUE(op, field, preset) \
  (size_ >= ND4C_OPTIONS_SIZE(nd4c_##op##_options, field) ? options->field : (preset))

/* Where each field ends, as an enumerator. BEYOND_<op> follows them: it is the size of the struct, plus 1. */
#define END_IN(op, name)
#define END_OPT(op, name) END_##op##_##name = ND4C_OPTIONS_SIZE(nd4c_##op##_options, name),
#define END_INT(op, name) END_OPT(op, name)
#define END_BOOL(op, name) END_OPT(op, name)
#define END_FLOAT(op, name) END_OPT(op, name)
#define END_INTS(op, name) END_OPT(op, name##_count)
#define END_FLOATS(op, name) END_OPT(op, name##_count)
#define END_DTYPE(op, name) END_OPT(op, name)
#define END_STRING(op, name) END_OPT(op, name)
#define END_WORD(op, name) END_OPT(op, name)
#define END_WORDS(op, name) END_OPT(op, name##_count)
#define END_OUT(op, name)
#define END(op, kind, name, ...) END_##kind(op, name)

/* The largest struct_size that is looked into: more is a struct that the caller did not initialise. */
enum { LONGEST = 4096 };

/* ARGUMENT for a struct that was not initialised, or that says something this library does not know. */
static nd4c_status check_options(const char *op, const void *options, uint32_t size, uint32_t known) {
  const unsigned char *bytes = options;
  if (size < sizeof size || size > LONGEST) {
    return nd4c_fail(ND4C_ARGUMENT,
                     "%s: struct_size of the options is %u, expected %u: initialise the struct with its DEFAULTS", op,
                     (unsigned)size, (unsigned)known);
  }
  for (uint32_t i = known; i < size; i++) {
    if (bytes[i] != 0) {
      return nd4c_fail(ND4C_ARGUMENT,
                       "%s: the options have %u bytes, of which this library knows %u, and byte %u is not zero: load a "
                       "newer libnd4c.so, or leave the newer options at zero",
                       op, (unsigned)size, (unsigned)known, (unsigned)i);
    }
  }
  return ND4C_OK;
}

/* ARGUMENT for a list whose count the caller forgot: it would count as left out. Slice alone gives empty lists a
 * meaning: no axis is sliced. */
static nd4c_status check_lists(nd4c_op op, const nd4c_attr_value *attrs) {
  if (op == ND4C_OP_slice && attrs[ND4C_ATTR_slice_starts].count == 0 && attrs[ND4C_ATTR_slice_stops].count == 0) {
    return ND4C_OK;
  }
  for (int32_t i = 0; attrs[i].kind != ND4C_ATTR_UNSET; i++) {
    const bool empty = attrs[i].count == 0 && ((attrs[i].kind == ND4C_ATTR_INTS && attrs[i].as.ints != NULL) ||
                                               (attrs[i].kind == ND4C_ATTR_FLOATS && attrs[i].as.floats != NULL));
    if (empty) {
      const nd4c_op_info *info = nd4c_op_get(op);
      return nd4c_fail(ND4C_ARGUMENT,
                       "%s: the options have a list %s, but %s_count is 0: set the count, or leave the list at NULL",
                       info->name, info->attrs[i].name, info->attrs[i].name);
    }
  }
  return ND4C_OK;
}

#define BODY(name, SIGNATURE, context)                                                                 \
  {                                                                                                    \
    const uint32_t known_ = BEYOND_##name - 1, size_ = options != NULL ? options->struct_size : 0;     \
    if (options != NULL && size_ != known_) {                                                          \
      ND4C_TRY(check_options(#name, options, size_, known_));                                          \
    }                                                                                                  \
    const nd4c_array *const inputs_[] = {SIGNATURE(INPUT, name)};                                      \
    const nd4c_attr_value attrs_[] = {SIGNATURE(ATTR, name){ND4C_ATTR_UNSET, 0, {0}}};                 \
    if (options != NULL) {                                                                             \
      ND4C_TRY(check_lists(ND4C_OP_##name, attrs_));                                                   \
    }                                                                                                  \
    nd4c_array **const outputs_[] = {SIGNATURE(OUTPUT, name)};                                         \
    return nd4c_typed_call(context, ND4C_OP_##name, inputs_, ND4C_IN_##name##_count, attrs_, outputs_, \
                           (int32_t)(sizeof outputs_ / sizeof *outputs_));                             \
  }

#define DEFINE_PLAIN(name, SIGNATURE)
#define DEFINE_OPTIONS(name, SIGNATURE)                                                                            \
  enum { SIGNATURE(END, name) BEYOND_##name };                                                                     \
  nd4c_status nd4c_##name(TYPED_REST(_ SIGNATURE(PARAM, name)),                                                    \
                          const nd4c_##name##_options *options SIGNATURE(PLACE, name)) BODY(name, SIGNATURE, NULL) \
      nd4c_status nd4c_##name##_on(nd4c_context *context SIGNATURE(PARAM, name),                                   \
                                   const nd4c_##name##_options *options SIGNATURE(PLACE, name))                    \
          BODY(name, SIGNATURE, context)
#define DEFINE(number, version, name, category, SIGNATURE, rule, dtypes, doc, ...) \
  TYPED_JOIN(DEFINE_, TYPED_FORM(__VA_ARGS__))(name, SIGNATURE)
ND4C_OP_TABLE(DEFINE)
