/* Statistics over axes (statistics.h). Sums carry the rounding error of each addition along (Neumaier), so that a
 * result in float64 is right to a few units in the last place whatever the number of elements.
 * backends/cpu/reference/statistics.c calls these. */
#include <math.h>

#include "kernels/hypot.h"
#include "kernels/reference/statistics/statistics.h"

/* What is gathered at one position. Complex elements have two parts. */
typedef struct gathered {
  double sum[2], lost[2];
  double center[2]; /* of the second pass: what elements are compared with, or divided by */
  double extreme;
  bool has_nan; /* among what extreme is the largest or smallest of: extreme becomes NaN at the end of the pass */
  int64_t count;
  int parts;
  double parameter;
} gathered;

typedef struct statistic {
  int passes;
  void (*start)(gathered *g); /* of the first pass; NULL: zeros */
  void (*take)(gathered *g, int pass, const double *block, int64_t count);
  void (*between)(gathered *g); /* passes; the sums are zero again afterwards */
  double (*finish)(const gathered *g);
} statistic;

/* Each take_x takes one element, of g->parts numbers; TAKE_BLOCK makes the loop that a statistic names. The sums are
 * copied, so that the compiler keeps them in registers during the loop. */
#define TAKE_BLOCK(name)                                                                       \
  static void take_##name##_block(gathered *g, int pass, const double *block, int64_t count) { \
    gathered own = *g;                                                                         \
    for (int64_t i = 0; i < count; i++) {                                                      \
      take_##name(&own, pass, block + i * own.parts);                                          \
    }                                                                                          \
    *g = own;                                                                                  \
  }

static inline void add(gathered *g, int part, double x) {
  double sum = g->sum[part], next = sum + x;
  double lost = fabs(sum) < fabs(x) ? (x - next) + sum : (sum - next) + x;
  if (lost == lost) { /* NaN after an infinity: nothing to compensate */
    g->lost[part] += lost;
  }
  g->sum[part] = next;
}

/* A sum that overflowed has lost nothing that counts. */
static double total(const gathered *g, int part) {
  return isfinite(g->sum[part]) ? g->sum[part] + g->lost[part] : g->sum[part];
}

static inline double magnitude(const gathered *g, const double *x) {
  return g->parts == 1 ? fabs(x[0]) : nd4c_hypot_f64(x[0], x[1]);
}

/* -- sums ---------------------------------------------------------------------------------------------------------- */

static inline void take_sum(gathered *g, int pass, const double *x) {
  (void)pass;
  add(g, 0, x[0]);
}
TAKE_BLOCK(sum)

static double finish_sum(const gathered *g) {
  return total(g, 0);
}

static double finish_mean(const gathered *g) {
  return total(g, 0) / (double)g->count;
}

static void start_prod(gathered *g) {
  g->sum[0] = 1;
}

static inline void take_prod(gathered *g, int pass, const double *x) {
  (void)pass;
  g->sum[0] *= x[0];
}
TAKE_BLOCK(prod)

static inline void take_magnitudes(gathered *g, int pass, const double *x) {
  (void)pass;
  add(g, 0, magnitude(g, x));
}
TAKE_BLOCK(magnitudes)

/* -- extremes; NaN wins -------------------------------------------------------------------------------------------- */

static void start_max(gathered *g) {
  g->extreme = -INFINITY;
}

static void start_min(gathered *g) {
  g->extreme = INFINITY;
}

static inline void take_max(gathered *g, int pass, const double *x) {
  (void)pass;
  g->extreme = x[0] > g->extreme ? x[0] : g->extreme;
  g->has_nan |= x[0] != x[0];
}
TAKE_BLOCK(max)

static inline void take_min(gathered *g, int pass, const double *x) {
  (void)pass;
  g->extreme = x[0] < g->extreme ? x[0] : g->extreme;
  g->has_nan |= x[0] != x[0];
}
TAKE_BLOCK(min)

