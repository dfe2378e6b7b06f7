/* Chooses the memory order of values around convolutions and attention. Shapes stay; strides change. A conv's output
 * gets the order that its kernel prefers. Ops that follow their inputs' order pass it on. attention's output gets the
 * order in which its heads are put together. Values that must be in C order, such as outputs of the graph, stay in C
 * order. passes.c runs it on optimised plans of one device. */
#include <string.h>

#include "array/narrow.h"
#include "array/shape.h"
#include "base/status.h"
#include "dispatch/choice.h"
#include "graph/passes.h"

enum { NO_READER = -1, SEVERAL = -2 };

typedef struct layout {
  nd4c_rewrite *rewrite;
  nd4c_region region; /* of this pass alone */
  bool *is_output;    /* by value */
  int32_t *reader;    /* by value: the node that alone reads it, NO_READER or SEVERAL */
} layout;

static nd4c_status describe(layout *work, nd4c_value value, nd4c_tensor *tensor) {
  const nd4c_graph *graph = work->rewrite->graph;
  nd4c_graph_describe(graph, value, tensor);
  if (value < 0) {
    return ND4C_OK;
  }
  int64_t *strides = NULL;
  ND4C_TRY(nd4c_region_make(&work->region, tensor->rank, sizeof *strides, &strides));
  if (graph->values[value].constant != NULL) {
    memcpy(strides, graph->values[value].constant->strides, (size_t)tensor->rank * sizeof *strides);
  } else {
    nd4c_graph_value_strides(&graph->values[value], strides);
  }
  tensor->strides = strides;
  tensor->flags |= nd4c_shape_is_contiguous(tensor->rank, tensor->shape, strides) ? ND4C_TENSOR_CONTIGUOUS : 0;
  return ND4C_OK;
}

/* Asks the conv's kernel; *found false: no preference. */
static nd4c_status ask(layout *work, const nd4c_graph_node *node, int32_t *order, bool *found) {
  const nd4c_context *context = work->rewrite->context;
  nd4c_tensor inputs[ND4C_IN_qlinear_conv_count], output;
  for (int32_t i = 0; i < node->input_count; i++) {
    ND4C_TRY(describe(work, node->inputs[i], &inputs[i]));
  }
  ND4C_TRY(describe(work, node->outputs[0], &output));
  nd4c_call call = {.struct_size = ND4C_SIZE_OF(nd4c_call),
                    .flags = context->deterministic ? ND4C_CALL_DETERMINISTIC : 0,
                    .op = &node->def->info,
                    .input_count = node->input_count,
                    .output_count = 1,
                    .inputs = inputs,
                    .outputs = &output,
                    .attrs = node->attrs,
                    .stream = context->stream,
                    .device = context->device->handle,
                    .width = context->width};
  *found = nd4c_choice_preferred_order(context, &call, order);
  return ND4C_OK;
}

/* The order of an input that the output could have, too. */
static const int32_t *inherited(const nd4c_graph *graph, const nd4c_graph_node *node) {
  int32_t rank = graph->values[node->outputs[0]].rank;
  int32_t looked_at = node->def->order == ND4C_ORDER_FIRST ? 1 : node->input_count;
  for (int32_t i = 0; i < looked_at && i < node->input_count; i++) {
    if (node->inputs[i] >= 0 && graph->values[node->inputs[i]].rank == rank &&
        graph->values[node->inputs[i]].order != NULL) {
      return graph->values[node->inputs[i]].order;
    }
  }
  return NULL;
}

/* The reshape at the end of a channel shuffle copies anyway, so its output can have the order of the conv before it. */
static const int32_t *through_views(const nd4c_graph *graph, const nd4c_graph_node *node) {
  int32_t rank = graph->values[node->outputs[0]].rank;
  for (int32_t steps = 0; steps < 8; steps++) {
    if (node->def->view == NULL || node->inputs[0] < 0) {
      return NULL;
    }
    const nd4c_graph_value *input = &graph->values[node->inputs[0]];
    if (input->rank == rank && input->order != NULL) {
      return input->order;
    }
    if (input->producer < 0) {
      return NULL;
    }
    node = &graph->nodes[input->producer];
  }
  return NULL;
}

/* The only reader of a value, if its op is `op`. */
static const nd4c_graph_node *reader_of(const layout *work, nd4c_value value, nd4c_op op) {
  const nd4c_graph_node *node = work->reader[value] < 0 ? NULL : &work->rewrite->graph->nodes[work->reader[value]];
  return node != NULL && node->def->info.op == op ? node : NULL;
}

