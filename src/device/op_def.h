/* An op as the library knows it, from the op table (src/ops/op.c) or from a plug-in (plugin_ops.c). Stands here because
 * plug-ins register their ops while the registry loads them. */
#ifndef ND4C_DEVICE_OP_DEF_H
#define ND4C_DEVICE_OP_DEF_H

#include "nd4c/plugin.h"

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
  const char *const *output_names; /* info.output_count of them; NULL: a plug-in's op, whose outputs have none */
  nd4c_infer_function infer;
  const void *data;        /* for infer */
  nd4c_view_function view; /* NULL: never a view */
  nd4c_order_rule order;
  nd4c_alias_rule alias;
  /* A kernel may find out that the call must be refused after it began to write: such an op never writes into an output
   * that is given, for what is refused must not be touched. Other kernels look at all their arguments first. */
  bool refuses_late;
} nd4c_op_def;

/* Whether a plug-in brings the op: what its functions answer is checked. */
static inline bool nd4c_op_is_foreign(const nd4c_op_def *def) {
  return def->info.op >= ND4C_OP_PLUGIN;
}

#endif
