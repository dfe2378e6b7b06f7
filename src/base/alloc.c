/* Implements alloc.h over malloc, and counts allocations so that a test can make one of them fail. Handles, tables and
 * texts of all of src come from here; recycle.c and threads/pages.c ask it when such a test is running. */
#include "base/alloc.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

static _Atomic int64_t allocation_number;
static _Atomic int64_t failing_number = -1;

void nd4c_allocation_fail_at(int64_t skip) {
  atomic_store(&failing_number, skip < 0 ? -1 : atomic_load(&allocation_number) + skip);
}

int64_t nd4c_allocation_count(void) {
  return atomic_load(&allocation_number);
}

int nd4c_allocation_should_fail(void) {
  int64_t number = atomic_fetch_add_explicit(&allocation_number, 1, memory_order_relaxed);
  return number == atomic_load_explicit(&failing_number, memory_order_relaxed);
}

int nd4c_allocation_is_awaited(void) {
  return atomic_load_explicit(&failing_number, memory_order_relaxed) >= 0;
}

void *nd4c_allocate(size_t bytes) {
  return nd4c_allocation_should_fail() ? NULL : malloc(bytes > 0 ? bytes : 1);
}

void *nd4c_allocate_zeroed(size_t count, size_t size) {
  return nd4c_allocation_should_fail() ? NULL : calloc(count > 0 ? count : 1, size > 0 ? size : 1);
}

void *nd4c_reallocate(void *memory, size_t bytes) {
  return nd4c_allocation_should_fail() ? NULL : realloc(memory, bytes > 0 ? bytes : 1);
}

void nd4c_deallocate(void *memory) {
  free(memory);
}

char *nd4c_duplicate_text(const char *text) {
  size_t bytes = strlen(text) + 1;
  char *copy = nd4c_allocate(bytes);
  if (copy != NULL) {
    memcpy(copy, text, bytes);
  }
  return copy;
}

int32_t nd4c_fail_memory(const char *what, size_t bytes) {
  return nd4c_fail(ND4C_MEMORY, "no memory for %s (%zu bytes)", what, bytes);
}

int32_t nd4c_allocate_or_fail(size_t count, size_t size, const char *what, void *items) {
  void *made = nd4c_allocate_zeroed(count, size);
  if (made == NULL) {
    return nd4c_fail_memory(what, count * size);
  }
  memcpy(items, &made, sizeof made);
  return ND4C_OK;
}

void *nd4c_allocate_aligned(size_t alignment, size_t bytes) {
  size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  return rounded < bytes || nd4c_allocation_should_fail() ? NULL : aligned_alloc(alignment, rounded);
}
