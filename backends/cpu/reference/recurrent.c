/* Engine reference: the family recurrent, computed in double. dispatch/choice.c asks these kernels last, after those of
 * all other engines. */
#include <math.h>

#include "backends/cpu/reference/work.h"
#include "backends/cpu/support/gate_functions.h"
#include "kernels/reference/recurrent/recurrent.h"

/* -- layers and cells --------------------------------------------------------------------------------------------- */

ND4C_CPU_RANGE(recurrent_range, nd4c_ref_recurrent)

static void default_functions(nd4c_ref_recurrent_args *args) {
  bool plain = args->kind == ND4C_REF_CELL_RNN;
  for (int d = 0; d < 2; d++) {
    for (int i = 0; i < ND4C_REF_GATE_FUNCTIONS; i++) {
      args->functions[d][i].kind = plain || i > 0 ? ND4C_RECURRENT_ACTIVATION_TANH : ND4C_RECURRENT_ACTIVATION_SIGMOID;
    }
  }
}

static void given_functions(const nd4c_call *call, nd4c_ref_recurrent_args *args, int32_t count) {
  for (int32_t i = 0; i < nd4c_cpu_gate_functions_count(call); i++) {
    const nd4c_cpu_gate_function f = nd4c_cpu_gate_function_at(call, i);
    args->functions[i / count][i % count] = (nd4c_ref_gate_function){f.kind, f.alpha, f.beta};
  }
}

/* Takes memory for the state (output `state` and, for an lstm, the next one) and for the scratch of the chains, and
 * runs them. */
static nd4c_status run_chains(nd4c_cpu_work *work, nd4c_ref_recurrent_args *args, int32_t state) {
  int64_t chains = args->directions * args->batch, each = args->gates * args->hidden * (args->inputs + args->hidden);
  args->last_h = nd4c_cpu_work_output(work, state);
  args->last_c = args->kind == ND4C_REF_CELL_LSTM ? nd4c_cpu_work_output(work, state + 1) : NULL;
  args->scratch = nd4c_cpu_work_make(work, chains * (args->gates + 1) * args->hidden);
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  ND4C_BACKEND_TRY(
      nd4c_cpu_check_integers(work->call, "a sequence length", args->lengths, args->batch, 0, args->steps));
  return nd4c_cpu_work_parallel(work, chains, args->steps * each, recurrent_range, args);
}

static nd4c_status layer(const nd4c_call *call, nd4c_cpu_work *work, nd4c_ref_cell_kind kind, int64_t gates,
                         int32_t functions) {
  const nd4c_tensor *x = &call->inputs[0];
  bool first = ND4C_FLAG_OF(call, rnn_batch_first);
  int64_t direction = ND4C_INT_OF(call, rnn_direction);
  nd4c_ref_recurrent_args args = {.kind = kind,
                                  .steps = x->shape[first ? 1 : 0],
                                  .batch = x->shape[first ? 0 : 1],
                                  .inputs = x->shape[2],
                                  .hidden = call->inputs[ND4C_IN_rnn_r].shape[2],
                                  .directions = direction == ND4C_DIRECTION_BIDIRECTIONAL ? 2 : 1,
                                  .gates = gates,
                                  .reverse = direction == ND4C_DIRECTION_REVERSE,
                                  .batch_first = first,
                                  .clip = ND4C_REAL_OF(call, rnn_clip),
                                  .x = nd4c_cpu_work_load(work, ND4C_IN_rnn_x),
                                  .w = nd4c_cpu_work_load(work, ND4C_IN_rnn_w),
                                  .r = nd4c_cpu_work_load(work, ND4C_IN_rnn_r),
                                  .bias = nd4c_cpu_work_load(work, ND4C_IN_rnn_bias),
                                  .h = nd4c_cpu_work_load(work, ND4C_IN_rnn_initial_h),
                                  .lengths = nd4c_cpu_work_load_integers(work, ND4C_IN_rnn_sequence_lengths),
                                  .y = nd4c_cpu_work_output(work, 0)};
  default_functions(&args);
  given_functions(call, &args, functions);
  if (kind == ND4C_REF_CELL_GRU) {
    args.linear_before_reset = ND4C_FLAG_OF(call, gru_linear_before_reset);
  }
  if (kind == ND4C_REF_CELL_LSTM) {
    args.input_forget = ND4C_FLAG_OF(call, lstm_input_forget);
    args.c = nd4c_cpu_work_load(work, ND4C_IN_lstm_initial_c);
    args.peepholes = nd4c_cpu_work_load(work, ND4C_IN_lstm_peepholes);
  }
  return run_chains(work, &args, 1);
}

