/* Sorting and searching. */
#include "base/status.h"
#include "import/onnx/family.h"

/* k is an attribute up to opset 9, an input afterwards. */
static nd4c_status emit_top_k(nd4c_onnx_emission *emission) {
  enum { K_IS_INPUT = 10 };
  int64_t axis = 0;
  int64_t k = 0;
  int64_t largest = 1;
  int64_t sorted = 1;
  ND4C_TRY(nd4c_onnx_get_int(emission, "axis", -1, &axis));
  ND4C_TRY(nd4c_onnx_get_int(emission, "largest", 1, &largest));
  ND4C_TRY(nd4c_onnx_get_int(emission, "sorted", 1, &sorted)); /* the best come first in any case */
  if (emission->opset < K_IS_INPUT) {
    if (nd4c_onnx_attribute_find(emission, "k") == NULL) {
      return nd4c_fail(ND4C_FORMAT, "attribute 'k' is missing");
    }
    ND4C_TRY(nd4c_onnx_get_int(emission, "k", 0, &k));
  } else {
    int32_t count = 0;
    ND4C_TRY(nd4c_onnx_read_ints(emission, nd4c_onnx_input(emission, 1), "input 'K'", 1, &k, &count));
    if (count != 1) {
      return nd4c_fail(ND4C_FORMAT, "input 'K' has %d elements; expected one", (int)count);
    }
  }
  nd4c_attr attrs[] = {nd4c_attr_of_int("axis", axis), nd4c_attr_of_int("k", k),
                       nd4c_attr_of_bool("largest", largest != 0)};
  return nd4c_emit_outputs(&emission->emitter, ND4C_OP_top_k, emission->inputs, 1, attrs, 3, emission->outputs, 2);
}

static nd4c_status emit_unique(nd4c_onnx_emission *emission) {
  int64_t axis = 0;
  int64_t sorted = 0;
  bool has_axis = nd4c_onnx_attribute_find(emission, "axis") != NULL;
  ND4C_TRY(nd4c_onnx_get_int(emission, "axis", 0, &axis));
  ND4C_TRY(nd4c_onnx_get_int(emission, "sorted", 1, &sorted));
  nd4c_attr attrs[] = {nd4c_attr_of_ints("axis", &axis, has_axis ? 1 : 0), nd4c_attr_of_bool("sorted", sorted != 0)};
  return nd4c_emit_outputs(&emission->emitter, ND4C_OP_unique, emission->inputs, 1, attrs, 2, emission->outputs, 4);
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS                                  \
  OP(TopK, 1, 9, 1, 1, 2, top_k, NONE)        \
  OP(TopK, 10, LAST, 2, 2, 2, top_k, NONE)    \
  OP(Unique, 11, LAST, 1, 1, 4, unique, NONE) \
  OP(NonZero, 9, LAST, 1, 1, 1, direct, nonzero)

ND4C_ONNX_FAMILY(sorting, "", ROWS)
