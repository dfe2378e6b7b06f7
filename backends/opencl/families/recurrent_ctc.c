/* Connectionist temporal classification: the loss, and two ways to decode. */
#include <stdio.h>

#include "backends/opencl/support/reduction.h"

enum {
  GROUP = 64,
  NODE_BYTES = 32,      /* a prefix of ctc.cl */
  CANDIDATE_BYTES = 40, /* at least what a candidate of ctc.cl takes */
  WIDEST = 4096         /* beam: each of its places is a search of all candidates */
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
                     .lengths = lengths != NULL ? lengths->strides[0] : 0,
                     .has_lengths = lengths != NULL};
}

static nd4c_cl_options options_of(const nd4c_call *call, const char *what, const nd4c_tensor *lengths,
                                  const nd4c_tensor *y) {
  nd4c_cl_options options = {{0}};
  nd4c_cl_define(&options, what, "1");
  nd4c_cl_define_type(&options, 'A', call->inputs[0].dtype);
  nd4c_cl_define_type(&options, 'E', lengths != NULL ? lengths->dtype : ND4C_INT64);
  nd4c_cl_define_type(&options, 'Y', y->dtype);
  nd4c_cl_define_real(&options, call);
  return options;
}

static void arg_strided(nd4c_cl_launch *launch, const nd4c_tensor *x, nd4c_cl_access access) {
  nd4c_cl_arg_tensor(launch, x, access);
  for (int32_t axis = 0; axis < x->rank; axis++)
    nd4c_cl_arg_long(launch, x->strides[axis]);
}

static nd4c_status run_groups(nd4c_cl_launch *launch, int64_t groups, int64_t group) {
  int64_t global = groups * group;
  return nd4c_cl_launch_run(launch, 1, &global, &group);
}

/* -- loss ---------------------------------------------------------------------------------------------------------- */

/* A loss a sequence, then two rows of numbers for each; a buffer even for no sequences, whose mean is computed, too. */
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
  nd4c_cl_define_type(&options, 'B', targets->dtype);
  nd4c_cl_define_type(&options, 'C', target_lengths->dtype);
  nd4c_cl_launch launch;
  ND4C_BACKEND_TRY(nd4c_cl_begin(&launch, call, "ctc", "ctc_alignments", &options));
  int64_t group = nd4c_cl_kernel_fit(launch.kernel, GROUP), one = 1;
  nd4c_cl_arg_bytes(&launch, &s, sizeof s);
  nd4c_cl_arg_tensor(&launch, &call->inputs[0], ND4C_CL_READ);
  nd4c_cl_arg_tensor(&launch, lengths, ND4C_CL_READ);
  arg_strided(&launch, targets, ND4C_CL_READ);
  arg_strided(&launch, target_lengths, ND4C_CL_READ);
  nd4c_cl_arg_long(&launch, targets->shape[1]);
  nd4c_cl_arg_buffer(&launch, call->scratch_buffer, ND4C_CL_READ_WRITE);
  nd4c_cl_arg_long(&launch, s.batch);
  nd4c_cl_arg_int(&launch, call->attrs[ND4C_ATTR_ctc_loss_zero_infinity].as.i != 0);
  nd4c_cl_arg_fault(&launch);
  nd4c_cl_arg_local(&launch, sizeof(int32_t));
  nd4c_status status = run_groups(&launch, s.batch, group);
  if (status == ND4C_OK)
    status = nd4c_cl_begin(&launch, call, "ctc", "ctc_losses", &options);
  if (status != ND4C_OK)
    return status;
  nd4c_cl_arg_buffer(&launch, call->scratch_buffer, ND4C_CL_READ);
  nd4c_cl_arg_long(&launch, s.batch);
  arg_strided(&launch, target_lengths, ND4C_CL_READ);
  nd4c_cl_arg_int(&launch, (int32_t)call->attrs[ND4C_ATTR_ctc_loss_reduction].as.i);
  nd4c_cl_arg_tensor(&launch, y, ND4C_CL_WRITE);
  nd4c_cl_arg_long(&launch, y->rank > 0 ? y->strides[0] : 0);
  return nd4c_cl_launch_run(&launch, 1, &one, NULL);
}

/* -- decoding ------------------------------------------------------------------------------------------------------ */

/* The likeliest class of each step. */
static int64_t greedy_scratch(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  return (x->shape[0] * x->shape[1] + 1) * (int64_t)sizeof(int64_t);
}

static void arg_lengths(nd4c_cl_launch *launch, const nd4c_tensor *lengths) {
  const nd4c_tensor *x = &launch->call->inputs[0];
  nd4c_cl_arg_tensor(launch, x, ND4C_CL_READ);
  nd4c_cl_arg_tensor(launch, lengths != NULL ? lengths : x, ND4C_CL_READ);
}

