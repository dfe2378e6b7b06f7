/* Implements regions.h. Compiled once per level: the compiler vectorises the plain loops. */
#include "kernels/cpu/image/regions.h"

#include "kernels/cpu/support/level.h"

extern const nd4c_regions_table ND4C_LEVEL_NAME(nd4c_regions_table);

/* Rows that are added together, so that the line is read and written less often. */
enum { TOGETHER = 4 };

/* line[i] (+)= sum of weights[k] rows[k][i]. */
ND4C_INLINED void add_rows(int64_t n, int count, bool fresh, const float *plane, int64_t step, const int32_t *cells,
                           const double *weights, double *line) {
  const float *a = plane + cells[0] * step, *b = plane + cells[count > 1 ? 1 : 0] * step,
              *c = plane + cells[count > 2 ? 2 : 0] * step, *d = plane + cells[count > 3 ? 3 : 0] * step;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    double sum = weights[0] * (double)a[i];
    sum = count > 1 ? nd4c_multiply_add_float64(weights[1], (double)b[i], sum) : sum;
    sum = count > 2 ? nd4c_multiply_add_float64(weights[2], (double)c[i], sum) : sum;
    sum = count > 3 ? nd4c_multiply_add_float64(weights[3], (double)d[i], sum) : sum;
    line[i] = fresh ? sum : line[i] + sum;
  }
}

static void sum_rows(int64_t n, const float *plane, int64_t step, int64_t count, const int32_t *cells,
                     const double *weights, double *line) {
  for (int64_t k = 0; k < count; k += TOGETHER) {
    const int64_t left = count - k;
    if (k > 0) {
      if (left >= TOGETHER) {
        add_rows(n, TOGETHER, false, plane, step, cells + k, weights + k, line);
      } else {
        for (int64_t one = k; one < count; one++) {
          add_rows(n, 1, false, plane, step, cells + one, weights + one, line);
        }
      }
    } else if (left >= TOGETHER) {
      add_rows(n, TOGETHER, true, plane, step, cells, weights, line);
    } else if (left == 3) {
      add_rows(n, 3, true, plane, step, cells, weights, line);
    } else if (left == 2) {
      add_rows(n, 2, true, plane, step, cells, weights, line);
    } else {
      add_rows(n, 1, true, plane, step, cells, weights, line);
    }
  }
}

static void average(const float *plane, int64_t step, const nd4c_region_axis *rows, const nd4c_region_axis *columns,
                    int64_t width, double *line, float *y) {
  for (int64_t i = 0; i < rows->bins; i++) {
    const int64_t first = rows->begins[i], count = rows->begins[i + 1] - first;
    sum_rows(width, plane, step, count, rows->cells + first, rows->weights + first, line);
    for (int64_t j = 0; j < columns->bins; j++) {
      double sum = 0;
      for (int64_t k = count > 0 ? columns->begins[j] : columns->begins[j + 1]; k < columns->begins[j + 1]; k++) {
        sum = nd4c_multiply_add_float64(columns->weights[k], line[columns->cells[k]], sum);
      }
      *y++ = (float)sum;
    }
  }
}

/* The larger one; a NaN stays. */
ND4C_INLINED double larger(double best, double value) {
  return ND4C_IS_NAN(best) || value <= best ? best : value;
}

/* line[i] = the largest of weights[k] rows[k][i]. True if a product is -infinity: times 0 it is NaN, so a column's
 * weight of 0 may not meet the larger products alone. */
static bool compare_rows(int64_t n, const float *plane, int64_t step, int64_t count, const int32_t *cells,
                         const double *weights, double *line) {
  int lowest = 0;
  for (int64_t k = 0; k + 1 < count; k += 2) {
    const float *a = plane + cells[k] * step, *b = plane + cells[k + 1] * step;
    const double first = weights[k], second = weights[k + 1];
    if (k == 0) {
      ND4C_INDEPENDENT
      for (int64_t i = 0; i < n; i++) {
        const double left = first * (double)a[i], right = second * (double)b[i];
        lowest |= (left == -(double)INFINITY) | (right == -(double)INFINITY);
        line[i] = larger(left, right);
      }
    } else {
      ND4C_INDEPENDENT
      for (int64_t i = 0; i < n; i++) {
        const double left = first * (double)a[i], right = second * (double)b[i];
        lowest |= (left == -(double)INFINITY) | (right == -(double)INFINITY);
        line[i] = larger(larger(line[i], left), right);
      }
    }
  }
  return lowest != 0;
}

/* Whether a product of the bin's rows with a column of weight 0 is NaN. */
static bool has_nan(const float *column, int64_t step, int64_t count, const int32_t *cells, const double *weights) {
  int nans = 0;
  for (int64_t k = 0; k < count; k++) {
    const double value = 0 * (weights[k] * (double)column[cells[k] * step]);
    nans |= ND4C_IS_NAN(value);
  }
  return nans != 0;
}

/* Weights are not negative: the largest product is that of the column's weight with the largest one of the rows. */
static void largest(const float *plane, int64_t step, const nd4c_region_axis *rows, const nd4c_region_axis *columns,
                    int64_t width, double *line, float *y) {
  for (int64_t i = 0; i < rows->bins; i++) {
    const int64_t first = rows->begins[i], count = rows->begins[i + 1] - first;
    const bool lowest = compare_rows(width, plane, step, count, rows->cells + first, rows->weights + first, line);
    for (int64_t j = 0; j < columns->bins; j++) {
      const bool zero = rows->outside[i] || columns->outside[j];
      double best = zero ? 0 : -(double)INFINITY;
      int nans = 0; /* looked for beside the comparison, which is one instruction then */
      for (int64_t k = count > 0 ? columns->begins[j] : columns->begins[j + 1]; k < columns->begins[j + 1]; k++) {
        const int32_t cell = columns->cells[k];
        const double value = columns->weights[k] * line[cell];
        nans |= ND4C_IS_NAN(value);
        if (lowest && columns->weights[k] == 0) {
          nans |= has_nan(plane + cell, step, count, rows->cells + first, rows->weights + first);
        }
        best = value > best ? value : best;
      }
      *y++ = nans != 0 ? NAN : (float)best;
    }
  }
}

const nd4c_regions_table ND4C_LEVEL_NAME(nd4c_regions_table) = {.average = average, .largest = largest};
