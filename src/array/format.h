/* Arrays as text, the way NumPy prints them. device/access/print.c calls it, after it has copied the elements to the
 * host. */
#ifndef ND4C_ARRAY_FORMAT_H
#define ND4C_ARRAY_FORMAT_H

#include "array/array.h"

/* Text of `array`, whose element 0 is readable at `element0` (NULL only if it is empty), as nd4c_array_format. Elements
 * of utf8 refer to the storage's bytes; FORMAT if one refers to bytes outside them. */
nd4c_status nd4c_format_text(const nd4c_array *array, const void *element0, const nd4c_print_options *options,
                             char **text);

/* How many elements of each axis the text shows; a summarised axis shows half of them at each end. *all: no axis is
 * summarised. */
nd4c_status nd4c_format_shown(const nd4c_array *array, const nd4c_print_options *options, int64_t *counts, bool *all);
/* The same text from only the shown elements, in C order at `shown`. Not for packed dtypes and utf8. */
nd4c_status nd4c_format_gathered(const nd4c_array *array, const void *shown, const nd4c_print_options *options,
                                 char **text);

#endif
