/* Reductions over any axes: a state is started, takes elements, is merged with its neighbours' in local memory and
 * finished by the first work item of a row. support/reduction.c launches these for families/reduction.c and other
 * families that reduce.
 *
 * -D GATHER_<what>: which statistic. VALUE: the type of an element as computed with, REAL: the type of real results.
 * SKIP_NAN: elements that are NaN are skipped. CAST (with convert.cl): elements are cast to y's dtype first.
 * COMPENSATED: sums carry the rounding errors of their additions along.
 * EIGHT, CAST_EIGHT: sums and means of dense float32, one work item a row or piece, by eight REALs at a time.
 * A row is one place of the kept axes; `lanes` work items (a power of two) share it. With rows_next neighbouring work
 * items take neighbouring rows, else neighbouring elements of a row: whichever lie together in memory. */

#if defined(GATHER_var) || defined(GATHER_std) || defined(GATHER_norm_p)
#define PASSES 2
#else
#define PASSES 1
#endif

#if defined(GATHER_ptp) || defined(GATHER_norm2) || defined(GATHER_sum_square) || defined(GATHER_norm_p) || \
    defined(GATHER_cosine_similarity) || defined(GATHER_jaccard_distance) || \
    (PASSES == 2 && !defined(WIDE_VALUE))
#define PAIR_STATE 1
#endif

/* At most 64 bytes, STATE_BYTES of backends/opencl/support/reduction.c. */
typedef struct {
  VALUE value;
#ifdef REAL_STATE
  VALUE rest, more, center;
#endif
#ifdef PAIR_STATE
  VALUE other;
#endif
  long count, place;
} state;

#ifdef REAL_STATE
#define not_number(x) isnan(x)
#else
#define not_number(x) false
#endif

/* Larger or, of minima, smaller; the first NaN wins. */
static inline bool beats(VALUE x, VALUE best) {
  if (not_number(best)) return false;
  if (not_number(x)) return true;
#ifdef LEAST
  return x < best;
#else
  return x > best;
#endif
}

#ifdef REAL_STATE
static inline void add(VALUE *sum, VALUE *lost, VALUE x) {
#ifdef COMPENSATED
  VALUE next = *sum + x;
  VALUE less = fabs(*sum) < fabs(x) ? (x - next) + *sum : (*sum - next) + x;
  if (isfinite(next)) *lost += less;
  *sum = next;
#else
  *sum += x;
#endif
}

static inline VALUE total(VALUE sum, VALUE lost) {
  return isfinite(sum) ? sum + lost : sum;
}
#endif

#ifndef REAL_STATE
#define take_term(s, x) (s)->value += (x)
#define merge_terms(s, o) (s)->value += (o)->value
#define whole(s) (s)->value
#elif defined(WIDE_VALUE)
#define take_term(s, x) add(&(s)->value, &(s)->rest, (x))
#define merge_terms(s, o)                   \
  add(&(s)->value, &(s)->rest, (o)->value); \
  (s)->rest += (o)->rest
#define whole(s) total((s)->value, (s)->rest)
#define mean_of(s) (total((s)->value, (s)->rest) / (VALUE)(s)->count)
#else
/* Floats that would leave their range together are summed apart, in `more` and what it lost, times 2^-70. */
#define LARGE 0x1p60f
#define LOWERED 0x1p-70f
static inline void take_term(state *s, VALUE x) {
  if (fabs(x) > LARGE) {
    add(&s->more, &s->center, x * LOWERED);
  } else {
    add(&s->value, &s->rest, x);
  }
}
static inline void merge_terms(state *s, const state *o) {
  add(&s->value, &s->rest, o->value);
  s->rest += o->rest;
  add(&s->more, &s->center, o->more);
  s->center += o->center;
}
static inline VALUE mean_by(const state *s, VALUE count) {
  VALUE small = total(s->value, s->rest), large = total(s->more, s->center);
  return large == 0 ? small / count : (large + small * LOWERED) / count / LOWERED;
}
#define whole(s) mean_by(s, 1)
#define mean_of(s) mean_by(s, (VALUE)(s)->count)
#endif

