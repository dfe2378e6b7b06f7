/* What the fused operators of ONNX Runtime (domain com.microsoft) share: ops/contraction.c, ops/window.c and the files
 * ops/..._microsoft.c include it. */
#ifndef ND4C_IMPORT_ONNX_EMISSION_FUSED_H
#define ND4C_IMPORT_ONNX_EMISSION_FUSED_H

#include "import/onnx/emission/emission.h"

enum { ND4C_ONNX_ACTIVATION_NUMBERS = 3 };

/* Applies the activation that the attribute `activation` names to x; `numbers` are its parameters, as its ONNX operator
 * orders them, NAN for one that the node leaves out. Without the attribute, y is x. UNSUPPORTED for a name that nd4c
 * does not know. */
nd4c_status nd4c_onnx_emit_activation(nd4c_onnx_emission *emission, nd4c_onnx_operand x,
                                      const double numbers[ND4C_ONNX_ACTIVATION_NUMBERS], nd4c_onnx_operand *y);

/* Parts of x along its last axis, one behind the other from the first element on. */
nd4c_status nd4c_onnx_emit_parts(nd4c_onnx_emission *emission, nd4c_onnx_operand x, int32_t count,
                                 const int64_t *lengths, nd4c_onnx_operand *parts);

/* [n, t, heads * head] as [n, heads, t, head], and the other way round. */
nd4c_status nd4c_onnx_split_heads(nd4c_onnx_emission *emission, nd4c_onnx_operand x, int64_t heads,
                                  nd4c_onnx_operand *y);
nd4c_status nd4c_onnx_join_heads(nd4c_onnx_emission *emission, nd4c_onnx_operand x, nd4c_onnx_operand *y);

/* (a - a_zero_point)(b - b_zero_point) a_scale b_scale + bias, of codes of 8 bits. */
typedef struct nd4c_onnx_scaled_product {
  nd4c_onnx_operand a, b, a_scale, b_scale;
  nd4c_onnx_operand a_zero_point, b_zero_point, bias; /* NONE: left out */
} nd4c_onnx_scaled_product;
/* Emits it as models of ONNX Runtime's dynamic quantisation have it, which a pass makes one op of
 * (ops/quantization_microsoft.c). */
nd4c_status nd4c_onnx_emit_scaled_product(nd4c_onnx_emission *emission, const nd4c_onnx_scaled_product *product,
                                          nd4c_onnx_operand *y);

/* An input that the operator requires behind optional ones; FORMAT if it is left out. */
nd4c_status nd4c_onnx_require_input(nd4c_onnx_emission *emission, int32_t index, nd4c_onnx_operand *operand);
/* UNSUPPORTED if the node gives an input from `first` to `last`, or something reads such an output; `what` says what
 * nd4c lacks.
 */
nd4c_status nd4c_onnx_refuse_inputs(nd4c_onnx_emission *emission, int32_t first, int32_t last, const char *what);
nd4c_status nd4c_onnx_refuse_outputs(nd4c_onnx_emission *emission, int32_t first, int32_t last, const char *what);
/* UNSUPPORTED if an integer attribute has another value than the one that nd4c knows. */
nd4c_status nd4c_onnx_refuse_int(nd4c_onnx_emission *emission, const char *name, int64_t known);

#endif
