/* Implements cells.h. Compiled once per level. simd/window/window_cells.c reads the table by nd4c_simd.cells. */
#include "kernels/cpu/window/cells.h"

#include <stdbool.h>

#include "kernels/cpu/support/level.h"

extern const nd4c_cells_table ND4C_LEVEL_NAME(nd4c_cells_table);

/* Numbers of a run that are compared side by side. */
enum { LANES = 8 };

#define NAME(name) name##_float32
#define T float
#define P int32_t
#include "kernels/cpu/window/cells_max.h"
#undef NAME
#undef T
#undef P
#define P int64_t
#define NAME(name) name##_float64
#define T double
#include "kernels/cpu/window/cells_max.h"
#undef NAME
#undef T
#define NAME(name) name##_int64
#define T int64_t
#include "kernels/cpu/window/cells_max.h"
#undef NAME
#undef T
#undef P

/* -- sums ---------------------------------------------------------------------------------------------------------- */

ND4C_INLINED void sum_tap(const nd4c_cells_tap *tap, int64_t step, const double *x, double *values) {
  ND4C_INDEPENDENT
  for (int64_t i = tap->first; i < tap->last; i++) {
    values[i] += x[tap->offset + i * step];
  }
}

static void sum_spread(const nd4c_cells_row *row, const double *x, double *values) {
  for (int64_t k = 0; k < row->taps; k++) {
    if (row->step == 1) {
      sum_tap(&row->tap[k], 1, x, values);
    } else if (row->step == 2) {
      sum_tap(&row->tap[k], 2, x, values);
    } else {
      sum_tap(&row->tap[k], row->step, x, values);
    }
  }
}

static void sum_runs(const nd4c_cells_row *row, const double *x, double *values) {
  for (int64_t i = 0; i < row->windows; i++) {
    double sum = values[i];
    for (int64_t k = 0; k < row->counts[i]; k++) {
      sum += x[row->starts[i] + k];
    }
    values[i] = sum;
  }
}

/* -- morphology ---------------------------------------------------------------------------------------------------- */

ND4C_INLINED void morph_tap(bool erodes, const nd4c_cells_tap *tap, int64_t step, const double *x, double w,
                            double *values) {
  ND4C_INDEPENDENT
  for (int64_t i = tap->first; i < tap->last; i++) {
    const double cell = x[tap->offset + i * step], v = erodes ? cell - w : cell + w, old = values[i];
    const bool keeps = ND4C_IS_NAN(old) | (erodes ? v >= old : v <= old);
    values[i] = keeps ? old : v;
  }
}

ND4C_INLINED void morph(bool erodes, const nd4c_cells_row *row, const double *x, const double *w, double *values) {
  for (int64_t k = 0; k < row->taps; k++) {
    if (row->step == 1) {
      morph_tap(erodes, &row->tap[k], 1, x, w[k], values);
    } else {
      morph_tap(erodes, &row->tap[k], row->step, x, w[k], values);
    }
  }
}

static void dilate(const nd4c_cells_row *row, const double *x, const double *w, double *values) {
  morph(false, row, x, w, values);
}

static void erode(const nd4c_cells_row *row, const double *x, const double *w, double *values) {
  morph(true, row, x, w, values);
}

#define MAX(dtype) {.spread = max_spread_##dtype, .runs = max_runs_##dtype}

const nd4c_cells_table ND4C_LEVEL_NAME(nd4c_cells_table) = {.float32 = MAX(float32),
                                                            .float64 = MAX(float64),
                                                            .int64 = MAX(int64),
                                                            .sum_spread = sum_spread,
                                                            .sum_runs = sum_runs,
                                                            .dilate = dilate,
                                                            .erode = erode};
