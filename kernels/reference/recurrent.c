#include "kernels/reference/recurrent.h"

#include <math.h>
#include <stddef.h>

/* The op table's numbers; a static assertion in the backend ties the two. */
enum { RELU, TANH, SIGMOID, AFFINE, LEAKY_RELU, THRESHOLDED_RELU, SCALED_TANH, HARD_SIGMOID, ELU, SOFTSIGN, SOFTPLUS };

static double sigmoid(double x) {
  return 1 / (1 + exp(-x));
}

static double activate(const nd4c_ref_gate_function *f, double clip, double x) {
  if (clip > 0)
    x = x > clip ? clip : x < -clip ? -clip : x;
  switch (f->kind) {
    case RELU:
      return x > 0 || isnan(x) ? x : 0;
    case TANH:
      return tanh(x);
    case AFFINE:
      return f->alpha * x + f->beta;
    case LEAKY_RELU:
      return x >= 0 || isnan(x) ? x : f->alpha * x;
    case THRESHOLDED_RELU:
      return x >= f->alpha || isnan(x) ? x : 0;
    case SCALED_TANH:
      return f->alpha * tanh(f->beta * x);
    case HARD_SIGMOID:
      x = f->alpha * x + f->beta;
      return x < 0 ? 0 : x > 1 ? 1 : x;
    case ELU:
      return x >= 0 || isnan(x) ? x : f->alpha * expm1(x);
    case SOFTSIGN:
      return x / (1 + fabs(x));
    case SOFTPLUS:
      return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
    case SIGMOID:
    default:
      return sigmoid(x);
  }
}

static double dot(int64_t count, const double *a, const double *b) {
  double sum = 0;
  for (int64_t i = 0; i < count; i++)
    sum += a[i] * b[i];
  return sum;
}

/* One sequence of one direction: its weights, its state. */
typedef struct chain {
  const nd4c_ref_recurrent_args *args;
  const nd4c_ref_gate_function *functions;
  const double *w, *r, *bias, *peepholes;
  double *h, *c, *gates, *next;
} chain;

/* Row `row` of x w^T and the bias of w. */
static double from_input(const chain *k, const double *x, int64_t row) {
  double sum = dot(k->args->inputs, x, k->w + row * k->args->inputs);
  return k->bias != NULL ? sum + k->bias[row] : sum;
}

/* Row `row` of h r^T, and the bias of r. */
static double from_state(const chain *k, const double *h, int64_t row) {
  return dot(k->args->hidden, h, k->r + row * k->args->hidden);
}

static double state_bias(const chain *k, int64_t row) {
  return k->bias != NULL ? k->bias[k->args->gates * k->args->hidden + row] : 0;
}

static double gate(const chain *k, const double *x, int64_t row) {
  return from_input(k, x, row) + from_state(k, k->h, row) + state_bias(k, row);
}

static void rnn_step(const chain *k, const double *x) {
  for (int64_t i = 0; i < k->args->hidden; i++)
    k->next[i] = activate(&k->functions[0], k->args->clip, gate(k, x, i));
}

static void gru_step(const chain *k, const double *x) {
  int64_t n = k->args->hidden;
  double clip = k->args->clip, *z = k->gates, *r = k->gates + n, *reset = k->gates + 2 * n;
  for (int64_t i = 0; i < n; i++) {
    z[i] = activate(&k->functions[0], clip, gate(k, x, i));
    r[i] = activate(&k->functions[0], clip, gate(k, x, n + i));
    reset[i] = r[i] * k->h[i];
  }
  for (int64_t i = 0; i < n; i++) {
    int64_t row = 2 * n + i;
    double state = k->args->linear_before_reset ? r[i] * (from_state(k, k->h, row) + state_bias(k, row))
                                                : from_state(k, reset, row) + state_bias(k, row);
    double hidden = activate(&k->functions[1], clip, from_input(k, x, row) + state);
    k->next[i] = (1 - z[i]) * hidden + z[i] * k->h[i];
  }
}

