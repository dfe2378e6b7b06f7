/* Implements recycle.h: a list for each thread and size class, and lists that all threads share. array, device,
 * dispatch and submit take their records here; base/text.c takes its buffers. */
#include "base/recycle.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/os.h"
#include "base/os_lock.h"

/* Classes of powers of two. A thread keeps up to 16 blocks of a class up to 1 KiB, and 16 KiB of each larger class, but
 * at least one block. The shared list of a class holds 16 MiB: a step of thousands of calls returns at its end the
 * blocks that the next step takes. */
enum { CLASSES = 11, SMALLEST_BITS = 6, KEPT_AT_MOST = 16, LAST_FULL_CLASS = 4, SHARED_BYTES = 16 << 20 };
_Static_assert(ND4C_RECYCLE_LARGEST == 1 << (SMALLEST_BITS + CLASSES - 1), "the last class is the largest block's");

typedef struct idle_block {
  struct idle_block *next;
} idle_block;

typedef struct thread_lists {
  idle_block *first[CLASSES];
  int32_t count[CLASSES];
} thread_lists;

static ND4C_FAST_THREAD_LOCAL thread_lists *own; /* created when the thread first takes or returns a block */
static nd4c_thread_key own_key;
static bool own_key_made;
static nd4c_once once = ND4C_ONCE_INIT;

static nd4c_lock shared_lock = ND4C_LOCK_INIT;
static idle_block *shared[CLASSES];           /* under shared_lock */
static _Atomic int32_t shared_count[CLASSES]; /* written under the lock; read without it to see whether taking the lock
                                                 is worthwhile */

static inline int class_of(size_t bytes) {
  return bytes <= (size_t)1 << SMALLEST_BITS ? 0 : 64 - __builtin_clzll((uint64_t)(bytes - 1)) - SMALLEST_BITS;
}

static inline int32_t kept_at_most(int class) {
  const int32_t kept = class <= LAST_FULL_CLASS ? KEPT_AT_MOST : KEPT_AT_MOST >> (class - LAST_FULL_CLASS);
  return kept > 0 ? kept : 1;
}

static void free_chain(idle_block *block) {
  while (block != NULL) {
    idle_block *next = block->next;
    nd4c_deallocate(block);
    block = next;
  }
}

static void free_lists(thread_lists *lists) {
  for (int class = 0; class < CLASSES; class ++) {
    free_chain(lists->first[class]);
    lists->first[class] = NULL;
    lists->count[class] = 0;
  }
}

static void end_thread(void *argument) {
  own = NULL; /* a later destructor of this thread may still return a block, which creates new lists */
  free_lists(argument);
  free(argument);
}

/* In a child of fork a thread of the parent may have held the lock: the child forgets the shared lists. */
static void fork_in_child(void) {
  nd4c_lock_init(&shared_lock);
  for (int class = 0; class < CLASSES; class ++) {
    shared[class] = NULL;
    atomic_store(&shared_count[class], 0);
  }
}

static void start(void) {
  own_key_made = nd4c_thread_key_make(&own_key, end_thread);
  nd4c_os_on_fork(fork_in_child);
}

/* NULL if the lists could not be freed at the thread's end: then nothing is kept. Uses calloc directly, because tests
 * that make the n-th allocation fail count only the allocations of their call. */
static ND4C_NOINLINE thread_lists *make_own(void) {
  nd4c_once_run(&once, start);
  thread_lists *made = own_key_made ? calloc(1, sizeof *made) : NULL;
  if (made != NULL && !nd4c_thread_key_set(own_key, made)) {
    free(made);
    made = NULL;
  }
  own = made;
  return made;
}

/* Half of what a thread may keep, so that taking and returning blocks both need the lock rarely. */
static inline int32_t batch_of(int class) {
  return (kept_at_most(class) + 1) / 2;
}

/* Cuts up to `limit` blocks off the list; returns how many. */
static int32_t cut(idle_block **list, int32_t limit, idle_block **first, idle_block **last) {
  int32_t count = 0;
  *first = *list;
  *last = NULL;
  for (; count < limit && *list != NULL; count++) {
    *last = *list;
    *list = (*list)->next;
  }
  if (*last != NULL) {
    (*last)->next = NULL;
  }
  return count;
}

