/* Small host memory of the library itself: handles, tables, texts. All of src calls it. Memory of arrays comes from
 * src/device. */
#ifndef ND4C_BASE_ALLOC_H
#define ND4C_BASE_ALLOC_H

#include <stddef.h>
#include <stdint.h>

/* NULL if memory is exhausted; the caller reports ND4C_MEMORY (nd4c_fail_memory). Free with nd4c_deallocate. */
void *nd4c_allocate(size_t bytes);
void *nd4c_allocate_zeroed(size_t count, size_t size);
/* Aligned to a power of two of at least sizeof(void *). */
void *nd4c_allocate_aligned(size_t alignment, size_t bytes);
/* Grows or shrinks a block; on NULL the old block is unchanged. */
void *nd4c_reallocate(void *memory, size_t bytes);
void nd4c_deallocate(void *memory);
/* Copy of a text, or NULL. */
char *nd4c_duplicate_text(const char *text);

/* nd4c_allocate_zeroed as a status: *items points to the items. MEMORY, with `what` in the text: *items is unchanged.
 */
int32_t nd4c_allocate_or_fail(size_t count, size_t size, const char *what, void *items);

/* Reports that allocating `bytes` of host memory for `what` failed. Returns ND4C_MEMORY. */
int32_t nd4c_fail_memory(const char *what, size_t bytes);

/* For tests: makes one of the next allocations of this module and of src/device fail, number `skip` from now (counting
 * from 0). Negative: none fails. nd4c_allocation_count counts them since the process began. */
void nd4c_allocation_fail_at(int64_t skip);
int64_t nd4c_allocation_count(void);
/* Allocators outside this module ask before each allocation: true if it must fail. */
int nd4c_allocation_should_fail(void);
/* True from nd4c_allocation_fail_at until a test ends it, also after the failure. Caches of blocks then hand out
 * none. */
int nd4c_allocation_is_awaited(void);

#endif
