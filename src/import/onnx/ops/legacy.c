/* Ops in the form that they had before opset 6. emission/scope.c calls the emit functions through the rows below. */
#include "base/status.h"
#include "import/onnx/family.h"
#include "ops/compose/compose.h"

/* Up to opset 5 the dtype is given by its name. */
static nd4c_status emit_cast_named(nd4c_onnx_emission *emission) {
  nd4c_span name;
  nd4c_dtype dtype = ND4C_DTYPE_NONE;
  ND4C_TRY(nd4c_onnx_get_text(emission, "to", "", &name));
  for (int64_t number = 1; nd4c_onnx_dtype_get(number) != NULL; number++) {
    if (nd4c_span_is(name, nd4c_onnx_dtype_get(number)->name)) {
      ND4C_TRY(nd4c_onnx_dtype_resolve(number, &dtype));
      return nd4c_emit_cast(&emission->emitter, emission->inputs[0], dtype, &emission->outputs[0]);
    }
  }
  return nd4c_fail(ND4C_FORMAT, "attribute 'to' is %s, which is no element type", nd4c_span_show(name).text);
}

static nd4c_status emit_tile_axis(nd4c_onnx_emission *emission) {
  double tiles = 0, axis = 0;
  int32_t fixed = 0;
  nd4c_onnx_operand x = emission->inputs[0];
  ND4C_TRY(nd4c_onnx_read_number(emission, emission->inputs[1], "input 'tiles'", &tiles));
  ND4C_TRY(nd4c_onnx_read_number(emission, emission->inputs[2], "input 'axis'", &axis));
  if (!(tiles >= 0 && tiles <= INT32_MAX) || !(axis >= -ND4C_MAX_RANK && axis < ND4C_MAX_RANK)) {
    return nd4c_fail(ND4C_FORMAT, "%g tiles on axis %g; expected 0 or more tiles on an axis of the input", tiles, axis);
  }
  ND4C_TRY(nd4c_onnx_fix_axis(emission, x, (int64_t)axis, &fixed));
  return nd4c_compose_tile(&emission->emitter, x, fixed, (int64_t)tiles, &emission->outputs[0]);
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS                                \
  OP(Cast, 1, 5, 1, 1, 1, cast_named, NONE) \
  OP(Tile, 1, 5, 3, 3, 1, tile_axis, NONE)

ND4C_ONNX_FAMILY(legacy, "", ROWS)
