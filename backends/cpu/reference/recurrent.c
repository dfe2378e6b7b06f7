/* Engine reference: the family recurrent. */
#include <math.h>

#include "backends/cpu/reference/work.h"
#include "kernels/reference/recurrent/recurrent.h"

/* The kernels count activations as the op table does. */
_Static_assert(ND4C_RECURRENT_ACTIVATION_RELU == 0 && ND4C_RECURRENT_ACTIVATION_TANH == 1 &&
                   ND4C_RECURRENT_ACTIVATION_SIGMOID == 2 && ND4C_RECURRENT_ACTIVATION_AFFINE == 3 &&
                   ND4C_RECURRENT_ACTIVATION_LEAKY_RELU == 4 && ND4C_RECURRENT_ACTIVATION_THRESHOLDED_RELU == 5 &&
                   ND4C_RECURRENT_ACTIVATION_SCALED_TANH == 6 && ND4C_RECURRENT_ACTIVATION_HARD_SIGMOID == 7 &&
                   ND4C_RECURRENT_ACTIVATION_ELU == 8 && ND4C_RECURRENT_ACTIVATION_SOFTSIGN == 9 &&
                   ND4C_RECURRENT_ACTIVATION_SOFTPLUS == 10,
               "kernels/reference/recurrent/recurrent.c");

static const struct {
  double alpha, beta;
} presets[] = {
#define PRESET(NAME, number, name, alpha, beta) [number] = {alpha, beta},
    ND4C_RECURRENT_ACTIVATION_TABLE(PRESET)
#undef PRESET
};

/* Lengths outside 0 .. most are refused before anything is computed. */
static nd4c_status check_range(const nd4c_call *call, const char *what, const int64_t *values, int64_t count,
                               int64_t least, int64_t most) {
  for (int64_t i = 0; values != NULL && i < count; i++)
    if (values[i] < least || values[i] > most)
      return nd4c_cpu_index_fail(call, what, values[i], least, most);
  return ND4C_OK;
}

/* -- layers and cells --------------------------------------------------------------------------------------------- */

ND4C_CPU_RANGE(recurrent_range, nd4c_ref_recurrent)

static void default_functions(nd4c_ref_recurrent_args *args) {
  bool plain = args->kind == ND4C_REF_CELL_RNN;
  for (int d = 0; d < 2; d++)
    for (int i = 0; i < ND4C_REF_GATE_FUNCTIONS; i++)
      args->functions[d][i].kind = plain || i > 0 ? ND4C_RECURRENT_ACTIVATION_TANH : ND4C_RECURRENT_ACTIVATION_SIGMOID;
}

static void given_functions(const nd4c_call *call, nd4c_ref_recurrent_args *args, int32_t count) {
  const nd4c_attr_value *kinds = &call->attrs[ND4C_ATTR_rnn_activations];
  const nd4c_attr_value *alpha = &call->attrs[ND4C_ATTR_rnn_alpha], *beta = &call->attrs[ND4C_ATTR_rnn_beta];
  for (int32_t i = 0; i < kinds->count; i++) {
    int64_t kind = kinds->as.ints[i];
    args->functions[i / count][i % count] =
        (nd4c_ref_gate_function){kind, alpha->count > 0 ? alpha->as.floats[i] : presets[kind].alpha,
                                 beta->count > 0 ? beta->as.floats[i] : presets[kind].beta};
  }
}

/* Memory for the state and the computation. */
static nd4c_status run_chains(nd4c_cpu_work *work, const nd4c_call *call, nd4c_ref_recurrent_args *args) {
  int64_t chains = args->directions * args->batch;
  args->last_h = nd4c_cpu_work_make(work, chains * args->hidden);
  args->last_c = args->kind == ND4C_REF_CELL_LSTM ? nd4c_cpu_work_make(work, chains * args->hidden) : NULL;
  args->scratch = nd4c_cpu_work_make(work, chains * (args->gates + 1) * args->hidden);
  nd4c_status status = ND4C_OK;
  if (!work->failed)
    status = check_range(call, "a sequence length", args->lengths, args->batch, 0, args->steps);
  if (!work->failed && status == ND4C_OK) {
    int64_t each = args->gates * args->hidden * (args->inputs + args->hidden);
    nd4c_cpu_host->parallel_for(chains, nd4c_cpu_grain(args->steps * each), call->width, recurrent_range, args);
  }
  return status;
}

