/* Eager calls of a context with routing: the vote, the fallback chain, decisions that are remembered. */
#ifndef ND4C_DISPATCH_ROUTED_H
#define ND4C_DISPATCH_ROUTED_H

#include "base/text.h"
#include "device/context/routing.h"
#include "ops/op.h"

/* One eager call as it came in; attributes in the order of the schema. */
typedef struct nd4c_eager_call {
  nd4c_op op;
  int32_t attr_count, input_count;
  const nd4c_array *const *inputs;
  const nd4c_attr_value *attrs;
  nd4c_array **outputs;
  uint64_t key; /* nd4c_call_key, 0: not to be looked up */
} nd4c_eager_call;

/* The call on exactly this context's device, as if it had no routing (call.c). */
nd4c_status nd4c_call_on(nd4c_context *context, const nd4c_eager_call *call);

/* An op without attributes on a context that is not looked at: one that was checked, or a plan's, which may serve that
 * plan alone (call.c). */
nd4c_status nd4c_call_inside(nd4c_context *context, nd4c_op op, const nd4c_array *input, nd4c_array **output);

/* The call where the context's routing sends it. */
nd4c_status nd4c_call_routed(nd4c_context *context, const nd4c_eager_call *call);

/* The rest of a routed call that `device` was asked for without a vote, and answered with `status`. */
nd4c_status nd4c_call_routed_after(nd4c_context *context, const nd4c_eager_call *call, nd4c_device *device,
                                   nd4c_status status);

/* The vote for a call in words, a line a device. */
void nd4c_routing_print_ballot(const nd4c_routing *routing, const nd4c_op_info *op, const nd4c_ballot *ballot,
                               nd4c_text *text);

#endif
