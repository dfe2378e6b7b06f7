/* Implements direct.h. Compiled once per level. simd/window/window_direct.c reads the table by nd4c_simd.direct. */
#include "kernels/cpu/window/direct.h"

#include <stddef.h>
#include <string.h>

#include "kernels/cpu/support/level.h"
#include "kernels/cpu/window/pool_vector.h"

extern const nd4c_direct_table ND4C_LEVEL_NAME(nd4c_direct_table);

/* SUM_TERMS: a sum that has so many ends with the cell; longer sums are sums of these. */
enum { LANES = VECTOR_BYTES / sizeof(float), PANEL = 2 * LANES, SUM_TERMS = 96 };

static int64_t panel_outputs(int64_t outputs) {
  return outputs <= LANES ? LANES : PANEL;
}

/* The elements of the last vector, unless it is whole. */
ND4C_INLINED vector_float32 load(const float *from, bool whole, int64_t last) {
  return whole ? vector_load_float32(from) : vector_part_load_float32(from, last);
}

/* Adds the terms of `taps` cells of a window that lie side by side: an element of x is a factor of as many sums, and is
 * loaded once for all of them. */
ND4C_INLINED void add_terms(int rows, int vectors, int taps, int64_t channels, int64_t step, const float *x,
                            const float *w, int64_t panel, vector_float32 sum[][2]) {
  const int64_t three = 3 * step, tap_weights = channels * panel;
  const float *fours[(TILE_ROWS + 5) / 4]; /* of four places each, the first */
#pragma GCC unroll 4
  for (int p = 0; p < rows + taps - 1; p += 4) {
    fours[p / 4] = x + p * step;
  }
  for (int64_t c = 0; c < channels; c++) {
    vector_float32 weights[3][2];
#pragma GCC unroll 3
    for (int t = 0; t < taps; t++) {
#pragma GCC unroll 2
      for (int v = 0; v < vectors; v++) {
        weights[t][v] = vector_load_float32(w + t * tap_weights + v * LANES);
      }
    }
#pragma GCC unroll 16
    for (int p = 0; p < rows + taps - 1; p++) {
      const vector_float32 factor = vector_repeat_float32(fours[p / 4][p % 4 == 3 ? three : p % 4 * step]);
#pragma GCC unroll 3
      for (int t = 0; t < taps; t++) {
        if (p - t >= 0 && p - t < rows) {
#pragma GCC unroll 2
          for (int v = 0; v < vectors; v++) {
            sum[p - t][v] = vector_fused_float32(factor, weights[t][v], sum[p - t][v]);
          }
        }
      }
    }
    w += panel;
    ND4C_ADDRESS(w);
#pragma GCC unroll 4
    for (int p = 0; p < rows + taps - 1; p += 4) {
      fours[p / 4]++;
      ND4C_ADDRESS(fours[p / 4]);
    }
  }
}

/* Writes the sums of a tile. adds: y has the sums of earlier terms; ends: these were the last. */
ND4C_INLINED void put(int rows, int vectors, bool whole, int64_t last, bool adds, bool ends,
                      const nd4c_direct_target *to, vector_float32 sum[][2]) {
#pragma GCC unroll 16
  for (int r = 0; r < rows; r++) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) {
      const bool full = whole || v + 1 < vectors;
      float *y = to->y + r * to->step + v * LANES;
      vector_float32 result = sum[r][v];
      if (adds) {
        result += load(y, full, last);
      }
      if (ends && to->bias != NULL) {
        result += load(to->bias + v * LANES, full, last);
      }
      if (ends && to->addend != NULL) {
        result += load(to->addend + r * to->addend_step + v * LANES, full, last);
      }
      if (ends) {
        result = vector_activated_float32(result, to->activation);
      }
      if (full) {
        vector_store_float32(y, result);
      } else {
        vector_part_store_float32(y, result, last);
      }
    }
  }
}

/* `rows` places of y, `vectors` vectors of outputs each. These, `whole` and `taps` are constants where this is called,
 * so that the sums stay in registers. */
ND4C_INLINED void tile(int rows, int vectors, bool whole, int taps, int64_t last, const nd4c_direct_window *window,
                       const float *x, const float *w, int64_t panel, const nd4c_direct_target *to) {
  bool adds = false;
  for (int64_t cell = 0; cell < window->cells; adds = true) {
    vector_float32 sum[TILE_ROWS][2];
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
#pragma GCC unroll 2
      for (int v = 0; v < vectors; v++) {
        sum[r][v] = (vector_float32){0};
      }
    }
    for (int64_t terms = 0; terms < SUM_TERMS && cell < window->cells; terms += taps * window->channels) {
      add_terms(rows, vectors, taps, window->channels, window->step, x + window->offsets[cell], w, panel, sum);
      w += taps * window->channels * panel;
      cell += taps;
    }
    put(rows, vectors, whole, last, adds, cell == window->cells, to, sum);
  }
}

