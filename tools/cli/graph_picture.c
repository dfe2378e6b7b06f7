/* Makes the boxes and arrows of a graph. graph.c calls it for the formats dot and svg. */
#include <stdlib.h>
#include <string.h>

#include "graph.h"

static const char *value_text(const nd4c_graph *graph, nd4c_value value, char *buffer, size_t size) {
  nd4c_dtype dtype = ND4C_DTYPE_NONE;
  int32_t rank = 0;
  const int64_t *shape = NULL;
  char text[GRAPH_DETAIL];
  if (nd4c_graph_value_info(graph, value, &dtype, &rank, &shape) == ND4C_OK) {
    (void)snprintf(buffer, size, "%s%s", nd4c_dtype_name(dtype), cli_shape_text(rank, shape, NULL, text, sizeof text));
  }
  return buffer;
}

/* The box whose result each value is; -1: a constant, or a value of no node. NULL: no memory. */
static int32_t *find_sources(const nd4c_graph *graph) {
  const int32_t values = nd4c_graph_value_count(graph), inputs = nd4c_graph_input_count(graph);
  int32_t *sources = malloc(((size_t)values + 1) * sizeof *sources);
  for (int32_t i = 0; sources != NULL && i < values; i++) {
    sources[i] = -1;
  }
  for (int32_t i = 0; sources != NULL && i < inputs; i++) {
    sources[nd4c_graph_input_value(graph, i)] = i;
  }
  for (int32_t i = 0; sources != NULL && i < nd4c_graph_node_count(graph); i++) {
    nd4c_node_info node = {.struct_size = sizeof node};
    for (int32_t k = 0; nd4c_graph_get_node(graph, i, &node) == ND4C_OK && k < node.output_count; k++) {
      sources[node.outputs[k]] = inputs + i;
    }
  }
  return sources;
}

static graph_box *add_box(graph_picture *picture, graph_box_kind kind, int32_t index, nd4c_value value,
                          const char *title) {
  graph_box *box = &picture->boxes[picture->box_count++];
  *box = (graph_box){.kind = kind, .index = index};
  (void)snprintf(box->title, sizeof box->title, "%s", title);
  (void)cli_json_text(box->title); /* a name may be no UTF-8, or cut within a character */
  (void)value_text(picture->graph, value, box->detail, sizeof box->detail);
  return box;
}

/* An arrow to the last box; a second read of the same box adds none. */
static void add_arrow(graph_picture *picture, int32_t from) {
  const int32_t to = picture->box_count - 1;
  for (int32_t i = picture->arrow_count - 1; i >= 0 && picture->arrows[i].to == to; i--) {
    if (picture->arrows[i].from == from) {
      return;
    }
  }
  if (from >= 0) {
    picture->arrows[picture->arrow_count++] = (graph_arrow){from, to};
  }
}

/* "conv + relu", but "gelu" for what was made of five other ops. */
static const char *title_of(const nd4c_node_info *node) {
  const bool begins = node->fused != NULL && strncmp(node->fused, node->op->name, strlen(node->op->name)) == 0;
  return begins ? node->fused : node->op->name;
}

static void add_nodes(graph_picture *picture, const int32_t *sources) {
  for (int32_t i = 0; i < nd4c_graph_node_count(picture->graph); i++) {
    nd4c_node_info node = {.struct_size = sizeof node};
    if (nd4c_graph_get_node(picture->graph, i, &node) != ND4C_OK) {
      continue;
    }
    add_box(picture, GRAPH_NODE, i, node.outputs[0], title_of(&node))->merged = node.fused != NULL;
    for (int32_t k = 0; k < node.input_count; k++) {
      add_arrow(picture, node.inputs[k] < 0 ? -1 : sources[node.inputs[k]]);
    }
  }
}

static size_t count_reads(const nd4c_graph *graph) {
  size_t reads = (size_t)nd4c_graph_output_count(graph);
  for (int32_t i = 0; i < nd4c_graph_node_count(graph); i++) {
    nd4c_node_info node = {.struct_size = sizeof node};
    reads += nd4c_graph_get_node(graph, i, &node) == ND4C_OK ? (size_t)node.input_count : 0;
  }
  return reads;
}

bool graph_picture_make(const nd4c_graph *graph, graph_picture *picture) {
  const size_t boxes = (size_t)nd4c_graph_input_count(graph) + (size_t)nd4c_graph_node_count(graph) +
                       (size_t)nd4c_graph_output_count(graph);
  int32_t *sources = find_sources(graph);
  *picture = (graph_picture){.graph = graph,
                             .boxes = malloc((boxes + 1) * sizeof *picture->boxes),
                             .arrows = malloc((count_reads(graph) + 1) * sizeof *picture->arrows)};
  const bool made = sources != NULL && picture->boxes != NULL && picture->arrows != NULL;
  for (int32_t i = 0; made && i < nd4c_graph_input_count(graph); i++) {
    (void)add_box(picture, GRAPH_INPUT, i, nd4c_graph_input_value(graph, i), nd4c_graph_input_name(graph, i));
  }
  if (made) {
    add_nodes(picture, sources);
  }
  for (int32_t i = 0; made && i < nd4c_graph_output_count(graph); i++) {
    const nd4c_value value = nd4c_graph_output_value(graph, i);
    (void)add_box(picture, GRAPH_OUTPUT, i, value, nd4c_graph_output_name(graph, i));
    add_arrow(picture, sources[value]);
  }
  free(sources);
  return made;
}

void graph_picture_free(graph_picture *picture) {
  free(picture->boxes);
  free(picture->arrows);
}
