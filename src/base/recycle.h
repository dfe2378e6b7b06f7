/* Recycles small blocks that every call allocates and frees (fences, records of launches and copies), so that a warm
 * program makes no system calls for them. Each thread has short lists without a lock. A thread that returns more blocks
 * than it takes moves the surplus in batches to lists that all threads share. Called by array, device, dispatch and
 * submit. */
#ifndef ND4C_BASE_RECYCLE_H
#define ND4C_BASE_RECYCLE_H

#include <stddef.h>

#include "base/compiler.h"

/* 0 under AddressSanitizer: every block then comes from the system, so that a use after free is reported. */
enum { ND4C_RECYCLES = ND4C_RED_ZONE == 0 };
/* Size of the largest recycled block; larger ones are allocated and freed by the system. */
enum { ND4C_RECYCLE_LARGEST = 64 * 1024 };

/* Bytes that a block has which is taken with `bytes`: those of its class. */
size_t nd4c_recycle_size(size_t bytes);
/* A zeroed block; NULL if memory is exhausted. While a test waits for an allocation to fail, every block is a fresh
 * allocation, so that recycling hides no failure. */
void *nd4c_recycle_take(size_t bytes);
/* As nd4c_recycle_take, contents undefined. */
void *nd4c_recycle_take_raw(size_t bytes);
/* A block of `wanted` bytes that begins with the first `used` bytes of `block`, which has `bytes` bytes and is
 * returned. block NULL: a new block. NULL if memory is exhausted: the old block is then unchanged. */
void *nd4c_recycle_grow(void *block, size_t used, size_t bytes, size_t wanted);
/* Returns a block, on any thread, with the size it was taken with. NULL is fine. */
void nd4c_recycle_give(void *block, size_t bytes);
/* Frees the blocks in the calling thread's lists and in the shared ones. */
void nd4c_recycle_trim(void);

#endif
