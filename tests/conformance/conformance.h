/* Op records: for each op of the table one sampler (cases) and one oracle (right results), with which the program
 * nd4c_conformance tests every backend, engine, dtype, layout and way of calling. The oracles do not use the library's
 * kernels or rules: they compute values, promotion, shapes and results independently, in long double or exactly. */
#ifndef CONFORMANCE_H
#define CONFORMANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/nd4c.h"

enum { CF_NO_VALUES = -1 };
enum { CF_RANK = 8, CF_INPUTS = 24, CF_OUTPUTS = 8, CF_ATTRS = 24, CF_INTS = 64, CF_GUARD = 5 };

/* -- values.c: elements on the host ----------------------------------------------------------------------------- */

/* i: bool, integers (uint64 as its bits) and numbers of strings; re and im: the others. */
typedef struct cf_value {
  int64_t i;
  long double re, im;
} cf_value;

/* C order. Elements of utf8 tensors are numbers of cf_string, 8 bytes each; packed elements are codes of a byte. */
typedef struct cf_tensor {
  nd4c_dtype dtype; /* NONE: an input left out */
  int32_t rank;
  int64_t shape[CF_RANK];
  int64_t size;
  unsigned char *data;
} cf_tensor;

bool cf_is_float(nd4c_dtype dtype);
bool cf_is_complex(nd4c_dtype dtype);
bool cf_is_integer(nd4c_dtype dtype); /* without bool */
bool cf_is_unsigned(nd4c_dtype dtype);
bool cf_is_narrow(nd4c_dtype dtype); /* float8 and packed dtypes */
bool cf_is_packed(nd4c_dtype dtype);
/* Whether this build has it. */
bool cf_has_dtype(nd4c_dtype dtype);
int64_t cf_size_of(nd4c_dtype dtype);
int cf_bits_of(nd4c_dtype dtype);
const char *cf_string(int64_t number);
/* The number of a text, which is kept. */
int64_t cf_string_number(const char *text, int64_t length);

/* -- narrow.c */
long double cf_narrow_decode(nd4c_dtype dtype, int code);
int cf_narrow_encode(nd4c_dtype dtype, long double value, bool saturate);
/* Between a packed tensor's codes and the library's bytes. */
void cf_pack(const cf_tensor *tensor, unsigned char *packed);
void cf_unpack(const unsigned char *packed, cf_tensor *tensor);

cf_value cf_get(const cf_tensor *tensor, int64_t index);
void cf_set(cf_tensor *tensor, int64_t index, cf_value value);
/* By the rules of the op cast. */
cf_value cf_convert(cf_value value, nd4c_dtype from, nd4c_dtype to);
/* The number in the dtype: rounded, or an infinity. */
long double cf_round(nd4c_dtype dtype, long double value);
/* Distance of neighbours around a number. */
long double cf_ulp(nd4c_dtype dtype, long double value);
int64_t cf_wrap(nd4c_dtype dtype, int64_t value);
/* The Array API's promotion, or NumPy's where the standard leaves it open; NONE if this build lacks the result or
 * neither defines one. */
nd4c_dtype cf_promote(nd4c_dtype a, nd4c_dtype b);

/* -- cases ------------------------------------------------------------------------------------------------------ */

typedef struct cf_random {
  uint64_t state;
} cf_random;
uint64_t cf_next(cf_random *random);
/* low .. high */
int64_t cf_between(cf_random *random, int64_t low, int64_t high);

typedef enum cf_fill_kind {
  CF_SMALL,    /* -4 .. 4; integers -9 .. 9 */
  CF_POSITIVE, /* 0.1 .. 4; integers 1 .. 9 */
  CF_NEAR_ONE, /* 0.8 .. 1.2; integers 1 .. 3 */
  CF_WIDE,     /* all magnitudes, finite; integers: all bits */
  CF_SPECIAL   /* zeros, infinities, NaN, extremes, ties */
} cf_fill_kind;

struct cf_golden;

typedef struct cf_case {
  nd4c_op op;
  const struct cf_golden *golden; /* recorded results, or NULL: the record's oracle computes them */
  nd4c_dtype dtype;
  int32_t input_count, attr_count;
  cf_tensor inputs[CF_INPUTS];
  nd4c_attr attrs[CF_ATTRS];
  int64_t ints[CF_ATTRS][CF_INTS];
  int64_t axes_limit; /* scratch of samplers */
} cf_case;