/* -- what is gathered ------------------------------------------------------------------------------------------- */

/* Sums of a term. */
#if defined(GATHER_sum) || defined(GATHER_mean)
#define TERM(x, b) (x)
#elif defined(GATHER_norm1) || defined(GATHER_abs_mean)
#define TERM(x, b) fabs(x)
#elif defined(GATHER_entropy) || defined(GATHER_log_entropy)
#define TERM(x, b) ((x) == 0 ? (VALUE)0 : -(x) * log(x))
#elif defined(GATHER_shannon_entropy)
#define TERM(x, b) ((x) == 0 ? (VALUE)0 : -(x) * log2(x))
#elif defined(GATHER_product)
#define TERM(x, b) ((x) * (b))
#elif defined(GATHER_euclidean_distance)
#define TERM(x, b) (((x) - (b)) * ((x) - (b)))
#elif defined(GATHER_manhattan_distance)
#define TERM(x, b) fabs((x) - (b))
#elif defined(GATHER_hamming_distance)
#define TERM(x, b) ((x) != (b) ? (VALUE)1 : (VALUE)0)
#endif
#ifdef TERM
#define START(s) (s)->value = 0
#define TAKE(s, pass, x, b, i, p) take_term(s, TERM(x, b))
#define MERGE(s, o, p) merge_terms(s, o)
#if defined(GATHER_mean) || defined(GATHER_abs_mean)
#define FINISH(s, p) mean_of(s)
#elif defined(GATHER_log_entropy)
#define FINISH(s, p) log(whole(s))
#elif defined(GATHER_euclidean_distance)
#define FINISH(s, p) sqrt(whole(s))
#else
#define FINISH(s, p) whole(s)
#endif
#endif

#if defined(GATHER_prod) && defined(REAL_STATE) && !defined(WIDE_VALUE)
/* Of floats: (value + rest) 2^place, where rest is what products lost; only the result leaves the range. */
static inline void take_factor(state *s, VALUE x, VALUE more, long place) {
  VALUE product = s->value * x, lost = fma(s->value, x, -product) + (s->value * more + s->rest * x);
  int power = isfinite(product) && product != 0 ? ilogb(product) : 0;
  s->value = ldexp(product, -power);
  s->rest = isfinite(product) ? ldexp(lost, -power) : (VALUE)0;
  s->place += place + power;
}
static inline void take_number(state *s, VALUE x) {
  int power = isfinite(x) && x != 0 ? ilogb(x) : 0;
  take_factor(s, ldexp(x, -power), 0, power);
}
#define START(s) (s)->value = 1, (s)->rest = 0, (s)->place = 0
#define TAKE(s, pass, x, b, i, p) take_number(s, (x))
#define MERGE(s, o, p) take_factor(s, (o)->value, (o)->rest, (o)->place)
#define FINISH(s, p) \
  ldexp((s)->rest != 0 ? (s)->value + (s)->rest : (s)->value, (int)clamp((s)->place, -300L, 300L))
#elif defined(GATHER_prod)
#define START(s) (s)->value = 1
#define TAKE(s, pass, x, b, i, p) (s)->value *= (x)
#define MERGE(s, o, p) (s)->value *= (o)->value
#define FINISH(s, p) (s)->value
#endif

