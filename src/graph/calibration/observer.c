/* Implements observer.h: the histogram, and the range that each method takes from it. */
#include "graph/calibration/observer.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

enum {
  MIDDLE = ND4C_OBSERVER_BINS / 2, /* the bin that begins with 0 */
  LEAST_EXPONENT = -126,
  MAGNITUDES = MIDDLE / 2, /* bins of magnitudes for the entropy */
  LEVELS = 128,            /* magnitudes that int8 tells apart */
  STRIDE = 8,              /* magnitudes between two thresholds that are compared */
  CLIPS = 64               /* bounds that are compared on each side for the mean square error */
};

static bool counts(nd4c_calibration_method method) {
  return method != ND4C_CALIBRATION_MIN_MAX && method != ND4C_CALIBRATION_MOVING_AVERAGE;
}

nd4c_status nd4c_observer_init(nd4c_observer *observer, const nd4c_observing *how) {
  *observer = (nd4c_observer){.exponent = LEAST_EXPONENT};
  return counts(how->method)
             ? nd4c_allocate_or_fail(ND4C_OBSERVER_BINS, sizeof *observer->bins, "a histogram", &observer->bins)
             : ND4C_OK;
}

void nd4c_observer_free(nd4c_observer *observer) {
  nd4c_deallocate(observer->bins);
  observer->bins = NULL;
}

nd4c_extremes nd4c_extremes_of(const float *elements, int64_t count) {
  float low = elements[0], high = elements[0], odd = 0;
  for (int64_t i = 0; i < count; i++) {
    low = elements[i] < low ? elements[i] : low;
    high = elements[i] > high ? elements[i] : high;
    odd += elements[i] - elements[i]; /* 0 for finite numbers, else NaN for good */
  }
  return (nd4c_extremes){.finite = odd == 0, .low = (double)low, .high = (double)high};
}

/* -- the histogram ------------------------------------------------------------------------------------------------- */

/* Merges bins in pairs, from 0 outwards, so often that the bins cover 2^exponent. */
static void widen(nd4c_observer *observer, int32_t exponent) {
  const int32_t times = exponent - observer->exponent, shift = times < 14 ? times : 14;
  observer->exponent = exponent;
  if (observer->elements == 0) {
    return;
  }
  for (int32_t i = 0; i < MIDDLE; i++) { /* each target lies nearer to 0, so its own count has moved already */
    const int64_t above = observer->bins[MIDDLE + i], below = observer->bins[MIDDLE - 1 - i];
    observer->bins[MIDDLE + i] = observer->bins[MIDDLE - 1 - i] = 0;
    observer->bins[MIDDLE + (i >> shift)] += above;
    observer->bins[MIDDLE - 1 - (i >> shift)] += below;
  }
}

static void count_elements(nd4c_observer *observer, double magnitude, const float *elements, int64_t count) {
  int exponent = LEAST_EXPONENT;
  if (magnitude > 0) {
    (void)frexp(magnitude, &exponent); /* magnitude < 2^exponent */
  }
  if (exponent > observer->exponent) {
    widen(observer, exponent);
  }
  const double scale = ldexp(MIDDLE, -observer->exponent);
  for (int64_t i = 0; i < count; i++) {
    observer->bins[(int32_t)((double)elements[i] * scale + MIDDLE)]++;
  }
  observer->elements += count;
}

void nd4c_observer_add(nd4c_observer *observer, const nd4c_observing *how, nd4c_extremes extremes,
                       const float *elements, int64_t count) {
  if (!observer->seen) {
    observer->low = extremes.low;
    observer->high = extremes.high;
  } else if (how->method == ND4C_CALIBRATION_MOVING_AVERAGE) {
    observer->low += how->momentum * (extremes.low - observer->low);
    observer->high += how->momentum * (extremes.high - observer->high);
  } else {
    observer->low = fmin(observer->low, extremes.low);
    observer->high = fmax(observer->high, extremes.high);
  }
  observer->seen = true;
  if (observer->bins != NULL) {
    count_elements(observer, fmax(-extremes.low, extremes.high), elements, count);
  }
}

/* -- percentile ---------------------------------------------------------------------------------------------------- */

static double width_of(const nd4c_observer *observer) {
  return ldexp(1.0 / MIDDLE, observer->exponent);
}

static void find_percentile(const nd4c_observer *observer, double percentile, double *low, double *high) {
  const double cut = (100 - percentile) / 200 * (double)observer->elements;
  int32_t first = 0, last = ND4C_OBSERVER_BINS - 1;
  for (double below = 0; first < last && (below += (double)observer->bins[first]) <= cut;) {
    first++;
  }
  for (double above = 0; last > first && (above += (double)observer->bins[last]) <= cut;) {
    last--;
  }
  *low = (first - MIDDLE) * width_of(observer);
  *high = (last + 1 - MIDDLE) * width_of(observer);
}

/* -- entropy ------------------------------------------------------------------------------------------------------- */

