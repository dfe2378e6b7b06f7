/* Implements signs.h. */
#include "graph/ir/signs.h"

#include <math.h>

#include "graph/ir/uniform.h"

enum { MOST_STEPS = 6 };

static bool is_never_negative(const nd4c_rewrite *rewrite, nd4c_value value, int32_t steps) {
  const nd4c_graph_value *info = value < 0 ? NULL : &rewrite->graph->values[value];
  if (info == NULL || nd4c_dtype_get_info(info->dtype)->kind != ND4C_KIND_FLOAT || steps == 0) {
    return false;
  }
  nd4c_uniform number;
  if (info->constant != NULL) {
    return nd4c_constant_uniform(rewrite, value, &number) && !signbit(number.real) && !isnan(number.real);
  }
  const nd4c_graph_node *node = info->producer < 0 ? NULL : &rewrite->graph->nodes[info->producer];
  if (node == NULL || node->def == NULL) {
    return false;
  }
  switch (node->def->info.op) {
    case ND4C_OP_abs:
    case ND4C_OP_exp:
    case ND4C_OP_exp2:
    case ND4C_OP_sigmoid:
    case ND4C_OP_softmax:
    case ND4C_OP_square:
      return true;
    case ND4C_OP_add:
    case ND4C_OP_maximum:
      return is_never_negative(rewrite, node->inputs[0], steps - 1) &&
             is_never_negative(rewrite, node->inputs[1], steps - 1);
    case ND4C_OP_multiply:
      return node->inputs[0] == node->inputs[1] || (is_never_negative(rewrite, node->inputs[0], steps - 1) &&
                                                    is_never_negative(rewrite, node->inputs[1], steps - 1));
    case ND4C_OP_mean:
    case ND4C_OP_sum:
    case ND4C_OP_max:
    case ND4C_OP_min:
    case ND4C_OP_reshape:
    case ND4C_OP_transpose:
      return is_never_negative(rewrite, node->inputs[0], steps - 1);
    default:
      return false;
  }
}

bool nd4c_value_is_never_negative(const nd4c_rewrite *rewrite, nd4c_value value) {
  return is_never_negative(rewrite, value, MOST_STEPS);
}
