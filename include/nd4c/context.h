/* Contexts: where and how operations run. Every thread has a current one; nd4c_x(...) runs there, nd4c_x_on(ctx, ...)
 * on a given one. A context is used by one thread at a time.
 *
 * A thread comes to another device in one of two ways. nd4c_context_acquire lends it a context of the device, stream
 * included, until nd4c_context_release: that nests, restores what was before and costs no stream. A context of one's
 * own (nd4c_context_create) has settings of its own, lives as long as its maker wishes and is made current by
 * nd4c_context_enter. The two mix: releasing restores what was current before the acquire, whatever was entered in
 * between. */
#ifndef ND4C_CONTEXT_H
#define ND4C_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/device.h"
#include "nd4c/export.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* Functions that are given a pointer that is no context, one that was destroyed, or one that nd4c_context_acquire lent
 * and that the calling thread does not hold, refuse it with HANDLE and do not look behind it (a context at the same
 * address that was made since is that one). Plans made on a context serve on when it was destroyed or given back. */
typedef struct nd4c_context nd4c_context;

/* What happens when an operation needs an array on a device where it is not current. What is asked for by name
 * (nd4c_array_migrate, _prefetch, _to_device, _read, _data) is done under each of them. */
typedef enum nd4c_transfer {
  ND4C_TRANSFER_DEFAULT = 0,   /* what the property nd4c.device.transfer says when the context is made or lent; the
                                  threads' own contexts follow it */
  ND4C_TRANSFER_ON_DEMAND = 1, /* it is copied there; both replicas are then Shared */
  ND4C_TRANSFER_EAGER = 2, /* so it is; and when an operation, a plan or nd4c_array_write writes an array, exactly the
                              replicas that were current elsewhere until then are brought up to date at once; one that
                              was stale (Invalid) before stays stale until it is used */
  ND4C_TRANSFER_NONE = 3   /* the operation is refused (UNSUPPORTED); the text names the array and both devices */
} nd4c_transfer;

typedef struct nd4c_context_options {
  uint32_t struct_size; /* sizeof(nd4c_context_options) */
  nd4c_device *device;  /* NULL: the registry's default */
  int32_t width;        /* parallel width; 0: the device's */
  bool deterministic;   /* only kernels whose result does not depend on width */
  bool strict;          /* a request that cannot be applied is an error instead of a note in the report */
  /* Appended; a shorter struct_size leaves it out. */
  nd4c_transfer transfer;
  int32_t priority; /* of its stream, within the device's least_priority to greatest_priority, which goes first */
} nd4c_context_options;

/* Makes a context with its own stream on the device. options NULL: all defaults. ARGUMENT: an option is out of its
 * range, as a priority that the device does not have. */
ND4C_API nd4c_status nd4c_context_create(const nd4c_context_options *options, nd4c_context **context);
/* Makes a context on a stream that the application has made with the vendor's functions and owns: nd4c's work goes
 * there, in order with the application's own, and other contexts wait for it and it for them as usual. It stays alive
 * until the context and the plans made on it are destroyed, which wait for everything on it; nd4c never destroys it.
 * Width and modes are those of configuration. native_stream may be NULL where that names the vendor's default stream
 * (CUDA). OpenCL: an in-order cl_command_queue of the device in nd4c's cl_context,
 * which clGetCommandQueueInfo tells of the queue that nd4c_context_native gives. UNSUPPORTED: the device takes none;
 * ARGUMENT: it is no such stream; HANDLE. */
ND4C_API nd4c_status nd4c_context_wrap(nd4c_device *device, void *native_stream, nd4c_context **context);
/* Waits for the context's stream and frees it; plans made on it keep what they need and may still run. If it is some
 * thread's current one, that thread must leave it first (ND4C_ARGUMENT). NULL is fine. */
ND4C_API nd4c_status nd4c_context_destroy(nd4c_context *context);
/* Makes `context` (NULL: the default context) the thread's current one and gives back the previous one (previous may
 * be NULL if the caller does not need it). */
ND4C_API nd4c_status nd4c_context_enter(nd4c_context *context, nd4c_context **previous);

/* Lends the calling thread a context of the device (NULL: the registry's default) and makes it the thread's current
 * one, until nd4c_context_release. Its width and modes are those of configuration. Contexts and streams that were given
 * back are lent again: in steady state nothing is made. A thread that ends gives back what it holds.
 * HANDLE: not a device of nd4c's; else what making a stream fails with. A failure changes nothing. */
ND4C_API nd4c_status nd4c_context_acquire(nd4c_device *device, nd4c_context **context);
/* Gives back the context that the calling thread acquired last and restores what was current before; whatever happened
 * in between, and without waiting for what was submitted. HANDLE, with nothing changed and the reason in the text: it
 * is not the innermost one, it was given back already, another thread holds it, it was never acquired. */
ND4C_API nd4c_status nd4c_context_release(nd4c_context *context);

/* The vendor's handles behind a context, for code that submits work of its own. */
typedef struct nd4c_native_handles {
  uint32_t struct_size; /* set by the caller: sizeof(nd4c_native_handles) */
  void *device;         /* cl_device_id, CUdevice as a pointer; see has_device */
  void *stream;         /* cl_command_queue, CUstream; NULL: none */
  bool has_device;      /* `device` is a vendor's handle, also where it is NULL: CUdevice 0 is. Appended: a shorter
                         * struct_size leaves it out */
} nd4c_native_handles;

/* Fills *handles; they live as long as the context. context NULL: the thread's current one. */
ND4C_API nd4c_status nd4c_context_native(nd4c_context *context, nd4c_native_handles *handles);

/* The thread's current context; the process-wide default one if none was entered. Borrowed. NULL if no backend can be
 * opened (see nd4c_error_message). */
ND4C_API nd4c_context *nd4c_context_current(void);
/* NULL for NULL and for what is no context. */
ND4C_API nd4c_device *nd4c_context_device(const nd4c_context *context);
/* 0 for these. */
ND4C_API int32_t nd4c_context_width(const nd4c_context *context);
/* Waits for everything submitted through the context; reports the first unseen failure. */
ND4C_API nd4c_status nd4c_context_synchronize(nd4c_context *context);

ND4C_EXTERN_C_END
#endif
