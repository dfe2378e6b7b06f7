/* Which ONNX ops are known, and what imports each. */
#ifndef ND4C_IO_ONNX_MAPPING_H
#define ND4C_IO_ONNX_MAPPING_H

#include "io/onnx/model.h"
#include "nd4c/op.h"

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

/* The row for an op of ONNX's own domain at an opset; NULL if there is none. */
const nd4c_onnx_mapping *nd4c_onnx_mapping_find(nd4c_span name, int64_t opset);
/* All rows. */
int32_t nd4c_onnx_mapping_count(void);
const nd4c_onnx_mapping *nd4c_onnx_mapping_at(int32_t index);

#endif
