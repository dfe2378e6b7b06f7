/* What a plan of precision int8 has: its ranges, and what became of the layers. precision.c begins it, the pass
 * quantize uses it, precision.c prints it. samples/session.c makes one to catch the graph that the pass gets. */
#ifndef ND4C_GRAPH_QUANTIZATION_H
#define ND4C_GRAPH_QUANTIZATION_H

#include "base/text.h"
#include "graph/calibration/table.h"
#include "graph/plan.h"

typedef struct nd4c_quantization {
  const nd4c_calibration *calibration; /* the caller's, while the plan is created; NULL: ranges are found in each run */
  bool is_static;                      /* there was a calibration */
  nd4c_region region;                  /* of the names */
  nd4c_calibration_recorded recorded;  /* names before the passes */
  bool done;                           /* the pass has run: what it left in float32 stays so */
  nd4c_graph **caught;                 /* the pass copies the graph and changes nothing; NULL: it quantises */
  int32_t layers, bytes;               /* convolutions and products with constant weights; those on bytes */
  int32_t sums;                        /* additions of bytes */
  nd4c_text left;                      /* a line for each layer that stays in float32 */
} nd4c_quantization;

/* NULL is fine. */
void nd4c_quantization_free(nd4c_quantization *quantization);
/* Gives the plan what the pass needs. ARGUMENT: the calibration has no ranges yet. */
nd4c_status nd4c_quantization_begin(nd4c_plan *plan, const nd4c_calibration *calibration);
/* Names the values of this graph, which is the plan's before its passes. ARGUMENT unless the plan's calibration is of
 * its weights. */
nd4c_status nd4c_quantization_take_graph(const nd4c_plan *plan, const nd4c_graph *graph);
/* UNSUPPORTED if the context's device has no fast product of bytes; `from` says who asks. */
nd4c_status nd4c_quantization_check_device(nd4c_context *context, const char *from);
/* The report's lines. */
void nd4c_quantization_print(const nd4c_plan *plan, nd4c_text *text);

/* A copy of the graph as the pass quantize gets it, and the names of its values as nd4c_calibration_names gives them,
 * in the region. UNSUPPORTED: the pass is switched off. */
nd4c_status nd4c_quantization_capture(const nd4c_graph *graph, nd4c_context *context, nd4c_region *region,
                                      nd4c_graph **caught, const char ***names);

#endif
