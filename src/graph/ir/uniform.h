/* Constants all of whose elements are one number, for passes that look for neutral elements. The passes algebra,
 * select, strength, fold_chain and shapes call it. */
#ifndef ND4C_GRAPH_IR_UNIFORM_H
#define ND4C_GRAPH_IR_UNIFORM_H

#include "graph/ir/rewrite.h"

typedef struct nd4c_uniform {
  nd4c_dtype dtype;
  nd4c_dtype_kind kind; /* FLOAT, INT, UINT or BOOL */
  double real;          /* FLOAT: the number */
  int64_t whole;        /* the others: the number; that of uint64 by its bits */
} nd4c_uniform;

/* False if the value is not a constant, has another kind of dtype, elements whose bits differ, no elements or, without
 * being repeated from one element, more than a few thousand. */
bool nd4c_constant_uniform(const nd4c_rewrite *rewrite, nd4c_value value, nd4c_uniform *uniform);
/* Whether the number is `number`, of any kind; 0 is not -0. */
bool nd4c_uniform_is(const nd4c_uniform *uniform, double number);
/* All bits of an integer are 1, or it is true. */
bool nd4c_uniform_is_full(const nd4c_uniform *uniform);

/* All elements of a constant of integers up to 64 bits, as int64, of which there may be `limit`; fills *count. False if
 * it is not such a constant. */
bool nd4c_constant_wholes(const nd4c_rewrite *rewrite, nd4c_value value, int64_t limit, int64_t *numbers,
                          int64_t *count);

#endif
