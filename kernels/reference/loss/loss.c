/* Losses and optimisers (loss.h). Engine reference calls these. */
#include "kernels/reference/loss/loss.h"

#include <math.h>
#include <stddef.h>

/* factor * ln(x), 0 for a factor of 0 */
static double times_log(double factor, double x) {
  return factor == 0 ? 0 : factor * log(x);
}

/* For finite x, max(x, 0) - x target + ln(1 + e^-|x|). For infinite x its limit: that form would give NaN there, of
 * infinity less infinity or infinity times 0. */
static double sigmoid_loss(double x, double target) {
  if (isinf(x)) {
    double share = x < 0 ? target : 1 - target;
    return share == 0 ? 0 : share * INFINITY;
  }
  return (x > 0 || isnan(x) ? x : 0) - x * target + log1p(exp(-fabs(x)));
}

double nd4c_ref_loss_of(nd4c_ref_loss loss, double x, double target, double parameter) {
  double d = fabs(x - target);
  switch (loss) {
    case ND4C_REF_LOSS_SQUARE:
      return d * d;
    case ND4C_REF_LOSS_HUBER:
      return d <= parameter ? d * d / 2 : parameter * (d - parameter / 2);
    case ND4C_REF_LOSS_SMOOTH:
      return d < parameter ? d * d / (2 * parameter) : d - parameter / 2;
    case ND4C_REF_LOSS_HINGE:
      d = 1 - x * target;
      return d < 0 ? 0 : d;
    case ND4C_REF_LOSS_LOG:
      return -times_log(target, x + parameter) - times_log(1 - target, 1 - x + parameter);
    case ND4C_REF_LOSS_SIGMOID:
      return sigmoid_loss(x, target * (1 - parameter) + parameter / 2);
    case ND4C_REF_LOSS_DIVERGENCE:
      return times_log(target, target) - target * x;
    case ND4C_REF_LOSS_DIVERGENCE_LOG:
      return exp(target) * (target - x);
    case ND4C_REF_LOSS_POISSON:
      return exp(x) - target * x;
    case ND4C_REF_LOSS_ABSOLUTE:
    default:
      return d;
  }
}

void nd4c_ref_class_losses(const double *x, const int64_t *target, const double *weights, int64_t outer,
                           int64_t classes, int64_t inner, int64_t ignored, double *losses, double *shares) {
  for (int64_t i = 0; i < outer * inner; i++) {
    int64_t class = target[i];
    losses[i] = shares[i] = 0;
    if (class == ignored) {
      continue;
    }
    shares[i] = weights != NULL ? weights[class] : 1;
    losses[i] = -shares[i] * x[(i / inner * classes + class) * inner + i % inner];
  }
}

static void adam(const nd4c_ref_optimizer_args *args, int64_t i, double gradient) {
  double rate = args->rate;
  args->v[i] = args->alpha * args->v[i] + (1 - args->alpha) * gradient;
  args->h[i] = args->beta * args->h[i] + (1 - args->beta) * gradient * gradient;
  double v = args->v[i], h = args->h[i];
  if (args->kind == ND4C_REF_ADAMW) {
    v /= 1 - pow(args->alpha, args->step);
    h /= 1 - pow(args->beta, args->step);
    args->x[i] -= args->rate * args->decay * args->x[i];
  } else if (args->step > 0) {
    rate = rate * sqrt(1 - pow(args->beta, args->step)) / (1 - pow(args->alpha, args->step));
  }
  args->x[i] = (1 - args->decay_after) * (args->x[i] - rate * v / (sqrt(h) + args->epsilon));
}

void nd4c_ref_optimize(const nd4c_ref_optimizer_args *args, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++) {
    double gradient = args->gradient[i] + (args->kind == ND4C_REF_ADAMW ? 0 : args->decay * args->x[i]);
    switch (args->kind) {
      case ND4C_REF_MOMENTUM:
      case ND4C_REF_NESTEROV:
        args->v[i] = args->alpha * args->v[i] + (args->step > 0 ? args->beta : 1) * gradient;
        args->x[i] -= args->rate * (args->kind == ND4C_REF_NESTEROV ? gradient + args->alpha * args->v[i] : args->v[i]);
        break;
      case ND4C_REF_ADAGRAD:
        args->h[i] += gradient * gradient;
        args->x[i] -= args->rate / (1 + args->step * args->rate_decay) * gradient / (sqrt(args->h[i]) + args->epsilon);
        break;
      case ND4C_REF_RMSPROP:
        args->h[i] = args->alpha * args->h[i] + (1 - args->alpha) * gradient * gradient;
        args->x[i] -= args->rate * gradient / (sqrt(args->h[i]) + args->epsilon);
        break;
      case ND4C_REF_ADAM:
      case ND4C_REF_ADAMW:
        adam(args, i, gradient);
        break;
      case ND4C_REF_SGD:
      default:
        args->x[i] -= args->rate * gradient;
    }
  }
}
