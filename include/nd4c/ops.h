/* The typed functions of all ops, two for each of the 484: nd4c_add runs on the thread's current context,
 * nd4c_add_on on a given context (NULL: the current one). Made by scripts/ops_header.py (target ops-header) from the op
 * table: change op_table.h, not these files. The enums of attributes are in ops/enums.h. A header for each family:
 *
 *   activation.h       21 ops  elu, selu, mish, swish, glu and others; relu, sigmoid, tanh and gelu are in unary.h
 *   attention.h         6 ops  attention, linear attention, rotary embedding, embedding_bag
 *   binary.h           17 ops  element-wise ops of two and three arrays (arithmetic, comparisons, logic, where)
 *   contraction.h      15 ops  matrix products, linear layers, products of arrays summed over axes, diagonals
 *   creation.h         13 ops  arrays from numbers (full, zeros, arange, linspace, eye)
 *   decomposition.h    24 ops  factorisations of matrices, the equations that they solve, norms
 *   image.h            19 ops  images (resizing, sampling, regions of interest, decoding, colours)
 *   indexing.h         60 ops  picking, placing and moving elements (take, scatter, pad, tile, one_hot, segments)
 *   learning.h          5 ops  classical machine learning (trees, support vector machines, labels)
 *   loss.h             19 ops  losses, and steps of optimisers (SGD, momentum, Adagrad, RMSprop, Adam, AdamW)
 *   mathematics.h      71 ops  further element-wise ops (elementary and special functions, bits, parts of numbers)
 *   normalization.h    17 ops  normalisations, softmax, clipping by a norm, biases
 *   quantization.h     12 ops  quantisation, casts to float8, products and convolutions of quantised numbers
 *   random.h           17 ops  random numbers, permutations, dropout
 *   recurrent.h        10 ops  recurrent layers and cells (RNN, LSTM, GRU, SRU), CTC losses and decoders
 *   reduction.h         9 ops  reductions over axes (sum, mean, min, max, argmax)
 *   shape.h             9 ops  reshape, transpose, squeeze, slice, concat, gather; a view where possible
 *   signal.h           24 ops  Fourier transforms, windows, convolution of sequences
 *   sorting.h          27 ops  sorting, searching, sets, histograms
 *   statistics.h       39 ops  statistics over axes, cumulative ops along an axis, distances between vectors
 *   text.h              9 ops  strings (joining, splitting, case, regular expressions, TF-IDF)
 *   unary.h            24 ops  element-wise ops of one array (abs, exp, relu, sigmoid, tanh, gelu, clip, cast)
 *   window.h           17 ops  convolutions, pools and morphology
 *
 * A comment says what the op computes, and then:
 *
 *   In          the inputs in order, with the dtypes that the first may have. Unless Out says otherwise, an input that
 *               holds indices is int32 or int64, and every further input has the first input's dtype or a dtype that
 *               promotes with it. int, uint, float and complex stand for all dtypes of that kind except the narrow
 *               ones, float8 for all floats of eight bits, packed for int4, uint4, int2, uint2 and float4 (as in
 *               `nd4c ops`).
 *   Attributes  the attributes in order, each with its default, which nd4c_op_call takes if the caller leaves the
 *               attribute out. A C caller gives them all. A list is a pointer and a count; NULL and 0 stand for its
 *               default. An attribute whose values have words is an enum of ops/enums.h; a list of such values holds
 *               them as int64_t.
 *   Options     in place of Attributes: the fields of the struct that the function takes, with their defaults.
 *               (NULL, 0): the list is left out, and the text says what the op takes in place of it. A list that is
 *               not NULL must have a count (nd4c/options.h).
 *   Out         the outputs in order, with their shape and dtype. "x with ..." and "x without ..." are x's shape with
 *               that change. An output whose pointer is NULL is not wanted; only an op of several outputs accepts that.
 *               A pointer to NULL receives a fresh array, which the caller releases; else the result is written into
 *               the array given (nd4c_op_call has the rules).
 *   Statuses    the statuses, without ND4C_, with which the rule that infers the op's shapes may refuse a call.
 *
 * Every op may also return NULL_ARGUMENT and HANDLE (inputs), DTYPE (the first input's is none of those listed), SHAPE
 * and DTYPE (an output that was given has another shape or dtype), ALIAS and READ_ONLY (outputs), MEMORY and
 * MEMORY_CAP, POISONED (an input has no value), UNSUPPORTED (no kernel of the device serves the call), STRICT (strict
 * contexts), and what the device reports. Some kernels refuse a call because of the values of its inputs: INDEX (an
 * index out of range), ARGUMENT (a singular matrix). On an asynchronous device such a failure arrives with the first
 * read of a result.
 *
 * Functions that would have more than eight parameters, outputs not counted, take an options struct (nd4c/options.h).
 * It has everything that a caller may leave out, attributes as well as optional inputs, so that a later version can add
 * either without another function. Inputs that the op requires stay parameters, even if there are many (tree_ensemble
 * has eleven). NULL stands for the defaults. ARGUMENT: a struct that was not initialised, one with a list without its
 * count, or one of a newer nd4c that asks for something which this library does not know.
 *
 *   nd4c_conv_options options = ND4C_CONV_DEFAULTS;
 *   options.bias = bias;
 *   options.auto_pad = ND4C_AUTO_PAD_SAME_UPPER;
 *   nd4c_conv(x, w, &options, &y);
 *
 * Any thread may call the functions. They return when the work is submitted; on a synchronous device, when it is
 * done. */
