/* Life and runs of plans with dims (dynamic.h): plan.c makes and frees them, run.c calls them for each run. */
#include "graph/dynamic.h"

#include "base/alloc.h"
#include "base/config/config.h"
#include "base/status.h"
#include "graph/passes.h"
#include "graph/plan/common.h"

enum { SHOWN = 200, LEAST_BYTES = 20 << 20, MOST_BYTES = 256 << 20 };

/* What a plan with dims cannot have, since its bindings are made later. */
static nd4c_status check_options(const nd4c_plan *plan) {
  const char *name = nd4c_graph_dim_name(plan->graph, 0);
  if (plan->placement != NULL) {
    return nd4c_fail(ND4C_UNSUPPORTED,
                     "nd4c_plan_create: a placement on several devices needs a graph of numbers, and this one has dims "
                     "('%.*s'): nd4c_graph_bind makes one",
                     SHOWN, name);
  }
  if (plan->file.file != NULL) {
    return nd4c_fail(ND4C_UNSUPPORTED,
                     "nd4c_plan_create: executables of a file are for a graph of numbers, and this one has dims "
                     "('%.*s'): nd4c_graph_bind makes one",
                     SHOWN, name);
  }
  if (nd4c_graph_dim_count(plan->graph) > ND4C_DYNAMIC_DIMS) {
    return nd4c_fail(ND4C_UNSUPPORTED, "nd4c_plan_create: the graph has %d dims, expected at most %d",
                     nd4c_graph_dim_count(plan->graph), (int)ND4C_DYNAMIC_DIMS);
  }
  return ND4C_OK;
}

/* The limit grows with the model: what a program spends on its weights, it can spend on sizes. */
static int64_t limit_by_constants(const nd4c_graph *graph) {
  int64_t bytes = 0;
  for (int32_t i = 0; i < graph->value_count && bytes < MOST_BYTES; i++) {
    const nd4c_graph_value *value = &graph->values[i];
    bytes += value->constant == NULL ? 0 : nd4c_dtype_bytes(value->dtype, value->size);
  }
  return bytes < LEAST_BYTES ? LEAST_BYTES : bytes > MOST_BYTES ? MOST_BYTES : bytes;
}

static int64_t limit_of(const nd4c_plan_options *options, const nd4c_graph *graph) {
  const bool given = options != NULL && ND4C_HAS_FIELD(options, binding_bytes) && options->binding_bytes > 0;
  const int64_t limit = given ? options->binding_bytes : nd4c_config_int(ND4C_CONFIG_PLAN_BINDINGS);
  return limit > 0 ? limit : limit_by_constants(graph);
}

static bool has_bodies(const nd4c_graph *graph) {
  bool any = false;
  for (int32_t i = 0; i < graph->node_count; i++) {
    any = any || graph->nodes[i].control != NULL;
  }
  return any;
}

/* Kernel choices may be shared where no stream orders what they prepared. The bodies of control flow have graphs of
 * their own, which are bound with the nodes. The pass reduced_precision asks kernels for each size. */
static bool may_share(const nd4c_plan *plan) {
  return plan->helper == NULL && nd4c_device_is_immediate(plan->device) && !plan->device->description.whole_buffers &&
         !has_bodies(plan->graph) && plan->precision == ND4C_DTYPE_NONE;
}

nd4c_status nd4c_dynamic_make(nd4c_plan *plan, const nd4c_plan_options *options, bool optimize) {
  ND4C_TRY(check_options(plan));
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *plan->dynamic, "a plan with dims", &plan->dynamic));
  nd4c_dynamic *dynamic = plan->dynamic;
  nd4c_lock_init(&dynamic->making);
  nd4c_lock_init(&dynamic->lock);
  nd4c_arenas_init(&dynamic->arenas, nd4c_device_is_immediate(plan->device) ? plan->device : NULL);
  dynamic->optimize = optimize;
  dynamic->dim_count = nd4c_graph_dim_count(plan->graph);
  dynamic->counts.byte_limit = limit_of(options, plan->graph);
  dynamic->phase.phase = ND4C_PLAN_RECORDING;
  dynamic->helper = plan->helper == NULL ? NULL : nd4c_context_retain(plan->helper);
  ND4C_TRY(nd4c_dims_find(plan));
  ND4C_TRY(optimize ? nd4c_passes_run(plan, NULL) : ND4C_OK);
  ND4C_TRY(optimize ? nd4c_graph_renumber(plan->graph) : ND4C_OK);
  return may_share(plan) ? nd4c_common_make(plan->graph, &dynamic->lock, &dynamic->common) : ND4C_OK;
}

static void drop_helper(nd4c_dynamic *dynamic) {
  if (dynamic->helper != NULL) {
    nd4c_context_drop(dynamic->helper);
    dynamic->helper = NULL;
  }
}

