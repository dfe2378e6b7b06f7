#include "dispatch/work.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "device/host.h"

/* Larger blocks are recycled by nobody; the system's are zero without being touched, which counts where a file's head
 * lies about its extents. */
enum { RECYCLED_AT_MOST = 16 * 1024 * 1024 };

typedef struct nd4c_work_block {
  _Alignas(max_align_t) struct nd4c_work_block *next;
  size_t bytes; /* with this head */
} nd4c_work_block;

void *nd4c_work_take(nd4c_work *work, size_t count, size_t size) {
  if (size > 0 && count > (SIZE_MAX - sizeof(nd4c_work_block)) / size) {
    return NULL;
  }
  size_t bytes = sizeof(nd4c_work_block) + count * size;
  bool recycled = bytes <= RECYCLED_AT_MOST;
  nd4c_work_block *block = recycled ? nd4c_host_table()->allocate_pages(bytes) : nd4c_allocate_zeroed(1, bytes);
  if (block == NULL) {
    return NULL;
  }
  block->next = work->first;
  block->bytes = bytes;
  work->first = block;
  return recycled ? memset(block + 1, 0, count * size) : block + 1;
}

void nd4c_work_end(nd4c_work *work) {
  while (work->first != NULL) {
    nd4c_work_block *block = work->first;
    work->first = block->next;
    if (block->bytes <= RECYCLED_AT_MOST) {
      nd4c_host_table()->free_pages(block, block->bytes);
    } else {
      nd4c_deallocate(block);
    }
  }
}
