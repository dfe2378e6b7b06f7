/* Rows of the op table: losses, and steps of optimisers (SGD, momentum, Adagrad, RMSprop, Adam, AdamW). op_table.h
 * says how to read them. */
#ifndef ND4C_OP_TABLE_LOSS_H
#define ND4C_OP_TABLE_LOSS_H

/* How a loss combines its elements. MEAN divides by the number of elements, but in nll_loss and softmax_cross_entropy
 * by the sum of the weights. MEAN_BY_WEIGHT always divides by the sum of the weights. */
#define ND4C_LOSS_REDUCTION_TABLE(X) \
  X(NONE, 0, "none")                 \
  X(SUM, 1, "sum")                   \
  X(MEAN, 2, "mean")                 \
  X(MEAN_BY_WEIGHT, 3, "mean_by_weight")

/* x: predictions; weights broadcast to x. */
#define ND4C_SIG_LOSS(A, op) \
  A(op, IN, x, 0)            \
  A(op, IN, target, 0)       \
  A(op, OPT, weights, 0) A(op, WORD, reduction, loss_reduction, ND4C_LOSS_REDUCTION_MEAN) A(op, OUT, loss, 0)
#define ND4C_SIG_LOSS_PARAMETER(A, op, name, preset) \
  A(op, IN, x, 0)                                    \
  A(op, IN, target, 0)                               \
  A(op, OPT, weights, 0)                             \
  A(op, WORD, reduction, loss_reduction, ND4C_LOSS_REDUCTION_MEAN) A(op, FLOAT, name, preset) A(op, OUT, loss, 0)
#define ND4C_SIG_LOSS_DELTA(A, op) ND4C_SIG_LOSS_PARAMETER(A, op, delta, 1.0)
#define ND4C_SIG_LOSS_BETA(A, op) ND4C_SIG_LOSS_PARAMETER(A, op, beta, 1.0)
#define ND4C_SIG_LOSS_EPSILON(A, op) ND4C_SIG_LOSS_PARAMETER(A, op, epsilon, 0.0)
#define ND4C_SIG_LOSS_SMOOTHING(A, op) ND4C_SIG_LOSS_PARAMETER(A, op, label_smoothing, 0.0)
#define ND4C_SIG_LOSS_LOG(A, op) \
  A(op, IN, x, 0)                \
  A(op, IN, target, 0)           \
  A(op, OPT, weights, 0)         \
  A(op, WORD, reduction, loss_reduction, ND4C_LOSS_REDUCTION_MEAN) A(op, BOOL, log_target, 0) A(op, OUT, loss, 0)
#define ND4C_SIG_NLL(A, op) \
  A(op, IN, x, 0)           \
  A(op, IN, target, 0)      \
  A(op, OPT, weights, 0)    \
  A(op, WORD, reduction, loss_reduction, ND4C_LOSS_REDUCTION_MEAN) A(op, INT, ignore_index, -100) A(op, OUT, loss, 0)
#define ND4C_SIG_CROSS_ENTROPY(A, op)                              \
  A(op, IN, x, 0)                                                  \
  A(op, IN, target, 0)                                             \
  A(op, OPT, weights, 0)                                           \
  A(op, WORD, reduction, loss_reduction, ND4C_LOSS_REDUCTION_MEAN) \
  A(op, INT, ignore_index, -100) A(op, OUT, loss, 0) A(op, OUT, log_probabilities, 0)
#define ND4C_SIG_LOSS_AXIS(A, op) \
  A(op, IN, x, 0)                 \
  A(op, IN, target, 0)            \
  A(op, OPT, weights, 0)          \
  A(op, WORD, reduction, loss_reduction, ND4C_LOSS_REDUCTION_MEAN) A(op, INT, axis, -1) A(op, OUT, loss, 0)
#define ND4C_SIG_SGD(A, op) \
  A(op, IN, x, 0) A(op, IN, gradient, 0) A(op, IN, rate, 0) A(op, FLOAT, decay, 0.0) A(op, OUT, next_x, 0)
#define ND4C_SIG_MOMENTUM(A, op) \
  A(op, IN, x, 0)                \
  A(op, IN, gradient, 0)         \
  A(op, IN, v, 0)                \
  A(op, IN, rate, 0)             \
  A(op, IN, step, 0)             \
  A(op, FLOAT, alpha, 0.9)       \
  A(op, FLOAT, beta, 1.0)        \
  A(op, FLOAT, decay, 0.0) A(op, BOOL, nesterov, 0) A(op, OUT, next_x, 0) A(op, OUT, next_v, 0)
