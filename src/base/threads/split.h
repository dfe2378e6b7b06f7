/* Whether the pieces of a loop are worth another thread: what the loop took before against what waking a thread costs
 * here. parallel.c asks before it offers a loop to the pool; device/driver.h and device/compiled.h say whose loops run.
 *
 * Kernels choose their grains by what an item costs on some machine with some dtype. They can be wrong by a factor of
 * ten, and they know nothing of the price on this machine. So each loop of a call is timed, and is offered to other
 * threads only if that pays. The answer never changes how the loop is cut, and so never changes a result. */
#ifndef ND4C_BASE_THREADS_SPLIT_H
#define ND4C_BASE_THREADS_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/threads/parallel.h"

/* Less work is never shared, however cheap a thread is. Calls of many loops, such as recurrent ops, wake a thread once
 * for all of them, and have more work than one loop: theirs may be shorter, and cost no wake-up. */
enum { ND4C_SPLIT_LEAST_NANOSECONDS = 20000, ND4C_SPLIT_LEAST_OF_MANY = 8000 };

/* The call whose loops run on this thread, and in the lowest bits the number of its next loop, of which the last one
 * stands for all that follow; 0: not known, and nothing is timed. */
enum { ND4C_SPLIT_LOOP_BITS = 3 };
extern ND4C_FAST_THREAD_LOCAL uint64_t nd4c_split_subject;

/* Names the caller's loops. Returns what nd4c_split_end is to get. The address of a call may be that of another one
 * later: what a loop took is corrected then by the next runs. */
static inline uint64_t nd4c_split_begin(const void *call, int64_t size) {
  const uint64_t outer = nd4c_split_subject;
  nd4c_split_subject = ((uint64_t)(uintptr_t)call + (uint64_t)size) << ND4C_SPLIT_LOOP_BITS;
  return outer;
}

static inline void nd4c_split_end(uint64_t outer) {
  nd4c_split_subject = outer;
}

/* The next loop of the current subject, with a mark on the loops of many; 0 without a subject. */
uint64_t nd4c_split_key(nd4c_parallel_range range, int64_t count, int64_t grain, int32_t pieces);

/* Whether other threads should get pieces of the loop. `team`: how many threads can, with the caller; `price`: the time
 * from an offer to the first piece on another thread. True if nothing is known of the loop. */
bool nd4c_split_is_worth(uint64_t key, int32_t team, int64_t price);

/* Notes what all pieces of the loop took, or would have on the caller's thread. The least counts, since other programs
 * make times longer, never shorter; it at most doubles from one note to the next, for loops whose data differ. */
void nd4c_split_note(uint64_t key, int64_t nanoseconds);

#endif
