/* The parts of `nd4c graph`: which nodes of a graph are shown, what they look like as boxes and arrows, and the writers
 * of its formats. graph.c, graph_select.c, graph_picture.c, graph_show.c and graph_svg.c include this. */
#ifndef ND4C_CLI_GRAPH_H
#define ND4C_CLI_GRAPH_H

#include <stdio.h>

#include "cli.h"

/* -- selection ----------------------------------------------------------------------------------------------------- */

/* Which nodes of a graph are shown. */
typedef struct graph_selection {
  const char *around; /* a node's label, "%5" for the node that gives value 5, or part of a label; NULL: any */
  int32_t depth;      /* so many nodes away from it, before it and behind it */
  const char *op;     /* nodes of this op alone; NULL: of any */
} graph_selection;

/* *shown receives a bool for each node, which the caller frees; NULL if all are. CLI_FAILURE if no node is. */
int graph_select(const nd4c_graph *graph, const graph_selection *selection, bool **shown);

/* -- texts --------------------------------------------------------------------------------------------------------- */

/* "float32(batch, 128)": extents that depend on dims as the graph names them. Returns the buffer. */
const char *graph_type_text(const nd4c_graph *graph, nd4c_value value, char *buffer, size_t size);
/* A name that is too long, without its middle. Returns the buffer. */
const char *graph_short_name(const char *name, char *buffer, size_t size);
/* What a node with bodies is: "loop, 12 rounds"; "" for an op. */
const char *graph_control_text(const nd4c_graph *graph, int32_t index, char *buffer, size_t size);
/* "then", "else", "body", or a function's name. */
const char *graph_body_name(const nd4c_control_info *control, int32_t body);
/* "4.1 Goperations, 98 MB" */
const char *graph_cost_text(double operations, double bytes, char *buffer, size_t size);

/* -- pictures ------------------------------------------------------------------------------------------------------ */

typedef enum graph_box_kind { GRAPH_INPUT, GRAPH_NODE, GRAPH_OUTPUT } graph_box_kind;

enum { GRAPH_TITLE = 48, GRAPH_DETAIL = 96, GRAPH_BODIES = 2 };

/* An input, a node or an output of the graph. Constants are no boxes: they are part of their node's text. */
typedef struct graph_box {
  graph_box_kind kind;
  int32_t index;                              /* of the input, node or output */
  bool merged;                                /* a node that passes made from several */
  char title[GRAPH_TITLE];                    /* the op, or the port's name */
  char detail[GRAPH_DETAIL];                  /* the first result: dtype and shape */
  int32_t body_count;                         /* 0: an op */
  struct graph_picture *bodies[GRAPH_BODIES]; /* its bodies */
  const char *body_names[GRAPH_BODIES];
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

/* `shown`: by node; NULL: all, with all inputs and outputs. A body is shown whole. False if memory is exhausted;
 * graph_picture_free must follow in any case. */
bool graph_picture_make(const nd4c_graph *graph, const bool *shown, graph_picture *picture);
void graph_picture_free(graph_picture *picture);

/* -- writers ------------------------------------------------------------------------------------------------------- */

/* The values that a node reads and gives, its attributes that differ from the defaults, what it was fused from, and its
 * estimated cost, in one line without its end. */
void graph_print_node(FILE *file, const nd4c_graph *graph, int32_t index);

/* Of all nodes. */
void graph_sum_costs(const nd4c_graph *graph, double *operations, double *bytes);

void graph_write_text(FILE *file, const nd4c_graph *graph, const bool *shown);
void graph_write_dot(FILE *file, const graph_picture *picture);
/* One picture below its title, or several side by side. False if memory is exhausted, or a picture would have more than
 * GRAPH_SVG_LIMIT boxes and bends. */
enum { GRAPH_SVG_LIMIT = 200000, GRAPH_PICTURES = 2 };
bool graph_write_svg(FILE *file, const graph_picture *pictures, const char *const *titles, int count);

#endif