static inline void take_largest_magnitude(gathered *g, int pass, const double *x) {
  double size = magnitude(g, x);
  take_max(g, pass, &size);
}
TAKE_BLOCK(largest_magnitude)

static inline void take_smallest_magnitude(gathered *g, int pass, const double *x) {
  double size = magnitude(g, x);
  take_min(g, pass, &size);
}
TAKE_BLOCK(smallest_magnitude)

/* Of no elements (all of them NaN and skipped) there is none. */
static double finish_extreme(const gathered *g) {
  return g->count > 0 ? g->extreme : NAN;
}

static double finish_norm_max(const gathered *g) {
  return g->extreme;
}

/* -- variance: the mean first, then squares of the distances from it, less what the mean's rounding leaves ----------
 */

static inline void take_variance(gathered *g, int pass, const double *x) {
  for (int part = 0; part < g->parts; part++) {
    double distance = x[part] - g->center[part];
    add(g, pass == 0 ? part : 0, pass == 0 ? x[part] : distance * distance);
    g->sum[1] += pass == 0 ? 0 : distance;
  }
}
TAKE_BLOCK(variance)

static void between_variance(gathered *g) {
  g->center[0] = total(g, 0) / (double)g->count;
  g->center[1] = total(g, 1) / (double)g->count;
}

static double finish_variance(const gathered *g) {
  double divisor = fmax((double)g->count - g->parameter, 0);
  double rest = g->parts == 1 ? g->sum[1] * g->sum[1] / (double)g->count : 0;
  return fmax(total(g, 0) - (isfinite(rest) ? rest : 0), 0) / divisor;
}

static double variance_or_nan(const gathered *g) {
  return total(g, 0) == total(g, 0) ? finish_variance(g) : NAN; /* fmax would swallow NaN */
}

static double finish_deviation(const gathered *g) {
  return sqrt(variance_or_nan(g));
}

/* -- ln of the sum of exponentials: the largest goes out of the sum, so that nothing overflows -------------------- */

static inline void take_logsumexp(gathered *g, int pass, const double *x) {
  if (pass == 0) {
    take_max(g, pass, x);
    return;
  }
  add(g, 0, exp(x[0] - g->extreme));
}
TAKE_BLOCK(logsumexp)

static double finish_logsumexp(const gathered *g) {
  return isfinite(g->extreme) ? g->extreme + log(total(g, 0)) : g->extreme;
}

/* -- norms: magnitudes divided by a power of two, so that their powers neither overflow nor vanish ------------------
 */

static void between_norm(gathered *g) {
  bool usable = isfinite(g->extreme) && g->extreme > 0;
  g->center[0] = usable ? ldexp(1, ilogb(g->extreme)) : 1;
}

static inline void take_norm2(gathered *g, int pass, const double *x) {
  if (pass == 0) {
    take_largest_magnitude(g, pass, x);
    return;
  }
  double size = magnitude(g, x) / g->center[0];
  add(g, 0, size * size);
}
TAKE_BLOCK(norm2)

static double finish_norm2(const gathered *g) {
  return sqrt(total(g, 0)) * g->center[0];
}

static double finish_sum_square(const gathered *g) {
  return total(g, 0) * g->center[0] * g->center[0];
}

static void start_norm_p(gathered *g) {
  g->extreme = g->parameter < 0 ? INFINITY : 0;
}

static inline void take_norm_p(gathered *g, int pass, const double *x) {
  if (pass == 0) {
    (g->parameter < 0 ? take_smallest_magnitude : take_largest_magnitude)(g, pass, x);
    return;
  }
  double size = magnitude(g, x);
  if (isfinite(g->parameter)) {
    add(g, 0, g->parameter == 0 ? (size != 0) : pow(size / g->center[0], g->parameter));
  }
}
TAKE_BLOCK(norm_p)

