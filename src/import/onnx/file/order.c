/* Puts the nodes of every graph into an order in which each value is made before it is read; graphs that have one keep
 * it. check.c calls it before it checks definitions. Converters append the nodes that they add (casts, say) at the end.
 *
 * The walk follows the file once. At each node it asks where the values come from that the node, and the graphs inside
 * it, read. A graph of which a value is read before it is made is sorted once the walk has passed it, by a search from
 * its nodes, in the order of the file, to those that they wait for. All of it takes time linear in the reads, times the
 * depth of the graphs in each other. */
#include <inttypes.h>

#include "base/alloc.h"
#include "base/status.h"
#include "import/onnx/model.h"

/* A graph and those around it, of which the walk stands in the nodes `graph->current`. */
typedef struct level {
  nd4c_onnx_graph *graph;
  const struct level *outer;
} level;

/* -- the walk --------------------------------------------------------------------------------------------------- */

/* Notes what makes each value of a graph: the first node that writes it, unless it is an input or initializer. */
static nd4c_status note_makers(nd4c_onnx_model *model, nd4c_onnx_graph *graph) {
  for (int32_t i = 0; i < graph->initializers.count; i++) {
    int32_t number = 0;
    ND4C_TRY(nd4c_onnx_names_intern(model, graph, nd4c_onnx_graph_initializer(graph, i)->name, &number));
    nd4c_onnx_graph_value(graph, number)->maker = ND4C_ONNX_MADE_BEFORE;
  }
  for (int32_t i = 0; i < graph->inputs.count; i++) {
    nd4c_onnx_graph_value(graph, nd4c_onnx_graph_input(graph, i)->value)->maker = ND4C_ONNX_MADE_BEFORE;
  }
  for (int32_t i = 0; i < graph->nodes.count; i++) {
    const nd4c_onnx_node *node = nd4c_onnx_graph_node(graph, i);
    for (int32_t j = 0; j < node->output_count; j++) {
      nd4c_onnx_value *value =
          node->outputs[j] != ND4C_ONNX_NONE ? nd4c_onnx_graph_value(graph, node->outputs[j]) : NULL;
      if (value != NULL && value->maker == ND4C_ONNX_MADE_NOWHERE) {
        value->maker = i + 1;
      }
    }
  }
  return ND4C_OK;
}

/* Whether the value is there when the node runs that the walk has reached. */
static bool is_made(const nd4c_onnx_graph *graph, const nd4c_onnx_value *value) {
  return value->maker == ND4C_ONNX_MADE_BEFORE || value->maker - 1 < graph->current;
}

/* A read of a value that the graph itself does not make. It belongs to the innermost graph around it that has made the
 * value by then, else to the innermost one that makes it later. There it is a read of the node that holds the inner
 * graph. */
static nd4c_status note_capture(nd4c_onnx_model *model, const level *inner, nd4c_span name) {
  nd4c_onnx_graph *owner = NULL;
  nd4c_onnx_capture *capture = NULL;
  int32_t number = 0;
  for (const level *at = inner->outer; at != NULL; at = at->outer) {
    const int32_t there = nd4c_onnx_names_find(at->graph, name);
    const nd4c_onnx_value *found = there == ND4C_ONNX_NONE ? NULL : nd4c_onnx_graph_value(at->graph, there);
    const bool made = found != NULL && found->maker != ND4C_ONNX_MADE_NOWHERE && is_made(at->graph, found);
    if (made || (owner == NULL && found != NULL && found->maker != ND4C_ONNX_MADE_NOWHERE)) {
      owner = at->graph;
      number = there;
    }
    if (made) {
      break;
    }
  }
  if (owner == NULL || nd4c_onnx_graph_value(owner, number)->maker == ND4C_ONNX_MADE_BEFORE) {
    return ND4C_OK; /* check.c reports a value that nothing makes */
  }
  owner->disordered = owner->disordered || !is_made(owner, nd4c_onnx_graph_value(owner, number));
  ND4C_TRY(nd4c_region_append(&model->region, &owner->captures, sizeof *capture, "a graph's reads", &capture));
  *capture = (nd4c_onnx_capture){owner->current, number};
  return ND4C_OK;
}