/* Counts. */
#if defined(GATHER_count_nonzero) || defined(GATHER_count_zero) || defined(GATHER_zero_fraction)
#define START(s) (s)->place = 0
#define TAKE(s, pass, x, b, i, p) (s)->place += (x) == 0
#define MERGE(s, o, p) (s)->place += (o)->place
#endif
#ifdef GATHER_count_nonzero
#define FINISH(s, p) ((s)->count - (s)->place)
#elif defined(GATHER_count_zero)
#define FINISH(s, p) (s)->place
#elif defined(GATHER_zero_fraction)
#define FINISH(s, p) ((REAL)(s)->place / (REAL)(s)->count)
#elif defined(GATHER_all)
#define START(s) (s)->place = 1
#define TAKE(s, pass, x, b, i, p) (s)->place &= (x) != 0
#define MERGE(s, o, p) (s)->place &= (o)->place
#define FINISH(s, p) (s)->place
#elif defined(GATHER_any)
#define START(s) (s)->place = 0
#define TAKE(s, pass, x, b, i, p) (s)->place |= (x) != 0
#define MERGE(s, o, p) (s)->place |= (o)->place
#define FINISH(s, p) (s)->place
#endif

/* Extremes; `place` makes the first of equal ones win, so that the result does not depend on the lanes. */
#if defined(GATHER_extreme) || defined(GATHER_place)
#define START(s) (s)->place = 0
#define TAKE(s, pass, x, b, i, p)                 \
  if ((s)->count == 0 || beats((x), (s)->value)) { \
    (s)->value = (x);                             \
    (s)->place = (i);                             \
  }
static inline void merge_extreme(state *s, const state *o) {
  bool same = !beats(s->value, o->value) && !beats(o->value, s->value);
  if (o->count > 0 && (s->count == 0 || beats(o->value, s->value) || (same && o->place < s->place))) {
    s->value = o->value;
    s->place = o->place;
  }
}
#define MERGE(s, o, p) merge_extreme(s, o)
#ifdef GATHER_place
#define FINISH(s, p) (s)->place
#elif defined(REAL_STATE)
#define FINISH(s, p) ((s)->count > 0 ? (s)->value : (VALUE)NAN)
#else
#define FINISH(s, p) (s)->value
#endif
#endif
#if defined(GATHER_norm_max) || defined(GATHER_abs_min)
#define START(s) (s)->place = 0
#define TAKE(s, pass, x, b, i, p) \
  if ((s)->count == 0 || beats(fabs(x), (s)->value)) (s)->value = fabs(x)
#define MERGE(s, o, p) \
  if ((o)->count > 0 && ((s)->count == 0 || beats((o)->value, (s)->value))) (s)->value = (o)->value
#ifdef GATHER_norm_max
#define FINISH(s, p) ((s)->count > 0 ? (s)->value : (VALUE)0)
#else
#define FINISH(s, p) ((s)->count > 0 ? (s)->value : (VALUE)NAN)
#endif
#endif
#ifdef GATHER_ptp
static inline void take_range(state *s, long count, VALUE low, VALUE high) {
  bool lower = count == 0 || (!not_number(s->value) && (not_number(low) || low < s->value));
  bool higher = count == 0 || (!not_number(s->other) && (not_number(high) || high > s->other));
  s->value = lower ? low : s->value;
  s->other = higher ? high : s->other;
}
#define START(s) (s)->value = (s)->other = 0
#define TAKE(s, pass, x, b, i, p) take_range(s, (s)->count, (x), (x))
#define MERGE(s, o, p) \
  if ((o)->count > 0) take_range(s, (s)->count, (o)->value, (o)->other)
#define FINISH(s, p) ((s)->other - (s)->value)
#endif

/* Variance: a lane goes over its elements twice, states are merged by Chan, Golub and LeVeque's formula. Of floats what is
 * squared, and the center, are in units of `other`, a power of two near the largest element: no square leaves the range. */
