/* Elements at indices and where a condition is true; what indices make. */
#include <inttypes.h>

#include "base/status.h"
#include "import/onnx/family.h"

/* The row's op on the node's inputs, with one attribute that both sides name alike. */
static nd4c_status with_int(nd4c_onnx_emission *emission, nd4c_op op, int32_t inputs, const char *name,
                            int64_t preset) {
  int64_t value = 0;
  ND4C_TRY(nd4c_onnx_get_int(emission, name, preset, &value));
  nd4c_attr attr = nd4c_attr_of_int(name, value);
  return nd4c_emit(&emission->emitter, op, emission->inputs, inputs, &attr, 1, &emission->outputs[0]);
}

static nd4c_status emit_gather_elements(nd4c_onnx_emission *emission) {
  return with_int(emission, ND4C_OP_gather_elements, 2, "axis", 0);
}

static nd4c_status emit_gather_nd(nd4c_onnx_emission *emission) {
  return with_int(emission, ND4C_OP_gather_nd, 2, "batch_dims", 0);
}

/* -- scatters -------------------------------------------------------------------------------------------------- */

static nd4c_status read_reduction(nd4c_onnx_emission *emission, int64_t *reduction) {
  static const struct {
    const char *name;
    int64_t number;
  } names[] = {{"none", ND4C_SCATTER_REDUCTION_NONE},
               {"add", ND4C_SCATTER_REDUCTION_ADD},
               {"mul", ND4C_SCATTER_REDUCTION_MULTIPLY},
               {"max", ND4C_SCATTER_REDUCTION_MAXIMUM},
               {"min", ND4C_SCATTER_REDUCTION_MINIMUM}};
  nd4c_span text;
  ND4C_TRY(nd4c_onnx_get_text(emission, "reduction", "none", &text));
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (nd4c_span_is(text, names[i].name)) {
      *reduction = names[i].number;
      return ND4C_OK;
    }
  }
  return nd4c_fail(ND4C_FORMAT, "reduction %s; expected none, add, mul, max or min", nd4c_span_show(text).text);
}

static nd4c_status emit_scatter_elements(nd4c_onnx_emission *emission) {
  int64_t axis = 0;
  int64_t reduction = 0;
  ND4C_TRY(nd4c_onnx_get_int(emission, "axis", 0, &axis));
  ND4C_TRY(read_reduction(emission, &reduction));
  nd4c_attr attrs[2] = {nd4c_attr_of_int("axis", axis), nd4c_attr_of_int("reduction", reduction)};
  return nd4c_emit(&emission->emitter, ND4C_OP_scatter_elements, emission->inputs, 3, attrs, 2, &emission->outputs[0]);
}

static nd4c_status emit_scatter_nd(nd4c_onnx_emission *emission) {
  int64_t reduction = 0;
  ND4C_TRY(read_reduction(emission, &reduction));
  nd4c_attr attr = nd4c_attr_of_int("reduction", reduction);
  return nd4c_emit(&emission->emitter, ND4C_OP_scatter_nd, emission->inputs, 3, &attr, 1, &emission->outputs[0]);
}

static nd4c_status emit_tensor_scatter(nd4c_onnx_emission *emission) {
  int64_t axis = 0;
  nd4c_span mode;
  ND4C_TRY(nd4c_onnx_get_int(emission, "axis", -2, &axis));
  ND4C_TRY(nd4c_onnx_get_text(emission, "mode", "linear", &mode));
  bool circular = nd4c_span_is(mode, "circular");
  if (!circular && !nd4c_span_is(mode, "linear")) {
    return nd4c_fail(ND4C_FORMAT, "mode %s; expected linear or circular", nd4c_span_show(mode).text);
  }
  nd4c_attr attrs[2] = {nd4c_attr_of_int("axis", axis), nd4c_attr_of_bool("circular", circular)};
  nd4c_onnx_operand inputs[3] = {emission->inputs[0], emission->inputs[1], nd4c_onnx_input(emission, 2)};
  int32_t count = inputs[2] == ND4C_ONNX_OPERAND_NONE ? 2 : 3;
  return nd4c_emit(&emission->emitter, ND4C_OP_tensor_scatter, inputs, count, attrs, 2, &emission->outputs[0]);
}

/* -- conditions and sequences ---------------------------------------------------------------------------------- */

static nd4c_status emit_compress(nd4c_onnx_emission *emission) {
  const nd4c_onnx_attribute *given = nd4c_onnx_attribute_find(emission, "axis");
  int64_t axis = 0;
  ND4C_TRY(nd4c_onnx_get_int(emission, "axis", 0, &axis));
  nd4c_attr attr = nd4c_attr_of_ints("axes", &axis, given != NULL);
  return nd4c_emit(&emission->emitter, ND4C_OP_compress, emission->inputs, 2, &attr, 1, &emission->outputs[0]);
}