static double finish_norm_p(const gathered *g) {
  if (g->parameter == 0) {
    return total(g, 0);
  }
  return isinf(g->parameter) ? g->extreme : pow(total(g, 0), 1 / g->parameter) * g->center[0];
}

/* -- entropies: 0 ln 0 is 0 ---------------------------------------------------------------------------------------- */

static inline void take_entropy(gathered *g, int pass, const double *x) {
  (void)pass;
  add(g, 0, x[0] == 0 ? 0 : -x[0] * log(x[0]));
}
TAKE_BLOCK(entropy)

static inline void take_shannon_entropy(gathered *g, int pass, const double *x) {
  (void)pass;
  add(g, 0, x[0] == 0 ? 0 : -x[0] * log2(x[0]));
}
TAKE_BLOCK(shannon_entropy)

static double finish_log_entropy(const gathered *g) {
  return log(total(g, 0));
}

/* -- counts -------------------------------------------------------------------------------------------------------- */

static inline void take_zeros(gathered *g, int pass, const double *x) {
  (void)pass;
  g->sum[0] += x[0] == 0 && x[g->parts - 1] == 0;
}
TAKE_BLOCK(zeros)

static double finish_count_zero(const gathered *g) {
  return g->sum[0];
}

static double finish_count_nonzero(const gathered *g) {
  return (double)g->count - g->sum[0];
}

static double finish_zero_fraction(const gathered *g) {
  return g->sum[0] / (double)g->count;
}

static const statistic statistics[ND4C_REF_STATISTIC_COUNT] = {
    [ND4C_REF_STATISTIC_sum] = {1, NULL, take_sum_block, NULL, finish_sum},
    [ND4C_REF_STATISTIC_prod] = {1, start_prod, take_prod_block, NULL, finish_sum},
    [ND4C_REF_STATISTIC_mean] = {1, NULL, take_sum_block, NULL, finish_mean},
    [ND4C_REF_STATISTIC_max] = {1, start_max, take_max_block, NULL, finish_extreme},
    [ND4C_REF_STATISTIC_min] = {1, start_min, take_min_block, NULL, finish_extreme},
    [ND4C_REF_STATISTIC_variance] = {2, NULL, take_variance_block, between_variance, variance_or_nan},
    [ND4C_REF_STATISTIC_deviation] = {2, NULL, take_variance_block, between_variance, finish_deviation},
    [ND4C_REF_STATISTIC_logsumexp] = {2, start_max, take_logsumexp_block, NULL, finish_logsumexp},
    [ND4C_REF_STATISTIC_norm1] = {1, NULL, take_magnitudes_block, NULL, finish_sum},
    [ND4C_REF_STATISTIC_norm2] = {2, NULL, take_norm2_block, between_norm, finish_norm2},
    [ND4C_REF_STATISTIC_norm_max] = {1, NULL, take_largest_magnitude_block, NULL, finish_norm_max},
    [ND4C_REF_STATISTIC_norm_p] = {2, start_norm_p, take_norm_p_block, between_norm, finish_norm_p},
    [ND4C_REF_STATISTIC_sum_square] = {2, NULL, take_norm2_block, between_norm, finish_sum_square},
    [ND4C_REF_STATISTIC_abs_min] = {1, start_min, take_smallest_magnitude_block, NULL, finish_extreme},
    [ND4C_REF_STATISTIC_abs_mean] = {1, NULL, take_magnitudes_block, NULL, finish_mean},
    [ND4C_REF_STATISTIC_entropy] = {1, NULL, take_entropy_block, NULL, finish_sum},
    [ND4C_REF_STATISTIC_shannon_entropy] = {1, NULL, take_shannon_entropy_block, NULL, finish_sum},
    [ND4C_REF_STATISTIC_log_entropy] = {1, NULL, take_entropy_block, NULL, finish_log_entropy},
    [ND4C_REF_STATISTIC_count_nonzero] = {1, NULL, take_zeros_block, NULL, finish_count_nonzero},
    [ND4C_REF_STATISTIC_count_zero] = {1, NULL, take_zeros_block, NULL, finish_count_zero},
    [ND4C_REF_STATISTIC_zero_fraction] = {1, NULL, take_zeros_block, NULL, finish_zero_fraction},
};