#if defined(GATHER_var) || defined(GATHER_std)
#define START(s) (s)->value = (s)->center = 0
#ifdef WIDE_VALUE
#define UNIT(s) ((VALUE)1)
#define IN_UNITS(s, x) (x)
#define SEE_SIZE(s, x)
#define SET_UNIT(s)
#define same_units(s, o)
#else
#define UNIT(s) (s)->other
#define IN_UNITS(s, x) ((x) / (s)->other)
#define SEE_SIZE(s, x) (s)->other = fmax((s)->other, fabs(x))
#define SET_UNIT(s) \
  (s)->other = isfinite((s)->other) ? ldexp((VALUE)1, max(ilogb((s)->other), -100)) : (VALUE)1 /* of 0: the least */
static inline void to_unit(state *s, VALUE unit) {
  VALUE factor = s->other / unit;
  s->center *= factor;
  s->rest *= factor;
  s->value *= factor * factor;
  s->more *= factor * factor;
  s->other = unit;
}
static inline void same_units(state *s, state *o) {
  VALUE unit = fmax(s->other, o->other);
  to_unit(s, unit);
  to_unit(o, unit);
}
#endif
#define TAKE(s, pass, x, b, i, p)               \
  if ((pass) == 0) {                            \
    take_term(s, (x));                          \
    SEE_SIZE(s, x);                             \
  } else {                                      \
    VALUE apart = IN_UNITS(s, x) - (s)->center; \
    add(&(s)->value, &(s)->rest, apart * apart); \
    (s)->more += apart;                         \
  }
#define BETWEEN(s)                                                     \
  SET_UNIT(s);                                                         \
  (s)->center = (s)->count > 0 ? IN_UNITS(s, mean_of(s)) : (VALUE)0;   \
  (s)->value = (s)->rest = (s)->more = 0
/* `more` is what the center's rounding left: it becomes the center's low part, `rest`. */
#define CLOSE(s)                                                                                   \
  if ((s)->count > 0) {                                                                            \
    VALUE squares = total((s)->value, (s)->rest), off = (s)->more * (s)->more / (VALUE)(s)->count; \
    (s)->value = isfinite(off) ? fmax(squares - off, squares - squares) : squares;                 \
    (s)->rest = isfinite((s)->more) ? (s)->more / (VALUE)(s)->count : (VALUE)0;                    \
    (s)->more = 0;                                                                                 \
  }
/* `more` is from then on what the sum of squares lost. */
static inline void merge_variance(state *s, state *o) {
  if (o->count == 0) return;
  if (s->count == 0) {
    s->value = o->value;
    s->more = o->more;
    s->center = o->center;
    s->rest = o->rest;
#ifndef WIDE_VALUE
    s->other = o->other;
#endif
    return;
  }
  same_units(s, o);
  VALUE both = (VALUE)(s->count + o->count), share = (VALUE)o->count / both;
  VALUE apart = (o->center - s->center) + (o->rest - s->rest), step = apart * share, next = s->center + step;
  add(&s->value, &s->more, o->value);
  s->more += o->more;
  add(&s->value, &s->more, apart * apart * (VALUE)s->count * share);
  if (isfinite(next)) s->rest += step - (next - s->center);
  s->center = next;
}
#define MERGE(s, o, p) merge_variance(s, o)
static inline VALUE variance(const state *s, VALUE correction) {
  VALUE y = total(s->value, s->more) / fmax((VALUE)s->count - correction, (VALUE)0);
  return s->count > 0 ? y : (VALUE)NAN;
}
#ifdef GATHER_var
#define FINISH(s, p) (variance(s, p) * UNIT(s) * UNIT(s))
#else
#define FINISH(s, p) (sqrt(variance(s, p)) * UNIT(s))
#endif
#endif

/* ln of the sum of exponentials, relative to the largest element so far. */
#ifdef GATHER_logsumexp
static inline void take_exponential(state *s, VALUE x, VALUE weight) {
  if (x == s->value) { /* infinities, too */
    s->rest += weight;
  } else if (x > s->value || x != x) {
    s->rest = s->value == -INFINITY ? weight : s->rest * exp(s->value - x) + weight;
    s->value = x;
  } else if (s->value != INFINITY) {
    s->rest += weight * exp(x - s->value);
  }
}
#define START(s) (s)->value = -INFINITY
#define TAKE(s, pass, x, b, i, p) take_exponential(s, (x), 1)
#define MERGE(s, o, p) take_exponential(s, (o)->value, (o)->rest)
#define FINISH(s, p) (isfinite((s)->value) ? (s)->value + log((s)->rest) : (s)->value)
#endif

