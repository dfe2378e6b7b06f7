/* Calls on devices whose operands are whole buffers (nd4c_device_description.whole_buffers): what a program gives as a
 * view is copied into an array of its own first, and results for views are copied back. dispatch/call.c asks. */
#ifndef ND4C_DISPATCH_WHOLE_H
#define ND4C_DISPATCH_WHOLE_H

#include "array/array.h"
#include "device/context.h"
#include "dispatch/routed.h"
#include "ops/op.h"

/* Whether such a device can be given the operands as they are. */
bool nd4c_whole_takes(const nd4c_op_def *def, const nd4c_eager_call *call);
/* The call with whole arrays in place of views. Blocks the caller while views are copied. */
nd4c_status nd4c_whole_call(nd4c_context *context, const nd4c_op_def *def, const nd4c_eager_call *call);

#endif
