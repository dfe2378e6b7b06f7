/* Contexts: where and how operations run. Every thread has a current one; nd4c_x(...) runs there, nd4c_x_on(ctx, ...)
 * on a given one. A context is used by one thread at a time. */
#ifndef ND4C_CONTEXT_H
#define ND4C_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/device.h"
#include "nd4c/export.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

typedef struct nd4c_context nd4c_context;

typedef struct nd4c_context_options {
  uint32_t struct_size; /* sizeof(nd4c_context_options) */
  nd4c_device *device;  /* NULL: the registry's default */
  int32_t width;        /* parallel width; 0: the device's */
  bool deterministic;   /* only kernels whose result does not depend on width */
  bool strict;          /* a request that cannot be applied is an error instead of a note in the report */
} nd4c_context_options;

/* Makes a context with its own stream on the device. options NULL: all defaults. */
ND4C_API nd4c_status nd4c_context_create(const nd4c_context_options *options, nd4c_context **context);
/* Waits for the context's stream and frees it; plans made on it keep what they need and may still run. If it is some
 * thread's current one, that thread must leave it first (ND4C_ARGUMENT). NULL is fine. */
ND4C_API nd4c_status nd4c_context_destroy(nd4c_context *context);
/* Makes `context` (NULL: the default context) the thread's current one and gives back the previous one (previous may
 * be NULL if the caller does not need it). */
ND4C_API nd4c_status nd4c_context_enter(nd4c_context *context, nd4c_context **previous);
/* The thread's current context; the process-wide default one if none was entered. Borrowed. NULL if no backend can be
 * opened (see nd4c_error_message). */
ND4C_API nd4c_context *nd4c_context_current(void);
ND4C_API nd4c_device *nd4c_context_device(const nd4c_context *context);
ND4C_API int32_t nd4c_context_width(const nd4c_context *context);
/* Waits for everything submitted through the context; reports the first unseen failure. */
ND4C_API nd4c_status nd4c_context_synchronize(nd4c_context *context);

ND4C_EXTERN_C_END
#endif
