/* The part of a calibration that runs samples: the graph as the pass quantize sees it, and what was seen of its values.
 * samples/session.c makes it, samples/layers.c measures with it, and table.c looks for its names. */
#ifndef ND4C_GRAPH_CALIBRATION_SESSION_H
#define ND4C_GRAPH_CALIBRATION_SESSION_H

#include "graph/calibration/table.h"
#include "graph/ir/graph.h"

/* A value whose elements are looked at. */
typedef struct nd4c_calibration_watched {
  nd4c_value value;
  int32_t output; /* of the session's plan; -1: it is an input of the graph */
  bool fed;       /* it is an input that a layer reads, which must be finite */
  nd4c_observer observer;
} nd4c_calibration_watched;

/* A layer and the sums of all measured samples. */
typedef struct nd4c_calibration_measured {
  int32_t node;
  const char *name;
  int32_t output; /* of the plan of layers: sums of squares of the result, and behind it of the errors; -1: none */
  double signal, noise;
} nd4c_calibration_measured;

struct nd4c_calibration_session {
  void (*free)(nd4c_calibration_session *session);
  nd4c_region region;
  nd4c_context *context; /* one reference */
  nd4c_graph *graph;
  const char **names; /* by value */
  nd4c_calibration_watched *watched;
  int32_t watched_count;
  nd4c_calibration_measured *layers;
  int32_t layer_count;
  nd4c_plan *plan;        /* gives all watched values; NULL once the ranges are made */
  nd4c_plan *layers_plan; /* made by the first nd4c_calibration_measure */
  int32_t output_count;   /* of the plan that runs now */
};

#endif
