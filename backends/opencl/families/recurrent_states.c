/* Layers whose states do not mix: sru and linear attention. dispatch/choice.c asks these kernels for arrays on OpenCL
 * devices. */
#include <math.h>

#include "backends/opencl/support/reduction.h"

static nd4c_status sru_run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *first = nd4c_cl_input(call, ND4C_IN_sru_initial_c);
  const nd4c_tensor *w = &call->inputs[ND4C_IN_sru_w], *bias = &call->inputs[ND4C_IN_sru_bias];
  const nd4c_cl_given given = ND4C_CL_STRIDED(first, READ), own = ND4C_CL_STRIDED(&call->outputs[1], READ_WRITE);
  nd4c_cl_options options = {{0}};
  nd4c_cl_define(&options, "SRU", "1");
  nd4c_cl_define_type(&options, 'A', x->dtype);
  nd4c_cl_define_pair(&options, call);
  return ND4C_CL_RUN(call, ND4C_CL_BY_PAIRS(call, "states"), "sru", options, x->shape[1] * x->shape[2],
                     ND4C_CL_LONGS(x->shape, 3), ND4C_CL_STRIDED(x, READ), ND4C_CL_STRIDED(w, READ),
                     ND4C_CL_STRIDED(bias, READ), first != NULL ? given : own, ND4C_CL_INT(first != NULL),
                     ND4C_CL_STRIDED(&call->outputs[0], WRITE), ND4C_CL_STRIDED(&call->outputs[1], WRITE));
}

/* -- linear attention ---------------------------------------------------------------------------------------------- */

/* The same struct as in states.cl. */
typedef struct sizes {
  int64_t batch, q_heads, kv_heads, length, head, v_head, decay_heads, beta_heads;
  int64_t q[3], k[3], v[3], decay[3], beta[3], y[3], past[4], state[4];
} sizes;

static int64_t copy_strides(const nd4c_tensor *x, int64_t *strides) {
  for (int32_t i = 0; x != NULL && i < x->rank; i++) {
    strides[i] = x->strides[i];
  }
  return x != NULL ? x->shape[x->rank - 1] : 0;
}

/* The buffer is not empty even if the states have no features: kernels need one. */
static int64_t linear_attention_scratch(const nd4c_call *call) {
  return (call->outputs[1].size + 1) * (int64_t)sizeof(double);
}

static nd4c_status linear_attention_run(const nd4c_call *call) {
  const nd4c_tensor *q = &call->inputs[0], *state = &call->outputs[1];
  const nd4c_tensor *past = nd4c_cl_input(call, ND4C_IN_linear_attention_past_state);
  const nd4c_tensor *decay = nd4c_cl_input(call, ND4C_IN_linear_attention_decay);
  const nd4c_tensor *beta = nd4c_cl_input(call, ND4C_IN_linear_attention_beta);
  double scale = ND4C_REAL_OF(call, linear_attention_scale);
  nd4c_cl_options options = {{0}};
  sizes s = {.batch = q->shape[0],
             .q_heads = ND4C_INT_OF(call, linear_attention_q_heads),
             .kv_heads = ND4C_INT_OF(call, linear_attention_kv_heads),
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
  ND4C_CL_TYPES(&options, "ABYZ", q->dtype, nd4c_cl_dtype_of(past, q->dtype), call->outputs[0].dtype, state->dtype);
  nd4c_cl_define_real(&options, call);
  return ND4C_CL_RUN(call, "states", "linear_attend", options, s.batch * s.kv_heads * s.v_head, ND4C_CL_VALUE(s),
                     ND4C_CL_IN(q), ND4C_CL_IN(&call->inputs[1]), ND4C_CL_IN(&call->inputs[2]), ND4C_CL_IN(past),
                     ND4C_CL_IN(decay), ND4C_CL_IN(beta), ND4C_CL_INT(past != NULL, decay != NULL, beta != NULL),
                     ND4C_CL_OUT(&call->outputs[0]), ND4C_CL_OUT(state),
                     ND4C_CL_REAL(scale == 0 ? 1 / sqrt((double)s.head) : scale), ND4C_CL_SCRATCH(READ_WRITE));
}

ND4C_CL_KERNEL(sru, ND4C_CL_FLOATS, nd4c_cl_call_usable, sru_run, NULL)
ND4C_CL_KERNEL(linear_attention, ND4C_CL_FLOATS, nd4c_cl_call_usable, linear_attention_run, linear_attention_scratch)

const nd4c_kernel *const nd4c_cl_recurrent_states_kernels[] = {&opencl_sru, &opencl_linear_attention, NULL};
