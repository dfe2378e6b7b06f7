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
    return nd4c_fail(
        ND4C_ARGUMENT,
        "%s: the model has not run yet; run it once before its profile, which is of the plan of the latest run",
        function);
  }
  if (found != NULL && (found->plan != NULL || found->parts != NULL)) {
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

/* Its plans, some NULL: one, or those of its parts, whose steps and nodes follow one another. */
static int32_t list_plans(const nd4c_model_plan *entry, nd4c_plan *const **plans) {
  *plans = &entry->plan;
  return entry->plan != NULL ? 1 : nd4c_model_split_plans(entry->parts, plans);
}

/* How many nodes the steps of a plan name. */
static nd4c_status count_nodes(const nd4c_plan *plan, int32_t *count) {
  *count = 0;
  for (int32_t i = 0; i < nd4c_plan_step_count(plan); i++) {
    nd4c_step_info info = {.struct_size = sizeof info};
    ND4C_TRY(nd4c_plan_get_step(plan, i, &info));
    *count = info.first_node + info.node_count > *count ? info.first_node + info.node_count : *count;
  }
  return ND4C_OK;
}

/* A plan's own number of a step or node, and the number of its first node among those of all plans. */
typedef struct place {
  const nd4c_plan *plan;
  int32_t index, nodes;
} place;

/* The plan that has step `index` or, if `is_node`, node `index`; the last one for numbers that none has, whose
 * functions refuse them. */
static nd4c_status find_place(const nd4c_model_plan *entry, int32_t index, bool is_node, place *found) {
  nd4c_plan *const *plans = NULL;
  const int32_t count = list_plans(entry, &plans);
  *found = (place){NULL, index, 0};
  for (int32_t i = 0, nodes = 0; i < count; i++) {
    if (plans[i] == NULL) {
      continue;
    }
    if (found->plan != NULL) { /* the one before lacks it */
      const int32_t steps = nd4c_plan_step_count(found->plan);
      ND4C_TRY(count_nodes(found->plan, &nodes));
      if (found->index < (is_node ? nodes : steps)) {
        return ND4C_OK;
      }
      found->index -= is_node ? nodes : steps;
      found->nodes += nodes;
    }
    found->plan = plans[i];
  }
  return found->plan != NULL ? ND4C_OK : nd4c_fail(ND4C_INDEX, "the model's parts have no plans");
}

nd4c_status nd4c_model_profile(nd4c_model *model, bool on) {
  nd4c_model_plan *latest = NULL;
  nd4c_plan *const *plans = NULL;
  nd4c_status status = ND4C_OK;
  ND4C_TRY(take_latest(model, "nd4c_model_profile", &latest));
  const int32_t count = list_plans(latest, &plans);
  for (int32_t i = 0; i < count && status == ND4C_OK; i++) {
    status = plans[i] != NULL ? nd4c_plan_profile(plans[i], on) : ND4C_OK;
  }
  nd4c_model_plan_leave(model, latest);
  return status;
}

nd4c_status nd4c_model_step_count(const nd4c_model *model, int32_t *count) {
  nd4c_model_plan *latest = NULL;
  nd4c_plan *const *plans = NULL;
  if (count == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_model_step_count: count is NULL");
  }
  ND4C_TRY(take_latest(model, "nd4c_model_step_count", &latest));
  const int32_t plan_count = list_plans(latest, &plans);
  *count = 0;
  for (int32_t i = 0; i < plan_count; i++) {
    *count += nd4c_plan_step_count(plans[i]);
  }
  nd4c_model_plan_leave(model, latest);
  return ND4C_OK;
}

nd4c_status nd4c_model_get_step(const nd4c_model *model, int32_t index, nd4c_step_info *info) {
  nd4c_model_plan *latest = NULL;
  place found;
  ND4C_TRY(take_latest(model, "nd4c_model_get_step", &latest));
  nd4c_status status = find_place(latest, index, false, &found);
  status = status == ND4C_OK ? nd4c_plan_get_step(found.plan, found.index, info) : status;
  if (status == ND4C_OK) {
    info->first_node += found.nodes;
  }
  nd4c_model_plan_leave(model, latest);
  return status;
}

nd4c_status nd4c_model_get_body(const nd4c_model *model, int32_t index, int32_t body, const nd4c_plan **plan) {
  nd4c_model_plan *latest = NULL;
  place found;
  ND4C_TRY(take_latest(model, "nd4c_model_get_body", &latest));
  nd4c_status status = find_place(latest, index, false, &found);
  status = status == ND4C_OK ? nd4c_plan_get_body(found.plan, found.index, body, plan) : status;
  nd4c_model_plan_leave(model, latest);
  return status;
}

nd4c_status nd4c_model_get_node(const nd4c_model *model, int32_t index, nd4c_node_info *info) {
  nd4c_model_plan *latest = NULL;
  place found;
  ND4C_TRY(take_latest(model, "nd4c_model_get_node", &latest));
  nd4c_status status = find_place(latest, index, true, &found);
  status = status == ND4C_OK ? nd4c_plan_get_node(found.plan, found.index, info) : status;
  nd4c_model_plan_leave(model, latest);
  return status;
}
