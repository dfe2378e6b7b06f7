/* Implements context.h and nd4c/context.h. Programs create contexts here; every public call that gets a context
 * resolves it here; plans and models (graph, import) hold references. */
#include "device/context/context.h"

#include <string.h>

#include "base/alloc.h"
#include "base/config/config.h"
#include "base/status.h"
#include "base/threads/parallel.h"
#include "device/context/routing.h"
#include "device/context/scope.h"
#include "device/driver.h"
#include "device/storage/storage.h"
#include "device/stream/exit_and_fork.h"
#include "device/stream/stream_pool.h"
#include "device/stream/thread.h"
#include "device/trace/tracer.h"

int32_t nd4c_context_default_width(const nd4c_device *device) {
  return device->description.type == ND4C_DEVICE_CPU ? nd4c_parallel_width() : device->description.width;
}

nd4c_transfer nd4c_context_default_transfer(void) {
  char word[16];
  (void)nd4c_config_string(ND4C_CONFIG_DEVICE_TRANSFER, word, sizeof word);
  return strcmp(word, "eager") == 0  ? ND4C_TRANSFER_EAGER
         : strcmp(word, "none") == 0 ? ND4C_TRANSFER_NONE
                                     : ND4C_TRANSFER_ON_DEMAND;
}

/* Takes over the stream (NULL on a synchronous device), even if it fails. */
static nd4c_status make_on(nd4c_device *device, nd4c_stream stream, int32_t width, bool deterministic, bool strict,
                           nd4c_context **out) {
  nd4c_context *context = nd4c_allocate_zeroed(1, sizeof *context);
  if (context == NULL) {
    nd4c_stream_drop(device, stream);
    return nd4c_fail_memory("a context", sizeof *context);
  }
  atomic_init(&context->references, 1);
  context->device = device;
  context->stream = stream;
  context->width = width;
  context->deterministic = deterministic;
  context->strict = strict;
  context->transfer = nd4c_context_default_transfer();
  nd4c_status status = stream != NULL ? nd4c_timeline_of(device, stream, &context->timeline) : ND4C_OK;
  if (status != ND4C_OK) {
    nd4c_stream_drop(device, stream);
    nd4c_deallocate(context);
    return status;
  }
  nd4c_context_note(context);
  *out = context;
  return ND4C_OK;
}

nd4c_status nd4c_context_make(nd4c_device *device, int32_t width, bool deterministic, bool strict,
                              nd4c_context **context) {
  nd4c_stream stream = NULL;
  ND4C_TRY(nd4c_stream_open(device, 0, &stream));
  return make_on(device, stream, width, deterministic, strict, context);
}

nd4c_status nd4c_context_create(const nd4c_context_options *options, nd4c_context **context) {
  if (context == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "context is NULL");
  }
  enum { FIRST_SIZE = offsetof(nd4c_context_options, transfer) }; /* the struct's size in version 0.1 */
  if (options != NULL && options->struct_size < FIRST_SIZE) {
    return nd4c_fail(ND4C_ARGUMENT, "struct_size is %u: set it to sizeof(nd4c_context_options)", options->struct_size);
  }
  if (options != NULL && options->width < 0) {
    return nd4c_fail(ND4C_ARGUMENT, "width is %d: expected 0 (the device's) or more", options->width);
  }
  nd4c_tracer_follow_config();
  nd4c_device *device = options != NULL ? options->device : NULL;
  if (device == NULL) {
    ND4C_TRY(nd4c_device_default(&device));
  }
  ND4C_TRY(nd4c_device_check(device, "nd4c_context_create"));
  int32_t width = options != NULL && options->width > 0 ? options->width : nd4c_context_default_width(device);
  bool deterministic = nd4c_config_bool(ND4C_CONFIG_DETERMINISTIC) || (options != NULL && options->deterministic);
  bool strict = nd4c_config_bool(ND4C_CONFIG_STRICT) || (options != NULL && options->strict);
  nd4c_transfer transfer =
      options != NULL && ND4C_HAS_FIELD(options, transfer) ? options->transfer : ND4C_TRANSFER_DEFAULT;
  if (transfer < ND4C_TRANSFER_DEFAULT || transfer > ND4C_TRANSFER_NONE) {
    return nd4c_fail(ND4C_ARGUMENT, "transfer is %d: expected an nd4c_transfer", (int)transfer);
  }
  nd4c_stream stream = NULL;
  ND4C_TRY(
      nd4c_stream_open(device, options != NULL && ND4C_HAS_FIELD(options, priority) ? options->priority : 0, &stream));
  ND4C_TRY(make_on(device, stream, width, deterministic, strict, context));
  if (transfer != ND4C_TRANSFER_DEFAULT) {
    (*context)->transfer = transfer;
  }
  return ND4C_OK;
}

