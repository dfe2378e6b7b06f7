/* Losses and steps of optimisers on numbers in C order (numbers.h). The family loss of engine reference calls these. */
#ifndef ND4C_KERNELS_REFERENCE_LOSS_LOSS_H
#define ND4C_KERNELS_REFERENCE_LOSS_LOSS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum nd4c_ref_loss {
  ND4C_REF_LOSS_SQUARE,
  ND4C_REF_LOSS_ABSOLUTE,
  ND4C_REF_LOSS_HUBER,
  ND4C_REF_LOSS_SMOOTH,
  ND4C_REF_LOSS_HINGE,
  ND4C_REF_LOSS_LOG,
  ND4C_REF_LOSS_SIGMOID,
  ND4C_REF_LOSS_DIVERGENCE,
  ND4C_REF_LOSS_DIVERGENCE_LOG,
  ND4C_REF_LOSS_POISSON
} nd4c_ref_loss;

/* Of one prediction; the parameter is delta, beta, epsilon or label_smoothing. */
double nd4c_ref_loss_of(nd4c_ref_loss loss, double x, double target, double parameter);

/* Losses of classes, and the weight of each, of log probabilities [outer, classes, inner]; weights may be NULL. Targets
 * are classes or ignored. */
void nd4c_ref_class_losses(const double *x, const int64_t *target, const double *weights, int64_t outer,
                           int64_t classes, int64_t inner, int64_t ignored, double *losses, double *shares);

typedef enum nd4c_ref_optimizer {
  ND4C_REF_SGD,
  ND4C_REF_MOMENTUM,
  ND4C_REF_NESTEROV,
  ND4C_REF_ADAGRAD,
  ND4C_REF_RMSPROP,
  ND4C_REF_ADAM,
  ND4C_REF_ADAMW
} nd4c_ref_optimizer;

typedef struct nd4c_ref_optimizer_args {
  nd4c_ref_optimizer kind;
  double rate, step, alpha, beta, epsilon, decay, decay_after, rate_decay;
  const double *gradient;
  double *x, *v, *h; /* changed in place; v and h where the optimiser has them */
} nd4c_ref_optimizer_args;
/* Range over elements. */
void nd4c_ref_optimize(const nd4c_ref_optimizer_args *args, int64_t begin, int64_t end);

#endif
