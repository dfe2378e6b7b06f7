/* Gradients of ops: what an op gives back to its inputs from the gradient of its first output, as ops of an emitter
 * (ops/emitter.h). nd4c_graph_gradient (graph/gradient.c) and the importer of the ONNX op Gradient
 * (import/onnx/ops/gradient.c) call it; the other files of this folder are lists of rules. */
#ifndef ND4C_OPS_GRADIENT_GRADIENT_H
#define ND4C_OPS_GRADIENT_GRADIENT_H

#include "ops/emitter.h"

enum { ND4C_GRADIENT_INPUTS = 3 }; /* of an op with a rule, at most */

/* An op that was emitted, and the gradient of its output. */
typedef struct nd4c_gradient_step {
  nd4c_emitted inputs[ND4C_GRADIENT_INPUTS], output; /* an input that is left out is NONE */
  nd4c_emitted given;
  const nd4c_emitted *outputs;  /* all of them, and */
  const nd4c_attr_value *attrs; /* the attributes, resolved: only for nd4c_gradient_find_any */
} nd4c_gradient_step;

/* The gradient of input `index`. It has the output's shape where the op broadcasts its inputs. */
typedef nd4c_status (*nd4c_gradient_rule)(nd4c_emitter *e, const nd4c_gradient_step *step, int32_t index,
                                          nd4c_emitted *gradient);

/* X(op, rule): the ops that have a rule, a list for each file of rules. The importer's row for Gradient names them. */
#define ND4C_GRADIENT_ELEMENTWISE(X) \
  X(copy, pass)                      \
  X(add, pass)                       \
  X(subtract, subtract)              \
  X(multiply, multiply)              \
  X(divide, divide)                  \
  X(negative, negative)              \
  X(exp, exponential)                \
  X(log, logarithm)                  \
  X(sqrt, square_root)               \
  X(sin, sine)                       \
  X(cos, cosine)
#define ND4C_GRADIENT_ACTIVATION(X) \
  X(tanh, hyperbolic_tangent)       \
  X(sigmoid, sigmoid)               \
  X(relu, rectifier)
#define ND4C_GRADIENT_CONTRACTION(X) X(matmul, product)
#define ND4C_GRADIENT_TABLE(X) ND4C_GRADIENT_ELEMENTWISE(X) ND4C_GRADIENT_ACTIVATION(X) ND4C_GRADIENT_CONTRACTION(X)

/* Ops whose rules read attributes, or other outputs than the first. */
#define ND4C_GRADIENT_REDUCTION(X) \
  X(sum, total)                    \
  X(mean, average)                 \
  X(softmax, softmax)              \
  X(log_softmax, log_softmax)      \
  X(reshape, reshaped)             \
  X(flatten, reshaped)             \
  X(squeeze, reshaped)             \
  X(expand_dims, reshaped)         \
  X(transpose, transposed)         \
  X(broadcast_to, broadcast)       \
  X(cast, converted)               \
  X(square, squared)               \
  X(where, chosen)
#define ND4C_GRADIENT_LOSS(X) X(mse_loss, squared_error) X(softmax_cross_entropy, cross_entropy)

/* A rule; each family of rules ends with NONE. */
typedef struct nd4c_gradient_row {
  nd4c_op op;
  nd4c_gradient_rule rule;
} nd4c_gradient_row;
extern const nd4c_gradient_row nd4c_gradient_elementwise[], nd4c_gradient_activation[], nd4c_gradient_contraction[],
    nd4c_gradient_reduction[], nd4c_gradient_loss[];

/* The rule of an op of ND4C_GRADIENT_TABLE; NULL if it has none. */
nd4c_gradient_rule nd4c_gradient_find(nd4c_op op);
/* The rule of any op. */
nd4c_gradient_rule nd4c_gradient_find_any(nd4c_op op);

/* The gradient of input `index` in that input's shape: what was broadcast is summed. */
nd4c_status nd4c_gradient_emit(nd4c_emitter *e, nd4c_gradient_rule rule, const nd4c_gradient_step *step, int32_t index,
                               nd4c_emitted *gradient);

/* For files of rules. */
#define ND4C_GRADIENT(name) \
  static nd4c_status name(nd4c_emitter *e, const nd4c_gradient_step *step, int32_t index, nd4c_emitted *gradient)
#define ROW(op, rule) {ND4C_OP_##op, rule},
#define UNARY(op, x, y) ND4C_TRY(nd4c_emit_unary(e, ND4C_OP_##op, x, y))
#define BINARY(op, a, b, y) ND4C_TRY(nd4c_emit_binary(e, ND4C_OP_##op, a, b, y))

#endif
