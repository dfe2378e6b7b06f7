/* Contexts inside the library: device, stream, settings and routing of calls. dispatch reads them in every eager call;
 * plans (graph) and models (import) hold references to them. */
#ifndef ND4C_DEVICE_CONTEXT_CONTEXT_H
#define ND4C_DEVICE_CONTEXT_CONTEXT_H

#include "device/device.h"
#include "device/stream/thread.h"
#include "nd4c/context.h"

struct nd4c_context {
  /* One for the owner and one for each plan on it: a plan may outlive nd4c_context_destroy. */
  _Atomic int32_t references;
  nd4c_device *device;
  nd4c_stream stream;             /* NULL on synchronous devices */
  struct nd4c_timeline *timeline; /* the stream's timeline, which lives as long as the stream */
  int32_t width;
  bool deterministic;
  bool strict;
  bool unasked;           /* lent for an op that the library runs itself: an engine that cannot be forced is not
                             reported */
  nd4c_transfer transfer; /* never DEFAULT */
  /* Several devices (routing.h). NULL: calls run here. */
  struct nd4c_routing *routing;
  bool routing_chosen;               /* set by nd4c_context_set_routing, so the default does not replace it */
  nd4c_context *only_route;          /* the device of all calls, if the routing leaves no choice */
  nd4c_context *routes, *next_route; /* contexts that calls are routed to: this one's, and the next in that list */
  bool routed;                       /* this is such a context */
  struct nd4c_context *next_known;   /* context_known.c's */
  _Atomic bool ended;                /* its owner has destroyed it; plans may still use it */
  _Atomic int32_t entered;           /* threads whose current context this is, and scopes that will restore it */
  /* For contexts that nd4c_context_acquire lends (scope.c): */
  bool scoped;
  struct nd4c_thread *owner;      /* the thread that holds it, NULL: idle; under scope.c's lock */
  nd4c_context *previous;         /* the context that was current before; used by the holder */
  nd4c_context *outer;            /* the holder's next outer scope */
  struct nd4c_context *next_made; /* all of them, under scope.c's lock */
};

/* A context with a new stream. */
nd4c_status nd4c_context_make(nd4c_device *device, int32_t width, bool deterministic, bool strict,
                              nd4c_context **context);
/* What the property nd4c.device.transfer says. */
nd4c_transfer nd4c_context_default_transfer(void);
/* Default parallel width of a device's contexts. */
int32_t nd4c_context_default_width(const nd4c_device *device);

/* Adds a context to the known ones, and removes it. */
void nd4c_context_note(nd4c_context *context);
void nd4c_context_forget(nd4c_context *context);
/* Changes when a context is destroyed, which invalidates what threads remember. */
extern _Atomic uint32_t nd4c_contexts_epoch;
static inline uint32_t nd4c_context_hash(const nd4c_context *context) {
  return (uint32_t)(((uint64_t)(uintptr_t)context >> 4) * UINT64_C(0x9fb21c651e98df25) >> 56);
}
/* Whether the thread remembers that it may use this context: the common case of nd4c_context_check. */
static inline bool nd4c_context_is_remembered(const nd4c_context *context) {
  const nd4c_thread *thread = nd4c_thread_current;
  if (ND4C_UNLIKELY(thread == NULL)) {
    return false;
  }
  const nd4c_known_context *known = &thread->known[nd4c_context_hash(context) % ND4C_THREAD_KNOWN];
  return known->context == context && known->epoch == atomic_load_explicit(&nd4c_contexts_epoch, memory_order_relaxed);
}
/* Notes that the thread has acquired the context, and that it has released it. */
void nd4c_context_remember(nd4c_thread *thread, const nd4c_context *context);
void nd4c_context_unremember(nd4c_thread *thread, const nd4c_context *context);
/* Marks the context as destroyed by its owner, although plans may still use it; every thread must look it up again.
 * False if it was marked before. */
bool nd4c_context_end(nd4c_context *context);
/* Checks a caller's argument: HANDLE, with the function's name, unless it is a live context and, if it is lent, the
 * calling thread holds it. Never dereferences an unknown pointer. Plans do not call it, see nd4c_call_inside. */
nd4c_status nd4c_context_check(const nd4c_context *context, const char *function);

/* The given context, after a check, or the thread's current one; fails as nd4c_device_default if there is none. */
nd4c_status nd4c_context_resolve(nd4c_context *context, nd4c_context **resolved);

/* Takes over a reference to `routing` (NULL: none). */
void nd4c_context_route(nd4c_context *context, struct nd4c_routing *routing);

nd4c_context *nd4c_context_retain(nd4c_context *context);
/* Drops a reference. Only the last one waits, because it frees the stream. */
void nd4c_context_drop(nd4c_context *context);

#endif
