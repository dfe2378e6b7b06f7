/* Convolutions. ACC: the type that products are summed in. Of DIRECT, PAIRS: sums are pairs of floats; OF_PAIRS,
 * TO_PAIRS: x lies, y is to lie in memory so. DEFORMABLE, CAUSAL: behind real.cl. families/window_conv.c launches
 * these. */

#ifdef TILES
/* Implicit products of matrices, w [outputs of a group, channels * taps] times the cells that taps read, as in gemm.cl:
 * a group computes a square tile, a work item 4 x 4 elements of it. Its columns are cells of one batch and group. */
#define TILE (4 * SIDE)
#define DEEP 16

__kernel void conv_tiles(sweep s, __global const STORAGE(A) *x, long x0, __global const STORAGE(B) *w, long w0,
                         __global STORAGE(Y) *y, long y0, __global const STORAGE(C) *bias, long bias0, long bias_step,
                         __global const STORAGE(D) *addend, long addend0, int has_bias, int has_addend) {
  __local ACC rows[DEEP][TILE + 1], columns[DEEP][TILE + 1];
  int me = get_local_id(0), right = me % SIDE, below = me / SIDE;
  long each = s.outputs / s.groups, inputs = s.channels / s.groups, cells = s.y[0] * s.y[1] * s.y[2];
  long across = (cells + TILE - 1) / TILE, down = (each + TILE - 1) / TILE, tile = get_group_id(0);
  long n0 = tile % across * TILE, m0 = tile / across % down * TILE, batch = tile / across / down;
  long n = batch / s.groups, group = batch % s.groups;
  long taps = s.kernel_[0] * s.kernel_[1] * s.kernel_[2], length = inputs * taps;
  ACC sums[4][4];
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) sums[i][j] = 0;
  x0 += n * s.x_strides[0] + group * inputs * s.x_strides[1];
  w0 += group * each * s.w_strides[0];
  for (long k0 = 0; k0 < length; k0 += DEEP) {
    for (int i = me; i < DEEP * TILE; i += SIDE * SIDE) {
      int row = i / DEEP, deep = i % DEEP;
      long k = k0 + deep, tap = k % taps;
      ACC value = 0;
      if (m0 + row < each && k < length)
        value = (ACC)LOAD(B, w, w0 + (m0 + row) * s.w_strides[0] + k / taps * s.w_strides[1] +
                                   tap / (s.kernel_[1] * s.kernel_[2]) * s.w_strides[2] +
                                   tap / s.kernel_[2] % s.kernel_[1] * s.w_strides[3] + tap % s.kernel_[2] * s.w_strides[4]);
      rows[deep][row] = value;
    }
    for (int i = me; i < DEEP * TILE; i += SIDE * SIDE) {
      int column = i % TILE, deep = i / TILE;
      long k = k0 + deep, tap = k % taps, cell = n0 + column;
      long q0 = cell / (s.y[1] * s.y[2]) * s.stride[0] - s.pad[0] + tap / (s.kernel_[1] * s.kernel_[2]) * s.dilation[0];
      long q1 = cell / s.y[2] % s.y[1] * s.stride[1] - s.pad[1] + tap / s.kernel_[2] % s.kernel_[1] * s.dilation[1];
      long q2 = cell % s.y[2] * s.stride[2] - s.pad[2] + tap % s.kernel_[2] * s.dilation[2];
      bool inside = cell < cells && k < length && q0 >= 0 && q0 < s.x[0] && q1 >= 0 && q1 < s.x[1] && q2 >= 0 &&
                    q2 < s.x[2];
      ACC value = 0;
      if (inside)
        value = (ACC)LOAD(A, x, x0 + k / taps * s.x_strides[1] + q0 * s.x_strides[2] + q1 * s.x_strides[3] +
                                   q2 * s.x_strides[4]);
      columns[deep][column] = value;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int depth = length - k0 < DEEP ? (int)(length - k0) : DEEP;
    for (int deep = 0; deep < depth; deep++) {
      ACC left[4], up[4];
      for (int i = 0; i < 4; i++) {
        left[i] = rows[deep][below + i * SIDE];
        up[i] = columns[deep][right + i * SIDE];
      }
      for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) sums[i][j] += left[i] * up[j];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 4; j++) {
      long o = m0 + below + i * SIDE, cell = n0 + right + j * SIDE;
      if (o >= each || cell >= cells) continue;
      o += group * each;
      long at[3] = {cell / (s.y[1] * s.y[2]), cell / s.y[2] % s.y[1], cell % s.y[2]};
      REAL value = (REAL)sums[i][j];
      if (has_bias) value += (REAL)LOAD(C, bias, bias0 + o * bias_step);
      if (has_addend) value += (REAL)LOAD(D, addend, addend0 + at_strides(s.z_strides, n, o, at));
      SAVE(Y, y, y0 + at_strides(s.y_strides, n, o, at), ROUND(Y, activate(value)));
    }
  }
}
#endif

