/* Compares and hashes the attributes of graph nodes. The pass cse calls it. (dispatch/call_cache.c has functions of its
 * own, for eager calls, which leave out the kinds that it does not cache.) */
#ifndef ND4C_GRAPH_IR_ATTRS_H
#define ND4C_GRAPH_IR_ATTRS_H

#include "graph/ir/graph.h"

/* Whether two lists of resolved attributes mean the same. Floats are compared by their bits, so that 0 and -0 differ;
 * an omitted list differs from an empty one; arrays are equal only if they are the same view. */
bool nd4c_attrs_equal(int32_t count, const nd4c_attr_value *a, const nd4c_attr_value *b);
/* Equal lists have equal hashes. */
uint64_t nd4c_attrs_hash(uint64_t hash, int32_t count, const nd4c_attr_value *attrs);

#endif
