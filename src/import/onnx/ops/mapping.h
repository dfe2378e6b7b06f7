/* Which ONNX ops are known, and what imports each. check_ops.c binds nodes to rows; emission/scope.c calls the emit
 * function of a node's row. */
#ifndef ND4C_IMPORT_ONNX_OPS_MAPPING_H
#define ND4C_IMPORT_ONNX_OPS_MAPPING_H

#include "import/onnx/model.h"
#include "nd4c/op_schema.h"

struct nd4c_onnx_emission;
typedef nd4c_status (*nd4c_onnx_emit_function)(struct nd4c_onnx_emission *emission);

enum { ND4C_ONNX_ANY = INT32_MAX }; /* any number of inputs or outputs */

/* One row: an ONNX op from opset `since` to `until`. */
typedef struct nd4c_onnx_mapping {
  const char *name;
  int32_t since, until;
  int32_t inputs_least, inputs_most;
  int32_t outputs; /* that the import makes; a node may name further ones, which no node may read */
  nd4c_onnx_emit_function emit;
  nd4c_op op; /* for rows that share an emit function */
  const struct nd4c_onnx_rule
      *rules;              /* of the node's attributes (emission/attributes.h); NULL: the function reads them */
  const char *composed_of; /* for an op that no single nd4c op can do; NULL: a row of the op table names it */
} nd4c_onnx_mapping;

typedef struct nd4c_onnx_family {
  const char *domain; /* "": ONNX's own */
  const nd4c_onnx_mapping *rows;
  int32_t count;
} nd4c_onnx_family;

/* The row for an op of a domain ("" or "ai.onnx": ONNX's own) at that domain's opset; NULL if there is none. */
const nd4c_onnx_mapping *nd4c_onnx_mapping_find(nd4c_span domain, nd4c_span name, int64_t opset);
/* The rows of all families one after the other, with their domain; NULL after the last. */
const nd4c_onnx_mapping *nd4c_onnx_mapping_at(int32_t index, const char **domain);
/* The newest opset of a domain that nd4c knows; 0 if it does not know the domain. */
int64_t nd4c_onnx_mapping_newest(nd4c_span domain);
/* Whether plug-ins may bring operators of the domain. */
bool nd4c_onnx_mapping_is_open(nd4c_span domain);

#endif
