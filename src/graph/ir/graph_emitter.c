/* Implements graph_emitter.h with nd4c_graph_op. The functions of ops/emitter.c call it through the emitter's pointers;
 * rewrite.c shares nd4c_graph_value_describe. */
#include "graph/ir/graph_emitter.h"

#include <string.h>

#include "graph/ir/graph.h"

_Static_assert(ND4C_EMITTED_NONE == ND4C_VALUE_NONE, "an emitted value is a value of the graph");

static nd4c_status emit(nd4c_emitter *emitter, const nd4c_op_def *def, const nd4c_emitted *inputs, int32_t input_count,
                        const nd4c_attr *attrs, int32_t attr_count, nd4c_emitted *outputs) {
  const nd4c_graph_emitter *recorder = (const nd4c_graph_emitter *)emitter;
  return nd4c_graph_op(recorder->graph, def->info.op, inputs, input_count, attrs, attr_count, recorder->label, outputs,
                       def->info.output_count);
}

static nd4c_status add_constant(nd4c_emitter *emitter, nd4c_array *array, nd4c_emitted *output) {
  nd4c_status status = nd4c_graph_constant(((nd4c_graph_emitter *)emitter)->graph, array, output);
  nd4c_array_release(array);
  return status;
}

nd4c_emitted_info nd4c_graph_value_describe(const nd4c_graph *graph, nd4c_value value) {
  const nd4c_graph_value *found = &graph->values[value];
  nd4c_emitted_info info = {.dtype = found->dtype, .rank = found->rank};
  if (found->rank > 0) {
    memcpy(info.shape, found->shape, (size_t)found->rank * sizeof *found->shape);
  }
  return info;
}

static nd4c_emitted_info describe(const nd4c_emitter *emitter, nd4c_emitted value) {
  return nd4c_graph_value_describe(((const nd4c_graph_emitter *)emitter)->graph, value);
}

void nd4c_graph_emitter_open(nd4c_graph_emitter *recorder, nd4c_graph *graph, const char *label) {
  *recorder = (nd4c_graph_emitter){
      .emitter = {.emit = emit, .constant = add_constant, .describe = describe}, .graph = graph, .label = label};
}
