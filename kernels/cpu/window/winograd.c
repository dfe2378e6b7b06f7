/* Implements winograd.h for f32. Compiled once per level. simd/window/window_winograd.c reads the table by
 * nd4c_simd.winograd. */
#include "kernels/cpu/window/winograd.h"

#include <stddef.h>

#include "kernels/cpu/support/level.h"
#include "kernels/cpu/window/pool_vector.h"

extern const nd4c_winograd_table ND4C_LEVEL_NAME(nd4c_winograd_table);

/* The vectors of pool_vector.h, of f32. */
#define NAME(name) name##_float32
enum { LANES = VECTOR_BYTES / sizeof(float), POINTS = ND4C_WINOGRAD_POINTS, RESULTS = ND4C_WINOGRAD_RESULTS };

/* Sides of a window and of a tile. */
enum { WINDOW = 3, SIDE = 4 };

/* -- filters ------------------------------------------------------------------------------------------------------ */

/* Three taps to four points. */
static void transform_taps(const double *g, double *to) {
  to[0] = g[0];
  to[1] = (g[0] + g[1] + g[2]) / 2;
  to[2] = (g[0] - g[1] + g[2]) / 2;
  to[3] = g[2];
}

static bool transform_filter(const float *w, const int64_t *strides, double *points) {
  double rows[WINDOW][SIDE];
  bool finite = true;
  for (int i = 0; i < WINDOW; i++) {
    double taps[WINDOW];
    for (int k = 0; k < WINDOW; k++) {
      taps[k] = (double)w[i * strides[0] + k * strides[1]];
      finite = finite && isfinite(taps[k]);
    }
    transform_taps(taps, rows[i]);
  }
  for (int k = 0; k < SIDE; k++) {
    const double column[WINDOW] = {rows[0][k], rows[1][k], rows[2][k]};
    double to[SIDE];
    transform_taps(column, to);
    for (int i = 0; i < SIDE; i++) {
      points[i * SIDE + k] = to[i];
    }
  }
  return finite;
}

static bool filters(int64_t outputs, int64_t channels, const float *w, const int64_t *strides, int64_t panel, float *u,
                    int64_t u_point) {
  bool finite = true;
  for (int64_t c = 0; c < channels; c++) {
    for (int64_t o = 0; o < panel; o++) {
      double points[POINTS] = {0};
      if (o < outputs) {
        finite = transform_filter(w + o * strides[0] + c * strides[1], strides + 2, points) && finite;
      }
      for (int p = 0; p < POINTS; p++) {
        u[p * u_point + c * panel + o] = (float)points[p];
      }
    }
  }
  return finite;
}

/* -- cells -------------------------------------------------------------------------------------------------------- */

ND4C_INLINED void transform_four(V *a, V *b, V *c, V *d) {
  V first = *a - *c, second = *b + *c, third = *c - *b, fourth = *b - *d;
  *a = first;
  *b = second;
  *c = third;
  *d = fourth;
}

ND4C_INLINED void transform_cells(V *d, float *v, int64_t v_point, bool whole, int64_t left) {
  for (int i = 0; i < SIDE; i++) {
    transform_four(&d[i], &d[SIDE + i], &d[2 * SIDE + i], &d[3 * SIDE + i]);
  }
  for (int i = 0; i < POINTS; i += SIDE) {
    transform_four(&d[i], &d[i + 1], &d[i + 2], &d[i + 3]);
  }
  for (int p = 0; p < POINTS; p++) {
    if (whole) {
      STORE(v + p * v_point, d[p]);
    } else {
      PART_STORE(v + p * v_point, d[p], left);
    }
  }
}

static void cells(int64_t channels, const float *const *from, float *v, int64_t v_point) {
  int64_t c = 0;
  V d[POINTS];
  for (; c + LANES <= channels; c += LANES) {
    for (int p = 0; p < POINTS; p++) {
      d[p] = LOAD(from[p] + c);
    }
    transform_cells(d, v + c, v_point, true, LANES);
  }
  if (c < channels) {
    for (int p = 0; p < POINTS; p++) {
      d[p] = PART_LOAD(from[p] + c, channels - c);
    }
    transform_cells(d, v + c, v_point, false, channels - c);
  }
}

/* -- results ------------------------------------------------------------------------------------------------------ */

