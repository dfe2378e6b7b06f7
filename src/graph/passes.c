/* Implements passes.h: the list of passes, which programs read, and the driver that runs them to their fixed point.
 * plan.c, ahead.c and explain.c call it before they place any node. */
#include "graph/passes.h"

#include "base/status.h"
#include "device/context/routing.h"
#include "device/registry/registry.h"
#include "device/stream/cancellation.h"
#include "graph/match/fast.h"
#include "passes_list.h" /* ND4C_PASSES(X), in the order of their numbers: made by the build */

#define DECLARE(name) extern const nd4c_pass nd4c_pass_##name;
ND4C_PASSES(DECLARE)
#define ADDRESS(name) &nd4c_pass_##name,
static const nd4c_pass *const passes[] = {ND4C_PASSES(ADDRESS)};

enum { PASS_COUNT = sizeof passes / sizeof passes[0] };
_Static_assert(PASS_COUNT <= (int)ND4C_PASS_RECORDS, "room for a record of each pass");

#define PHASE_ROW(phase, name_, settles_, meaning) {.name = name_, .settles = settles_},
static const struct {
  const char *name;
  bool settles;
} phases[] = {ND4C_PHASE_TABLE(PHASE_ROW)};

#define WHERE_NAME(where, name_, meaning) name_,
static const char *const where_names[] = {ND4C_PASS_WHERE_TABLE(WHERE_NAME)};

int32_t nd4c_passes_count(void) {
  return PASS_COUNT;
}

const nd4c_pass *nd4c_passes_at(int32_t index) {
  return passes[index];
}

const char *nd4c_phase_name(nd4c_phase phase) {
  return phases[phase].name;
}

int32_t nd4c_pass_count(void) {
  return PASS_COUNT;
}

nd4c_status nd4c_pass_get_info(int32_t index, nd4c_pass_info *info) {
  if (info == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_pass_get_info: info is NULL");
  }
  if (!ND4C_HAS_FIELD(info, doc)) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_pass_get_info: struct_size is %u, expected at least %u", info->struct_size,
                     ND4C_SIZE_OF(nd4c_pass_info));
  }
  if (index < 0 || index >= PASS_COUNT) {
    return nd4c_fail(ND4C_INDEX, "nd4c_pass_get_info: there are %d passes, not one number %d", (int)PASS_COUNT,
                     (int)index);
  }
  info->name = passes[index]->name;
  info->phase = phases[passes[index]->phase].name;
  info->where = where_names[passes[index]->where];
  info->doc = passes[index]->doc;
  return ND4C_OK;
}

/* -- one run ------------------------------------------------------------------------------------------------------- */

typedef struct driver {
  nd4c_plan *plan;
  const nd4c_pass *const *rows;
  int32_t count;
  nd4c_context *context; /* of passes that run on every plan */
  nd4c_pass_watch *watch;
  int32_t furthest;                   /* row that has run, for those who are told */
  double weight;                      /* the estimate of the graph as it is */
  int64_t version;                    /* of the graph: grows with each run that changes it */
  int64_t settled[ND4C_PASS_RECORDS]; /* the version on which the pass has nothing to do; 0: none yet */
} driver;

/* Where constants are computed and kept: on the plan's device, or on the host if the plan has a placement. Each device
 * then copies them from the host once; from another device, the host would have to fetch the ones it needs. Also on the
 * host if another process must compute the same constants. */
static nd4c_status find_context(const nd4c_plan *plan, nd4c_context **context) {
  *context = plan->context;
  if (plan->placement == NULL && !plan->portable) {
    return ND4C_OK;
  }
  nd4c_device *host = NULL;
  ND4C_TRY(nd4c_device_host(&host));
  return plan->context->device == host ? ND4C_OK : nd4c_routing_context(plan->context, host, context);
}

static nd4c_status rewrite_graph(driver *d, const nd4c_pass *row, int32_t *changes, bool *ends_round) {
  nd4c_rewrite rewrite;
  nd4c_status status =
      nd4c_rewrite_begin(&rewrite, d->plan->graph, row->where == ND4C_PASS_ANY ? d->context : d->plan->context);
  rewrite.math = d->plan->compile != NULL ? d->plan->compile->math : ND4C_MATH_EXACT;
  rewrite.precision = d->plan->precision;
  rewrite.reduces_products =
      rewrite.precision != ND4C_DTYPE_NONE && nd4c_multiplies_fast(d->plan->context, rewrite.precision);
  rewrite.arena_bytes = d->plan->arena_limit;
  rewrite.quantization = d->plan->quantization;
  rewrite.folding = &d->plan->folding;
  if (status == ND4C_OK) {
    status = row->run(&rewrite);
  }
  const nd4c_status ended = nd4c_rewrite_end(&rewrite);
  status = status != ND4C_OK ? status : ended;
  *changes = rewrite.changes;
  *ends_round = rewrite.ends_round;
  return status == ND4C_OK ? status : nd4c_fail_prefix(status, "pass %s", row->name);
}

/* Compares the estimates before and after a run that changed the graph. */
static void weigh(driver *d, nd4c_pass_record *record) {
  const double before = d->weight;
  d->weight = nd4c_graph_weight(d->plan->graph);
  record->raised += d->weight > before && before > 0 ? (d->weight - before) / before : 0;
}