static nd4c_status note_read(nd4c_onnx_model *model, const level *at, int32_t number) {
  const nd4c_onnx_value *value = nd4c_onnx_graph_value(at->graph, number);
  if (value->maker == ND4C_ONNX_MADE_NOWHERE) {
    return note_capture(model, at, value->name);
  }
  at->graph->disordered = at->graph->disordered || !is_made(at->graph, value);
  return ND4C_OK;
}

/* The value that a Gradient differentiates, which it names in an attribute; ND4C_ONNX_NONE: none. */
static int32_t differentiated(const nd4c_onnx_graph *graph, const nd4c_onnx_node *node) {
  for (int32_t i = 0; i < node->attribute_count && nd4c_span_is(node->op, "Gradient"); i++) {
    if (nd4c_span_is(node->attributes[i].name, "y") && node->attributes[i].type == ND4C_ONNX_ATTR_STRING) {
      return nd4c_onnx_names_find(graph, node->attributes[i].s);
    }
  }
  return ND4C_ONNX_NONE;
}

static nd4c_status order_graph(nd4c_onnx_model *model, nd4c_onnx_graph *graph, const level *outer);

static nd4c_status walk_node(nd4c_onnx_model *model, const level *at, const nd4c_onnx_node *node) {
  for (int32_t i = 0; i < node->input_count; i++) {
    if (node->inputs[i] != ND4C_ONNX_NONE) {
      ND4C_TRY(note_read(model, at, node->inputs[i]));
    }
  }
  const int32_t named = differentiated(at->graph, node);
  if (named != ND4C_ONNX_NONE) {
    ND4C_TRY(note_read(model, at, named));
  }
  for (int32_t i = 0; i < node->attribute_count; i++) {
    if (node->attributes[i].graph != NULL) {
      nd4c_status status = order_graph(model, node->attributes[i].graph, at);
      if (status != ND4C_OK) {
        return nd4c_fail_prefix(status, "%s, attribute %s", nd4c_onnx_node_show(node).text,
                                nd4c_span_show(node->attributes[i].name).text);
      }
    }
  }
  return ND4C_OK;
}

/* -- the sort --------------------------------------------------------------------------------------------------- */

typedef struct sorting {
  nd4c_onnx_graph *graph;
  int32_t *first;  /* of each node among the graph's captures, which are in the order of the nodes; and their count */
  int32_t *cursor; /* how many of a node's reads were followed; -1: none, the search has not come to it */
  int32_t *reader; /* the node from which the search came; -1: it started here */
  bool *placed;
  int32_t *order; /* nodes in the order found so far */
  int32_t count;
} sorting;

/* Number `index` of the values that a node reads; ND4C_ONNX_NONE - 1: it has no more. */
static int32_t read_of(const sorting *sort, int32_t index, int32_t number) {
  const nd4c_onnx_node *node = nd4c_onnx_graph_node(sort->graph, index);
  const nd4c_onnx_capture *captures = sort->graph->captures.items;
  if (number < node->input_count) {
    return node->inputs[number];
  }
  number -= node->input_count;
  if (number == 0) {
    return differentiated(sort->graph, node);
  }
  number += sort->first[index] - 1;
  return number < sort->first[index + 1] ? captures[number].value : ND4C_ONNX_NONE - 1;
}

static nd4c_status fail_cycle(const sorting *sort, int32_t index, int32_t value, int32_t maker) {
  const nd4c_onnx_graph *graph = sort->graph;
  const nd4c_onnx_node *node = nd4c_onnx_graph_node(graph, index);
  const nd4c_span_text name = nd4c_span_show(nd4c_onnx_graph_value(graph, value)->name);
  if (index == maker) {
    return nd4c_fail(ND4C_FORMAT, "%s at byte %" PRIu64 " reads %s, which it makes itself: the graph has a cycle",
                     nd4c_onnx_node_show(node).text, node->offset, name.text);
  }
  return nd4c_fail(ND4C_FORMAT,
                   "%s at byte %" PRIu64 " reads %s, which %s makes from results of the former: the graph has a cycle",
                   nd4c_onnx_node_show(node).text, node->offset, name.text,
                   nd4c_onnx_node_show(nd4c_onnx_graph_node(graph, maker)).text);
}