#define CF_SHAPE(...)                                                                \
  (int32_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]) { \
    __VA_ARGS__                                                                      \
  }
#define CF_SCALAR 0, NULL

cf_tensor *cf_input(cf_case *c, nd4c_dtype dtype, int32_t rank, const int64_t *shape);
void cf_absent(cf_case *c);
void cf_fill(cf_random *random, cf_tensor *tensor, cf_fill_kind kind);
cf_tensor *cf_filled(cf_case *c, cf_random *random, cf_fill_kind kind, nd4c_dtype dtype, int32_t rank,
                     const int64_t *shape);
void cf_attr_int(cf_case *c, const char *name, int64_t value);
void cf_attr_bool(cf_case *c, const char *name, bool value);
void cf_attr_float(cf_case *c, const char *name, double value);
void cf_attr_dtype(cf_case *c, const char *name, nd4c_dtype value);
/* count 0: the list is left out; CF_NO_VALUES: it is given and empty. */
void cf_attr_ints(cf_case *c, const char *name, int32_t count, const int64_t *values);
/* For oracles: the value given, or the schema's default. */
int64_t cf_int_of(const cf_case *c, const char *name, int64_t preset);
double cf_float_of(const cf_case *c, const char *name, double preset);
/* NULL and count 0 if not given. */
const int64_t *cf_ints_of(const cf_case *c, const char *name, int32_t *count);
/* Input if it was given. */
const cf_tensor *cf_input_of(const cf_case *c, int32_t position);
void cf_case_clear(cf_case *c);
void *cf_need(size_t bytes); /* zeroed; ends the program if there is no memory */

/* An oracle's result. values are not rounded; scale (may be NULL): the magnitude to which the tolerance relates where
 * it is larger than the result's own. */
typedef struct cf_expected {
  nd4c_dtype dtype;
  int32_t rank;
  int64_t shape[CF_RANK];
  int64_t size;
  cf_value *values;
  long double *scale;
  bool zero_signs; /* zeros have the sign of these */
} cf_expected;
void cf_expect(cf_expected *expected, nd4c_dtype dtype, int32_t rank, const int64_t *shape, bool scale);
void cf_expected_clear(cf_expected *expected);

/* -- records.c -------------------------------------------------------------------------------------------------- */

typedef struct cf_record {
  nd4c_op op;
  /* Fills the case of that number; false if there are no more. A case may have no inputs: not for this dtype. */
  bool (*sample)(cf_random *random, int32_t number, cf_case *c);
  void (*oracle)(const cf_case *c, cf_expected *expected);
  double ulps; /* allowed distance of real results in units of the last place */
  double complex_ulps;
} cf_record; /* without a sampler: the cases are recorded ones (golden.c) */
/* NULL if an op has no record. */
const cf_record *cf_record_find(nd4c_op op);
/* Place of an op in a table of CF_OPS: built-in ones by their number, those of plug-ins behind them. -1 beyond. */
enum { CF_BUILTIN_OPS = 1024, CF_OPS = 1280 };
int32_t cf_place_of_op(nd4c_op op);

/* -- golden.c: cases and refusals recorded by tests/records ------------------------------------------------------- */

/* Judges results that have no single right answer (eigenvectors, random numbers): NULL, or a text of what is wrong. */
typedef const char *(*cf_property)(const cf_case *c, const cf_tensor *outputs, int32_t output_count, char *text,
                                   size_t size);

typedef struct cf_golden {
  nd4c_op op;
  nd4c_dtype dtype;
  cf_case c;       /* to be copied: tensors and lists stay here */
  bool is_refusal; /* status and part of the text; outputs otherwise */
  nd4c_status status;
  char *text;
  double ulps, complex_ulps;
  cf_property property; /* NULL: element by element */
  int32_t output_count;
  cf_expected outputs[CF_OUTPUTS];
} cf_golden;

/* Reads every *.rec of a folder and keeps the cases of ops for which `wants` is true; false with a message on stderr if
 * a file is damaged. */
bool cf_golden_load(const char *folder, bool (*wants)(const void *user, nd4c_op op), const void *user);
/* The case of that number, with copies of its tensors; false if there are no more. */
bool cf_golden_sample(int32_t number, cf_case *c);
/* Refusals of an op, by number; NULL after the last. */
const cf_golden *cf_golden_refusal(nd4c_op op, int32_t number);
/* Cases recorded for an op, all dtypes. */
int32_t cf_golden_count(nd4c_op op);
cf_property cf_property_find(const char *name);

