/* Work space of ops that the library itself computes (dispatch/host_ops.h): recycled as that of kernels is. */
#ifndef ND4C_DISPATCH_WORK_H
#define ND4C_DISPATCH_WORK_H

#include <stddef.h>

/* Zero-initialised is empty. Of one call, on its thread. */
typedef struct nd4c_work {
  struct nd4c_work_block *first;
} nd4c_work;

/* `count` elements of `size` bytes, zero, aligned for whatever they are, until the work ends: nobody frees them one by
 * one. NULL when there is no memory, which the caller tells. */
void *nd4c_work_take(nd4c_work *work, size_t count, size_t size);
/* Gives back all that was taken. */
void nd4c_work_end(nd4c_work *work);

#endif
