/* If, Loop and Scan as nodes with bodies. control.c decides when; control_nodes.c records them. */
#ifndef ND4C_IMPORT_ONNX_OPS_CONTROL_NODES_H
#define ND4C_IMPORT_ONNX_OPS_CONTROL_NODES_H

#include "import/onnx/emission/bodies.h"

/* Rounds that are imported one by one, of one loop and of loops within loops: the inner ones of more become nodes. */
enum { ND4C_ONNX_UNROLL_MOST = 64, ND4C_ONNX_UNROLL_TOGETHER = 256 };

/* Rounds of a loop with those of the loops around it. */
static inline int32_t nd4c_onnx_rounds_together(int32_t around, int64_t trips) {
  const int32_t most = trips < ND4C_ONNX_UNROLL_MOST ? (int32_t)trips : ND4C_ONNX_UNROLL_MOST;
  return most <= 1 ? around : around <= INT32_MAX / most ? around * most : INT32_MAX;
}

/* An If whose condition is not known. */
nd4c_status nd4c_onnx_emit_if_node(nd4c_onnx_emission *emission, const nd4c_onnx_graph *then_graph,
                                   const nd4c_onnx_graph *else_graph);
/* A Loop, unless its rounds can be imported one by one: then *done is false. */
nd4c_status nd4c_onnx_emit_loop_node(nd4c_onnx_emission *emission, const nd4c_onnx_graph *body, int32_t carried,
                                     bool *done);

/* control_rounds.c: runs a Loop of an interpreted model in a plan of its body. *done false: its rounds are to be
 * interpreted. trips: the most rounds; the loop's condition holds. */
nd4c_status nd4c_onnx_run_loop(nd4c_onnx_emission *emission, const nd4c_onnx_graph *body, int32_t carried,
                               int64_t trips, bool *done);

typedef struct nd4c_onnx_scan_node {
  const nd4c_onnx_graph *body;
  int32_t carried, scanned, collected;
  const nd4c_onnx_operand *states, *inputs;
  int32_t *axes; /* of scanned, then of collected values */
  bool *backward;
} nd4c_onnx_scan_node;
nd4c_status nd4c_onnx_emit_scan_node(nd4c_onnx_emission *emission, const nd4c_onnx_scan_node *scan,
                                     nd4c_onnx_operand *outputs);

#endif