static nd4c_status run_pass(driver *d, int32_t index, bool *changed, bool *ends_round) {
  const nd4c_pass *row = d->rows[index];
  const int32_t before = d->plan->graph->node_count;
  nd4c_pass_record *record = &d->plan->passes[index];
  int32_t changes = 0;
  const nd4c_status asked = nd4c_cancellation_poll();
  if (asked != ND4C_OK) {
    return nd4c_fail_prefix(asked, "pass %s", row->name);
  }
  d->furthest = index > d->furthest ? index : d->furthest;
  nd4c_progress_tell(d->plan->progress, "optimizing", d->furthest, d->count);
  if (d->watch != NULL) {
    ND4C_TRY(d->watch->before(d->watch, d->plan, row));
  }
  ND4C_TRY(rewrite_graph(d, row, &changes, ends_round));
  if (d->watch != NULL) {
    ND4C_TRY(d->watch->after(d->watch, d->plan, row, changes));
  }
  const int32_t more = d->plan->graph->node_count - before;
  *changed = changes > 0 || more != 0;
  d->version += *changed;
  if (*changed) {
    weigh(d, record);
  }
  if (!*changed || phases[row->phase].settles) {
    d->settled[index] = d->version;
  }
  record->before = record->runs == 0 ? before : record->before;
  record->after = (record->runs == 0 ? before : record->after) + more;
  record->changes += changes;
  record->runs++;
  record->restless = *changed;
  return ND4C_OK;
}

/* -- rounds -------------------------------------------------------------------------------------------------------- */

bool nd4c_pass_needs_numbers(const nd4c_plan *plan, const nd4c_pass *pass) {
  return pass->where == ND4C_PASS_NUMBERS && nd4c_graph_dim_count(plan->graph) > 0;
}

static bool can_run(const driver *d, int32_t index) {
  const nd4c_pass *row = d->rows[index];
  const bool possible = row->where == ND4C_PASS_ANY || (d->plan->placement == NULL && !d->plan->ahead);
  return possible && !nd4c_pass_needs_numbers(d->plan, row) && !d->plan->switches.off[index];
}

static nd4c_status run_round(driver *d, nd4c_phase phase, int32_t round, bool *changed) {
  *changed = false;
  bool ends = false;
  if (d->watch != NULL) {
    d->watch->round = round + 1;
  }
  for (int32_t i = 0; i < d->count && !ends; i++) {
    bool one = false;
    if (d->rows[i]->phase == phase && can_run(d, i) && d->settled[i] != d->version) {
      ND4C_TRY(run_pass(d, i, &one, &ends));
    }
    *changed = *changed || one;
  }
  return ND4C_OK;
}

static nd4c_status simplify(driver *d) {
  bool changed = true;
  for (int32_t round = 0; changed && round < ND4C_PASS_ROUNDS; round++) {
    ND4C_TRY(run_round(d, ND4C_PHASE_SIMPLIFY, round, &changed));
  }
  d->plan->unsettled |= changed ? 1U << ND4C_PHASE_SIMPLIFY : 0U;
  return ND4C_OK;
}

static nd4c_status run_phase(driver *d, nd4c_phase phase) {
  bool changed = true;
  for (int32_t round = 0; changed && round < ND4C_PASS_ROUNDS; round++) {
    ND4C_TRY(run_round(d, phase, round, &changed));
    if (changed) {
      ND4C_TRY(simplify(d));
    }
  }
  d->plan->unsettled |= changed ? 1U << phase : 0U;
  return ND4C_OK;
}

static nd4c_status drive(driver d) {
  nd4c_plan *plan = d.plan;
  ND4C_TRY(find_context(plan, &d.context));
  plan->optimized = true;
  plan->cost_recorded = nd4c_graph_cost(plan->graph);
  d.weight = nd4c_graph_weight(plan->graph);
  plan->pass_count = d.count;
  for (int32_t i = 0; i < d.count; i++) {
    plan->passes[i] =
        (nd4c_pass_record){.name = d.rows[i]->name, .doc = d.rows[i]->doc, .phase = (int32_t)d.rows[i]->phase};
  }
  ND4C_TRY(simplify(&d));
  for (int32_t phase = ND4C_PHASE_SIMPLIFY + 1; phase < (int32_t)ND4C_PHASE_COUNT; phase++) {
    ND4C_TRY(run_phase(&d, (nd4c_phase)phase));
  }
  plan->cost = nd4c_graph_cost(plan->graph);
  nd4c_progress_tell(plan->progress, "optimizing", d.count, d.count);
  return ND4C_OK;
}

nd4c_status nd4c_passes_drive(nd4c_plan *plan, const nd4c_pass *const *rows, int32_t count, nd4c_pass_watch *watch) {
  return drive((driver){.plan = plan, .rows = rows, .count = count, .watch = watch, .version = 1});
}

nd4c_status nd4c_passes_run(nd4c_plan *plan, nd4c_pass_watch *watch) {
  return nd4c_passes_drive(plan, passes, PASS_COUNT, watch);
}

nd4c_status nd4c_passes_run_bound(nd4c_plan *plan) {
  driver d = {.plan = plan, .rows = passes, .count = PASS_COUNT, .version = 1};
  for (int32_t i = 0; i < PASS_COUNT; i++) {
    d.settled[i] = passes[i]->where == ND4C_PASS_NUMBERS ? 0 : d.version;
  }
  return drive(d);
}