#define TILE_OF(rows, vectors, whole)                                               \
  (window->taps == 3 ? tile(rows, vectors, whole, 3, last, window, x, w, panel, to) \
                     : tile(rows, vectors, whole, 1, last, window, x, w, panel, to))
#define TILE(rows)                                                         \
  (vectors == 2 ? whole ? TILE_OF(rows, 2, true) : TILE_OF(rows, 2, false) \
   : whole ? TILE_OF(rows, 1, true)                                        \
                : TILE_OF(rows, 1, false))

/* Places of the next tile where `left` are left: few kinds, so that each is unrolled. The last tile may compute some
 * places again. */
static int64_t tile_rows(int64_t left) {
  return left <= 4 ? 4 : TILE_ROWS > 8 && left <= 8 ? 8 : TILE_ROWS;
}

static int64_t places(int64_t width) {
  int64_t computed = 0;
  while (computed < width) {
    computed += tile_rows(width - computed);
  }
  return computed;
}

/* rows: one of tile_rows's. columns: those that count of a panel's. */
static void tile_any(int64_t rows, int64_t columns, const nd4c_direct_window *window, const float *x, const float *w,
                     int64_t panel, const nd4c_direct_target *to) {
  const int vectors = columns > LANES ? 2 : 1;
  const int64_t last = columns - (vectors - 1) * LANES;
  const bool whole = last == LANES;
  if (rows == TILE_ROWS) {
    TILE(TILE_ROWS);
  } else if (TILE_ROWS > 8 && rows == 8) {
    TILE(TILE_ROWS > 8 ? 8 : 4);
  } else {
    TILE(4);
  }
}

/* Fewer places than a tile has: all of a tile are computed beside, and those copied. */
static void tile_short(int64_t some, int64_t rows, int64_t columns, const nd4c_direct_window *window, const float *x,
                       const float *w, int64_t panel, const nd4c_direct_target *to) {
  float beside[TILE_ROWS * PANEL], added[TILE_ROWS * PANEL] = {0};
  nd4c_direct_target there = {.y = beside, .step = PANEL, .bias = to->bias, .activation = to->activation};
  if (to->addend != NULL) {
    there.addend = added;
    there.addend_step = PANEL;
    for (int64_t i = 0; i < some; i++) {
      memcpy(added + i * PANEL, to->addend + i * to->addend_step, (size_t)columns * sizeof *added);
    }
  }
  tile_any(rows, columns, window, x, w, panel, &there);
  for (int64_t i = 0; i < some; i++) {
    memcpy(to->y + i * to->step, beside + i * PANEL, (size_t)columns * sizeof *beside);
  }
}

/* The outputs of a panel from `first` on, and places from `place` on. */
static nd4c_direct_target target_at(const nd4c_direct_target *whole, int64_t place, int64_t first) {
  nd4c_direct_target to = *whole;
  to.y += place * to.step + first;
  to.bias += to.bias != NULL ? first : 0;
  to.addend += to.addend != NULL ? place * to.addend_step + first : 0;
  return to;
}

static void convolve(int64_t width, int64_t outputs, const nd4c_direct_window *window, const float *x, const float *w,
                     const nd4c_direct_target *to) {
  const int64_t panel = panel_outputs(outputs), terms = window->cells * window->channels;
  for (int64_t first = 0; first < outputs; first += panel, w += panel * terms) {
    const int64_t columns = outputs - first < panel ? outputs - first : panel;
    for (int64_t i = 0, rows; i < width; i += rows) {
      rows = tile_rows(width - i);
      const int64_t place = width - i < rows && width >= rows ? width - rows : i;
      const nd4c_direct_target at = target_at(to, place, first);
      if (width >= rows) {
        tile_any(rows, columns, window, x + place * window->step, w, panel, &at);
      } else {
        tile_short(width, rows, columns, window, x, w, panel, &at);
      }
    }
  }
}

const nd4c_direct_table ND4C_LEVEL_NAME(nd4c_direct_table) = {
    .panel_outputs = panel_outputs, .places = places, .beyond = TILE_ROWS, .convolve = convolve};
