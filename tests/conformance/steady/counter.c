/* The functions that replace malloc, related functions and mmap in nd4c_steady, with counts for each object file. The
 * program calls this file through counter.h, the loaded libraries call it as their allocator. */
#define _GNU_SOURCE /* dl_iterate_phdr, syscall, the names of malloc's kin */
#include "counter.h"

#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The C library's functions, under the names that it keeps for programs that replace them. */
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);

enum { OBJECTS = 128, NAME_SIZE = 48 };
/* Above this size nd4c keeps no work space (src/base/threads/pages.c), so larger mappings are not counted. */
static const size_t kept_at_most = (size_t)64 << 20;

/* The program comes first in the loader's list. */
static struct {
  char name[NAME_SIZE];
  uintptr_t begin, end;
  _Atomic int64_t count;
} objects[OBJECTS];
static int32_t object_count;
static atomic_bool counts;

static int enter(struct dl_phdr_info *info, size_t size, void *user) {
  uintptr_t begin = UINTPTR_MAX, end = 0;
  (void)size;
  (void)user;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    if (info->dlpi_phdr[i].p_type == PT_LOAD) {
      uintptr_t from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, to = from + info->dlpi_phdr[i].p_memsz;
      begin = from < begin ? from : begin;
      end = to > end ? to : end;
    }
  }
  if (object_count < OBJECTS) {
    const char *file = strrchr(info->dlpi_name, '/');
    (void)snprintf(objects[object_count].name, NAME_SIZE, "%s", file != NULL ? file + 1 : info->dlpi_name);
    objects[object_count].begin = begin;
    objects[object_count++].end = end;
  }
  return 0;
}

void counter_refresh(void) {
  object_count = 0;
  (void)dl_iterate_phdr(enter, NULL);
}

void counter_start(void) {
  for (int32_t i = 0; i < object_count; i++) {
    atomic_store(&objects[i].count, 0);
  }
  atomic_store(&counts, true);
}

void counter_stop(void) {
  atomic_store(&counts, false);
}

const char *counter_of(int32_t index, int64_t *count) {
  if (index >= object_count) {
    return NULL;
  }
  *count = atomic_load(&objects[index].count);
  return objects[index].name;
}

int64_t counter_own(void) {
  int64_t own = atomic_load(&objects[0].count);
  for (int32_t i = 1; i < object_count; i++) {
    own += strncmp(objects[i].name, "libc.so", 7) == 0 ? atomic_load(&objects[i].count) : 0;
  }
  return own;
}

static void note(const void *caller) {
  if (!atomic_load_explicit(&counts, memory_order_relaxed)) {
    return;
  }
  uintptr_t address = (uintptr_t)caller;
  for (int32_t i = 0; i < object_count; i++) {
    if (address >= objects[i].begin && address < objects[i].end) {
      atomic_fetch_add(&objects[i].count, 1);
      return;
    }
  }
}

#define NOTE_CALLER note(__builtin_return_address(0))
/* Seen by the libraries, too. */
#define SEEN __attribute__((visibility("default")))

SEEN void *malloc(size_t bytes) {
  NOTE_CALLER;
  return __libc_malloc(bytes);
}

SEEN void *calloc(size_t count, size_t size) {
  NOTE_CALLER;
  return __libc_calloc(count, size);
}

SEEN void *realloc(void *memory, size_t bytes) {
  NOTE_CALLER;
  return __libc_realloc(memory, bytes);
}

SEEN void *memalign(size_t alignment, size_t bytes) {
  NOTE_CALLER;
  return __libc_memalign(alignment, bytes);
}

SEEN void *aligned_alloc(size_t alignment, size_t bytes) {
  NOTE_CALLER;
  return __libc_memalign(alignment, bytes);
}

SEEN int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  NOTE_CALLER;
  *memory = __libc_memalign(alignment, bytes);
  return *memory != NULL ? 0 : ENOMEM;
}

SEEN void *mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset) {
  if (bytes <= kept_at_most) {
    NOTE_CALLER;
  }
  long mapped = syscall(SYS_mmap, address, bytes, protection, flags, file, offset);
  return (void *)mapped;
}
