/* A calibration: ranges by name, and what made them. graph/samples/session.c observes samples for it,
 * io/calibration_file.c reads and writes it, graph/quantization.c and the pass quantize use it. */
#ifndef ND4C_GRAPH_CALIBRATION_TABLE_H
#define ND4C_GRAPH_CALIBRATION_TABLE_H

#include <stdatomic.h>

#include "base/region.h"
#include "graph/calibration/observer.h"
#include "graph/ir/graph.h"

typedef struct nd4c_calibration_range {
  const char *name;
  double low, high; /* finite, low <= high */
} nd4c_calibration_range;

typedef struct nd4c_calibration_session nd4c_calibration_session; /* session.h */

struct nd4c_calibration {
  uint32_t magic;
  _Atomic int32_t references;
  nd4c_region region; /* names */
  nd4c_observing how;
  bool finished;
  int64_t samples;
  uint64_t fingerprint;              /* of the graph's weights */
  nd4c_region_list ranges;           /* nd4c_calibration_range; once it is finished, in the order of names */
  nd4c_region_list kept;             /* const char *: nodes and ops that stay in float32; once it is finished, sorted */
  nd4c_calibration_session *session; /* NULL: it was loaded */
};

enum { ND4C_CALIBRATION_MOST_RANGES = 1 << 20, ND4C_CALIBRATION_MOST_KEPT = 1 << 16 };

/* An empty one with one reference. */
nd4c_status nd4c_calibration_allocate(nd4c_calibration **calibration);
/* HANDLE or NULL_ARGUMENT. */
nd4c_status nd4c_calibration_check(const nd4c_calibration *calibration);
/* The same, and ARGUMENT unless it is finished; `what` is for the text. */
nd4c_status nd4c_calibration_check_finished(const nd4c_calibration *calibration, const char *what);
/* Appends a range; the name is copied. */
nd4c_status nd4c_calibration_add(nd4c_calibration *calibration, const char *name, double low, double high);
/* Appends a name of nodes that stay in float32, which may be there already until the calibration is sealed; the name is
 * copied. */
nd4c_status nd4c_calibration_add_kept(nd4c_calibration *calibration, const char *name);
/* Sorts the ranges and the names to keep, and ends the adding. FORMAT: a name comes twice. */
nd4c_status nd4c_calibration_seal(nd4c_calibration *calibration);
/* NULL: the value has no range. */
const nd4c_calibration_range *nd4c_calibration_find(const nd4c_calibration *calibration, const char *name);
/* Of a finished calibration. */
bool nd4c_calibration_keeps(const nd4c_calibration *calibration, const char *name, const char *op);

/* "min_max" and so on; NULL outside the enum. */
const char *nd4c_calibration_method_name(nd4c_calibration_method method);

/* A digest of the weights of all convolutions and products, in any order: of their shapes and of some elements. Graphs
 * of one model for different shapes have the same one. */
nd4c_status nd4c_calibration_fingerprint(const nd4c_graph *graph, uint64_t *fingerprint);

/* Names of the values of a graph before its passes. Passes keep the numbers of values, so they are names of what is
 * left of these values afterwards, too, whichever passes ran. */
typedef struct nd4c_calibration_recorded {
  const char **names; /* by value */
  int32_t count;
} nd4c_calibration_recorded;

/* By value of a graph, the name of the input or node that gives it, in the region; NULL for constants, for other dtypes
 * than float32 and for all but the first output of a node. No two are equal. recorded: the names before the passes that
 * made the graph; NULL: it is as it was recorded. */
nd4c_status nd4c_calibration_names(const nd4c_graph *graph, const nd4c_calibration_recorded *recorded,
                                   nd4c_region *region, const char ***names);

/* Whether the node could compute on bytes: a convolution or product of float32 whose weights are a constant. */
bool nd4c_calibration_is_layer(const nd4c_graph *graph, const nd4c_graph_node *node);
/* The axis of a layer's weights that has its outputs. */
int32_t nd4c_calibration_output_axis(const nd4c_graph_node *node);

/* Whether uint8 can stand for the range: kernels take no step above 2^118. */
bool nd4c_calibration_fits(double low, double high);
/* Step and zero point of uint8 for a range that fits, which is extended to include 0. */
typedef struct nd4c_calibration_affine {
  float step; /* a normal number */
  int32_t zero;
} nd4c_calibration_affine;
nd4c_calibration_affine nd4c_calibration_affine_of(double low, double high);

/* Symmetric int8 weights with a step for each output: `codes` and `steps` are own, for nd4c_deallocate. */
typedef struct nd4c_calibration_weights {
  double *codes; /* whole numbers from -127 to 127, in the weights' order */
  double *steps;
  int64_t outputs;
} nd4c_calibration_weights;
/* numbers: the weights in C order, which become the codes and are taken over, also after a failure. UNSUPPORTED: some
 * are not finite. */
nd4c_status nd4c_calibration_round_weights(double *numbers, int32_t rank, const int64_t *shape, int32_t axis,
                                           nd4c_calibration_weights *weights);
void nd4c_calibration_weights_free(nd4c_calibration_weights *weights);

#endif