nd4c_status nd4c_context_wrap(nd4c_device *device, void *native_stream, nd4c_context **context) {
  if (context == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_context_wrap: context is NULL");
  }
  nd4c_tracer_follow_config();
  ND4C_TRY(nd4c_device_check(device, "nd4c_context_wrap"));
  nd4c_stream stream = NULL;
  ND4C_TRY(nd4c_stream_wrap(device, native_stream, &stream));
  return make_on(device, stream, nd4c_context_default_width(device), nd4c_config_bool(ND4C_CONFIG_DETERMINISTIC),
                 nd4c_config_bool(ND4C_CONFIG_STRICT), context);
}

nd4c_context *nd4c_context_retain(nd4c_context *context) {
  atomic_fetch_add_explicit(&context->references, 1, memory_order_relaxed);
  return context;
}

/* Waits for the context's work and ignores its outcome. */
static nd4c_status settle_stream(const nd4c_context *context) {
  nd4c_shared_fence *fence = NULL;
  ND4C_TRY(nd4c_fence_place(context->timeline, "synchronize", &fence));
  nd4c_fence_settle(fence);
  nd4c_fence_release(fence);
  nd4c_storage_collect(false);
  return ND4C_OK;
}

static nd4c_status synchronize_stream(nd4c_context *context) {
  ND4C_TRY(settle_stream(context));
  return nd4c_fence_drain(context->device);
}

static nd4c_status synchronize(nd4c_context *context) {
  nd4c_status routed = context->routes != NULL ? nd4c_routing_synchronize(context) : ND4C_OK;
  nd4c_status status = context->stream != NULL ? synchronize_stream(context) : ND4C_OK;
  return routed != ND4C_OK ? routed : status;
}

void nd4c_context_drop(nd4c_context *context) {
  if (atomic_fetch_sub(&context->references, 1) != 1) {
    return;
  }
  nd4c_context_forget(context);
  nd4c_routing_forget(context);
  if (context->stream != NULL) {
    (void)settle_stream(context); /* the arrays and the device report its outcome */
    nd4c_stream_drop(context->device, context->stream);
  }
  nd4c_deallocate(context);
}

nd4c_status nd4c_context_destroy(nd4c_context *context) {
  if (context == NULL) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_context_check(context, "nd4c_context_destroy"));
  if (context->scoped) {
    return nd4c_fail(ND4C_HANDLE, "nd4c_context_destroy: the context is lent: nd4c_context_release releases it");
  }
  int32_t entered = atomic_load(&context->entered);
  if (entered != 0) {
    return nd4c_fail(ND4C_ARGUMENT, "the context is the current one of %d thread(s): they must leave it first",
                     entered);
  }
  if (!nd4c_context_end(context)) {
    return nd4c_fail(ND4C_HANDLE, "nd4c_context_destroy: the context is being destroyed by another thread");
  }
  nd4c_status status = synchronize(context);
  nd4c_context_drop(context);
  return status;
}

static void destroy_own(nd4c_thread *thread) {
  (void)nd4c_context_destroy(thread->own);
}

static const nd4c_thread_hook default_context = {ND4C_THREAD_END_CONTEXT, destroy_own};
ND4C_HOOK(thread_hooks, nd4c_thread_hook, default_context);

nd4c_status nd4c_context_enter(nd4c_context *context, nd4c_context **previous) {
  if (context != NULL) {
    ND4C_TRY(nd4c_context_check(context, "nd4c_context_enter"));
  }
  nd4c_thread *thread = NULL;
  ND4C_TRY(nd4c_thread_find(&thread));
  if (context == thread->own) {
    context = NULL; /* the context that nd4c_context_current returns before any was entered */
  }
  nd4c_context *before = thread->entered;
  if (context != NULL) {
    atomic_fetch_add(&context->entered, 1);
  }
  if (before != NULL) {
    atomic_fetch_sub(&before->entered, 1);
  }
  thread->entered = context;
  if (previous != NULL) {
    *previous = before;
  }
  return ND4C_OK;
}

