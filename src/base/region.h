/* A region of small host memory that is given back all at once: what a graph or a plan owns lives in one. Not
 * thread-safe; everything in it lives until nd4c_region_free. */
#ifndef ND4C_BASE_REGION_H
#define ND4C_BASE_REGION_H

#include <stddef.h>
#include <stdint.h>

typedef struct nd4c_region {
  struct nd4c_region_chunk *chunks;
} nd4c_region;

/* `count` zeroed items of `size` bytes, aligned for any type; NULL (with the error text set, code MEMORY or OVERFLOW)
 * if there is no memory. */
void *nd4c_region_take(nd4c_region *region, int64_t count, size_t size);
/* A copy of `count` items; for count 0 a valid pointer to nothing. */
void *nd4c_region_copy(nd4c_region *region, const void *items, int64_t count, size_t size);
/* A copy of a text; NULL stays NULL without an error. */
char *nd4c_region_text(nd4c_region *region, const char *text);
void nd4c_region_free(nd4c_region *region);

/* Makes room in a growing array of the heap: at least `count` items. Returns MEMORY or OVERFLOW as a status; then the
 * array is as it was. */
int32_t nd4c_grow(void **items, int32_t *capacity, int32_t count, size_t size, const char *what);

#endif
