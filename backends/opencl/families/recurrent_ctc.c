/* Connectionist temporal classification: the loss, and two ways to decode. dispatch/choice.c asks these kernels for
 * arrays on OpenCL devices. */
#include "backends/opencl/support/reduction.h"

enum {
  GROUP = 64,
  NODE_BYTES = 32,      /* a prefix of ctc.cl */
  CANDIDATE_BYTES = 40, /* at least what a candidate of ctc.cl takes */
  WIDEST = 4096         /* of a beam: each place in it costs a search of all candidates */
};

/* The same struct as in ctc.cl. */
typedef struct sequences {
  int64_t steps, batch, classes, blank, x[3], lengths;
  int32_t has_lengths, unused;
} sequences;

static sequences sequences_of(const nd4c_call *call, int32_t lengths_at, int32_t blank_at) {
  const nd4c_tensor *x = &call->inputs[0], *lengths = nd4c_cl_input(call, lengths_at);
  return (sequences){.steps = x->shape[0],
                     .batch = x->shape[1],
                     .classes = x->shape[2],
                     .blank = call->attrs[blank_at].as.i,
                     .x = {x->strides[0], x->strides[1], x->strides[2]},
                     .lengths = nd4c_cl_stride_of(lengths, 0),
                     .has_lengths = lengths != NULL};
}

static nd4c_cl_options options_of(const nd4c_call *call, const char *what, const nd4c_tensor *lengths,
                                  const nd4c_tensor *y) {
  nd4c_cl_options options = {{0}};
  nd4c_cl_define(&options, what, "1");
  ND4C_CL_TYPES(&options, "AEY", call->inputs[0].dtype, nd4c_cl_dtype_of(lengths, ND4C_INT64), y->dtype);
  nd4c_cl_define_real(&options, call);
  return options;
}

/* -- loss ---------------------------------------------------------------------------------------------------------- */

/* One loss for each sequence, then two rows of numbers for each. The buffer is never empty, because the mean of no
 * sequences is computed, too. */
static int64_t loss_scratch(const nd4c_call *call) {
  int64_t most = 2 * call->inputs[ND4C_IN_ctc_loss_targets].shape[1] + 1;
  return (1 + call->inputs[0].shape[1] * (1 + 2 * most)) * (int64_t)sizeof(double);
}

static nd4c_status loss_run(const nd4c_call *call) {
  const nd4c_tensor *targets = &call->inputs[ND4C_IN_ctc_loss_targets], *y = &call->outputs[0];
  const nd4c_tensor *lengths = &call->inputs[ND4C_IN_ctc_loss_input_lengths];
  const nd4c_tensor *target_lengths = &call->inputs[ND4C_IN_ctc_loss_target_lengths];
  sequences s = sequences_of(call, ND4C_IN_ctc_loss_input_lengths, ND4C_ATTR_ctc_loss_blank);
  nd4c_cl_options options = options_of(call, "CTC_loss", lengths, y);
  ND4C_CL_TYPES(&options, "BC", targets->dtype, target_lengths->dtype);
  ND4C_BACKEND_TRY(ND4C_CL_RUN_GROUPS(
      call, "ctc", "ctc_alignments", options, s.batch, GROUP, ND4C_CL_VALUE(s), ND4C_CL_IN(&call->inputs[0]),
      ND4C_CL_IN(lengths), ND4C_CL_STRIDED(targets, READ), ND4C_CL_STRIDED(target_lengths, READ),
      ND4C_CL_LONG(targets->shape[1]), ND4C_CL_SCRATCH(READ_WRITE), ND4C_CL_LONG(s.batch),
      ND4C_CL_INT(ND4C_FLAG_OF(call, ctc_loss_zero_infinity)), ND4C_CL_FAULT, ND4C_CL_LOCAL(sizeof(int32_t))));
  return ND4C_CL_RUN(call, "ctc", "ctc_losses", options, 1, ND4C_CL_SCRATCH(READ), ND4C_CL_LONG(s.batch),
                     ND4C_CL_STRIDED(target_lengths, READ), ND4C_CL_INT((int32_t)ND4C_INT_OF(call, ctc_loss_reduction)),
                     ND4C_CL_OUT(y), ND4C_CL_LONG(y->rank > 0 ? y->strides[0] : 0));
}

/* -- decoding ------------------------------------------------------------------------------------------------------ */

/* The likeliest class of each step. */
static int64_t greedy_scratch(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  return (x->shape[0] * x->shape[1] + 1) * (int64_t)sizeof(int64_t);
}

