/* Op functions of the family recurrent, made from include/nd4c/op_table/recurrent.h by scripts/ops_header.py (target
 * ops-header): change the table, not this file. nd4c/ops.h says how to read the comments. */
#ifndef ND4C_OPS_RECURRENT_H
#define ND4C_OPS_RECURRENT_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/array.h"
#include "nd4c/context.h"
#include "nd4c/dtype.h"
#include "nd4c/export.h"
#include "nd4c/options.h"
#include "nd4c/ops/enums.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* Options of nd4c_rnn. */
typedef struct nd4c_rnn_options {
  uint32_t struct_size; /* set by ND4C_RNN_DEFAULTS */
  const nd4c_array *bias;
  const nd4c_array *sequence_lengths;
  const nd4c_array *initial_h;
  const int64_t *activations; /* values of nd4c_recurrent_activation */
  int32_t activations_count;
  const double *alpha;
  int32_t alpha_count;
  const double *beta;
  int32_t beta_count;
  double clip;
  nd4c_direction direction;
  bool batch_first;
} nd4c_rnn_options;
#define ND4C_RNN_DEFAULTS \
  {ND4C_OPTIONS_SIZE(nd4c_rnn_options, batch_first), NULL, NULL, NULL, NULL, 0, NULL, 0, NULL, 0, 0.0, \
   ND4C_DIRECTION_FORWARD, false}

/* rnn: h = f(x w^T + h r^T + bias) at each step of x [t, n, i] (batch_first: [n, t, i]); f: activations; w [d,
 * hidden, i], r [d, hidden, hidden], bias [d, 2 hidden]: that of w, then that of r; d: directions; y is 0 at steps
 * past sequence_lengths.
 * In: x (float), w, r.
 * Options: bias (NULL), sequence_lengths (NULL), initial_h (NULL), activations (NULL, 0; values of
 *     nd4c_recurrent_activation), alpha (NULL, 0), beta (NULL, 0), clip (0.0), direction (ND4C_DIRECTION_FORWARD),
 *     batch_first (false).
 * Out: y: [t, directions, n, hidden], h: [directions, n, hidden], in x's dtype; with batch_first [n, t, directions,
 *     hidden] and [n, directions, hidden].
 * Statuses: ARGUMENT, DTYPE, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_rnn(const nd4c_array *x, const nd4c_array *w, const nd4c_array *r,
                              const nd4c_rnn_options *options, nd4c_array **y, nd4c_array **h);
ND4C_API nd4c_status nd4c_rnn_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *w, const nd4c_array *r,
                                 const nd4c_rnn_options *options, nd4c_array **y, nd4c_array **h);

/* Options of nd4c_lstm. */
typedef struct nd4c_lstm_options {
  uint32_t struct_size; /* set by ND4C_LSTM_DEFAULTS */
  const nd4c_array *bias;
  const nd4c_array *sequence_lengths;
  const nd4c_array *initial_h;
  const nd4c_array *initial_c;
  const nd4c_array *peepholes;
  const int64_t *activations; /* values of nd4c_recurrent_activation */
  int32_t activations_count;
  const double *alpha;
  int32_t alpha_count;
  const double *beta;
  int32_t beta_count;
  double clip;
  nd4c_direction direction;
  bool batch_first;
  bool input_forget;
} nd4c_lstm_options;
#define ND4C_LSTM_DEFAULTS \
  {ND4C_OPTIONS_SIZE(nd4c_lstm_options, input_forget), NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, 0, NULL, 0, 0.0, \
   ND4C_DIRECTION_FORWARD, false, false}

