/* Eager calls on a context with routing: the vote, the fallback chain, and cached decisions. call.c calls this. */
#ifndef ND4C_DISPATCH_ROUTED_H
#define ND4C_DISPATCH_ROUTED_H

#include "base/text.h"
#include "device/context/routing.h"
#include "ops/op.h"

/* One eager call; attributes are in the schema's order. */
typedef struct nd4c_eager_call {
  nd4c_op op;
  int32_t attr_count, input_count;
  const nd4c_array *const *inputs;
  const nd4c_attr_value *attrs;
  nd4c_array **outputs;
  uint64_t key; /* nd4c_call_key; 0: do not look it up */
} nd4c_eager_call;

/* Runs the call on exactly this context's device, as if it had no routing (call.c). */
nd4c_status nd4c_call_on(nd4c_context *context, const nd4c_eager_call *call);

/* Runs an op without attributes on a context that is not checked, because it was checked before or belongs to a plan
 * (call.c). */
nd4c_status nd4c_call_inside(nd4c_context *context, nd4c_op op, const nd4c_array *input, nd4c_array **output);

/* Runs the call on the device that the context's routing chooses. */
nd4c_status nd4c_call_routed(nd4c_context *context, const nd4c_eager_call *call);

/* Continues a routed call after `device`, asked without a vote, has returned `status`. */
nd4c_status nd4c_call_routed_after(nd4c_context *context, const nd4c_eager_call *call, nd4c_device *device,
                                   nd4c_status status);

/* The vote for a call as text, one line for each device. */
void nd4c_routing_print_ballot(const nd4c_routing *routing, const nd4c_op_info *op, const nd4c_ballot *ballot,
                               nd4c_text *text);

#endif
