/* Mapped pages: bulk memory of whole pages. What kernels work in comes and goes with every call, and is kept when it is
 * given back, so that a warm program neither maps it nor faults it in again: up to 256 blocks of at most 64 MiB,
 * 256 MiB in all, or less where nd4c.memory.cache allows less. One list for all threads. */
#ifndef ND4C_BASE_PAGES_H
#define ND4C_BASE_PAGES_H

#include <stdbool.h>
#include <stddef.h>

/* Work space, zeroed or with whatever stands in it; NULL when there is no memory. Fresh where AddressSanitizer watches,
 * and while a test waits for an allocation to fail (base/recycle.h). */
void *nd4c_pages_take(size_t bytes, bool zeroed);
/* Gives it back, on any thread, with the size it was taken with. NULL is fine. */
void nd4c_pages_give(void *memory, size_t bytes);
/* Gives the system all that is kept. */
void nd4c_pages_trim(void);

/* Pages of their own, zero on first use, for what lives longer or is kept by somebody else. What is kept here goes
 * before the system's refusal counts. */
void *nd4c_pages_map(size_t bytes);
void nd4c_pages_unmap(void *memory, size_t bytes);

#endif
