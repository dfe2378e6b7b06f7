/* The last stage of nd4c_plan_create (plan.c): allocates room for a run's arguments, and chooses the mode, which binds
 * everything that is equal in all runs. */
#include "base/status.h"
#include "graph/plan.h"

nd4c_status nd4c_plan_bind(nd4c_plan *plan) {
  int32_t inputs = plan->graph->inputs.count, outputs = plan->graph->outputs.count;
  ND4C_TRY(nd4c_region_make(&plan->region, inputs, sizeof(nd4c_array *), &plan->input_staging));
  ND4C_TRY(nd4c_region_make(&plan->region, outputs, sizeof(nd4c_array *), &plan->output_staging));
  ND4C_TRY(nd4c_region_make(&plan->region, inputs, sizeof(nd4c_array *), &plan->input_arrays));
  ND4C_TRY(nd4c_region_make(&plan->region, outputs, sizeof(nd4c_array *), &plan->output_arrays));
  return nd4c_plan_choose_mode(plan);
}
