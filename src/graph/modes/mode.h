/* Modes: the ways to run a plan. nd4c_plan_bind asks the rows of mode.c from the first on, prepares the first that is
 * usable, and nd4c_plan_run runs it from then on; a plan keeps its mode. A new mode is a file here and a row there. */
#ifndef ND4C_GRAPH_MODE_H
#define ND4C_GRAPH_MODE_H

#include "graph/plan.h"

struct nd4c_plan_mode {
  const char *name;
  const char *doc; /* one line for the report */
  /* Whether the plan can run so; else writes why not. Called once, when everything but addresses is decided. */
  bool (*usable)(const nd4c_plan *plan, char *reason, size_t reason_size);
  /* Gives what is alike in every run its place. What it makes lives in the plan's region, or until `release`. */
  nd4c_status (*prepare)(nd4c_plan *plan);
  /* Computes output_arrays from input_arrays, all of them C-contiguous. */
  nd4c_status (*run)(nd4c_plan *plan);
  /* Adds lines to the report, each indented. NULL: none. */
  void (*report)(const nd4c_plan *plan, nd4c_text *text);
  /* Ends what `prepare` began, also where that failed. NULL: nothing to do. */
  void (*release)(nd4c_plan *plan);
};

extern const nd4c_plan_mode nd4c_mode_direct, nd4c_mode_capture, nd4c_mode_stream, nd4c_mode_arrays;

#endif
