/* Running sums and other running results. One work item goes through a line of the axis; where lines are few and long,
 * `pieces` work items share one: first each gathers its piece, then one work item per line finds the total before each
 * piece, and each piece goes on from there. Operands of `outer`: x, y and, of the best so far, its places.
 * families/statistics_scan.c launches these.
 *
 * VALUE: the type that is computed with; WHOLE: it is no real number. SCAN_sum, SCAN_prod, SCAN_logsumexp. COMPENSATED:
 * sums carry the rounding errors of their additions along. CAST (with convert.cl): elements are cast to y's dtype first. */

#ifdef CAST
#define ELEMENT(v) ((VALUE)HELD(Y, CONVERT(TYPE_A, TYPE_Y, v)))
#else
#define ELEMENT(v) ((VALUE)(v))
#endif

/* A line, or a piece of it: elements first .. end - 1 in the direction of the sum. */
typedef struct {
  long line, piece, first, end;
} stretch;

static inline stretch stretch_of(const nd4c_walk *outer, long i, long length, long pieces) {
  long piece = i / outer->size, size = (length + pieces - 1) / pieces, first = min(piece * size, length);
  return (stretch){i - piece * outer->size, piece, first, min(first + size, length)};
}

#if defined(SCAN_sum) || defined(SCAN_prod) || defined(SCAN_logsumexp)

#if defined(SCAN_prod) && !defined(WHOLE)
#define REAL_PROD 1
#endif

/* At most 64 bytes: scan.c counts on it. What follows `rest` is of pieces. Of products least and most are the smallest and
 * the largest on the way, rest is NaN if an element is not finite (else 0), odd: an odd number of them is negative. Of sums
 * most is that of the magnitudes. */
typedef struct {
  VALUE sum, rest, least, most;
  long odd;
} state;

static inline state begin_state(void) {
#if defined(SCAN_logsumexp)
  return (state){-INFINITY, 0, 0, 0, 0};
#elif defined(SCAN_prod)
  return (state){1, 0, 1, 1, 0};
#else
  return (state){0, 0, 0, 0, 0};
#endif
}

/* logsumexp: sum is the largest so far, rest the exponentials relative to it. x: `weight` times. */
static inline void take(state *s, VALUE x, VALUE weight) {
#if defined(SCAN_logsumexp)
  if (x == s->sum) { /* infinities, too */
    s->rest += weight;
  } else if (x > s->sum || isnan(x)) {
    s->rest = s->sum == -INFINITY ? weight : s->rest * exp(s->sum - x) + weight;
    s->sum = x;
  } else if (s->sum != INFINITY) {
    s->rest += weight * exp(x - s->sum);
  }
#elif defined(SCAN_prod)
  s->sum *= x;
#elif defined(COMPENSATED)
  VALUE next = s->sum + x;
  VALUE less = fabs(s->sum) < fabs(x) ? (x - next) + s->sum : (s->sum - next) + x;
  s->rest += next - next == 0 ? less : (VALUE)0; /* an infinity has nothing to compensate */
  s->sum = next;
#else
  s->sum += x;
#endif
}

static inline VALUE value_of(const state *s) {
#if defined(SCAN_logsumexp)
  return isinf(s->sum) ? s->sum : s->sum + log(s->rest);
#elif defined(COMPENSATED)
  return s->sum + s->rest;
#else
  return s->sum;
#endif
}

/* A piece by itself. */
static inline state gather(__global const STORAGE(A) *x, long x0, long x_step, long first, long end) {
  state s = begin_state();
  long j = first;
#if defined(SCAN_sum) && !defined(COMPENSATED)
  VALUE sums[4] = {0, 0, 0, 0}; /* which do not wait for each other */
  for (; j + 4 <= end; j += 4) {
    sums[0] += ELEMENT(LOAD(A, x, x0 + j * x_step));
    sums[1] += ELEMENT(LOAD(A, x, x0 + (j + 1) * x_step));
    sums[2] += ELEMENT(LOAD(A, x, x0 + (j + 2) * x_step));
    sums[3] += ELEMENT(LOAD(A, x, x0 + (j + 3) * x_step));
  }
  s.sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
#endif
  for (; j < end; j++) {
    VALUE value = ELEMENT(LOAD(A, x, x0 + j * x_step));
    take(&s, value, 1);
#if defined(COMPENSATED)
    s.most += fabs(value);
#elif defined(REAL_PROD)
    VALUE size = fabs(s.sum);
    s.least = size < s.least ? size : s.least;
    s.most = size > s.most ? size : s.most;
    s.rest += value - value;
    s.odd ^= signbit(value) != 0;
#endif
  }
  return s;
}