#ifdef DIRECT
#if defined(OF_PAIRS)
#define TAKE(sum, from, weight) r_take_scaled(sum, ((__global const REAL *)x)[from], LOAD(B, w, weight))
#elif defined(PAIRS)
#define TAKE(sum, from, weight) r_take_product(sum, LOAD(A, x, from), LOAD(B, w, weight))
#else
#define TAKE(sum, from, weight) ((sum) + (ACC)LOAD(A, x, from) * (ACC)LOAD(B, w, weight))
#endif
/* A work item an output: where a group has few outputs, depthwise above all. */
__kernel void conv_direct(sweep s, __global const STORAGE(A) *x, long x0, __global const STORAGE(B) *w, long w0,
                          __global STORAGE(Y) *y, long y0, __global const STORAGE(C) *bias, long bias0, long bias_step,
                          __global const STORAGE(D) *addend, long addend0, int has_bias, int has_addend) {
  long i = get_global_id(0), n, o, at[3], inputs = s.channels / s.groups;
  if (i >= output_count(&s)) return;
  output_place(&s, i, &n, &o, at);
  x0 += n * s.x_strides[0] + o / (s.outputs / s.groups) * inputs * s.x_strides[1];
  w0 += o * s.w_strides[0];
  ACC sum = (ACC)(0);
  for (long k0 = 0; k0 < s.kernel_[0]; k0++) {
    long q0 = at[0] * s.stride[0] - s.pad[0] + k0 * s.dilation[0];
    if (q0 < 0 || q0 >= s.x[0]) continue;
    for (long k1 = 0; k1 < s.kernel_[1]; k1++) {
      long q1 = at[1] * s.stride[1] - s.pad[1] + k1 * s.dilation[1];
      if (q1 < 0 || q1 >= s.x[1]) continue;
      for (long k2 = 0; k2 < s.kernel_[2]; k2++) {
        long q2 = at[2] * s.stride[2] - s.pad[2] + k2 * s.dilation[2];
        if (q2 < 0 || q2 >= s.x[2]) continue;
        long from = x0 + q0 * s.x_strides[2] + q1 * s.x_strides[3] + q2 * s.x_strides[4];
        long weight = w0 + k0 * s.w_strides[2] + k1 * s.w_strides[3] + k2 * s.w_strides[4];
        for (long c = 0; c < inputs; c++)
          sum = TAKE(sum, from + c * s.x_strides[1], weight + c * s.w_strides[1]);
      }
    }
  }
#ifdef PAIRS
  REAL value = r_sum(sum);
  if (has_bias) value = r_add(value, R(LOAD(C, bias, bias0 + o * bias_step)));
#ifdef TO_PAIRS
  ((__global REAL *)y)[y0 + at_strides(s.y_strides, n, o, at)] = value;
#else
  SAVE(Y, y, y0 + at_strides(s.y_strides, n, o, at), R_ROUND(Y, value));
#endif
#else
  REAL value = (REAL)sum;
  if (has_bias) value += (REAL)LOAD(C, bias, bias0 + o * bias_step);
  if (has_addend) value += (REAL)LOAD(D, addend, addend0 + at_strides(s.z_strides, n, o, at));
  SAVE(Y, y, y0 + at_strides(s.y_strides, n, o, at), ROUND(Y, activate(value)));
#endif
}
#endif

