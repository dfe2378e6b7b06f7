/* The op table: the one definition of every op's number, version, name, signature, rule and doc line.
 *
 * The enum, the typed C functions (ops.h), the generic call's schema, `nd4c ops`, ops.md and the test matrix are
 * derived from it. A row is
 *
 *   OP(number, version, name, category, SIGNATURE, inference rule, dtypes of the first input, doc line, names, trait,
 *      form)
 *
 * Numbers are never reused; files and plug-ins bind by name and version. A signature lists inputs, attributes and
 * outputs in the order of the C function's parameters: A(op, kind, name, default), with the kinds
 *
 *   IN     one array               OPT   one array or NULL          VAR   an array of arrays and its count
 *   INT    int64_t                 BOOL  bool                       FLOAT double
 *   INTS   int64_t list and count  FLOATS double list and count     STRING text
 *   DTYPE  a dtype                 OUT   one output
 *
 * An attribute whose values have words is A(op, WORD, name, type, default), with a type of ND4C_WORDS_TABLE: its C type
 * is the enum nd4c_<type>. A(op, WORDS, name, type, 0) is a list of such values, which is passed as a list of int64_t.
 *
 * "axes (none: all)" in a doc line means: all axes if the list is NULL, no axis if the list is given and empty.
 *
 * The inference rule names nd4c_infer_<rule> of src/ops/infer. `names` has the op's names in NumPy (or SciPy), PyTorch,
 * ONNX and ND4J, with bars between: "absolute|abs|Abs|abs". A name is empty where the other library does not have the
 * op under one name.
 *
 * Most rows have no trait. Then the fresh outputs of an element-wise op (categories UNARY, BINARY, TERNARY) lie in the
 * memory order of the inputs, and an output may be the same array as an input. The fresh outputs of any other op lie in
 * C order, and an output may not be an input. The traits are the exceptions:
 *
 *   C_ORDER       fresh outputs lie in C order though the op is element-wise
 *   INPUT_ORDER   fresh outputs lie in the memory order of the inputs though the op is not element-wise
 *   FIRST_ORDER   fresh outputs lie in the memory order of the first input
 *   REPLACES      the output is the first input with some elements replaced; it may be the same array as that input,
 *                 whose elements are then replaced in place
 *   REFUSES_LATE  a kernel may refuse the call after it has begun to write, so nd4c never lets it write into an output
 *                 that the caller gave
 *
 * The form says how the C function is called. Most rows have none: the function takes each parameter of the signature.
 * With the form OPTIONS the function takes the required inputs and a struct with everything else (nd4c/options.h); if
 * such a row has no trait, NONE stands in the trait's place. An op whose function would have more than eight
 * parameters, outputs not counted, must have this form. An op keeps its form, since the form is part of the ABI.
 *
 * Rows stand in op_table/<family>.h. An op without inputs runs on the context's device. */
#ifndef ND4C_OP_TABLE_H
#define ND4C_OP_TABLE_H

#include "nd4c/op_table/activation.h"
#include "nd4c/op_table/attention.h"
#include "nd4c/op_table/binary.h"
#include "nd4c/op_table/contraction.h"
#include "nd4c/op_table/creation.h"
#include "nd4c/op_table/decomposition.h"
#include "nd4c/op_table/image.h"
#include "nd4c/op_table/indexing.h"
#include "nd4c/op_table/learning.h"
#include "nd4c/op_table/loss.h"
#include "nd4c/op_table/mathematics.h"
#include "nd4c/op_table/normalization.h"
#include "nd4c/op_table/quantization.h"
#include "nd4c/op_table/random.h"
#include "nd4c/op_table/recurrent.h"
#include "nd4c/op_table/reduction.h"
#include "nd4c/op_table/shape.h"
#include "nd4c/op_table/signal.h"
#include "nd4c/op_table/sorting.h"
#include "nd4c/op_table/statistics.h"
#include "nd4c/op_table/text.h"
#include "nd4c/op_table/unary.h"
#include "nd4c/op_table/window.h"

/* -- signatures that several families share ---------------------------------------------------------------------- */

#define ND4C_SIG_UNARY(A, op) A(op, IN, x, 0) A(op, OUT, y, 0)
#define ND4C_SIG_BINARY(A, op) A(op, IN, a, 0) A(op, IN, b, 0) A(op, OUT, y, 0)
#define ND4C_SIG_REDUCE(A, op) A(op, IN, x, 0) A(op, INTS, axes, 0) A(op, BOOL, keepdims, 0) A(op, OUT, y, 0)
#define ND4C_SIG_AXIS(A, op) A(op, IN, x, 0) A(op, INT, axis, -1) A(op, OUT, y, 0)
#define ND4C_SIG_AXES(A, op) A(op, IN, x, 0) A(op, INTS, axes, 0) A(op, OUT, y, 0)

/* -- the table, one list a family -------------------------------------------------------------------------------- */

