/* A walk over a graph's nodes in order, in time proportional to their number, for passes that let values stand for
 * others. nd4c_rewrite_replace looks at all nodes for each value that it replaces; a sweep notes what stands for what,
 * and changes the inputs of each node just before it visits the node. */
#ifndef ND4C_GRAPH_IR_SWEEP_H
#define ND4C_GRAPH_IR_SWEEP_H

#include "graph/ir/rewrite.h"

/* Visits node `index`, whose inputs are already the values that stand for the recorded ones. It may rewrite the node or
 * emit others. For each output that another value of the same dtype and shape gives, it writes that value to `same`,
 * which has an entry for each output, preset to ND4C_VALUE_NONE (nd4c_rewrite_may_replace says whether it is). The
 * value must not depend on the output. The sweep counts such a change, and removes a node without readers. */
typedef nd4c_status (*nd4c_sweep_visit)(nd4c_rewrite *rewrite, int32_t index, nd4c_value *same, void *state);

/* Visits the nodes that existed when the sweep began and are still read. `state` is handed to `visit`. */
nd4c_status nd4c_rewrite_sweep(nd4c_rewrite *rewrite, nd4c_sweep_visit visit, void *state);
/* The same, beginning with values that already stand for others: same_as[v] is v, or a value with a smaller number that
 * no node after the readers of v produces, such as a constant. NULL: none. value_count entries. */
nd4c_status nd4c_rewrite_sweep_from(nd4c_rewrite *rewrite, const nd4c_value *same_as, nd4c_sweep_visit visit,
                                    void *state);

#endif
