/* Sorting and searching. The results of top_k are sorted even if a node sets `sorted` to 0. emission/scope.c calls the
 * emit functions through the rows below. */
#include "base/status.h"
#include "import/onnx/family.h"

/* From opset 10 on, k is an input. */
static nd4c_status emit_top_k(nd4c_onnx_emission *emission) {
  int64_t k = 0;
  nd4c_onnx_attrs attrs;
  ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  int32_t count = 0;
  ND4C_TRY(nd4c_onnx_read_extents(emission, emission->inputs[1], "input 'K'", 1, &k, &count));
  if (count != 1) {
    return nd4c_fail(ND4C_FORMAT, "input 'K' is empty; expected one number");
  }
  nd4c_onnx_attrs_add(&attrs, nd4c_attr_of_int("k", k));
  return nd4c_onnx_emit_attrs(emission, ND4C_OP_top_k, emission->inputs, 1, &attrs);
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS                                                                                                     \
  MAP(TopK, 1, 9, 1, 1, 2, top_k, ATTR("axis", INT, "axis", -1), ATTR("k", INT, "k", REQUIRED))                  \
  READ(TopK, 10, LAST, 2, 2, 2, top_k, NONE, ATTR("axis", INT, "axis", -1), ATTR("largest", BOOL, "largest", 1), \
       IGNORE("sorted"))                                                                                         \
  MAP(Unique, 11, LAST, 1, 1, 4, unique, ATTR("axis", ONE, "axis", 0), ATTR("sorted", BOOL, "sorted", 1))        \
  OP(NonZero, 9, LAST, 1, 1, 1, direct, nonzero)

ND4C_ONNX_FAMILY(sorting, "", ROWS)