#define ND4C_OP_TABLE(OP)    \
  ND4C_OPS_UNARY(OP)         \
  ND4C_OPS_BINARY(OP)        \
  ND4C_OPS_REDUCTION(OP)     \
  ND4C_OPS_STATISTICS(OP)    \
  ND4C_OPS_IMAGE(OP)         \
  ND4C_OPS_CONTRACTION(OP)   \
  ND4C_OPS_DECOMPOSITION(OP) \
  ND4C_OPS_SIGNAL(OP)        \
  ND4C_OPS_TEXT(OP)          \
  ND4C_OPS_LEARNING(OP)      \
  ND4C_OPS_SHAPE(OP)         \
  ND4C_OPS_SORTING(OP)       \
  ND4C_OPS_QUANTIZATION(OP)  \
  ND4C_OPS_RANDOM(OP)        \
  ND4C_OPS_WINDOW(OP)        \
  ND4C_OPS_LOSS(OP)          \
  ND4C_OPS_MATHEMATICS(OP)   \
  ND4C_OPS_ACTIVATION(OP)    \
  ND4C_OPS_NORMALIZATION(OP) \
  ND4C_OPS_RECURRENT(OP)     \
  ND4C_OPS_ATTENTION(OP)     \
  ND4C_OPS_CREATION(OP)      \
  ND4C_OPS_INDEXING(OP)

/* -- words for the values of attributes --------------------------------------------------------------------------- */

/* A table of words has rows X(NAME, number, "word"). Numbers are never reused. From each table scripts/ops_header.py
 * makes an enum in nd4c/ops/enums.h, with the comment that stands above the table. */

/* The activation that linear, conv and bias_add apply to their result. */
#define ND4C_ACTIVATION_TABLE(X) \
  X(NONE, 0, "none")             \
  X(RELU, 1, "relu")             \
  X(GELU, 2, "gelu")             \
  X(GELU_TANH, 3, "gelu_tanh")   \
  X(SIGMOID, 4, "sigmoid")       \
  X(TANH, 5, "tanh")             \
  X(SWISH, 6, "swish")           \
  X(HARD_SWISH, 7, "hard_swish") \
  X(RELU6, 8, "relu6")

/* How cast_float8 rounds to float8_e8m0fnu, whose values are powers of two. */
#define ND4C_ROUNDING_TABLE(X) \
  X(NEAREST, 0, "nearest")     \
  X(UP, 1, "up")               \
  X(DOWN, 2, "down")

/* How convolutions and pools pad x. EXPLICIT: by the attribute pads. VALID: not at all. SAME_UPPER, SAME_LOWER: so that
 * the output has ceil(input / stride) cells; an odd cell is added at the end (UPPER) or at the beginning (LOWER). */
#define ND4C_AUTO_PAD_TABLE(X)   \
  X(EXPLICIT, 0, "explicit")     \
  X(SAME_UPPER, 1, "same_upper") \
  X(SAME_LOWER, 2, "same_lower") \
  X(VALID, 3, "valid")

/* All types of words: X(type, TABLE). The enum is nd4c_<type>, its constants are ND4C_<TABLE>_<NAME>, and the words are
 * those of ND4C_<TABLE>_TABLE. */
#define ND4C_WORDS_TABLE(X)                     \
  X(activation, ACTIVATION)                     \
  X(auto_pad, AUTO_PAD)                         \
  X(bag_mode, BAG_MODE)                         \
  X(convolve_mode, CONVOLVE_MODE)               \
  X(direction, DIRECTION)                       \
  X(fft_norm, FFT_NORM)                         \
  X(index_mode, INDEX_MODE)                     \
  X(interpolation, INTERPOLATION)               \
  X(kernel_function, KERNEL_FUNCTION)           \
  X(letter_case, LETTER_CASE)                   \
  X(loss_reduction, LOSS_REDUCTION)             \
  X(matrix_norm_order, MATRIX_NORM_ORDER)       \
  X(pad_mode, PAD_MODE)                         \
  X(pixel_format, PIXEL_FORMAT)                 \
  X(post_transform, POST_TRANSFORM)             \
  X(quantile_method, QUANTILE_METHOD)           \
  X(recurrent_activation, RECURRENT_ACTIVATION) \
  X(resize_aspect, RESIZE_ASPECT)               \
  X(resize_coordinates, RESIZE_COORDINATES)     \
  X(resize_nearest, RESIZE_NEAREST)             \
  X(roi_mode, ROI_MODE)                         \
  X(rounding, ROUNDING)                         \
  X(sample_padding, SAMPLE_PADDING)             \
  X(scatter_reduction, SCATTER_REDUCTION)       \
  X(scores_mode, SCORES_MODE)                   \
  X(tfidf_mode, TFIDF_MODE)                     \
  X(tree_aggregate, TREE_AGGREGATE)             \
  X(tree_mode, TREE_MODE)                       \
  X(update_rule, UPDATE_RULE)

#endif
