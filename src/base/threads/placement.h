/* Keeps the pool's threads off the processor that a caller runs on. pool.c calls it.
 *
 * A kernel may wake a thread on the processor of the thread that wakes it, although another is idle: those of virtual
 * machines do so to keep processors free for other machines. The thread then runs when the caller's time slice ends,
 * and the caller does all the work alone. */
#ifndef ND4C_BASE_THREADS_PLACEMENT_H
#define ND4C_BASE_THREADS_PLACEMENT_H

/* A thread of the pool calls this once, before it waits for work. */
void nd4c_placement_join(void);
/* For a caller that is about to share work out: the threads may run on all processors that they could run on at first,
 * except the one of the calling thread. Does nothing if that is so already. */
void nd4c_placement_leave_caller(void);
/* For a caller that is about to sleep: the threads may use its processor too. */
void nd4c_placement_free(void);
/* In a child of fork, which has none of the threads. */
void nd4c_placement_reset(void);

#endif
