/* A region of small host memory whose blocks are freed together. Graphs and plans (graph), parsed files (import) and
 * archives (io) each own one. The caller serialises the functions of one region. */
#ifndef ND4C_BASE_REGION_H
#define ND4C_BASE_REGION_H

#include <stddef.h>
#include <stdint.h>

typedef struct nd4c_region_chunk nd4c_region_chunk;

/* Zero-initialised is empty and unlimited. */
typedef struct nd4c_region {
  nd4c_region_chunk *chunks; /* the newest first */
  size_t total;
  size_t limit; /* for all chunks together; 0: none. It keeps a small hostile file from allocating much memory. */
} nd4c_region;

/* `count` zeroed items of `size` bytes, aligned for any type, valid until nd4c_region_free. NULL after a failure, with
 * MEMORY or OVERFLOW in the thread's error. For count 0 a valid pointer to nothing. */
void *nd4c_region_take(nd4c_region *region, int64_t count, size_t size);
/* The same as a status; *block points to the items. */
int32_t nd4c_region_make(nd4c_region *region, int64_t count, size_t size, void *block);
/* The same with `what` for the text: *block points to the items. MEMORY, OVERFLOW, or FORMAT beyond the
 * limit. */
int32_t nd4c_region_claim(nd4c_region *region, size_t count, size_t size, const char *what, void *block);
/* A copy of `count` items; for count 0 a valid pointer to nothing. */
void *nd4c_region_copy(nd4c_region *region, const void *items, int64_t count, size_t size);
/* A copy of a text; NULL stays NULL without an error. */
char *nd4c_region_text(nd4c_region *region, const char *text);
/* Frees every block; the region is empty again and keeps its limit. */
void nd4c_region_free(nd4c_region *region);

/* A growing list in a region: a block that is replaced by one of twice the size when it is full. */
typedef struct nd4c_region_list {
  void *items;
  int32_t count, capacity;
} nd4c_region_list;
/* Appends one zeroed item of `size` bytes; *item points to it until the next append. */
int32_t nd4c_region_append(nd4c_region *region, nd4c_region_list *list, size_t size, const char *what, void *item);

/* Makes room for at least `count` items in a growing array on the heap. `items` is the address of the array's pointer,
 * of any type. MEMORY or OVERFLOW: the array is unchanged. */
int32_t nd4c_grow(void *items, int32_t *capacity, int32_t count, size_t size, const char *what);

#endif
