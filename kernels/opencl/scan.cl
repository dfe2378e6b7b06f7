/* Running sums and the like: a work item a line. `outer`: x, y and, of the best so far, its places. */

static inline VALUE running_sum(VALUE *sum, VALUE *lost, VALUE x) {
#ifdef COMPENSATED
  VALUE next = *sum + x;
  VALUE less = fabs(*sum) < fabs(x) ? (x - next) + *sum : (*sum - next) + x;
  *lost += isnan(less) ? (VALUE)0 : less;
  *sum = next;
  return *sum + *lost;
#else
  return *sum += x;
#endif
}

#ifdef SCAN_logsumexp
/* sum: the largest so far; rest: the exponentials relative to it. */
static inline VALUE running_logsumexp(VALUE *sum, VALUE *rest, VALUE x) {
  if (x == *sum) { /* infinities, too */
    *rest += 1;
  } else if (x > *sum || isnan(x)) {
    *rest = *sum == -INFINITY ? (VALUE)1 : *rest * exp(*sum - x) + 1;
    *sum = x;
  } else if (*sum != INFINITY) {
    *rest += exp(x - *sum);
  }
  return isinf(*sum) ? *sum : *sum + log(*rest);
}
#define STEP(x) running_logsumexp(&sum, &rest, x)
#define INITIAL (-INFINITY)
#elif defined(SCAN_prod)
#define STEP(x) (sum *= (x))
#define INITIAL 1
#else
#define STEP(x) running_sum(&sum, &rest, x)
#define INITIAL 0
#endif

__kernel void cumulate(nd4c_walk outer, __global const STORAGE_A *x, long x0, long x_step, __global STORAGE_Y *y,
                       long y0, long y_step, long length, int reverse, int exclusive, int include_initial) {
  long i = get_global_id(0);
  if (i >= outer.size) return;
  x0 += nd4c_walk_place(&outer, 0, i);
  y0 += nd4c_walk_place(&outer, 1, i);
  if (reverse) {
    x0 += (length - 1) * x_step;
    y0 += (length - 1 + include_initial) * y_step;
    x_step = -x_step;
    y_step = -y_step;
  }
  VALUE sum = INITIAL, rest = 0, before = INITIAL;
  if (include_initial) {
    SAVE_Y(y, y0, ROUND_Y(before));
    y0 += y_step;
  }
  for (long j = 0; j < length; j++) {
    VALUE after = STEP((VALUE)LOAD_A(x, x0 + j * x_step));
    SAVE_Y(y, y0 + j * y_step, ROUND_Y(exclusive ? before : after));
    before = after;
  }
}

/* The latest best and where it stood; NaN is best of all. */
__kernel void running_best(nd4c_walk outer, __global const STORAGE_A *x, long x0, long x_step, __global STORAGE_Y *y,
                           long y0, long y_step, __global long *places, long places0, long places_step, long length,
                           int least) {
  long i = get_global_id(0), at = 0;
  if (i >= outer.size) return;
  x0 += nd4c_walk_place(&outer, 0, i);
  y0 += nd4c_walk_place(&outer, 1, i);
  places0 += nd4c_walk_place(&outer, 2, i);
  COMPUTE_A best = 0;
  for (long j = 0; j < length; j++) {
    COMPUTE_A value = LOAD_A(x, x0 + j * x_step);
#ifdef WHOLE
    bool better = least ? value <= best : value >= best;
#else
    bool better = isnan(value) || (!isnan(best) && (least ? value <= best : value >= best));
#endif
    if (j == 0 || better) {
      best = value;
      at = j;
    }
    SAVE_Y(y, y0 + j * y_step, ROUND_Y(best));
    places[places0 + j * places_step] = at;
  }
}

/* Differences of the line prepend, x, append: a work item a result. walk: y; pieces: prepend, x, append, without the
 * axis of differences, whose place is operand 1 of the walk. */
__kernel void differences(nd4c_walk walk, nd4c_walk pieces, __global const STORAGE_A *x, long x0, long x_step,
                          long x_length, __global const STORAGE_B *before, long before0, long before_step,
                          long before_length, __global const STORAGE_C *after, long after0, long after_step,
                          __global STORAGE_Y *y, long y0, int order) {
  long i = get_global_id(0);
  if (i >= walk.size) return;
  long first = nd4c_walk_place(&walk, 1, i);
  x0 += nd4c_walk_place(&pieces, 0, i);
  before0 += nd4c_walk_place(&pieces, 1, i);
  after0 += nd4c_walk_place(&pieces, 2, i);
  VALUE line[MOST + 1];
  for (int k = 0; k <= order; k++) {
    long j = first + k;
    if (j < before_length)
      line[k] = (VALUE)LOAD_B(before, before0 + j * before_step);
    else if (j < before_length + x_length)
      line[k] = (VALUE)LOAD_A(x, x0 + (j - before_length) * x_step);
    else
      line[k] = (VALUE)LOAD_C(after, after0 + (j - before_length - x_length) * after_step);
  }
  for (int left = order; left > 0; left--)
    for (int k = 0; k < left; k++) line[k] = line[k + 1] - line[k];
  SAVE_Y(y, y0 + nd4c_walk_place(&walk, 0, i), ROUND_Y(line[0]));
}
