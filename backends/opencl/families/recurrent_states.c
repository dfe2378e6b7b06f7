/* Layers whose states do not mix: sru and linear attention. */
#include <math.h>
#include <stdio.h>

#include "backends/opencl/support/reduction.h"

static bool one_dtype(const nd4c_call *call, int32_t except, char *reason, size_t reason_size) {
  for (int32_t i = 1; i < call->input_count; i++) {
    nd4c_dtype dtype = call->inputs[i].dtype;
    if (i != except && dtype != ND4C_DTYPE_NONE && dtype != call->inputs[0].dtype) {
      (void)snprintf(reason, reason_size, "operands of several dtypes");
      return false;
    }
  }
  return nd4c_cl_call_usable(call, reason, reason_size);
}

static void tensor_and_strides(nd4c_cl_launch *launch, const nd4c_tensor *x, nd4c_cl_access access) {
  nd4c_cl_arg_tensor(launch, x, access);
  for (int32_t i = 0; i < x->rank; i++)
    nd4c_cl_arg_long(launch, x->strides[i]);
}

static bool sru_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  return one_dtype(call, -1, reason, reason_size);
}

static nd4c_status sru_run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *first = nd4c_cl_input(call, ND4C_IN_sru_initial_c);
  nd4c_cl_options options = {{0}};
  nd4c_cl_launch launch;
  nd4c_cl_define(&options, "SRU", "1");
  nd4c_cl_define_type(&options, 'A', x->dtype);
  nd4c_cl_define_pair(&options, call);
  ND4C_BACKEND_TRY(nd4c_cl_begin(&launch, call, ND4C_CL_BY_PAIRS(call, "states"), "sru", &options));
  for (int i = 0; i < 3; i++)
    nd4c_cl_arg_long(&launch, x->shape[i]);
  tensor_and_strides(&launch, x, ND4C_CL_READ);
  tensor_and_strides(&launch, &call->inputs[ND4C_IN_sru_w], ND4C_CL_READ);
  tensor_and_strides(&launch, &call->inputs[ND4C_IN_sru_bias], ND4C_CL_READ);
  tensor_and_strides(&launch, first != NULL ? first : &call->outputs[1],
                     first != NULL ? ND4C_CL_READ : ND4C_CL_READ_WRITE);
  nd4c_cl_arg_int(&launch, first != NULL);
  tensor_and_strides(&launch, &call->outputs[0], ND4C_CL_WRITE);
  tensor_and_strides(&launch, &call->outputs[1], ND4C_CL_WRITE);
  int64_t states = x->shape[1] * x->shape[2];
  return nd4c_cl_launch_run(&launch, 1, &states, NULL);
}

/* -- linear attention ---------------------------------------------------------------------------------------------- */

/* The same struct as in states.cl. */
typedef struct sizes {
  int64_t batch, q_heads, kv_heads, length, head, v_head, decay_heads, beta_heads;
  int64_t q[3], k[3], v[3], decay[3], beta[3], y[3], past[4], state[4];
} sizes;

static int64_t copy_strides(const nd4c_tensor *x, int64_t *strides) {
  for (int32_t i = 0; x != NULL && i < x->rank; i++)
    strides[i] = x->strides[i];
  return x != NULL ? x->shape[x->rank - 1] : 0;
}

static bool linear_attention_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  return one_dtype(call, ND4C_IN_linear_attention_past_state, reason, reason_size);
}

/* A buffer even for states without features, which attend to nothing. */
static int64_t linear_attention_scratch(const nd4c_call *call) {
  return (call->outputs[1].size + 1) * (int64_t)sizeof(double);
}

static nd4c_status linear_attention_run(const nd4c_call *call) {
  const nd4c_tensor *q = &call->inputs[0], *state = &call->outputs[1];
  const nd4c_tensor *past = nd4c_cl_input(call, ND4C_IN_linear_attention_past_state);
  const nd4c_tensor *decay = nd4c_cl_input(call, ND4C_IN_linear_attention_decay);
  const nd4c_tensor *beta = nd4c_cl_input(call, ND4C_IN_linear_attention_beta);
  double scale = call->attrs[ND4C_ATTR_linear_attention_scale].as.f;
  nd4c_cl_options options = {{0}};
  nd4c_cl_launch launch;
  sizes s = {.batch = q->shape[0],
             .q_heads = call->attrs[ND4C_ATTR_linear_attention_q_heads].as.i,
             .kv_heads = call->attrs[ND4C_ATTR_linear_attention_kv_heads].as.i,
             .length = q->shape[1],
             .head = state->shape[2],
             .v_head = state->shape[3]};
  (void)copy_strides(q, s.q);
  (void)copy_strides(&call->inputs[1], s.k);
  (void)copy_strides(&call->inputs[2], s.v);
  (void)copy_strides(past, s.past);
  (void)copy_strides(&call->outputs[0], s.y);
  (void)copy_strides(state, s.state);
  s.decay_heads = copy_strides(decay, s.decay);
  s.beta_heads = copy_strides(beta, s.beta);
  nd4c_cl_define(&options, "LINEAR", "1");
  nd4c_cl_define_type(&options, 'A', q->dtype);
  nd4c_cl_define_type(&options, 'B', past != NULL ? past->dtype : q->dtype);
  nd4c_cl_define_type(&options, 'Y', call->outputs[0].dtype);
  nd4c_cl_define_type(&options, 'Z', state->dtype);
  nd4c_cl_define_real(&options, call);
  ND4C_BACKEND_TRY(nd4c_cl_begin(&launch, call, "states", "linear_attend", &options));
  const nd4c_tensor *inputs[] = {q,
                                 &call->inputs[1],
                                 &call->inputs[2],
                                 past != NULL ? past : q,
                                 decay != NULL ? decay : q,
                                 beta != NULL ? beta : q};
  nd4c_cl_arg_bytes(&launch, &s, sizeof s);
  for (int i = 0; i < 6; i++)
    nd4c_cl_arg_tensor(&launch, inputs[i], ND4C_CL_READ);
  nd4c_cl_arg_int(&launch, past != NULL);
  nd4c_cl_arg_int(&launch, decay != NULL);
  nd4c_cl_arg_int(&launch, beta != NULL);
  nd4c_cl_arg_tensor(&launch, &call->outputs[0], ND4C_CL_WRITE);
  nd4c_cl_arg_tensor(&launch, state, ND4C_CL_WRITE);
  nd4c_cl_arg_real(&launch, scale == 0 ? 1 / sqrt((double)s.head) : scale);
  nd4c_cl_arg_buffer(&launch, call->scratch_buffer, ND4C_CL_READ_WRITE);
  int64_t columns = s.batch * s.kv_heads * s.v_head;
  return nd4c_cl_launch_run(&launch, 1, &columns, NULL);
}

ND4C_CL_KERNEL(sru, ND4C_CL_FLOATS, sru_usable, sru_run, NULL)
ND4C_CL_KERNEL(linear_attention, ND4C_CL_FLOATS, linear_attention_usable, linear_attention_run,
               linear_attention_scratch)

const nd4c_kernel *const nd4c_cl_recurrent_states_kernels[] = {&opencl_sru, &opencl_linear_attention, NULL};
