/* Constants that passes compute from other constants, shared by the plans that need the same: a model's plans for other
 * shapes fold the same normalisation into the same weights. They then share what kernels pack of them, too. */
#ifndef ND4C_GRAPH_DERIVED_H
#define ND4C_GRAPH_DERIVED_H

#include "array/array.h"
#include "nd4c/status.h"

/* from * scale + shift by channel. Equal keys give equal constants: the numbers decide, and the array behind `from`,
 * while its contents stay: what was computed before they were written is not found any more. */
typedef struct nd4c_derived_key {
  const nd4c_array *from;
  int64_t channels;
  const double *scale, *shift; /* NULL: all 1, all 0 */
} nd4c_derived_key;

/* What another plan in use has computed for the key: one reference, and one use, for the caller; NULL: nothing. */
nd4c_array *nd4c_derived_find(const nd4c_derived_key *key);
/* Offers an array that was computed for the key to other plans, with one use. False without memory for the note. */
bool nd4c_derived_add(const nd4c_derived_key *key, nd4c_array *array);
/* Ends one use of an array that was found or added. The last one forgets it. */
void nd4c_derived_drop(const nd4c_array *array);

#endif