static nd4c_status layer_run(const nd4c_call *call, nd4c_ref_cell_kind kind, int64_t gates, int32_t functions) {
  nd4c_cpu_work work = {0};
  const nd4c_tensor *x = &call->inputs[0];
  bool first = call->attrs[ND4C_ATTR_rnn_batch_first].as.i != 0;
  int64_t direction = call->attrs[ND4C_ATTR_rnn_direction].as.i;
  nd4c_ref_recurrent_args args = {.kind = kind,
                                  .steps = x->shape[first ? 1 : 0],
                                  .batch = x->shape[first ? 0 : 1],
                                  .inputs = x->shape[2],
                                  .hidden = call->inputs[ND4C_IN_rnn_r].shape[2],
                                  .directions = direction == ND4C_DIRECTION_BIDIRECTIONAL ? 2 : 1,
                                  .gates = gates,
                                  .reverse = direction == ND4C_DIRECTION_REVERSE,
                                  .batch_first = first,
                                  .clip = call->attrs[ND4C_ATTR_rnn_clip].as.f,
                                  .x = nd4c_cpu_work_load(&work, call, ND4C_IN_rnn_x),
                                  .w = nd4c_cpu_work_load(&work, call, ND4C_IN_rnn_w),
                                  .r = nd4c_cpu_work_load(&work, call, ND4C_IN_rnn_r),
                                  .bias = nd4c_cpu_work_load(&work, call, ND4C_IN_rnn_bias),
                                  .h = nd4c_cpu_work_load(&work, call, ND4C_IN_rnn_initial_h),
                                  .lengths = nd4c_cpu_work_load_integers(&work, call, ND4C_IN_rnn_sequence_lengths),
                                  .y = nd4c_cpu_work_make(&work, call->outputs[0].size)};
  default_functions(&args);
  given_functions(call, &args, functions);
  if (kind == ND4C_REF_CELL_GRU)
    args.linear_before_reset = call->attrs[ND4C_ATTR_gru_linear_before_reset].as.i != 0;
  if (kind == ND4C_REF_CELL_LSTM) {
    args.input_forget = call->attrs[ND4C_ATTR_lstm_input_forget].as.i != 0;
    args.c = nd4c_cpu_work_load(&work, call, ND4C_IN_lstm_initial_c);
    args.peepholes = nd4c_cpu_work_load(&work, call, ND4C_IN_lstm_peepholes);
  }
  nd4c_status status = run_chains(&work, call, &args);
  if (!work.failed && status == ND4C_OK) {
    nd4c_cpu_work_store(call, 0, args.y);
    nd4c_cpu_work_store(call, 1, args.last_h);
    if (kind == ND4C_REF_CELL_LSTM)
      nd4c_cpu_work_store(call, 2, args.last_c);
  }
  return nd4c_cpu_work_end(&work, call, status);
}

static nd4c_status rnn_run(const nd4c_call *call) {
  return layer_run(call, ND4C_REF_CELL_RNN, 1, 1);
}

static nd4c_status gru_run(const nd4c_call *call) {
  return layer_run(call, ND4C_REF_CELL_GRU, 3, 2);
}

static nd4c_status lstm_run(const nd4c_call *call) {
  return layer_run(call, ND4C_REF_CELL_LSTM, 4, 3);
}

/* One step: a layer of one direction over one step. `w`: position of w, behind which stand r and bias. */
static nd4c_status cell_run(const nd4c_call *call, nd4c_ref_cell_kind kind, int64_t gates, int32_t w) {
  nd4c_cpu_work work = {0};
  const nd4c_tensor *x = &call->inputs[0];
  nd4c_ref_recurrent_args args = {.kind = kind,
                                  .steps = 1,
                                  .batch = x->shape[0],
                                  .inputs = x->shape[1],
                                  .hidden = call->inputs[1].shape[1],
                                  .directions = 1,
                                  .gates = gates,
                                  .x = nd4c_cpu_work_load(&work, call, 0),
                                  .h = nd4c_cpu_work_load(&work, call, 1),
                                  .w = nd4c_cpu_work_load(&work, call, w),
                                  .r = nd4c_cpu_work_load(&work, call, w + 1),
                                  .bias = nd4c_cpu_work_load(&work, call, w + 2)};
  default_functions(&args);
  if (kind == ND4C_REF_CELL_GRU)
    args.linear_before_reset = call->attrs[ND4C_ATTR_gru_cell_linear_before_reset].as.i != 0;
  if (kind == ND4C_REF_CELL_LSTM) {
    args.c = nd4c_cpu_work_load(&work, call, ND4C_IN_lstm_cell_c);
    args.peepholes = nd4c_cpu_work_load(&work, call, ND4C_IN_lstm_cell_peepholes);
  }
  nd4c_status status = run_chains(&work, call, &args);
  if (!work.failed) {
    nd4c_cpu_work_store(call, 0, args.last_h);
    if (kind == ND4C_REF_CELL_LSTM)
      nd4c_cpu_work_store(call, 1, args.last_c);
  }
  return nd4c_cpu_work_end(&work, call, status);
}