/* The routing of the thread's default context: the one chosen for it, else the process's default; one reference or
 * NULL. */
static nd4c_status find_routing(const nd4c_context *own, nd4c_routing **routing) {
  if (own->routing_chosen) {
    *routing = nd4c_routing_retain(own->routing);
    return ND4C_OK;
  }
  return nd4c_routing_get_default(routing);
}

/* The default context follows the default device and the configured width and modes. */
static nd4c_status refresh_own(nd4c_thread *thread, uint32_t epoch) {
  nd4c_tracer_follow_config();
  nd4c_device *device = NULL;
  ND4C_TRY(nd4c_device_default(&device));
  if (thread->own == NULL || thread->own->device != device) {
    nd4c_context *made = NULL;
    ND4C_TRY(nd4c_context_make(device, 1, false, false, &made));
    if (thread->own != NULL) {
      if (thread->own->routing_chosen) {
        made->routing = nd4c_routing_retain(thread->own->routing);
        made->routing_chosen = true;
      }
      (void)nd4c_context_destroy(thread->own);
    }
    thread->own = made;
  }
  thread->own->width = nd4c_context_default_width(device);
  thread->own->deterministic = nd4c_config_bool(ND4C_CONFIG_DETERMINISTIC);
  thread->own->strict = nd4c_config_bool(ND4C_CONFIG_STRICT);
  thread->own->transfer = nd4c_context_default_transfer();
  nd4c_routing *routing = NULL;
  ND4C_TRY(find_routing(thread->own, &routing));
  nd4c_context_route(thread->own, routing);
  thread->own_epoch = epoch;
  return ND4C_OK;
}

nd4c_status nd4c_context_resolve(nd4c_context *context, nd4c_context **resolved) {
  if (context != NULL) {
    *resolved = context;
    return nd4c_context_check(context, "the given context");
  }
  nd4c_thread *thread = NULL;
  ND4C_TRY(nd4c_thread_find(&thread));
  if (thread->entered == NULL) {
    uint32_t epoch = atomic_load_explicit(&nd4c_config_epoch, memory_order_acquire);
    if (thread->own == NULL || thread->own_epoch != epoch) {
      ND4C_TRY(refresh_own(thread, epoch));
    }
  }
  *resolved = thread->entered != NULL ? thread->entered : thread->own;
  return ND4C_OK;
}

nd4c_context *nd4c_context_current(void) {
  nd4c_context *context = NULL;
  return nd4c_context_resolve(NULL, &context) == ND4C_OK ? context : NULL;
}

nd4c_device *nd4c_context_device(const nd4c_context *context) {
  return context != NULL && nd4c_context_check(context, "the given context") == ND4C_OK ? context->device : NULL;
}

int32_t nd4c_context_width(const nd4c_context *context) {
  return context != NULL && nd4c_context_check(context, "the given context") == ND4C_OK ? context->width : 0;
}

nd4c_status nd4c_context_native(nd4c_context *context, nd4c_native_handles *handles) {
  enum { FIRST_SIZE = offsetof(nd4c_native_handles, has_device) }; /* the struct's size in version 0.1 */
  if (handles == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_context_native: handles is NULL");
  }
  if (handles->struct_size < FIRST_SIZE) {
    return nd4c_fail(ND4C_ARGUMENT, "struct_size is %u: set it to sizeof(nd4c_native_handles)", handles->struct_size);
  }
  ND4C_TRY(nd4c_context_resolve(context, &context));
  const nd4c_device *device = context->device;
  bool has_stream = context->stream != NULL && device->ops->stream_native != NULL;
  handles->device = device->description.native;
  if (ND4C_HAS_FIELD(handles, has_device)) {
    handles->has_device = device->description.has_native;
  }
  handles->stream = has_stream ? device->ops->stream_native(device->handle, context->stream) : NULL;
  return ND4C_OK;
}

nd4c_status nd4c_context_synchronize(nd4c_context *context) {
  ND4C_TRY(nd4c_context_resolve(context, &context));
  return synchronize(context);
}
