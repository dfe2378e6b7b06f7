/* The op table: the one definition of every op's number, version, name, signature, rule and doc line.
 *
 * The enum, the typed C functions (ops.h), the generic call's schema, `nd4c ops`, ops.md and the test matrix are
 * derived from it. A row is
 *
 *   OP(number, version, name, category, SIGNATURE, inference rule, dtypes of the first input, doc line, names, trait)
 *
 * Numbers are never reused; files and plug-ins bind by name and version. A signature lists inputs, attributes and
 * outputs in the order of the C function's parameters: A(op, kind, name, default), with the kinds
 *
 *   IN     one array               OPT   one array or NULL          VAR   an array of arrays and its count
 *   INT    int64_t                 BOOL  bool                       FLOAT double
 *   INTS   int64_t list and count  FLOATS double list and count     STRING text
 *   DTYPE  a dtype                 OUT   one output
 *
 * "axes (none: all)" in a doc line: all where the list is NULL; one that is given and empty is no axis at all.
 *
 * The inference rule names nd4c_infer_<rule> of src/ops. `names` says what the op is called elsewhere, in NumPy (or
 * SciPy), PyTorch, ONNX and ND4J, with bars between: "absolute|abs|Abs|abs"; an empty place: not there under one name.
 *
 * Most rows have no trait. Then fresh outputs lie in C order, those of element-wise ops (categories UNARY, BINARY,
 * TERNARY) in the memory order of the inputs, and only element-wise ops are computed in an input's own memory. Else:
 *
 *   C_ORDER       fresh outputs lie in C order though the op is element-wise
 *   INPUT_ORDER   they lie in the memory order of the inputs
 *   FIRST_ORDER   they lie in that of the first input
 *   REPLACES      some elements of the first input are replaced, in its own memory if it is the output
 *   REFUSES_LATE  a kernel may refuse the call after it began to write: it never writes into outputs that are given
 *
 * Rows stand in op_table/<family>.h. An op without inputs is computed on the context's device. */
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
#include "nd4c/op_table/linalg.h"
#include "nd4c/op_table/loss.h"
#include "nd4c/op_table/mathematics.h"
#include "nd4c/op_table/nn.h"
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

#define ND4C_OP_TABLE(OP) \
  ND4C_OPS_UNARY(OP) \
  ND4C_OPS_BINARY(OP) \
  ND4C_OPS_REDUCTION(OP) \
  ND4C_OPS_STATISTICS(OP) \
  ND4C_OPS_IMAGE(OP) \
  ND4C_OPS_LINALG(OP) \
  ND4C_OPS_CONTRACTION(OP) \
  ND4C_OPS_DECOMPOSITION(OP) \
  ND4C_OPS_SIGNAL(OP) \
  ND4C_OPS_NN(OP) \
  ND4C_OPS_TEXT(OP) \
  ND4C_OPS_LEARNING(OP) \
  ND4C_OPS_SHAPE(OP) \
  ND4C_OPS_SORTING(OP) \
  ND4C_OPS_QUANTIZATION(OP) \
  ND4C_OPS_RANDOM(OP) \
  ND4C_OPS_WINDOW(OP) \
  ND4C_OPS_LOSS(OP) \
  ND4C_OPS_MATHEMATICS(OP) \
  ND4C_OPS_ACTIVATION(OP) \
  ND4C_OPS_NORMALIZATION(OP) \
  ND4C_OPS_RECURRENT(OP) \
  ND4C_OPS_ATTENTION(OP) \
  ND4C_OPS_CREATION(OP) \
  ND4C_OPS_INDEXING(OP)

/* Values of the attribute `activation` of linear and conv: X(NAME, number, name). */
#define ND4C_ACTIVATION_TABLE(X) \
  X(NONE, 0, "none")             \
  X(RELU, 1, "relu")             \
  X(GELU, 2, "gelu")             \
  X(GELU_TANH, 3, "gelu_tanh")   \
  X(SIGMOID, 4, "sigmoid")       \
  X(TANH, 5, "tanh")

/* Values of the attribute `rounding` of cast_float8, which is for float8_e8m0fnu: X(NAME, number, name). */
#define ND4C_ROUNDING_TABLE(X) \
  X(NEAREST, 0, "nearest")     \
  X(UP, 1, "up")               \
  X(DOWN, 2, "down")

/* Values of the attribute `auto_pad` of conv and pools: X(NAME, number, name). SAME_* pad so that the output has
 * ceil(input / stride) cells; an odd cell goes to the end (UPPER) or the beginning (LOWER). */
#define ND4C_AUTO_PAD_TABLE(X)   \
  X(EXPLICIT, 0, "explicit")     \
  X(SAME_UPPER, 1, "same_upper") \
  X(SAME_LOWER, 2, "same_lower") \
  X(VALID, 3, "valid")

/* Attributes of kind INT and INTS whose values have names: X(op, attribute, TABLE), the values being those of
 * ND4C_<TABLE>_TABLE. op "": each op that has such an attribute and no row of its own. `nd4c ops`, the page ops.md,
 * nd4c_op_attr_words and the Python package are derived from it. */
#define ND4C_ATTR_WORDS_TABLE(X)                  \
  X("", "activation", ACTIVATION)                 \
  X("", "activations", RECURRENT_ACTIVATION)      \
  X("", "aggregate", TREE_AGGREGATE)              \
  X("", "aspect", RESIZE_ASPECT)                  \
  X("", "auto_pad", AUTO_PAD)                     \
  X("", "change_case", CASE)                      \
  X("", "coordinates", RESIZE_COORDINATES)        \
  X("", "direction", DIRECTION)                   \
  X("", "nearest", RESIZE_NEAREST)                \
  X("", "padding", SAMPLE_PADDING)                \
  X("", "pixel_format", PIXEL)                    \
  X("", "reduction", LOSS_REDUCTION)              \
  X("", "rounding", ROUNDING)                     \
  X("", "transform", SCORE_TRANSFORM)             \
  X("", "update_rule", UPDATE_RULE)               \
  X("crop_and_resize", "mode", INTERPOLATION)     \
  X("grid_sample", "mode", INTERPOLATION)         \
  X("pad", "mode", PAD_MODE)                      \
  X("resize", "mode", INTERPOLATION)              \
  X("roi_align", "mode", ROI_MODE)                \
  X("scatter_elements", "reduction", SCATTER)     \
  X("scatter_nd", "reduction", SCATTER)           \
  X("spatial_transformer", "mode", INTERPOLATION) \
  X("svm_kernel", "kernel", SVM_KERNEL)           \
  X("take", "mode", INDEX_MODE)                   \
  X("tfidf_vectorizer", "mode", TFIDF)

#endif
