#include "graph/passes.h"

#include "base/status.h"

typedef struct pass {
  const char *name, *doc;
  nd4c_pass_function run;
} pass;

static const pass passes[] = {
#define PASS_ROW(name_, doc_) {.name = #name_, .doc = doc_, .run = nd4c_pass_##name_},
    ND4C_PASS_TABLE(PASS_ROW)
#undef PASS_ROW
};

enum { PASS_COUNT = sizeof passes / sizeof passes[0] };
_Static_assert(PASS_COUNT <= (int)ND4C_PASS_RECORDS, "room for a record of each pass");

static nd4c_status run_pass(nd4c_plan *plan, const pass *row) {
  nd4c_pass_record *record = &plan->passes[plan->pass_count];
  *record = (nd4c_pass_record){.name = row->name, .doc = row->doc, .before = plan->graph->node_count};
  nd4c_rewrite rewrite;
  nd4c_status status = nd4c_rewrite_begin(&rewrite, plan->graph, plan->context);
  if (status == ND4C_OK) {
    status = row->run(&rewrite);
  }
  nd4c_rewrite_end(&rewrite);
  if (status != ND4C_OK) {
    return nd4c_fail_prefix(status, "pass %s", row->name);
  }
  record->after = plan->graph->node_count;
  record->changes = rewrite.changes;
  plan->pass_count += 1;
  return ND4C_OK;
}

nd4c_status nd4c_passes_run(nd4c_plan *plan) {
  for (int32_t i = 0; i < PASS_COUNT; ++i) {
    if (plan->placement != NULL && passes[i].run == nd4c_pass_layout) {
      continue; /* one device's favourite order may be another one's worst */
    }
    ND4C_TRY(run_pass(plan, &passes[i]));
  }
  return ND4C_OK;
}
