/* Per-thread state: one allocation for each thread that uses nd4c, made on first use and freed when the thread ends.
 * device/context, device/workspace, small_storage.c and dispatch keep what belongs to a thread here. */
#ifndef ND4C_DEVICE_STREAM_THREAD_H
#define ND4C_DEVICE_STREAM_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/hook.h"
#include "nd4c/context.h"

struct nd4c_cancellation_scope;
struct nd4c_small_storage;
struct nd4c_workspace;
struct nd4c_workspace_frame;

struct nd4c_thread;

/* What is released when a thread ends, in this order. */
typedef enum nd4c_thread_end_order {
  ND4C_THREAD_END_WORKSPACES,
  ND4C_THREAD_END_SCOPES,
  ND4C_THREAD_END_CONTEXT,
  ND4C_THREAD_END_SMALL_STORAGES, /* last: the others may free some */
  ND4C_THREAD_END_ORDERS
} nd4c_thread_end_order;
typedef struct nd4c_thread_hook {
  nd4c_thread_end_order order;
  void (*end)(struct nd4c_thread *thread); /* the calling thread's */
} nd4c_thread_hook;
ND4C_HOOK_LIST(thread_hooks, nd4c_thread_hook);

/* A context that the thread has found valid; holds until a context is destroyed (context_known.c). */
typedef struct nd4c_known_context {
  const nd4c_context *context;
  uint32_t epoch;
} nd4c_known_context;
enum { ND4C_THREAD_KNOWN = 8 };

typedef struct nd4c_thread {
  nd4c_context *entered;                  /* by nd4c_context_enter; NULL: own */
  nd4c_context *own;                      /* the thread's default context, made on first use */
  struct nd4c_workspace_frame *workspace; /* the innermost scope, NULL: none */
  struct nd4c_workspace *named_workspaces;
  nd4c_context *scope;                           /* the innermost one that nd4c_context_acquire lent */
  struct nd4c_cancellation_scope *cancellations; /* owned by cancellation.c; NULL: the thread never entered one */
  uint32_t own_epoch;                            /* nd4c_config_epoch when the default device was last looked up */
  void *calls;                                   /* cache of eager calls, src/dispatch's */
  void (*calls_destroy)(void *calls);
  nd4c_known_context known[ND4C_THREAD_KNOWN];
  void *decisions; /* table of routing decisions, owned by src/dispatch; one block, freed with nd4c_deallocate */
  /* Free small storages of the host, and this thread's share of the accounting: only the owner writes it, and queries
   * sum all shares. One thread may free a storage that another one made, so a share may be negative. */
  struct nd4c_small_storage *small_free;
  _Atomic int32_t small_free_count;
  _Atomic int64_t small_live_bytes, small_live_count, small_total_count, small_hits;
  struct nd4c_thread *next, *previous; /* list of all threads, under its lock */
} nd4c_thread;

/* The calling thread's state, NULL before first use. */
extern ND4C_FAST_THREAD_LOCAL nd4c_thread *nd4c_thread_current;
nd4c_thread *nd4c_thread_make(void);

/* The calling thread's state, made if necessary; NULL if memory is exhausted (the error is set). */
static inline nd4c_thread *nd4c_thread_get(void) {
  nd4c_thread *thread = nd4c_thread_current;
  return ND4C_LIKELY(thread != NULL) ? thread : nd4c_thread_make();
}

static inline nd4c_status nd4c_thread_find(nd4c_thread **thread) {
  *thread = nd4c_thread_get();
  return ND4C_LIKELY(*thread != NULL) ? ND4C_OK : ND4C_MEMORY;
}

/* Whether threads other than the calling one use nd4c. */
bool nd4c_thread_has_others(void);

/* Sums the accounts of all threads, including those that have ended. */
void nd4c_thread_sum_small(int64_t *live_bytes, int64_t *live_count, int64_t *total_count, int64_t *hits,
                           int64_t *cached_count);

#endif