#ifdef TRANSPOSED
/* Place of x whose tap k reaches output place `at`; -1: none. */
static inline long reached(const sweep *s, int axis, long at, long k) {
  long shifted = at + s->pad[axis] - k * s->dilation[axis];
  bool reaches = shifted >= 0 && shifted % s->stride[axis] == 0 && shifted / s->stride[axis] < s->x[axis];
  return reaches ? shifted / s->stride[axis] : -1;
}

/* w [channels, outputs / groups, ...]. */
__kernel void conv_transposed(sweep s, __global const STORAGE(A) *x, long x0, __global const STORAGE(B) *w, long w0,
                              __global STORAGE(Y) *y, long y0, __global const STORAGE(C) *bias, long bias0,
                              long bias_step, int has_bias) {
  long i = get_global_id(0), n, o, at[3], inputs = s.channels / s.groups, each = s.outputs / s.groups;
  if (i >= output_count(&s)) return;
  output_place(&s, i, &n, &o, at);
  x0 += n * s.x_strides[0] + o / each * inputs * s.x_strides[1];
  w0 += o / each * inputs * s.w_strides[0] + o % each * s.w_strides[1];
  REAL sum = has_bias ? (REAL)LOAD(C, bias, bias0 + o * bias_step) : (REAL)0;
  for (long k0 = 0; k0 < s.kernel_[0]; k0++) {
    long q0 = reached(&s, 0, at[0], k0);
    for (long k1 = 0; k1 < s.kernel_[1] && q0 >= 0; k1++) {
      long q1 = reached(&s, 1, at[1], k1);
      for (long k2 = 0; k2 < s.kernel_[2] && q1 >= 0; k2++) {
        long q2 = reached(&s, 2, at[2], k2);
        if (q2 < 0) continue;
        long from = x0 + q0 * s.x_strides[2] + q1 * s.x_strides[3] + q2 * s.x_strides[4];
        long weight = w0 + k0 * s.w_strides[2] + k1 * s.w_strides[3] + k2 * s.w_strides[4];
        for (long c = 0; c < inputs; c++)
          sum += (REAL)LOAD(A, x, from + c * s.x_strides[1]) * (REAL)LOAD(B, w, weight + c * s.w_strides[0]);
      }
    }
  }
  SAVE(Y, y, y0 + at_strides(s.y_strides, n, o, at), ROUND(Y, sum));
}
#endif

#ifdef DEFORMABLE
/* What x is between cells: linear, 0 outside. */
static inline REAL sample(const sweep *s, __global const STORAGE(A) *x, long x0, const REAL *place) {
  REAL sum = R(0);
  for (int corner = 0; corner < 8; corner++) {
    REAL weight = R(1);
    long from = x0;
    for (int axis = 0; axis < 3; axis++) {
      int side = (corner >> (2 - axis)) & 1;
      REAL lower = r_floor(place[axis]), cell = r_add(lower, R(side)), part = r_sub(place[axis], lower);
      bool inside = r_at_most(R(0), cell) && r_less(cell, r_long(s->x[axis]));
      weight = r_mul(weight, !inside ? R(0) : side == 0 ? r_sub(R(1), part) : part);
      from += inside ? r_whole(cell) * s->x_strides[2 + axis] : 0;
    }
    if (!r_is(weight, 0)) sum = r_add(sum, r_mul(weight, R(LOAD(A, x, from))));
  }
  return sum;
}

