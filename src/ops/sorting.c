/* Rules of sorting, searching and sets. */
#include "ops/rules.h"

nd4c_status nd4c_infer_nonzero(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  int64_t shape[2] = {x->rank > 0 ? x->rank : 1, x->size};
  nd4c_rule_output(inference, ND4C_INT64, 2, shape);
  inference->outputs[0].shape_depends_on_data = true;
  return ND4C_OK;
}