/* One step: a layer of one direction over one step. `w`: position of w, behind which stand r and bias. */
static nd4c_status cell(const nd4c_call *call, nd4c_cpu_work *work, nd4c_ref_cell_kind kind, int64_t gates, int32_t w) {
  const nd4c_tensor *x = &call->inputs[0];
  nd4c_ref_recurrent_args args = {.kind = kind,
                                  .steps = 1,
                                  .batch = x->shape[0],
                                  .inputs = x->shape[1],
                                  .hidden = call->inputs[1].shape[1],
                                  .directions = 1,
                                  .gates = gates,
                                  .x = nd4c_cpu_work_load(work, 0),
                                  .h = nd4c_cpu_work_load(work, 1),
                                  .w = nd4c_cpu_work_load(work, w),
                                  .r = nd4c_cpu_work_load(work, w + 1),
                                  .bias = nd4c_cpu_work_load(work, w + 2)};
  default_functions(&args);
  if (kind == ND4C_REF_CELL_GRU) {
    args.linear_before_reset = ND4C_FLAG_OF(call, gru_cell_linear_before_reset);
  }
  if (kind == ND4C_REF_CELL_LSTM) {
    args.c = nd4c_cpu_work_load(work, ND4C_IN_lstm_cell_c);
    args.peepholes = nd4c_cpu_work_load(work, ND4C_IN_lstm_cell_peepholes);
  }
  return run_chains(work, &args, 0);
}

ND4C_CPU_RANGE(sru_range, nd4c_ref_sru)

static nd4c_status sru(const nd4c_call *call, nd4c_cpu_work *work) {
  const nd4c_tensor *x = &call->inputs[0];
  nd4c_ref_sru_args args = {.steps = x->shape[0],
                            .batch = x->shape[1],
                            .hidden = x->shape[2],
                            .x = nd4c_cpu_work_load(work, ND4C_IN_sru_x),
                            .w = nd4c_cpu_work_load(work, ND4C_IN_sru_w),
                            .bias = nd4c_cpu_work_load(work, ND4C_IN_sru_bias),
                            .c = nd4c_cpu_work_load(work, ND4C_IN_sru_initial_c),
                            .y = nd4c_cpu_work_output(work, 0),
                            .last_c = nd4c_cpu_work_output(work, 1)};
  return nd4c_cpu_work_parallel(work, args.batch, 3 * args.steps * args.hidden * args.hidden, sru_range, &args);
}

/* -- connectionist temporal classification ------------------------------------------------------------------------ */

static nd4c_ref_ctc_args ctc_args(nd4c_cpu_work *work, int32_t lengths) {
  const nd4c_tensor *x = &work->call->inputs[0];
  return (nd4c_ref_ctc_args){.steps = x->shape[0],
                             .batch = x->shape[1],
                             .classes = x->shape[2],
                             .x = nd4c_cpu_work_load(work, 0),
                             .lengths = nd4c_cpu_work_load_integers(work, lengths)};
}

ND4C_CPU_RANGE(ctc_loss_range, nd4c_ref_ctc_loss)

static nd4c_status check_targets(const nd4c_call *call, const nd4c_ref_ctc_args *args) {
  ND4C_BACKEND_TRY(nd4c_cpu_check_integers(call, "an input length", args->lengths, args->batch, 0, args->steps));
  ND4C_BACKEND_TRY(
      nd4c_cpu_check_integers(call, "a target length", args->target_lengths, args->batch, 0, args->longest));
  for (int64_t i = 0; i < args->batch; i++) {
    ND4C_BACKEND_TRY(nd4c_cpu_check_integers(call, "a target", args->targets + i * args->longest,
                                             args->target_lengths[i], 0, args->classes - 1));
  }
  return ND4C_OK;
}

/* The losses of all sequences as the attribute `reduction` says. */
static void reduce_losses(const nd4c_call *call, const nd4c_ref_ctc_args *args) {
  enum { NONE, SUM, MEAN };
  int64_t reduction = ND4C_INT_OF(call, ctc_loss_reduction);
  bool zero = ND4C_FLAG_OF(call, ctc_loss_zero_infinity);
  double sum = 0;
  for (int64_t i = 0; i < args->batch; i++) {
    if (zero && isinf(args->loss[i])) {
      args->loss[i] = 0;
    }
    int64_t length = reduction == MEAN && args->target_lengths[i] > 1 ? args->target_lengths[i] : 1;
    sum += args->loss[i] / (double)length;
  }
  if (reduction == MEAN) {
    sum /= (double)args->batch;
  }
  nd4c_cpu_work_store(call, 0, reduction == NONE ? args->loss : &sum);
}

