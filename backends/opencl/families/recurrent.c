/* Recurrent layers and cells. dispatch/choice.c asks these kernels for arrays on OpenCL devices. */
#include "backends/opencl/support/reduction.h"

enum { GROUP = 64, NUMBERS = 7 /* of the scratch buffer for each hidden unit of a chain */ };

/* The same struct as in recurrent.cl. */
typedef struct chains {
  int64_t steps, batch, inputs, hidden, directions;
  int64_t x[3], w[3], r[3], bias[2], h[3], c[3], peepholes[2], y[4], last_h[3], last_c[3], lengths;
  int32_t kinds[2][3], reverse, linear_before_reset, input_forget, has_bias, has_lengths, has_h, has_c, has_peepholes,
      has_y, unused;
} chains;

typedef struct plan {
  chains s;
  const char *cell;
  double numbers[13]; /* alpha of two directions, beta of two directions, clip */
  const nd4c_tensor *x, *w, *r, *bias, *lengths, *h, *c, *peepholes, *y, *last_h, *last_c;
} plan;

static const struct {
  double alpha, beta;
} presets[] = {
#define PRESET(NAME, number, name, alpha, beta) [number] = {alpha, beta},
    ND4C_RECURRENT_ACTIVATION_TABLE(PRESET)
#undef PRESET
};

/* The last `count` axes of an operand; a missing first one has stride 0. */
static void last_strides(const nd4c_tensor *x, int32_t count, int64_t *strides) {
  for (int32_t i = 0; x != NULL && i < count; i++) {
    int32_t axis = x->rank - count + i;
    strides[i] = axis < 0 ? 0 : x->strides[axis];
  }
}

static void swap(int64_t *strides) {
  int64_t kept = strides[0];
  strides[0] = strides[1];
  strides[1] = kept;
}

static void default_kinds(plan *p, bool plain) {
  for (int d = 0; d < 2; d++) {
    for (int i = 0; i < 3; i++) {
      p->s.kinds[d][i] = plain || i > 0 ? ND4C_RECURRENT_ACTIVATION_TANH : ND4C_RECURRENT_ACTIVATION_SIGMOID;
    }
  }
}

static void given_kinds(const nd4c_call *call, plan *p, int32_t count) {
  const nd4c_attr_value *kinds = &call->attrs[ND4C_ATTR_rnn_activations];
  const nd4c_attr_value *alpha = &call->attrs[ND4C_ATTR_rnn_alpha], *beta = &call->attrs[ND4C_ATTR_rnn_beta];
  for (int32_t i = 0; i < kinds->count; i++) {
    int32_t place = i / count * 3 + i % count;
    int64_t kind = kinds->as.ints[i];
    p->s.kinds[i / count][i % count] = (int32_t)kind;
    p->numbers[place] = alpha->count > 0 ? alpha->as.floats[i] : presets[kind].alpha;
    p->numbers[6 + place] = beta->count > 0 ? beta->as.floats[i] : presets[kind].beta;
  }
}

static void finish(plan *p) {
  chains *s = &p->s;
  last_strides(p->w, 3, s->w);
  last_strides(p->r, 3, s->r);
  last_strides(p->bias, 2, s->bias);
  last_strides(p->peepholes, 2, s->peepholes);
  last_strides(p->h, 3, s->h);
  last_strides(p->c, 3, s->c);
  last_strides(p->last_h, 3, s->last_h);
  last_strides(p->last_c, 3, s->last_c);
  s->lengths = nd4c_cl_stride_of(p->lengths, 0);
  s->has_bias = p->bias != NULL;
  s->has_lengths = p->lengths != NULL;
  s->has_h = p->h != NULL;
  s->has_c = p->c != NULL;
  s->has_peepholes = p->peepholes != NULL;
  s->has_y = p->y != NULL;
}

static plan layer_plan(const nd4c_call *call) {
  nd4c_op op = call->op->op;
  bool lstm = op == ND4C_OP_lstm, gru = op == ND4C_OP_gru, first = ND4C_FLAG_OF(call, rnn_batch_first);
  int64_t direction = ND4C_INT_OF(call, rnn_direction);
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  plan p = {.cell = lstm  ? "CELL_lstm"
                    : gru ? "CELL_gru"
                          : "CELL_rnn",
            .x = x,
            .w = &call->inputs[ND4C_IN_rnn_w],
            .r = &call->inputs[ND4C_IN_rnn_r],
            .bias = nd4c_cl_input(call, ND4C_IN_rnn_bias),
            .lengths = nd4c_cl_input(call, ND4C_IN_rnn_sequence_lengths),
            .h = nd4c_cl_input(call, ND4C_IN_rnn_initial_h),
            .c = lstm ? nd4c_cl_input(call, ND4C_IN_lstm_initial_c) : NULL,
            .peepholes = lstm ? nd4c_cl_input(call, ND4C_IN_lstm_peepholes) : NULL,
            .y = y,
            .last_h = &call->outputs[1],
            .last_c = lstm ? &call->outputs[2] : NULL};
  chains *s = &p.s;
  s->steps = x->shape[first ? 1 : 0];
  s->batch = x->shape[first ? 0 : 1];
  s->inputs = x->shape[2];
  s->hidden = p.r->shape[2];
  s->directions = direction == ND4C_DIRECTION_BIDIRECTIONAL ? 2 : 1;
  s->reverse = direction == ND4C_DIRECTION_REVERSE;
  s->linear_before_reset = gru && ND4C_FLAG_OF(call, gru_linear_before_reset);
  s->input_forget = lstm && ND4C_FLAG_OF(call, lstm_input_forget);
  p.numbers[12] = ND4C_REAL_OF(call, rnn_clip);
  default_kinds(&p, !lstm && !gru);
  given_kinds(call, &p, lstm ? 3 : gru ? 2 : 1);
  finish(&p);
  last_strides(x, 3, s->x); /* [n, t, i] or [t, n, i] */
  last_strides(y, 4, s->y); /* [n, t, d, i] or [t, d, n, i] */
  if (first) {
    const int64_t strides[4] = {s->y[1], s->y[2], s->y[0], s->y[3]};
    memcpy(s->y, strides, sizeof strides);
    swap(s->h);
    swap(s->c);
    swap(s->last_h);
    swap(s->last_c);
  } else {
    swap(s->x);
  }
  return p;
}

