/* The passes: each rewrites the plan's graph and keeps its meaning. plan.c and ahead.c run them, unless the caller asks
 * for no optimisation. A pass is one file of src/graph/passes, which ends with
 *
 *     ND4C_PASS(RECOGNIZE, 40, gelu, ANY, "recognises gelu in erf and its neighbours")
 *
 * and has a static function `run`. The build makes the list of all passes, in the order of their numbers.
 *
 * Passes run phase by phase. In a phase they run one after the other, again and again, until none of them changes
 * anything. After each round of a later phase that has changed something, the passes of SIMPLIFY run again, until they
 * change nothing either. A pass that has changed nothing does not run again before another pass has changed the graph.
 * A pass therefore need not find everything in one run, but it must come to an end: a run on a graph that the pass has
 * finished changes nothing and adds nothing to rewrite->changes. */
#ifndef ND4C_GRAPH_PASSES_H
#define ND4C_GRAPH_PASSES_H

#include "graph/ir/rewrite.h"
#include "graph/plan.h"

/* X(phase, name, settles, meaning). settles: a run of a pass leaves nothing for a second one, so the pass does not run
 * again because of its own changes. */
#define ND4C_PHASE_TABLE(X)                                                             \
  X(SIMPLIFY, "simplify", false, "less to compute: the same ops, fewer nodes")          \
  X(RECOGNIZE, "recognize", false, "several small ops become the op that they compute") \
  X(FUSE, "fuse", false, "a node is merged into its neighbour")                         \
  X(LAYOUT, "layout", true, "where and how values lie in memory")

typedef enum nd4c_phase {
#define ND4C_PHASE_ENUM(phase, ...) ND4C_PHASE_##phase,
  ND4C_PHASE_TABLE(ND4C_PHASE_ENUM)
#undef ND4C_PHASE_ENUM
      ND4C_PHASE_COUNT
} nd4c_phase;

/* The most rounds of a phase, and of SIMPLIFY each time that it runs: a pass that never ends must not hang a plan. Most
 * graphs are settled after two or three. The report names the passes that were stopped. */
enum { ND4C_PASS_ROUNDS = 16 };

/* Which plans a pass runs on. A plan that is compiled ahead of time has no device to ask. */
#define ND4C_PASS_WHERE_TABLE(X)                                                                           \
  X(ANY, "any", "every plan; constants are computed where all its nodes can fetch them")                   \
  X(DEVICE, "device", "plans of one device, whose kernels the pass asks; another may prefer the opposite") \
  X(NUMBERS, "numbers", "those of `device` whose graph has no dims: the pass asks about sizes and strides")

typedef enum nd4c_pass_where {
#define ND4C_PASS_WHERE_ENUM(where, ...) ND4C_PASS_##where,
  ND4C_PASS_WHERE_TABLE(ND4C_PASS_WHERE_ENUM)
#undef ND4C_PASS_WHERE_ENUM
} nd4c_pass_where;

typedef struct nd4c_pass {
  const char *name, *doc;
  nd4c_phase phase;
  int32_t order; /* its number */
  nd4c_pass_where where;
  nd4c_status (*run)(nd4c_rewrite *rewrite); /* rewrites; adds the number of its rewrites to rewrite->changes */
} nd4c_pass;

/* order: cmake/gather.cmake reads it, too. Those of a later phase are higher. */
#define ND4C_PASS(phase_, order_, name_, where_, doc_)               \
  const nd4c_pass nd4c_pass_##name_ = {.name = #name_,               \
                                       .doc = doc_,                  \
                                       .phase = ND4C_PHASE_##phase_, \
                                       .order = order_,              \
                                       .where = ND4C_PASS_##where_,  \
                                       .run = run};

/* All passes, in the order in which they run. */
int32_t nd4c_passes_count(void);
const nd4c_pass *nd4c_passes_at(int32_t index);
/* "simplify" */
const char *nd4c_phase_name(nd4c_phase phase);
/* Whether a pass is left out because the plan's graph has dims. */
bool nd4c_pass_needs_numbers(const nd4c_plan *plan, const nd4c_pass *pass);

/* Reads which passes run: from `asked`, the option of a plan or model, or, if it is NULL or empty, from
 * nd4c.plan.passes. Names that begin with '-' are switched off; names without '-' are the only ones that run; an empty
 * list switches none off. ARGUMENT (both kinds in one list, an empty entry), NAME with the nearest name. */
nd4c_status nd4c_passes_switch(const char *asked, nd4c_pass_switches *switches);

/* Called before and after each run of a pass: explain.c compares the graph. */
typedef struct nd4c_pass_watch {
  int32_t round; /* of the pass's phase, from 1; the driver sets it */
  nd4c_status (*before)(struct nd4c_pass_watch *watch, const nd4c_plan *plan, const nd4c_pass *pass);
  nd4c_status (*after)(struct nd4c_pass_watch *watch, const nd4c_plan *plan, const nd4c_pass *pass, int32_t changes);
} nd4c_pass_watch;

/* Runs the passes that are not switched off on the plan's graph and records what each did. watch: may be NULL. The
 * graph may have dims: its passes assume nothing new about them, except where a pass adds nodes. */
nd4c_status nd4c_passes_run(nd4c_plan *plan, nd4c_pass_watch *watch);

/* The same for a graph that was bound after its passes had run: those that need numbers run, and the others if these
 * change something. */
nd4c_status nd4c_passes_run_bound(nd4c_plan *plan);

/* The driver of nd4c_passes_run, over any rows, for tests. The first `count` of the plan's switches are theirs. */
nd4c_status nd4c_passes_drive(nd4c_plan *plan, const nd4c_pass *const *rows, int32_t count, nd4c_pass_watch *watch);

#endif