/* -- layouts.c -------------------------------------------------------------------------------------------------- */

#define CF_LAYOUTS(X) \
  X(contiguous) X(offset) X(negative) X(zero) X(transposed) X(second) X(channels_last) X(overlapping) X(mixed)
typedef enum cf_layout {
#define CF_LAYOUT_ENUM(name) CF_LAYOUT_##name,
  CF_LAYOUTS(CF_LAYOUT_ENUM)
#undef CF_LAYOUT_ENUM
      CF_LAYOUT_COUNT
} cf_layout;
extern const char *const cf_layout_names[CF_LAYOUT_COUNT];

/* A view into a block of elements. */
typedef struct cf_placement {
  int64_t total, offset, strides[CF_RANK];
  bool injective; /* no two elements share a place */
} cf_placement;
/* False: the layout does not apply to such a shape. */
bool cf_place(nd4c_dtype dtype, cf_layout layout, int32_t rank, const int64_t *shape, cf_placement *placement);

/* A tensor on a device: the whole block and the view into it. */
typedef struct cf_array {
  cf_tensor block; /* the bytes that were written to it */
  cf_placement placement;
  nd4c_array *base, *view;
} cf_array;
/* Changes the tensor where the layout makes elements share a place. Status of the library's calls. */
nd4c_status cf_array_make(cf_tensor *tensor, const cf_placement *placement, nd4c_device *device, cf_array *array);
void cf_array_clear(cf_array *array);
/* Reads a whole array into a fresh tensor. */
nd4c_status cf_array_read(const nd4c_array *array, cf_tensor *tensor);
/* True if the block is unchanged, apart from the elements of the view if `except_view`. */
bool cf_array_intact(const cf_array *array, bool except_view);
void cf_tensor_clear(cf_tensor *tensor);
void cf_tensor_make(cf_tensor *tensor, nd4c_dtype dtype, int32_t rank, const int64_t *shape);

/* -- samplers and oracles, one file a family --------------------------------------------------------------------- */

#define CF_SAMPLER(name) bool cf_sample_##name(cf_random *random, int32_t number, cf_case *c)
#define CF_ORACLE(name) void cf_oracle_##name(const cf_case *c, cf_expected *expected)

CF_SAMPLER(unary);
CF_SAMPLER(logical_unary);
CF_SAMPLER(cast);
CF_SAMPLER(binary);
CF_SAMPLER(logical_binary);
CF_SAMPLER(where);
CF_ORACLE(unary);
CF_ORACLE(cast);
CF_ORACLE(binary);
CF_ORACLE(where);

CF_SAMPLER(reduce);
CF_SAMPLER(arg_reduce);
CF_ORACLE(reduce);
CF_ORACLE(arg_reduce);

CF_SAMPLER(matmul);
CF_SAMPLER(linear);
CF_ORACLE(matmul);
CF_ORACLE(linear);

CF_SAMPLER(conv);
CF_SAMPLER(pool);
CF_SAMPLER(batch_norm);
CF_SAMPLER(layer_norm);
CF_SAMPLER(softmax);
CF_SAMPLER(lrn);
CF_ORACLE(conv);
CF_ORACLE(pool);
CF_ORACLE(batch_norm);
CF_ORACLE(layer_norm);
CF_ORACLE(softmax);
CF_ORACLE(lrn);

CF_SAMPLER(reshape);
CF_SAMPLER(transpose);
CF_SAMPLER(broadcast_to);
CF_SAMPLER(squeeze);
CF_SAMPLER(expand_dims);
CF_SAMPLER(flatten);
CF_SAMPLER(slice);
CF_SAMPLER(concat);
CF_SAMPLER(gather);
CF_ORACLE(reshape);
CF_ORACLE(transpose);
CF_ORACLE(broadcast_to);
CF_ORACLE(squeeze);
CF_ORACLE(expand_dims);
CF_ORACLE(flatten);
CF_ORACLE(slice);
CF_ORACLE(concat);
CF_ORACLE(gather);

/* y = activation(x) of linear and conv, in long double. */
long double cf_activation(int64_t activation, long double x);

#endif
