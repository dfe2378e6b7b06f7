/* Rows of the op table: recurrent layers and cells (RNN, LSTM, GRU, SRU), CTC losses and decoders. op_table.h says
 * how to read them. */
#ifndef ND4C_OP_TABLE_RECURRENT_H
#define ND4C_OP_TABLE_RECURRENT_H

/* A row of the next table ends with the defaults of alpha and beta. */

/* Activation functions of recurrent layers. */
#define ND4C_RECURRENT_ACTIVATION_TABLE(X)                                        \
  X(RELU, 0, "relu", 0, 0)                         /* max(0, x) */                \
  X(TANH, 1, "tanh", 0, 0)                         /* tanh x */                   \
  X(SIGMOID, 2, "sigmoid", 0, 0)                   /* 1 / (1 + e^-x) */           \
  X(AFFINE, 3, "affine", 1, 0)                     /* alpha x + beta */           \
  X(LEAKY_RELU, 4, "leaky_relu", 0.01, 0)          /* alpha x below 0 */          \
  X(THRESHOLDED_RELU, 5, "thresholded_relu", 1, 0) /* 0 below alpha */            \
  X(SCALED_TANH, 6, "scaled_tanh", 1, 1)           /* alpha tanh beta x */        \
  X(HARD_SIGMOID, 7, "hard_sigmoid", 0.2, 0.5)     /* alpha x + beta in 0 .. 1 */ \
  X(ELU, 8, "elu", 1, 0)                           /* alpha (e^x - 1) below 0 */  \
  X(SOFTSIGN, 9, "softsign", 0, 0)                 /* x / (1 + |x|) */            \
  X(SOFTPLUS, 10, "softplus", 0, 0)                /* ln(1 + e^x) */

/* The direction in which a recurrent layer reads a sequence. */
#define ND4C_DIRECTION_TABLE(X) \
  X(FORWARD, 0, "forward")      \
  X(REVERSE, 1, "reverse")      \
  X(BIDIRECTIONAL, 2, "bidirectional")

/* Attributes of all three layers. activations: one value for each function of the cell, then those of the second
 * direction; alpha and beta: one for each function, or none. clip: bounds the inputs of activations to -clip .. clip;
 * 0: no bound. */
#define ND4C_SIG_RECURRENT_ATTRS(A, op)              \
  A(op, WORDS, activations, recurrent_activation, 0) \
  A(op, FLOATS, alpha, 0)                            \
  A(op, FLOATS, beta, 0)                             \
  A(op, FLOAT, clip, 0.0) A(op, WORD, direction, direction, ND4C_DIRECTION_FORWARD) A(op, BOOL, batch_first, 0)
#define ND4C_SIG_RNN(A, op)       \
  A(op, IN, x, 0)                 \
  A(op, IN, w, 0)                 \
  A(op, IN, r, 0)                 \
  A(op, OPT, bias, 0)             \
  A(op, OPT, sequence_lengths, 0) \
  A(op, OPT, initial_h, 0)        \
  ND4C_SIG_RECURRENT_ATTRS(A, op) \
  A(op, OUT, y, 0) A(op, OUT, h, 0)
#define ND4C_SIG_GRU(A, op)       \
  A(op, IN, x, 0)                 \
  A(op, IN, w, 0)                 \
  A(op, IN, r, 0)                 \
  A(op, OPT, bias, 0)             \
  A(op, OPT, sequence_lengths, 0) \
  A(op, OPT, initial_h, 0)        \
  ND4C_SIG_RECURRENT_ATTRS(A, op) \
  A(op, BOOL, linear_before_reset, 0) A(op, OUT, y, 0) A(op, OUT, h, 0)
