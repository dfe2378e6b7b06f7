/* Steps that run bodies: branches, loops, scans and calls in a plan. control.c makes them, with a plan for each body,
 * before slots and steps are made; modes run them by their function `run`. */
#ifndef ND4C_GRAPH_CONTROL_H
#define ND4C_GRAPH_CONTROL_H

#include "graph/ir/control.h"
#include "graph/plan.h"

/* The plans of all bodies of a plan and of bodies in them: one for each body, however many nodes name it. */
struct nd4c_plan_family {
  nd4c_function **functions; /* one reference each */
  nd4c_plan **plans;
  int32_t count, function_capacity, plan_capacity;
};

/* Runs a step in mode direct, on the addresses of its tensors; in mode arrays, on arrays. */
typedef nd4c_status (*nd4c_control_function)(const nd4c_plan *plan, nd4c_step *step);
typedef nd4c_status (*nd4c_control_array_function)(const nd4c_plan *plan, nd4c_step *step,
                                                   const nd4c_array *const *inputs, nd4c_array **outputs);

struct nd4c_control_step {
  const nd4c_control *control; /* the graph's */
  nd4c_plan *bodies[2];        /* the family's */
  bool direct;                 /* the bodies run in mode direct */
  nd4c_control_function run;
  nd4c_control_array_function run_arrays;
  /* Mode direct: what a run needs lies in the step's scratch, in the arena of each caller. */
  int64_t scratch_bytes;
  int64_t inputs_at, outputs_at; /* addresses for the body */
  int64_t round_at, goes_at;     /* the number of the round; whether another one follows */
  const int64_t *spares_at;      /* by carried value: a second place, beside the output's */
  /* Mode arrays, whose plans have one caller; made by the first run. */
  const nd4c_array **inputs; /* for the body */
  nd4c_array **outputs;
  nd4c_array **spares; /* two for each carried value */
  nd4c_array *round, *goes;
};

/* Makes the plans of the graph's bodies, and marks the values that they take in C order. A stage of nd4c_plan_create.
 * UNSUPPORTED: the plan cannot run nodes with bodies. */
nd4c_status nd4c_plan_make_bodies(nd4c_plan *plan);
/* NULL: the node is an op. */
static inline nd4c_control_step *nd4c_plan_control_of(const nd4c_plan *plan, int32_t node) {
  return plan->controls == NULL || node >= plan->control_count ? NULL : plan->controls[node];
}
/* Lines of the report about a step. */
void nd4c_plan_print_control(const nd4c_step *step, nd4c_text *text);
void nd4c_plan_release_bodies(nd4c_plan *plan);

/* control_run.c */
nd4c_status nd4c_control_run(const nd4c_plan *plan, nd4c_step *step);
/* control_arrays.c */
nd4c_status nd4c_control_run_arrays(const nd4c_plan *plan, nd4c_step *step, const nd4c_array *const *inputs,
                                    nd4c_array **outputs);

#endif
