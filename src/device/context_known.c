/* Which contexts there are: a pointer that a caller gives is looked up here before anything behind it is. */
#include <pthread.h>

#include "base/status.h"
#include "device/context.h"
#include "device/scope.h"
#include "device/thread.h"

/* All contexts by address, in lists that their next_known make. */
enum { BUCKETS = 256 };
static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER; /* guards the lists */
static nd4c_context *buckets[BUCKETS];
_Atomic uint32_t nd4c_contexts_epoch = 1;

void nd4c_context_note(nd4c_context *context) {
  pthread_mutex_lock(&known_lock);
  nd4c_context **bucket = &buckets[nd4c_context_hash(context) % BUCKETS];
  context->next_known = *bucket;
  *bucket = context;
  pthread_mutex_unlock(&known_lock);
}

void nd4c_context_forget(nd4c_context *context) {
  pthread_mutex_lock(&known_lock);
  nd4c_context **link = &buckets[nd4c_context_hash(context) % BUCKETS];
  while (*link != context) {
    link = &(*link)->next_known;
  }
  *link = context->next_known;
  atomic_fetch_add_explicit(&nd4c_contexts_epoch, 1, memory_order_relaxed);
  pthread_mutex_unlock(&known_lock);
}

static bool look_up(const nd4c_context *context) {
  nd4c_thread *thread = nd4c_thread_get();
  pthread_mutex_lock(&known_lock);
  const nd4c_context *found = buckets[nd4c_context_hash(context) % BUCKETS];
  while (found != NULL && found != context) {
    found = found->next_known;
  }
  uint32_t epoch = atomic_load_explicit(&nd4c_contexts_epoch, memory_order_relaxed);
  pthread_mutex_unlock(&known_lock);
  if (found != NULL && thread != NULL) {
    nd4c_known_context *remembered = &thread->known[nd4c_context_hash(context) % ND4C_THREAD_KNOWN];
    *remembered = (nd4c_known_context){.context = context, .epoch = epoch};
  }
  return found != NULL;
}

bool nd4c_context_is_known(const nd4c_context *context) {
  return nd4c_context_is_remembered(context) || look_up(context);
}

static nd4c_status check_known(const nd4c_context *context, const char *function) {
  return ND4C_LIKELY(nd4c_context_is_known(context))
             ? ND4C_OK
             : nd4c_fail(ND4C_HANDLE,
                         "%s: %p is no context, or no longer: nd4c_context_create or nd4c_context_acquire gives one",
                         function, (const void *)context);
}

nd4c_status nd4c_context_check(const nd4c_context *context, const char *function) {
  ND4C_TRY(check_known(context, function));
  if (context->scoped && !nd4c_scope_is_held(nd4c_thread_current, context)) {
    return nd4c_fail(ND4C_HANDLE, "%s: the context was given back, or another thread acquired it", function);
  }
  return atomic_load_explicit(&context->ended, memory_order_relaxed)
             ? nd4c_fail(ND4C_HANDLE, "%s: the context was destroyed; only a plan still uses it", function)
             : ND4C_OK;
}

nd4c_status nd4c_context_check_usable(const nd4c_context *context) {
  return ND4C_LIKELY(nd4c_context_is_remembered(context)) ? ND4C_OK : check_known(context, "the given context");
}