/* The results of a decoder. */
#define PATHS(y) ND4C_CL_STRIDED(&(y)[0], WRITE), ND4C_CL_STRIDED(&(y)[1], WRITE), ND4C_CL_STRIDED(&(y)[2], WRITE)

static nd4c_status greedy_run(const nd4c_call *call) {
  const nd4c_tensor *lengths = nd4c_cl_input(call, ND4C_IN_ctc_greedy_decode_input_lengths);
  sequences s = sequences_of(call, ND4C_IN_ctc_greedy_decode_input_lengths, ND4C_ATTR_ctc_greedy_decode_blank);
  nd4c_cl_options options = options_of(call, "CTC_greedy", lengths, &call->outputs[2]);
  ND4C_BACKEND_TRY(ND4C_CL_RUN(call, "ctc", "ctc_likeliest", options, s.steps * s.batch, ND4C_CL_VALUE(s),
                               ND4C_CL_IN(&call->inputs[0]), ND4C_CL_SCRATCH(WRITE)));
  return ND4C_CL_RUN(call, "ctc", "ctc_collapse", options, s.batch, ND4C_CL_VALUE(s), ND4C_CL_IN(&call->inputs[0]),
                     ND4C_CL_IN(lengths), ND4C_CL_SCRATCH(READ),
                     ND4C_CL_INT(ND4C_FLAG_OF(call, ctc_greedy_decode_merge_repeated)), PATHS(call->outputs),
                     ND4C_CL_FAULT);
}

/* What the beam search of one sequence needs: prefixes, beams and those of the next step, candidates. -1: too much. */
static int64_t beam_bytes(const nd4c_call *call) {
  const int64_t limit = INT64_C(1) << 44;
  const nd4c_tensor *x = &call->inputs[0];
  int64_t width = ND4C_INT_OF(call, ctc_beam_decode_beam_width);
  if (x->shape[0] >= limit / width || x->shape[2] >= limit / width) {
    return -1;
  }
  return NODE_BYTES * (x->shape[0] * width + 1) + CANDIDATE_BYTES * width * (x->shape[2] + 3);
}

static int64_t beam_scratch(const nd4c_call *call) {
  return call->inputs[0].shape[1] * beam_bytes(call);
}

static nd4c_status beam_decode(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *lengths = nd4c_cl_input(call, ND4C_IN_ctc_beam_decode_input_lengths);
  int64_t width = ND4C_INT_OF(call, ctc_beam_decode_beam_width), bytes = beam_bytes(call);
  int64_t most = nd4c_cl_device_limits(call->device)->buffer_bytes;
  if (width > WIDEST) {
    return nd4c_cl_step_refuse(step, "beams of more than %d", (int)WIDEST);
  }
  if (bytes < 0 || call->inputs[0].shape[1] > most / bytes) {
    return nd4c_cl_step_refuse(step, "the search needs more than the device's longest buffer, %lld bytes",
                               (long long)most);
  }
  if (nd4c_cl_is_dry(step)) {
    return nd4c_cl_step_call(step);
  }
  sequences s = sequences_of(call, ND4C_IN_ctc_beam_decode_input_lengths, ND4C_ATTR_ctc_beam_decode_blank);
  nd4c_cl_options options = options_of(call, "CTC_beam", lengths, &call->outputs[2]);
  return ND4C_CL_RUN_GROUPS(call, "ctc", "ctc_beams", options, s.batch, GROUP, ND4C_CL_VALUE(s),
                            ND4C_CL_IN(&call->inputs[0]), ND4C_CL_IN(lengths), ND4C_CL_SCRATCH(READ_WRITE),
                            ND4C_CL_LONG(bytes, width, ND4C_INT_OF(call, ctc_beam_decode_top_paths)),
                            PATHS(call->outputs), ND4C_CL_FAULT, ND4C_CL_LOCAL_EACH(sizeof(double)),
                            ND4C_CL_LOCAL_EACH(sizeof(int64_t)));
}

ND4C_CL_KERNEL(ctc_loss, ND4C_CL_FLOATS, nd4c_cl_call_usable, loss_run, loss_scratch)
ND4C_CL_KERNEL(ctc_greedy_decode, ND4C_CL_FLOATS, nd4c_cl_call_usable, greedy_run, greedy_scratch)
ND4C_CL_STEP_KERNEL(ctc_beam_decode, ND4C_CL_FLOATS, beam_decode(step), beam_scratch)

const nd4c_kernel *const nd4c_cl_recurrent_ctc_kernels[] = {&opencl_ctc_loss, &opencl_ctc_greedy_decode,
                                                            &opencl_ctc_beam_decode, NULL};
