/* Convolutions and pools beside the common ones. */
#include "import/onnx/emission/window.h"
#include "base/status.h"
#include "import/onnx/family.h"

static nd4c_status emit_conv_transpose(nd4c_onnx_emission *emission) {
  int64_t groups = 0;
  const int64_t *shape = NULL;
  int32_t count = 0, spatial = nd4c_emitted_get(&emission->emitter, emission->inputs[0]).rank - 2;
  nd4c_onnx_window window;
  ND4C_TRY(nd4c_onnx_read_window(emission, &window));
  ND4C_TRY(nd4c_onnx_check_kernel_shape(emission));
  ND4C_TRY(nd4c_onnx_window_ints(emission, "output_padding", "output_padding", &window));
  ND4C_TRY(nd4c_onnx_get_ints(emission, "output_shape", &shape, &count));
  if (count > 0) {
    int32_t extra = count == spatial + 2 ? 2 : 0; /* some models begin it with batch and channels */
    window.attrs[window.count++] = nd4c_attr_of_ints("output_shape", shape + extra, count - extra);
  }
  ND4C_TRY(nd4c_onnx_get_int(emission, "group", 1, &groups));
  window.attrs[window.count++] = nd4c_attr_of_int("groups", groups);
  return nd4c_emit(&emission->emitter, ND4C_OP_conv_transpose, emission->inputs, emission->input_count, window.attrs,
                   window.count, &emission->outputs[0]);
}

static nd4c_status emit_deformable_conv(nd4c_onnx_emission *emission) {
  int64_t groups = 0, offset_groups = 0;
  nd4c_onnx_window window = {.count = 0};
  ND4C_TRY(nd4c_onnx_window_ints(emission, "strides", "strides", &window));
  ND4C_TRY(nd4c_onnx_window_ints(emission, "pads", "pads", &window));
  ND4C_TRY(nd4c_onnx_window_ints(emission, "dilations", "dilations", &window));
  ND4C_TRY(nd4c_onnx_check_kernel_shape(emission));
  ND4C_TRY(nd4c_onnx_get_int(emission, "group", 1, &groups));
  ND4C_TRY(nd4c_onnx_get_int(emission, "offset_group", 1, &offset_groups));
  window.attrs[window.count++] = nd4c_attr_of_int("groups", groups);
  window.attrs[window.count++] = nd4c_attr_of_int("offset_groups", offset_groups);
  return nd4c_emit(&emission->emitter, ND4C_OP_deformable_conv, emission->inputs, emission->input_count, window.attrs,
                   window.count, &emission->outputs[0]);
}

static nd4c_status emit_causal_conv(nd4c_onnx_emission *emission) {
  nd4c_span activation;
  ND4C_TRY(nd4c_onnx_get_text(emission, "activation", "none", &activation));
  bool silu = nd4c_span_is(activation, "silu") || nd4c_span_is(activation, "swish");
  if (!silu && !nd4c_span_is(activation, "none")) {
    return nd4c_fail(ND4C_FORMAT, "attribute 'activation' is %s, expected none, silu or swish",
                     nd4c_span_show(activation).text);
  }
  nd4c_attr attr = nd4c_attr_of_bool("silu", silu);
  return nd4c_emit_outputs(&emission->emitter, ND4C_OP_causal_conv_with_state, emission->inputs, emission->input_count,
                           &attr, 1, emission->outputs, 2);
}

/* output_shape, input 2, is that of all axes. */
static nd4c_status emit_max_unpool(nd4c_onnx_emission *emission) {
  int64_t shape[ND4C_MAX_RANK];
  int32_t count = 0;
  nd4c_onnx_window window = {.count = 0};
  nd4c_emitted_info x = nd4c_emitted_get(&emission->emitter, emission->inputs[0]);
  ND4C_TRY(nd4c_onnx_window_ints(emission, "strides", "strides", &window));
  ND4C_TRY(nd4c_onnx_window_ints(emission, "pads", "pads", &window));
  ND4C_TRY(nd4c_onnx_window_ints(emission, "kernel_shape", "kernel", &window));
  if (nd4c_onnx_input(emission, 2) != ND4C_ONNX_OPERAND_NONE) {
    ND4C_TRY(nd4c_onnx_read_ints(emission, emission->inputs[2], "input 'output_shape'", ND4C_MAX_RANK, shape, &count));
    if (count != x.rank || count < 3 || shape[0] != x.shape[0] || shape[1] != x.shape[1]) {
      return nd4c_fail(ND4C_SHAPE,
                       "input 'output_shape' has %d values; expected x's batch and channels and an extent "
                       "for each spatial axis",
                       (int)count);
    }
    window.attrs[window.count++] = nd4c_attr_of_ints("output_shape", shape + 2, count - 2);
  }
  return nd4c_emit(&emission->emitter, ND4C_OP_max_unpool, emission->inputs, 2, window.attrs, window.count,
                   &emission->outputs[0]);
}

/* p was a float in opset 1. */
static nd4c_status read_power(nd4c_onnx_emission *emission, double *p) {
  int64_t whole = 2;
  if (emission->opset < 2) {
    return nd4c_onnx_get_float(emission, "p", 2, p);
  }
  ND4C_TRY(nd4c_onnx_get_int(emission, "p", 2, &whole));
  *p = (double)whole;
  return ND4C_OK;
}

static nd4c_status emit_lp_pool(nd4c_onnx_emission *emission) {
  double p = 0;
  nd4c_onnx_window window;
  ND4C_TRY(nd4c_onnx_read_pool(emission, &window));
  ND4C_TRY(read_power(emission, &p));
  window.attrs[window.count++] = nd4c_attr_of_float("p", p);
  return nd4c_emit(&emission->emitter, ND4C_OP_lp_pool, emission->inputs, 1, window.attrs, window.count,
                   &emission->outputs[0]);
}

static nd4c_status emit_global_lp_pool(nd4c_onnx_emission *emission) {
  double p = 0;
  ND4C_TRY(read_power(emission, &p));
  nd4c_attr attr = nd4c_attr_of_float("p", p);
  return nd4c_emit(&emission->emitter, ND4C_OP_global_lp_pool, emission->inputs, 1, &attr, 1, &emission->outputs[0]);
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS                                                    \
  OP(ConvTranspose, 1, LAST, 2, 3, 1, conv_transpose, NONE)     \
  OP(DeformConv, 19, LAST, 3, 5, 1, deformable_conv, NONE)      \
  OP(CausalConvWithState, 27, LAST, 2, 4, 2, causal_conv, NONE) \
  OP(MaxUnpool, 9, LAST, 2, 3, 1, max_unpool, NONE)             \
  OP(LpPool, 1, LAST, 1, 1, 1, lp_pool, NONE)                   \
  OP(GlobalLpPool, 1, LAST, 1, 1, 1, global_lp_pool, NONE)

ND4C_ONNX_FAMILY(window, "", ROWS)
