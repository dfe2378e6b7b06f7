/* Nodes that compute in another floating dtype: what the passes of this folder share.
 *
 * A node keeps its number and its outputs; only their dtype changes. So each value of `from` is either as recorded or
 * in `to`. A reader that wants the other dtype reads one cast, which all such readers share, so no pair of casts
 * arises. Outputs of the graph keep their dtypes. */
#ifndef ND4C_GRAPH_PASSES_DTYPES_RETYPING_H
#define ND4C_GRAPH_PASSES_DTYPES_RETYPING_H

#include "graph/passes.h"

typedef struct nd4c_retyping {
  nd4c_rewrite *rewrite;
  nd4c_dtype from, to;
  nd4c_region region; /* of this pass alone */
  int32_t count;      /* values before the pass; added ones are never looked up */
  bool *changed;      /* by value: it is computed in `to` */
  nd4c_value *other;  /* by value: the same in the other dtype, NONE: not made yet */
  /* Emits the cast of a value that is not constant; NULL: nd4c_emit_cast. */
  nd4c_status (*cast)(const struct nd4c_retyping *retyping, nd4c_value value, nd4c_dtype dtype, nd4c_value *made);
} nd4c_retyping;

/* Begins with all values as they are recorded. nd4c_retyping_end must follow, also after a failure. */
nd4c_status nd4c_retyping_begin(nd4c_retyping *retyping, nd4c_rewrite *rewrite, nd4c_dtype from, nd4c_dtype to);
void nd4c_retyping_end(nd4c_retyping *retyping);

/* Whether the value is of `from`, or was before the pass. */
bool nd4c_retyping_covers(const nd4c_retyping *retyping, nd4c_value value);
/* Whether the node reads an encoded constant, whose blocks kernels read in place. */
bool nd4c_retyping_reads_encoded(const nd4c_retyping *retyping, const nd4c_graph_node *node);
/* Whether a kernel other than the reference's computes the node with the covered operands in this dtype, or nothing
 * needs computing. Extents that are dims count by their lowest values. */
nd4c_status nd4c_retyping_is_fast(nd4c_retyping *retyping, const nd4c_graph_node *node, nd4c_dtype dtype, bool *fast);

/* The value in `to` (changed) or in `from`: itself, a cast or a constant. */
nd4c_status nd4c_retyping_read(nd4c_retyping *retyping, nd4c_value value, bool changed, nd4c_value *read);
/* The node's inputs, the covered ones in `to` (changed) or in `from`; and whether the op then gives the outputs that it
 * has, with `to` in place of `from`. */
nd4c_status nd4c_retyping_inputs(nd4c_retyping *retyping, int32_t index, bool changed, nd4c_value **inputs);
nd4c_status nd4c_retyping_fits(nd4c_retyping *retyping, int32_t index, const nd4c_value *inputs, bool *fits);

/* Lets node `index` compute in `to`. *done is false if the op does not; nothing has changed then. */
nd4c_status nd4c_retyping_change(nd4c_retyping *retyping, int32_t index, bool *done);
/* Lets node `index`, which stays as it is recorded, read casts of what has changed. */
nd4c_status nd4c_retyping_keep(nd4c_retyping *retyping, int32_t index);
/* Gives the graph's outputs their dtypes back: after the last node. */
nd4c_status nd4c_retyping_outputs(nd4c_retyping *retyping);

#endif
