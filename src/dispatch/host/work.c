/* Implements work.h: a list of blocks of host memory. Ops on text and pictures take blocks; call.c frees them when the
 * call ends. */
#include "dispatch/host/work.h"

#include <stddef.h>
#include <stdint.h>

#include "device/memory/host.h"

typedef struct nd4c_work_block {
  _Alignas(max_align_t) struct nd4c_work_block *next;
} nd4c_work_block;

void *nd4c_work_take(nd4c_work *work, size_t count, size_t size) {
  if (size > 0 && count > (SIZE_MAX - sizeof(nd4c_work_block)) / size) {
    return NULL;
  }
  nd4c_work_block *block = nd4c_host_table()->allocate(sizeof *block + count * size);
  if (block == NULL) {
    return NULL;
  }
  block->next = work->first;
  work->first = block;
  return block + 1;
}

void nd4c_work_end(nd4c_work *work) {
  while (work->first != NULL) {
    nd4c_work_block *block = work->first;
    work->first = block->next;
    nd4c_host_table()->free(block);
  }
}
