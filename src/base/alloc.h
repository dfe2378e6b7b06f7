/* Small host memory of the library itself (handles, tables, texts). Bulk memory of arrays comes from src/device. */
#ifndef ND4C_BASE_ALLOC_H
#define ND4C_BASE_ALLOC_H

#include <stddef.h>
#include <stdint.h>

/* NULL when there is none; the caller reports ND4C_MEMORY (nd4c_fail_memory). Freed with nd4c_deallocate. */
void *nd4c_allocate(size_t bytes);
void *nd4c_allocate_zeroed(size_t count, size_t size);
/* Aligned to a power of two of at least sizeof(void *). */
void *nd4c_allocate_aligned(size_t alignment, size_t bytes);
/* Grows or shrinks; on NULL the old block is intact. */
void *nd4c_reallocate(void *memory, size_t bytes);
void nd4c_deallocate(void *memory);
/* Copy of a text, or NULL. */
char *nd4c_duplicate_text(const char *text);

/* Reports that `bytes` of host memory for `what` could not be had. Returns ND4C_MEMORY. */
int32_t nd4c_fail_memory(const char *what, size_t bytes);

/* For tests: every allocation of this module and of src/device passes here; from the `skip`-th next one on (counting
 * from 0) exactly one fails. Negative: none fails. nd4c_allocation_count counts them since the process began. */
void nd4c_allocation_fail_at(int64_t skip);
int64_t nd4c_allocation_count(void);
/* True if the allocation that is about to happen is to fail: for allocators outside this module. */
int nd4c_allocation_should_fail(void);
/* True between nd4c_allocation_fail_at and its end, also once the failure has come: what keeps blocks for reuse then
 * hands out none of them. */
int nd4c_allocation_is_awaited(void);

#endif