/* Places a node after all that it waits for. */
static nd4c_status place(sorting *sort, int32_t root) {
  int32_t at = root;
  sort->cursor[at] = 0;
  sort->reader[at] = -1;
  while (at >= 0) {
    const int32_t value = read_of(sort, at, sort->cursor[at]++);
    if (value < ND4C_ONNX_NONE) {
      sort->placed[at] = true;
      sort->order[sort->count++] = at;
      at = sort->reader[at];
      continue;
    }
    const int32_t maker = value == ND4C_ONNX_NONE ? 0 : nd4c_onnx_graph_value(sort->graph, value)->maker;
    if (maker <= 0 || sort->placed[maker - 1]) {
      continue;
    }
    if (sort->cursor[maker - 1] >= 0) {
      return fail_cycle(sort, at, value, maker - 1);
    }
    sort->cursor[maker - 1] = 0;
    sort->reader[maker - 1] = at;
    at = maker - 1;
  }
  return ND4C_OK;
}

static nd4c_status find_order(sorting *sort) {
  const nd4c_onnx_capture *captures = sort->graph->captures.items;
  int32_t capture = 0;
  for (int32_t i = 0; i < sort->graph->nodes.count; i++) {
    while (capture < sort->graph->captures.count && captures[capture].node < i) {
      capture++;
    }
    sort->first[i] = capture;
    sort->cursor[i] = -1;
  }
  sort->first[sort->graph->nodes.count] = sort->graph->captures.count;
  for (int32_t i = 0; i < sort->graph->nodes.count; i++) {
    if (!sort->placed[i]) {
      ND4C_TRY(place(sort, i));
    }
  }
  return ND4C_OK;
}

static nd4c_status sort_nodes(nd4c_onnx_graph *graph) {
  const size_t count = (size_t)graph->nodes.count;
  sorting sort = {.graph = graph};
  nd4c_onnx_node *nodes = graph->nodes.items, *sorted = NULL;
  int32_t *numbers = NULL;
  ND4C_TRY(nd4c_allocate_or_fail(4 * count + 1, sizeof *numbers, "the order of nodes", &numbers));
  nd4c_status status = nd4c_allocate_or_fail(count, sizeof *sort.placed, "the order of nodes", &sort.placed);
  if (status == ND4C_OK) {
    sort.cursor = numbers;
    sort.reader = numbers + count;
    sort.order = numbers + 2 * count;
    sort.first = numbers + 3 * count;
    status = find_order(&sort);
  }
  if (status == ND4C_OK) {
    status = nd4c_allocate_or_fail(count, sizeof *sorted, "nodes", &sorted);
  }
  for (size_t i = 0; status == ND4C_OK && i < count; i++) {
    sorted[i] = nodes[sort.order[i]];
  }
  if (status == ND4C_OK) {
    memcpy(nodes, sorted, count * sizeof *sorted);
  }
  nd4c_deallocate(sorted);
  nd4c_deallocate(sort.placed);
  nd4c_deallocate(numbers);
  return status;
}

/* -- graphs ----------------------------------------------------------------------------------------------------- */

static nd4c_status order_graph(nd4c_onnx_model *model, nd4c_onnx_graph *graph, const level *outer) {
  const level at = {graph, outer};
  ND4C_TRY(note_makers(model, graph));
  for (graph->current = 0; graph->current < graph->nodes.count; graph->current++) {
    ND4C_TRY(walk_node(model, &at, nd4c_onnx_graph_node(graph, graph->current)));
  }
  for (int32_t i = 0; i < graph->outputs.count; i++) {
    ND4C_TRY(note_read(model, &at, nd4c_onnx_graph_output(graph, i)->value));
  }
  return graph->disordered ? sort_nodes(graph) : ND4C_OK;
}

nd4c_status nd4c_onnx_graph_order(nd4c_onnx_model *model, nd4c_onnx_graph *graph) {
  return order_graph(model, graph, NULL);
}