static nd4c_status rnn_cell_run(const nd4c_call *call) {
  return cell_run(call, ND4C_REF_CELL_RNN, 1, ND4C_IN_rnn_cell_w);
}

static nd4c_status gru_cell_run(const nd4c_call *call) {
  return cell_run(call, ND4C_REF_CELL_GRU, 3, ND4C_IN_gru_cell_w);
}

static nd4c_status lstm_cell_run(const nd4c_call *call) {
  return cell_run(call, ND4C_REF_CELL_LSTM, 4, ND4C_IN_lstm_cell_w);
}

ND4C_CPU_RANGE(sru_range, nd4c_ref_sru)

static nd4c_status sru_run(const nd4c_call *call) {
  nd4c_cpu_work work = {0};
  const nd4c_tensor *x = &call->inputs[0];
  nd4c_ref_sru_args args = {.steps = x->shape[0],
                            .batch = x->shape[1],
                            .hidden = x->shape[2],
                            .x = nd4c_cpu_work_load(&work, call, ND4C_IN_sru_x),
                            .w = nd4c_cpu_work_load(&work, call, ND4C_IN_sru_w),
                            .bias = nd4c_cpu_work_load(&work, call, ND4C_IN_sru_bias),
                            .c = nd4c_cpu_work_load(&work, call, ND4C_IN_sru_initial_c),
                            .y = nd4c_cpu_work_make(&work, x->size),
                            .last_c = nd4c_cpu_work_make(&work, call->outputs[1].size)};
  if (!work.failed) {
    int64_t grain = nd4c_cpu_grain(3 * args.steps * args.hidden * args.hidden);
    nd4c_cpu_host->parallel_for(args.batch, grain, call->width, sru_range, &args);
    nd4c_cpu_work_store(call, 0, args.y);
    nd4c_cpu_work_store(call, 1, args.last_c);
  }
  return nd4c_cpu_work_end(&work, call, ND4C_OK);
}

/* -- connectionist temporal classification ------------------------------------------------------------------------ */

static nd4c_ref_ctc_args ctc_args(nd4c_cpu_work *work, const nd4c_call *call, int32_t lengths) {
  const nd4c_tensor *x = &call->inputs[0];
  return (nd4c_ref_ctc_args){.steps = x->shape[0],
                             .batch = x->shape[1],
                             .classes = x->shape[2],
                             .x = nd4c_cpu_work_load(work, call, 0),
                             .lengths = nd4c_cpu_work_load_integers(work, call, lengths)};
}

ND4C_CPU_RANGE(ctc_loss_range, nd4c_ref_ctc_loss)

static nd4c_status check_targets(const nd4c_call *call, const nd4c_ref_ctc_args *args) {
  nd4c_status status = check_range(call, "an input length", args->lengths, args->batch, 0, args->steps);
  if (status == ND4C_OK)
    status = check_range(call, "a target length", args->target_lengths, args->batch, 0, args->longest);
  for (int64_t i = 0; status == ND4C_OK && i < args->batch; i++)
    status =
        check_range(call, "a target", args->targets + i * args->longest, args->target_lengths[i], 0, args->classes - 1);
  return status;
}

/* The losses of all sequences as the attribute `reduction` says. */
static void reduce_losses(const nd4c_call *call, const nd4c_ref_ctc_args *args) {
  enum { NONE, SUM, MEAN };
  int64_t reduction = call->attrs[ND4C_ATTR_ctc_loss_reduction].as.i;
  bool zero = call->attrs[ND4C_ATTR_ctc_loss_zero_infinity].as.i != 0;
  double sum = 0;
  for (int64_t i = 0; i < args->batch; i++) {
    if (zero && isinf(args->loss[i]))
      args->loss[i] = 0;
    int64_t length = reduction == MEAN && args->target_lengths[i] > 1 ? args->target_lengths[i] : 1;
    sum += args->loss[i] / (double)length;
  }
  if (reduction == MEAN)
    sum /= (double)args->batch;
  nd4c_cpu_work_store(call, 0, reduction == NONE ? args->loss : &sum);
}

