/* Lists of extents as data: nodes that give them, for ops that compute with an extent as with any number (a scale,
 * positions, a mask). A plan for numbers folds them into constants. operands.c calls it when such a list is first used
 * in the graph. */
#include "array/array.h"
#include "base/alloc.h"
#include "base/status.h"
#include "graph/ir/graph.h"
#include "import/onnx/importer.h"

static const char label[] = "extents";

static nd4c_status record(nd4c_graph *graph, nd4c_op op, const nd4c_value *inputs, int32_t count,
                          const nd4c_attr *attrs, int32_t attr_count, nd4c_value *value) {
  return nd4c_graph_op(graph, op, inputs, count, attrs, attr_count, label, value, 1);
}

/* A vector of one element. A range of one number is the only op that makes numbers of its attributes. */
static nd4c_status record_one(nd4c_graph *graph, int64_t extent, nd4c_value *value) {
  nd4c_array *array = NULL;
  const int64_t one = 1;
  if (nd4c_extent_is_symbolic(extent)) {
    int64_t next = 0;
    if (!nd4c_extents_add(graph->extents, extent, 1, &next)) {
      return nd4c_fail(ND4C_UNSUPPORTED, "an extent beyond 64 bits");
    }
    const nd4c_attr attrs[] = {nd4c_attr_of_int("start", extent), nd4c_attr_of_int("stop", next)};
    return record(graph, ND4C_OP_integer_range, NULL, 0, attrs, 2, value);
  }
  ND4C_TRY(nd4c_onnx_host_array(ND4C_INT64, 1, &one, &extent, &array));
  nd4c_status status = nd4c_graph_constant(graph, array, value);
  nd4c_array_release(array);
  return status;
}

/* Exact: a power of 2 divides. */
static nd4c_status record_quotient(nd4c_graph *graph, const nd4c_onnx_operand_slot *slot, nd4c_value *value) {
  nd4c_array *array = NULL;
  nd4c_value inputs[2] = {*value, ND4C_VALUE_NONE};
  ND4C_TRY(nd4c_array_full(slot->dtype, 0, NULL, (double)slot->parts, NULL, &array));
  nd4c_status status = nd4c_graph_constant(graph, array, &inputs[1]);
  nd4c_array_release(array);
  return status == ND4C_OK ? record(graph, ND4C_OP_divide, inputs, 2, NULL, 0, value) : status;
}

static nd4c_status record_all(nd4c_graph *graph, const nd4c_onnx_operand_slot *slot, const int64_t *values,
                              nd4c_value *parts, nd4c_value *value) {
  const nd4c_array *extents = slot->extents;
  const int64_t size = nd4c_array_size(extents);
  const int32_t rank = nd4c_array_rank(extents);
  for (int64_t i = 0; i < size; i++) {
    ND4C_TRY(record_one(graph, values[i], &parts[i]));
  }
  *value = parts[0];
  if (size > 1) {
    const nd4c_attr axis = nd4c_attr_of_int("axis", 0);
    ND4C_TRY(record(graph, ND4C_OP_concat, parts, (int32_t)size, &axis, 1, value));
  }
  if (rank != 1) {
    const nd4c_attr shape = nd4c_attr_of_ints("shape", nd4c_array_shape(extents), rank);
    ND4C_TRY(record(graph, ND4C_OP_reshape, value, 1, &shape, 1, value));
  }
  if (slot->dtype != ND4C_INT64) {
    const nd4c_attr to = nd4c_attr_of_dtype("dtype", slot->dtype);
    ND4C_TRY(record(graph, ND4C_OP_cast, value, 1, &to, 1, value));
  }
  return slot->parts > 1 ? record_quotient(graph, slot, value) : ND4C_OK;
}

nd4c_status nd4c_onnx_record_extents(nd4c_graph *graph, const nd4c_onnx_operand_slot *slot, nd4c_value *value) {
  const size_t size = (size_t)nd4c_array_size(slot->extents);
  int64_t *values = nd4c_allocate(size * sizeof *values);
  nd4c_value *parts = nd4c_allocate(size * sizeof *parts);
  nd4c_status status = values == NULL || parts == NULL ? nd4c_fail_memory("extents", size * sizeof *values)
                                                       : nd4c_array_read(slot->extents, values, size * sizeof *values);
  if (status == ND4C_OK) {
    status = record_all(graph, slot, values, parts, value);
  }
  nd4c_deallocate(values);
  nd4c_deallocate(parts);
  return status;
}
