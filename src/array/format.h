/* Arrays as text, the way NumPy prints them. */
#ifndef ND4C_ARRAY_FORMAT_H
#define ND4C_ARRAY_FORMAT_H

#include "array/array.h"

/* Text of `array`, whose element 0 is readable at `element0` (NULL only if it is empty), as nd4c_array_format. Elements
 * of utf8 point into the storage's bytes; one that points outside of them is refused with ND4C_FORMAT. */
nd4c_status nd4c_format_text(const nd4c_array *array, const void *element0, const nd4c_print_options *options,
                             char **text);

/* How many elements of each axis the text shows, of a cut one half of them at each end; all: none is cut. */
nd4c_status nd4c_format_shown(const nd4c_array *array, const nd4c_print_options *options, int64_t *counts, bool *all);
/* The same text out of the elements that it shows alone, in C order at `shown`. Neither packed dtypes nor utf8. */
nd4c_status nd4c_format_gathered(const nd4c_array *array, const void *shown, const nd4c_print_options *options,
                                 char **text);

#endif
