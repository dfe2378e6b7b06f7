/* Implements scope.h, nd4c_context_acquire and nd4c_context_release: a thread borrows a context and gives it back.
 * Programs call these, and dispatch for the ops that it runs itself. */
#include "device/context/scope.h"

#include "base/config/config.h"
#include "base/os_lock.h"
#include "base/status.h"
#include "device/context/routing.h"
#include "device/trace/tracer.h"

/* All contexts that are lent or idle. */
static nd4c_lock made_lock = ND4C_LOCK_INIT;
static nd4c_context *made;

static nd4c_context *take_idle(const nd4c_device *device, nd4c_thread *thread) {
  nd4c_lock_acquire(&made_lock);
  nd4c_context *context = made;
  while (context != NULL && (context->owner != NULL || context->device != device)) {
    context = context->next_made;
  }
  if (context != NULL) {
    context->owner = thread;
  }
  nd4c_lock_release(&made_lock);
  return context;
}

static nd4c_status make_for(nd4c_device *device, nd4c_thread *thread, nd4c_context **out) {
  ND4C_TRY(nd4c_context_make(device, 1, false, false, out));
  (*out)->scoped = true;
  nd4c_lock_acquire(&made_lock);
  (*out)->owner = thread;
  (*out)->next_made = made;
  made = *out;
  nd4c_lock_release(&made_lock);
  return ND4C_OK;
}

/* Under the lock. */
static void unlink_made(const nd4c_context *context) {
  nd4c_context **link = &made;
  while (*link != context) {
    link = &(*link)->next_made;
  }
  *link = context->next_made;
}

nd4c_status nd4c_context_acquire(nd4c_device *device, nd4c_context **out) {
  if (out == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_context_acquire: context is NULL");
  }
  nd4c_tracer_follow_config();
  if (device == NULL) {
    ND4C_TRY(nd4c_device_default(&device));
  } else {
    ND4C_TRY(nd4c_device_check(device, "nd4c_context_acquire"));
  }
  nd4c_thread *thread = NULL;
  ND4C_TRY(nd4c_thread_find(&thread));
  nd4c_context *context = take_idle(device, thread);
  if (context == NULL) {
    ND4C_TRY(make_for(device, thread, &context));
  }
  context->width = nd4c_context_default_width(device);
  context->deterministic = nd4c_config_bool(ND4C_CONFIG_DETERMINISTIC);
  context->strict = nd4c_config_bool(ND4C_CONFIG_STRICT);
  context->unasked = false;
  context->transfer = nd4c_context_default_transfer();
  context->outer = thread->scope;
  context->previous = thread->entered; /* stays counted as entered until it is restored */
  atomic_fetch_add(&context->entered, 1);
  thread->scope = thread->entered = context;
  nd4c_context_remember(thread, context);
  *out = context;
  return ND4C_OK;
}

bool nd4c_scope_is_held(const nd4c_thread *thread, const nd4c_context *context) {
  const nd4c_context *scope = thread != NULL ? thread->scope : NULL;
  while (scope != NULL && scope != context) {
    scope = scope->outer;
  }
  return scope != NULL;
}

/* Why a context cannot be released; never dereferences an unknown pointer. */
static nd4c_status refuse(const nd4c_thread *thread, const nd4c_context *context) {
  int32_t inside = 0;
  for (const nd4c_context *scope = thread->scope; scope != NULL; scope = scope->outer) {
    if (scope == context) {
      return nd4c_fail(ND4C_HANDLE,
                       "nd4c_context_release: out of order: %d context(s) acquired after this one on %s, the last on "
                       "%s, must be released first",
                       inside, context->device->name, thread->scope->device->name);
    }
    inside++;
  }
  nd4c_lock_acquire(&made_lock);
  const nd4c_context *known = made;
  while (known != NULL && known != context) {
    known = known->next_made;
  }
  bool idle = known != NULL && known->owner == NULL;
  const char *device = known != NULL ? known->device->name : "";
  nd4c_lock_release(&made_lock);
  if (known == NULL) {
    return nd4c_fail(ND4C_HANDLE, "nd4c_context_release: this is not a context from nd4c_context_acquire");
  }
  return nd4c_fail(ND4C_HANDLE, "nd4c_context_release: the context on %s %s", device,
                   idle ? "was released already" : "is held by another thread, which must release it");
}

/* Restores the context before the thread's innermost scope and releases the scope's context. */
static void pop(nd4c_thread *thread) {
  nd4c_context *context = thread->scope;
  if (thread->entered != NULL) {
    atomic_fetch_sub(&thread->entered->entered, 1);
  }
  thread->entered = context->previous;
  thread->scope = context->outer;
  nd4c_context_unremember(thread, context);
  context->previous = context->outer = NULL;
  if (context->routing != NULL) {
    context->routing_chosen = false; /* the next holder has not asked for it */
    nd4c_context_route(context, NULL);
  }
  /* A plan still uses it: from now on the plan owns it. */
  bool shared = atomic_load(&context->references) > 1;
  nd4c_lock_acquire(&made_lock);
  context->owner = NULL;
  if (shared) {
    unlink_made(context);
  }
  nd4c_lock_release(&made_lock);
  if (shared) {
    nd4c_context_drop(context);
  }
}

nd4c_status nd4c_context_release(nd4c_context *context) {
  if (context == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_context_release: context is NULL");
  }
  nd4c_thread *thread = NULL;
  ND4C_TRY(nd4c_thread_find(&thread));
  if (thread->scope != context) {
    return refuse(thread, context);
  }
  pop(thread);
  return ND4C_OK;
}

/* When a thread ends: releases the contexts that it holds, and leaves the one that it entered. */
static void abandon(nd4c_thread *thread) {
  while (thread->scope != NULL) {
    pop(thread);
  }
  if (thread->entered != NULL) {
    atomic_fetch_sub(&thread->entered->entered, 1);
    thread->entered = NULL;
  }
}

static const nd4c_thread_hook held_contexts = {ND4C_THREAD_END_SCOPES, abandon};
ND4C_HOOK(thread_hooks, nd4c_thread_hook, held_contexts);

void nd4c_scope_trim(const nd4c_device *device) {
  nd4c_thread none = {0};
  for (nd4c_context *context; (context = take_idle(device, &none)) != NULL;) {
    nd4c_lock_acquire(&made_lock);
    unlink_made(context);
    nd4c_lock_release(&made_lock);
    nd4c_context_drop(context);
  }
}
