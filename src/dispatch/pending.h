/* One eager call in progress, for the files that make calls (call.c, routed.c, whole.c) and the one that explains them
 * (explain.c). */
#ifndef ND4C_DISPATCH_PENDING_H
#define ND4C_DISPATCH_PENDING_H

#include "array/array.h"
#include "dispatch/choice.h"
#include "dispatch/host/work.h"
#include "ops/op.h"

enum { ND4C_PENDING_INPUTS = 8, ND4C_PENDING_OUTPUTS = 8 };

/* The state of one call. */
typedef struct nd4c_pending {
  nd4c_context *context;
  const nd4c_op_def *def;
  const nd4c_array *const *inputs;
  int32_t input_count;
  const nd4c_attr_value *attrs;
  nd4c_choice *known;   /* from the cache, or NULL; borrowed */
  nd4c_array **outputs; /* the caller's */
  nd4c_tensor *tensors; /* inputs, then outputs */
  nd4c_inferred inferred[ND4C_PENDING_OUTPUTS];
  nd4c_array *targets[ND4C_PENDING_OUTPUTS]; /* what the kernel writes: one reference each */
  nd4c_work work;                            /* of a host op; ends with the call */
  bool wants_order;                          /* nothing takes the operands with their strides, but something does in C
                                                order */
} nd4c_pending;

/* Refuses an unknown op, and lists that are missing or have an invalid length. */
nd4c_status nd4c_pending_check(nd4c_op op, const nd4c_op_def *def, const nd4c_array *const *inputs, int32_t input_count,
                               nd4c_array **outputs);
/* Puts named attributes into the schema's order. The caller frees *values with nd4c_pending_attrs_free. */
nd4c_status nd4c_pending_attrs(const nd4c_op_def *def, const nd4c_attr *attrs, int32_t attr_count,
                               nd4c_attr_value **values);
void nd4c_pending_attrs_free(const nd4c_op_def *def, nd4c_attr_value *values);
/* Checks the handles, describes the inputs and infers; `inference` stays valid for the code that makes views. */
nd4c_status nd4c_pending_infer(nd4c_pending *pending, nd4c_inference *inference);
/* Refuses a given output that cannot take the op's result `at`: another shape or dtype, read-only memory, elements that
 * share memory with each other or with an earlier output. */
nd4c_status nd4c_pending_check_output(const nd4c_op_def *def, nd4c_array *const *outputs, int32_t at, nd4c_dtype dtype,
                                      int32_t rank, const int64_t *shape);
/* The same for all given outputs, if results are computed already, before the first output is written. */
nd4c_status nd4c_pending_check_given(const nd4c_op_def *def, nd4c_array *const *given, nd4c_array *const *fresh);
/* Gives the caller the results for which it gave no array, or none after a failure; releases the others. */
void nd4c_pending_hand_out(nd4c_array **outputs, nd4c_array *const *fresh, int32_t count, nd4c_status status);
/* Strides of a fresh output by the op's rule. */
void nd4c_pending_order(const nd4c_pending *pending, const nd4c_inferred *inferred, int64_t *strides);
/* The call descriptor over the pending call's tensors. */
/* Fills in encoded inputs without decoding them, for kernels that read them. After nd4c_pending_infer. */
void nd4c_pending_show_encoded(nd4c_pending *p);
nd4c_call nd4c_pending_call(const nd4c_pending *pending);

#endif
