/* Implements region.h: chunks of memory that are filled one after the other. graph and import allocate here while they
 * build graphs and parse models. */
#include "base/region.h"

#include <stdalign.h>
#include <string.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/recycle.h"
#include "base/status.h"

struct nd4c_region_chunk {
  nd4c_region_chunk *next;
  size_t used, size; /* of the bytes */
  alignas(max_align_t) char bytes[];
};

/* Chunks are recycled: a plan that binds to new extents gives back the tables of an old binding, and takes as much. One
 * with its header has the size of a class of recycle.c. */
enum { CHUNK_BYTES = 16384 - sizeof(nd4c_region_chunk), LIST_START = 4, LIST_LIMIT = 1 << 28 };

static nd4c_status add_chunk(nd4c_region *region, size_t bytes, const char *what) {
  const size_t least = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
  const size_t size = nd4c_recycle_size(sizeof(nd4c_region_chunk) + least) - sizeof(nd4c_region_chunk);
  if (region->limit > 0 && (size > region->limit || region->total > region->limit - size)) {
    return nd4c_fail(ND4C_FORMAT, "%s would take more than the %zu bytes that a file of this size may", what,
                     region->limit);
  }
  nd4c_region_chunk *chunk = nd4c_recycle_take_raw(sizeof *chunk + size);
  if (chunk == NULL) {
    return nd4c_fail_memory(what, sizeof *chunk + size);
  }
  chunk->used = 0;
  chunk->size = size;
  chunk->next = region->chunks;
  region->chunks = chunk;
  region->total += size;
  return ND4C_OK;
}

/* `bytes`: of the block, rounded up to what a chunk gives. */
static nd4c_status claim_raw(nd4c_region *region, size_t count, size_t size, const char *what, void **block,
                             size_t *bytes) {
  const size_t unit = alignof(max_align_t);
  size_t wanted = 0;
  if (__builtin_mul_overflow(count, size, &wanted) || wanted > SIZE_MAX / 4) {
    return nd4c_fail(ND4C_OVERFLOW, "%s: %zu items of %zu bytes", what, count, size);
  }
  *bytes = (wanted + unit - 1) / unit * unit;
  const size_t taken = *bytes + ND4C_RED_ZONE;
  if (region->chunks == NULL || region->chunks->size - region->chunks->used < taken) {
    ND4C_TRY(add_chunk(region, taken, what));
  }
  nd4c_region_chunk *chunk = region->chunks;
  char *zone = chunk->bytes + chunk->used;
  *block = zone + ND4C_RED_ZONE;
  ND4C_FORBID(zone, ND4C_RED_ZONE);
  chunk->used += taken;
  return ND4C_OK;
}

int32_t nd4c_region_claim(nd4c_region *region, size_t count, size_t size, const char *what, void *block) {
  void *items = NULL;
  size_t bytes = 0;
  ND4C_TRY(claim_raw(region, count, size, what, &items, &bytes));
  memset(items, 0, bytes); /* zeroes the taken part, not the chunk: most regions stay small */
  memcpy(block, &items, sizeof items);
  return ND4C_OK;
}

int32_t nd4c_region_make(nd4c_region *region, int64_t count, size_t size, void *block) {
  /* A negative count is larger than any memory as a size. */
  return nd4c_region_claim(region, (size_t)count, size, "tables of a graph", block);
}

void *nd4c_region_take(nd4c_region *region, int64_t count, size_t size) {
  void *items = NULL;
  return nd4c_region_make(region, count, size, &items) == ND4C_OK ? items : NULL;
}

void *nd4c_region_copy(nd4c_region *region, const void *items, int64_t count, size_t size) {
  void *copy = NULL;
  size_t bytes = 0;
  if (claim_raw(region, (size_t)count, size, "tables of a graph", &copy, &bytes) != ND4C_OK) {
    return NULL;
  }
  if (count > 0) {
    memcpy(copy, items, (size_t)count * size);
  }
  return copy;
}

char *nd4c_region_text(nd4c_region *region, const char *text) {
  return text == NULL ? NULL : nd4c_region_copy(region, text, (int64_t)strlen(text) + 1, 1);
}

void nd4c_region_free(nd4c_region *region) {
  while (region->chunks != NULL) {
    nd4c_region_chunk *next = region->chunks->next;
    nd4c_recycle_give(region->chunks, sizeof *region->chunks + region->chunks->size);
    region->chunks = next;
  }
  region->total = 0;
}

int32_t nd4c_region_append(nd4c_region *region, nd4c_region_list *list, size_t size, const char *what, void *item) {
  if (list->count == list->capacity) {
    if (list->capacity >= LIST_LIMIT) {
      return nd4c_fail(ND4C_FORMAT, "more than %d %s", (int)LIST_LIMIT, what);
    }
    int32_t capacity = list->capacity == 0 ? LIST_START : 2 * list->capacity;
    void *items = NULL;
    ND4C_TRY(nd4c_region_claim(region, (size_t)capacity, size, what, &items));
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

int32_t nd4c_grow(void *items, int32_t *capacity, int32_t count, size_t size, const char *what) {
  if (count <= *capacity) {
    return ND4C_OK;
  }
  int64_t wanted = *capacity < 16 ? 16 : (int64_t)*capacity * 2;
  wanted = wanted < count ? count : wanted;
  if (wanted > INT32_MAX) {
    return nd4c_fail(ND4C_OVERFLOW, "%s: more than %d are not possible", what, INT32_MAX);
  }
  void *grown = NULL;
  memcpy(&grown, items, sizeof grown);
  grown = nd4c_reallocate(grown, (size_t)wanted * size);
  if (grown == NULL) {
    return nd4c_fail_memory(what, (size_t)wanted * size);
  }
  memcpy(items, &grown, sizeof grown);
  *capacity = (int32_t)wanted;
  return ND4C_OK;
}
