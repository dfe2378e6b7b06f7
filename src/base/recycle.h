/* Small blocks that come and go with every call (fences, records of launches and copies): kept when they are given
 * back, so that a warm program asks the system for none. A few in lists of each thread's own, without a lock; what a
 * thread has too many of, since it gives back what others took, goes over in batches to lists that all threads share.
 */
#ifndef ND4C_BASE_RECYCLE_H
#define ND4C_BASE_RECYCLE_H

#include <stddef.h>

#include "base/compiler.h"

/* 0 where AddressSanitizer watches: every block is then the system's own, so that a use behind its end is seen. */
enum { ND4C_RECYCLES = ND4C_RED_ZONE == 0 };
/* Bytes of the largest block that is kept; larger ones come from the system and go back there. */
enum { ND4C_RECYCLE_LARGEST = 64 * 1024 };

/* A zeroed block; NULL when there is no memory. While a test waits for an allocation to fail each block is a fresh
 * allocation, so that what is kept hides no failure. */
void *nd4c_recycle_take(size_t bytes);
/* As nd4c_recycle_take, with whatever stands in it. */
void *nd4c_recycle_take_raw(size_t bytes);
/* A block of `wanted` bytes that begins with the first `used` ones of this one of `bytes`, which is given back; block
 * NULL: of nothing. NULL without memory: then the old block is intact. */
void *nd4c_recycle_grow(void *block, size_t used, size_t bytes, size_t wanted);
/* Gives it back, on any thread, with the size it was taken with. NULL is fine. */
void nd4c_recycle_give(void *block, size_t bytes);
/* Frees what the calling thread keeps, and what all share. */
void nd4c_recycle_trim(void);

#endif
