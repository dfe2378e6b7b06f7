/* ONNX operators that no op of nd4c is by itself, and what the import makes them of. */
#include "import/onnx/ops/mapping.h"
#include "nd4c/model.h"

#define ML "ai.onnx.ml"
#define PREVIEW "ai.onnx.preview"
#define PREVIEW_TRAINING "ai.onnx.preview.training"

/* X(domain, operator, what it becomes): a test holds this to the rows of the mapping and the names in the op table. */
#define COMPOSITES(X)                                                                                              \
  X("", CastLike, "cast to the second input's dtype")                                                              \
  X("", CenterCropPad, "slice and pad along each axis")                                                            \
  X("", Constant, "a constant of the graph")                                                                       \
  X("", If, "one of two inner graphs, by the interpreter")                                                         \
  X("", Loop, "an inner graph again and again, by the interpreter; scanned outputs: expand_dims, concat")          \
  X("", Mean, "add of all inputs, divide by their number")                                                         \
  X("", Optional, "a value of the interpreter")                                                                    \
  X("", OptionalGetElement, "a value of the interpreter")                                                          \
  X("", OptionalHasElement, "a question to a value of the interpreter")                                            \
  X("", RandomNormalLike, "random_normal of the input's shape")                                                    \
  X("", RandomUniformLike, "random_uniform of the input's shape")                                                  \
  X("", ReduceLogSum, "sum, log")                                                                                  \
  X("", Scan, "an inner graph for each slice, by the interpreter: slice, squeeze, concat")                         \
  X("", SequenceAt, "a value of the interpreter")                                                                  \
  X("", SequenceConstruct, "a value of the interpreter")                                                           \
  X("", SequenceEmpty, "a value of the interpreter")                                                               \
  X("", SequenceErase, "a value of the interpreter")                                                               \
  X("", SequenceInsert, "a value of the interpreter")                                                              \
  X("", SequenceLength, "a question to a value of the interpreter")                                                \
  X("", SequenceMap, "an inner graph for each element, by the interpreter")                                        \
  X("", Shape, "a constant, for shapes are known when a graph is made")                                            \
  X("", Size, "a constant, for shapes are known when a graph is made")                                             \
  X("", Split, "slice for each output")                                                                            \
  X("", SplitToSequence, "slice for each element of a value of the interpreter, squeeze")                          \
  X("", Sum, "add of all inputs")                                                                                  \
  X(ML, ArrayFeatureExtractor, "gather on the last axis")                                                          \
  X(ML, Binarizer, "greater, cast")                                                                                \
  X(ML, CategoryMapper, "label_index, gather")                                                                     \
  X(ML, FeatureVectorizer, "cast, concat")                                                                         \
  X(ML, Imputer, "is_nan or equal, where")                                                                         \
  X(ML, LinearClassifier, "matmul, add, score_transform; the label: argmax or greater, gather")                    \
  X(ML, LinearRegressor, "matmul, add, score_transform")                                                           \
  X(ML, Normalizer, "abs or square, max or sum, divide")                                                           \
  X(ML, OneHotEncoder, "label_index, equal, cast")                                                                 \
  X(ML, SVMClassifier, "svm_kernel, matmul, add, svm_probabilities, score_transform; the label: votes by greater") \
  X(ML, SVMRegressor, "svm_kernel, matmul, add, score_transform")                                                  \
  X(ML, Scaler, "subtract, multiply")                                                                              \
  X(ML, TreeEnsembleClassifier, "tree_ensemble, score_transform; the label: argmax, gather")                       \
  X(ML, TreeEnsembleRegressor, "tree_ensemble, add, score_transform")                                              \
  X(PREVIEW, FlexAttention, "transpose, matmul, multiply, softmax, matmul, with inner graphs between")             \
  X(PREVIEW_TRAINING, Gradient, "the gradient of each node on the way, of ops of this table")

#define ROW(domain, name, meaning) {domain, #name, meaning},
static const nd4c_onnx_composite composites[] = {COMPOSITES(ROW)};

int32_t nd4c_onnx_composite_count(void) {
  return (int32_t)(sizeof composites / sizeof composites[0]);
}

const nd4c_onnx_composite *nd4c_onnx_composite_at(int32_t index) {
  return index >= 0 && index < nd4c_onnx_composite_count() ? &composites[index] : NULL;
}
