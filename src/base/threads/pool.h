/* The pool of plain threads, which parallel.c uses where OpenMP's runtime is not built in, not configured or not
 * safe. */
#ifndef ND4C_BASE_THREADS_POOL_H
#define ND4C_BASE_THREADS_POOL_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/threads/parallel.h"

/* A loop cut into pieces; lives on the caller's stack until nd4c_pool_run returns. */
typedef struct nd4c_pool_job {
  nd4c_parallel_range range;
  void *user;
  int64_t count, piece_size;
  int32_t pieces;
  _Atomic int32_t next; /* first piece that no thread has taken */
} nd4c_pool_job;

/* Runs all pieces with the caller and up to `team` - 1 helpers; fewer if no more threads can be started. */
void nd4c_pool_run(nd4c_pool_job *job, int32_t team);
/* Takes and runs pieces until none is left (parallel.c). */
void nd4c_pool_job_run(nd4c_pool_job *job);
/* In a child of fork: forgets the threads, which exist only in the parent. */
void nd4c_pool_reset(void);

#endif