/* The four results of one vector of output channels. */
ND4C_INLINED void transform_sums(const float *m, int64_t m_point, V *y) {
  V half[2][SIDE];
  for (int i = 0; i < SIDE; i++) {
    V a = LOAD(m + i * m_point), b = LOAD(m + (SIDE + i) * m_point);
    V c = LOAD(m + (2 * SIDE + i) * m_point), d = LOAD(m + (3 * SIDE + i) * m_point);
    half[0][i] = a + b + c;
    half[1][i] = b - c - d;
  }
  for (int i = 0; i < 2; i++) {
    y[2 * i] = half[i][0] + half[i][1] + half[i][2];
    y[2 * i + 1] = half[i][1] - half[i][2] - half[i][3];
  }
}

/* Adds bias and addend to a vector of sums, applies the activation and stores it: `left` elements, or a whole vector.
 */
ND4C_INLINED void finish(V sum, const nd4c_winograd_target *to, int result, int64_t column, int64_t left) {
  const bool whole = left >= LANES;
  if (to->y[result] == NULL) {
    return;
  }
  if (to->bias != NULL) {
    sum = sum + (whole ? LOAD(to->bias + column) : PART_LOAD(to->bias + column, left));
  }
  if (to->addend[result] != NULL) {
    const float *addend = to->addend[result] + column;
    sum = sum + (whole ? LOAD(addend) : PART_LOAD(addend, left));
  }
  sum = ACTIVATED(sum, to->activation);
  if (whole) {
    STORE(to->y[result] + column, sum);
  } else {
    PART_STORE(to->y[result] + column, sum, left);
  }
}

/* `vectors` vectors of output channels, which is a constant where this is called. */
ND4C_INLINED bool results_of(int vectors, const float *m, int64_t m_point, const nd4c_winograd_target *to) {
  V y[2][RESULTS], zeros = REPEAT(0);
  for (int v = 0; v < vectors; v++) {
    transform_sums(m + v * LANES, m_point, y[v]);
    for (int r = 0; r < RESULTS; r++) {
      zeros = FUSED(y[v][r], REPEAT(0), zeros); /* NaN, unless the result is finite */
    }
  }
  if (ND4C_IS_NAN(SUM(zeros))) {
    return false;
  }
  for (int v = 0; v < vectors; v++) {
    for (int r = 0; r < RESULTS; r++) {
      finish(y[v][r], to, r, v * LANES, to->columns - v * LANES);
    }
  }
  return true;
}

static bool results(const float *m, int64_t m_point, const nd4c_winograd_target *to) {
  return to->columns > LANES ? results_of(2, m, m_point, to) : results_of(1, m, m_point, to);
}

/* -- direct ------------------------------------------------------------------------------------------------------ */

/* Three taps of a line of four points, which determine them up to rounding. */
ND4C_INLINED void find_taps(const V *points, int step, V *taps, int taps_step) {
  taps[0] = points[0];
  taps[taps_step] = points[step] - points[2 * step];
  taps[2 * taps_step] = points[3 * step];
}

/* Adds the products of one channel to the sums of a tile. */
ND4C_INLINED void add_channel(int64_t c, const float *const *from, const float *u, int64_t u_point, V *sums) {
  V points[POINTS], lines[WINDOW * SIDE], weights[WINDOW * WINDOW];
  for (int p = 0; p < POINTS; p++) {
    points[p] = LOAD(u + p * u_point);
  }
  for (int k = 0; k < SIDE; k++) {
    find_taps(points + k, SIDE, lines + k, SIDE);
  }
  for (int i = 0; i < WINDOW; i++) {
    find_taps(lines + i * SIDE, 1, weights + i * WINDOW, 1);
  }
  for (int r = 0; r < RESULTS; r++) {
    const float *const *first = from + r / 2 * SIDE + r % 2;
    for (int tap = 0; tap < WINDOW * WINDOW; tap++) {
      sums[r] = FUSED(REPEAT(first[tap / WINDOW * SIDE + tap % WINDOW][c]), weights[tap], sums[r]);
    }
  }
}

static void direct(int64_t channels, const float *const *from, const float *u, int64_t u_point, int64_t panel,
                   const nd4c_winograd_target *to) {
  for (int64_t o = 0; o < to->columns; o += LANES) {
    V sums[RESULTS] = {REPEAT(0), REPEAT(0), REPEAT(0), REPEAT(0)};
    for (int64_t c = 0; c < channels; c++) {
      add_channel(c, from, u + c * panel + o, u_point, sums);
    }
    for (int r = 0; r < RESULTS; r++) {
      finish(sums[r], to, r, o, to->columns - o);
    }
  }
}

static const nd4c_winograd_loops loops = {.filters = filters, .cells = cells, .results = results, .direct = direct};

const nd4c_winograd_table ND4C_LEVEL_NAME(nd4c_winograd_table) = {.float32 = &loops};
