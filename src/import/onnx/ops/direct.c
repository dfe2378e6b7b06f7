/* Emit functions that rows of every family share (family.h), such as one for rows that map to a single op.
 * emission/scope.c calls them through those rows. */
#include <inttypes.h>

#include "base/status.h"
#include "import/onnx/family.h"
#include "ops/compose/compose.h"

/* Refuses inputs of different dtypes in arithmetic, comparisons and products (except the condition of Where), as ONNX
 * does. nd4c's ops would promote them. */
static nd4c_status check_inputs_from(const nd4c_onnx_emission *emission, int32_t first) {
  nd4c_dtype dtype = nd4c_emitted_get(&emission->emitter, emission->inputs[first]).dtype;
  for (int32_t i = first + 1; i < emission->input_count; i++) {
    if (emission->inputs[i] == ND4C_ONNX_OPERAND_NONE) {
      continue;
    }
    nd4c_dtype other = nd4c_emitted_get(&emission->emitter, emission->inputs[i]).dtype;
    if (other != dtype) {
      return nd4c_fail(ND4C_FORMAT, "input %s is %s, but input %s is %s; ONNX takes one dtype here: cast one of them",
                       nd4c_onnx_input_name(emission, first).text, nd4c_dtype_name(dtype),
                       nd4c_onnx_input_name(emission, i).text, nd4c_dtype_name(other));
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_onnx_check_one_type(const nd4c_onnx_emission *emission) {
  return check_inputs_from(emission, 0);
}

static nd4c_status check_one_type(const nd4c_onnx_emission *emission) {
  nd4c_category category = nd4c_op_get_def(emission->node->mapping->op)->info.category;
  if (category != ND4C_CATEGORY_BINARY && category != ND4C_CATEGORY_TERNARY && category != ND4C_CATEGORY_LINALG) {
    return ND4C_OK;
  }
  return check_inputs_from(emission, emission->node->mapping->op == ND4C_OP_where ? 1 : 0);
}

nd4c_status nd4c_onnx_emit_direct(nd4c_onnx_emission *emission) {
  nd4c_onnx_ignore(emission, "consumed_inputs");
  ND4C_TRY(check_one_type(emission));
  const nd4c_onnx_attrs none = {.count = 0};
  return nd4c_onnx_emit_attrs(emission, emission->node->mapping->op, emission->inputs, emission->input_count, &none);
}

/* b with axes of length 1 behind it, so that its first axis stands at `axis` of a. */
static nd4c_status align_legacy(nd4c_onnx_emission *emission, int64_t axis, nd4c_onnx_operand *b) {
  nd4c_emitted_info a_info = nd4c_emitted_get(&emission->emitter, emission->inputs[0]);
  nd4c_emitted_info b_info = nd4c_emitted_get(&emission->emitter, *b);
  axis += axis < 0 ? a_info.rank : 0;
  if (axis < 0 || axis > a_info.rank - b_info.rank) {
    return nd4c_fail(ND4C_FORMAT, "attribute 'axis' is %" PRId64 "; expected 0 to %d", axis,
                     (int)(a_info.rank - b_info.rank));
  }
  for (int32_t i = b_info.rank; i < a_info.rank - (int32_t)axis; i++) {
    b_info.shape[i] = 1;
  }
  return nd4c_emit_reshape(&emission->emitter, *b, a_info.rank - (int32_t)axis, b_info.shape, b);
}

nd4c_status nd4c_onnx_emit_direct_legacy(nd4c_onnx_emission *emission) {
  int64_t broadcast = 0;
  int64_t axis = 0;
  nd4c_onnx_operand b = emission->inputs[1];
  nd4c_onnx_ignore(emission, "consumed_inputs");
  ND4C_TRY(check_one_type(emission));
  ND4C_TRY(nd4c_onnx_get_int(emission, "broadcast", 0, &broadcast));
  bool has_axis = nd4c_onnx_attribute_find(emission, "axis") != NULL;
  ND4C_TRY(nd4c_onnx_get_int(emission, "axis", 0, &axis));
  if (broadcast != 0 && has_axis) {
    ND4C_TRY(align_legacy(emission, axis, &b));
  }
  return nd4c_emit_binary(&emission->emitter, emission->node->mapping->op, emission->inputs[0], b,
                          &emission->outputs[0]);
}

nd4c_status nd4c_onnx_check_variadic(nd4c_onnx_emission *emission) {
  nd4c_onnx_ignore(emission, "consumed_inputs");
  for (int32_t i = 0; i < emission->input_count; i++) {
    if (emission->inputs[i] == ND4C_ONNX_OPERAND_NONE) {
      return nd4c_fail(ND4C_FORMAT, "input %d is left out", (int)i);
    }
  }
  return check_one_type(emission);
}

nd4c_status nd4c_onnx_emit_variadic(nd4c_onnx_emission *emission) {
  ND4C_TRY(nd4c_onnx_check_variadic(emission));
  return nd4c_compose_fold(&emission->emitter, emission->node->mapping->op, emission->inputs, emission->input_count,
                           &emission->outputs[0]);
}

nd4c_status nd4c_onnx_emit_mapped(nd4c_onnx_emission *emission) {
  nd4c_onnx_attrs attrs;
  ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  return nd4c_onnx_emit_attrs(emission, emission->node->mapping->op, emission->inputs, emission->input_count, &attrs);
}
