/* Losses: of elements, of rows (a distribution, a class), and their sum or mean. Behind real.cl and share.cl.
 * families/loss.c launches these.
 *
 * -D ELEMENT, LOSS_<op>: the loss of an element. Without: of rows; SOFTMAX: x goes through log_softmax first, CLASSES:
 * the target is a class. */

static inline REAL times_log(REAL factor, REAL x) {
  return r_is(factor, 0) ? R(0) : r_mul(factor, r_log(x));
}

#ifdef ELEMENT
static inline REAL loss_of(REAL x, REAL target, REAL parameter) {
  REAL d = r_abs(r_sub(x, target)), one = R(1), two = R(2);
#if defined(LOSS_mse_loss)
  return r_mul(d, d);
#elif defined(LOSS_huber_loss)
  return r_at_most(d, parameter) ? r_div(r_mul(d, d), two) : r_mul(parameter, r_sub(d, r_div(parameter, two)));
#elif defined(LOSS_smooth_l1_loss)
  return r_less(d, parameter) ? r_div(r_mul(d, d), r_mul(two, parameter)) : r_sub(d, r_div(parameter, two));
#elif defined(LOSS_hinge_loss)
  d = r_sub(one, r_mul(x, target));
  return r_less(d, R(0)) ? R(0) : d;
#elif defined(LOSS_log_loss)
  REAL other = times_log(r_sub(one, target), r_add(r_sub(one, x), parameter));
  return r_sub(r_neg(times_log(target, r_add(x, parameter))), other);
#elif defined(LOSS_sigmoid_cross_entropy)
  REAL smooth = r_add(r_mul(target, r_sub(one, parameter)), r_div(parameter, two));
  if (r_is(r_abs(x), INFINITY)) { /* the limit, where the sum would be NaN */
    REAL share = r_less(x, R(0)) ? smooth : r_sub(one, smooth);
    return r_is(share, 0) ? R(0) : r_less(share, R(0)) ? R(-INFINITY) : r_isnan(share) ? share : R(INFINITY);
  }
  REAL positive = r_less(R(0), x) || r_isnan(x) ? x : R(0);
  return r_add(r_sub(positive, r_mul(x, smooth)), r_log1p(r_exp(r_neg(r_abs(x)))));
#elif defined(LOSS_kl_divergence)
  return r_is(parameter, 0) ? r_sub(times_log(target, target), r_mul(target, x)) : r_mul(r_exp(target), r_sub(target, x));
#elif defined(LOSS_poisson_nll_loss)
  return r_sub(r_exp(x), r_mul(target, x));
#else
  return d;
#endif
}

/* Operands of the walk: x, target, weights, y. */
#define ELEMENT_ARGUMENTS                                                                                          \
  nd4c_walk walk, __global const STORAGE(A) *x, long x0, __global const STORAGE(B) *target, long target0,            \
      __global const STORAGE(C) *weights, long weights0, int has_weights, REAL parameter

static inline REAL element(const nd4c_walk *walk, __global const STORAGE(A) *x, long x0, __global const STORAGE(B) *target,
                    long target0, __global const STORAGE(C) *weights, long weights0, int has_weights, REAL parameter,
                    long i, REAL *share) {
  *share = has_weights ? R(LOAD(C, weights, weights0 + nd4c_walk_place(walk, 2, i))) : R(1);
  return r_mul(*share, loss_of(R(LOAD(A, x, x0 + nd4c_walk_place(walk, 0, i))),
                               R(LOAD(B, target, target0 + nd4c_walk_place(walk, 1, i))), parameter));
}

__kernel void losses(ELEMENT_ARGUMENTS, __global STORAGE(Y) *y, long y0) {
  long i = get_global_id(0);
  REAL share;
  if (i >= walk.size) return;
  REAL loss = element(&walk, x, x0, target, target0, weights, weights0, has_weights, parameter, i, &share);
  SAVE(Y, y, y0 + nd4c_walk_place(&walk, 3, i), R_ROUND(Y, loss));
}

/* Sums of losses and of weights: a pair for each group. */
__kernel void loss_sums(ELEMENT_ARGUMENTS, __global REAL *sums, __local REAL *shared) {
  int lane = get_local_id(0), lanes = get_local_size(0);
  REAL loss = R(0), weight = R(0), share;
  for (long i = get_global_id(0); i < walk.size; i += get_global_size(0)) {
    loss = r_add(loss, element(&walk, x, x0, target, target0, weights, weights0, has_weights, parameter, i, &share));
    weight = r_add(weight, share);
  }
  loss = share_sum(loss, lane, lanes, 1, shared);
  weight = share_sum(weight, lane, lanes, 1, shared);
  if (lane == 0) {
    sums[get_group_id(0)] = loss;
    sums[get_num_groups(0) + get_group_id(0)] = weight;
  }
}
#else

