/* The loops of pool.h of one float: a template of each_dtype.h, with the names of pool_vector.h. pool.c includes it;
 * simd/window/window_pool.c calls the loops. */

enum { NAME(LANES) = VECTOR_BYTES / sizeof(T) };

/* -- vectors ---------------------------------------------------------------------------------------------------- */

ND4C_INLINED V NAME(joined)(bool largest, V a, V b) {
  return largest ? VECTOR_LARGER(a, b) : FUSED(REPEAT(1), a, b);
}

ND4C_INLINED V NAME(scaled)(bool largest, V sum, T scale) {
  V mean = sum * REPEAT(scale);
  return largest ? sum : mean;
}

/* -- channels side by side -------------------------------------------------------------------------------------- */

/* `vectors` vectors of channels, in registers for all cells of the window; `n` channels of a vector that is not whole.
 * x: where offsets count from. */
ND4C_INLINED void NAME(join_cells)(bool largest, int vectors, int64_t n, const nd4c_pool_cells *at, const char *x,
                                   T scale, T *y) {
  const int64_t *offsets = at->offsets;
  const int64_t count = at->count;
  const T *first = at->resumed ? y : (const T *)(const void *)(x + offsets[0]);
  V sum[CELL_VECTORS];
  for (int v = 0; v < vectors; v++) {
    sum[v] = n == NAME(LANES) ? LOAD(first + v * NAME(LANES)) : PART_LOAD(first, n);
  }
  for (int64_t cell = at->resumed ? 0 : 1; cell < count; cell++) {
    const T *from = (const T *)(const void *)(x + offsets[cell]);
    for (int v = 0; v < vectors; v++) {
      V next = n == NAME(LANES) ? LOAD(from + v * NAME(LANES)) : PART_LOAD(from, n);
      sum[v] = NAME(joined)(largest, sum[v], next);
    }
  }
  for (int v = 0; v < vectors; v++) {
    V result = NAME(scaled)(largest, sum[v], scale);
    if (n == NAME(LANES)) {
      STORE(y + v * NAME(LANES), result);
    } else {
      PART_STORE(y, result, n);
    }
  }
}

#define ND4C_CELL_LANES NAME(LANES)
#define ND4C_CELL_VECTORS CELL_VECTORS
#define ND4C_CELL_SCALE T
#include "kernels/cpu/window/pool_windows.h"

/* -- positions side by side ------------------------------------------------------------------------------------- */

ND4C_INLINED V NAME(join_column)(bool largest, bool whole, int64_t count, const void *const *rows, int64_t i,
                                 int64_t n) {
  V sum = whole ? LOAD((const T *)rows[0] + i) : PART_LOAD((const T *)rows[0] + i, n - i);
  for (int64_t r = 1; r < count; r++) {
    const T *x = (const T *)rows[r] + i;
    sum = NAME(joined)(largest, sum, whole ? LOAD(x) : PART_LOAD(x, n - i));
  }
  return sum;
}

/* `count` known when this is compiled makes the usual windows loops without a loop inside. */
ND4C_INLINED void NAME(join_rows)(bool largest, int64_t n, int64_t count, const void *const *rows, T *line) {
  int64_t i = 0;
  for (; i + NAME(LANES) <= n; i += NAME(LANES)) {
    for (int64_t r = count > 2 ? count - 2 : 0; r < count; r++) { /* what the next windows see first */
      ND4C_PREFETCH((uintptr_t)rows[r] + (uintptr_t)i * sizeof(T) + AHEAD);
    }
    STORE(line + i, NAME(join_column)(largest, true, count, rows, i, n));
  }
  if (i < n) {
    PART_STORE(line + i, NAME(join_column)(largest, false, count, rows, i, n), n - i);
  }
}

/* Cells k of LANES windows from `at` on. */
ND4C_INLINED V NAME(cell)(const T *at, int64_t stride) {
  if (stride == 1) {
    return LOAD(at);
  }
  if (stride == 2) {
    V first = LOAD(at), second = LOAD(at + NAME(LANES));
    return EVENS(first, second);
  }
  T gathered[NAME(LANES)];
  for (int64_t l = 0; l < NAME(LANES); l++) {
    gathered[l] = at[l * stride];
  }
  return LOAD(gathered);
}

/* LANES windows from `at` on; stride 2 gets neighbouring cells out of the same two vectors. */
ND4C_INLINED V NAME(windows)(bool largest, const T *at, int64_t stride, int64_t kernel, int64_t dilation) {
  V sum = NAME(cell)(at, stride);
  int64_t k = 1;
  if (stride == 2 && dilation == 1 && kernel > 1) {
    V first = LOAD(at), second = LOAD(at + NAME(LANES));
    sum = NAME(joined)(largest, sum, ODDS(first, second));
    k = 2;
  }
  for (; k < kernel; k++) {
    sum = NAME(joined)(largest, sum, NAME(cell)(at + k * dilation, stride));
  }
  return sum;
}

