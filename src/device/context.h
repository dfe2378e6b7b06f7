/* Contexts as the library sees them. */
#ifndef ND4C_DEVICE_CONTEXT_H
#define ND4C_DEVICE_CONTEXT_H

#include "device/device.h"
#include "nd4c/context.h"

struct nd4c_context {
  /* The owner's, and one of each plan made on it: a plan outlives its owner's nd4c_context_destroy. */
  _Atomic int32_t references;
  nd4c_device *device;
  nd4c_stream stream; /* NULL on synchronous devices */
  int32_t width;
  bool deterministic;
  bool strict;
  _Atomic int32_t entered; /* threads whose current context this is */
};

/* The given context, or the thread's current one; with the error of nd4c_device_default if there is none. */
nd4c_status nd4c_context_resolve(nd4c_context *context, nd4c_context **resolved);

nd4c_context *nd4c_context_retain(nd4c_context *context);
/* Waits for nothing, unless it is the last reference: that one's release frees the stream. */
void nd4c_context_release(nd4c_context *context);

#endif