/* Squares in three sums by magnitude, each scaled by a power of two (Blue 1978): nothing overflows or vanishes. */
#if defined(GATHER_norm2) || defined(GATHER_sum_square)
#ifdef WIDE_VALUE
#define FAR 0x1p480
#define NEAR 0x1p-480
#define DOWN 0x1p-540
#define UP 0x1p600
#else
#define FAR 0x1p50f
#define NEAR 0x1p-50f
#define DOWN 0x1p-70f
#define UP 0x1p90f
#endif
static inline void take_square(state *s, VALUE x) {
  VALUE size = fabs(x);
  if (size > FAR)
    s->more += (size * DOWN) * (size * DOWN);
  else if (size < NEAR)
    s->other += (size * UP) * (size * UP);
  else
    add(&s->value, &s->rest, x * x);
}
#define START(s) (s)->value = (s)->other = 0
#define TAKE(s, pass, x, b, i, p) take_square(s, (x))
#define MERGE(s, o, p)                      \
  add(&(s)->value, &(s)->rest, (o)->value); \
  (s)->rest += (o)->rest;                   \
  (s)->more += (o)->more;                   \
  (s)->other += (o)->other
#ifdef GATHER_norm2
static inline VALUE norm2(const state *s) {
  VALUE middle = total(s->value, s->rest);
  if (s->more > 0 || middle != middle) return sqrt(s->more + middle * DOWN * DOWN) / DOWN;
  if (middle > 0) return sqrt(middle + s->other / UP / UP);
  return sqrt(s->other) / UP;
}
#define FINISH(s, p) norm2(s)
#else
#define FINISH(s, p) ((s)->more > 0 ? (s)->more / DOWN / DOWN + (s)->value : total((s)->value, (s)->rest) + (s)->other / UP / UP)
#endif
#endif

/* Powers of magnitudes relative to a power of two near the extreme one. */
#ifdef GATHER_norm_p
#define START(s) (s)->value = (s)->other = (s)->center = 0
static inline void take_power(state *s, int pass, VALUE x, VALUE p) {
  VALUE size = fabs(x);
  if (pass == 0) {
    bool first = s->count == 0, least = p < 0;
    if (first || not_number(size) || (least ? size < s->other : size > s->other)) s->other = size;
  } else if (isfinite(p)) {
    add(&s->value, &s->rest, p == 0 ? (VALUE)(size != 0) : pow(size / s->center, p));
  }
}
#define TAKE(s, pass, x, b, i, p) take_power(s, pass, (x), (p))
#define BETWEEN(s) (s)->center = isfinite((s)->other) && (s)->other > 0 ? ldexp((VALUE)1, ilogb((s)->other)) : (VALUE)1
static inline void merge_power(state *s, const state *o, VALUE p) {
  if (o->count == 0) return;
  if (s->count == 0) {
    s->value = o->value, s->rest = o->rest, s->other = o->other, s->center = o->center;
    return;
  }
  bool better = not_number(o->other) || (p < 0 ? o->other < s->other : o->other > s->other);
  VALUE center = better ? o->center : s->center;
  bool scaled = isfinite(p) && p != 0;
  VALUE mine = scaled && center != s->center ? pow(s->center / center, p) : (VALUE)1;
  VALUE theirs = scaled && center != o->center ? pow(o->center / center, p) : (VALUE)1;
  VALUE sum = total(s->value, s->rest) * mine, lost = 0;
  add(&sum, &lost, total(o->value, o->rest) * theirs);
  s->value = sum;
  s->rest = lost;
  s->other = better ? o->other : s->other;
  s->center = center;
}
#define MERGE(s, o, p) merge_power(s, o, p)
static inline VALUE norm_p(const state *s, VALUE p) {
  if (p == 0) return total(s->value, s->rest);
  if (isinf(p)) return s->count > 0 ? s->other : (p < 0 ? (VALUE)INFINITY : (VALUE)0);
  return pow(total(s->value, s->rest), 1 / p) * (s->count > 0 ? s->center : (VALUE)1);
}
#define FINISH(s, p) norm_p(s, p)
#endif

