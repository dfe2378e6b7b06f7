/* Modes "stream" and "capture": stream.c acquires, enqueues and commits, stream_parts.c finds what results depend on,
 * capture.c records the steps and launches them. */
#ifndef ND4C_GRAPH_MODES_STREAM_H
#define ND4C_GRAPH_MODES_STREAM_H

#include "device/memory/memory.h"
#include "device/memory/scratch.h"
#include "device/stream/capture.h"
#include "device/stream/fence.h"
#include "graph/plan.h"

/* The parts of a plan that work in flight needs. They outlive the plan until its last run has ended. */
typedef struct nd4c_stream_body {
  nd4c_device *device, *host;
  nd4c_block host_scratch; /* node NULL: none. All steps share it: a stream runs one after another */
  nd4c_scratch *scratch;   /* the stream's scratch, held because calls and recordings refer to it; NULL: none */
  int32_t block_count;
  nd4c_block *blocks;    /* with whole buffers: the buffers of the plan's values; runs do not acquire them */
  nd4c_block nothing;    /* a buffer to which values without elements refer; node NULL: there are none */
  nd4c_capture *capture; /* NULL: nothing was recorded */
  int32_t kept_count;
  struct {
    nd4c_choice *choice;
    nd4c_compiled *compiled;
  } kept[]; /* by step: one reference to either */
} nd4c_stream_body;

/* The buffer of an operand in the latest run. */
typedef struct nd4c_stream_place {
  nd4c_buffer buffer;
  int64_t offset; /* bytes */
  const void *address;
} nd4c_stream_place;

typedef struct nd4c_plan_stream {
  nd4c_stream bound; /* the stream that the calls name */
  int64_t point;     /* number of this run's first step on the stream's timeline */
  nd4c_stream_body *body;
  nd4c_shared_fence *last;   /* of the latest run; NULL: none yet */
  nd4c_fence_steps *steps;   /* a part for each output */
  bool *needs;               /* by output, then by input: whether the output depends on the input */
  nd4c_replica_view arena;   /* its buffer in the latest run */
  nd4c_stream_place *known;  /* by operand, see operand_array in stream.c */
  bool moved;                /* an operand of this run has another buffer than in the previous run */
  nd4c_shared_fence **after; /* room for a part's */
  /* Mode capture. */
  bool recorded; /* the recording refers to the current buffers */
  bool gave_up;  /* recording failed: it is not tried again */
  char reason[512];
  int64_t runs, recordings, launches;
} nd4c_plan_stream;

/* Functions of the row of mode "stream". */
bool nd4c_stream_usable(const nd4c_plan *plan, char *reason, size_t reason_size);
nd4c_status nd4c_stream_prepare(nd4c_plan *plan);
void nd4c_stream_release(nd4c_plan *plan);
/* Acquires, takes numbers for the steps, calls `enqueue` to enqueue all of them on the context's stream, and commits.
 * After a failure of `enqueue` no work is in flight. */
nd4c_status nd4c_stream_run(nd4c_plan *plan, nd4c_status (*enqueue)(nd4c_plan *plan));
/* Enqueues the steps one after another. */
nd4c_status nd4c_stream_enqueue(nd4c_plan *plan);

/* Fills steps and needs. */
nd4c_status nd4c_stream_find_parts(nd4c_plan *plan);

#endif