/* If the value is only transposed and then reshaped, the memory order that makes the reshape a view. */
static nd4c_status order_of_reader(const layout *work, const nd4c_graph_node *node, const int32_t **order) {
  nd4c_graph *graph = work->rewrite->graph;
  const nd4c_graph_node *transpose = reader_of(work, node->outputs[0], ND4C_OP_transpose);
  int32_t axes[ND4C_MAX_RANK], rank = graph->values[node->outputs[0]].rank;
  if (work->rewrite->context->device->description.whole_buffers || transpose == NULL ||
      reader_of(work, transpose->outputs[0], ND4C_OP_reshape) == NULL) {
    return ND4C_OK;
  }
  const nd4c_attr_value *given = &transpose->attrs[ND4C_ATTR_transpose_axes];
  for (int32_t i = 0; i < rank; i++) {
    axes[i] = given->count == 0 ? rank - 1 - i : nd4c_axis_index(given->as.ints[i], rank);
  }
  *order = nd4c_region_copy(&graph->region, axes, rank, sizeof *axes);
  return *order == NULL ? nd4c_error_code() : ND4C_OK;
}

static bool is_permutation(const int32_t *order, int32_t rank) {
  uint64_t seen = 0;
  for (int32_t i = 0; i < rank; i++) {
    if (order[i] < 0 || order[i] >= rank || (seen >> order[i] & 1) != 0) {
      return false;
    }
    seen |= UINT64_C(1) << order[i];
  }
  return true;
}

static bool is_same_order(const int32_t *a, const int32_t *b, int32_t rank) {
  return a == b || (a != NULL && b != NULL && memcmp(a, b, (size_t)rank * sizeof *a) == 0);
}

/* Convolutions, whose kernels have an order of memory that they like. */
static bool is_conv(nd4c_op op) {
  return op == ND4C_OP_conv || op == ND4C_OP_conv_transpose || op == ND4C_OP_qlinear_conv || op == ND4C_OP_conv_integer;
}

static nd4c_status set_order(layout *work, const nd4c_graph_node *node) {
  nd4c_graph *graph = work->rewrite->graph;
  nd4c_graph_value *output = &graph->values[node->outputs[0]];
  const int32_t *before = output->order;
  output->order = NULL; /* of an earlier run, after which other passes changed the graph */
  if (node->output_count != 1 || work->is_output[node->outputs[0]] || nd4c_dtype_is_packed(output->dtype)) {
    return ND4C_OK;
  }
  const int32_t *order = NULL;
  if (is_conv(node->def->info.op)) {
    int32_t wish[ND4C_MAX_RANK];
    bool found = false;
    ND4C_TRY(ask(work, node, wish, &found));
    if (found && is_permutation(wish, output->rank)) {
      order = nd4c_region_copy(&graph->region, wish, output->rank, sizeof *wish);
      if (order == NULL) {
        return nd4c_error_code();
      }
    }
  } else if (node->def->info.op == ND4C_OP_attention) {
    ND4C_TRY(order_of_reader(work, node, &order));
  } else if (node->def->info.op == ND4C_OP_reshape) {
    order = through_views(graph, node);
  } else if (node->def->order != ND4C_ORDER_C) {
    order = inherited(graph, node);
  }
  output->order = order;
  work->rewrite->changes += !is_same_order(before, order, output->rank);
  return ND4C_OK;
}

static nd4c_status find_readers(layout *work) {
  const nd4c_graph *graph = work->rewrite->graph;
  ND4C_TRY(nd4c_region_make(&work->region, graph->value_count, sizeof *work->reader, &work->reader));
  for (int32_t i = 0; i < graph->value_count; i++) {
    work->reader[i] = NO_READER;
  }
  for (int32_t i = 0; i < graph->node_count; i++) {
    for (int32_t k = 0; k < graph->nodes[i].input_count; k++) {
      if (graph->nodes[i].inputs[k] >= 0) {
        int32_t *reader = &work->reader[graph->nodes[i].inputs[k]];
        *reader = *reader == NO_READER ? i : SEVERAL;
      }
    }
  }
  return ND4C_OK;
}

static nd4c_status set_orders(layout *work) {
  const nd4c_graph *graph = work->rewrite->graph;
  ND4C_TRY(find_readers(work));
  ND4C_TRY(nd4c_region_make(&work->region, graph->value_count, sizeof *work->is_output, &work->is_output));
  for (int32_t i = 0; i < graph->outputs.count; i++) {
    work->is_output[graph->outputs.items[i].value] = true;
  }
  for (int32_t i = 0; i < graph->node_count; i++) {
    ND4C_TRY(set_order(work, &graph->nodes[i]));
  }
  return ND4C_OK;
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  layout work = {.rewrite = rewrite};
  nd4c_status status = set_orders(&work);
  nd4c_region_free(&work.region);
  return status;
}

ND4C_PASS(LAYOUT, 100, layout, NUMBERS,
          "gives values around conv and attention the memory order that kernels and readers like")