static plan cell_plan(const nd4c_call *call) {
  nd4c_op op = call->op->op;
  bool lstm = op == ND4C_OP_lstm_cell, gru = op == ND4C_OP_gru_cell;
  int32_t w = lstm ? ND4C_IN_lstm_cell_w : gru ? ND4C_IN_gru_cell_w : ND4C_IN_rnn_cell_w;
  const nd4c_tensor *x = &call->inputs[0];
  plan p = {.cell = lstm  ? "CELL_lstm"
                    : gru ? "CELL_gru"
                          : "CELL_rnn",
            .x = x,
            .w = &call->inputs[w],
            .r = &call->inputs[w + 1],
            .bias = nd4c_cl_input(call, w + 2),
            .h = &call->inputs[1],
            .c = lstm ? &call->inputs[ND4C_IN_lstm_cell_c] : NULL,
            .peepholes = lstm ? nd4c_cl_input(call, ND4C_IN_lstm_cell_peepholes) : NULL,
            .last_h = &call->outputs[0],
            .last_c = lstm ? &call->outputs[1] : NULL};
  p.s.steps = p.s.directions = 1;
  p.s.batch = x->shape[0];
  p.s.inputs = x->shape[1];
  p.s.hidden = call->inputs[1].shape[1];
  p.s.linear_before_reset = gru && ND4C_FLAG_OF(call, gru_cell_linear_before_reset);
  default_kinds(&p, !lstm && !gru);
  finish(&p);
  p.s.x[0] = x->strides[0];
  p.s.x[2] = x->strides[1];
  return p;
}

static plan make_plan(const nd4c_call *call) {
  nd4c_op op = call->op->op;
  return op == ND4C_OP_rnn || op == ND4C_OP_gru || op == ND4C_OP_lstm ? layer_plan(call) : cell_plan(call);
}

static int64_t scratch(const nd4c_call *call) {
  plan p = make_plan(call);
  return p.s.directions * p.s.batch * p.s.hidden * NUMBERS * (int64_t)sizeof(double);
}

static nd4c_status run(const nd4c_call *call) {
  plan p = make_plan(call);
  float pairs[2 * 13];
  nd4c_cl_options options = {{0}};
  nd4c_cl_define(&options, p.cell, "1");
  ND4C_CL_TYPES(&options, "AE", p.x->dtype, nd4c_cl_dtype_of(p.lengths, ND4C_INT64));
  nd4c_cl_define_pair(&options, call);
  for (int i = 0; i < 13; i++) {
    nd4c_cl_pair_of(p.numbers[i], pairs + (ptrdiff_t)2 * i);
  }
  const void *numbers = nd4c_cl_wide(call) ? (const void *)p.numbers : (const void *)pairs;
  return ND4C_CL_RUN_GROUPS(call, ND4C_CL_BY_PAIRS(call, "recurrent"), "recurrent", options,
                            p.s.hidden > 0 ? p.s.directions * p.s.batch : 0, GROUP, ND4C_CL_VALUE(p.s),
                            ND4C_CL_BYTES(numbers, sizeof p.numbers), ND4C_CL_IN(p.x), ND4C_CL_IN(p.w), ND4C_CL_IN(p.r),
                            ND4C_CL_IN(p.bias), ND4C_CL_IN(p.lengths), ND4C_CL_IN(p.h), ND4C_CL_IN(p.c),
                            ND4C_CL_IN(p.peepholes), ND4C_CL_OUT(p.y), ND4C_CL_OUT(p.last_h), ND4C_CL_OUT(p.last_c),
                            ND4C_CL_SCRATCH(READ_WRITE), ND4C_CL_FAULT);
}

#define OPS(X) \
  X(rnn)       \
  X(gru)       \
  X(lstm)      \
  X(rnn_cell)  \
  X(gru_cell)  \
  X(lstm_cell)
#define DEFINE(op) ND4C_CL_KERNEL(op, ND4C_CL_FLOATS, nd4c_cl_call_usable, run, scratch)
OPS(DEFINE)

const nd4c_kernel *const nd4c_cl_recurrent_kernels[] = {OPS(ND4C_CL_LISTED_OP) NULL};