#define ND4C_SIG_LSTM(A, op)      \
  A(op, IN, x, 0)                 \
  A(op, IN, w, 0)                 \
  A(op, IN, r, 0)                 \
  A(op, OPT, bias, 0)             \
  A(op, OPT, sequence_lengths, 0) \
  A(op, OPT, initial_h, 0)        \
  A(op, OPT, initial_c, 0)        \
  A(op, OPT, peepholes, 0)        \
  ND4C_SIG_RECURRENT_ATTRS(A, op) \
  A(op, BOOL, input_forget, 0) A(op, OUT, y, 0) A(op, OUT, h, 0) A(op, OUT, c, 0)
#define ND4C_SIG_RNN_CELL(A, op) \
  A(op, IN, x, 0) A(op, IN, h, 0) A(op, IN, w, 0) A(op, IN, r, 0) A(op, OPT, bias, 0) A(op, OUT, next_h, 0)
#define ND4C_SIG_GRU_CELL(A, op) \
  A(op, IN, x, 0)                \
  A(op, IN, h, 0)                \
  A(op, IN, w, 0) A(op, IN, r, 0) A(op, OPT, bias, 0) A(op, BOOL, linear_before_reset, 0) A(op, OUT, next_h, 0)
#define ND4C_SIG_LSTM_CELL(A, op) \
  A(op, IN, x, 0)                 \
  A(op, IN, h, 0)                 \
  A(op, IN, c, 0)                 \
  A(op, IN, w, 0)                 \
  A(op, IN, r, 0)                 \
  A(op, OPT, bias, 0) A(op, OPT, peepholes, 0) A(op, OUT, next_h, 0) A(op, OUT, next_c, 0)
#define ND4C_SIG_SRU(A, op) \
  A(op, IN, x, 0)           \
  A(op, IN, w, 0) A(op, IN, bias, 0) A(op, OPT, initial_c, 0) A(op, OUT, y, 0) A(op, OUT, c, 0)
#define ND4C_SIG_CTC_LOSS(A, op) \
  A(op, IN, x, 0)                \
  A(op, IN, targets, 0)          \
  A(op, IN, input_lengths, 0)    \
  A(op, IN, target_lengths, 0)   \
  A(op, INT, blank, 0)           \
  A(op, WORD, reduction, loss_reduction, ND4C_LOSS_REDUCTION_MEAN) A(op, BOOL, zero_infinity, 0) A(op, OUT, loss, 0)
#define ND4C_SIG_CTC_GREEDY(A, op) \
  A(op, IN, x, 0)                  \
  A(op, OPT, input_lengths, 0)     \
  A(op, INT, blank, 0)             \
  A(op, BOOL, merge_repeated, 1) A(op, OUT, labels, 0) A(op, OUT, lengths, 0) A(op, OUT, score, 0)
#define ND4C_SIG_CTC_BEAM(A, op) \
  A(op, IN, x, 0)                \
  A(op, OPT, input_lengths, 0)   \
  A(op, INT, blank, 0)           \
  A(op, INT, beam_width, 100)    \
  A(op, INT, top_paths, 1) A(op, OUT, labels, 0) A(op, OUT, lengths, 0) A(op, OUT, log_probability, 0)

