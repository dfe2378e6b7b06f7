/* Graphs inside a node that become bodies of a node of the graph (nd4c/control.h) instead of being inlined.
 * ops/control.c calls these functions. */
#ifndef ND4C_IMPORT_ONNX_EMISSION_BODIES_H
#define ND4C_IMPORT_ONNX_EMISSION_BODIES_H

#include "import/onnx/emission/emission.h"

/* An input that an inner graph declares. */
typedef struct nd4c_onnx_body_input {
  nd4c_onnx_operand known; /* a constant that stands for it; else ND4C_ONNX_OPERAND_NONE, and the body has an input */
  nd4c_dtype dtype;
  int32_t rank;
  int64_t shape[ND4C_MAX_RANK];
} nd4c_onnx_body_input;

/* Operands of the graphs around that inner graphs read. In bodies, constants stay constants, and the others are inputs,
 * behind those that the inner graph declares. Memory of the node. */
typedef struct nd4c_onnx_captures {
  nd4c_onnx_operand *operands;
  int32_t count;
  nd4c_value *values; /* of those that are not known, in the graph around */
  int32_t value_count;
} nd4c_onnx_captures;

/* Whether the import records a graph whose nodes may have bodies. */
bool nd4c_onnx_takes_bodies(const nd4c_onnx_emission *emission);
/* UNSUPPORTED if an inner graph reads a sequence or an optional of a graph around. */
nd4c_status nd4c_onnx_find_captures(nd4c_onnx_emission *emission, const nd4c_onnx_graph *const *graphs, int32_t count,
                                    nd4c_onnx_captures *captures);

/* Records an inner graph as a body, which the caller destroys. wanted: by output of the inner graph, whether the body
 * gives it; NULL: all. *first (may be NULL) says what is known of the inner graph's first output, a bool: it is then
 * not among the body's. Any failure that does not pass (base/status.h) means that the model must be interpreted, and
 * the importer has noted why. */
typedef enum nd4c_onnx_first { ND4C_ONNX_FIRST_UNKNOWN, ND4C_ONNX_FIRST_FALSE, ND4C_ONNX_FIRST_TRUE } nd4c_onnx_first;
nd4c_status nd4c_onnx_record_body(nd4c_onnx_emission *emission, const nd4c_onnx_graph *graph,
                                  const nd4c_onnx_captures *captures, const nd4c_onnx_body_input *inputs,
                                  const bool *wanted, nd4c_onnx_first *first, nd4c_graph **body);

/* The value of an operand in the graph. */
nd4c_status nd4c_onnx_body_value(nd4c_onnx_emission *emission, nd4c_onnx_operand operand, nd4c_value *value);
/* The graph that is being recorded, and an operand for a value of it. */
nd4c_graph *nd4c_onnx_recorded_graph(const nd4c_onnx_emission *emission);
nd4c_status nd4c_onnx_body_output(nd4c_onnx_emission *emission, nd4c_value value, nd4c_onnx_operand *operand);
/* Notes that the model must be interpreted because of the thread's last error; returns UNSUPPORTED. Failures that pass
 * (base/status.h) stay what they are. */
nd4c_status nd4c_onnx_interpret_instead(nd4c_onnx_emission *emission, nd4c_status status);
/* Forgets that the model must be interpreted: the caller imports the node in another way. */
void nd4c_onnx_forget_need(nd4c_onnx_emission *emission);

#endif