#define ND4C_SIG_ADAGRAD(A, op) \
  A(op, IN, x, 0)               \
  A(op, IN, gradient, 0)        \
  A(op, IN, h, 0)               \
  A(op, IN, rate, 0)            \
  A(op, IN, step, 0)            \
  A(op, FLOAT, rate_decay, 0.0) \
  A(op, FLOAT, decay, 0.0) A(op, FLOAT, epsilon, 1e-6) A(op, OUT, next_x, 0) A(op, OUT, next_h, 0)
#define ND4C_SIG_RMSPROP(A, op) \
  A(op, IN, x, 0)               \
  A(op, IN, gradient, 0)        \
  A(op, IN, h, 0)               \
  A(op, IN, rate, 0)            \
  A(op, FLOAT, alpha, 0.99)     \
  A(op, FLOAT, decay, 0.0) A(op, FLOAT, epsilon, 1e-8) A(op, OUT, next_x, 0) A(op, OUT, next_h, 0)
#define ND4C_SIG_ADAM(A, op)  \
  A(op, IN, x, 0)             \
  A(op, IN, gradient, 0)      \
  A(op, IN, v, 0)             \
  A(op, IN, h, 0)             \
  A(op, IN, rate, 0)          \
  A(op, IN, step, 0)          \
  A(op, FLOAT, alpha, 0.9)    \
  A(op, FLOAT, beta, 0.999)   \
  A(op, FLOAT, epsilon, 1e-6) \
  A(op, FLOAT, decay, 0.0)    \
  A(op, FLOAT, decay_after, 0.0) A(op, OUT, next_x, 0) A(op, OUT, next_v, 0) A(op, OUT, next_h, 0)
#define ND4C_SIG_ADAMW(A, op) \
  A(op, IN, x, 0)             \
  A(op, IN, gradient, 0)      \
  A(op, IN, v, 0)             \
  A(op, IN, h, 0)             \
  A(op, IN, rate, 0)          \
  A(op, IN, step, 0)          \
  A(op, FLOAT, alpha, 0.9)    \
  A(op, FLOAT, beta, 0.999)   \
  A(op, FLOAT, epsilon, 1e-8) \
  A(op, FLOAT, decay, 0.01) A(op, OUT, next_x, 0) A(op, OUT, next_v, 0) A(op, OUT, next_h, 0)