/* lstm: gates i, o, f, c, in this order in w, r and bias: s = x w^T + h r^T + bias; i = f1(s_i + p_i c), f = f1(s_f +
 * p_f c), new c = f c + i f2(s_c), o = f1(s_o + p_o c) with the new c, h = o f3(c); f1, f2, f3: activations; p:
 * peepholes [d, 3 hidden] of i, o, f; input_forget: f = 1 - i; shapes as in rnn with 4 hidden.
 * In: x (float), w, r.
 * Options: bias (NULL), sequence_lengths (NULL), initial_h (NULL), initial_c (NULL), peepholes (NULL), activations
 *     (NULL, 0; values of nd4c_recurrent_activation), alpha (NULL, 0), beta (NULL, 0), clip (0.0), direction
 *     (ND4C_DIRECTION_FORWARD), batch_first (false), input_forget (false).
 * Out: y: [t, directions, n, hidden], h and c: [directions, n, hidden], in x's dtype; with batch_first [n, t,
 *     directions, hidden] and [n, directions, hidden].
 * Statuses: ARGUMENT, DTYPE, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_lstm(const nd4c_array *x, const nd4c_array *w, const nd4c_array *r,
                               const nd4c_lstm_options *options, nd4c_array **y, nd4c_array **h, nd4c_array **c);
ND4C_API nd4c_status nd4c_lstm_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *w, const nd4c_array *r,
                                  const nd4c_lstm_options *options, nd4c_array **y, nd4c_array **h, nd4c_array **c);

/* Options of nd4c_gru. */
typedef struct nd4c_gru_options {
  uint32_t struct_size; /* set by ND4C_GRU_DEFAULTS */
  const nd4c_array *bias;
  const nd4c_array *sequence_lengths;
  const nd4c_array *initial_h;
  const int64_t *activations; /* values of nd4c_recurrent_activation */
  int32_t activations_count;
  const double *alpha;
  int32_t alpha_count;
  const double *beta;
  int32_t beta_count;
  double clip;
  nd4c_direction direction;
  bool batch_first;
  bool linear_before_reset;
} nd4c_gru_options;
#define ND4C_GRU_DEFAULTS \
  {ND4C_OPTIONS_SIZE(nd4c_gru_options, linear_before_reset), NULL, NULL, NULL, NULL, 0, NULL, 0, NULL, 0, 0.0, \
   ND4C_DIRECTION_FORWARD, false, false}

/* gru: gates z (update), q (reset), g (candidate), in this order in w, r and bias: z and q = f1(x w^T + h r^T +
 * bias), g = f2(x w^T + (q h) r^T + bias) or, linear_before_reset, f2(x w^T + q (h r^T + bias of r) + bias of w); h =
 * (1 - z) g + z h; f1, f2: activations; shapes as in rnn with 3 hidden.
 * In: x (float), w, r.
 * Options: bias (NULL), sequence_lengths (NULL), initial_h (NULL), activations (NULL, 0; values of
 *     nd4c_recurrent_activation), alpha (NULL, 0), beta (NULL, 0), clip (0.0), direction (ND4C_DIRECTION_FORWARD),
 *     batch_first (false), linear_before_reset (false).
 * Out: y: [t, directions, n, hidden], h: [directions, n, hidden], in x's dtype; with batch_first [n, t, directions,
 *     hidden] and [n, directions, hidden].
 * Statuses: ARGUMENT, DTYPE, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_gru(const nd4c_array *x, const nd4c_array *w, const nd4c_array *r,
                              const nd4c_gru_options *options, nd4c_array **y, nd4c_array **h);
ND4C_API nd4c_status nd4c_gru_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *w, const nd4c_array *r,
                                 const nd4c_gru_options *options, nd4c_array **y, nd4c_array **h);

/* rnn_cell: one step of rnn: x [n, i], h [n, hidden], w [hidden, i], r [hidden, hidden], bias [2 hidden].
 * In: x (float), h, w, r, bias or NULL.
 * Out: next_h: the shape and dtype of h [n, hidden]. All inputs have one dtype.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_rnn_cell(const nd4c_array *x, const nd4c_array *h, const nd4c_array *w, const nd4c_array *r,
                                   const nd4c_array *bias, nd4c_array **next_h);
ND4C_API nd4c_status nd4c_rnn_cell_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *h,
                                      const nd4c_array *w, const nd4c_array *r, const nd4c_array *bias,
                                      nd4c_array **next_h);

/* lstm_cell: one step of lstm: x [n, i], h and c [n, hidden], w [4 hidden, i], r [4 hidden, hidden], bias [8 hidden],
 * peepholes [3 hidden]; gates in the order of lstm.
 * In: x (float), h, c, w, r, bias or NULL, peepholes or NULL.
 * Out: next_h, next_c: each the shape and dtype of h [n, hidden]. All inputs have one dtype.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_lstm_cell(const nd4c_array *x, const nd4c_array *h, const nd4c_array *c, const nd4c_array *w,
                                    const nd4c_array *r, const nd4c_array *bias, const nd4c_array *peepholes,
                                    nd4c_array **next_h, nd4c_array **next_c);
ND4C_API nd4c_status nd4c_lstm_cell_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *h,
                                       const nd4c_array *c, const nd4c_array *w, const nd4c_array *r,
                                       const nd4c_array *bias, const nd4c_array *peepholes, nd4c_array **next_h,
                                       nd4c_array **next_c);

/* gru_cell: one step of gru: x [n, i], h [n, hidden], w [3 hidden, i], r [3 hidden, hidden], bias [6 hidden]; gates
 * in the order of gru.
 * In: x (float), h, w, r, bias or NULL.
 * Attributes: linear_before_reset (false).
 * Out: next_h: the shape and dtype of h [n, hidden]. All inputs have one dtype.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_gru_cell(const nd4c_array *x, const nd4c_array *h, const nd4c_array *w, const nd4c_array *r,
                                   const nd4c_array *bias, bool linear_before_reset, nd4c_array **next_h);
ND4C_API nd4c_status nd4c_gru_cell_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *h,
                                      const nd4c_array *w, const nd4c_array *r, const nd4c_array *bias,
                                      bool linear_before_reset, nd4c_array **next_h);

/* sru: u, f, r = x w^T of x [t, n, hidden], w [3 hidden, hidden]; f, r through sigmoid with bias [2 hidden]; c = f c
 * + (1 - f) u; y = r tanh(c) + (1 - r) x; arXiv 1709.02755.
 * In: x (float), w, bias, initial_c or NULL.
 * Out: y: the shape of x [t, n, hidden], c: [n, hidden], in x's dtype.
 * Statuses: DTYPE, SHAPE, OVERFLOW. */
