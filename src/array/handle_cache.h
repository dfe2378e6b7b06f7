/* Memory for array handles: a short list for each thread, so that making and releasing an array costs no malloc.
 * array.c calls it. */
#ifndef ND4C_ARRAY_HANDLE_CACHE_H
#define ND4C_ARRAY_HANDLE_CACHE_H

#include "array/array.h"

/* A block for a handle, contents undefined; NULL when there is no memory. */
nd4c_array *nd4c_handle_take(void);
/* Returns a block, on any thread, and marks it dead. Debug builds keep it for a while. */
void nd4c_handle_recycle(nd4c_array *array);

#endif
