/* Profiles of models (nd4c/model.h): those of the plan of the latest run. Programs call it. */
#include "base/status.h"
#include "graph/plan.h"
#include "import/model_internal.h"

/* The plan of the latest run, with one more user. */
static nd4c_status take_latest(const nd4c_model *model, const char *function, nd4c_model_plan **latest) {
  ND4C_TRY(nd4c_model_check(model));
  ND4C_TRY(nd4c_model_turn_check(model->turn, function));
  nd4c_lock_acquire(&model->turn->list);
  const bool ran = model->ran, interpreted = model->interpreted;
  nd4c_model_plan *found = ran && !interpreted ? model->plans : NULL;
  if (found != NULL) {
    found->users++;
  }
  nd4c_lock_release(&model->turn->list);
  if (!ran) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: the model has not run yet", function);
  }
  if (found != NULL && found->plan != NULL) {
    *latest = found;
    return ND4C_OK;
  }
  const nd4c_status status =
      nd4c_fail(ND4C_UNSUPPORTED, "%s: the model has no plan, it is interpreted node after node%s%s", function,
                found != NULL ? ": " : "", found != NULL ? found->need : "");
  if (found != NULL) {
    nd4c_model_plan_leave(model, found);
  }
  return status;
}

nd4c_status nd4c_model_profile(nd4c_model *model, bool on) {
  nd4c_model_plan *latest = NULL;
  ND4C_TRY(take_latest(model, "nd4c_model_profile", &latest));
  const nd4c_status status = nd4c_plan_profile(latest->plan, on);
  nd4c_model_plan_leave(model, latest);
  return status;
}

nd4c_status nd4c_model_step_count(const nd4c_model *model, int32_t *count) {
  nd4c_model_plan *latest = NULL;
  if (count == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_model_step_count: count is NULL");
  }
  ND4C_TRY(take_latest(model, "nd4c_model_step_count", &latest));
  *count = nd4c_plan_step_count(latest->plan);
  nd4c_model_plan_leave(model, latest);
  return ND4C_OK;
}

nd4c_status nd4c_model_get_step(const nd4c_model *model, int32_t index, nd4c_step_info *info) {
  nd4c_model_plan *latest = NULL;
  ND4C_TRY(take_latest(model, "nd4c_model_get_step", &latest));
  const nd4c_status status = nd4c_plan_get_step(latest->plan, index, info);
  nd4c_model_plan_leave(model, latest);
  return status;
}

nd4c_status nd4c_model_get_body(const nd4c_model *model, int32_t index, int32_t body, const nd4c_plan **found) {
  nd4c_model_plan *latest = NULL;
  ND4C_TRY(take_latest(model, "nd4c_model_get_body", &latest));
  const nd4c_status status = nd4c_plan_get_body(latest->plan, index, body, found);
  nd4c_model_plan_leave(model, latest);
  return status;
}

nd4c_status nd4c_model_get_node(const nd4c_model *model, int32_t index, nd4c_node_info *info) {
  nd4c_model_plan *latest = NULL;
  ND4C_TRY(take_latest(model, "nd4c_model_get_node", &latest));
  const nd4c_status status = nd4c_plan_get_node(latest->plan, index, info);
  nd4c_model_plan_leave(model, latest);
  return status;
}
