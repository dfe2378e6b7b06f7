/* Contexts: where and how operations run. Every thread has a current context. The function of an op, such as nd4c_add,
 * runs there; its second form, nd4c_add_on, runs on a given context. A context is used by one thread at a time.
 *
 * A thread moves to another device in one of two ways. nd4c_context_acquire lends it a pooled context of the device,
 * with its stream, until nd4c_context_release. Acquires nest, and each release restores the previous context. A stream
 * is created only if the pool has no free context of the device. A context from nd4c_context_create has its own
 * settings, lives until the program destroys it and becomes current by nd4c_context_enter. The two can be mixed:
 * release restores the context that was current before the acquire, even if others were entered in between. */
#ifndef ND4C_CONTEXT_H
#define ND4C_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/device.h"
#include "nd4c/export.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* A pointer that is not a context, a destroyed context, or a lent context that the calling thread does not hold is
 * refused with HANDLE and never dereferenced. (If a new context was created at the same address, the pointer means that
 * one.) Plans made on a context keep working after it is destroyed or released. */
typedef struct nd4c_context nd4c_context;

/* What happens when an operation needs an array on a device where it is not current. Explicit transfers
 * (nd4c_array_migrate, _prefetch, _to_device, _read, _data) are done under every policy. */
typedef enum nd4c_transfer {
  ND4C_TRANSFER_DEFAULT = 0,   /* the value of nd4c.device.transfer when the context is created or lent; the threads'
                                  default contexts follow later changes too */
  ND4C_TRANSFER_ON_DEMAND = 1, /* the array is copied there; both replicas are then shared ('S', nd4c_array_state) */
  ND4C_TRANSFER_EAGER = 2, /* as ON_DEMAND; besides, when an operation, a plan or nd4c_array_write writes an array, the
                              replicas that were current on other devices until then are updated at once; a replica that
                              was invalid ('I') stays so until it is used */
  ND4C_TRANSFER_NONE = 3   /* the operation is refused (UNSUPPORTED); the text names the array and both devices */
} nd4c_transfer;

typedef struct nd4c_context_options {
  uint32_t struct_size; /* sizeof(nd4c_context_options) */
  nd4c_device *device;  /* NULL: the registry's default */
  int32_t width;        /* parallel width; 0: the device's */
  bool deterministic;   /* only kernels whose result does not depend on width */
  bool strict;          /* a setting that cannot be applied is an error instead of a note in the report */
  /* Appended; a shorter struct_size leaves them out. */
  nd4c_transfer transfer;
  int32_t priority; /* of its stream, from the device's least_priority to greatest_priority (served first) */
} nd4c_context_options;

/* Makes a context with its own stream on the device. options NULL: all defaults. ARGUMENT: an option is out of range,
 * for example a priority that the device does not have. */
ND4C_API nd4c_status nd4c_context_create(const nd4c_context_options *options, nd4c_context **context);
/* Makes a context on a stream that the application has made with the vendor's functions and owns: nd4c enqueues its
 * work there, in order with the application's own work. If other contexts use the same arrays, nd4c orders the work of
 * all these contexts, as it does for contexts that it made. The application keeps the stream alive until the context
 * and the plans made on it are destroyed. Destroying them waits for everything on the stream, and nd4c never destroys
 * the stream. Width, deterministic and strict are those of the configuration. native_stream may be NULL where NULL
 * names the vendor's default stream (CUDA). OpenCL: an in-order cl_command_queue of the device in nd4c's cl_context (to
 * get it, call clGetCommandQueueInfo on the queue that nd4c_context_native gives). UNSUPPORTED: the device takes no
 * streams of the application; ARGUMENT: it is not such a stream; HANDLE. */
ND4C_API nd4c_status nd4c_context_wrap(nd4c_device *device, void *native_stream, nd4c_context **context);
/* Waits for the context's stream and frees the context. Plans made on it retain what they need and may still run.
 * ARGUMENT while it is the current context of a thread: that thread must leave it first. NULL is fine. */
ND4C_API nd4c_status nd4c_context_destroy(nd4c_context *context);
/* Makes `context` (NULL: the default context) the thread's current one and gives the previous one (previous may be
 * NULL). */
ND4C_API nd4c_status nd4c_context_enter(nd4c_context *context, nd4c_context **previous);

/* Lends the calling thread a context of the device (NULL: the registry's default) and makes it the thread's current
 * one, until nd4c_context_release. Its width, deterministic and strict are those of the configuration. Released
 * contexts and their streams are reused: in steady state none are created. A thread that ends releases the contexts it
 * holds. HANDLE: not a device of nd4c; else the failure of creating a stream. A failure changes nothing. */
ND4C_API nd4c_status nd4c_context_acquire(nd4c_device *device, nd4c_context **context);
/* Releases the context that the calling thread acquired last and restores the one that was current before the acquire.
 * Does not wait for submitted work. HANDLE, with nothing changed and the reason in the text: it is not the innermost
 * one, it was released already, another thread holds it, or it was never acquired. */
ND4C_API nd4c_status nd4c_context_release(nd4c_context *context);

/* The vendor's handles behind a context, for programs that submit work through the vendor's API. */
typedef struct nd4c_native_handles {
  uint32_t struct_size; /* set by the caller: sizeof(nd4c_native_handles) */
  void *device;         /* cl_device_id, CUdevice as a pointer; see has_device */
  void *stream;         /* cl_command_queue, CUstream; NULL: none */
  bool has_device;      /* `device` is a vendor's handle, even if it is NULL (CUdevice 0 is NULL). Appended: a shorter
                           struct_size leaves it out */
} nd4c_native_handles;

/* Fills *handles, which are valid as long as the context lives. context NULL: the thread's current one. */
ND4C_API nd4c_status nd4c_context_native(nd4c_context *context, nd4c_native_handles *handles);

/* The thread's current context; if the thread has entered none, its default context. Borrowed. NULL if no backend can
 * be opened (see nd4c_error_message). */
ND4C_API nd4c_context *nd4c_context_current(void);
/* The context's device, borrowed; NULL if `context` is NULL or not a context. */
ND4C_API nd4c_device *nd4c_context_device(const nd4c_context *context);
/* The context's parallel width; 0 if `context` is NULL or not a context. */
ND4C_API int32_t nd4c_context_width(const nd4c_context *context);
/* Waits for everything submitted through the context; reports the first failure that no call has reported yet. */
ND4C_API nd4c_status nd4c_context_synchronize(nd4c_context *context);

ND4C_EXTERN_C_END
#endif