static nd4c_status emit_reverse_sequence(nd4c_onnx_emission *emission) {
  int64_t batch = 0;
  int64_t time = 0;
  ND4C_TRY(nd4c_onnx_get_int(emission, "batch_axis", 1, &batch));
  ND4C_TRY(nd4c_onnx_get_int(emission, "time_axis", 0, &time));
  nd4c_attr attrs[2] = {nd4c_attr_of_int("batch_axis", batch), nd4c_attr_of_int("time_axis", time)};
  return nd4c_emit(&emission->emitter, ND4C_OP_reverse_sequence, emission->inputs, 2, attrs, 2, &emission->outputs[0]);
}

/* -- what indices make ----------------------------------------------------------------------------------------- */

/* Indices of any number's dtype; the depth is known at import. */
static nd4c_status emit_one_hot(nd4c_onnx_emission *emission) {
  enum { DEEPEST = 1 << 30 };
  int64_t axis = 0;
  double depth = 0;
  nd4c_onnx_operand inputs[2] = {emission->inputs[0], emission->inputs[2]};
  ND4C_TRY(nd4c_onnx_get_int(emission, "axis", -1, &axis));
  ND4C_TRY(nd4c_onnx_read_number(emission, emission->inputs[1], "input 'depth'", &depth));
  if (!(depth >= 0) || depth > DEEPEST) {
    return nd4c_fail(ND4C_FORMAT, "a depth of %g; expected 0 to %d", depth, (int)DEEPEST);
  }
  if (nd4c_emitted_get(&emission->emitter, inputs[0]).dtype != ND4C_INT32) {
    ND4C_TRY(nd4c_emit_cast(&emission->emitter, inputs[0], ND4C_INT64, &inputs[0]));
  }
  nd4c_attr attrs[2] = {nd4c_attr_of_int("axis", axis), nd4c_attr_of_int("depth", (int64_t)depth)};
  return nd4c_emit(&emission->emitter, ND4C_OP_one_hot, inputs, 2, attrs, 2, &emission->outputs[0]);
}

static nd4c_status emit_trilu(nd4c_onnx_emission *emission) {
  int64_t upper = 0;
  int64_t k = 0;
  int32_t count = 0;
  ND4C_TRY(nd4c_onnx_get_int(emission, "upper", 1, &upper));
  if (nd4c_onnx_input(emission, 1) != ND4C_ONNX_OPERAND_NONE) {
    ND4C_TRY(nd4c_onnx_read_ints(emission, emission->inputs[1], "input 'k'", 1, &k, &count));
  }
  nd4c_attr attr = nd4c_attr_of_int("k", k);
  return nd4c_emit(&emission->emitter, upper != 0 ? ND4C_OP_triu : ND4C_OP_tril, emission->inputs, 1, &attr, 1,
                   &emission->outputs[0]);
}

static nd4c_status emit_col2im(nd4c_onnx_emission *emission) {
  static const char *const names[3] = {"strides", "pads", "dilations"};
  int64_t image[ND4C_MAX_RANK];
  int64_t kernel[ND4C_MAX_RANK];
  int32_t image_count = 0;
  int32_t kernel_count = 0;
  nd4c_attr attrs[5];
  ND4C_TRY(
      nd4c_onnx_read_ints(emission, emission->inputs[1], "input 'image_shape'", ND4C_MAX_RANK, image, &image_count));
  ND4C_TRY(
      nd4c_onnx_read_ints(emission, emission->inputs[2], "input 'block_shape'", ND4C_MAX_RANK, kernel, &kernel_count));
  attrs[0] = nd4c_attr_of_ints("image", image, image_count);
  attrs[1] = nd4c_attr_of_ints("kernel", kernel, kernel_count);
  for (int i = 0; i < 3; i++) {
    const int64_t *values = NULL;
    int32_t count = 0;
    ND4C_TRY(nd4c_onnx_get_ints(emission, names[i], &values, &count));
    attrs[i + 2] = nd4c_attr_of_ints(names[i], values, count);
  }
  return nd4c_emit(&emission->emitter, ND4C_OP_col2im, emission->inputs, 1, attrs, 5, &emission->outputs[0]);
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS                                                     \
  OP(GatherElements, 11, LAST, 2, 2, 1, gather_elements, NONE)   \
  OP(GatherND, 11, LAST, 2, 2, 1, gather_nd, NONE)               \
  OP(Scatter, 9, 10, 3, 3, 1, scatter_elements, NONE)            \
  OP(ScatterElements, 11, LAST, 3, 3, 1, scatter_elements, NONE) \
  OP(ScatterND, 11, LAST, 3, 3, 1, scatter_nd, NONE)             \
  OP(TensorScatter, 24, LAST, 2, 3, 1, tensor_scatter, NONE)     \
  OP(Compress, 9, LAST, 2, 2, 1, compress, NONE)                 \
  OP(ReverseSequence, 10, LAST, 2, 2, 1, reverse_sequence, NONE) \
  OP(OneHot, 9, LAST, 3, 3, 1, one_hot, NONE)                    \
  OP(Trilu, 14, LAST, 1, 2, 1, trilu, NONE)                      \
  OP(Col2Im, 18, LAST, 3, 3, 1, col2im, NONE)

ND4C_ONNX_FAMILY(indexing, "", ROWS)