#define ND4C_OPS_LOSS(OP)                                                                                              \
  OP(680, 1, nll_loss, NN, ND4C_SIG_NLL, nll_loss, REAL_FLOATING,                                                      \
     "-weights[c] x[n, c, ...] with c the class in target [n, ...]; where target is ignore_index, loss and weight "    \
     "are 0",                                                                                                          \
     "|nn.functional.nll_loss|NegativeLogLikelihoodLoss|")                                                             \
  OP(681, 1, softmax_cross_entropy, NN, ND4C_SIG_CROSS_ENTROPY, softmax_cross_entropy, REAL_FLOATING,                  \
     "nll_loss of log_softmax(x) on axis 1; also gives that log_softmax",                                              \
     "|nn.functional.cross_entropy|SoftmaxCrossEntropyLoss|sparseSoftmaxCrossEntropy")                                 \
  OP(682, 1, dense_cross_entropy, NN, ND4C_SIG_LOSS_AXIS, axis_loss, REAL_FLOATING,                                    \
     "-sum of target * log_softmax(x) on axis; the loss does not have that axis",                                      \
     "|nn.functional.cross_entropy||softmaxCrossEntropy")                                                              \
  OP(683, 1, cosine_distance, NN, ND4C_SIG_LOSS_AXIS, axis_loss, REAL_FLOATING,                                        \
     "1 - sum of x * target on axis, for x and target of norm 1; the loss does not have that axis",                    \
     "|||cosineDistance")                                                                                              \
  OP(684, 1, mse_loss, NN, ND4C_SIG_LOSS, loss, REAL_FLOATING, "(x - target)^2",                                       \
     "|nn.functional.mse_loss||meanSquaredError")                                                                      \
  OP(685, 1, l1_loss, NN, ND4C_SIG_LOSS, loss, REAL_FLOATING, "|x - target|",                                          \
     "|nn.functional.l1_loss||absoluteDifference")                                                                     \
  OP(686, 1, huber_loss, NN, ND4C_SIG_LOSS_DELTA, loss_delta, REAL_FLOATING,                                           \
     "d^2 / 2 for d = |x - target| <= delta, else delta (d - delta / 2)",                                              \
     "scipy.special.huber|nn.functional.huber_loss||huberLoss")                                                        \
  OP(687, 1, smooth_l1_loss, NN, ND4C_SIG_LOSS_BETA, loss_beta, REAL_FLOATING,                                         \
     "d^2 / (2 beta) for d = |x - target| < beta, else d - beta / 2", "|nn.functional.smooth_l1_loss||")               \
  OP(688, 1, hinge_loss, NN, ND4C_SIG_LOSS, loss, REAL_FLOATING, "max(0, 1 - x target), target -1 or 1",               \
     "|||hingeLoss")                                                                                                   \
  OP(689, 1, log_loss, NN, ND4C_SIG_LOSS_EPSILON, loss_epsilon, REAL_FLOATING,                                         \
     "-target ln(x + epsilon) - (1 - target) ln(1 - x + epsilon), a factor of 0 giving 0",                             \
     "|nn.functional.binary_cross_entropy||logLoss")                                                                   \
  OP(690, 1, sigmoid_cross_entropy, NN, ND4C_SIG_LOSS_SMOOTHING, loss_smoothing, REAL_FLOATING,                        \
     "log_loss of sigmoid(x) against target (1 - label_smoothing) + label_smoothing / 2, exact for large x; for "      \
     "infinite x its limit: 0 if the target says the same, else infinity (PyTorch, TensorFlow: NaN for some)",         \
     "|nn.functional.binary_cross_entropy_with_logits||sigmoidCrossEntropy")                                           \
  OP(691, 1, kl_divergence, NN, ND4C_SIG_LOSS_LOG, loss_log, REAL_FLOATING,                                            \
     "target (ln target - x), 0 for target 0; log_target: target is a logarithm, too",                                 \
     "scipy.special.kl_div|nn.functional.kl_div||")                                                                    \
  OP(692, 1, poisson_nll_loss, NN, ND4C_SIG_LOSS, loss, REAL_FLOATING, "e^x - target x",                               \
     "|nn.functional.poisson_nll_loss||logPoisson")                                                                    \
  OP(694, 1, sgd_step, NN, ND4C_SIG_SGD, optimizer, REAL_FLOATING, "x - rate (gradient + decay x)", "|optim.SGD||Sgd") \
  OP(695, 1, momentum_step, NN, ND4C_SIG_MOMENTUM, optimizer_step, REAL_FLOATING,                                      \
     "g = gradient + decay x; v = alpha v + beta g (g at step 0); x - rate v or, nesterov, x - rate (g + alpha v)",    \
     "|optim.SGD|ai.onnx.preview.training.Momentum|Nesterovs", NONE, OPTIONS)                                          \
  OP(696, 1, adagrad_step, NN, ND4C_SIG_ADAGRAD, optimizer_step, REAL_FLOATING,                                        \
     "g = gradient + decay x; h = h + g^2; x - rate / (1 + rate_decay step) g / (sqrt h + epsilon)",                   \
     "|optim.Adagrad|ai.onnx.preview.training.Adagrad|AdaGrad")                                                        \
  OP(697, 1, rmsprop_step, NN, ND4C_SIG_RMSPROP, optimizer, REAL_FLOATING,                                             \
     "g = gradient + decay x; h = alpha h + (1 - alpha) g^2; x - rate g / (sqrt h + epsilon)",                         \
     "|optim.RMSprop||RmsProp")                                                                                        \
  OP(698, 1, adam_step, NN, ND4C_SIG_ADAM, optimizer_step, REAL_FLOATING,                                              \
     "g = gradient + decay x; v = alpha v + (1 - alpha) g; h = beta h + (1 - beta) g^2; (1 - decay_after) (x - r v / " \
     "(sqrt h + epsilon)), r = rate sqrt(1 - beta^step) / (1 - alpha^step), at step 0 rate",                           \
     "||ai.onnx.preview.training.Adam|", NONE, OPTIONS)                                                                \
  OP(699, 1, adamw_step, NN, ND4C_SIG_ADAMW, optimizer_step, REAL_FLOATING,                                            \
     "v = alpha v + (1 - alpha) gradient; h = beta h + (1 - beta) gradient^2; (1 - rate decay) x - rate V / (sqrt H "  \
     "+ epsilon), V = v / (1 - alpha^step), H = h / (1 - beta^step), step from 1",                                     \
     "|optim.AdamW, optim.Adam||Adam", NONE, OPTIONS)

#endif