#if defined(HAS_FP64)
#define SMALLEST 0x1p-1020
#else
#define SMALLEST 0x1p-124f
#endif

/* s, with a piece behind it. False, and s as it was, where element by element another result might come out: something
 * runs out of range on the way there in the one and not in the other. Sums in a wider type than their elements' do not. */
static inline bool follow(state *s, const state *piece) {
#if defined(COMPENSATED)
  if (isnan(s->sum) || (isinf(s->sum) && isfinite(piece->most))) return true;
  if (!isfinite(fabs(s->sum) + piece->most)) return false;
  take(s, piece->sum, 1);
  s->rest += piece->rest;
#elif defined(REAL_PROD)
  VALUE size = fabs(s->sum);
  if (isnan(size)) return true;
  if (piece->rest != 0 || (isinf(size) && piece->least == 0)) return false;
  if (size == 0 || isinf(size)) {
    s->sum = piece->odd ? -s->sum : s->sum;
    return true;
  }
  if (piece->least < SMALLEST || size * piece->least < SMALLEST || !isfinite(2 * size * piece->most)) return false;
  s->sum *= piece->sum;
#elif defined(SCAN_logsumexp)
  take(s, piece->sum, piece->rest);
#else
  take(s, piece->sum, 1);
#endif
  return true;
}

/* What each piece gathers by itself. */
__kernel void gather_pieces(nd4c_walk outer, __global const STORAGE(A) *x, long x0, long x_step, long length, int reverse,
                            long pieces, __global state *states) {
  ITEM(i, outer.size * pieces)
  stretch part = stretch_of(&outer, i, length, pieces);
  x0 += nd4c_walk_place(&outer, 0, part.line) + (reverse ? (length - 1) * x_step : 0);
  x_step = reverse ? -x_step : x_step;
  states[i] = gather(x, x0, x_step, part.first, part.end);
}

/* The total before each piece. */
__kernel void chain_pieces(nd4c_walk outer, __global const STORAGE(A) *x, long x0, long x_step, long length,
                           int reverse, long pieces, __global state *states) {
  ITEM(line, outer.size)
  x0 += nd4c_walk_place(&outer, 0, line) + (reverse ? (length - 1) * x_step : 0);
  x_step = reverse ? -x_step : x_step;
  state s = begin_state();
  for (long piece = 0; piece < pieces; piece++) {
    state own = states[piece * outer.size + line];
    states[piece * outer.size + line] = s;
    if (!follow(&s, &own)) {
      stretch part = stretch_of(&outer, piece * outer.size + line, length, pieces);
      for (long j = part.first; j < part.end; j++) take(&s, ELEMENT(LOAD(A, x, x0 + j * x_step)), 1);
    }
  }
}

__kernel void cumulate(nd4c_walk outer, __global const STORAGE(A) *x, long x0, long x_step, long length, int reverse,
                       long pieces, __global const state *states, __global STORAGE(Y) *y, long y0, long y_step,
                       int exclusive, int include_initial) {
  ITEM(i, outer.size * pieces)
  stretch part = stretch_of(&outer, i, length, pieces);
  x0 += nd4c_walk_place(&outer, 0, part.line) + (reverse ? (length - 1) * x_step : 0);
  y0 += nd4c_walk_place(&outer, 1, part.line) + (reverse ? (length - 1 + include_initial) * y_step : 0);
  x_step = reverse ? -x_step : x_step;
  y_step = reverse ? -y_step : y_step;
  state s = begin_state();
  if (pieces > 1) s = states[i];
  VALUE before = value_of(&s);
  if (include_initial) {
    if (part.piece == 0) SAVE(Y, y, y0, ROUND(Y, before));
    y0 += y_step;
  }
  for (long j = part.first; j < part.end; j++) {
    take(&s, ELEMENT(LOAD(A, x, x0 + j * x_step)), 1);
    VALUE after = value_of(&s);
    SAVE(Y, y, y0 + j * y_step, ROUND(Y, exclusive ? before : after));
    before = after;
  }
}
#endif

