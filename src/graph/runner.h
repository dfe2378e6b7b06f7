/* The runner behind nd4c/runner.h. runner.c has its functions, which programs call, and its kind for plans;
 * import/model_runner.c has the one for models. */
#ifndef ND4C_GRAPH_RUNNER_H
#define ND4C_GRAPH_RUNNER_H

#include <stdatomic.h>

#include "base/region.h"
#include "device/context/context.h"
#include "graph/callers.h"
#include "nd4c/runner.h"

typedef struct nd4c_runner_kind {
  const char *(*input_name)(const void *target, int32_t index);
  const char *(*output_name)(const void *target, int32_t index);
  /* Whether an array can be bound. */
  nd4c_status (*check_input)(const void *target, int32_t index, const nd4c_array *array);
  nd4c_status (*check_output)(const void *target, int32_t index, const nd4c_array *array);
  /* `context`: the runner's. */
  nd4c_status (*run)(void *target, nd4c_context *context, const nd4c_run_request *request);
} nd4c_runner_kind;

struct nd4c_runner {
  uint32_t magic;
  _Atomic bool busy; /* a call is in progress, whose thread alone uses the rest */
  const nd4c_runner_kind *kind;
  void *target;
  nd4c_context *context; /* one reference; NULL: none */
  nd4c_region region;
  int32_t input_count, output_count;
  nd4c_array **inputs, **outputs; /* bound; one reference each, or NULL */
  nd4c_array **results;           /* fresh ones of the latest run; likewise */
  nd4c_array **given;             /* during a run: its outputs */
  bool *donated;                  /* by input */
  int32_t donations;
  nd4c_storage *spent; /* has the place of a donated array's; one reference, NULL until the first donation */
  bool *has;           /* by output: what is bound or fresh was written by a successful run */
  bool checked;        /* there was a successful run with the same arrays */
};

nd4c_status nd4c_runner_make(const nd4c_runner_kind *kind, void *target, nd4c_context *context, int32_t input_count,
                             int32_t output_count, nd4c_runner **runner);

#endif
