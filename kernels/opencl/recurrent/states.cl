/* Layers whose states do not mix: a work item per state, or per column of one, through all steps. SRU: behind real.cl.
 * families/recurrent_states.c launches these. */

#ifdef SRU
/* Strides: x, y [t, n, i]; w [row, column]; c [n, i]. */
__kernel void sru(long steps, long batch, long hidden, __global const STORAGE(A) *x, long x0, long x_t, long x_n,
                  long x_i, __global const STORAGE(A) *w, long w0, long w_row, long w_column,
                  __global const STORAGE(A) *bias, long bias0, long bias_step, __global const STORAGE(A) *first,
                  long first0, long first_n, long first_i, int has_first, __global STORAGE(A) *y, long y0, long y_t,
                  long y_n, long y_i, __global STORAGE(A) *last, long last0, long last_n, long last_i) {
  ITEM(number, batch * hidden)
  long n = number / hidden, i = number % hidden;
  REAL c = has_first ? R(LOAD(A, first, first0 + n * first_n + i * first_i)) : R(0), one = R(1);
  for (long t = 0; t < steps; t++) {
    long at = x0 + t * x_t + n * x_n;
    REAL u = R(0), f = R(0), r = R(0);
    for (long j = 0; j < hidden; j++) {
      COMPUTE(A) value = LOAD(A, x, at + j * x_i);
      u = r_take_product(u, value, LOAD(A, w, w0 + i * w_row + j * w_column));
      f = r_take_product(f, value, LOAD(A, w, w0 + (hidden + i) * w_row + j * w_column));
      r = r_take_product(r, value, LOAD(A, w, w0 + (2 * hidden + i) * w_row + j * w_column));
    }
    f = r_sigmoid(r_add(r_sum(f), R(LOAD(A, bias, bias0 + i * bias_step))));
    r = r_sigmoid(r_add(r_sum(r), R(LOAD(A, bias, bias0 + (hidden + i) * bias_step))));
    c = r_add(r_mul(f, c), r_mul(r_sub(one, f), r_sum(u)));
    REAL own = R(LOAD(A, x, at + i * x_i)), out = r_add(r_mul(r, r_tanh(c)), r_mul(r_sub(one, r), own));
    SAVE(A, y, y0 + t * y_t + n * y_n + i * y_i, R_CAST(A, out));
  }
  SAVE(A, last, last0 + n * last_n + i * last_i, R_CAST(A, c));
}
#endif

#ifdef LINEAR
/* Column j of the state of one head of k: the columns of S += k v^T do not meet. q, k, v, decay, beta, y: [n, t, i];
 * states: [n, head, i, j]. `columns`: room for the column of each work item. */
typedef struct {
  long batch, q_heads, kv_heads, length, head, v_head, decay_heads, beta_heads;
  long q[3], k[3], v[3], decay[3], beta[3], y[3], past[4], state[4];
} sizes;

__kernel void linear_attend(sizes s, __global const STORAGE(A) *q, long q0, __global const STORAGE(A) *k, long k0,
                            __global const STORAGE(A) *v, long v0, __global const STORAGE(B) *past, long past0,
                            __global const STORAGE(A) *decay, long decay0, __global const STORAGE(A) *beta, long beta0,
                            int has_past, int has_decay, int has_beta, __global STORAGE(Y) *y, long y0,
                            __global STORAGE(Z) *state, long state0, REAL scale, __global REAL *columns) {
  ITEM(number, s.batch * s.kv_heads * s.v_head)
  long j = number % s.v_head, head = number / s.v_head % s.kv_heads, n = number / s.v_head / s.kv_heads;
  __global REAL *column = columns + number * s.head;
  for (long i = 0; i < s.head; i++)
    column[i] = has_past ? (REAL)LOAD(B, past, past0 + n * s.past[0] + head * s.past[1] + i * s.past[2] + j * s.past[3])
                         : (REAL)0;
  for (long t = 0; t < s.length; t++) {
    long k_at = k0 + n * s.k[0] + t * s.k[1] + head * s.head * s.k[2];
    REAL known = 0, value = (REAL)LOAD(A, v, v0 + n * s.v[0] + t * s.v[1] + (head * s.v_head + j) * s.v[2]);
    for (long i = 0; has_decay && i < s.head; i++) {
      long of = s.decay_heads != s.kv_heads ? head * s.head + i : head;
      column[i] *= exp((REAL)LOAD(A, decay, decay0 + n * s.decay[0] + t * s.decay[1] + of * s.decay[2]));
    }
    for (long i = 0; has_beta && i < s.head; i++) known += column[i] * (REAL)LOAD(A, k, k_at + i * s.k[2]);
    if (has_beta) {
      long of = s.beta_heads == 1 ? 0 : head;
      value = (REAL)LOAD(A, beta, beta0 + n * s.beta[0] + t * s.beta[1] + of * s.beta[2]) * (value - known);
    }
    for (long i = 0; i < s.head; i++) column[i] += (REAL)LOAD(A, k, k_at + i * s.k[2]) * value;
    long group = s.q_heads / s.kv_heads;
    for (long g = 0; g < group; g++) {
      long of = head * group + g, q_at = q0 + n * s.q[0] + t * s.q[1] + of * s.head * s.q[2];
      REAL sum = 0;
      for (long i = 0; i < s.head; i++) sum += (REAL)LOAD(A, q, q_at + i * s.q[2]) * column[i];
      SAVE(Y, y, y0 + n * s.y[0] + t * s.y[1] + (of * s.v_head + j) * s.y[2], ROUND(Y, scale * sum));
    }
  }
  for (long i = 0; i < s.head; i++)
    SAVE(Z, state, state0 + n * s.state[0] + head * s.state[1] + i * s.state[2] + j * s.state[3], ROUND(Z, column[i]));
}
#endif
