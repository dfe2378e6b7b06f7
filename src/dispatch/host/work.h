/* Scratch of ops that the library itself computes (dispatch/host_ops.h), recycled like the scratch of kernels. Ops on
 * text and pictures take it; dispatch/call.c frees it. */
#ifndef ND4C_DISPATCH_HOST_WORK_H
#define ND4C_DISPATCH_HOST_WORK_H

#include <stddef.h>

/* Zero-initialised is empty. Belongs to one call, on its thread. */
typedef struct nd4c_work {
  struct nd4c_work_block *first;
} nd4c_work;

/* `count` zeroed elements of `size` bytes, aligned for any type, freed together at the end of the call. NULL if memory
 * is exhausted, which the caller reports. */
void *nd4c_work_take(nd4c_work *work, size_t count, size_t size);
/* Frees everything that was taken. */
void nd4c_work_end(nd4c_work *work);

#endif
