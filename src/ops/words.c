/* Public queries: the words for the values of attributes, and the names of outputs. `nd4c ops`, docs/reference/ops.md
 * and bindings use them. */
#include "device/op_def.h"
#include "ops/op.h"

const nd4c_attr_word *nd4c_op_attr_words(nd4c_op op, int32_t attr, int32_t *count) {
  const nd4c_op_info *info = nd4c_op_get(op);
  if (info != NULL) {
    return nd4c_op_words(info, attr, count);
  }
  if (count != NULL) {
    *count = 0;
  }
  return NULL;
}

const char *nd4c_op_output_name(nd4c_op op, int32_t output) {
  static const char *const numbered[ND4C_PLUGIN_OP_OUTPUTS] = {"y0", "y1", "y2", "y3", "y4", "y5", "y6", "y7"};
  const nd4c_op_def *def = nd4c_op_get_def(op);
  if (def == NULL || output < 0 || output >= def->info.output_count) {
    return NULL;
  }
  return def->output_names != NULL ? def->output_names[output] : def->info.output_count == 1 ? "y" : numbered[output];
}