static nd4c_status ctc_loss_run(const nd4c_call *call) {
  nd4c_cpu_work work = {0};
  nd4c_ref_ctc_args args = ctc_args(&work, call, ND4C_IN_ctc_loss_input_lengths);
  args.blank = call->attrs[ND4C_ATTR_ctc_loss_blank].as.i;
  args.longest = call->inputs[1].shape[1];
  args.targets = nd4c_cpu_work_load_integers(&work, call, ND4C_IN_ctc_loss_targets);
  args.target_lengths = nd4c_cpu_work_load_integers(&work, call, ND4C_IN_ctc_loss_target_lengths);
  args.loss = nd4c_cpu_work_make(&work, args.batch);
  args.scratch = nd4c_cpu_work_make(&work, args.batch * 2 * (2 * args.longest + 1));
  nd4c_status status = ND4C_OK;
  if (!work.failed)
    status = check_targets(call, &args);
  if (!work.failed && status == ND4C_OK) {
    int64_t grain = nd4c_cpu_grain(args.steps * (2 * args.longest + 1) * 8);
    nd4c_cpu_host->parallel_for(args.batch, grain, call->width, ctc_loss_range, &args);
    reduce_losses(call, &args);
  }
  return nd4c_cpu_work_end(&work, call, status);
}

ND4C_CPU_RANGE(greedy_range, nd4c_ref_ctc_greedy)

ND4C_CPU_RANGE(beam_range, nd4c_ref_ctc_beam)

/* What both decoders do before and after their range. */
static nd4c_status decode(nd4c_cpu_work *work, const nd4c_call *call, nd4c_ref_ctc_args *args,
                          nd4c_range_function range) {
  args->labels = nd4c_cpu_work_make_integers(work, call->outputs[0].size);
  args->label_lengths = nd4c_cpu_work_make_integers(work, call->outputs[1].size);
  args->score = nd4c_cpu_work_make(work, call->outputs[2].size);
  nd4c_status status = ND4C_OK;
  if (!work->failed)
    status = check_range(call, "an input length", args->lengths, args->batch, 0, args->steps);
  if (!work->failed && status == ND4C_OK) {
    int64_t grain = nd4c_cpu_grain(args->steps * args->classes);
    nd4c_cpu_host->parallel_for(args->batch, grain, call->width, range, args);
    nd4c_cpu_work_store_integers(call, 0, args->labels);
    nd4c_cpu_work_store_integers(call, 1, args->label_lengths);
    nd4c_cpu_work_store(call, 2, args->score);
  }
  return nd4c_cpu_work_end(work, call, status);
}

static nd4c_status ctc_greedy_decode_run(const nd4c_call *call) {
  nd4c_cpu_work work = {0};
  nd4c_ref_ctc_args args = ctc_args(&work, call, ND4C_IN_ctc_greedy_decode_input_lengths);
  args.blank = call->attrs[ND4C_ATTR_ctc_greedy_decode_blank].as.i;
  args.merge_repeated = call->attrs[ND4C_ATTR_ctc_greedy_decode_merge_repeated].as.i != 0;
  return decode(&work, call, &args, greedy_range);
}

static nd4c_status ctc_beam_decode_run(const nd4c_call *call) {
  nd4c_cpu_work work = {0};
  nd4c_ref_ctc_args args = ctc_args(&work, call, ND4C_IN_ctc_beam_decode_input_lengths);
  args.blank = call->attrs[ND4C_ATTR_ctc_beam_decode_blank].as.i;
  args.width = call->attrs[ND4C_ATTR_ctc_beam_decode_beam_width].as.i;
  args.paths = call->attrs[ND4C_ATTR_ctc_beam_decode_top_paths].as.i;
  int64_t bytes = nd4c_ref_ctc_beam_bytes(args.steps, args.classes, args.width);
  bool fits = bytes >= 0 && (bytes == 0 || args.batch < INT64_MAX / 16 / bytes);
  args.beams = nd4c_cpu_work_make(&work, fits ? (args.batch * bytes + 7) / 8 : -1);
  return decode(&work, call, &args, beam_range);
}

#define OPS(X)         \
  X(rnn)               \
  X(lstm)              \
  X(gru)               \
  X(rnn_cell)          \
  X(lstm_cell)         \
  X(gru_cell)          \
  X(sru)               \
  X(ctc_loss)          \
  X(ctc_greedy_decode) \
  X(ctc_beam_decode)
#define DEFINE_KERNEL(op) ND4C_CPU_REFERENCE_KERNEL(op, ND4C_CPU_FLOATS, op##_run),

const nd4c_kernel *const nd4c_cpu_reference_recurrent_kernels[] = {OPS(DEFINE_KERNEL) NULL};
