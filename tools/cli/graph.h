/* The parts of `nd4c graph`: what a graph looks like as boxes and arrows, and the writers of its formats. graph.c,
 * graph_picture.c, graph_show.c and graph_svg.c include this. */
#ifndef ND4C_CLI_GRAPH_H
#define ND4C_CLI_GRAPH_H

#include <stdio.h>

#include "cli.h"

typedef enum graph_box_kind { GRAPH_INPUT, GRAPH_NODE, GRAPH_OUTPUT } graph_box_kind;

enum { GRAPH_TITLE = 64, GRAPH_DETAIL = 96 };

/* An input, a node or an output of the graph. Constants are no boxes: they are part of their node's text. */
typedef struct graph_box {
  graph_box_kind kind;
  int32_t index;             /* of the input, node or output */
  bool merged;               /* a node that passes made from several */
  char title[GRAPH_TITLE];   /* the op, or the port's name */
  char detail[GRAPH_DETAIL]; /* the first result: dtype and shape */
} graph_box;

typedef struct graph_arrow {
  int32_t from, to; /* boxes; from < to */
} graph_arrow;

typedef struct graph_picture {
  const nd4c_graph *graph;
  graph_box *boxes; /* inputs, then nodes in their order, then outputs */
  int32_t box_count;
  graph_arrow *arrows; /* in the order of `to` */
  int32_t arrow_count;
} graph_picture;

/* False if memory is exhausted; graph_picture_free must follow in any case. */
bool graph_picture_make(const nd4c_graph *graph, graph_picture *picture);
void graph_picture_free(graph_picture *picture);

/* The values that a node reads and gives, its attributes that differ from the defaults, what it was fused from, and its
 * estimated cost, in one line without its end. */
void graph_print_node(FILE *file, const nd4c_graph *graph, int32_t index);
/* "4.1 Goperations, 98 MB" */
const char *graph_cost_text(double operations, double bytes, char *buffer, size_t size);

void graph_write_text(FILE *file, const nd4c_graph *graph);
void graph_write_dot(FILE *file, const graph_picture *picture);
/* False if memory is exhausted, or the picture would have more than GRAPH_SVG_LIMIT boxes and bends. */
enum { GRAPH_SVG_LIMIT = 200000 };
bool graph_write_svg(FILE *file, const graph_picture *picture);

#endif
