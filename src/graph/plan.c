/* Creates and destroys plans: nd4c_plan_create runs the stages of plan.h in order; for a graph with dims, a run does so
 * (dynamic_bind.c). Programs and import/model_plans.c call it; ahead.c shares nd4c_plan_allocate, and explain.c
 * nd4c_plan_begin. */
#include "graph/plan.h"

#include "base/alloc.h"
#include "base/config/config.h"
#include "base/recycle.h"
#include "base/status.h"
#include "device/context/routing.h"
#include "device/stream/exit_and_fork.h"
#include "graph/callers.h"
#include "graph/control.h"
#include "graph/dynamic.h"
#include "graph/ir/variables.h"
#include "graph/passes.h"
#include "graph/plan/placement.h"
#include "graph/precision.h"
#include "graph/quantization.h"
#include "graph/variables.h"

void nd4c_plan_destroy(nd4c_plan *plan) {
  if (plan == NULL || plan->magic != ND4C_PLAN_ALIVE) {
    return;
  }
  nd4c_dynamic_free(plan);
  nd4c_quantization_free(plan->quantization);
  nd4c_callers_free(plan);
  nd4c_plan_free_variables(plan);
  nd4c_plan_release_mode(plan);
  for (int32_t i = 0; i < plan->step_count; i++) {
    nd4c_choice_release(plan->steps[i].choice);
  }
  nd4c_plan_release_segments(plan);
  nd4c_plan_release_bodies(plan);
  for (int32_t i = 0; plan->slot_arrays != NULL && i < plan->slot_count; i++) {
    nd4c_array_release(plan->slot_arrays[i]);
  }
  nd4c_plan_release_arguments(plan);
  for (int32_t i = 0; i < plan->slot_count; i++) {
    if (plan->slots[i].storage != NULL) {
      nd4c_storage_release(plan->slots[i].storage);
    }
  }
  for (int32_t i = 0; i < plan->place_count; i++) {
    if (plan->places[i].arena != NULL) {
      nd4c_storage_release(plan->places[i].arena);
    }
    for (int32_t k = 0; plan->places[i].buffers != NULL && k < plan->places[i].buffer_count; k++) {
      if (plan->places[i].buffers[k] != NULL) {
        nd4c_storage_release(plan->places[i].buffers[k]);
      }
    }
    if (plan->places[i].context != NULL) {
      nd4c_context_drop(plan->places[i].context);
    }
  }
  if (plan->borrows) {
    nd4c_graph_free_numbers(plan->graph);
  } else {
    nd4c_graph_destroy(plan->graph);
  }
  nd4c_region_free(&plan->region);
  nd4c_deallocate(plan->compile);
  nd4c_plan_drop_compiled(plan);
  if (plan->context != NULL) {
    nd4c_context_drop(plan->context);
  }
  plan->magic = ND4C_PLAN_DEAD;
  nd4c_recycle_give(plan, sizeof *plan);
}

nd4c_status nd4c_plan_allocate(nd4c_plan **plan) {
  nd4c_plan *created = nd4c_recycle_take(sizeof *created);
  if (created == NULL) {
    return nd4c_fail_memory("a plan", sizeof *created);
  }
  created->magic = ND4C_PLAN_ALIVE;
  *plan = created;
  return ND4C_OK;
}

nd4c_status nd4c_plan_check_outputs(const nd4c_graph *graph, const char *function) {
  return graph->outputs.count > 0 || nd4c_variables_assigned(graph) > 0
             ? ND4C_OK
             : nd4c_fail(ND4C_ARGUMENT, "%s: the graph has no outputs: name them by nd4c_graph_output", function);
}

nd4c_status nd4c_plan_inherit(const char *function, const nd4c_plan *outer, nd4c_plan *inner) {
  inner->switches = outer->switches;
  inner->arena_limit = outer->arena_limit;
  inner->precision = outer->precision;
  inner->precision_from = outer->precision_from;
  inner->precision_unused = outer->precision_unused;
  inner->precision_why = outer->precision_why;
  return nd4c_compile_request_copy(function, outer->compile, &inner->compile);
}

/* What follows the passes, for the text of a plan that was stopped or had no memory: many stages have no node to name.
 */
static const struct {
  const char *name;
  nd4c_status (*make)(nd4c_plan *plan);
} stages[] = {
    {"placing nodes", nd4c_plan_make_places},
    {"planning the whole graph as one", nd4c_plan_make_whole},
    {"finding segments", nd4c_plan_find_segments},
    {"reading compiled segments", nd4c_plan_note_unused_file},
    {"planning bodies", nd4c_plan_make_bodies},
    {"giving values slots", nd4c_plan_make_slots},
    {"preparing steps", nd4c_plan_make_steps},
    {"laying out memory", nd4c_plan_make_memory},
    {"naming inputs and outputs", nd4c_plan_note_ports},
    {"binding arguments", nd4c_plan_bind},
};

static nd4c_status name_stage(const char *stage, nd4c_status status) {
  return nd4c_status_passes(status) ? nd4c_fail_prefix(status, "%s", stage) : status;
}

nd4c_status nd4c_plan_build(nd4c_plan *plan, bool optimize) {
  if (optimize) {
    ND4C_TRY(nd4c_passes_run(plan, NULL)); /* it names the pass */
  }
  for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
    ND4C_TRY(name_stage(stages[i].name, stages[i].make(plan)));
  }
  return ND4C_OK;
}

