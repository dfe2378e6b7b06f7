#include "base/region.h"

#include <string.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/status.h"

enum { CHUNK_BYTES = 16384, ALIGNMENT = 16 };

typedef struct nd4c_region_chunk {
  struct nd4c_region_chunk *next;
  size_t used, size; /* of the bytes behind this header */
} nd4c_region_chunk;

/* The header's size, rounded so that what follows is aligned. */
static const size_t header_bytes = (sizeof(nd4c_region_chunk) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

static nd4c_region_chunk *chunk_add(nd4c_region *region, size_t bytes) {
  size_t size = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
  nd4c_region_chunk *chunk = nd4c_allocate(header_bytes + size);
  if (chunk == NULL) {
    (void)nd4c_fail_memory("a graph", header_bytes + size);
    return NULL;
  }
  chunk->used = 0;
  chunk->size = size;
  chunk->next = region->chunks;
  region->chunks = chunk;
  return chunk;
}

void *nd4c_region_take(nd4c_region *region, int64_t count, size_t size) {
  size_t bytes = 0;
  if (count < 0 || __builtin_mul_overflow((size_t)count, size, &bytes) || bytes > SIZE_MAX / 4) {
    (void)nd4c_fail(ND4C_OVERFLOW, "a graph asks for %lld items of %zu bytes", (long long)count, size);
    return NULL;
  }
  bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  nd4c_region_chunk *chunk = region->chunks;
  if (chunk == NULL || chunk->size - chunk->used < bytes + ND4C_RED_ZONE) {
    chunk = chunk_add(region, bytes + ND4C_RED_ZONE);
    if (chunk == NULL) {
      return NULL;
    }
  }
  char *zone = (char *)chunk + header_bytes + chunk->used;
  void *items = zone + ND4C_RED_ZONE;
  ND4C_FORBID(zone, ND4C_RED_ZONE);
  chunk->used += bytes + ND4C_RED_ZONE;
  memset(items, 0, bytes);
  return items;
}

void *nd4c_region_copy(nd4c_region *region, const void *items, int64_t count, size_t size) {
  void *copy = nd4c_region_take(region, count, size);
  if (copy != NULL && count > 0) {
    memcpy(copy, items, (size_t)count * size);
  }
  return copy;
}

char *nd4c_region_text(nd4c_region *region, const char *text) {
  return text == NULL ? NULL : nd4c_region_copy(region, text, (int64_t)strlen(text) + 1, 1);
}

void nd4c_region_free(nd4c_region *region) {
  nd4c_region_chunk *chunk = region->chunks;
  while (chunk != NULL) {
    nd4c_region_chunk *next = chunk->next;
    nd4c_deallocate(chunk);
    chunk = next;
  }
  region->chunks = NULL;
}

int32_t nd4c_grow(void **items, int32_t *capacity, int32_t count, size_t size, const char *what) {
  if (count <= *capacity) {
    return ND4C_OK;
  }
  int64_t wanted = *capacity < 16 ? 16 : (int64_t)*capacity * 2;
  wanted = wanted < count ? count : wanted;
  if (wanted > INT32_MAX) {
    return nd4c_fail(ND4C_OVERFLOW, "%s: more than %d are not possible", what, INT32_MAX);
  }
  void *grown = nd4c_reallocate(*items, (size_t)wanted * size);
  if (grown == NULL) {
    return nd4c_fail_memory(what, (size_t)wanted * size);
  }
  *items = grown;
  *capacity = (int32_t)wanted;
  return ND4C_OK;
}
