/* Makes the boxes and arrows of a graph. graph.c calls it for the formats dot and svg. */
#include <stdlib.h>
#include <string.h>

#include "graph.h"

/* The box whose result each value is; -1: a constant, a value of no node or of one that is not shown. NULL: no memory.
 */
static int32_t *find_sources(const nd4c_graph *graph, const bool *shown) {
  const int32_t values = nd4c_graph_value_count(graph), inputs = nd4c_graph_input_count(graph);
  int32_t *sources = malloc(((size_t)values + 1) * sizeof *sources);
  for (int32_t i = 0; sources != NULL && i < values; i++) {
    sources[i] = -1;
  }
  for (int32_t i = 0; sources != NULL && shown == NULL && i < inputs; i++) {
    sources[nd4c_graph_input_value(graph, i)] = i;
  }
  int32_t box = shown == NULL ? inputs : 0;
  for (int32_t i = 0; sources != NULL && i < nd4c_graph_node_count(graph); i++) {
    nd4c_node_info node = {.struct_size = sizeof node};
    if (shown != NULL && !shown[i]) {
      continue;
    }
    for (int32_t k = 0; nd4c_graph_get_node(graph, i, &node) == ND4C_OK && k < node.output_count; k++) {
      sources[node.outputs[k]] = box;
    }
    box++;
  }
  return sources;
}

static graph_box *add_box(graph_picture *picture, graph_box_kind kind, int32_t index, nd4c_value value,
                          const char *title) {
  graph_box *box = &picture->boxes[picture->box_count++];
  *box = (graph_box){.kind = kind, .index = index};
  (void)graph_short_name(title, box->title, sizeof box->title);
  (void)cli_clean_name(box->title);
  (void)graph_type_text(picture->graph, value, box->detail, sizeof box->detail);
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

/* Pictures of the bodies of a node. */
static bool add_bodies(const nd4c_graph *graph, int32_t index, graph_box *box) {
  nd4c_control_info control = {.struct_size = sizeof control};
  if (nd4c_graph_get_control(graph, index, &control) != ND4C_OK) {
    return true;
  }
  for (int32_t i = 0; i < control.body_count && i < GRAPH_BODIES; i++) {
    graph_picture *body = calloc(1, sizeof *body);
    if (body == NULL) {
      return false;
    }
    box->bodies[box->body_count] = body;
    box->body_names[box->body_count++] = graph_body_name(&control, i);
    if (!graph_picture_make(nd4c_graph_body(graph, index, i), NULL, body)) {
      return false;
    }
  }
  return true;
}

static bool add_nodes(graph_picture *picture, const bool *shown, const int32_t *sources) {
  bool made = true;
  for (int32_t i = 0; made && i < nd4c_graph_node_count(picture->graph); i++) {
    nd4c_node_info node = {.struct_size = sizeof node};
    char control[GRAPH_TITLE];
    if ((shown != NULL && !shown[i]) || nd4c_graph_get_node(picture->graph, i, &node) != ND4C_OK) {
      continue;
    }
    (void)graph_control_text(picture->graph, i, control, sizeof control);
    graph_box *box = add_box(picture, GRAPH_NODE, i, node.outputs[0], control[0] != '\0' ? control : title_of(&node));
    box->merged = node.fused != NULL;
    made = add_bodies(picture->graph, i, box);
    for (int32_t k = 0; k < node.input_count; k++) {
      add_arrow(picture, node.inputs[k] < 0 ? -1 : sources[node.inputs[k]]);
    }
  }
  return made;
}

static size_t count_reads(const nd4c_graph *graph) {
  size_t reads = (size_t)nd4c_graph_output_count(graph);
  for (int32_t i = 0; i < nd4c_graph_node_count(graph); i++) {
    nd4c_node_info node = {.struct_size = sizeof node};
    reads += nd4c_graph_get_node(graph, i, &node) == ND4C_OK ? (size_t)node.input_count : 0;
  }
  return reads;
}

bool graph_picture_make(const nd4c_graph *graph, const bool *shown, graph_picture *picture) {
  const size_t boxes = (size_t)nd4c_graph_input_count(graph) + (size_t)nd4c_graph_node_count(graph) +
                       (size_t)nd4c_graph_output_count(graph);
  int32_t *sources = find_sources(graph, shown);
  *picture = (graph_picture){.graph = graph,
                             .boxes = calloc(boxes + 1, sizeof *picture->boxes),
                             .arrows = malloc((count_reads(graph) + 1) * sizeof *picture->arrows)};
  bool made = sources != NULL && picture->boxes != NULL && picture->arrows != NULL;
  for (int32_t i = 0; made && shown == NULL && i < nd4c_graph_input_count(graph); i++) {
    (void)add_box(picture, GRAPH_INPUT, i, nd4c_graph_input_value(graph, i), nd4c_graph_input_name(graph, i));
  }
  made = made && add_nodes(picture, shown, sources);
  for (int32_t i = 0; made && shown == NULL && i < nd4c_graph_output_count(graph); i++) {
    const nd4c_value value = nd4c_graph_output_value(graph, i);
    (void)add_box(picture, GRAPH_OUTPUT, i, value, nd4c_graph_output_name(graph, i));
    add_arrow(picture, sources[value]);
  }
  free(sources);
  return made;
}

void graph_picture_free(graph_picture *picture) {
  for (int32_t i = 0; picture->boxes != NULL && i < picture->box_count; i++) {
    for (int32_t k = 0; k < picture->boxes[i].body_count; k++) {
      graph_picture_free(picture->boxes[i].bodies[k]);
      free(picture->boxes[i].bodies[k]);
    }
  }
  free(picture->boxes);
  free(picture->arrows);
}
