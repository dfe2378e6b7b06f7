/* Normalisations of rows and groups (normalization.h). Engine reference calls these. */
#include "kernels/reference/normalization/normalization.h"

#include <math.h>

#include "kernels/reference/support/numbers.h"

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

void nd4c_ref_group_powers(int64_t size, const double *x, const int64_t *groups, double p, double *sums) {
  for (int64_t i = 0; i < size; i++) {
    sums[groups[i]] += p == 2 ? x[i] * x[i] : p == 1 ? fabs(x[i]) : pow(fabs(x[i]), p);
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
