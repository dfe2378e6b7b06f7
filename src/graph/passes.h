/* The passes: each rewrites the plan's graph and preserves its meaning. nd4c_plan_create runs them in the order of this
 * list. */
#ifndef ND4C_GRAPH_PASSES_H
#define ND4C_GRAPH_PASSES_H

#include "graph/plan.h"
#include "graph/ir/rewrite.h"

/* Which plans a pass runs on. A plan that is compiled ahead of time has no device to ask. */
typedef enum nd4c_pass_where {
  ND4C_PASS_ANY,   /* every plan; constants are computed where all its nodes can fetch them */
  ND4C_PASS_DEVICE /* plans of one device, whose kernels the pass asks; another device may prefer the opposite */
} nd4c_pass_where;

/* X(name, where, doc line): src/graph/passes/<name>.c defines nd4c_pass_<name>. `where` is a nd4c_pass_where. */
#define ND4C_PASS_TABLE(X)                                                              \
  X(dead, ANY, "removes nodes that no output needs")                                    \
  X(identity, ANY, "removes nodes that give their input back")                          \
  X(fold_constants, ANY, "computes small nodes of constants alone")                     \
  X(gelu, ANY, "recognises gelu in erf and its neighbours")                             \
  X(layer_norm, ANY, "recognises layer_norm in means and their neighbours")             \
  X(fold_affine, ANY, "folds batch_norm and channel constants into conv or batch_norm") \
  X(linear, ANY, "makes linear of matmul and a constant bias")                          \
  X(fuse_addend, ANY, "merges an add into the conv or linear before it")                \
  X(fuse_activation, ANY, "merges an activation into the conv or linear before it")     \
  X(layout, DEVICE, "gives values around conv the memory order that its kernel likes")

/* Rewrites; adds the number of its rewrites to rewrite->changes. */
typedef nd4c_status (*nd4c_pass_function)(nd4c_rewrite *rewrite);

#define ND4C_PASS_DECLARE(name, where, doc) nd4c_status nd4c_pass_##name(nd4c_rewrite *rewrite);
ND4C_PASS_TABLE(ND4C_PASS_DECLARE)
#undef ND4C_PASS_DECLARE

/* Runs all passes on the plan's graph and records what each did. */
nd4c_status nd4c_passes_run(nd4c_plan *plan);

#endif
