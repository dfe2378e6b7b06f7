/* Implements value_readers.h. rewrite.c calls it. */
#include "graph/ir/value_readers.h"

#include "base/alloc.h"
#include "base/region.h"
#include "base/status.h"

void nd4c_value_readers_free(nd4c_value_readers *readers) {
  nd4c_deallocate(readers->heads);
  nd4c_deallocate(readers->items);
  *readers = (nd4c_value_readers){.made = false};
}

static nd4c_status make_heads(nd4c_value_readers *readers, int32_t count) {
  ND4C_TRY(nd4c_grow(&readers->heads, &readers->head_capacity, count, sizeof *readers->heads, "a pass"));
  while (readers->head_count < count) {
    readers->heads[readers->head_count++] = -1;
  }
  return ND4C_OK;
}

static nd4c_status append(nd4c_value_readers *readers, nd4c_value value, int32_t node, int32_t position) {
  if (value < 0) {
    return ND4C_OK;
  }
  ND4C_TRY(make_heads(readers, value + 1));
  ND4C_TRY(nd4c_grow(&readers->items, &readers->capacity, readers->count + 1, sizeof *readers->items, "a pass"));
  readers->items[readers->count] = (nd4c_value_reader){.node = node, .position = position};
  nd4c_value_readers_put(readers, value, readers->count);
  readers->count++;
  return ND4C_OK;
}

static nd4c_status list_all(nd4c_value_readers *readers, const nd4c_graph *graph) {
  ND4C_TRY(make_heads(readers, graph->value_count));
  for (int32_t i = 0; i < graph->node_count; i++) {
    const nd4c_graph_node *node = &graph->nodes[i];
    for (int32_t k = 0; node->def != NULL && k < node->input_count; k++) {
      ND4C_TRY(append(readers, node->inputs[k], i, k));
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_value_readers_make(nd4c_value_readers *readers, const nd4c_graph *graph) {
  if (readers->made) {
    return make_heads(readers, graph->value_count);
  }
  const nd4c_status status = list_all(readers, graph);
  if (status != ND4C_OK) {
    nd4c_value_readers_free(readers);
  }
  readers->made = status == ND4C_OK;
  return status;
}

void nd4c_value_readers_add(nd4c_value_readers *readers, nd4c_value value, int32_t node, int32_t position) {
  if (readers->made && append(readers, value, node, position) != ND4C_OK) {
    nd4c_value_readers_free(readers);
  }
}

int32_t nd4c_value_readers_take(nd4c_value_readers *readers, nd4c_value value) {
  const int32_t first = readers->heads[value];
  readers->heads[value] = -1;
  return first;
}

void nd4c_value_readers_put(nd4c_value_readers *readers, nd4c_value value, int32_t item) {
  readers->items[item].next = readers->heads[value];
  readers->heads[value] = item;
}
