/* Makes a binding: the plan of a graph with dims for one combination of numbers. dynamic_bindings.c calls it for those
 * that are new. */
#include "base/alloc.h"
#include "base/status.h"
#include "device/context/routing.h"
#include "graph/control.h"
#include "graph/dynamic.h"
#include "graph/passes.h"
#include "graph/plan/common.h"

/* Binds all dims of the plan's graph. */
static nd4c_status bind_graph(const nd4c_plan *plan, const int64_t *dims, nd4c_graph **bound) {
  const char *names[ND4C_DYNAMIC_DIMS];
  for (int32_t i = 0; i < plan->dynamic->dim_count; i++) {
    names[i] = nd4c_extents_dim_name(plan->graph->extents, i);
  }
  return nd4c_graph_bind(plan->graph, names, dims, plan->dynamic->dim_count, bound);
}

/* The context of a binding: on the plan's device, which a placement may have chosen. */
static nd4c_status settle(const nd4c_plan *plan, nd4c_context *asked, nd4c_plan *bound) {
  nd4c_context *context = asked != NULL ? asked : plan->context;
  if (context->device != plan->device) {
    bound->helper = asked;
    ND4C_TRY(nd4c_routing_context(asked, plan->device, &context));
  } else {
    bound->helper = plan->dynamic->helper;
  }
  bound->context = nd4c_context_retain(context);
  bound->device = plan->device;
  return ND4C_OK;
}

/* A plan of a graph of its own. */
static nd4c_status build_alone(const nd4c_plan *plan, const int64_t *dims, nd4c_plan *bound) {
  ND4C_TRY(bind_graph(plan, dims, &bound->graph));
  ND4C_TRY(plan->dynamic->optimize ? nd4c_passes_run_bound(bound) : ND4C_OK);
  return nd4c_plan_build(bound, false);
}

/* Runs the passes that need numbers on the first binding. The others do not run again: what they would find for these
 * numbers may be wrong for those of later bindings. */
static nd4c_status run_first_passes(nd4c_plan *bound) {
  const nd4c_pass_switches switches = bound->switches;
  const nd4c_pass *rows[ND4C_PASS_RECORDS];
  int32_t count = 0;
  for (int32_t i = 0; i < nd4c_passes_count(); i++) {
    if (nd4c_passes_at(i)->where == ND4C_PASS_NUMBERS && !switches.off[i]) {
      bound->switches.off[count] = false;
      rows[count++] = nd4c_passes_at(i);
    }
  }
  const nd4c_status status = nd4c_passes_drive(bound, rows, count, NULL);
  bound->switches = switches;
  return status;
}

/* A plan that shares with other bindings what does not depend on extents. */
static nd4c_status build_shared(const nd4c_plan *plan, const int64_t *dims, nd4c_plan *bound) {
  nd4c_plan_common *common = plan->dynamic->common;
  nd4c_binding binding;
  nd4c_status status = nd4c_binding_make(plan->graph->extents, dims, NULL, &binding);
  if (status != ND4C_OK) {
    return nd4c_fail_prefix(status, "plan");
  }
  bound->borrows = true;
  if (!common->begun) {
    common->begun = true;
    common->rules = bound->rules;
  }
  status = nd4c_graph_number(common, &binding, &bound->graph);
  nd4c_binding_free(&binding);
  if (status != ND4C_OK) {
    return nd4c_fail_prefix(status, "plan");
  }
  bound->optimized = plan->dynamic->optimize;
  bound->follows = common->fixed;
  status = bound->optimized && !bound->follows ? run_first_passes(bound) : ND4C_OK;
  bound->common = common;
  status = status == ND4C_OK ? nd4c_plan_build(bound, false) : status;
  bound->common = NULL;
  common->fixed = common->fixed || status == ND4C_OK;
  return status;
}

static nd4c_status fill(const nd4c_plan *plan, nd4c_context *context, const int64_t *dims, bool shared,
                        nd4c_plan *bound) {
  bound->profiled = plan->profiled; /* until it is added: what a profile says then counts */
  nd4c_engine_rules_read(&bound->rules);
  ND4C_TRY(nd4c_plan_inherit("nd4c_plan_run", plan, bound));
  ND4C_TRY(settle(plan, context, bound));
  bound->nodes_recorded = plan->nodes_recorded;
  bound->progress = plan->progress;
  ND4C_TRY(shared ? build_shared(plan, dims, bound) : build_alone(plan, dims, bound));
  bound->helper = NULL;
  return context == NULL ? ND4C_OK : nd4c_plan_move(bound, NULL);
}

static nd4c_status make(const nd4c_plan *plan, nd4c_context *context, const int64_t *dims, bool shared,
                        const nd4c_plan *previous, nd4c_plan **bound) {
  nd4c_plan *made = NULL;
  ND4C_TRY(nd4c_plan_allocate(&made));
  made->previous = shared ? previous : NULL;
  made->arenas = plan->dynamic->arenas.device == NULL ? NULL : &plan->dynamic->arenas;
  made->keeps_layout = shared && plan->buckets != NULL;
  const nd4c_status status = fill(plan, context, dims, shared, made);
  made->previous = NULL;
  if (status != ND4C_OK) {
    nd4c_plan_destroy(made);
    return status;
  }
  *bound = made;
  return ND4C_OK;
}

/* Whether a binding can share choices and pieces with earlier ones: configuration may have changed since. */
static bool can_share(const nd4c_plan_common *common) {
  nd4c_engine_rules rules;
  nd4c_engine_rules_read(&rules);
  return common != NULL && !common->unfit && (!common->begun || nd4c_engine_rules_equal(&rules, &common->rules));
}

/* A compiler that took a piece of the first binding may refuse it for these extents; then the binding shares nothing.
 */
nd4c_status nd4c_dynamic_bind(nd4c_plan *plan, nd4c_context *context, const int64_t *dims, const nd4c_plan *previous,
                              nd4c_plan **bound) {
  const bool shared = can_share(plan->dynamic->common);
  const nd4c_status status = make(plan, context, dims, shared, previous, bound);
  return shared && status == ND4C_UNSUPPORTED ? make(plan, context, dims, false, NULL, bound) : status;
}

bool nd4c_dynamic_shares(const nd4c_plan *plan) {
  return can_share(plan->dynamic->common);
}

static int64_t own_bytes(const nd4c_plan *bound) {
  const nd4c_graph *graph = bound->graph;
  return (bound->arenas == NULL ? bound->arena_bytes : 0) + (int64_t)sizeof *bound + (int64_t)bound->region.total +
         (int64_t)sizeof *graph + (int64_t)graph->region.total +
         (int64_t)graph->value_capacity * (int64_t)sizeof *graph->values +
         (int64_t)graph->node_capacity * (int64_t)sizeof *graph->nodes;
}

int64_t nd4c_dynamic_bytes(const nd4c_plan *bound) {
  int64_t bytes = own_bytes(bound);
  for (int32_t i = 0; bound->family_is_own && i < bound->family->count; i++) {
    bytes += own_bytes(bound->family->plans[i]);
  }
  return bytes;
}
