/* The table of live contexts: a caller's pointer is looked up here before it is dereferenced. context.c and scope.c add
 * and remove contexts; every public call that gets a context checks it here. */
#include "base/os_lock.h"
#include "base/status.h"
#include "device/context/context.h"
#include "device/context/scope.h"
#include "device/stream/thread.h"

/* All contexts in a hash table by address, chained by next_known. */
enum { BUCKETS = 256 };
static nd4c_lock known_lock = ND4C_LOCK_INIT; /* guards the lists */
static nd4c_context *buckets[BUCKETS];
_Atomic uint32_t nd4c_contexts_epoch = 1;

void nd4c_context_note(nd4c_context *context) {
  nd4c_lock_acquire(&known_lock);
  nd4c_context **bucket = &buckets[nd4c_context_hash(context) % BUCKETS];
  context->next_known = *bucket;
  *bucket = context;
  nd4c_lock_release(&known_lock);
}

/* Makes every thread look contexts up again. Under the lock. */
static void change_epoch(void) {
  atomic_fetch_add_explicit(&nd4c_contexts_epoch, 1, memory_order_relaxed);
}

void nd4c_context_forget(nd4c_context *context) {
  nd4c_lock_acquire(&known_lock);
  nd4c_context **link = &buckets[nd4c_context_hash(context) % BUCKETS];
  while (*link != context) {
    link = &(*link)->next_known;
  }
  *link = context->next_known;
  change_epoch();
  nd4c_lock_release(&known_lock);
}

void nd4c_context_remember(nd4c_thread *thread, const nd4c_context *context) {
  uint32_t epoch = atomic_load_explicit(&nd4c_contexts_epoch, memory_order_relaxed);
  thread->known[nd4c_context_hash(context) % ND4C_THREAD_KNOWN] =
      (nd4c_known_context){.context = context, .epoch = epoch};
}

void nd4c_context_unremember(nd4c_thread *thread, const nd4c_context *context) {
  nd4c_known_context *known = &thread->known[nd4c_context_hash(context) % ND4C_THREAD_KNOWN];
  if (known->context == context) {
    known->context = NULL;
  }
}

/* Under the lock, like lookups that remember a context: no thread remembers the ended one afterwards. */
bool nd4c_context_end(nd4c_context *context) {
  nd4c_lock_acquire(&known_lock);
  bool first = !atomic_exchange(&context->ended, true);
  change_epoch();
  nd4c_lock_release(&known_lock);
  return first;
}

/* Why the calling thread may not use the context; NULL: it may, and remembers that. Never dereferences an unknown
 * pointer. */
static const char *look_up(const nd4c_context *context) {
  nd4c_thread *thread = nd4c_thread_get();
  const char *reason = "is not a context, or was destroyed: nd4c_context_create or nd4c_context_acquire gives one";
  nd4c_lock_acquire(&known_lock);
  const nd4c_context *found = buckets[nd4c_context_hash(context) % BUCKETS];
  while (found != NULL && found != context) {
    found = found->next_known;
  }
  if (found != NULL) {
    reason = found->scoped && !nd4c_scope_is_held(thread, found)         ? "was released, or another thread acquired it"
             : atomic_load_explicit(&found->ended, memory_order_relaxed) ? "was destroyed; only a plan still uses it"
                                                                         : NULL;
  }
  if (reason == NULL && thread != NULL) {
    nd4c_context_remember(thread, context);
  }
  nd4c_lock_release(&known_lock);
  return reason;
}

nd4c_status nd4c_context_check(const nd4c_context *context, const char *function) {
  const char *reason = ND4C_LIKELY(nd4c_context_is_remembered(context)) ? NULL : look_up(context);
  return ND4C_LIKELY(reason == NULL)
             ? ND4C_OK
             : nd4c_fail(ND4C_HANDLE, "%s: the context %p %s", function, (const void *)context, reason);
}
