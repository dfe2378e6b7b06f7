/* The passes: each rewrites the plan's graph and keeps its meaning. They run in the order of this list. */
#ifndef ND4C_GRAPH_PASSES_H
#define ND4C_GRAPH_PASSES_H

#include "graph/plan.h"
#include "graph/rewrite.h"

/* X(name, doc line): src/graph/passes/<name>.c defines nd4c_pass_<name>. */
#define ND4C_PASS_TABLE(X)                                                                         \
  X(dead, "removes nodes that no output needs")                                                    \
  X(identity, "removes nodes that give their input back: copies, reshapes to the same shape, ...") \
  X(fold_constants, "computes small nodes of constants alone")

/* Rewrites; adds the number of its rewrites to rewrite->changes. */
typedef nd4c_status (*nd4c_pass_function)(nd4c_rewrite *rewrite);

#define ND4C_PASS_DECLARE(name, doc) nd4c_status nd4c_pass_##name(nd4c_rewrite *rewrite);
ND4C_PASS_TABLE(ND4C_PASS_DECLARE)
#undef ND4C_PASS_DECLARE

/* Runs all passes on the plan's graph and records what each did. */
nd4c_status nd4c_passes_run(nd4c_plan *plan);

#endif
