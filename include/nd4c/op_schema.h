/* Ops as data: the enum of all ops, a schema for each, and the generic call, by which a program runs any op with
 * arguments that it has put together itself. */
#ifndef ND4C_OP_SCHEMA_H
#define ND4C_OP_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/array.h"
#include "nd4c/context.h"
#include "nd4c/dtype.h"
#include "nd4c/export.h"
#include "nd4c/op_table.h"
#include "nd4c/ops/enums.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

typedef uint32_t nd4c_op;

enum nd4c_op_id {
  ND4C_OP_NONE = 0,
#define ND4C_OP_ENUM(number, version, name, ...) ND4C_OP_##name = number,
  ND4C_OP_TABLE(ND4C_OP_ENUM)
#undef ND4C_OP_ENUM
};

/* Positions of inputs and attributes of every op, for kernels: ND4C_IN_conv_bias, ND4C_ATTR_conv_strides, and the
 * counts ND4C_IN_conv_count, ND4C_ATTR_conv_count. Ops that share a signature have equal positions. */
#define ND4C_POS_IN_IN(op, name) ND4C_IN_##op##_##name,
#define ND4C_POS_IN_OPT(op, name) ND4C_IN_##op##_##name,
#define ND4C_POS_IN_VAR(op, name) ND4C_IN_##op##_##name,
#define ND4C_POS_IN_INT(op, name)
#define ND4C_POS_IN_BOOL(op, name)
#define ND4C_POS_IN_FLOAT(op, name)
#define ND4C_POS_IN_INTS(op, name)
#define ND4C_POS_IN_FLOATS(op, name)
#define ND4C_POS_IN_DTYPE(op, name)
#define ND4C_POS_IN_STRING(op, name)
#define ND4C_POS_IN_WORD(op, name)
#define ND4C_POS_IN_WORDS(op, name)
#define ND4C_POS_IN_OUT(op, name)
#define ND4C_POS_IN(op, kind, name, ...) ND4C_POS_IN_##kind(op, name)
#define ND4C_POS_ATTR_IN(op, name)
#define ND4C_POS_ATTR_OPT(op, name)
#define ND4C_POS_ATTR_VAR(op, name)
#define ND4C_POS_ATTR_INT(op, name) ND4C_ATTR_##op##_##name,
#define ND4C_POS_ATTR_BOOL(op, name) ND4C_ATTR_##op##_##name,
#define ND4C_POS_ATTR_FLOAT(op, name) ND4C_ATTR_##op##_##name,
#define ND4C_POS_ATTR_INTS(op, name) ND4C_ATTR_##op##_##name,
#define ND4C_POS_ATTR_FLOATS(op, name) ND4C_ATTR_##op##_##name,
#define ND4C_POS_ATTR_DTYPE(op, name) ND4C_ATTR_##op##_##name,
#define ND4C_POS_ATTR_STRING(op, name) ND4C_ATTR_##op##_##name,
#define ND4C_POS_ATTR_WORD(op, name) ND4C_ATTR_##op##_##name,
#define ND4C_POS_ATTR_WORDS(op, name) ND4C_ATTR_##op##_##name,
#define ND4C_POS_ATTR_OUT(op, name)
#define ND4C_POS_ATTR(op, kind, name, ...) ND4C_POS_ATTR_##kind(op, name)
#define ND4C_OP_POSITIONS(number, version, name, category, SIGNATURE, ...) \
  enum { SIGNATURE(ND4C_POS_IN, name) ND4C_IN_##name##_count };            \
  enum { SIGNATURE(ND4C_POS_ATTR, name) ND4C_ATTR_##name##_count };
ND4C_OP_TABLE(ND4C_OP_POSITIONS)
#undef ND4C_OP_POSITIONS

/* -- attributes ----------------------------------------------------------------------------------------------- */

struct nd4c_graph;

typedef enum nd4c_attr_kind {
  ND4C_ATTR_UNSET = 0,
  ND4C_ATTR_INT,
  ND4C_ATTR_BOOL,
  ND4C_ATTR_FLOAT,
  ND4C_ATTR_INTS,
  ND4C_ATTR_FLOATS,
  ND4C_ATTR_STRING,
  ND4C_ATTR_STRINGS,
  ND4C_ATTR_DTYPE,
  ND4C_ATTR_ARRAY,
  ND4C_ATTR_GRAPH
} nd4c_attr_kind;

/* A typed value. Lists, strings, arrays and graphs are borrowed from the caller who made the value. Not versioned by
 * struct_size: arrays of it cross the ABI, so its size is frozen, as are those of nd4c_op_input and nd4c_op_attr. */
typedef struct nd4c_attr_value {
  nd4c_attr_kind kind;
  /* Of a list. NULL leaves the list out. A pointer that is not NULL, with count 0, gives an empty list. For reductions,
   * flip, squeeze and fftshift an empty list means no axis, and a list left out means all axes. Other ops do not tell
   * the two apart. */
  int32_t count;
  union {
    int64_t i; /* INT, BOOL (0 or 1), DTYPE */
    double f;
    const int64_t *ints;
    const double *floats;
    const char *string;
    const char *const *strings;
    nd4c_array *array;
    struct nd4c_graph *graph;
  } as;
} nd4c_attr_value;

/* A named attribute of a generic call. */
typedef struct nd4c_attr {
  const char *name;
  nd4c_attr_value value;
} nd4c_attr;

/* -- schema --------------------------------------------------------------------------------------------------- */

/* X(NAME, number): what routing and tracing group ops by. */
#define ND4C_CATEGORY_TABLE(X) \
  X(UNARY, 1)                  \
  X(BINARY, 2)                 \
  X(TERNARY, 3)                \
  X(REDUCTION, 4)              \
  X(LINALG, 5)                 \
  X(NN, 6)                     \
  X(SHAPE, 7)                  \
  X(INDEXING, 8)               \
  X(SORTING, 9)                \
  X(CREATION, 10)              \
  X(RANDOM, 11)                \
  X(SIGNAL, 12)                \
  X(IMAGE, 13)                 \
  X(QUANTIZATION, 14)          \
  X(TEXT, 15)                  \
  X(LEARNING, 16)

typedef enum nd4c_category {
  ND4C_CATEGORY_NONE = 0,
#define ND4C_CATEGORY_ENUM(NAME, number) ND4C_CATEGORY_##NAME = number,
  ND4C_CATEGORY_TABLE(ND4C_CATEGORY_ENUM)
#undef ND4C_CATEGORY_ENUM
} nd4c_category;

typedef struct nd4c_op_input {
  const char *name;
  bool optional;
  bool variadic; /* takes the rest of the inputs, at least one */
} nd4c_op_input;

typedef struct nd4c_op_attr {
  const char *name;
  nd4c_attr_value preset; /* kind and default */
} nd4c_op_attr;

/* Ops of plug-ins have numbers from here on, in the order in which nd4c accepted them. Such a number holds for one
 * process: whatever outlives the process must name the op and its version. */
enum { ND4C_OP_PLUGIN = 65536 };

/* Schema of one op; static. */
typedef struct nd4c_op_info {
  uint32_t struct_size;
  nd4c_op op;
  uint32_t version;
  const char *name;
  const char *category_name;
  nd4c_category category;
  nd4c_dtype_set dtypes; /* of the first input */
  int32_t input_count, attr_count, output_count;
  const nd4c_op_input *inputs;
  const nd4c_op_attr *attrs;
  const char *doc;
  const char *names;    /* what other libraries call the op: "NumPy|PyTorch|ONNX|ND4J" */
  const char *provider; /* the plug-in that brings the op; "": nd4c itself */
} nd4c_op_info;

/* Number of ops: those of this build, then those of the plug-ins that have been loaded. nd4c_backend_load loads a
 * plug-in; those of nd4c.backend.plugins are loaded by nd4c_backend_probe or by the first call that needs a device. The
 * number only grows. Takes no lock. */
ND4C_API int32_t nd4c_op_count(void);
/* Schema at position 0 .. count - 1 of the table, NULL past the end. */
ND4C_API const nd4c_op_info *nd4c_op_at(int32_t position);
/* Schema by number, NULL if unknown. */
ND4C_API const nd4c_op_info *nd4c_op_get(nd4c_op op);
/* Schema by name ("conv" or "conv@1", "acme.swiglu2" of a plug-in); without a version, the highest. If a name with a
 * dot is not known yet, this call first loads the plug-ins of nd4c.backend.plugins, which may block. ND4C_NAME if
 * unknown; the text names the nearest op, or says that no plug-in brings it. */
ND4C_API nd4c_status nd4c_op_find(const char *name, const nd4c_op_info **info);

/* One value of an attribute, with its name. Not versioned by struct_size: its size is frozen. */
typedef struct nd4c_attr_word {
  int64_t value;
  const char *word;
} nd4c_attr_word;

/* The words for the values of an attribute, which is given by its position in the schema: conv's auto_pad has explicit,
 * same_upper, same_lower and valid. Returns *count words in the order of the values. Static. NULL, with *count 0, if
 * the attribute's values have no words, or there is no such op or attribute. count may be NULL. */
ND4C_API const nd4c_attr_word *nd4c_op_attr_words(nd4c_op op, int32_t attr, int32_t *count);
/* The name of an output by its position: "y". Ops of plug-ins do not name their outputs: a single output is "y";
 * several are "y0", "y1", ... Static; NULL where there is no such op or output. */
ND4C_API const char *nd4c_op_output_name(nd4c_op op, int32_t output);

/* -- generic call --------------------------------------------------------------------------------------------- */

/* Runs an op on the context (NULL: the thread's current one).
 *
 * inputs: input_count arrays; an optional input that is left out is NULL, or missing at the end. attrs: by name, in any
 * order; an attribute that is not given takes its default. outputs: output_count entries. A NULL entry receives a fresh
 * array, which the caller releases. If an entry holds an array, nd4c writes the result into that array: its dtype and
 * shape must be those of the result, and for an element-wise op it may be the same view as an input. Errors: NAME,
 * ARGUMENT, NULL_ARGUMENT, DTYPE, SHAPE, ALIAS, READ_ONLY, MEMORY, and what the device reports. A refused call leaves
 * the outputs as they were. */
ND4C_API nd4c_status nd4c_op_call(nd4c_context *context, nd4c_op op, const nd4c_array *const *inputs,
                                  int32_t input_count, const nd4c_attr *attrs, int32_t attr_count, nd4c_array **outputs,
                                  int32_t output_count);

/* As nd4c_op_call, but attrs holds all attributes, in the order of the schema. The typed functions call this. */
ND4C_API nd4c_status nd4c_op_call_positional(nd4c_context *context, nd4c_op op, const nd4c_array *const *inputs,
                                             int32_t input_count, const nd4c_attr_value *attrs, nd4c_array **outputs);

/* -- why this kernel ------------------------------------------------------------------------------------------ */

/* Text that says which kernel this call would use and why each other candidate was passed over; one line each, no
 * newline at the end. Runs nothing. Free with nd4c_free. */
ND4C_API nd4c_status nd4c_explain(nd4c_context *context, nd4c_op op, const nd4c_array *const *inputs,
                                  int32_t input_count, const nd4c_attr *attrs, int32_t attr_count, char **text);

/* Text of every difference between what was requested (forced or disabled engines, forced backend, width,
 * determinism) and what was applied since the last call, with counts; "" if none. Free with nd4c_free. */
ND4C_API nd4c_status nd4c_report_applied(char **text);

/* Text of the names in SD_KERNEL_FORCE_ENGINE and SD_KERNEL_DISABLE_ENGINES that have no effect on this machine: names
 * that no engine has, engines that this machine lacks, and `reference`, which cannot be disabled. It can be asked for
 * before any op is called. One line each; "" if none. Opens nothing. Free with nd4c_free. */
ND4C_API nd4c_status nd4c_report_engines(char **text);

ND4C_EXTERN_C_END
#endif
