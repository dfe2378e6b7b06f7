/* Convolutions and pools. emission/scope.c calls the emit functions through the rows below. */
#include "import/onnx/emission/window.h"
#include "base/status.h"
#include "import/onnx/emission/fused.h"
#include "import/onnx/family.h"

/* Indices are positions in all of x. They are computed only if something reads them. */
static nd4c_status emit_max_pool(nd4c_onnx_emission *emission) {
  static const nd4c_onnx_rule order = ATTR("storage_order", BOOL, "column_major", 0);
  bool wanted = nd4c_onnx_wants(emission, 1);
  nd4c_onnx_attrs attrs;
  ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  nd4c_onnx_ignore(emission, order.onnx);
  if (wanted) {
    ND4C_TRY(nd4c_onnx_attrs_read(emission, &order, &attrs));
  }
  return nd4c_onnx_emit_attrs(emission, wanted ? ND4C_OP_max_pool_with_indices : ND4C_OP_max_pool, emission->inputs, 1,
                              &attrs);
}

static nd4c_status emit_global_pool(nd4c_onnx_emission *emission) {
  int64_t axes[ND4C_MAX_RANK];
  int32_t rank = nd4c_emitted_get(&emission->emitter, emission->inputs[0]).rank;
  if (rank < 3) {
    return nd4c_fail(ND4C_SHAPE, "the input has rank %d; expected 3 or more", (int)rank);
  }
  for (int32_t i = 2; i < rank; i++) {
    axes[i - 2] = i;
  }
  return nd4c_emit_reduce(&emission->emitter, emission->node->mapping->op, emission->inputs[0], rank - 2, axes, true,
                          &emission->outputs[0]);
}

static nd4c_status emit_conv_transpose(nd4c_onnx_emission *emission) {
  const int64_t *shape = NULL;
  int32_t count = 0, spatial = nd4c_emitted_get(&emission->emitter, emission->inputs[0]).rank - 2;
  nd4c_onnx_attrs attrs;
  ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  ND4C_TRY(nd4c_onnx_check_kernel_shape(emission, 1));
  ND4C_TRY(nd4c_onnx_get_ints(emission, "output_shape", &shape, &count));
  if (count > 0) {
    int32_t extra = count == spatial + 2 ? 2 : 0; /* some models begin it with batch and channels */
    nd4c_onnx_attrs_add(&attrs, nd4c_attr_of_ints("output_shape", shape + extra, count - extra));
  }
  return nd4c_onnx_emit_attrs(emission, ND4C_OP_conv_transpose, emission->inputs, emission->input_count, &attrs);
}

/* output_shape, input 2, has all axes; nd4c takes the spatial ones. */
static nd4c_status emit_max_unpool(nd4c_onnx_emission *emission) {
  int64_t shape[ND4C_MAX_RANK];
  int32_t count = 0;
  nd4c_onnx_attrs attrs;
  nd4c_emitted_info x = nd4c_emitted_get(&emission->emitter, emission->inputs[0]);
  ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  if (nd4c_onnx_input(emission, 2) != ND4C_ONNX_OPERAND_NONE) {
    ND4C_TRY(nd4c_onnx_read_ints(emission, emission->inputs[2], "input 'output_shape'", ND4C_MAX_RANK, shape, &count));
    if (count != x.rank || count < 3 || shape[0] != x.shape[0] || shape[1] != x.shape[1]) {
      return nd4c_fail(ND4C_SHAPE,
                       "input 'output_shape' has %d values; expected x's batch and channels and an extent "
                       "for each spatial axis",
                       (int)count);
    }
    nd4c_onnx_attrs_add(&attrs, nd4c_attr_of_ints("output_shape", shape + 2, count - 2));
  }
  return nd4c_onnx_emit_attrs(emission, ND4C_OP_max_unpool, emission->inputs, 2, &attrs);
}

