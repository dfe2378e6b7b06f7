/* Steps of optimisers: a work item per element. Each optimiser is compiled by its name, -D STEP_<name>.
 * families/loss_optimizer.c launches it. */
__kernel void optimize(nd4c_walk given, nd4c_walk next, __global const STORAGE(A) *x, long x0,
                       __global const STORAGE(B) *gradient, long gradient0, __global const STORAGE(C) *v, long v0,
                       __global const STORAGE(D) *h, long h0, __global const STORAGE(E) *rates, long rates0,
                       __global const STORAGE(F) *steps, long steps0, __global STORAGE(Y) *next_x, long next_x0,
                       __global STORAGE(Y) *next_v, long next_v0, __global STORAGE(Y) *next_h, long next_h0, REAL alpha,
                       REAL beta, REAL decay, REAL epsilon, REAL extra) {
  ITEM(i, given.size)
  REAL rate = R(LOAD(E, rates, rates0)), step = R(0), value = R(LOAD(A, x, x0 + nd4c_walk_place(&given, 0, i)));
  REAL slope = R(LOAD(B, gradient, gradient0 + nd4c_walk_place(&given, 1, i))), vs = R(0), hs = R(0), one = R(1);
#ifdef HAS_STEP
  step = R_OF(TYPE_F, LOAD(F, steps, steps0));
#endif
#ifdef HAS_V
  vs = R(LOAD(C, v, v0 + nd4c_walk_place(&given, 2, i)));
#endif
#ifdef HAS_H
  hs = R(LOAD(D, h, h0 + nd4c_walk_place(&given, 3, i)));
#endif
#ifndef STEP_adamw
  slope = r_add(slope, r_mul(decay, value));
#endif
#if defined(STEP_momentum) || defined(STEP_nesterov)
  vs = r_add(r_mul(alpha, vs), r_mul(r_less(R(0), step) ? beta : one, slope));
#ifdef STEP_nesterov
  value = r_sub(value, r_mul(rate, r_add(slope, r_mul(alpha, vs))));
#else
  value = r_sub(value, r_mul(rate, vs));
#endif
#elif defined(STEP_adagrad)
  hs = r_add(hs, r_mul(slope, slope));
  REAL slowed = r_mul(r_div(rate, r_add(one, r_mul(step, extra))), slope);
  value = r_sub(value, r_div(slowed, r_add(r_sqrt(hs), epsilon)));
#elif defined(STEP_rmsprop)
  hs = r_add(r_mul(alpha, hs), r_mul(r_mul(r_sub(one, alpha), slope), slope));
  value = r_sub(value, r_div(r_mul(rate, slope), r_add(r_sqrt(hs), epsilon)));
#elif defined(STEP_adam) || defined(STEP_adamw)
  vs = r_add(r_mul(alpha, vs), r_mul(r_sub(one, alpha), slope));
  hs = r_add(r_mul(beta, hs), r_mul(r_mul(r_sub(one, beta), slope), slope));
  REAL m = vs, n = hs;
#ifdef STEP_adamw
  m = r_div(m, r_sub(one, r_pow(alpha, step)));
  n = r_div(n, r_sub(one, r_pow(beta, step)));
  value = r_sub(value, r_mul(r_mul(rate, decay), value));
#else
  if (r_less(R(0), step))
    rate = r_div(r_mul(rate, r_sqrt(r_sub(one, r_pow(beta, step)))), r_sub(one, r_pow(alpha, step)));
#endif
  value = r_mul(r_sub(one, extra), r_sub(value, r_div(r_mul(rate, m), r_add(r_sqrt(n), epsilon))));
#else
  value = r_sub(value, r_mul(rate, slope));
#endif
  SAVE(Y, next_x, next_x0 + nd4c_walk_place(&next, 0, i), R_ROUND(Y, value));
#ifdef HAS_V
  SAVE(Y, next_v, next_v0 + nd4c_walk_place(&next, 1, i), R_ROUND(Y, vs));
#endif
#ifdef HAS_H
  SAVE(Y, next_h, next_h0 + nd4c_walk_place(&next, 2, i), R_ROUND(Y, hs));
#endif
}
