/* The loops of depthwise.h of one float: a template of each_dtype.h, with the names of pool_vector.h. depthwise.c
 * includes it; simd/window/window_depthwise.c calls the loops. */

enum { NAME(LANES) = VECTOR_BYTES / sizeof(T) };

ND4C_INLINED void NAME(copy)(int64_t n, const T *x, T *to) {
  int64_t i = 0;
  for (; i + NAME(LANES) <= n; i += NAME(LANES)) {
    STORE(to + i, LOAD(x + i));
  }
  if (i < n) {
    PART_STORE(to + i, PART_LOAD(x + i, n - i), n - i);
  }
}

/* A padded line to the parts of its row. */
ND4C_INLINED void NAME(split)(const nd4c_depthwise_band *band, const T *line, T *to) {
  int64_t stride = band->stride, part = band->part;
  if (stride == 2) {
    for (int64_t i = 0; i + NAME(LANES) <= part; i += NAME(LANES)) {
      V first = LOAD(line + 2 * i), second = LOAD(line + 2 * i + NAME(LANES));
      STORE(to + i, EVENS(first, second));
      STORE(to + part + i, ODDS(first, second));
    }
    return;
  }
  for (int64_t p = 0; p < stride; p++) {
    for (int64_t i = 0; i < part; i++) {
      to[p * part + i] = line[i * stride + p];
    }
  }
}

static void NAME(load)(const nd4c_depthwise_band *band, int64_t first, int64_t rows, int64_t height, const void *vx,
                       int64_t x_step, void *vline, void *vto) {
  const T *x = vx;
  T *line = vline, *to = vto;
  int64_t row_length = band->stride * band->part;
  for (int64_t row = first; row < first + rows; row++, to += row_length) {
    if (row < 0 || row >= height) {
      for (int64_t i = 0; i < row_length; i += NAME(LANES)) {
        STORE(to + i, REPEAT(0));
      }
    } else if (band->stride == 1) {
      NAME(copy)(band->length, x + row * x_step, to + band->left);
    } else {
      NAME(copy)(band->length, x + row * x_step, line + band->left);
      NAME(split)(band, line, to);
    }
  }
}

/* A vector of each of `rows` rows, a number that is known when this is compiled. */
ND4C_INLINED void NAME(tile)(int rows, const T *x, int64_t x_step, int64_t taps, const int64_t *offsets,
                             const T *filter, T bias, T *y, int64_t y_step, int64_t n) {
  V sum[ROWS];
#pragma GCC unroll 8
  for (int r = 0; r < rows; r++) {
    sum[r] = REPEAT(bias);
  }
  for (int64_t t = 0; t < taps; t++) {
    V factor = REPEAT(filter[t]);
    const T *from = x + offsets[t];
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++) {
      sum[r] = FUSED(factor, LOAD(from + r * x_step), sum[r]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < rows; r++) {
    if (n >= NAME(LANES)) {
      STORE(y + r * y_step, sum[r]);
    } else {
      PART_STORE(y + r * y_step, sum[r], n);
    }
  }
}

static void NAME(convolve)(int64_t rows, int64_t width, const void *vx, int64_t x_step, int64_t taps,
                           const int64_t *offsets, const void *filter, double bias, void *vy, int64_t y_step) {
  const T *x = vx;
  T *y = vy;
  while (rows > 0) {
    int64_t now = rows >= ROWS ? ROWS : rows >= 4 ? 4 : rows >= 2 ? 2 : 1;
    for (int64_t i = 0; i < width; i += NAME(LANES)) {
      int64_t n = width - i;
      if (now == ROWS) {
        NAME(tile)(ROWS, x + i, x_step, taps, offsets, filter, (T)bias, y + i, y_step, n);
      } else if (now == 4) {
        NAME(tile)(4, x + i, x_step, taps, offsets, filter, (T)bias, y + i, y_step, n);
      } else if (now == 2) {
        NAME(tile)(2, x + i, x_step, taps, offsets, filter, (T)bias, y + i, y_step, n);
      } else {
        NAME(tile)(1, x + i, x_step, taps, offsets, filter, (T)bias, y + i, y_step, n);
      }
    }
    x += now * x_step;
    y += now * y_step;
    rows -= now;
  }
}

static const nd4c_depthwise_loops NAME(loops) = {.load = NAME(load), .convolve = NAME(convolve)};