ND4C_API nd4c_status nd4c_sru(const nd4c_array *x, const nd4c_array *w, const nd4c_array *bias,
                              const nd4c_array *initial_c, nd4c_array **y, nd4c_array **c);
ND4C_API nd4c_status nd4c_sru_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *w,
                                 const nd4c_array *bias, const nd4c_array *initial_c, nd4c_array **y, nd4c_array **c);

/* ctc_loss: -ln of the probability of targets [n, s] under log probabilities x [t, n, classes], summed over all
 * alignments; reduction 0 none, 1 sum, 2 mean of loss / target length.
 * In: x (float), targets, input_lengths, target_lengths.
 * Attributes: blank (0), reduction (ND4C_LOSS_REDUCTION_MEAN), zero_infinity (false).
 * Out: loss: a vector of one loss for each sequence for the reduction NONE, else a scalar; in the dtype of x [t, n,
 *     classes].
 * Statuses: ARGUMENT, DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_ctc_loss(const nd4c_array *x, const nd4c_array *targets, const nd4c_array *input_lengths,
                                   const nd4c_array *target_lengths, int64_t blank, nd4c_loss_reduction reduction,
                                   bool zero_infinity, nd4c_array **loss);
ND4C_API nd4c_status nd4c_ctc_loss_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *targets,
                                      const nd4c_array *input_lengths, const nd4c_array *target_lengths, int64_t blank,
                                      nd4c_loss_reduction reduction, bool zero_infinity, nd4c_array **loss);

/* ctc_greedy_decode: the most likely class of each step of x [t, n, classes], without blanks and repetitions: int64
 * labels [n, t], filled up with -1, lengths [n], and as the score the sum of each step's largest x.
 * In: x (float), input_lengths or NULL.
 * Attributes: blank (0), merge_repeated (true).
 * Out: labels: int64 [n, t]; lengths: int64 [n]; score: [n], in the dtype of x [t, n, classes].
 * Statuses: DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_ctc_greedy_decode(const nd4c_array *x, const nd4c_array *input_lengths, int64_t blank,
                                            bool merge_repeated, nd4c_array **labels, nd4c_array **lengths,
                                            nd4c_array **score);
ND4C_API nd4c_status nd4c_ctc_greedy_decode_on(nd4c_context *context, const nd4c_array *x,
                                               const nd4c_array *input_lengths, int64_t blank, bool merge_repeated,
                                               nd4c_array **labels, nd4c_array **lengths, nd4c_array **score);

/* ctc_beam_decode: the top_paths most likely labellings by prefix beam search over log probabilities x [t, n,
 * classes]: int64 labels [n, path, t], filled up with -1, lengths and log probabilities [n, path]; a missing path has
 * length 0 and log probability -infinity.
 * In: x (float), input_lengths or NULL.
 * Attributes: blank (0), beam_width (100), top_paths (1).
 * Out: labels: int64 [n, top_paths, t]; lengths: int64 [n, top_paths]; log_probability: [n, top_paths], in the dtype
 *     of x [t, n, classes].
 * Statuses: ARGUMENT, DTYPE, SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_ctc_beam_decode(const nd4c_array *x, const nd4c_array *input_lengths, int64_t blank,
                                          int64_t beam_width, int64_t top_paths, nd4c_array **labels,
                                          nd4c_array **lengths, nd4c_array **log_probability);
ND4C_API nd4c_status nd4c_ctc_beam_decode_on(nd4c_context *context, const nd4c_array *x,
                                             const nd4c_array *input_lengths, int64_t blank, int64_t beam_width,
                                             int64_t top_paths, nd4c_array **labels, nd4c_array **lengths,
                                             nd4c_array **log_probability);

ND4C_EXTERN_C_END
#endif
