/* Profiles of plans: how long each step took, and what it computed and moved. Mode direct notes the times. Programs
 * ask for them (nd4c/graph.h), and import/model_profile.c does. */
#include "base/status.h"
#include "graph/control.h"
#include "graph/dynamic.h"
#include "graph/modes/mode.h"

static nd4c_status check_mode(const nd4c_plan *plan) {
  return nd4c_plan_is_direct(plan)
             ? ND4C_OK
             : nd4c_fail(ND4C_UNSUPPORTED,
                         "nd4c_plan_profile: the plan runs in mode %s (%s), where the host cannot time a step",
                         plan->mode->name, plan->mode->doc);
}

/* The device, which tells before there is any binding, and all bindings; under the lock. */
static nd4c_status check_bindings(const nd4c_plan *plan) {
  if (!nd4c_device_is_immediate(plan->device)) {
    return nd4c_fail(ND4C_UNSUPPORTED,
                     "nd4c_plan_profile: the plan submits its steps to %s, where the host cannot time a step",
                     plan->device->name);
  }
  for (int32_t i = 0; i < ND4C_DYNAMIC_BUCKETS; i++) {
    for (const nd4c_plan_binding *at = plan->dynamic->buckets[i]; at != NULL; at = at->next) {
      ND4C_TRY(check_mode(at->plan));
    }
  }
  return ND4C_OK;
}

void nd4c_plan_set_profiled(nd4c_plan *plan, bool on) {
  atomic_store_explicit(&plan->profiled, on, memory_order_relaxed);
  for (int32_t i = 0; plan->family_is_own && i < plan->family->count; i++) {
    atomic_store_explicit(&plan->family->plans[i]->profiled, on, memory_order_relaxed);
  }
}

static void forget_times(nd4c_plan *plan) {
  for (int32_t i = 0; i < plan->step_count; i++) {
    nd4c_step *step = &plan->steps[i];
    atomic_store_explicit(&step->nanoseconds, 0, memory_order_relaxed);
    atomic_store_explicit(&step->total_nanoseconds, 0, memory_order_relaxed);
    atomic_store_explicit(&step->profiled_runs, 0, memory_order_relaxed);
  }
}

static void switch_profile(nd4c_plan *plan, bool on) {
  if (on) {
    forget_times(plan);
  }
  for (int32_t i = 0; on && plan->family_is_own && i < plan->family->count; i++) {
    forget_times(plan->family->plans[i]);
  }
  nd4c_plan_set_profiled(plan, on);
}

/* The bindings that there are, and those that will be made. */
static nd4c_status profile_bindings(nd4c_plan *plan, bool on) {
  nd4c_lock_acquire(&plan->dynamic->lock);
  const nd4c_status status = on ? check_bindings(plan) : ND4C_OK;
  for (int32_t i = 0; i < ND4C_DYNAMIC_BUCKETS && status == ND4C_OK; i++) {
    for (nd4c_plan_binding *at = plan->dynamic->buckets[i]; at != NULL; at = at->next) {
      switch_profile(at->plan, on);
    }
  }
  if (status == ND4C_OK) {
    atomic_store_explicit(&plan->profiled, on, memory_order_relaxed);
  }
  nd4c_lock_release(&plan->dynamic->lock);
  return status;
}

nd4c_status nd4c_plan_profile(nd4c_plan *plan, bool on) {
  ND4C_TRY(nd4c_plan_check(plan));
  if (plan->dynamic != NULL) {
    return profile_bindings(plan, on);
  }
  ND4C_TRY(on ? check_mode(plan) : ND4C_OK);
  switch_profile(plan, on);
  return ND4C_OK;
}

int64_t nd4c_step_bytes(const nd4c_step *step) {
  int64_t bytes = 0;
  for (int32_t i = 0; i < step->input_count + step->output_count; i++) {
    bytes += nd4c_dtype_bytes(step->tensors[i].dtype, step->tensors[i].size);
  }
  return bytes;
}

int32_t nd4c_plan_step_count(const nd4c_plan *plan) {
  if (plan == NULL || nd4c_plan_check(plan) != ND4C_OK) {
    return 0;
  }
  nd4c_plan_binding *binding = plan->dynamic != NULL ? nd4c_bindings_take_latest(plan) : NULL;
  if (binding == NULL) {
    return plan->step_count;
  }
  const int32_t count = binding->plan->step_count;
  nd4c_bindings_give(plan, binding);
  return count;
}

static nd4c_dtype dtype_of(const nd4c_plan *plan, const nd4c_step *step) {
  for (int32_t i = 0; i < step->input_count; i++) {
    if (step->inputs[i] >= 0) {
      return plan->graph->values[step->inputs[i]].dtype;
    }
  }
  return step->output_count > 0 ? plan->graph->values[step->outputs[0]].dtype : ND4C_DTYPE_NONE;
}

