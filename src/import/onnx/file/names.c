/* The table of a graph's values by name. The parsers number the values of a graph with it; check.c and ops/gradient.c
 * look names up. */
#include "base/status.h"
#include "import/onnx/model.h"

enum { FIRST_CAPACITY = 16, CAPACITY_LIMIT = 1 << 28 };

/* FNV-1a, started with an address so that a file cannot be made to collide. */
static uint32_t hash_name(const nd4c_onnx_graph *graph, nd4c_span name) {
  uint64_t hash = UINT64_C(14695981039346656037) ^ graph->names.seed;
  for (size_t i = 0; i < name.size; i++) {
    hash = (hash ^ name.bytes[i]) * UINT64_C(1099511628211);
  }
  return (uint32_t)(hash ^ hash >> 32);
}

/* The slot that holds the name, or the empty one where it belongs. There always is an empty one. */
static uint32_t find_slot(const nd4c_onnx_graph *graph, nd4c_span name) {
  uint32_t mask = graph->names.capacity - 1;
  uint32_t slot = hash_name(graph, name) & mask;
  while (graph->names.slots[slot] != 0 &&
         !nd4c_span_equal(nd4c_onnx_graph_value(graph, graph->names.slots[slot] - 1)->name, name)) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

static nd4c_status grow(nd4c_onnx_model *model, nd4c_onnx_graph *graph) {
  uint32_t capacity = graph->names.capacity == 0 ? FIRST_CAPACITY : 2 * graph->names.capacity;
  if (capacity > CAPACITY_LIMIT) {
    return nd4c_fail(ND4C_FORMAT, "more than %d named values", (int)CAPACITY_LIMIT / 2);
  }
  int32_t *slots = NULL;
  if (graph->names.capacity == 0) {
    graph->names.seed = (uint64_t)(uintptr_t)model ^ (uint64_t)(uintptr_t)graph << 16;
  }
  ND4C_TRY(nd4c_region_claim(&model->region, capacity, sizeof *slots, "the table of values", &slots));
  graph->names = (nd4c_onnx_names){slots, capacity, graph->names.seed};
  for (int32_t i = 0; i < graph->values.count; i++) {
    slots[find_slot(graph, nd4c_onnx_graph_value(graph, i)->name)] = i + 1;
  }
  return ND4C_OK;
}

nd4c_status nd4c_onnx_names_intern(nd4c_onnx_model *model, nd4c_onnx_graph *graph, nd4c_span name, int32_t *number) {
  if (2 * (uint32_t)(graph->values.count + 1) > graph->names.capacity) {
    ND4C_TRY(grow(model, graph));
  }
  uint32_t slot = find_slot(graph, name);
  if (graph->names.slots[slot] == 0) {
    nd4c_onnx_value *value = NULL;
    ND4C_TRY(nd4c_region_append(&model->region, &graph->values, sizeof *value, "values", &value));
    value->name = name;
    graph->names.slots[slot] = graph->values.count;
  }
  *number = graph->names.slots[slot] - 1;
  return ND4C_OK;
}

int32_t nd4c_onnx_names_find(const nd4c_onnx_graph *graph, nd4c_span name) {
  return graph->names.capacity == 0 ? ND4C_ONNX_NONE : graph->names.slots[find_slot(graph, name)] - 1;
}