ND4C_INLINED void NAME(line)(bool largest, const nd4c_pool_line *at, int64_t stride, int64_t kernel, int64_t dilation,
                             const T *line, const T *factors, T *y) {
  int64_t i = 0;
  for (; i < at->windows; i += NAME(LANES)) {
    V sum = NAME(windows)(largest, line + i * stride, stride, kernel, dilation);
    if (!largest) {
      sum = FUSED(sum, LOAD(factors + i), REPEAT(0));
    }
    if (i + NAME(LANES) <= at->windows) {
      STORE(y + i, sum);
    } else {
      PART_STORE(y + i, sum, at->windows - i);
    }
  }
}

/* The usual windows have loops of their own. */
ND4C_INLINED void NAME(any_line)(bool largest, const nd4c_pool_line *at, const T *line, const T *factors, T *y) {
  int64_t kernel = at->dilation == 1 ? at->kernel : 0;
  if (at->stride == 2 && kernel == 2) {
    NAME(line)(largest, at, 2, 2, 1, line, factors, y);
  } else if (at->stride == 2 && kernel == 3) {
    NAME(line)(largest, at, 2, 3, 1, line, factors, y);
  } else if (at->stride == 1 && kernel == 3) {
    NAME(line)(largest, at, 1, 3, 1, line, factors, y);
  } else if (at->stride == 1) {
    NAME(line)(largest, at, 1, at->kernel, at->dilation, line, factors, y);
  } else if (at->stride == 2) {
    NAME(line)(largest, at, 2, at->kernel, at->dilation, line, factors, y);
  } else {
    NAME(line)(largest, at, at->stride, at->kernel, at->dilation, line, factors, y);
  }
}

ND4C_INLINED void NAME(any_rows)(bool largest, int64_t n, int64_t count, const void *const *rows, T *line) {
  if (count == 2) {
    NAME(join_rows)(largest, n, 2, rows, line);
  } else if (count == 3) {
    NAME(join_rows)(largest, n, 3, rows, line);
  } else {
    NAME(join_rows)(largest, n, count, rows, line);
  }
}

static void NAME(max_rows)(int64_t n, int64_t count, const void *const *rows, void *line) {
  NAME(any_rows)(true, n, count, rows, line);
}

static void NAME(sum_rows)(int64_t n, int64_t count, const void *const *rows, void *line) {
  NAME(any_rows)(false, n, count, rows, line);
}

static void NAME(max_line)(const nd4c_pool_line *at, const void *line, void *y) {
  NAME(any_line)(true, at, line, NULL, y);
}

static void NAME(sum_line)(const nd4c_pool_line *at, const void *line, const void *factors, void *y) {
  NAME(any_line)(false, at, line, factors, y);
}

ND4C_INLINED void NAME(rows_of_band)(bool largest, const nd4c_pool_line *at, const nd4c_pool_band *band, int64_t rows,
                                     int64_t stride, int64_t kernel, const T *factors) {
  for (int64_t first = 0; first < band->count; first += ND4C_POOL_LINES) {
    int64_t some = band->count - first < ND4C_POOL_LINES ? band->count - first : ND4C_POOL_LINES;
    for (int64_t i = 0; i < some; i++) {
      const char *x = band->x + (first + i) * band->x_step;
      const void *seen[3] = {x, x + band->x_row, rows > 2 ? x + 2 * band->x_row : x};
      NAME(join_rows)(largest, at->length, rows, seen, (T *)(void *)(band->line + i * band->line_step) + at->left);
    }
    for (int64_t i = 0; i < some; i++) {
      const T *line = (const T *)(const void *)(band->line + i * band->line_step);
      NAME(line)(largest, at, stride, kernel, 1, line, factors, (T *)(void *)(band->y + (first + i) * band->y_step));
    }
  }
}

ND4C_INLINED void NAME(any_band)(bool largest, const nd4c_pool_line *at, const nd4c_pool_band *band, const T *factors) {
  if (band->rows == 2) {
    NAME(rows_of_band)(largest, at, band, 2, 2, 2, factors);
  } else if (at->stride == 2) {
    NAME(rows_of_band)(largest, at, band, 3, 2, 3, factors);
  } else {
    NAME(rows_of_band)(largest, at, band, 3, 1, 3, factors);
  }
}

static void NAME(max_band)(const nd4c_pool_line *at, const nd4c_pool_band *band) {
  NAME(any_band)(true, at, band, NULL);
}

static void NAME(sum_band)(const nd4c_pool_line *at, const nd4c_pool_band *band, const void *factors) {
  NAME(any_band)(false, at, band, factors);
}

static const nd4c_pool_loops NAME(loops) = {
    .max_cells = NAME(max_cells),
    .sum_cells = NAME(sum_cells),
    .max_rows = NAME(max_rows),
    .sum_rows = NAME(sum_rows),
    .max_line = NAME(max_line),
    .sum_line = NAME(sum_line),
    .max_band = NAME(max_band),
    .sum_band = NAME(sum_band),
};
