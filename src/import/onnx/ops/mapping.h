/* Which ONNX ops are known, and what imports each. */
#ifndef ND4C_IO_ONNX_MAPPING_H
#define ND4C_IO_ONNX_MAPPING_H

#include "import/onnx/model.h"
#include "nd4c/op_schema.h"

/* Every family of rows; each stands at the end of a file emit_*.c (see family.h). */
#define ND4C_ONNX_FAMILIES(X) \
  X(elementwise)              \
  X(image)                    \
  X(text)                     \
  X(learning)                 \
  X(trees)                    \
  X(vectors)                  \
  X(activation)               \
  X(reduce)                   \
  X(linalg)                   \
  X(signal)                   \
  X(nn)                       \
  X(window)                   \
  X(recurrent)                \
  X(attention)                \
  X(attention_preview)        \
  X(loss)                     \
  X(training)                 \
  X(quantization)             \
  X(shape)                    \
  X(index)                    \
  X(indexing)                 \
  X(constant)                 \
  X(control)                  \
  X(sequence)                 \
  X(legacy)                   \
  X(gradient)                 \
  X(sorting)                  \
  X(random)

struct nd4c_onnx_emission;
typedef nd4c_status (*nd4c_onnx_emit_function)(struct nd4c_onnx_emission *emission);

enum { ND4C_ONNX_ANY = INT32_MAX }; /* any number of inputs or outputs */

/* One row: an ONNX op from opset `since` to `until`. */
typedef struct nd4c_onnx_mapping {
  const char *name;
  int32_t since, until;
  int32_t inputs_least, inputs_most;
  int32_t outputs; /* that the import makes; those beyond may be named, but not used */
  nd4c_onnx_emit_function emit;
  nd4c_op op; /* for rows that share an emit function */
} nd4c_onnx_mapping;

typedef struct nd4c_onnx_family {
  const char *domain; /* "": ONNX's own */
  const nd4c_onnx_mapping *rows;
  int32_t count;
} nd4c_onnx_family;

#define ND4C_ONNX_FAMILY_DECLARE(name) extern const nd4c_onnx_family nd4c_onnx_family_##name;
ND4C_ONNX_FAMILIES(ND4C_ONNX_FAMILY_DECLARE)
#undef ND4C_ONNX_FAMILY_DECLARE

/* The row for an op of a domain ("" or "ai.onnx": ONNX's own) at that domain's opset; NULL if there is none. */
const nd4c_onnx_mapping *nd4c_onnx_mapping_find(nd4c_span domain, nd4c_span name, int64_t opset);
/* The rows of all families one after the other, with their domain; NULL after the last. */
const nd4c_onnx_mapping *nd4c_onnx_mapping_at(int32_t index, const char **domain);
/* The newest opset of a domain that nd4c knows; 0 if it knows nothing of the domain. */
int64_t nd4c_onnx_mapping_newest(nd4c_span domain);

#endif