static void lstm_step(const chain *k, const double *x) {
  int64_t n = k->args->hidden;
  double clip = k->args->clip;
  const double *p = k->peepholes;
  for (int64_t i = 0; i < n; i++) {
    double in = gate(k, x, i) + (p != NULL ? p[i] * k->c[i] : 0);
    double forget = gate(k, x, 2 * n + i) + (p != NULL ? p[2 * n + i] * k->c[i] : 0);
    in = activate(&k->functions[0], clip, in);
    forget = k->args->input_forget ? 1 - in : activate(&k->functions[0], clip, forget);
    k->c[i] = forget * k->c[i] + in * activate(&k->functions[1], clip, gate(k, x, 3 * n + i));
    double out = gate(k, x, n + i) + (p != NULL ? p[n + i] * k->c[i] : 0);
    k->next[i] = activate(&k->functions[0], clip, out) * activate(&k->functions[2], clip, k->c[i]);
  }
}

static void step(const chain *k, const double *x) {
  if (k->args->kind == ND4C_REF_CELL_LSTM)
    lstm_step(k, x);
  else if (k->args->kind == ND4C_REF_CELL_GRU)
    gru_step(k, x);
  else
    rnn_step(k, x);
  for (int64_t i = 0; i < k->args->hidden; i++)
    k->h[i] = k->next[i];
}

static void run_chain(const nd4c_ref_recurrent_args *args, int64_t direction, int64_t sequence) {
  int64_t n = args->hidden, rows = args->gates * n;
  int64_t state = args->batch_first ? sequence * args->directions + direction : direction * args->batch + sequence;
  double *scratch = args->scratch + (direction * args->batch + sequence) * (args->gates + 1) * n;
  chain k = {.args = args,
             .functions = args->functions[direction],
             .w = args->w + direction * rows * args->inputs,
             .r = args->r + direction * rows * n,
             .bias = args->bias != NULL ? args->bias + direction * 2 * rows : NULL,
             .peepholes = args->peepholes != NULL ? args->peepholes + direction * 3 * n : NULL,
             .h = args->last_h + state * n,
             .c = args->last_c != NULL ? args->last_c + state * n : NULL,
             .gates = scratch,
             .next = scratch + args->gates * n};
  for (int64_t i = 0; i < n; i++) {
    k.h[i] = args->h != NULL ? args->h[state * n + i] : 0;
    if (k.c != NULL)
      k.c[i] = args->c != NULL ? args->c[state * n + i] : 0;
  }
  int64_t length = args->lengths != NULL ? args->lengths[sequence] : args->steps;
  bool back = args->reverse || direction == 1;
  for (int64_t i = 0; i < length; i++) {
    int64_t t = back ? length - 1 - i : i;
    step(&k, args->x + (args->batch_first ? sequence * args->steps + t : t * args->batch + sequence) * args->inputs);
    int64_t row = args->batch_first ? (sequence * args->steps + t) * args->directions + direction
                                    : (t * args->directions + direction) * args->batch + sequence;
    for (int64_t j = 0; args->y != NULL && j < n; j++)
      args->y[row * n + j] = k.h[j];
  }
}

void nd4c_ref_recurrent(const nd4c_ref_recurrent_args *args, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++)
    run_chain(args, i / args->batch, i % args->batch);
}

void nd4c_ref_sru(const nd4c_ref_sru_args *args, int64_t begin, int64_t end) {
  int64_t n = args->hidden;
  for (int64_t sequence = begin; sequence < end; sequence++) {
    double *c = args->last_c + sequence * n;
    for (int64_t i = 0; i < n; i++)
      c[i] = args->c != NULL ? args->c[sequence * n + i] : 0;
    for (int64_t t = 0; t < args->steps; t++) {
      const double *x = args->x + (t * args->batch + sequence) * n;
      double *y = args->y + (t * args->batch + sequence) * n;
      for (int64_t i = 0; i < n; i++) {
        double u = dot(n, x, args->w + i * n);
        double f = sigmoid(dot(n, x, args->w + (n + i) * n) + args->bias[i]);
        double r = sigmoid(dot(n, x, args->w + (2 * n + i) * n) + args->bias[n + i]);
        c[i] = f * c[i] + (1 - f) * u;
        y[i] = r * tanh(c[i]) + (1 - r) * x[i];
      }
    }
  }
}
