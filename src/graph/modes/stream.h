/* Mode "stream", shared by its two files: stream.c runs, stream_parts.c finds what results depend on. */
#ifndef ND4C_GRAPH_STREAM_H
#define ND4C_GRAPH_STREAM_H

#include "device/fence.h"
#include "device/memory.h"
#include "graph/plan.h"

/* What work in flight needs of the plan: it outlives the plan until the last run has ended. */
typedef struct nd4c_stream_body {
  nd4c_device *device, *host;
  nd4c_block device_scratch, host_scratch; /* node NULL: none. All steps share them: a stream runs one after another */
  int32_t choice_count;
  nd4c_choice *choices[]; /* one reference each */
} nd4c_stream_body;

typedef struct nd4c_plan_stream {
  nd4c_stream bound; /* the stream that the calls name */
  nd4c_stream_body *body;
  nd4c_shared_fence *last;    /* of the latest run; NULL: none yet */
  nd4c_fence_steps *steps;    /* a part for each output */
  bool *needs;                /* by output, then by input: whether the output depends on the input */
  nd4c_replica_view arena;    /* where it was in the latest run */
  nd4c_shared_fence **before; /* of the run in progress: what writes its operands, see operand_array in stream.c */
  nd4c_shared_fence **after;  /* room for a part's */
} nd4c_plan_stream;

/* Fills steps and needs. */
nd4c_status nd4c_stream_find_parts(nd4c_plan *plan);

#endif