/* -- walking ------------------------------------------------------------------------------------------------------- */

static int parts_of(nd4c_dtype dtype) {
  return nd4c_reference_kind(dtype) == ND4C_KIND_COMPLEX ? 2 : 1;
}

/* Moves the numbers of a block to its front; returns how many there are. */
static int64_t drop_nan(double *block, int64_t count) {
  int64_t kept = 0;
  for (int64_t i = 0; i < count; i++) {
    block[kept] = block[i];
    kept += block[i] == block[i];
  }
  return kept;
}

/* One pass over all elements of `inner`, innermost axis in blocks. */
static void run_pass(const nd4c_ref_gathering *gathering, const statistic *s, int pass, int64_t base, gathered *g) {
  const nd4c_ref_axes *inner = &gathering->inner;
  const int64_t *strides[1] = {inner->x};
  double block[2 * ND4C_REF_BLOCK];
  nd4c_ref_walk walk;
  for (bool more = nd4c_ref_walk_start(&walk, inner->rank, inner->shape, 1, strides); more;
       more = nd4c_ref_walk_next(&walk)) {
    for (int64_t done = 0; done < walk.length; done += ND4C_REF_BLOCK) {
      int64_t count = walk.length - done < ND4C_REF_BLOCK ? walk.length - done : ND4C_REF_BLOCK;
      int64_t start = base + walk.at[0] + done * walk.step[0];
      nd4c_ref_read_doubles(gathering->x_dtype, gathering->x, start, walk.step[0], count, block);
      count = gathering->skip_nan ? drop_nan(block, count) : count;
      s->take(g, pass, block, count);
      g->count += pass == 0 ? count : 0;
    }
  }
}

static double gather_at(const nd4c_ref_gathering *gathering, int64_t base) {
  const statistic *s = &statistics[gathering->statistic];
  gathered g = {.parts = parts_of(gathering->x_dtype), .parameter = gathering->parameter};
  if (s->start != NULL) {
    s->start(&g);
  }
  for (int pass = 0; pass < s->passes; pass++) {
    if (pass > 0) {
      if (s->between != NULL) {
        s->between(&g);
      }
      g.sum[0] = g.sum[1] = g.lost[0] = g.lost[1] = 0;
    }
    run_pass(gathering, s, pass, base, &g);
    g.extreme = g.has_nan ? (double)NAN : g.extreme;
  }
  return s->finish(&g);
}

void nd4c_ref_gather(const nd4c_ref_gathering *gathering, int64_t begin, int64_t end) {
  for (int64_t position = begin; position < end; position++) {
    int64_t x, y;
    nd4c_ref_axes_at(&gathering->outer, position, &x, &y);
    double result = gather_at(gathering, x);
    nd4c_ref_write_doubles(gathering->y_dtype, gathering->y, y, 1, 1, &result);
  }
}

void nd4c_ref_split_axes(const nd4c_ref_tensor *x, const bool *reduced, bool keepdims, const nd4c_ref_tensor *y,
                         nd4c_ref_axes *outer, nd4c_ref_axes *inner) {
  int32_t place = 0;
  outer->rank = inner->rank = 0;
  for (int32_t axis = 0; axis < x->rank; axis++) {
    nd4c_ref_axes *group = reduced[axis] ? inner : outer;
    group->shape[group->rank] = x->shape[axis];
    group->x[group->rank] = x->strides[axis];
    group->y[group->rank++] = reduced[axis] ? 0 : y->strides[place];
    place += keepdims || !reduced[axis];
  }
}