/* The loss of each row and its weight into the scratch buffer: losses, then weights. Operands of `kept`: x, target,
 * weights, log probabilities; of `inner`: x, target, -, log probabilities. A group a row. */
__kernel void row_losses(nd4c_walk kept, nd4c_walk inner, __global const STORAGE(A) *x, long x0,
                         __global const STORAGE(B) *target, long target0, __global const STORAGE(C) *weights,
                         long weights0, long weights_step, int has_weights, __global STORAGE(Z) *logs, long logs0,
                         long class_step, long ignored, __global REAL *rows, __local REAL *shared,
                         __global int *fault) {
  int lane = get_local_id(0), lanes = get_local_size(0);
  long row = get_group_id(0);
  REAL largest = R(-INFINITY), below = R(0), loss = R(0), share = R(1);
  x0 += nd4c_walk_place(&kept, 0, row);
  target0 += nd4c_walk_place(&kept, 1, row);
#ifdef SOFTMAX
  for (long i = lane; i < inner.size; i += lanes) {
    REAL value = R(LOAD(A, x, x0 + nd4c_walk_place(&inner, 0, i)));
    largest = r_isnan(largest) || r_at_most(value, largest) ? largest : value;
  }
  largest = share_largest(largest, lane, lanes, 1, shared);
  for (long i = lane; i < inner.size; i += lanes)
    below = r_add(below, r_exp(r_sub(R(LOAD(A, x, x0 + nd4c_walk_place(&inner, 0, i))), largest)));
  below = r_log(share_sum(below, lane, lanes, 1, shared));
#define LOG_AT(place) r_sub(r_sub(R(LOAD(A, x, (place))), largest), below)
#else
#define LOG_AT(place) R(LOAD(A, x, (place)))
#endif
#ifdef CLASSES
#ifdef SOFTMAX
  logs0 += nd4c_walk_place(&kept, 3, row);
  for (long i = lane; i < inner.size; i += lanes)
    SAVE(Z, logs, logs0 + nd4c_walk_place(&inner, 3, i), R_ROUND(Z, LOG_AT(x0 + nd4c_walk_place(&inner, 0, i))));
#endif
  long class = (long)LOAD(B, target, target0);
  share = R(0);
  if (class != ignored && (class < 0 || class >= inner.size)) {
    if (lane == 0) nd4c_fault_index(fault, class, inner.size);
  } else if (class != ignored) {
    share = has_weights ? R(LOAD(C, weights, weights0 + class * weights_step)) : R(1);
    loss = r_mul(r_neg(share), LOG_AT(x0 + class * class_step));
  }
#else
  for (long i = lane; i < inner.size; i += lanes) {
    REAL wanted = R(LOAD(B, target, target0 + nd4c_walk_place(&inner, 1, i)));
    REAL value = LOG_AT(x0 + nd4c_walk_place(&inner, 0, i));
#ifdef SOFTMAX
    loss = r_sub(loss, r_is(wanted, 0) ? R(0) : r_mul(wanted, value));
#else
    loss = r_sub(loss, r_mul(wanted, value));
#endif
  }
  loss = share_sum(loss, lane, lanes, 1, shared);
#ifndef SOFTMAX
  loss = r_add(loss, R(1));
#endif
  if (has_weights) {
    share = R(LOAD(C, weights, weights0 + nd4c_walk_place(&kept, 2, row)));
    loss = r_mul(loss, share);
  }
#endif
  if (lane == 0) {
    rows[row] = loss;
    rows[kept.size + row] = share;
  }
}

__kernel void loss_rows_store(nd4c_walk walk, __global const REAL *rows, __global STORAGE(Y) *y, long y0) {
  ITEM(i, walk.size)
  SAVE(Y, y, y0 + nd4c_walk_place(&walk, 0, i), R_ROUND(Y, rows[i]));
}
#endif

/* One group: the sum of `count` losses, divided by what their mean asks for: 0 nothing, 1 `of`, 2 the sum of weights. */
__kernel void loss_total(__global const REAL *sums, long count, long of, int division, __global STORAGE(Y) *y, long y0,
                         __local REAL *shared) {
  int lane = get_local_id(0), lanes = get_local_size(0);
  REAL loss = R(0), weight = R(0);
  for (long i = lane; i < count; i += lanes) {
    loss = r_add(loss, sums[i]);
    weight = r_add(weight, sums[count + i]);
  }
  loss = share_sum(loss, lane, lanes, 1, shared);
  weight = share_sum(weight, lane, lanes, 1, shared);
  if (lane == 0) SAVE(Y, y, y0, R_ROUND(Y, division == 0 ? loss : r_div(loss, division == 1 ? r_long(of) : weight)));
}
