/* Normalisations of rows and groups (normalization.h). Engine reference calls these. */
#include "kernels/reference/normalization/normalization.h"

#include <math.h>

#include "kernels/reference/support/numbers.h"
#include "kernels/reference/support/runs.h"

enum { MAX_RANK = 32 };

static void row_statistics(const double *x, int64_t length, bool rms, double *mean, double *variance) {
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < length && !rms; i++) {
    sum += x[i];
  }
  *mean = rms ? 0 : sum / (double)length;
  for (int64_t i = 0; i < length; i++) {
    squares += (x[i] - *mean) * (x[i] - *mean);
  }
  *variance = squares / (double)length;
}

void nd4c_ref_normalize_rows(const nd4c_ref_rows_args *args, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; row++) {
    double mean, variance;
    row_statistics(args->x + row * args->length, args->length, args->rms, &mean, &variance);
    double below = sqrt(variance + args->epsilon);
    for (int64_t flat = row * args->length; flat < (row + 1) * args->length; flat++) {
      int64_t at = flat / args->inner % args->count;
      double value = (args->x[flat] - mean) / below;
      value = args->scale != NULL ? value * args->scale[at] : value;
      args->y[flat] = args->bias != NULL ? value + args->bias[at] : value;
    }
    if (args->mean != NULL) {
      args->mean[row] = mean;
      args->inverse_deviation[row] = 1 / below;
    }
  }
}

int64_t nd4c_ref_group_elements(int32_t rank, const int64_t *shape, const bool *reduced, int64_t *groups) {
  int64_t steps[MAX_RANK] = {0}, index[MAX_RANK] = {0}, count = 1, size = nd4c_ref_extent(rank, shape);
  for (int32_t axis = rank - 1; axis >= 0; axis--) {
    steps[axis] = reduced[axis] ? 0 : count;
    count *= reduced[axis] ? 1 : shape[axis];
  }
  for (int64_t flat = 0; flat < size; flat++) {
    groups[flat] = nd4c_index_offset(rank, index, steps);
    (void)nd4c_index_next(rank, shape, index);
  }
  return count;
}

static double power_of(double size, double p) {
  return p == 2 ? size * size : p == 1 ? size : pow(size, p);
}

void nd4c_ref_group_powers(int64_t size, const double *x, const int64_t *groups, double p, double *sums) {
  for (int64_t i = 0; i < size; i++) {
    sums[groups[i]] += power_of(fabs(x[i]), p);
  }
}

/* A sum of powers above this has lost nothing that a double shows: each lost 2^-1075 at most. */
#define LEAST_SUM 0x1p-900

/* Looks at the elements of groups that have a unit: the first look finds their largest, the second sums their powers.
 */
static void look_again(const nd4c_ref_tensor *x, const int64_t *steps, double p, bool is_first, double *sums,
                       double *units) {
  const int64_t *const strides[2] = {x->strides, steps};
  nd4c_ref_walk walk;
  for (bool more = nd4c_ref_walk_start(&walk, x->rank, x->shape, 2, strides); more; more = nd4c_ref_walk_next(&walk)) {
    for (int64_t i = 0; i < walk.length; i++) {
      const int64_t group = walk.at[1] + i * walk.step[1];
      if (units[group] >= 0) {
        const double size = fabs(nd4c_value_load(x->dtype, x->data, walk.at[0] + i * walk.step[0]).f);
        units[group] = is_first && size > units[group] ? size : units[group];
        sums[group] += is_first ? 0 : power_of(size / units[group], p);
      }
    }
  }
}

void nd4c_ref_group_norms(const nd4c_ref_tensor *x, const int64_t *steps, int64_t count, double p, double *sums,
                          double *units) {
  bool is_lossy = false;
  for (int64_t i = 0; i < count; i++) {
    units[i] = sums[i] < LEAST_SUM || isinf(sums[i]) ? 0 : -1;
    is_lossy = is_lossy || units[i] == 0;
  }
  if (is_lossy) {
    look_again(x, steps, p, true, sums, units);
    for (int64_t i = 0; i < count; i++) {
      units[i] = units[i] > 0 && isfinite(units[i]) ? ldexp(1, ilogb(units[i])) : -1;
      sums[i] = units[i] > 0 ? 0 : sums[i];
    }
    look_again(x, steps, p, false, sums, units);
  }
  for (int64_t i = 0; i < count; i++) {
    const double root = p == 2 ? sqrt(sums[i]) : p == 1 ? sums[i] : pow(sums[i], 1 / p);
    sums[i] = units[i] > 0 ? root * units[i] : root;
  }
}

void nd4c_ref_group_statistics(int64_t size, const double *x, const int64_t *groups, int64_t count, double *mean,
                               double *variance) {
  double members = count > 0 ? (double)(size / count) : 0;
  for (int64_t i = 0; i < size; i++) {
    mean[groups[i]] += x[i];
  }
  for (int64_t i = 0; i < count; i++) {
    mean[i] /= members;
  }
  for (int64_t i = 0; i < size; i++) {
    variance[groups[i]] += (x[i] - mean[groups[i]]) * (x[i] - mean[groups[i]]);
  }
  for (int64_t i = 0; i < count; i++) {
    variance[i] /= members;
  }
}
