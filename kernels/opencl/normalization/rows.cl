/* Rows that are gathered and then written: softmax and normalisations. A row is one place of the kept axes; `lanes`
 * work items (a power of two) share it, as in reduction.cl. support/rows.c launches it for families/normalization.c.
 *
 * Behind real.cl and share.cl. -D ROW_<what>. EIGHT: eight REALs, CAST_EIGHT: to them (see below). Operands of `inner`:
 * x, y, scale, bias; of `kept`: x, y, and scale and bias or, with STATISTICS, the two results of a row. OF_PAIRS: x
 * lies in memory as pairs of floats. */

#define SUM(x) share_sum((x), lane, lanes, step, shared)
#ifdef OF_PAIRS
#define X(i) ((__global const REAL *)x)[x0 + nd4c_walk_place(&inner, 0, i)]
#define ADD_X(sum, i) r_add(sum, X(i))
#define ADD_SQUARE(sum, i) r_add(sum, r_mul(X(i), X(i)))
#else
#define X_AT(i) LOAD(A, x, x0 + nd4c_walk_place(&inner, 0, i))
#define X(i) R(X_AT(i))
#define ADD_X(sum, i) r_take(sum, X_AT(i))
#define ADD_SQUARE(sum, i) r_take_product(sum, X_AT(i), X_AT(i))
#endif
/* What is raised to powers, in units of a power of two near the row's largest, so that no power is too large or too
 * small. */
#ifdef PAIRS
#define WHOLE_OF(number) ((number).x)
#else
#define WHOLE_OF(number) (number)
#endif
#define IN_UNITS(x, unit) ldexp(x, -(unit))
static inline int unit_of(REAL largest) {
  return WHOLE_OF(largest) > 0 && isfinite(WHOLE_OF(largest)) ? ilogb(WHOLE_OF(largest)) : 0;
}
#define SEE_SIZE(largest, i) (r_isnan(largest) || r_at_most(r_abs(X(i)), largest) ? largest : r_abs(X(i)))
#define SET_UNIT(unit)                                                                           \
  {                                                                                              \
    REAL largest = R(0);                                                                         \
    for (long i = lane; i < length; i += lanes) largest = SEE_SIZE(largest, i);                  \
    unit = unit_of(share_largest(largest, lane, lanes, step, shared));                           \
  }
#define Y(i, value) SAVE(Y, y, y0 + nd4c_walk_place(&inner, 1, i), R_ROUND(Y, value))

#ifdef EIGHT
/* softmax and log_softmax of a dense row of float32, by one work item, eight elements at a time: processors have vectors,
 * and compilers do not find them in the loops of many items. */
#define EIGHT_OF(i) CAST_EIGHT(vload8(0, x + (i)))

static inline REAL larger(REAL a, REAL b) {
  return isnan(a) || b <= a ? a : b;
}

static inline REAL add_eight(EIGHT v) {
  return ((v.s0 + v.s1) + (v.s2 + v.s3)) + ((v.s4 + v.s5) + (v.s6 + v.s7));
}

static inline void eight(__global const float *x, __global float *y, long length) {
  long whole = length & ~7L;
  EIGHT most = (REAL)-INFINITY, sums = (REAL)0;
  for (long i = 0; i < whole; i += 8) {
    EIGHT value = EIGHT_OF(i);
    most = select(value, most, isnan(most) | (value <= most));
  }
  REAL parts[8], largest = -INFINITY;
  vstore8(most, 0, parts);
  for (int k = 0; k < 8; k++) largest = larger(largest, parts[k]);
  for (long i = whole; i < length; i++) largest = larger(largest, (REAL)x[i]);
  for (long i = 0; i < whole; i += 8) sums += exp(EIGHT_OF(i) - largest);
  REAL sum = add_eight(sums);
  for (long i = whole; i < length; i++) sum += exp((REAL)x[i] - largest);
#ifdef ROW_softmax
  for (long i = 0; i < whole; i += 8) vstore8(convert_float8(exp(EIGHT_OF(i) - largest) / sum), 0, y + i);
  for (long i = whole; i < length; i++) y[i] = (float)(exp((REAL)x[i] - largest) / sum);
#else
  sum = log(sum);
  for (long i = 0; i < whole; i += 8) vstore8(convert_float8(EIGHT_OF(i) - largest - sum), 0, y + i);
  for (long i = whole; i < length; i++) y[i] = (float)((REAL)x[i] - largest - sum);
#endif
}
#endif

