/* Values that a body makes longer along an inner axis, as keys [batch, heads, time, width]. Rows can be appended in
 * place only if the axis lies first in memory; so the body's input and output are turned, and the rest of it sees
 * views. import/onnx/ops/control_rounds.c does that before it makes the plan of a loop's body, which graph/rounds.h
 * runs. */
#ifndef ND4C_GRAPH_IR_GROWING_H
#define ND4C_GRAPH_IR_GROWING_H

#include "graph/ir/graph.h"

/* How many rows the concat that gives `output` appends to its first operand, `input`, and along which axis; 0: the
 * output is no such concat, or the number depends on dims. */
int64_t nd4c_graph_growth(const nd4c_graph *graph, int32_t input, int32_t output, int32_t *axis);
/* Turns both, if the output grows along an axis behind others than those of 1, and the input's extent there is no
 * number. *front: the axis that now comes first, before the others in their order; 0: nothing was changed. After a
 * failure the graph is of no use. */
nd4c_status nd4c_graph_turn_growing(nd4c_graph *graph, int32_t input, int32_t output, int32_t *front);

#endif
