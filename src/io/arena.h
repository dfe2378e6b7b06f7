/* Memory of a parsed file: many small blocks that live and die together. */
#ifndef ND4C_IO_ARENA_H
#define ND4C_IO_ARENA_H

#include <stddef.h>

#include "nd4c/status.h"

typedef struct nd4c_arena_chunk nd4c_arena_chunk;

/* Zero-initialised is empty and unlimited. */
typedef struct nd4c_arena {
  nd4c_arena_chunk *chunks; /* the newest first */
  size_t used;              /* bytes of the newest chunk */
  size_t total;
  size_t limit; /* all chunks together; 0: none. What keeps a small hostile file from asking for much memory. */
} nd4c_arena;

/* count * size zeroed bytes, aligned for any object. MEMORY, or FORMAT beyond the limit; `what` for the text. */
nd4c_status nd4c_arena_take(nd4c_arena *arena, size_t count, size_t size, const char *what, void *block);
/* Frees everything. */
void nd4c_arena_free(nd4c_arena *arena);

/* A growing list in an arena: a block that is replaced by one of twice the size when it is full. */
typedef struct nd4c_arena_list {
  void *items;
  int32_t count, capacity;
} nd4c_arena_list;
/* Appends one zeroed item of `size` bytes; *item points to it until the next append. */
nd4c_status nd4c_arena_append(nd4c_arena *arena, nd4c_arena_list *list, size_t size, const char *what, void *item);

#endif