static nd4c_status build(nd4c_plan *plan, const nd4c_graph *graph, const nd4c_plan_options *options) {
  const bool optimize = options == NULL || !options->no_optimization;
  ND4C_TRY(nd4c_quantization_take_graph(plan, graph));
  ND4C_TRY(name_stage("copying the graph", nd4c_graph_clone(graph, &plan->graph)));
  plan->nodes_recorded = graph->node_count;
  ND4C_TRY(name_stage("opening variables", nd4c_plan_open_variables(plan, options)));
  return nd4c_graph_dim_count(plan->graph) > 0 ? nd4c_dynamic_make(plan, options, optimize)
                                               : nd4c_plan_build(plan, optimize);
}

static const nd4c_compile_request *request_of(const nd4c_plan_options *options) {
  return options != NULL && ND4C_HAS_FIELD(options, compile) ? options->compile : NULL;
}

static const char *passes_of(const nd4c_plan_options *options) {
  return options != NULL && ND4C_HAS_FIELD(options, passes) ? options->passes : NULL;
}

static int64_t arena_limit_of(const nd4c_plan_options *options) {
  const bool given = options != NULL && ND4C_HAS_FIELD(options, arena_bytes) && options->arena_bytes > 0;
  return given ? options->arena_bytes : nd4c_config_int(ND4C_CONFIG_PLAN_ARENA);
}

/* The plan's context: the caller's, or a new one if a placement names a single other device. */
static nd4c_status settle(nd4c_plan *plan, nd4c_context *asked, const nd4c_placement *placement) {
  nd4c_device *single = placement != NULL ? nd4c_placement_single(placement) : NULL;
  nd4c_context *context = asked;
  if (single != NULL && single != asked->device) {
    ND4C_TRY(nd4c_device_check(single, "placement"));
    ND4C_TRY(nd4c_device_admit(single));
    ND4C_TRY(nd4c_routing_context(asked, single, &context));
    plan->helper = asked;
  }
  plan->context = nd4c_context_retain(context);
  plan->device = context->device;
  plan->placement = single == NULL ? placement : NULL;
  return ND4C_OK;
}

nd4c_status nd4c_plan_begin(const char *function, const nd4c_graph *graph, nd4c_context *context,
                            const nd4c_plan_options *options, nd4c_plan **plan) {
  if (options != NULL && !ND4C_HAS_FIELD(options, no_optimization)) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: options.struct_size is %u, expected at least %u", function,
                     options->struct_size, ND4C_SIZE_OF(nd4c_plan_options));
  }
  if (options != NULL && ND4C_HAS_FIELD(options, binding_bytes) && options->binding_bytes < 0) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: options.binding_bytes is %lld, expected at least 0", function,
                     (long long)options->binding_bytes);
  }
  if (options != NULL && ND4C_HAS_FIELD(options, arena_bytes) && options->arena_bytes < 0) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: options.arena_bytes is %lld, expected at least 0", function,
                     (long long)options->arena_bytes);
  }
  const nd4c_placement *placement = options != NULL && ND4C_HAS_FIELD(options, placement) ? options->placement : NULL;
  if (placement != NULL) {
    ND4C_TRY(nd4c_placement_check(placement));
  }
  nd4c_context *resolved = NULL;
  ND4C_TRY(nd4c_context_resolve(context, &resolved));
  ND4C_TRY(nd4c_plan_check_outputs(graph, function));
  ND4C_TRY(nd4c_device_admit(resolved->device)); /* compiling calls the driver */
  nd4c_plan *created = NULL;
  ND4C_TRY(nd4c_plan_allocate(&created));
  created->profiled = nd4c_config_bool(ND4C_CONFIG_PLAN_PROFILE);
  created->arena_limit = arena_limit_of(options);
  nd4c_engine_rules_read(&created->rules);
  nd4c_status status = nd4c_passes_switch(passes_of(options), &created->switches);
  status = status == ND4C_OK ? settle(created, resolved, placement) : status;
  status = status == ND4C_OK ? nd4c_precision_settle(created, options) : status;
  status = status == ND4C_OK ? nd4c_buckets_read(function, graph, options, created) : status;
  if (status == ND4C_OK) {
    status = nd4c_compile_request_copy(function, request_of(options), &created->compile);
  }
  if (status == ND4C_OK && options != NULL && ND4C_HAS_FIELD(options, compiled) && options->compiled != NULL) {
    status = nd4c_plan_read_compiled(created, options->compiled);
  }
  if (status != ND4C_OK) {
    nd4c_plan_destroy(created);
    return status;
  }
  *plan = created;
  return ND4C_OK;
}

nd4c_status nd4c_plan_create(const nd4c_graph *graph, nd4c_context *context, const nd4c_plan_options *options,
                             nd4c_plan **plan) {
  return nd4c_plan_create_told(graph, context, options, NULL, plan);
}

nd4c_status nd4c_plan_create_told(const nd4c_graph *graph, nd4c_context *context, const nd4c_plan_options *options,
                                  const nd4c_plan_progress *progress, nd4c_plan **plan) {
  ND4C_TRY(nd4c_graph_check(graph));
  if (plan == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_plan_create: plan is NULL");
  }
  nd4c_plan *created = NULL;
  ND4C_TRY(nd4c_plan_begin("nd4c_plan_create", graph, context, options, &created));
  created->progress = progress;
  const nd4c_status status = build(created, graph, options);
  if (status != ND4C_OK) {
    nd4c_plan_destroy(created);
    return nd4c_status_passes(status) ? nd4c_fail_prefix(status, "planning %d nodes", (int)graph->node_count) : status;
  }
  created->placement = NULL;
  created->helper = NULL;
  if (created->quantization != NULL) {
    created->quantization->calibration = NULL;
  }
  nd4c_plan_drop_compiled(created);
  *plan = created;
  return ND4C_OK;
}
