/* Normalisation by given statistics, and biases by channel: a work item per element. Each op is compiled by its name,
 * -D OP_<op>. families/normalization.c launches it. */

#if defined(OP_batch_norm)
/* Operand 2 of the walk is the channel's number. */
__kernel void batch_norm(nd4c_walk walk, __global const STORAGE(A) *x, long x0, __global STORAGE(Y) *y, long y0,
                         __global const STORAGE(B) *scale, long scale0, long scale_step,
                         __global const STORAGE(C) *bias, long bias0, long bias_step, __global const STORAGE(D) *mean,
                         long mean0, long mean_step, __global const STORAGE(E) *variance, long variance0,
                         long variance_step, REAL epsilon) {
  ITEM(i, walk.size)
  long c = nd4c_walk_place(&walk, 2, i);
  REAL value = (REAL)LOAD(A, x, x0 + nd4c_walk_place(&walk, 0, i));
  value = (value - (REAL)LOAD(D, mean, mean0 + c * mean_step)) /
          sqrt((REAL)LOAD(E, variance, variance0 + c * variance_step) + epsilon);
  value = value * (REAL)LOAD(B, scale, scale0 + c * scale_step) + (REAL)LOAD(C, bias, bias0 + c * bias_step);
  SAVE(Y, y, y0 + nd4c_walk_place(&walk, 1, i), ROUND(Y, value));
}

#elif defined(OP_lrn)
__kernel void lrn(nd4c_walk walk, __global const STORAGE(A) *x, long x0, __global STORAGE(Y) *y, long y0, long channels,
                  long channel_step, long size, REAL alpha, REAL beta, REAL bias) {
  ITEM(i, walk.size)
  long channel = nd4c_walk_place(&walk, 2, i), at = x0 + nd4c_walk_place(&walk, 0, i);
  long first = channel - (size - 1) / 2, last = channel + size / 2;
  REAL squares = 0;
  for (long c = first > 0 ? first : 0; c <= last && c < channels; c++) {
    REAL value = (REAL)LOAD(A, x, at + (c - channel) * channel_step);
    squares += value * value;
  }
  REAL value = (REAL)LOAD(A, x, at) / pow(bias + alpha / (REAL)size * squares, beta);
  SAVE(Y, y, y0 + nd4c_walk_place(&walk, 1, i), ROUND(Y, value));
}

#elif defined(OP_bias_add)
__kernel void bias_add(nd4c_walk walk, __global const STORAGE(A) *x, long x0, __global STORAGE(Y) *y, long y0,
                       __global const STORAGE(B) *bias, long bias0) {
  ITEM(i, walk.size)
  REAL value = (REAL)LOAD(A, x, x0 + nd4c_walk_place(&walk, 0, i)) + (REAL)LOAD(B, bias, bias0 + nd4c_walk_place(&walk, 2, i));
  SAVE(Y, y, y0 + nd4c_walk_place(&walk, 1, i), ROUND(Y, activate(value)));
}
#endif