static void describe_cost(const nd4c_plan *plan, const nd4c_step *step, nd4c_step_info *info) {
  info->operations = 0;
  for (int32_t i = 0; i < info->node_count; i++) {
    const nd4c_cost cost = nd4c_node_cost(plan->graph, &plan->graph->nodes[info->first_node + i]);
    info->operations += cost.operations;
    info->bytes = cost.bytes;
  }
  info->bytes = step->segment != NULL ? (double)nd4c_step_bytes(step) : info->bytes;
}

static nd4c_status describe_step(const nd4c_plan *plan, int32_t index, nd4c_step_info *info) {
  if (index < 0 || index >= plan->step_count) {
    return nd4c_fail(ND4C_INDEX, "nd4c_plan_get_step: the plan has %d steps, not one number %d", (int)plan->step_count,
                     (int)index);
  }
  const nd4c_step *step = &plan->steps[index];
  const nd4c_plan_segment *segment = step->segment;
  info->first_node = segment != NULL ? segment->first : step->node;
  info->node_count = segment != NULL ? segment->node_count : 1;
  info->engine = segment != NULL         ? segment->compiler->engine
                 : step->control != NULL ? "plan"
                                         : nd4c_choice_engine(step->choice);
  info->kernel = segment != NULL ? "segment" : step->control != NULL ? "bodies" : nd4c_choice_name(step->choice);
  info->device = plan->places[step->place].device;
  info->dtype = dtype_of(plan, step);
  describe_cost(plan, step, info);
  info->runs = atomic_load_explicit(&step->profiled_runs, memory_order_relaxed);
  info->nanoseconds = atomic_load_explicit(&step->total_nanoseconds, memory_order_relaxed);
  info->least_nanoseconds = atomic_load_explicit(&step->nanoseconds, memory_order_relaxed);
  return ND4C_OK;
}

nd4c_status nd4c_plan_get_step(const nd4c_plan *plan, int32_t index, nd4c_step_info *info) {
  ND4C_TRY(nd4c_plan_check(plan));
  if (info == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_plan_get_step: info is NULL");
  }
  if (!ND4C_HAS_FIELD(info, least_nanoseconds)) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_plan_get_step: struct_size is %u, expected at least %u", info->struct_size,
                     ND4C_SIZE_OF(nd4c_step_info));
  }
  nd4c_plan_binding *binding = plan->dynamic != NULL ? nd4c_bindings_take_latest(plan) : NULL;
  const nd4c_status status = describe_step(binding != NULL ? binding->plan : plan, index, info);
  if (binding != NULL) {
    nd4c_bindings_give(plan, binding);
  }
  return status;
}

static nd4c_status find_body(const nd4c_plan *plan, int32_t index, int32_t body, const nd4c_plan **found) {
  enum { BODIES = 2 };
  if (index < 0 || index >= plan->step_count) {
    return nd4c_fail(ND4C_INDEX, "nd4c_plan_get_body: the plan has %d steps, not one number %d", (int)plan->step_count,
                     (int)index);
  }
  const nd4c_control_step *control = plan->steps[index].control;
  *found = control != NULL && body >= 0 && body < BODIES ? control->bodies[body] : NULL;
  return ND4C_OK;
}

nd4c_status nd4c_plan_get_body(const nd4c_plan *plan, int32_t index, int32_t body, const nd4c_plan **found) {
  ND4C_TRY(nd4c_plan_check(plan));
  if (found == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_plan_get_body: found is NULL");
  }
  nd4c_plan_binding *binding = plan->dynamic != NULL ? nd4c_bindings_take_latest(plan) : NULL;
  const nd4c_status status = find_body(binding != NULL ? binding->plan : plan, index, body, found);
  if (binding != NULL) {
    nd4c_bindings_give(plan, binding);
  }
  return status;
}

nd4c_status nd4c_plan_get_node(const nd4c_plan *plan, int32_t index, nd4c_node_info *info) {
  ND4C_TRY(nd4c_plan_check(plan));
  nd4c_plan_binding *binding = plan->dynamic != NULL ? nd4c_bindings_take_latest(plan) : NULL;
  if (plan->dynamic != NULL && binding == NULL) { /* the first binding may be changing the order of the nodes */
    nd4c_lock_acquire(&plan->dynamic->lock);
  }
  const nd4c_status status = nd4c_graph_get_node(binding != NULL ? binding->plan->graph : plan->graph, index, info);
  if (binding != NULL) {
    nd4c_bindings_give(plan, binding);
  } else if (plan->dynamic != NULL) {
    nd4c_lock_release(&plan->dynamic->lock);
  }
  return status == ND4C_OK ? status : nd4c_fail_prefix(status, "nd4c_plan_get_node");
}