void nd4c_dynamic_free(nd4c_plan *plan) {
  nd4c_dynamic *dynamic = plan->dynamic;
  if (dynamic == NULL) {
    return;
  }
  nd4c_bindings_free(plan);
  nd4c_common_free(dynamic->common);
  nd4c_arenas_free(&dynamic->arenas);
  drop_helper(dynamic);
  nd4c_lock_destroy(&dynamic->lock);
  nd4c_lock_destroy(&dynamic->making);
  nd4c_deallocate(dynamic);
  plan->dynamic = NULL;
}

nd4c_status nd4c_dynamic_leave(nd4c_plan *plan) {
  nd4c_dynamic *dynamic = plan->dynamic;
  nd4c_status first = ND4C_OK;
  drop_helper(dynamic);
  for (int32_t i = 0; i < ND4C_DYNAMIC_BUCKETS; i++) {
    for (nd4c_plan_binding *at = dynamic->buckets[i]; at != NULL; at = at->next) {
      const nd4c_status status = nd4c_plan_move(at->plan, NULL);
      first = first == ND4C_OK ? status : first;
    }
  }
  return first;
}

nd4c_status nd4c_plan_serves(nd4c_plan *plan, nd4c_context *context, const nd4c_array *const *inputs) {
  int64_t dims[ND4C_DYNAMIC_DIMS];
  nd4c_plan_binding *binding = NULL;
  if (plan->dynamic == NULL) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_dims_solve(plan, inputs, dims));
  ND4C_TRY(nd4c_bindings_take(plan, context, dims, false, &binding));
  const nd4c_status status = nd4c_dims_check(plan, binding->plan->graph, inputs);
  nd4c_bindings_give(plan, binding);
  return status;
}

nd4c_status nd4c_dynamic_run(nd4c_plan *plan, nd4c_context *context, const nd4c_run_request *request) {
  int64_t dims[ND4C_DYNAMIC_DIMS];
  nd4c_plan_binding *binding = NULL;
  ND4C_TRY(nd4c_dims_solve(plan, request->inputs, dims));
  ND4C_TRY(nd4c_bindings_take(plan, context, dims, true, &binding));
  nd4c_status status = nd4c_dims_check(plan, binding->plan->graph, request->inputs);
  if (status == ND4C_OK) {
    status = nd4c_plan_run_request(binding->plan, context, request);
  }
  nd4c_bindings_give(plan, binding);
  return status;
}

/* -- ahead --------------------------------------------------------------------------------------------------------- */

static nd4c_status take_names(const nd4c_plan *plan, const char *const *names, const int64_t *extents, int32_t count,
                              int64_t *dims) {
  const int32_t all = nd4c_graph_dim_count(plan->graph);
  for (int32_t i = 0; i < all; i++) {
    dims[i] = -1;
  }
  for (int32_t i = 0; i < count; i++) {
    const char *name = names[i] == NULL ? "" : names[i];
    const int32_t dim = nd4c_extents_find_dim(plan->graph->extents, name);
    if (dim < 0 || dims[dim] >= 0) {
      return nd4c_fail(ND4C_NAME, "nd4c_plan_prepare: '%.*s' is %s", SHOWN, name,
                       dim < 0 ? "no dim of the plan" : "given twice");
    }
    if (extents[i] < 0) {
      return nd4c_fail(ND4C_SHAPE, "nd4c_plan_prepare: dim '%.*s' is %lld, expected at least 0", SHOWN, name,
                       (long long)extents[i]);
    }
    dims[dim] = extents[i];
  }
  for (int32_t i = 0; i < all; i++) {
    if (dims[i] < 0) {
      return nd4c_fail(ND4C_NAME, "nd4c_plan_prepare: dim '%.*s' has no number", SHOWN,
                       nd4c_graph_dim_name(plan->graph, i));
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_plan_prepare(nd4c_plan *plan, const char *const *names, const int64_t *extents, int32_t count) {
  int64_t dims[ND4C_DYNAMIC_DIMS];
  nd4c_plan_binding *binding = NULL;
  ND4C_TRY(nd4c_plan_check(plan));
  if (count < 0) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_plan_prepare: count is %d, expected at least 0", (int)count);
  }
  if (count > 0 && (names == NULL || extents == NULL)) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_plan_prepare: %s is NULL, but count is %d",
                     names == NULL ? "names" : "extents", (int)count);
  }
  ND4C_TRY(take_names(plan, names, extents, count, dims));
  if (plan->dynamic == NULL) {
    return ND4C_OK; /* a plan of numbers is ready */
  }
  ND4C_TRY(nd4c_bindings_take(plan, NULL, dims, false, &binding));
  nd4c_bindings_give(plan, binding);
  return ND4C_OK;
}
