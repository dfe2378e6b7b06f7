/* The passes: each rewrites the plan's graph and keeps its meaning. plan.c and ahead.c run all of them, unless the
 * caller asks for no optimisation. A pass is one file of src/graph/passes, which ends with
 *
 *     ND4C_PASS(40, gelu, ANY, "recognises gelu in erf and its neighbours")
 *
 * and has a static function `run`. Passes run in the order of their numbers; the build makes the list. */
#ifndef ND4C_GRAPH_PASSES_H
#define ND4C_GRAPH_PASSES_H

#include "graph/ir/rewrite.h"
#include "graph/plan.h"

/* Which plans a pass runs on. A plan that is compiled ahead of time has no device to ask. */
typedef enum nd4c_pass_where {
  ND4C_PASS_ANY,   /* every plan; constants are computed where all its nodes can fetch them */
  ND4C_PASS_DEVICE /* plans of one device, whose kernels the pass asks; another device may prefer the opposite */
} nd4c_pass_where;

typedef struct nd4c_pass {
  const char *name, *doc;
  nd4c_pass_where where;
  nd4c_status (*run)(nd4c_rewrite *rewrite); /* rewrites; adds the number of its rewrites to rewrite->changes */
} nd4c_pass;

/* order: cmake/gather.cmake reads it. */
#define ND4C_PASS(order, name_, where_, doc_) \
  const nd4c_pass nd4c_pass_##name_ = {.name = #name_, .doc = doc_, .where = ND4C_PASS_##where_, .run = run};

/* All passes, in the order in which they run. */
int32_t nd4c_passes_count(void);
const nd4c_pass *nd4c_passes_at(int32_t index);

/* Reads which passes run: from `asked`, the option of a plan or model, or, if it is NULL or empty, from
 * nd4c.plan.passes. Names that begin with '-' are switched off; names without '-' are the only ones that run; an empty
 * list switches none off. ARGUMENT (both kinds in one list, an empty entry), NAME with the nearest name. */
nd4c_status nd4c_passes_switch(const char *asked, nd4c_pass_switches *switches);

/* Runs the passes that are not switched off on the plan's graph and records what each did. */
nd4c_status nd4c_passes_run(nd4c_plan *plan);

#endif
