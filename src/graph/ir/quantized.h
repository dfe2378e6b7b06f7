/* Quantised values of a graph: what a dequantize_linear reads and a quantize_linear gives, with scales and zero points.
 * The passes quantized_*.c call these functions. */
#ifndef ND4C_GRAPH_IR_QUANTIZED_H
#define ND4C_GRAPH_IR_QUANTIZED_H

#include "graph/ir/rewrite.h"

/* Bytes with a constant scale of float32: one for all elements, or one for each index of an axis. */
typedef struct nd4c_quantized {
  nd4c_value bytes, scale, zero; /* zero: ND4C_VALUE_NONE if it is left out; bytes of a quantize_linear: its x */
  nd4c_dtype dtype;              /* of the bytes: int8 or uint8 */
  bool single;                   /* one scale and one zero point, which follow */
  double step;                   /* a normal, positive number */
  int32_t origin;
  int32_t axis; /* if not single; 0 and more */
} nd4c_quantized;

/* Whether the value is made by a dequantize_linear of bytes to float32. */
bool nd4c_quantized_read(const nd4c_rewrite *rewrite, nd4c_value value, nd4c_quantized *from);
/* The same, with one scale. */
bool nd4c_quantized_read_single(const nd4c_rewrite *rewrite, nd4c_value value, nd4c_quantized *from);
/* Whether the node is a quantize_linear of float32 to bytes with one scale. */
bool nd4c_quantized_written(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, nd4c_quantized *to);
/* Whether both have the same dtype, scale and zero point. */
bool nd4c_quantized_same(const nd4c_quantized *a, const nd4c_quantized *b);

/* Whether sums of `terms` products of both, without their zero points, fit into int32. A negative number of terms is
 * not known, and does not fit. */
bool nd4c_quantized_sums_fit(const nd4c_quantized *a, const nd4c_quantized *b, int64_t terms);

/* The zero point as a value: a constant 0 of the bytes' dtype if it is left out. */
nd4c_status nd4c_quantized_zero(nd4c_rewrite *rewrite, const nd4c_quantized *of, nd4c_value *zero);
/* The byte that quantising a number gives. NaN counts as 0. */
int32_t nd4c_quantized_byte(const nd4c_quantized *to, double number);

/* Constant weights as int8 without zero points; *value is ND4C_VALUE_NONE if they have none such: uint8 with zero
 * points of 128 become int8, int8 with zero points of 0 stay. *zero gets a zero point of one 0. */
nd4c_status nd4c_quantized_weights(nd4c_rewrite *rewrite, const nd4c_quantized *w, nd4c_value *value, nd4c_value *zero);

#endif
