/* Layers and cells of recurrent networks (recurrent.h). Engine reference calls these. */
#include "kernels/reference/recurrent/recurrent.h"

#include <math.h>
#include <stddef.h>

#include "kernels/reference/support/numbers.h"

/* The op table's numbers; a static assertion in the backend ties the two. */
enum { RELU, TANH, SIGMOID, AFFINE, LEAKY_RELU, THRESHOLDED_RELU, SCALED_TANH, HARD_SIGMOID, ELU, SOFTSIGN, SOFTPLUS };

enum { TOGETHER = 32 }; /* sequences that share a pass over the weights */

static double sigmoid(double x) {
  return 1 / (1 + exp(-x));
}

static double activate(const nd4c_ref_gate_function *f, double clip, double x) {
  if (clip > 0) {
    x = x > clip ? clip : x < -clip ? -clip : x;
  }
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

/* One direction's weights. */
typedef struct direction {
  const nd4c_ref_gate_function *functions;
  const double *w, *r, *bias, *peepholes;
  bool back;
} direction;

/* One sequence of one direction: its state and room for its gates. */
typedef struct chain {
  int64_t number, length; /* sequence of the batch, steps */
  double *h, *c, *gates, *extra;
} chain;

static direction direction_of(const nd4c_ref_recurrent_args *args, int64_t number) {
  int64_t n = args->hidden, rows = args->gates * n;
  return (direction){.functions = args->functions[number],
                     .w = args->w + number * rows * args->inputs,
                     .r = args->r + number * rows * n,
                     .bias = args->bias != NULL ? args->bias + number * 2 * rows : NULL,
                     .peepholes = args->peepholes != NULL ? args->peepholes + number * 3 * n : NULL,
                     .back = args->reverse || number == 1};
}

static chain chain_of(const nd4c_ref_recurrent_args *args, int64_t number, int64_t sequence) {
  int64_t n = args->hidden;
  int64_t state = args->batch_first ? sequence * args->directions + number : number * args->batch + sequence;
  double *scratch = args->scratch + (number * args->batch + sequence) * (args->gates + 1) * n;
  chain k = {.number = sequence,
             .length = args->lengths != NULL ? args->lengths[sequence] : args->steps,
             .h = args->last_h + state * n,
             .c = args->last_c != NULL ? args->last_c + state * n : NULL,
             .gates = scratch,
             .extra = scratch + args->gates * n};
  for (int64_t i = 0; i < n; i++) {
    k.h[i] = args->h != NULL ? args->h[state * n + i] : 0;
    if (k.c != NULL) {
      k.c[i] = args->c != NULL ? args->c[state * n + i] : 0;
    }
  }
  return k;
}

/* Step `i` of a chain, in time. */
static int64_t time_of(const direction *d, const chain *k, int64_t i) {
  return d->back ? k->length - 1 - i : i;
}

static const double *input_of(const nd4c_ref_recurrent_args *args, const chain *k, int64_t t) {
  return args->x + (args->batch_first ? k->number * args->steps + t : t * args->batch + k->number) * args->inputs;
}

/* Rows [first, last) of x w^T (plus its bias) and, if wanted, of h r^T (plus its bias) for all chains: a row of weights
 * is read once for all of them. */
static void gate_rows(const nd4c_ref_recurrent_args *args, const direction *d, const chain *chains, int64_t count,
                      int64_t step, int64_t first, int64_t last, bool with_state) {
  int64_t n = args->hidden, rows = args->gates * n;
  for (int64_t row = first; row < last; row++) {
    double bias = d->bias != NULL ? d->bias[row] + (with_state ? d->bias[rows + row] : 0) : 0;
    for (int64_t i = 0; i < count; i++) {
      const chain *k = &chains[i];
      if (step >= k->length) {
        continue;
      }
      const double *x = input_of(args, k, time_of(d, k, step));
      double sum = bias + nd4c_ref_dot(args->inputs, x, d->w + row * args->inputs);
      k->gates[row] = with_state ? sum + nd4c_ref_dot(n, k->h, d->r + row * n) : sum;
    }
  }
}

static void rnn_step(const nd4c_ref_recurrent_args *args, const direction *d, const chain *k) {
  for (int64_t i = 0; i < args->hidden; i++) {
    k->h[i] = activate(&d->functions[0], args->clip, k->gates[i]);
  }
}

/* Gates z and r hold sums; the hidden gate holds that of x alone. `extra` becomes what the state gives to it. */
static void gru_step(const nd4c_ref_recurrent_args *args, const direction *d, const chain *k) {
  int64_t n = args->hidden;
  double clip = args->clip, *z = k->gates, *r = k->gates + n, *hidden = k->gates + 2 * n;
  for (int64_t i = 0; i < n; i++) {
    z[i] = activate(&d->functions[0], clip, z[i]);
    r[i] = activate(&d->functions[0], clip, r[i]);
    k->extra[i] = args->linear_before_reset ? k->h[i] : r[i] * k->h[i];
  }
  for (int64_t i = 0; i < n; i++) {
    int64_t row = 2 * n + i;
    double state = nd4c_ref_dot(n, k->extra, d->r + row * n) + (d->bias != NULL ? d->bias[3 * n + row] : 0);
    hidden[i] += args->linear_before_reset ? r[i] * state : state;
  }
  for (int64_t i = 0; i < n; i++) {
    k->h[i] = (1 - z[i]) * activate(&d->functions[1], clip, hidden[i]) + z[i] * k->h[i];
  }
}

static void lstm_step(const nd4c_ref_recurrent_args *args, const direction *d, const chain *k) {
  int64_t n = args->hidden;
  double clip = args->clip;
  const double *p = d->peepholes, *gates = k->gates;
  for (int64_t i = 0; i < n; i++) {
    double in = activate(&d->functions[0], clip, gates[i] + (p != NULL ? p[i] * k->c[i] : 0));
    double forget = gates[2 * n + i] + (p != NULL ? p[2 * n + i] * k->c[i] : 0);
    forget = args->input_forget ? 1 - in : activate(&d->functions[0], clip, forget);
    k->c[i] = forget * k->c[i] + in * activate(&d->functions[1], clip, gates[3 * n + i]);
    double out = gates[n + i] + (p != NULL ? p[n + i] * k->c[i] : 0);
    k->h[i] = activate(&d->functions[0], clip, out) * activate(&d->functions[2], clip, k->c[i]);
  }
}

static void step_chain(const nd4c_ref_recurrent_args *args, const direction *d, int64_t number, const chain *k,
                       int64_t step) {
  int64_t n = args->hidden, t = time_of(d, k, step);
  if (args->kind == ND4C_REF_CELL_LSTM) {
    lstm_step(args, d, k);
  } else if (args->kind == ND4C_REF_CELL_GRU) {
    gru_step(args, d, k);
  } else {
    rnn_step(args, d, k);
  }
  int64_t row = args->batch_first ? (k->number * args->steps + t) * args->directions + number
                                  : (t * args->directions + number) * args->batch + k->number;
  for (int64_t j = 0; args->y != NULL && j < n; j++) {
    args->y[row * n + j] = k->h[j];
  }
}

/* Some sequences of one direction, step by step side by side. */
static void run_chains(const nd4c_ref_recurrent_args *args, int64_t number, int64_t first, int64_t count) {
  chain chains[TOGETHER];
  direction d = direction_of(args, number);
  int64_t n = args->hidden, longest = 0;
  for (int64_t i = 0; i < count; i++) {
    chains[i] = chain_of(args, number, first + i);
    longest = chains[i].length > longest ? chains[i].length : longest;
  }
  bool gru = args->kind == ND4C_REF_CELL_GRU;
  for (int64_t step = 0; step < longest; step++) {
    gate_rows(args, &d, chains, count, step, 0, gru ? 2 * n : args->gates * n, true);
    if (gru) {
      gate_rows(args, &d, chains, count, step, 2 * n, 3 * n, false);
    }
    for (int64_t i = 0; i < count; i++) {
      if (step < chains[i].length) {
        step_chain(args, &d, number, &chains[i], step);
      }
    }
  }
}

void nd4c_ref_recurrent(const nd4c_ref_recurrent_args *args, int64_t begin, int64_t end) {
  while (begin < end) {
    int64_t number = begin / args->batch, first = begin % args->batch, count = args->batch - first;
    count = count < end - begin ? count : end - begin;
    count = count < TOGETHER ? count : TOGETHER;
    run_chains(args, number, first, count);
    begin += count;
  }
}

void nd4c_ref_sru(const nd4c_ref_sru_args *args, int64_t begin, int64_t end) {
  int64_t n = args->hidden;
  for (int64_t sequence = begin; sequence < end; sequence++) {
    double *c = args->last_c + sequence * n;
    for (int64_t i = 0; i < n; i++) {
      c[i] = args->c != NULL ? args->c[sequence * n + i] : 0;
    }
    for (int64_t t = 0; t < args->steps; t++) {
      const double *x = args->x + (t * args->batch + sequence) * n;
      double *y = args->y + (t * args->batch + sequence) * n;
      for (int64_t i = 0; i < n; i++) {
        double u = nd4c_ref_dot(n, x, args->w + i * n);
        double f = sigmoid(nd4c_ref_dot(n, x, args->w + (n + i) * n) + args->bias[i]);
        double r = sigmoid(nd4c_ref_dot(n, x, args->w + (2 * n + i) * n) + args->bias[n + i]);
        c[i] = f * c[i] + (1 - f) * u;
        y[i] = r * tanh(c[i]) + (1 - r) * x[i];
      }
    }
  }
}
