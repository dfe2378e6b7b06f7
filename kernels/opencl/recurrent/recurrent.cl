/* Recurrent layers and cells: a group per sequence of one direction, step by step, its state and gates in the scratch
 * buffer. -D CELL_rnn, CELL_gru or CELL_lstm. Activations by the op table's numbers. Behind real.cl.
 * families/recurrent.c launches these. */

/* The same struct as nd4c_cl_chains. Strides: x [n, t, i]; w, r [d, row, column]; bias, peepholes [d, row];
 * states [d, n, i]; y [t, d, n, i]. */
typedef struct {
  long steps, batch, inputs, hidden, directions;
  long x[3], w[3], r[3], bias[2], h[3], c[3], peepholes[2], y[4], last_h[3], last_c[3], lengths;
  int kinds[2][3], reverse, linear_before_reset, input_forget, has_bias, has_lengths, has_h, has_c, has_peepholes, has_y;
  int unused;
} chains;


typedef struct {
  REAL alpha[2][3], beta[2][3], clip;
} functions;

static inline REAL gate(const chains *s, const functions *f, int direction, int which, REAL x) {
  REAL alpha = f->alpha[direction][which], beta = f->beta[direction][which];
  REAL zero = R(0), one = R(1);
  if (r_less(zero, f->clip)) x = r_less(f->clip, x) ? f->clip : r_less(x, r_neg(f->clip)) ? r_neg(f->clip) : x;
  switch (s->kinds[direction][which]) {
    case 0:
      return r_less(zero, x) || r_isnan(x) ? x : zero;
    case 1:
      return r_tanh(x);
    case 3:
      return r_add(r_mul(alpha, x), beta);
    case 4:
      return r_at_most(zero, x) || r_isnan(x) ? x : r_mul(alpha, x);
    case 5:
      return r_at_most(alpha, x) || r_isnan(x) ? x : zero;
    case 6:
      return r_mul(alpha, r_tanh(r_mul(beta, x)));
    case 7:
      x = r_add(r_mul(alpha, x), beta);
      return r_less(x, zero) ? zero : r_less(one, x) ? one : x;
    case 8:
      return r_at_most(zero, x) || r_isnan(x) ? x : r_mul(alpha, r_expm1(x));
    case 9:
      return r_div(x, r_add(one, r_abs(x)));
    case 10:
      return r_less(zero, x) ? r_add(x, r_log1p(r_exp(r_neg(x)))) : r_log1p(r_exp(x));
    default:
      return r_sigmoid(x);
  }
}

#if defined(CELL_lstm)
#define GATES 4
#elif defined(CELL_gru)
#define GATES 3
#else
#define GATES 1
#endif