#ifdef SCAN_best
/* The latest best and where it stood, -1: nowhere yet; NaN is best of all. LEAST: the smallest. */
typedef struct {
  long at;
  COMPUTE(A) best;
} best_state;

static inline void take_best(best_state *s, COMPUTE(A) value, long at) {
#if defined(LEAST)
  bool better = value <= s->best;
#else
  bool better = value >= s->best;
#endif
#ifndef WHOLE
  better = better || value != value; /* and no number is better than NaN */
#endif
  if (s->at < 0 || better) {
    s->best = value;
    s->at = at;
  }
}

__kernel void gather_best(nd4c_walk outer, __global const STORAGE(A) *x, long x0, long x_step, long length, long pieces,
                          __global best_state *states) {
  ITEM(i, outer.size * pieces)
  stretch part = stretch_of(&outer, i, length, pieces);
  x0 += nd4c_walk_place(&outer, 0, part.line);
  best_state s = {-1, 0};
  for (long j = part.first; j < part.end; j++) take_best(&s, LOAD(A, x, x0 + j * x_step), j);
  states[i] = s;
}

__kernel void chain_best(nd4c_walk outer, __global const STORAGE(A) *x, long x0, long x_step, long length, long pieces,
                         __global best_state *states) {
  ITEM(line, outer.size)
  best_state s = {-1, 0};
  for (long piece = 0; piece < pieces; piece++) {
    best_state own = states[piece * outer.size + line];
    states[piece * outer.size + line] = s;
    if (own.at >= 0) take_best(&s, own.best, own.at);
  }
}

__kernel void running_best(nd4c_walk outer, __global const STORAGE(A) *x, long x0, long x_step, long length,
                           long pieces, __global const best_state *states, __global STORAGE(Y) *y, long y0, long y_step,
                           __global long *places, long places0, long places_step) {
  ITEM(i, outer.size * pieces)
  stretch part = stretch_of(&outer, i, length, pieces);
  x0 += nd4c_walk_place(&outer, 0, part.line);
  y0 += nd4c_walk_place(&outer, 1, part.line);
  places0 += nd4c_walk_place(&outer, 2, part.line);
  best_state s = {-1, 0};
  if (pieces > 1) s = states[i];
  for (long j = part.first; j < part.end; j++) {
    take_best(&s, LOAD(A, x, x0 + j * x_step), j);
    SAVE(Y, y, y0 + j * y_step, ROUND(Y, s.best));
    places[places0 + j * places_step] = s.at;
  }
}
#endif

#ifdef MOST
#ifdef WHOLE
#define NUMBER(x) ((VALUE)(x))
#define APART(a, b) ((a) - (b))
#define ROUNDED(x) ROUND(Y, x)
#else /* behind real.cl */
#define NUMBER(x) R(x)
#define APART(a, b) r_sub(a, b)
#define ROUNDED(x) R_ROUND(Y, x)
#endif
/* Differences of the line prepend, x, append: a work item a result. walk: y; pieces: prepend, x, append, without the
 * axis of differences, whose place is operand 1 of the walk. */
__kernel void differences(nd4c_walk walk, nd4c_walk pieces, __global const STORAGE(A) *x, long x0, long x_step,
                          long x_length, __global const STORAGE(B) *before, long before0, long before_step,
                          long before_length, __global const STORAGE(C) *after, long after0, long after_step,
                          __global STORAGE(Y) *y, long y0, int order) {
  ITEM(i, walk.size)
  long first = nd4c_walk_place(&walk, 1, i);
  x0 += nd4c_walk_place(&pieces, 0, i);
  before0 += nd4c_walk_place(&pieces, 1, i);
  after0 += nd4c_walk_place(&pieces, 2, i);
  VALUE line[MOST + 1];
  for (int k = 0; k <= order; k++) {
    long j = first + k;
    if (j < before_length)
      line[k] = NUMBER(LOAD(B, before, before0 + j * before_step));
    else if (j < before_length + x_length)
      line[k] = NUMBER(LOAD(A, x, x0 + (j - before_length) * x_step));
    else
      line[k] = NUMBER(LOAD(C, after, after0 + (j - before_length - x_length) * after_step));
  }
  for (int left = order; left > 0; left--)
    for (int k = 0; k < left; k++) line[k] = APART(line[k + 1], line[k]);
  SAVE(Y, y, y0 + nd4c_walk_place(&walk, 0, i), ROUNDED(line[0]));
}
#endif
