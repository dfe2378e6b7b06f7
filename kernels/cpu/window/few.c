/* Implements few.h. Compiled once per level. simd/window/window_few.c reads the table by nd4c_simd.few. */
#include "kernels/cpu/window/few.h"

#include <stddef.h>
#include <string.h>

#include "kernels/cpu/support/level.h"
#include "kernels/cpu/window/pool_vector.h"

extern const nd4c_few_table ND4C_LEVEL_NAME(nd4c_few_table);

enum { LANES = VECTOR_BYTES / sizeof(float), PANEL = 2 * LANES };

typedef struct target {
  const float *bias; /* NULL: zeros */
  float *y;
  int64_t y_step;
  int64_t last; /* elements of the last vector */
  nd4c_inner_activation activation;
} target;

/* Adds the bias of n outputs to a sum, applies the activation, and writes it. */
ND4C_INLINED void put(vector_float32 sum, bool whole, int64_t n, const float *bias, nd4c_inner_activation activation,
                      float *y) {
  if (bias != NULL) {
    sum += whole ? vector_load_float32(bias) : vector_part_load_float32(bias, n);
  }
  sum = vector_activated_float32(sum, activation);
  if (whole) {
    vector_store_float32(y, sum);
  } else {
    vector_part_store_float32(y, sum, n);
  }
}

/* TILE_ROWS places of y, `vectors` vectors of outputs each, the last of which has to->last elements unless `whole`. */
ND4C_INLINED void tile(int vectors, bool whole, int64_t terms, const int64_t *offsets, const float *x, const float *w,
                       const target *to) {
  vector_float32 sum[TILE_ROWS][2];
#pragma GCC unroll 16
  for (int r = 0; r < TILE_ROWS; r++) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) {
      sum[r][v] = (vector_float32){0};
    }
  }
  for (int64_t t = 0; t < terms; t++, w += PANEL) {
    const float *at = x + offsets[t];
    vector_float32 weights[2];
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) {
      weights[v] = vector_load_float32(w + v * LANES);
    }
#pragma GCC unroll 16
    for (int r = 0; r < TILE_ROWS; r++) {
      const vector_float32 factor = vector_repeat_float32(at[r]);
#pragma GCC unroll 2
      for (int v = 0; v < vectors; v++) {
        sum[r][v] = vector_fused_float32(factor, weights[v], sum[r][v]);
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < TILE_ROWS; r++) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) {
      put(sum[r][v], whole || v + 1 < vectors, to->last, to->bias != NULL ? to->bias + v * LANES : NULL, to->activation,
          to->y + r * to->y_step + v * LANES);
    }
  }
}

/* The outputs of a panel, `columns` of them. */
static void tile_any(int64_t columns, int64_t terms, const int64_t *offsets, const float *x, const float *w,
                     target *to) {
  to->last = columns > LANES ? columns - LANES : columns;
  if (columns == PANEL) {
    tile(2, true, terms, offsets, x, w, to);
  } else if (columns > LANES) {
    tile(2, false, terms, offsets, x, w, to);
  } else {
    tile(1, false, terms, offsets, x, w, to);
  }
}

/* Fewer places than a tile has: all of a tile are computed beside, and those copied. */
static void tile_short(int64_t places, int64_t columns, int64_t terms, const int64_t *offsets, const float *x,
                       const float *w, const target *to) {
  float beside[TILE_ROWS * PANEL];
  target there = {.bias = to->bias, .y = beside, .y_step = PANEL, .activation = to->activation};
  tile_any(columns, terms, offsets, x, w, &there);
  for (int64_t i = 0; i < places; i++) {
    memcpy(to->y + i * to->y_step, beside + i * PANEL, (size_t)columns * sizeof *beside);
  }
}

static void convolve(int64_t width, int64_t outputs, int64_t terms, const int64_t *offsets, const float *x,
                     const float *w, const float *bias, nd4c_inner_activation activation, float *y, int64_t y_step) {
  for (int64_t o = 0; o < outputs; o += PANEL) {
    const int64_t columns = outputs - o < PANEL ? outputs - o : PANEL;
    target to = {.bias = bias != NULL ? bias + o : NULL, .y_step = y_step, .activation = activation};
    for (int64_t i = 0; i < width; i += TILE_ROWS) {
      /* The last tile begins earlier: it computes some places again. */
      const int64_t place = width - i < TILE_ROWS && width >= TILE_ROWS ? width - TILE_ROWS : i;
      to.y = y + place * y_step + o;
      if (width >= TILE_ROWS) {
        tile_any(columns, terms, offsets, x + place, w + o * terms, &to);
      } else {
        tile_short(width, columns, terms, offsets, x, w + o * terms, &to);
      }
    }
  }
}

const nd4c_few_table ND4C_LEVEL_NAME(nd4c_few_table) = {
    .panel_outputs = PANEL, .beyond = TILE_ROWS, .convolve = convolve};
