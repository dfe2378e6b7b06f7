/* Mapped pages: bulk memory in whole pages, for the host table (device/memory/host.c) and kernels' scratch. Every call
 * takes and returns scratch, so returned blocks are kept, and a warm program neither maps them nor faults them in
 * again: up to 256 blocks of at most 64 MiB, 256 MiB in total, or less if nd4c.memory.cache says so. All threads share
 * one list. */
#ifndef ND4C_BASE_THREADS_PAGES_H
#define ND4C_BASE_THREADS_PAGES_H

#include <stdbool.h>
#include <stddef.h>

/* Scratch, zeroed or with undefined contents; NULL if memory is exhausted. Always fresh under AddressSanitizer and
 * while a test waits for an allocation to fail (base/recycle.h). */
void *nd4c_pages_take(size_t bytes, bool zeroed);
/* Returns a block, on any thread, with the size it was taken with. NULL is fine. */
void nd4c_pages_give(void *memory, size_t bytes);
/* Unmaps all kept blocks. */
void nd4c_pages_trim(void);

/* Fresh pages, zero on first use, for memory that lives longer or that its owner caches. If the system refuses, the
 * kept blocks are unmapped and the call tries again. */
void *nd4c_pages_map(size_t bytes);
void nd4c_pages_unmap(void *memory, size_t bytes);

#endif
