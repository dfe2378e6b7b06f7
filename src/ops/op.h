/* What each op means: schema, inference, views. Nothing here computes elements. */
#ifndef ND4C_OPS_OP_H
#define ND4C_OPS_OP_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/op.h"
#include "nd4c/plugin.h"

/* Result of inference for one output. */
typedef struct nd4c_inferred {
  nd4c_dtype dtype;
  int32_t rank;
  int64_t shape[ND4C_MAX_RANK];
  /* shape is only the largest that there can be: the kernel tells the true one (nd4c_call.true_shapes). Such an op is
   * computed eagerly alone, never in a graph. A rule that leaves it alone says false. */
  bool shape_depends_on_data;
} nd4c_inferred;

/* What inference looks at. Inputs carry dtype, rank, shape, size and, when called eagerly or from a plan, strides; data
 * is never looked at. attrs stand in the order of the schema with defaults filled in. */
typedef struct nd4c_inference {
  const nd4c_op_info *op;
  int32_t input_count;
  const nd4c_tensor *inputs;
  const nd4c_attr_value *attrs;
  nd4c_inferred *outputs; /* op->output_count of them */
} nd4c_inference;

typedef nd4c_status (*nd4c_infer_function)(nd4c_inference *inference);
/* For ops that may be views: strides and offset (elements, relative to the input's element 0) of the output as a view
 * of input 0, given the inferred shape; false if the elements must be copied. Inputs carry strides. */
typedef bool (*nd4c_view_function)(const nd4c_inference *inference, int64_t *strides, int64_t *offset);

/* How fresh outputs are laid out. */
typedef enum nd4c_order_rule {
  ND4C_ORDER_C,      /* C order */
  ND4C_ORDER_INPUTS, /* memory order of the inputs of the output's rank (NumPy's K): element-wise, pools, norms */
  ND4C_ORDER_FIRST   /* memory order of the first input: conv, concat */
} nd4c_order_rule;

/* How an output may share memory with an input. */
typedef enum nd4c_alias_rule {
  ND4C_ALIAS_NONE, /* an output overlapping an input is computed into fresh memory first, then copied */
  ND4C_ALIAS_SAME, /* an output that is the very same view as an input is computed in place */
  ND4C_ALIAS_FIRST /* the same for the first input alone: a part of it is replaced */
} nd4c_alias_rule;

typedef struct nd4c_op_def {
  nd4c_op_info info;
  nd4c_infer_function infer;
  nd4c_view_function view; /* NULL: never a view */
  nd4c_order_rule order;
  nd4c_alias_rule alias;
  /* A kernel may find out that the call must be refused after it began to write: such an op never writes into an output
   * that is given, for what is refused must not be touched. Other kernels look at all their arguments first. */
  bool refuses_late;
} nd4c_op_def;

/* NULL if unknown. */
const nd4c_op_def *nd4c_op_get_def(nd4c_op op);

/* Checks input count, required inputs and the first input's dtype against the schema, then infers. Errors carry the
 * op's name, the input's name, its dtype and shape, and what was expected. */
nd4c_status nd4c_op_infer(const nd4c_op_def *def, nd4c_inference *inference);

/* Named attributes into the schema's order with defaults. `values` has attr_count entries. NAME for an unknown or
 * repeated one, ARGUMENT for a wrong kind (an INT is accepted for FLOAT and BOOL). */
nd4c_status nd4c_op_resolve_attrs(const nd4c_op_info *op, const nd4c_attr *attrs, int32_t count,
                                  nd4c_attr_value *values);

/* Checks the value of the attribute at a position: its kind, a BOOL's range, a list's pointer and count. ARGUMENT. */
nd4c_status nd4c_op_check_attr(const nd4c_op_info *op, int32_t position, const nd4c_attr_value *value);

/* Windows of conv and pools, resolved: what inference and kernels' callers both need. `spatial` axes, kernel extents
 * given. Fills begin/end padding and output extents; checks everything. */
typedef struct nd4c_window {
  int32_t spatial;
  int64_t input[3], kernel[3], stride[3], dilation[3], pad_begin[3], pad_end[3], output[3];
} nd4c_window;
nd4c_status nd4c_window_resolve(const nd4c_op_info *op, int32_t spatial, const int64_t *input, const int64_t *kernel,
                                const nd4c_attr_value *strides, const nd4c_attr_value *pads,
                                const nd4c_attr_value *dilations, int64_t auto_pad, bool ceil_mode,
                                nd4c_window *window);

#endif
