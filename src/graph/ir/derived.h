/* Constants that passes compute from other constants, shared by all plans that need the same ones: a model's plans for
 * different shapes fold the same normalisation into the same weights. The plans then also share the packed forms.
 * passes/fold_affine.c and ir/converted.c use it. */
#ifndef ND4C_GRAPH_IR_DERIVED_H
#define ND4C_GRAPH_IR_DERIVED_H

#include "array/array.h"
#include "nd4c/status.h"

/* from * scale + shift by channel, in a dtype. Equal keys give equal constants. A key consists of the numbers and of
 * the array behind `from`; when that array is written, results computed before are no longer found. */
typedef struct nd4c_derived_key {
  const nd4c_array *from;
  int64_t channels;
  const double *scale, *shift; /* NULL: all 1, all 0 */
  nd4c_dtype dtype;            /* ND4C_DTYPE_NONE: that of `from` */
} nd4c_derived_key;

/* The array that another live plan has computed for the key, with one reference and one use for the caller; NULL if
 * there is none. */
nd4c_array *nd4c_derived_find(const nd4c_derived_key *key);
/* Offers an array that was computed for the key to other plans, with one use. False if memory is exhausted. */
bool nd4c_derived_add(const nd4c_derived_key *key, nd4c_array *array);
/* Ends one use of an array that was found or added. After the last use it is forgotten. */
void nd4c_derived_drop(const nd4c_array *array);

#endif
