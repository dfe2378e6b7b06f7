/* The last stage of nd4c_plan_create (plan.c): allocates room for a run's arguments, and chooses the mode, which binds
 * everything that is equal in all runs. */
#include "base/status.h"
#include "graph/callers.h"

nd4c_status nd4c_plan_make_arguments(nd4c_plan *plan) {
  int32_t inputs = plan->graph->inputs.count, outputs = plan->graph->outputs.count;
  ND4C_TRY(nd4c_region_make(&plan->region, inputs, sizeof(nd4c_array *), &plan->input_staging));
  ND4C_TRY(nd4c_region_make(&plan->region, outputs, sizeof(nd4c_array *), &plan->output_staging));
  ND4C_TRY(nd4c_region_make(&plan->region, inputs, sizeof(nd4c_array *), &plan->input_arrays));
  return nd4c_region_make(&plan->region, outputs, sizeof(nd4c_array *), &plan->output_arrays);
}

void nd4c_plan_release_arguments(nd4c_plan *plan) {
  for (int32_t i = 0; plan->input_staging != NULL && i < plan->graph->inputs.count; i++) {
    nd4c_array_release(plan->input_staging[i]);
  }
  for (int32_t i = 0; plan->output_staging != NULL && i < plan->graph->outputs.count; i++) {
    nd4c_array_release(plan->output_staging[i]);
  }
}

nd4c_status nd4c_plan_bind(nd4c_plan *plan) {
  ND4C_TRY(nd4c_callers_init(plan));
  ND4C_TRY(nd4c_plan_make_arguments(plan));
  return nd4c_plan_choose_mode(plan);
}