/* Counts of magnitudes below `limit`, shared out evenly over the bins of each level that have counts: what is left of
 * them after rounding. Returns the divergence of it from the counts, in which the last bin has all `beyond`, too. */
static double divergence(const double *counts_of, int32_t limit, double beyond) {
  double total = beyond, kept = 0, sum = 0;
  for (int32_t i = 0; i < limit; i++) {
    kept += counts_of[i];
  }
  total += kept;
  for (int32_t level = 0; level < LEVELS; level++) {
    const int32_t begin = (int32_t)((int64_t)level * limit / LEVELS);
    const int32_t end = (int32_t)((int64_t)(level + 1) * limit / LEVELS);
    double together = 0;
    int32_t filled = 0;
    for (int32_t i = begin; i < end; i++) {
      together += counts_of[i];
      filled += counts_of[i] > 0;
    }
    for (int32_t i = begin; i < end; i++) {
      const double p = (counts_of[i] + (i == limit - 1 ? beyond : 0)) / total;
      const double q = counts_of[i] > 0 ? together / filled / kept : 1e-9; /* 0 would make it infinite */
      sum += p > 0 ? p * log(p / q) : 0;
    }
  }
  return sum;
}

/* Clips at the magnitude whose levels keep most of the distribution. */
static void find_entropy(const nd4c_observer *observer, double *magnitudes, double *low, double *high) {
  int32_t used = 0;
  double beyond = 0, best = INFINITY;
  for (int32_t i = 0; i < MAGNITUDES; i++) {
    const int64_t *above = &observer->bins[MIDDLE + 2 * i], *below = &observer->bins[MIDDLE - 1 - 2 * i];
    magnitudes[i] = (double)(above[0] + above[1] + below[0] + below[-1]);
    used = magnitudes[i] > 0 ? i + 1 : used;
  }
  magnitudes[0] = magnitudes[1]; /* the zeros that a relu makes have no error, whatever the steps */
  int32_t limit = used;
  for (int32_t i = LEVELS; i < used; i++) {
    beyond += magnitudes[i];
  }
  for (int32_t tried = LEVELS; tried < used; tried += STRIDE) {
    const double lost = divergence(magnitudes, tried, beyond);
    limit = lost < best ? tried : limit;
    best = lost < best ? lost : best;
    for (int32_t i = tried; i < tried + STRIDE && i < used; i++) {
      beyond -= magnitudes[i];
    }
  }
  if (used > LEVELS && divergence(magnitudes, used, 0) <= best) {
    limit = used;
  }
  *high = 2 * limit * width_of(observer);
  *low = -*high;
}

/* -- mean square error --------------------------------------------------------------------------------------------- */

/* Sum of squares of the errors: of clipping, and a twelfth of a step's square for each element that is rounded. */
static double square_error(const nd4c_observer *observer, double low, double high) {
  const double width = width_of(observer), step = (high - low) / 255, rounding = step * step / 12;
  double sum = 0;
  for (int32_t i = 0; i < ND4C_OBSERVER_BINS; i++) {
    if (observer->bins[i] > 0) {
      const double x = (i - MIDDLE + 0.5) * width;
      const double beyond = x < low ? low - x : x > high ? x - high : 0;
      sum += (double)observer->bins[i] * (beyond > 0 ? beyond * beyond : rounding);
    }
  }
  return sum;
}

/* Of `bound` times 1/CLIPS to 1, the one with the least error; `other` is the opposite bound. */
static double best_bound(const nd4c_observer *observer, double bound, double other) {
  double best = bound, least = INFINITY;
  for (int32_t i = CLIPS; i > 0 && bound != 0; i--) {
    const double tried = bound * i / CLIPS;
    const double error = square_error(observer, fmin(tried, other), fmax(tried, other));
    best = error < least ? tried : best;
    least = error < least ? error : least;
  }
  return best;
}

static void find_mse(const nd4c_observer *observer, double *low, double *high) {
  const double least = fmin(observer->low, 0), most = fmax(observer->high, 0);
  *low = least;
  *high = most;
  for (int32_t round = 0; round < 2; round++) { /* each bound given the other one */
    *high = best_bound(observer, most, *low);
    *low = best_bound(observer, least, *high);
  }
}

/* -- all ----------------------------------------------------------------------------------------------------------- */

void nd4c_observer_range(const nd4c_observer *observer, const nd4c_observing *how, double *scratch, double *low,
                         double *high) {
  *low = observer->low;
  *high = observer->high;
  switch (how->method) {
    case ND4C_CALIBRATION_PERCENTILE:
      find_percentile(observer, how->percentile, low, high);
      break;
    case ND4C_CALIBRATION_ENTROPY:
      find_entropy(observer, scratch, low, high);
      break;
    case ND4C_CALIBRATION_MSE:
      find_mse(observer, low, high);
      break;
    default:
      return;
  }
  *low = fmax(*low, observer->low); /* a bound can lie between two bins */
  *high = fmin(*high, observer->high);
  *high = fmax(*high, *low);
}
