/* Calls whose operands a device cannot be given as they lie: what a program gives as a view is copied into an array of
 * its own first, and results for views are copied back. Devices of whole buffers
 * (nd4c_device_description.whole_buffers) need it for every view; others for elements in another order than C's, where
 * each of their kernels declines that order. dispatch/call.c asks. */
#ifndef ND4C_DISPATCH_WHOLE_H
#define ND4C_DISPATCH_WHOLE_H

#include "array/array.h"
#include "device/context/context.h"
#include "dispatch/routed.h"
#include "ops/op.h"

/* Whether the device can be given the operands as they are. */
bool nd4c_whole_takes(const nd4c_device *device, const nd4c_op_def *def, const nd4c_eager_call *call);
/* Whether the device computes the call, which nothing there takes, with the same operands in C order. */
bool nd4c_whole_would_help(const nd4c_context *context, const nd4c_call *call);
/* The call with whole arrays in place of views. Blocks the caller while views are copied. */
nd4c_status nd4c_whole_call(nd4c_context *context, const nd4c_op_def *def, const nd4c_eager_call *call);

/* The op copy on the host, wherever the arrays are: for devices without a kernel for it. */
nd4c_status nd4c_copy_by_host(const nd4c_array *from, nd4c_array *to);

#endif