static ND4C_NOINLINE void send_batch(thread_lists *lists, int class) {
  idle_block *first, *last;
  int32_t count = cut(&lists->first[class], batch_of(class), &first, &last);
  lists->count[class] -= count;
  nd4c_lock_acquire(&shared_lock);
  int32_t there = atomic_load_explicit(&shared_count[class], memory_order_relaxed);
  bool room = there + count <= SHARED_BYTES >> (SMALLEST_BITS + class);
  if (room) {
    last->next = shared[class];
    shared[class] = first;
    atomic_store_explicit(&shared_count[class], there + count, memory_order_relaxed);
  }
  nd4c_lock_release(&shared_lock);
  if (!room) {
    free_chain(first);
  }
}

/* False if the shared list is empty. */
static ND4C_NOINLINE bool fetch_batch(thread_lists *lists, int class) {
  if (atomic_load_explicit(&shared_count[class], memory_order_relaxed) == 0) {
    return false;
  }
  idle_block *last;
  nd4c_lock_acquire(&shared_lock);
  int32_t count = cut(&shared[class], batch_of(class), &lists->first[class], &last);
  int32_t there = atomic_load_explicit(&shared_count[class], memory_order_relaxed);
  atomic_store_explicit(&shared_count[class], there - count, memory_order_relaxed);
  nd4c_lock_release(&shared_lock);
  lists->count[class] = count;
  return count > 0;
}

static void *take(size_t bytes, bool zeroed) {
  if (!ND4C_RECYCLES || bytes > ND4C_RECYCLE_LARGEST) {
    return zeroed ? nd4c_allocate_zeroed(1, bytes) : nd4c_allocate(bytes);
  }
  int class = class_of(bytes);
  thread_lists *lists = own != NULL ? own : make_own();
  if (ND4C_UNLIKELY(lists == NULL || nd4c_allocation_is_awaited() ||
                    (lists->first[class] == NULL && !fetch_batch(lists, class)))) {
    const size_t whole = (size_t)1 << (SMALLEST_BITS + class);
    return zeroed ? nd4c_allocate_zeroed(1, whole) : nd4c_allocate(whole);
  }
  idle_block *block = lists->first[class];
  lists->first[class] = block->next;
  lists->count[class]--;
  return zeroed ? memset(block, 0, bytes) : block;
}

size_t nd4c_recycle_size(size_t bytes) {
  return !ND4C_RECYCLES || bytes > ND4C_RECYCLE_LARGEST ? bytes : (size_t)1 << (SMALLEST_BITS + class_of(bytes));
}

void *nd4c_recycle_take(size_t bytes) {
  return take(bytes, true);
}

void *nd4c_recycle_take_raw(size_t bytes) {
  return take(bytes, false);
}

void *nd4c_recycle_grow(void *block, size_t used, size_t bytes, size_t wanted) {
  void *larger = take(wanted, false);
  if (larger != NULL && used > 0) {
    memcpy(larger, block, used);
  }
  if (larger != NULL) {
    nd4c_recycle_give(block, bytes);
  }
  return larger;
}

void nd4c_recycle_give(void *block, size_t bytes) {
  if (block == NULL) {
    return;
  }
  thread_lists *lists = NULL;
  if (!ND4C_RECYCLES || bytes > ND4C_RECYCLE_LARGEST || (lists = own != NULL ? own : make_own()) == NULL) {
    nd4c_deallocate(block);
    return;
  }
  int class = class_of(bytes);
  if (ND4C_UNLIKELY(lists->count[class] >= kept_at_most(class))) {
    send_batch(lists, class);
  }
  idle_block *idle = block;
  idle->next = lists->first[class];
  lists->first[class] = idle;
  lists->count[class]++;
}

void nd4c_recycle_trim(void) {
  if (own != NULL) {
    free_lists(own);
  }
  for (int class = 0; class < CLASSES; class ++) {
    nd4c_lock_acquire(&shared_lock);
    idle_block *first = shared[class];
    shared[class] = NULL;
    atomic_store_explicit(&shared_count[class], 0, memory_order_relaxed);
    nd4c_lock_release(&shared_lock);
    free_chain(first);
  }
}

/* The thread that ends the process does not run thread-local destructors. */
static ND4C_AT_UNLOAD void end_process(void) {
  nd4c_recycle_trim();
}
