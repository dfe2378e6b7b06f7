/* Variables of plans (nd4c/variable.h): the plan's own graph has them as inputs and outputs (ir/variables.h), and here
 * each run gets the arrays for these from a state, and commits what it has assigned. plan.c, run.c and report.c call
 * this. */
#ifndef ND4C_GRAPH_VARIABLES_H
#define ND4C_GRAPH_VARIABLES_H

#include "graph/callers.h"
#include "graph/plan.h"
#include "graph/state/state.h"

/* Finds the state, adds what it lacks, and opens the variables of the plan's graph, before any pass runs. Does nothing
 * to a plan without variables. */
nd4c_status nd4c_plan_open_variables(nd4c_plan *plan, const nd4c_plan_options *options);
void nd4c_plan_free_variables(nd4c_plan *plan);
/* Makes ports of the variables of the plan's graph (ir/variables.h). A plan that runs its nodes as they were recorded
 * has no pass that removes what only initial values need, so that goes here. */
nd4c_status nd4c_plan_open_ports(nd4c_plan *plan, bool optimize);

/* How many inputs and outputs of the plan's graph are the caller's: those before the variables. */
int32_t nd4c_plan_given_inputs(const nd4c_plan *plan);
int32_t nd4c_plan_given_outputs(const nd4c_plan *plan);

/* A run of a plan with variables; the lists are as long as the two functions above say. */
nd4c_status nd4c_plan_run_variables(nd4c_plan *plan, nd4c_context *context, const nd4c_run_request *request);
/* The run inside it, in run.c: the lists have all ports of the plan's graph. */
nd4c_status nd4c_plan_run_ports(nd4c_plan *plan, nd4c_context *context, const nd4c_run_request *request);

/* The report's line about variables; nothing if there are none. */
void nd4c_plan_print_variables(const nd4c_plan *plan, nd4c_text *text);

#endif