#ifndef ND4C_OPS_H
#define ND4C_OPS_H

#include "nd4c/op_schema.h"
#include "nd4c/ops/activation.h"
#include "nd4c/ops/attention.h"
#include "nd4c/ops/binary.h"
#include "nd4c/ops/contraction.h"
#include "nd4c/ops/creation.h"
#include "nd4c/ops/decomposition.h"
#include "nd4c/ops/image.h"
#include "nd4c/ops/indexing.h"
#include "nd4c/ops/learning.h"
#include "nd4c/ops/loss.h"
#include "nd4c/ops/mathematics.h"
#include "nd4c/ops/normalization.h"
#include "nd4c/ops/quantization.h"
#include "nd4c/ops/random.h"
#include "nd4c/ops/recurrent.h"
#include "nd4c/ops/reduction.h"
#include "nd4c/ops/shape.h"
#include "nd4c/ops/signal.h"
#include "nd4c/ops/sorting.h"
#include "nd4c/ops/statistics.h"
#include "nd4c/ops/text.h"
#include "nd4c/ops/unary.h"
#include "nd4c/ops/window.h"

/* X(family, FAMILY, what it has): the family's rows are ND4C_OPS_<FAMILY>(OP) of op_table.h. */
#define ND4C_FAMILY_TABLE(X)                                                                                         \
  X(activation, ACTIVATION, "elu, selu, mish, swish, glu and others; relu, sigmoid, tanh and gelu are in unary.h")   \
  X(attention, ATTENTION, "attention, linear attention, rotary embedding, embedding_bag")                            \
  X(binary, BINARY, "element-wise ops of two and three arrays (arithmetic, comparisons, logic, where)")              \
  X(contraction, CONTRACTION, "matrix products, linear layers, products of arrays summed over axes, diagonals")      \
  X(creation, CREATION, "arrays from numbers (full, zeros, arange, linspace, eye)")                                  \
  X(decomposition, DECOMPOSITION, "factorisations of matrices, the equations that they solve, norms")                \
  X(image, IMAGE, "images (resizing, sampling, regions of interest, decoding, colours)")                             \
  X(indexing, INDEXING, "picking, placing and moving elements (take, scatter, pad, tile, one_hot, segments)")        \
  X(learning, LEARNING, "classical machine learning (trees, support vector machines, labels)")                       \
  X(loss, LOSS, "losses, and steps of optimisers (SGD, momentum, Adagrad, RMSprop, Adam, AdamW)")                    \
  X(mathematics, MATHEMATICS, "further element-wise ops (elementary and special functions, bits, parts of numbers)") \
  X(normalization, NORMALIZATION, "normalisations, softmax, clipping by a norm, biases")                             \
  X(quantization, QUANTIZATION, "quantisation, casts to float8, products and convolutions of quantised numbers")     \
  X(random, RANDOM, "random numbers, permutations, dropout")                                                         \
  X(recurrent, RECURRENT, "recurrent layers and cells (RNN, LSTM, GRU, SRU), CTC losses and decoders")               \
  X(reduction, REDUCTION, "reductions over axes (sum, mean, min, max, argmax)")                                      \
  X(shape, SHAPE, "reshape, transpose, squeeze, slice, concat, gather; a view where possible")                       \
  X(signal, SIGNAL, "Fourier transforms, windows, convolution of sequences")                                         \
  X(sorting, SORTING, "sorting, searching, sets, histograms")                                                        \
  X(statistics, STATISTICS, "statistics over axes, cumulative ops along an axis, distances between vectors")         \
  X(text, TEXT, "strings (joining, splitting, case, regular expressions, TF-IDF)")                                   \
  X(unary, UNARY, "element-wise ops of one array (abs, exp, relu, sigmoid, tanh, gelu, clip, cast)")                 \
  X(window, WINDOW, "convolutions, pools and morphology")

#endif
