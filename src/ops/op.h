/* What each op means: schema, inference, views. Nothing here computes elements. Dispatch, graphs, emitters and the
 * importer include it. */
#ifndef ND4C_OPS_OP_H
#define ND4C_OPS_OP_H

#include <stdbool.h>
#include <stdint.h>

#include "device/op_def.h"

/* NULL if unknown. Any thread; takes no lock. */
const nd4c_op_def *nd4c_op_get_def(nd4c_op op);

/* The highest version, up to `most`, of the op of that name, which has no version in it; NULL if there is none. Any
 * thread; loads nothing. */
const nd4c_op_info *nd4c_op_find_until(const char *name, int64_t most);

/* Checks input count, required inputs and the first input's dtype against the schema, then infers. Errors carry the
 * op's name, the input's name, its dtype and shape, and what was expected. With inference->extents, extents may be
 * symbolic (ops/extents/extents.h); what the rule assumes about them is then among the table's guards. */
nd4c_status nd4c_op_infer(const nd4c_op_def *def, nd4c_inference *inference);

/* Whether the op's rule takes symbolic extents. *attrs (may be NULL): the attributes that may hold some, by a bit of
 * their positions. */
bool nd4c_op_takes_symbolic(const nd4c_op_def *def, uint32_t *attrs);

/* Named attributes into the schema's order with defaults. `values` has attr_count entries. NAME for an unknown or
 * repeated one, ARGUMENT for a wrong kind (an INT is accepted for FLOAT and BOOL). */
nd4c_status nd4c_op_resolve_attrs(const nd4c_op_info *op, const nd4c_attr *attrs, int32_t count,
                                  nd4c_attr_value *values);

/* The words for the values of the attribute at a position; NULL: it has none. `count` may be NULL. */
const nd4c_attr_word *nd4c_op_words(const nd4c_op_info *op, int32_t attr, int32_t *count);

/* Checks the value of the attribute at a position: its kind, a BOOL's range, a list's pointer and count. ARGUMENT. */
nd4c_status nd4c_op_check_attr(const nd4c_op_info *op, int32_t position, const nd4c_attr_value *value);

/* Resolves the windows of conv and pools on `spatial` axes, for the inference rules. The caller gives the kernel
 * extents; the function checks everything, and fills in the padding at both ends and the output extents. Of an axis
 * with symbolic extents, SAME leaves the paddings at 0: only numbers say how they are split. */
typedef struct nd4c_window {
  int32_t spatial;
  int64_t input[3], kernel[3], stride[3], dilation[3], pad_begin[3], pad_end[3], output[3];
} nd4c_window;
nd4c_status nd4c_window_resolve(const nd4c_inference *inference, int32_t spatial, const int64_t *input,
                                const int64_t *kernel, const nd4c_attr_value *strides, const nd4c_attr_value *pads,
                                const nd4c_attr_value *dilations, int64_t auto_pad, bool ceil_mode,
                                nd4c_window *window);

#endif