__kernel void rows(nd4c_walk kept, nd4c_walk inner, __global const STORAGE(A) *x, long x0, __global STORAGE(Y) *y,
                   long y0, __global const STORAGE(B) *scale, long scale0, __global const STORAGE(C) *bias, long bias0,
                   int has_scale, int has_bias, REAL parameter, int lanes, int rows_next, __local REAL *shared
#ifdef STATISTICS
                   ,
                   __global STORAGE(D) *first, long first0, __global STORAGE(D) *second, long second0
#elif defined(RUNNING)
                   ,
                   __global const STORAGE(E) *old_mean, long mean0, long mean_step,
                   __global const STORAGE(E) *old_variance, long variance0, long variance_step,
                   __global STORAGE(D) *first, long first0, long first_step, __global STORAGE(D) *second, long second0,
                   long second_step, REAL momentum
#elif defined(ROW_clip_by_norm) || defined(ROW_lp_normalize)
                   ,
                   REAL limit
#endif
) {
  int me = get_local_id(0), rows = (int)get_local_size(0) / lanes, step = rows_next ? rows : 1;
  int lane = rows_next ? me / rows : me % lanes;
  long row = (long)get_group_id(0) * rows + (rows_next ? me % rows : me / lanes), length = row < kept.size ? inner.size : 0;
  if (row < kept.size) {
    x0 += nd4c_walk_place(&kept, 0, row);
    y0 += nd4c_walk_place(&kept, 1, row);
#ifdef STATISTICS
    first0 += nd4c_walk_place(&kept, 2, row);
    second0 += nd4c_walk_place(&kept, 3, row);
#else
    scale0 += nd4c_walk_place(&kept, 2, row);
    bias0 += nd4c_walk_place(&kept, 3, row);
#endif
  }
#if defined(EIGHT)
  if (row < kept.size) eight(x + x0, y + y0, length);
#elif defined(ROW_softmax) || defined(ROW_log_softmax)
  REAL largest = -INFINITY, sum = 0;
  for (long i = lane; i < length; i += lanes) {
    REAL value = X(i);
    largest = isnan(largest) || value <= largest ? largest : value;
  }
  largest = share_largest(largest, lane, lanes, step, shared);
  for (long i = lane; i < length; i += lanes) sum += exp(X(i) - largest);
  sum = SUM(sum);
#ifdef ROW_softmax
  for (long i = lane; i < length; i += lanes) Y(i, exp(X(i) - largest) / sum);
#else
  sum = log(sum);
  for (long i = lane; i < length; i += lanes) Y(i, X(i) - largest - sum);
#endif
#elif defined(ROW_hardmax)
  REAL largest = -INFINITY, place = (REAL)inner.size;
  for (long i = lane; i < length; i += lanes) {
    REAL value = X(i);
    largest = isnan(largest) || value <= largest ? largest : value;
  }
  largest = share_largest(largest, lane, lanes, step, shared);
  /* The first that is as large; NaN is found as such. */
  for (long i = lane; i < length; i += lanes) {
    REAL value = X(i);
    bool best = isnan(largest) ? isnan(value) : value == largest;
    place = best && (REAL)i < place ? (REAL)i : place;
  }
  place = -share_largest(-place, lane, lanes, step, shared);
  for (long i = lane; i < length; i += lanes) Y(i, (REAL)i == place ? (REAL)1 : (REAL)0);
#elif defined(ROW_lp_normalize)
  REAL sum = R(0);
  int unit = 0;
  SET_UNIT(unit);
  for (long i = lane; i < length; i += lanes) {
    REAL size = IN_UNITS(r_abs(X(i)), unit);
    sum = r_add(sum, r_is(parameter, 2) ? r_mul(size, size) : r_is(parameter, 1) ? size : r_pow(size, parameter));
  }
  sum = SUM(sum);
  REAL norm = r_is(parameter, 2) ? r_sqrt(sum) : r_is(parameter, 1) ? sum : r_pow(sum, r_div(R(1), parameter));
  limit = IN_UNITS(limit, unit);
  norm = r_less(norm, limit) ? limit : norm;
  for (long i = lane; i < length; i += lanes) Y(i, r_is(norm, 0) ? R(0) : r_div(IN_UNITS(X(i), unit), norm));
#elif defined(ROW_clip_by_norm)
  REAL norm;
  int unit = 0;
  if (has_scale) {
    norm = R(LOAD(B, scale, scale0));
  } else {
    REAL sum = R(0);
    SET_UNIT(unit);
    for (long i = lane; i < length; i += lanes) {
      REAL value = IN_UNITS(X(i), unit);
      sum = r_add(sum, r_mul(value, value));
    }
    norm = r_sqrt(SUM(sum));
  }
  bool within = !r_less(IN_UNITS(limit, unit), norm) && !r_isnan(norm) && !r_isnan(limit);
  for (long i = lane; i < length; i += lanes) {
    Y(i, within ? X(i) : r_div(r_mul(IN_UNITS(X(i), unit), limit), norm));
  }
#else
  REAL mean = R(0), squares = R(0), count = r_long(inner.size);
#ifndef ROW_rms
  for (long i = lane; i < length; i += lanes) mean = ADD_X(mean, i);
  mean = r_div(SUM(r_sum(mean)), count);
#endif
  for (long i = lane; i < length; i += lanes) {
#ifdef ROW_rms
    squares = ADD_SQUARE(squares, i);
#else
    REAL apart = r_sub(X(i), mean);
    squares = r_add(squares, r_mul(apart, apart));
#endif
  }
  REAL variance = r_div(SUM(r_sum(squares)), count);
#ifdef ROW_standardize
  REAL below = r_add(r_sqrt(variance), parameter);
#else
  REAL below = r_sqrt(r_add(variance, parameter));
#endif
  for (long i = lane; i < length; i += lanes) {
    REAL value = r_div(r_sub(X(i), mean), below);
    if (has_scale) value = r_mul(value, R(LOAD(B, scale, scale0 + nd4c_walk_place(&inner, 2, i))));
    if (has_bias) value = r_add(value, R(LOAD(C, bias, bias0 + nd4c_walk_place(&inner, 3, i))));
    Y(i, value);
  }
#ifdef STATISTICS
  if (row < kept.size && lane == 0) {
    SAVE(D, first, first0, R_ROUND(D, mean));
    SAVE(D, second, second0, R_ROUND(D, r_div(R(1), below)));
  }
#elif defined(RUNNING)
  if (row < kept.size && lane == 0) {
    REAL old = R(LOAD(E, old_mean, mean0 + row * mean_step)), other = r_sub(R(1), momentum);
    SAVE(D, first, first0 + row * first_step, R_ROUND(D, r_add(r_mul(old, momentum), r_mul(mean, other))));
    old = R(LOAD(E, old_variance, variance0 + row * variance_step));
    SAVE(D, second, second0 + row * second_step, R_ROUND(D, r_add(r_mul(old, momentum), r_mul(variance, other))));
  }
#endif
#endif
}