static nd4c_status ctc_loss(const nd4c_call *call, nd4c_cpu_work *work) {
  nd4c_ref_ctc_args args = ctc_args(work, ND4C_IN_ctc_loss_input_lengths);
  args.blank = ND4C_INT_OF(call, ctc_loss_blank);
  args.longest = call->inputs[1].shape[1];
  args.targets = nd4c_cpu_work_load_integers(work, ND4C_IN_ctc_loss_targets);
  args.target_lengths = nd4c_cpu_work_load_integers(work, ND4C_IN_ctc_loss_target_lengths);
  args.loss = nd4c_cpu_work_make(work, args.batch);
  args.scratch = nd4c_cpu_work_make(work, args.batch * 2 * (2 * args.longest + 1));
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  ND4C_BACKEND_TRY(check_targets(call, &args));
  (void)nd4c_cpu_work_parallel(work, args.batch, args.steps * (2 * args.longest + 1) * 8, ctc_loss_range, &args);
  reduce_losses(call, &args);
  return ND4C_OK;
}

ND4C_CPU_RANGE(greedy_range, nd4c_ref_ctc_greedy)
ND4C_CPU_RANGE(beam_range, nd4c_ref_ctc_beam)

/* What both decoders do. */
static nd4c_status decode(nd4c_cpu_work *work, nd4c_ref_ctc_args *args, nd4c_range_function range) {
  args->labels = nd4c_cpu_work_output_integers(work, 0);
  args->label_lengths = nd4c_cpu_work_output_integers(work, 1);
  args->score = nd4c_cpu_work_output(work, 2);
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  ND4C_BACKEND_TRY(nd4c_cpu_check_integers(work->call, "an input length", args->lengths, args->batch, 0, args->steps));
  return nd4c_cpu_work_parallel(work, args->batch, args->steps * args->classes, range, args);
}

static nd4c_status ctc_greedy_decode(const nd4c_call *call, nd4c_cpu_work *work) {
  nd4c_ref_ctc_args args = ctc_args(work, ND4C_IN_ctc_greedy_decode_input_lengths);
  args.blank = ND4C_INT_OF(call, ctc_greedy_decode_blank);
  args.merge_repeated = ND4C_FLAG_OF(call, ctc_greedy_decode_merge_repeated);
  return decode(work, &args, greedy_range);
}

static nd4c_status ctc_beam_decode(const nd4c_call *call, nd4c_cpu_work *work) {
  nd4c_ref_ctc_args args = ctc_args(work, ND4C_IN_ctc_beam_decode_input_lengths);
  args.blank = ND4C_INT_OF(call, ctc_beam_decode_blank);
  args.width = ND4C_INT_OF(call, ctc_beam_decode_beam_width);
  args.paths = ND4C_INT_OF(call, ctc_beam_decode_top_paths);
  int64_t bytes = nd4c_ref_ctc_beam_bytes(args.steps, args.classes, args.width);
  bool fits = bytes >= 0 && (bytes == 0 || args.batch < INT64_MAX / 16 / bytes);
  args.beams = nd4c_cpu_work_make(work, fits ? (args.batch * bytes + 7) / 8 : -1);
  return decode(work, &args, beam_range);
}

#define F ND4C_CPU_FLOATS
#define OPS(X)                                                                  \
  X(rnn, F, layer(call, work, ND4C_REF_CELL_RNN, 1, 1))                         \
  X(gru, F, layer(call, work, ND4C_REF_CELL_GRU, 3, 2))                         \
  X(lstm, F, layer(call, work, ND4C_REF_CELL_LSTM, 4, 3))                       \
  X(rnn_cell, F, cell(call, work, ND4C_REF_CELL_RNN, 1, ND4C_IN_rnn_cell_w))    \
  X(gru_cell, F, cell(call, work, ND4C_REF_CELL_GRU, 3, ND4C_IN_gru_cell_w))    \
  X(lstm_cell, F, cell(call, work, ND4C_REF_CELL_LSTM, 4, ND4C_IN_lstm_cell_w)) \
  X(sru, F, sru(call, work))                                                    \
  X(ctc_loss, F, ctc_loss(call, work))                                          \
  X(ctc_greedy_decode, F, ctc_greedy_decode(call, work))                        \
  X(ctc_beam_decode, F, ctc_beam_decode(call, work))
OPS(ND4C_CPU_WORK_RUN)

const nd4c_kernel *const nd4c_cpu_reference_recurrent_kernels[] = {OPS(ND4C_CPU_WORK_ROW) NULL};
