/* Modes: the ways to run a plan. nd4c_plan_bind asks the rows of mode.c in order and prepares the first usable mode,
 * which nd4c_plan_run uses from then on. A plan never changes its mode. To add a mode, add a file here and a row
 * there. */
#ifndef ND4C_GRAPH_MODES_MODE_H
#define ND4C_GRAPH_MODES_MODE_H

#include "graph/plan.h"

struct nd4c_plan_mode {
  const char *name;
  const char *doc; /* one line for the report */
  /* Whether the mode can run the plan; else it writes why not. Called once, when everything except addresses is
   * decided. */
  bool (*usable)(const nd4c_plan *plan, char *reason, size_t reason_size);
  /* Binds everything that is equal in all runs. Its memory is in the plan's region, or freed by `release`. */
  nd4c_status (*prepare)(nd4c_plan *plan);
  /* Computes output_arrays from input_arrays, all of them C-contiguous. */
  nd4c_status (*run)(nd4c_plan *plan);
  /* Adds lines to the report, each indented. NULL: none. */
  void (*report)(const nd4c_plan *plan, nd4c_text *text);
  /* Undoes `prepare`, even after a failure of `prepare`. NULL: nothing to do. */
  void (*release)(nd4c_plan *plan);
};

/* Address of an array on the device of a plan in mode direct, to be read or written next. *committed: the write ends
 * the replicas of other devices. */
nd4c_status nd4c_direct_locate(const nd4c_plan *plan, const nd4c_array *array, nd4c_access access, char **address,
                               bool *committed);
/* Runs a plan in mode direct, which is a body, on addresses of its inputs and outputs, all C-contiguous. */
nd4c_status nd4c_direct_run_at(nd4c_plan *plan, void *const *inputs, void *const *outputs);

extern const nd4c_plan_mode nd4c_mode_direct, nd4c_mode_capture, nd4c_mode_stream, nd4c_mode_arrays;

#endif
