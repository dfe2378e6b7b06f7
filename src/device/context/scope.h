/* Contexts that nd4c_context_acquire lends to threads. context_known.c asks whether a thread holds one;
 * device/access/memory_query.c frees idle ones. */
#ifndef ND4C_DEVICE_CONTEXT_SCOPE_H
#define ND4C_DEVICE_CONTEXT_SCOPE_H

#include "device/context/context.h"
#include "device/stream/thread.h"

/* Whether the calling thread, `thread`, has acquired the context and not released it. */
bool nd4c_scope_is_held(const nd4c_thread *thread, const nd4c_context *context);
/* Frees the device's idle contexts and their streams. */
void nd4c_scope_trim(const nd4c_device *device);

#endif
