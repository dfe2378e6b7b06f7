/* One element from and to a double. */
#ifndef ND4C_ARRAY_ELEMENT_H
#define ND4C_ARRAY_ELEMENT_H

#include "nd4c/dtype.h"

/* Integers truncate toward zero and saturate, NaN gives 0; complex gets a zero imaginary part. Not for utf8. */
void nd4c_element_from_double(nd4c_dtype dtype, double value, void *element);
/* The real part of complex. 0 for utf8. */
double nd4c_element_to_double(nd4c_dtype dtype, const void *element);

#endif
