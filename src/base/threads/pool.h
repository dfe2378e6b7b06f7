/* The pool: helper threads that claim pieces of jobs which callers publish. parallel.c publishes loops, openmp.c the
 * regions of vendors' libraries.
 *
 * The caller claims pieces as well, so it finishes alone what no helper has come for, and waits only for pieces that a
 * helper has begun. A job's pieces may wait for each other: helpers take the oldest job first, so every piece of a job
 * gets a thread if the pool has a helper for each piece but the caller's. */
#ifndef ND4C_BASE_THREADS_POOL_H
#define ND4C_BASE_THREADS_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The caller sets the first two fields, and `next` to the first piece that is to be claimed. Lives until
 * nd4c_pool_close returns. */
typedef struct nd4c_pool_job {
  void (*run)(struct nd4c_pool_job *job, int32_t piece); /* on the thread that claimed the piece */
  int32_t pieces;
  _Atomic int32_t next;
  _Atomic uint32_t inside; /* helpers that work on the job, and a bit for a caller that sleeps until there are none */
  int32_t most_helpers;    /* that may work in the whole process while they take this job */
  uint32_t born;           /* in which process: see nd4c_pool_reset */
  _Atomic int64_t helped;  /* nanoseconds that helpers have spent on pieces, all together */
  struct nd4c_pool_job *older, *younger; /* under the pool's lock */
} nd4c_pool_job;

/* Starts threads until there are `helpers` of them, at most a limit of some thousand. Returns how many there are, but
 * not more than `helpers`; fewer if the system cannot start more. Does not try again at once after a failure. */
int32_t nd4c_pool_grow(int32_t helpers);
/* Publishes the job and wakes up to `helpers` of the threads, none if enough of them are awake. Helpers join jobs while
 * fewer than `budget` work in the process, or fewer than the job has pieces for. */
void nd4c_pool_open(nd4c_pool_job *job, int32_t helpers, int32_t budget);
/* Claims and runs pieces until none is left. Returns how many it ran. */
int32_t nd4c_pool_help(nd4c_pool_job *job);
/* Ends the job after nd4c_pool_help: returns when all its pieces are done. From then on `helped` is complete. */
void nd4c_pool_close(nd4c_pool_job *job);

/* Nanoseconds from an offer to the first piece on another thread: what waking a thread has taken in the middle of the
 * cases so far, or next to nothing while one is awake. */
int64_t nd4c_pool_price(void);
/* How many jobs were published, for tests. */
uint32_t nd4c_pool_published(void);

/* Whether the calling thread runs a piece. */
bool nd4c_pool_is_inside(void);
/* Sets that, for a caller that runs a piece of an open job itself. Returns the previous value. */
bool nd4c_pool_set_inside(bool inside);

/* Spins until *word differs from `value`, for some microseconds. False if it still has the value. Does not spin if
 * there are more threads than processors. */
bool nd4c_pool_spin(const _Atomic uint32_t *word, uint32_t value);

/* In a child of fork: forgets the threads, which exist only in the parent. */
void nd4c_pool_reset(void);

#endif