#define ND4C_OPS_RECURRENT(OP)                                                                                        \
  OP(640, 1, rnn, NN, ND4C_SIG_RNN, rnn, REAL_FLOATING,                                                               \
     "h = f(x w^T + h r^T + bias) at each step of x [t, n, i] (batch_first: [n, t, i]); f: activations; w [d, "       \
     "hidden, i], r [d, hidden, hidden], bias [d, 2 hidden]: that of w, then that of r; d: directions; y is 0 "       \
     "at steps past sequence_lengths",                                                                                \
     "|nn.RNN|RNN|", NONE, OPTIONS)                                                                                   \
  OP(641, 1, lstm, NN, ND4C_SIG_LSTM, lstm, REAL_FLOATING,                                                            \
     "gates i, o, f, c, in this order in w, r and bias: s = x w^T + h r^T + bias; i = f1(s_i + p_i c), f = "          \
     "f1(s_f + p_f c), new c = f c + i f2(s_c), o = f1(s_o + p_o c) with the new c, h = o f3(c); f1, f2, f3: "        \
     "activations; p: peepholes [d, 3 hidden] of i, o, f; input_forget: f = 1 - i; shapes as in rnn with 4 "          \
     "hidden",                                                                                                        \
     "|nn.LSTM|LSTM|lstmLayer", NONE, OPTIONS)                                                                        \
  OP(642, 1, gru, NN, ND4C_SIG_GRU, gru, REAL_FLOATING,                                                               \
     "gates z (update), q (reset), g (candidate), in this order in w, r and bias: z and q = f1(x w^T + h r^T "        \
     "+ bias), g = f2(x w^T + (q h) r^T + bias) or, linear_before_reset, f2(x w^T + q (h r^T + bias of r) + "         \
     "bias of w); h = (1 - z) g + z h; f1, f2: activations; shapes as in rnn with 3 hidden",                          \
     "|nn.GRU|GRU|gru", NONE, OPTIONS)                                                                                \
  OP(643, 1, rnn_cell, NN, ND4C_SIG_RNN_CELL, rnn_cell, REAL_FLOATING,                                                \
     "one step of rnn: x [n, i], h [n, hidden], w [hidden, i], r [hidden, hidden], bias [2 hidden]", "|nn.RNNCell||") \
  OP(644, 1, lstm_cell, NN, ND4C_SIG_LSTM_CELL, lstm_cell, REAL_FLOATING,                                             \
     "one step of lstm: x [n, i], h and c [n, hidden], w [4 hidden, i], r [4 hidden, hidden], bias [8 "               \
     "hidden], peepholes [3 hidden]; gates in the order of lstm",                                                     \
     "|nn.LSTMCell||lstmCell")                                                                                        \
  OP(645, 1, gru_cell, NN, ND4C_SIG_GRU_CELL, gru_cell, REAL_FLOATING,                                                \
     "one step of gru: x [n, i], h [n, hidden], w [3 hidden, i], r [3 hidden, hidden], bias [6 hidden]; gates "       \
     "in the order of gru",                                                                                           \
     "|nn.GRUCell||gruCell")                                                                                          \
  OP(646, 1, sru, NN, ND4C_SIG_SRU, sru, REAL_FLOATING,                                                               \
     "u, f, r = x w^T of x [t, n, hidden], w [3 hidden, hidden]; f, r through sigmoid with bias [2 hidden]; c "       \
     "= f c + (1 - f) u; y = r tanh(c) + (1 - r) x; arXiv 1709.02755",                                                \
     "|||sru, sruCell")                                                                                               \
  OP(647, 1, ctc_loss, NN, ND4C_SIG_CTC_LOSS, ctc_loss, REAL_FLOATING,                                                \
     "-ln of the probability of targets [n, s] under log probabilities x [t, n, classes], summed over all "           \
     "alignments; reduction 0 none, 1 sum, 2 mean of loss / target length",                                           \
     "|nn.functional.ctc_loss||ctcLoss")                                                                              \
  OP(648, 1, ctc_greedy_decode, NN, ND4C_SIG_CTC_GREEDY, ctc_decode, REAL_FLOATING,                                   \
     "the most likely class of each step of x [t, n, classes], without blanks and repetitions: int64 labels [n, t], " \
     "filled up with -1, lengths [n], and as the score the sum of each step's largest x",                             \
     "|||")                                                                                                           \
  OP(649, 1, ctc_beam_decode, NN, ND4C_SIG_CTC_BEAM, ctc_beam_decode, REAL_FLOATING,                                  \
     "the top_paths most likely labellings by prefix beam search over log probabilities x [t, n, classes]: int64 "    \
     "labels [n, path, t], filled up with -1, lengths and log probabilities [n, path]; a missing path has length 0 "  \
     "and log probability -infinity",                                                                                 \
     "|||ctcBeam")

#endif
