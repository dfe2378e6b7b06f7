/* Callers of one plan: each run of a plan gets a caller, which has what a run changes: an arena, operands' addresses,
 * staging arrays. The plan itself is its first caller. run.c takes one for each run; import/model_run.c does so through
 * nd4c_plan_run_on. */
#ifndef ND4C_GRAPH_CALLERS_H
#define ND4C_GRAPH_CALLERS_H

#include "graph/plan.h"

nd4c_status nd4c_callers_init(nd4c_plan *plan);
/* A caller that no other thread uses. In mode direct, a further one is made if all are in use; in the other modes the
 * plan is the only caller, and the thread waits for it. MEMORY, MEMORY_CAP. */
nd4c_status nd4c_callers_take(nd4c_plan *plan, nd4c_plan **caller);
void nd4c_callers_give(nd4c_plan *plan, nd4c_plan *caller);
/* Frees all callers but the plan. */
void nd4c_callers_free(nd4c_plan *plan);

/* What a run is given: as nd4c_plan_run. */
typedef struct nd4c_run_request {
  const nd4c_array *const *inputs;
  nd4c_array **outputs;
  int32_t input_count, output_count;
  bool checked;        /* an earlier run had arrays of these dtypes and shapes, which are not checked again */
  bool in_place;       /* an output that is given may be written to the memory of an input that is the same view, or
                          the first part of it */
  const bool *donated; /* by input: a fresh output may take its memory over. NULL: none */
} nd4c_run_request;

/* As nd4c_plan_run. `context`: as in nd4c_plan_run_on; NULL: the plan's own. A run that fails leaves an input whose
 * memory an output has, or would have taken over, as it was, unless the step that begins the output had begun: then
 * the input is poisoned. */
nd4c_status nd4c_plan_run_request(nd4c_plan *plan, nd4c_context *context, const nd4c_run_request *request);

/* As nd4c_plan_run, on a context with the settings of the one that the plan was made on. The plan keeps no context
 * alive: it was moved to none, and so is the caller after the run. */
nd4c_status nd4c_plan_run_on(nd4c_plan *plan, nd4c_context *context, const nd4c_array *const *inputs,
                             int32_t input_count, nd4c_array **outputs, int32_t output_count);

#endif
