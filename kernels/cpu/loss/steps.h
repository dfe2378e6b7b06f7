/* Inner loops of the steps of optimisers: one pass over all operands. simd/loss/loss_steps.c runs them. */
#ifndef ND4C_KERNELS_CPU_LOSS_STEPS_H
#define ND4C_KERNELS_CPU_LOSS_STEPS_H

#include <stdint.h>

#include "nd4c/dtype.h"

#define ND4C_STEPS(X) X(sgd) X(momentum) X(nesterov) X(adagrad) X(rmsprop) X(adam) X(adamw)

enum nd4c_step_index {
#define ND4C_STEP_INDEX(name) ND4C_STEP_##name,
  ND4C_STEPS(ND4C_STEP_INDEX)
#undef ND4C_STEP_INDEX
      ND4C_STEP_COUNT
};

/* alpha, beta, epsilon and decay are the op's attributes. What the op computes of its rate and its step's number comes
 * ready: `rate` multiplies v or the gradient; `fresh` multiplies the gradient in momentum's v; `kept` multiplies x
 * before (adamw) or after (adam) the step; `scale` multiplies h under the root of adamw. */
typedef struct nd4c_step_numbers {
  double rate, alpha, beta, epsilon, decay, fresh, kept, scale;
} nd4c_step_numbers;

/* What n elements become. States that the step does not have are not touched. A result may take the place of the
 * operand that it succeeds. */
typedef struct nd4c_step_operands {
  const void *x, *gradient, *v, *h;
  void *next_x, *next_v, *next_h;
} nd4c_step_operands;
typedef void (*nd4c_step_loop)(int64_t n, const nd4c_step_numbers *numbers, const nd4c_step_operands *operands);

typedef struct nd4c_steps_table {
  nd4c_step_loop loops[ND4C_STEP_COUNT][ND4C_DTYPE_END]; /* floats */
} nd4c_steps_table;

#endif