/* silu has two names, so the position in the list is not the activation's number. */
static nd4c_status emit_causal_conv(nd4c_onnx_emission *emission) {
  static const char *const activations[] = {"none", "silu", "swish", NULL};
  int64_t activation = 0;
  ND4C_TRY(nd4c_onnx_get_word(emission, "activation", "none", activations, &activation));
  nd4c_attr attr = nd4c_attr_of_bool("silu", activation != 0);
  return nd4c_emit_outputs(&emission->emitter, ND4C_OP_causal_conv_with_state, emission->inputs, emission->input_count,
                           &attr, 1, emission->outputs, 2);
}

/* Conv of ONNX Runtime, with an addend and an activation behind it. */
static nd4c_status emit_fused_conv(nd4c_onnx_emission *emission) {
  const double *given = NULL;
  double numbers[ND4C_ONNX_ACTIVATION_NUMBERS];
  int32_t count = 0;
  ND4C_TRY(nd4c_onnx_get_floats(emission, "activation_params", &given, &count));
  for (int32_t i = 0; i < ND4C_ONNX_ACTIVATION_NUMBERS; i++) {
    numbers[i] = i < count ? given[i] : (double)NAN;
  }
  ND4C_TRY(nd4c_onnx_emit_conv(emission));
  return nd4c_onnx_emit_activation(emission, emission->outputs[0], numbers, &emission->outputs[0]);
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS                                                                                                         \
  READ(Conv, 1, LAST, 2, 3, 1, conv, conv, ND4C_ONNX_CONV_RULES, ND4C_ONNX_AUTO_PAD_RULE)                            \
  READ(MaxPool, 1, LAST, 1, 1, 2, max_pool, NONE, ND4C_ONNX_POOL_RULES)                                              \
  MAP(AveragePool, 1, LAST, 1, 1, 1, average_pool, ND4C_ONNX_POOL_RULES,                                             \
      ATTR("count_include_pad", BOOL, "count_include_pad", 0))                                                       \
  OP(GlobalAveragePool, 1, LAST, 1, 1, 1, global_pool, mean)                                                         \
  OP(GlobalMaxPool, 1, LAST, 1, 1, 1, global_pool, max)                                                              \
  READ(ConvTranspose, 1, LAST, 2, 3, 1, conv_transpose, NONE, ND4C_ONNX_CONV_RULES, ND4C_ONNX_AUTO_PAD_RULE,         \
       ATTR("output_padding", INTS, "output_padding", 0))                                                            \
  READ(DeformConv, 19, LAST, 3, 5, 1, conv, deformable_conv, ND4C_ONNX_CONV_RULES,                                   \
       ATTR("offset_group", INT, "offset_groups", 1))                                                                \
  OP(CausalConvWithState, 27, LAST, 2, 4, 2, causal_conv, NONE)                                                      \
  READ(MaxUnpool, 9, LAST, 2, 3, 1, max_unpool, NONE, ND4C_ONNX_STEP_RULES, ATTR("kernel_shape", INTS, "kernel", 0)) \
  MAP(LpPool, 1, 1, 1, 1, 1, lp_pool, ND4C_ONNX_POOL_RULES, ATTR("p", FLOAT, "p", 2))                                \
  MAP(LpPool, 2, LAST, 1, 1, 1, lp_pool, ND4C_ONNX_POOL_RULES, ATTR("p", WHOLE, "p", 2))                             \
  MAP(GlobalLpPool, 1, 1, 1, 1, 1, global_lp_pool, ATTR("p", FLOAT, "p", 2))                                         \
  MAP(GlobalLpPool, 2, LAST, 1, 1, 1, global_lp_pool, ATTR("p", WHOLE, "p", 2))

ND4C_ONNX_FAMILY(window, "", ROWS)

#define MICROSOFT_ROWS                                              \
  ND4C_ONNX_ROW(FusedConv, 1, LAST, 2, 4, 1, emit_fused_conv, conv, \
                ND4C_ONNX_RULES(ND4C_ONNX_CONV_RULES, ND4C_ONNX_AUTO_PAD_RULE), "conv, an activation")

ND4C_ONNX_FAMILY(window_microsoft, "com.microsoft", MICROSOFT_ROWS)