/* Two or three sums of two operands. */
#ifdef GATHER_cosine_similarity
#define START(s) (s)->value = (s)->other = (s)->center = 0
#define TAKE(s, pass, x, b, i, p) \
  (s)->value += (x) * (b);        \
  (s)->other += (x) * (x);        \
  (s)->center += (b) * (b)
#define MERGE(s, o, p)        \
  (s)->value += (o)->value;   \
  (s)->other += (o)->other;   \
  (s)->center += (o)->center
#define FINISH(s, p) ((s)->value / (sqrt((s)->other) * sqrt((s)->center)))
#elif defined(GATHER_jaccard_distance)
#define START(s) (s)->value = (s)->other = (s)->rest = (s)->more = 0
#define TAKE(s, pass, x, b, i, p)                                          \
  add(&(s)->value, &(s)->rest, not_number(x) || (x) < (b) ? (x) : (b));    \
  add(&(s)->other, &(s)->more, not_number(x) || (x) > (b) ? (x) : (b))
#define MERGE(s, o, p)                      \
  add(&(s)->value, &(s)->rest, (o)->value); \
  (s)->rest += (o)->rest;                   \
  add(&(s)->other, &(s)->more, (o)->other); \
  (s)->more += (o)->more
#define FINISH(s, p) (1 - total((s)->value, (s)->rest) / total((s)->other, (s)->more))
#endif

#ifndef BETWEEN
#define BETWEEN(s)
#endif
#ifndef CLOSE
#define CLOSE(s)
#endif

/* -- walking ---------------------------------------------------------------------------------------------------- */

#ifdef CAST
#define ELEMENT(v) HELD(Y, CONVERT(TYPE_A, TYPE_Y, v))
#else
#define ELEMENT(v) (v)
#endif

static inline state begin_state(void) {
  state s;
  s.count = 0;
  s.place = 0;
  s.value = 0;
#ifdef PAIR_STATE
  s.other = 0;
#endif
#ifdef REAL_STATE
  s.rest = s.more = s.center = 0;
#endif
  START(&s);
  return s;
}

static inline void join(state *s, state *other, PARAMETER parameter) {
  MERGE(s, other, parameter);
  s->count += other->count;
}

