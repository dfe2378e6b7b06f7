/* Converts one element from and to a double, for scalars and fills (device/access) and for casts from strings
 * (dispatch/text). */
#ifndef ND4C_ARRAY_ELEMENT_H
#define ND4C_ARRAY_ELEMENT_H

#include "nd4c/dtype.h"

/* Integers truncate toward zero and saturate, NaN gives 0; complex gets a zero imaginary part. Narrow ones
 * as nd4c_narrow_from_double says; packed ones are a code in a byte. Not for utf8. */
void nd4c_element_from_double(nd4c_dtype dtype, double value, void *element);
/* The real part of complex. 0 for utf8. */
double nd4c_element_to_double(nd4c_dtype dtype, const void *element);

/* The same for element `index` of memory that begins at a whole block, packed or not. */
void nd4c_element_set(nd4c_dtype dtype, void *elements, int64_t index, double value);
double nd4c_element_get(nd4c_dtype dtype, const void *elements, int64_t index);

#endif
