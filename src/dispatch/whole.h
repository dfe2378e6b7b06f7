/* Calls whose operands a device cannot take with their layouts: views are copied to separate arrays first, and results
 * for views are copied back. Devices with whole buffers (nd4c_device_description.whole_buffers) need it for every view;
 * other devices for elements that are not in C order, if all their kernels decline that order. dispatch/call.c asks. */
#ifndef ND4C_DISPATCH_WHOLE_H
#define ND4C_DISPATCH_WHOLE_H

#include "array/array.h"
#include "device/context/context.h"
#include "dispatch/routed.h"
#include "ops/op.h"

/* Whether the device can take the operands with their layouts. */
bool nd4c_whole_takes(const nd4c_device *device, const nd4c_op_def *def, const nd4c_eager_call *call);
/* Whether the device can compute the call with its operands in C order, after all its kernels have declined it. */
bool nd4c_whole_would_help(const nd4c_context *context, const nd4c_call *call);
/* Runs the call with whole arrays in place of views. Blocks the caller while views are copied. */
nd4c_status nd4c_whole_call(nd4c_context *context, const nd4c_op_def *def, const nd4c_eager_call *call);

/* Runs the op copy on the host, for devices without a kernel for it. */
nd4c_status nd4c_copy_by_host(const nd4c_array *from, nd4c_array *to);

#endif
