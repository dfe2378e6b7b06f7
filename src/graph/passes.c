/* Implements passes.h: runs all passes that the build lists. plan.c and ahead.c call it before they place any node. */
#include "graph/passes.h"

#include "base/status.h"
#include "device/context/routing.h"
#include "device/registry/registry.h"
#include "passes_list.h" /* ND4C_PASSES(X), in the order in which they run: made by the build */

#define DECLARE(name) extern const nd4c_pass nd4c_pass_##name;
ND4C_PASSES(DECLARE)
#define ADDRESS(name) &nd4c_pass_##name,
static const nd4c_pass *const passes[] = {ND4C_PASSES(ADDRESS)};

enum { PASS_COUNT = sizeof passes / sizeof passes[0] };
_Static_assert(PASS_COUNT <= (int)ND4C_PASS_RECORDS, "room for a record of each pass");

int32_t nd4c_passes_count(void) {
  return PASS_COUNT;
}

const nd4c_pass *nd4c_passes_at(int32_t index) {
  return passes[index];
}

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

static nd4c_status run_pass(nd4c_plan *plan, const nd4c_pass *row, nd4c_context *context) {
  nd4c_pass_record *record = &plan->passes[plan->pass_count];
  *record = (nd4c_pass_record){.name = row->name, .doc = row->doc, .before = plan->graph->node_count};
  nd4c_rewrite rewrite;
  nd4c_status status = nd4c_rewrite_begin(&rewrite, plan->graph, context);
  if (status == ND4C_OK) {
    status = row->run(&rewrite);
  }
  const nd4c_status ended = nd4c_rewrite_end(&rewrite);
  status = status != ND4C_OK ? status : ended;
  if (status != ND4C_OK) {
    return nd4c_fail_prefix(status, "pass %s", row->name);
  }
  record->after = plan->graph->node_count;
  record->changes = rewrite.changes;
  plan->pass_count++;
  return ND4C_OK;
}

nd4c_status nd4c_passes_run(nd4c_plan *plan) {
  nd4c_context *context = NULL;
  ND4C_TRY(find_context(plan, &context));
  plan->optimized = true;
  for (int32_t i = 0; i < PASS_COUNT; i++) {
    const bool of_device = passes[i]->where == ND4C_PASS_DEVICE;
    const bool possible = !of_device || (plan->placement == NULL && !plan->ahead);
    if (possible && !plan->switches.off[i]) {
      ND4C_TRY(run_pass(plan, passes[i], of_device ? plan->context : context));
    }
  }
  return ND4C_OK;
}
