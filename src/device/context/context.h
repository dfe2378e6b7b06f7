/* Contexts as the library sees them. */
#ifndef ND4C_DEVICE_CONTEXT_H
#define ND4C_DEVICE_CONTEXT_H

#include "device/device.h"
#include "device/stream/thread.h"
#include "nd4c/context.h"

struct nd4c_context {
  /* The owner's, and one of each plan made on it: a plan outlives its owner's nd4c_context_destroy. */
  _Atomic int32_t references;
  nd4c_device *device;
  nd4c_stream stream; /* NULL on synchronous devices */
  struct nd4c_timeline *timeline; /* the stream's, which lives as long */
  int32_t width;
  bool deterministic;
  bool strict;
  bool unasked;           /* lent for an op of the library's own: what is forced in vain is nobody's concern */
  nd4c_transfer transfer; /* never DEFAULT */
  /* Several devices (routing.h). NULL: calls run here. */
  struct nd4c_routing *routing;
  bool routing_chosen;               /* by nd4c_context_set_routing: the default does not replace it */
  nd4c_context *only_route;          /* where all calls go if the routing leaves no choice */
  nd4c_context *routes, *next_route; /* contexts that calls are routed to: this one's, and the next in that list */
  bool routed;                       /* this is one of those */
  struct nd4c_context *next_known;   /* context_known.c's */
  _Atomic bool ended;                /* its owner destroyed it; plans may go on with it */
  _Atomic int32_t entered;           /* threads whose current context this is, and scopes that will restore it */
  /* Of one that nd4c_context_acquire lends (scope.c): */
  bool scoped;
  struct nd4c_thread *owner;      /* who holds it, NULL: idle; under scope.c's lock */
  nd4c_context *previous;         /* what was current before; the owner's */
  nd4c_context *outer;            /* the owner's next scope outwards */
  struct nd4c_context *next_made; /* all of them, under scope.c's lock */
};

/* A context with a stream of its own. */
nd4c_status nd4c_context_make(nd4c_device *device, int32_t width, bool deterministic, bool strict,
                              nd4c_context **context);
/* What the property nd4c.device.transfer says. */
nd4c_transfer nd4c_context_default_transfer(void);
/* Parallel width of a device's contexts where nothing else is asked for. */
int32_t nd4c_context_default_width(const nd4c_device *device);

/* Adds a context to those that are known, and takes it out again. */
void nd4c_context_note(nd4c_context *context);
void nd4c_context_forget(nd4c_context *context);
/* Changes when a context goes: what threads remember holds no longer. */
extern _Atomic uint32_t nd4c_contexts_epoch;
static inline uint32_t nd4c_context_hash(const nd4c_context *context) {
  return (uint32_t)(((uint64_t)(uintptr_t)context >> 4) * UINT64_C(0x9fb21c651e98df25) >> 56);
}
/* Whether the thread has found that it may use this one: the common case of nd4c_context_check. */
static inline bool nd4c_context_is_remembered(const nd4c_context *context) {
  const nd4c_thread *thread = nd4c_thread_current;
  if (ND4C_UNLIKELY(thread == NULL)) {
    return false;
  }
  const nd4c_known_context *known = &thread->known[nd4c_context_hash(context) % ND4C_THREAD_KNOWN];
  return known->context == context && known->epoch == atomic_load_explicit(&nd4c_contexts_epoch, memory_order_relaxed);
}
/* The thread has acquired it, and has given it back. */
void nd4c_context_remember(nd4c_thread *thread, const nd4c_context *context);
void nd4c_context_unremember(nd4c_thread *thread, const nd4c_context *context);
/* Its owner destroys it, though plans may still use it: every thread looks again. False if that was so before. */
bool nd4c_context_end(nd4c_context *context);
/* HANDLE, with the function's name, unless it is a context that was not destroyed and, if it is lent, the calling
 * thread holds it. Looks behind no pointer that is not known. For what callers give: plans do not ask, see
 * nd4c_call_inside. */
nd4c_status nd4c_context_check(const nd4c_context *context, const char *function);

/* The given context, which is checked, or the thread's current one; with the error of nd4c_device_default if there is
 * none. */
nd4c_status nd4c_context_resolve(nd4c_context *context, nd4c_context **resolved);

/* Takes over a reference to `routing` (NULL: none). */
void nd4c_context_route(nd4c_context *context, struct nd4c_routing *routing);

nd4c_context *nd4c_context_retain(nd4c_context *context);
/* Waits for nothing, unless it is the last reference: that one's release frees the stream. */
void nd4c_context_drop(nd4c_context *context);

#endif
