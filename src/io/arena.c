#include "io/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

enum { CHUNK_BYTES = 32 * 1024, LIST_START = 4, LIST_LIMIT = 1 << 28 };

struct nd4c_arena_chunk {
  nd4c_arena_chunk *next;
  size_t size;
  alignas(max_align_t) unsigned char bytes[];
};

static nd4c_status add_chunk(nd4c_arena *arena, size_t bytes, const char *what) {
  size_t size = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
  if (arena->limit > 0 && (size > arena->limit || arena->total > arena->limit - size)) {
    return nd4c_fail(ND4C_FORMAT, "%s would take more than the %zu bytes that a file of this size may", what,
                     arena->limit);
  }
  nd4c_arena_chunk *chunk = nd4c_allocate_zeroed(1, sizeof *chunk + size);
  if (chunk == NULL) {
    return nd4c_fail_memory(what, sizeof *chunk + size);
  }
  chunk->next = arena->chunks;
  chunk->size = size;
  arena->chunks = chunk;
  arena->used = 0;
  arena->total += size;
  return ND4C_OK;
}

nd4c_status nd4c_arena_take(nd4c_arena *arena, size_t count, size_t size, const char *what, void *block) {
  size_t bytes = 0;
  size_t unit = alignof(max_align_t);
  if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 4) {
    return nd4c_fail(ND4C_OVERFLOW, "%s: %zu items of %zu bytes", what, count, size);
  }
  bytes = bytes == 0 ? unit : (bytes + unit - 1) / unit * unit;
  if (arena->chunks == NULL || arena->chunks->size - arena->used < bytes) {
    ND4C_TRY(add_chunk(arena, bytes, what));
  }
  void *taken = arena->chunks->bytes + arena->used;
  arena->used += bytes;
  memcpy(block, &taken, sizeof taken);
  return ND4C_OK;
}

void nd4c_arena_free(nd4c_arena *arena) {
  while (arena->chunks != NULL) {
    nd4c_arena_chunk *next = arena->chunks->next;
    nd4c_deallocate(arena->chunks);
    arena->chunks = next;
  }
  arena->used = 0;
  arena->total = 0;
}

nd4c_status nd4c_arena_append(nd4c_arena *arena, nd4c_arena_list *list, size_t size, const char *what, void *item) {
  if (list->count == list->capacity) {
    if (list->capacity >= LIST_LIMIT) {
      return nd4c_fail(ND4C_FORMAT, "more than %d %s", (int)LIST_LIMIT, what);
    }
    int32_t capacity = list->capacity == 0 ? LIST_START : 2 * list->capacity;
    void *items = NULL;
    ND4C_TRY(nd4c_arena_take(arena, (size_t)capacity, size, what, &items));
    if (list->count > 0) {
      memcpy(items, list->items, (size_t)list->count * size);
    }
    list->items = items;
    list->capacity = capacity;
  }
  void *slot = (unsigned char *)list->items + (size_t)list->count * size;
  list->count++;
  memcpy(item, &slot, sizeof slot);
  return ND4C_OK;
}
