/* The last stage of nd4c_plan_create (plan.c): allocates room for a run's arguments, and chooses the mode, which binds
 * everything that is equal in all runs. */
#include "base/status.h"
#include "graph/plan.h"

nd4c_status nd4c_plan_bind(nd4c_plan *plan) {
  int32_t inputs = plan->graph->inputs.count, outputs = plan->graph->outputs.count;
  plan->input_staging = nd4c_region_take(&plan->region, inputs, sizeof(nd4c_array *));
  plan->output_staging = nd4c_region_take(&plan->region, outputs, sizeof(nd4c_array *));
  plan->input_arrays = nd4c_region_take(&plan->region, inputs, sizeof(nd4c_array *));
  plan->output_arrays = nd4c_region_take(&plan->region, outputs, sizeof(nd4c_array *));
  if (plan->input_staging == NULL || plan->output_staging == NULL || plan->input_arrays == NULL ||
      plan->output_arrays == NULL) {
    return nd4c_error_code();
  }
  return nd4c_plan_choose_mode(plan);
}