__kernel void recurrent(chains s, functions f, __global const STORAGE(A) *x, long x0, __global const STORAGE(A) *w,
                        long w0, __global const STORAGE(A) *r, long r0, __global const STORAGE(A) *bias, long bias0,
                        __global const STORAGE(E) *lengths, long lengths0, __global const STORAGE(A) *first_h,
                        long first_h0, __global const STORAGE(A) *first_c, long first_c0,
                        __global const STORAGE(A) *peepholes, long peepholes0, __global STORAGE(A) *y, long y0,
                        __global STORAGE(A) *last_h, long last_h0, __global STORAGE(A) *last_c, long last_c0,
                        __global REAL *scratch, __global int *fault) {
  int lane = get_local_id(0), lanes = get_local_size(0), d = get_group_id(0) / s.batch;
  long number = get_group_id(0) % s.batch, n = s.hidden, rows = GATES * n, length = s.steps;
  bool back = s.reverse || d == 1;
  __global REAL *h = scratch + get_group_id(0) * 7 * n, *c = h + n, *extra = c + n, *gates = extra + n;
  x0 += number * s.x[0];
  w0 += d * s.w[0];
  r0 += d * s.r[0];
  bias0 += d * s.bias[0];
  peepholes0 += d * s.peepholes[0];
  if (s.has_lengths) {
    length = (long)LOAD(E, lengths, lengths0 + number * s.lengths);
    if (length < 0 || length > s.steps) {
      if (lane == 0) nd4c_fault_index(fault, length, s.steps + 1);
      length = 0;
    }
  }
  for (long i = lane; i < n; i += lanes) {
    h[i] = s.has_h ? R(LOAD(A, first_h, first_h0 + d * s.h[0] + number * s.h[1] + i * s.h[2])) : R(0);
    c[i] = s.has_c ? R(LOAD(A, first_c, first_c0 + d * s.c[0] + number * s.c[1] + i * s.c[2])) : R(0);
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
  for (long step = 0; step < length; step++) {
    long t = back ? length - 1 - step : step;
    for (long row = lane; row < rows; row += lanes) {
#ifdef CELL_gru
      bool with_state = row < 2 * n;
#else
      bool with_state = true;
#endif
      REAL sum = s.has_bias ? R(LOAD(A, bias, bias0 + row * s.bias[1])) : R(0);
      if (s.has_bias && with_state) sum = r_take(sum, LOAD(A, bias, bias0 + (rows + row) * s.bias[1]));
      for (long i = 0; i < s.inputs; i++)
        sum = r_take_product(sum, LOAD(A, x, x0 + t * s.x[1] + i * s.x[2]), LOAD(A, w, w0 + row * s.w[1] + i * s.w[2]));
      for (long i = 0; with_state && i < n; i++)
        sum = r_take_scaled(sum, h[i], LOAD(A, r, r0 + row * s.r[1] + i * s.r[2]));
      gates[row] = r_sum(sum);
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
#ifdef CELL_gru
    for (long i = lane; i < n; i += lanes) {
      gates[i] = gate(&s, &f, d, 0, gates[i]);
      gates[n + i] = gate(&s, &f, d, 0, gates[n + i]);
      extra[i] = s.linear_before_reset ? h[i] : r_mul(gates[n + i], h[i]);
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
#endif
    for (long i = lane; i < n; i += lanes) {
#if defined(CELL_gru)
      long row = 2 * n + i;
      REAL state = s.has_bias ? R(LOAD(A, bias, bias0 + (rows + row) * s.bias[1])) : R(0);
      for (long j = 0; j < n; j++) state = r_take_scaled(state, extra[j], LOAD(A, r, r0 + row * s.r[1] + j * s.r[2]));
      state = r_sum(state);
      REAL hidden = r_add(gates[row], s.linear_before_reset ? r_mul(gates[n + i], state) : state);
      h[i] = r_add(r_mul(r_sub(R(1), gates[i]), gate(&s, &f, d, 1, hidden)), r_mul(gates[i], h[i]));
#elif defined(CELL_lstm)
      REAL p[3] = {R(0), R(0), R(0)};
      for (int k = 0; s.has_peepholes && k < 3; k++)
        p[k] = R(LOAD(A, peepholes, peepholes0 + (k * n + i) * s.peepholes[1]));
      REAL in = gate(&s, &f, d, 0, r_add(gates[i], r_mul(p[0], c[i])));
      REAL forget = r_add(gates[2 * n + i], r_mul(p[2], c[i]));
      forget = s.input_forget ? r_sub(R(1), in) : gate(&s, &f, d, 0, forget);
      REAL old = c[i];
      old = r_add(r_mul(forget, old), r_mul(in, gate(&s, &f, d, 1, gates[3 * n + i])));
      c[i] = old;
      h[i] = r_mul(gate(&s, &f, d, 0, r_add(gates[n + i], r_mul(p[1], old))), gate(&s, &f, d, 2, old));
#else
      h[i] = gate(&s, &f, d, 0, gates[i]);
#endif
      if (s.has_y) SAVE(A, y, y0 + t * s.y[0] + d * s.y[1] + number * s.y[2] + i * s.y[3], R_CAST(A, h[i]));
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  for (long i = lane; i < n; i += lanes) {
    for (long t = length; s.has_y && t < s.steps; t++)
      SAVE(A, y, y0 + t * s.y[0] + d * s.y[1] + number * s.y[2] + i * s.y[3], (COMPUTE(A))0);
    SAVE(A, last_h, last_h0 + d * s.last_h[0] + number * s.last_h[1] + i * s.last_h[2], R_CAST(A, h[i]));
#ifdef CELL_lstm
    SAVE(A, last_c, last_c0 + d * s.last_c[0] + number * s.last_c[1] + i * s.last_c[2], R_CAST(A, c[i]));
#endif
  }
}