/* z_strides: of the offsets [n, fields * taps * axes, ...]; mask_strides: of the mask [n, fields * taps, ...]. */
__kernel void conv_deformable(sweep s, __global const STORAGE(A) *x, long x0, __global const STORAGE(B) *w, long w0,
                              __global STORAGE(Y) *y, long y0, __global const STORAGE(C) *bias, long bias0,
                              long bias_step, int has_bias, __global const STORAGE(D) *offset, long offset0,
                              __global const STORAGE(E) *mask, long mask0, int has_mask, long mask_n, long mask_c,
                              long mask_0, long mask_1, long mask_2, long offset_groups, int spatial) {
  long i = get_global_id(0), n, o, at[3], inputs = s.channels / s.groups;
  if (i >= output_count(&s)) return;
  output_place(&s, i, &n, &o, at);
  long taps = s.kernel_[0] * s.kernel_[1] * s.kernel_[2], each = s.channels / offset_groups;
  REAL sum = R(0);
  for (long c = 0; c < inputs; c++) {
    long channel = o / (s.outputs / s.groups) * inputs + c, field = channel / each;
    for (long tap = 0; tap < taps; tap++) {
      long k[3] = {tap / (s.kernel_[1] * s.kernel_[2]), tap / s.kernel_[2] % s.kernel_[1], tap % s.kernel_[2]};
      REAL place[3];
      for (int axis = 0; axis < 3; axis++) {
        int own = axis - (3 - spatial);
        place[axis] = r_long(at[axis] * s.stride[axis] - s.pad[axis] + k[axis] * s.dilation[axis]);
        if (own >= 0) {
          long from = offset0 + at_strides(s.z_strides, n, (field * taps + tap) * spatial + own, at);
          place[axis] = r_add(place[axis], R(LOAD(D, offset, from)));
        }
      }
      REAL value = sample(&s, x, x0 + n * s.x_strides[0] + channel * s.x_strides[1], place);
      if (has_mask)
        value = r_mul(value, R(LOAD(E, mask, mask0 + n * mask_n + (field * taps + tap) * mask_c + at[0] * mask_0 +
                                                at[1] * mask_1 + at[2] * mask_2)));
      sum = r_add(sum, r_mul(value, R(LOAD(B, w, w0 + o * s.w_strides[0] + c * s.w_strides[1] + k[0] * s.w_strides[2] +
                                                    k[1] * s.w_strides[3] + k[2] * s.w_strides[4]))));
    }
  }
  if (has_bias) sum = r_add(sum, R(LOAD(C, bias, bias0 + o * bias_step)));
  SAVE(Y, y, y0 + at_strides(s.y_strides, n, o, at), R_ROUND(Y, sum));
}
#endif

#ifdef CAUSAL
/* Cell t of past and x together; past begins at 0. */
static inline REAL stream_at(__global const STORAGE(A) *x, long x0, long x_step, __global const STORAGE(D) *past, long past0,
                      long past_step, int has_past, long before, long t) {
  if (t >= before) return R(LOAD(A, x, x0 + (t - before) * x_step));
  return has_past ? R(LOAD(D, past, past0 + t * past_step)) : R(0);
}

/* Outputs [n, c, t], then the cells that stay for the next call, [n, c, taps - 1]. */
__kernel void conv_causal(long batch, long channels, long length, long taps, __global const STORAGE(A) *x, long x0,
                          long x_n, long x_c, long x_t, __global const STORAGE(B) *w, long w0, long w_c, long w_t,
                          __global const STORAGE(C) *bias, long bias0, long bias_step, int has_bias,
                          __global const STORAGE(D) *past, long past0, long past_n, long past_c, long past_t,
                          int has_past, int silu, __global STORAGE(Y) *y, long y0, long y_n, long y_c, long y_t,
                          __global STORAGE(Z) *state, long state0, long state_n, long state_c, long state_t) {
  long i = get_global_id(0), each = length + taps - 1;
  if (i >= batch * channels * each) return;
  long t = i % each, c = i / each % channels, n = i / each / channels;
  x0 += n * x_n + c * x_c;
  past0 += n * past_n + c * past_c;
  if (t >= length) {
    REAL value = stream_at(x, x0, x_t, past, past0, past_t, has_past, taps - 1, t);
    SAVE(Z, state, state0 + n * state_n + c * state_c + (t - length) * state_t, R_ROUND(Z, value));
    return;
  }
  REAL sum = has_bias ? R(LOAD(C, bias, bias0 + c * bias_step)) : R(0);
  for (long k = 0; k < taps; k++)
    sum = r_add(sum, r_mul(R(LOAD(B, w, w0 + c * w_c + k * w_t)),
                           stream_at(x, x0, x_t, past, past0, past_t, has_past, taps - 1, t + k)));
  SAVE(Y, y, y0 + n * y_n + c * y_c + t * y_t, R_ROUND(Y, silu ? r_div(sum, r_add(R(1), r_exp(r_neg(sum)))) : sum));
}
#endif