static inline state fold(state s, PARAMETER parameter, int lane, int lanes, int step, __local state *shared) {
  int me = get_local_id(0);
  shared[me] = s;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int hop = lanes / 2; hop > 0; hop /= 2) {
    if (lane < hop) {
      state other = shared[me + hop * step];
      join(&s, &other, parameter);
      shared[me] = s;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  return s;
}

/* Elements first, first + step, ... below `end` of a row. */
static inline state gather(const nd4c_walk *kept, const nd4c_walk *inner, long row, long first, long end, long step,
                    __global const STORAGE(A) *a, long a0, __global const STORAGE(B) *b, long b0, PARAMETER parameter) {
  state s = begin_state();
  a0 += nd4c_walk_place(kept, 0, row);
  b0 += nd4c_walk_place(kept, 1, row);
#ifdef EIGHT
  EIGHT sums[2] = {(REAL)0, (REAL)0};
  s.count = end - first;
  for (; first + 16 <= end; first += 16) {
    sums[0] += CAST_EIGHT(vload8(0, a + a0 + first));
    sums[1] += CAST_EIGHT(vload8(1, a + a0 + first));
  }
  EIGHT both = sums[0] + sums[1];
  s.value = ((both.s0 + both.s1) + (both.s2 + both.s3)) + ((both.s4 + both.s5) + (both.s6 + both.s7));
  for (; first < end; first++) s.value += (VALUE)a[a0 + first];
  return s;
#endif
  for (int pass = 0; pass < PASSES; pass++) {
    long count = 0;
    for (long i = first; i < end; i += step) {
      VALUE x = (VALUE)ELEMENT(LOAD(A, a, a0 + nd4c_walk_place(inner, 0, i)));
#ifdef SKIP_NAN
      if (not_number(x)) continue;
#endif
#ifdef PAIRED
      VALUE other = (VALUE)LOAD(B, b, b0 + nd4c_walk_place(inner, 1, i));
#endif
      TAKE(&s, pass, x, other, i, parameter);
      count++;
      if (pass == 0) s.count = count;
    }
    if (pass + 1 < PASSES) {
      BETWEEN(&s);
    }
  }
  CLOSE(&s);
  return s;
}

/* Each row in one piece. Operands of `kept`: a, b, y; of `inner`: a, b. */
__kernel void reduce(nd4c_walk kept, nd4c_walk inner, __global const STORAGE(A) *a, long a0,
                     __global const STORAGE(B) *b, long b0, __global STORAGE(Y) *y, long y0, PARAMETER parameter,
                     int lanes, int rows_next, __local state *shared) {
  int me = get_local_id(0), rows = (int)get_local_size(0) / lanes, lane = rows_next ? me / rows : me % lanes;
  long row = (long)get_group_id(0) * rows + (rows_next ? me % rows : me / lanes);
  state s = begin_state();
  if (row < kept.size) s = gather(&kept, &inner, row, lane, inner.size, lanes, a, a0, b, b0, parameter);
  s = fold(s, parameter, lane, lanes, rows_next ? rows : 1, shared);
  if (row < kept.size && lane == 0) SAVE(Y, y, y0 + nd4c_walk_place(&kept, 2, row), ROUND(Y, FINISH(&s, parameter)));
}

/* Rows in pieces: states of row r's pieces go to place r * pieces of the scratch. A group a piece. */
__kernel void reduce_pieces(nd4c_walk kept, nd4c_walk inner, __global const STORAGE(A) *a, long a0,
                            __global const STORAGE(B) *b, long b0, __global char *scratch, long scratch0,
                            PARAMETER parameter, long pieces, long piece, __local state *shared) {
  __global state *partial = (__global state *)(scratch + scratch0);
  int lane = get_local_id(0), lanes = get_local_size(0);
  long unit = get_group_id(0), row = unit / pieces, first = unit % pieces * piece;
  long end = first + piece < inner.size ? first + piece : inner.size;
  state s = gather(&kept, &inner, row, first + lane, end, lanes, a, a0, b, b0, parameter);
  s = fold(s, parameter, lane, lanes, 1, shared);
  if (lane == 0) partial[unit] = s;
}

/* And their end. A group a row. */
__kernel void reduce_partial(nd4c_walk kept, __global const char *scratch, long scratch0, __global STORAGE(Y) *y,
                             long y0, PARAMETER parameter, long pieces, __local state *shared) {
  __global const state *partial = (__global const state *)(scratch + scratch0);
  int lane = get_local_id(0), lanes = get_local_size(0);
  long row = get_group_id(0);
  state s = begin_state();
  for (long i = lane; i < pieces; i += lanes) {
    state other = partial[row * pieces + i];
    join(&s, &other, parameter);
  }
  s = fold(s, parameter, lane, lanes, 1, shared);
  if (lane == 0) SAVE(Y, y, y0 + nd4c_walk_place(&kept, 2, row), ROUND(Y, FINISH(&s, parameter)));
}
