/* Products of matrices that the op linear could compute. The passes linear and fuse_addend call it. */
#ifndef ND4C_GRAPH_MATCH_PRODUCTS_H
#define ND4C_GRAPH_MATCH_PRODUCTS_H

#include "graph/ir/rewrite.h"

/* Whether a matmul is one of linear's: rows times a constant matrix that does not lie encoded, since matmul reads
 * encoded ones in place. NULL is none. */
static inline bool nd4c_is_linear_product(const nd4c_rewrite *rewrite, const nd4c_graph_node *matmul) {
  const nd4c_graph_value *values = rewrite->graph->values;
  const nd4c_graph_value *x = matmul == NULL ? NULL : &values[matmul->inputs[0]];
  const nd4c_graph_value *w = matmul == NULL ? NULL : &values[matmul->inputs[1]];
  return matmul != NULL && w->constant != NULL && w->rank == 2 && x->rank >= 2 &&
         (w->constant->storage->flags & ND4C_STORAGE_ENCODED) == 0;
}

#endif
