/* Runs a choice on arrays: acquires them on the device, runs, commits. Eager calls (call.c) and plans in mode "arrays"
 * (graph/modes/arrays.c) call it. */
#ifndef ND4C_DISPATCH_EXECUTE_H
#define ND4C_DISPATCH_EXECUTE_H

#include "array/array.h"
#include "device/storage/storage.h"
#include "dispatch/choice.h"

/* Fills a tensor from an array, except data and buffer. NULL array: dtype NONE. */
void nd4c_tensor_describe(const nd4c_array *array, nd4c_tensor *tensor);

/* Runs `choice` on arrays (optional inputs NULL). `call` has op, attrs and flags; its tensors are filled here. A
 * failure after submission poisons the outputs. `scratch` may be NULL: it is then allocated. true_shapes: as in
 * nd4c_call. */
nd4c_status nd4c_execute(nd4c_choice *choice, const nd4c_context *context, const nd4c_op_def *def,
                         const nd4c_attr_value *attrs, const nd4c_array *const *inputs, int32_t input_count,
                         nd4c_array *const *outputs, void *scratch, int64_t *const *true_shapes);

/* After a kernel has failed with `status` and a text: puts op, device and kernel in front of the text, and poisons the
 * outputs unless the code means that nothing was written. Returns `status`. */
nd4c_status nd4c_execute_fail(const nd4c_choice *choice, const nd4c_context *context, const nd4c_op_def *def,
                              nd4c_array *const *outputs, nd4c_status status);

#endif