static nd4c_status greedy_run(const nd4c_call *call) {
  const nd4c_tensor *lengths = nd4c_cl_input(call, ND4C_IN_ctc_greedy_decode_input_lengths);
  sequences s = sequences_of(call, ND4C_IN_ctc_greedy_decode_input_lengths, ND4C_ATTR_ctc_greedy_decode_blank);
  nd4c_cl_options options = options_of(call, "CTC_greedy", lengths, &call->outputs[2]);
  int64_t cells = s.steps * s.batch;
  nd4c_cl_launch launch;
  ND4C_BACKEND_TRY(nd4c_cl_begin(&launch, call, "ctc", "ctc_likeliest", &options));
  nd4c_cl_arg_bytes(&launch, &s, sizeof s);
  nd4c_cl_arg_tensor(&launch, &call->inputs[0], ND4C_CL_READ);
  nd4c_cl_arg_buffer(&launch, call->scratch_buffer, ND4C_CL_WRITE);
  nd4c_status status = nd4c_cl_launch_run(&launch, 1, &cells, NULL);
  if (status == ND4C_OK)
    status = nd4c_cl_begin(&launch, call, "ctc", "ctc_collapse", &options);
  if (status != ND4C_OK)
    return status;
  nd4c_cl_arg_bytes(&launch, &s, sizeof s);
  arg_lengths(&launch, lengths);
  nd4c_cl_arg_buffer(&launch, call->scratch_buffer, ND4C_CL_READ);
  nd4c_cl_arg_int(&launch, call->attrs[ND4C_ATTR_ctc_greedy_decode_merge_repeated].as.i != 0);
  for (int i = 0; i < 3; i++)
    arg_strided(&launch, &call->outputs[i], ND4C_CL_WRITE);
  nd4c_cl_arg_fault(&launch);
  return nd4c_cl_launch_run(&launch, 1, &s.batch, NULL);
}

/* What the beam search of one sequence needs: prefixes, beams and those of the next step, candidates. -1: too much. */
static int64_t beam_bytes(const nd4c_call *call) {
  const int64_t limit = INT64_C(1) << 44;
  const nd4c_tensor *x = &call->inputs[0];
  int64_t width = call->attrs[ND4C_ATTR_ctc_beam_decode_beam_width].as.i;
  if (x->shape[0] >= limit / width || x->shape[2] >= limit / width)
    return -1;
  return NODE_BYTES * (x->shape[0] * width + 1) + CANDIDATE_BYTES * width * (x->shape[2] + 3);
}

static int64_t beam_scratch(const nd4c_call *call) {
  return call->inputs[0].shape[1] * beam_bytes(call);
}

static bool beam_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  int64_t most = nd4c_cl_device_limits(call->device)->buffer_bytes, bytes = beam_bytes(call);
  if (call->attrs[ND4C_ATTR_ctc_beam_decode_beam_width].as.i > WIDEST) {
    (void)snprintf(reason, reason_size, "beams of more than %d", (int)WIDEST);
    return false;
  }
  if (bytes < 0 || call->inputs[0].shape[1] > most / bytes) {
    (void)snprintf(reason, reason_size, "the search needs more than the device's longest buffer, %lld bytes",
                   (long long)most);
    return false;
  }
  return nd4c_cl_call_usable(call, reason, reason_size);
}

static nd4c_status beam_run(const nd4c_call *call) {
  const nd4c_tensor *lengths = nd4c_cl_input(call, ND4C_IN_ctc_beam_decode_input_lengths);
  sequences s = sequences_of(call, ND4C_IN_ctc_beam_decode_input_lengths, ND4C_ATTR_ctc_beam_decode_blank);
  nd4c_cl_options options = options_of(call, "CTC_beam", lengths, &call->outputs[2]);
  nd4c_cl_launch launch;
  ND4C_BACKEND_TRY(nd4c_cl_begin(&launch, call, "ctc", "ctc_beams", &options));
  int64_t group = nd4c_cl_kernel_fit(launch.kernel, GROUP);
  nd4c_cl_arg_bytes(&launch, &s, sizeof s);
  arg_lengths(&launch, lengths);
  nd4c_cl_arg_buffer(&launch, call->scratch_buffer, ND4C_CL_READ_WRITE);
  nd4c_cl_arg_long(&launch, beam_bytes(call));
  nd4c_cl_arg_long(&launch, call->attrs[ND4C_ATTR_ctc_beam_decode_beam_width].as.i);
  nd4c_cl_arg_long(&launch, call->attrs[ND4C_ATTR_ctc_beam_decode_top_paths].as.i);
  for (int i = 0; i < 3; i++)
    arg_strided(&launch, &call->outputs[i], ND4C_CL_WRITE);
  nd4c_cl_arg_fault(&launch);
  nd4c_cl_arg_local(&launch, (size_t)group * sizeof(double));
  nd4c_cl_arg_local(&launch, (size_t)group * sizeof(int64_t));
  return run_groups(&launch, s.batch, group);
}

ND4C_CL_KERNEL(ctc_loss, ND4C_CL_FLOATS, nd4c_cl_call_usable, loss_run, loss_scratch)
ND4C_CL_KERNEL(ctc_greedy_decode, ND4C_CL_FLOATS, nd4c_cl_call_usable, greedy_run, greedy_scratch)
ND4C_CL_KERNEL(ctc_beam_decode, ND4C_CL_FLOATS, beam_usable, beam_run, beam_scratch)

const nd4c_kernel *const nd4c_cl_recurrent_ctc_kernels[] = {&opencl_ctc_loss, &opencl_ctc_greedy_decode, &opencl_ctc_beam_decode,
                                                  NULL};
