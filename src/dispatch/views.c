/* Implements views.h. call.c enters here for each op whose definition has a view function. */
#include "dispatch/views.h"

nd4c_status nd4c_view_make(const nd4c_op_def *def, const nd4c_inference *inference, const nd4c_array *input,
                           nd4c_array **out) {
  int64_t strides[ND4C_MAX_RANK], offset = 0;
  const nd4c_inferred *inferred = &inference->outputs[0];
  if (def->view == NULL || !def->view(inference, strides, &offset)) {
    return ND4C_OK;
  }
  nd4c_storage *storage = nd4c_storage_retain(input->storage);
  return nd4c_array_make_of(inferred->dtype, inferred->rank, inferred->shape, strides, input->offset + offset, storage,
                            out);
}
