/* The definition of an op, from the op table (src/ops/op.c) or from a plug-in (plugin_ops.c). ops/op.h includes it for
 * all layers above. It is in src/device because plug-ins register their ops while the registry loads them. */
#ifndef ND4C_DEVICE_OP_DEF_H
#define ND4C_DEVICE_OP_DEF_H

#include "nd4c/plugin.h"

/* For ops that may be views: strides and offset (elements, relative to the input's element 0) of the output as a view
 * of input 0, given the inferred shape; false if the elements must be copied. Inputs carry strides. */
typedef bool (*nd4c_view_function)(const nd4c_inference *inference, int64_t *strides, int64_t *offset);

/* The memory order of fresh outputs. */
typedef enum nd4c_order_rule {
  ND4C_ORDER_C,      /* C order */
  ND4C_ORDER_INPUTS, /* memory order of the inputs of the output's rank (NumPy's K): element-wise, pools, norms */
  ND4C_ORDER_FIRST   /* memory order of the first input: conv, concat */
} nd4c_order_rule;

/* How an output may share memory with an input. */
typedef enum nd4c_alias_rule {
  ND4C_ALIAS_NONE, /* an output that overlaps an input is computed in fresh memory, then copied */
  ND4C_ALIAS_SAME, /* an output that is the very same view as an input is computed in place */
  ND4C_ALIAS_FIRST /* the same for the first input only, of which the op replaces a part */
} nd4c_alias_rule;

typedef struct nd4c_op_def {
  nd4c_op_info info;
  const char *const *output_names; /* info.output_count names; NULL: a plug-in's op, whose outputs have no names */
  nd4c_infer_function infer;
  const void *data;        /* for infer */
  nd4c_view_function view; /* NULL: never a view */
  nd4c_order_rule order;
  nd4c_alias_rule alias;
  /* A kernel may have to refuse the call after it has started to write. nd4c never lets such an op write to an output
   * that the caller gave, because a refused call must not change it. Other kernels check all arguments first. */
  bool refuses_late;
} nd4c_op_def;

/* Whether a plug-in defines the op, so that the results of its functions are checked. */
static inline bool nd4c_op_is_foreign(const nd4c_op_def *def) {
  return def->info.op >= ND4C_OP_PLUGIN;
}

#endif
