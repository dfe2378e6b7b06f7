/* The loops of normalization.h for one float: a template of each_dtype.h, which normalization.c includes;
 * simd/normalization.c calls them through rows.h. Sums run in LANES parallel sums: vectors for the compiler, and a
 * smaller error than one long sum. */

enum { NAME(LANES) = 64, NAME(CHUNK) = 256 };

/* The lanes added up as a tree. */
static T NAME(fold)(T *lanes) {
  for (int64_t width = NAME(LANES) / 2; width > 0; width /= 2) {
    for (int64_t l = 0; l < width; l++) {
      lanes[l] += lanes[l + width];
    }
  }
  return lanes[0];
}

static T NAME(total)(int64_t n, const T *x) {
  T lanes[NAME(LANES)] = {0};
  int64_t i = 0;
  for (; i + NAME(LANES) <= n; i += NAME(LANES)) {
    ND4C_INDEPENDENT
    for (int64_t l = 0; l < NAME(LANES); l++) {
      lanes[l] += x[i + l];
    }
  }
  for (int64_t l = 0; i < n; i++, l++) {
    lanes[l] += x[i];
  }
  return NAME(fold)(lanes);
}

static void NAME(fill)(int64_t n, double value, void *vy) {
  T *y = vy;
  for (int64_t i = 0; i < n; i++) {
    y[i] = (T)value;
  }
}

/* -- normalisations --------------------------------------------------------------------------------------------- */

static void NAME(fold_norm)(int64_t n, const void *const *operands, const int64_t *strides, double epsilon, void *va,
                            void *vb) {
  const T *scale = operands[0], *bias = operands[1], *mean = operands[2], *variance = operands[3];
  T *a = va, *b = vb;
  for (int64_t i = 0; i < n; i++) {
    double factor = (double)scale[i * strides[0]] / sqrt((double)variance[i * strides[3]] + epsilon);
    a[i] = (T)factor;
    b[i] = (T)((double)bias[i * strides[1]] - (double)mean[i * strides[2]] * factor);
  }
}

static void NAME(affine)(int64_t n, const void *vx, const void *va, const void *vb, void *vy) {
  const T *x = vx, *a = va, *b = vb;
  T *y = vy;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = NAME(nd4c_multiply_add)(x[i], a[i], b[i]);
  }
}

static void NAME(affine_all)(int64_t n, const void *vx, const void *va, const void *vb, void *vy) {
  const T *x = vx;
  T a = *(const T *)va, b = *(const T *)vb;
  T *y = vy;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = NAME(nd4c_multiply_add)(x[i], a, b);
  }
}

/* The sums of the distances from `near`, which is about the mean, and of their squares. */
static void NAME(distances)(int64_t n, const T *x, T near, T *sum, T *squares) {
  T lanes[NAME(LANES)] = {0}, square_lanes[NAME(LANES)] = {0};
  int64_t i = 0;
  for (; i + NAME(LANES) <= n; i += NAME(LANES)) {
    for (int64_t l = 0; l < NAME(LANES); l += 64 / (int64_t)sizeof(T)) {
      ND4C_PREFETCH((uintptr_t)(x + n + i + l)); /* the next row */
    }
    ND4C_INDEPENDENT
    for (int64_t l = 0; l < NAME(LANES); l++) {
      T d = x[i + l] - near;
      lanes[l] += d;
      square_lanes[l] = NAME(nd4c_multiply_add)(d, d, square_lanes[l]);
    }
  }
  for (int64_t l = 0; i < n; i++, l++) {
    T d = x[i] - near;
    lanes[l] += d;
    square_lanes[l] = NAME(nd4c_multiply_add)(d, d, square_lanes[l]);
  }
  *sum = NAME(fold)(lanes);
  *squares = NAME(fold)(square_lanes);
}

static void NAME(affine_one)(int64_t n, const void *vx, const void *vscale, const void *vbias, int64_t channel,
                             double mean, double factor, void *vy) {
  const T *x = vx, *scale = vscale, *bias = vbias;
  T *y = vy;
  double a = scale == NULL ? factor : factor * (double)scale[channel], b = bias == NULL ? 0 : (double)bias[channel];
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = (T)ND4C_FMA((double)x[i] - mean, a, b);
  }
}

static void NAME(affine_each)(int64_t n, const void *vx, const double *means, const double *factors,
                              const double *summands, void *vy) {
  const T *x = vx;
  T *y = vy;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = (T)ND4C_FMA((double)x[i] - means[i], factors[i], summands[i]);
  }
}

static void NAME(scale_row)(int64_t n, const void *vx, const void *vscale, double factor, void *vy) {
  const T *x = vx, *scale = vscale;
  T *y = vy;
  int64_t line = 64 / (int64_t)sizeof(T);
  for (int64_t i = 0; i < n; i += line) {
    ND4C_PREFETCH((uintptr_t)(x + n + i)); /* the next row */
  }
  ND4C_INDEPENDENT
  for (int64_t i = 0; scale != NULL && i < n; i++) {
    y[i] = (T)((double)x[i] * factor * (double)scale[i]);
  }
  ND4C_INDEPENDENT
  for (int64_t i = 0; scale == NULL && i < n; i++) {
    y[i] = (T)((double)x[i] * factor);
  }
}

static bool NAME(layer_norm)(int64_t n, const void *vx, const void *vscale, const void *vbias, double epsilon,
                             void *vy) {
  const T *x = vx, *scale = vscale, *bias = vbias;
  T *y = vy;
  /* The sum of a long row is rounded so often that its mean may be off by more than the elements differ. The distances
   * from it are exact then, and their mean is what it is off by. */
  T near = NAME(total)(n, x) / (T)n, sum, squares;
  NAME(distances)(n, x, near, &sum, &squares);
  const T off = sum / (T)n, variance = squares / (T)n - off * off;
  if (sizeof(T) < sizeof(double) && !(variance < (T)INFINITY)) {
    return false;
  }
  T factor = 1 / NAME(nd4c_sqrt)((variance < 0 ? 0 : variance) + (T)epsilon);
  if (scale != NULL && bias != NULL) {
    ND4C_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
      y[i] = NAME(nd4c_multiply_add)((x[i] - near - off) * factor, scale[i], bias[i]);
    }
    return true;
  }
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = (x[i] - near - off) * factor;
  }
  ND4C_INDEPENDENT
  for (int64_t i = 0; scale != NULL && i < n; i++) {
    y[i] *= scale[i];
  }
  ND4C_INDEPENDENT
  for (int64_t i = 0; bias != NULL && i < n; i++) {
    y[i] += bias[i];
  }
  return true;
}

/* -- softmax ---------------------------------------------------------------------------------------------------- */

/* The sum of e^(x - largest); with `keep` they go into y. Whole lines of lanes have loops of fixed length. */
static inline T NAME(exponentials)(int64_t n, const T *x, T largest, T *y, bool keep) {
#ifdef EXP_LINES
  return NAME(lines)(n, x, largest, y, keep);
#else
  T lanes[NAME(LANES)] = {0};
  int64_t i = 0;
  for (; i + NAME(LANES) <= n; i += NAME(LANES)) {
    ND4C_INDEPENDENT
    for (int64_t l = 0; l < NAME(LANES); l++) {
      T e = NAME(nd4c_exp)(x[i + l] - largest);
      lanes[l] += e;
      if (keep) {
        y[i + l] = e;
      }
    }
  }
  for (int64_t l = 0; i < n; i++, l++) {
    T e = NAME(nd4c_exp)(x[i] - largest);
    lanes[l] += e;
    if (keep) {
      y[i] = e;
    }
  }
  return NAME(fold)(lanes);
#endif
}

static void NAME(softmax)(int64_t n, const void *vx, void *vy, bool logarithm) {
  const T *x = vx;
  T *y = vy;
  T largest = NAME(extreme)(ND4C_REDUCE_max, n, x);
  if (logarithm) {
    T shift = NAME(nd4c_log)(NAME(exponentials)(n, x, largest, NULL, false));
    ND4C_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
      y[i] = x[i] - largest - shift;
    }
    return;
  }
  T factor = 1 / NAME(exponentials)(n, x, largest, y, true);
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] *= factor;
  }
}

/* ND4C_SHORT_ROWS rows side by side, a lane each: line k has the elements k of all. */
ND4C_INLINED void NAME(softmax_lines)(int64_t n, T *lines, bool logarithm) {
  T largest[ND4C_SHORT_ROWS], sums[ND4C_SHORT_ROWS];
  for (int64_t r = 0; r < ND4C_SHORT_ROWS; r++) {
    largest[r] = lines[r];
    sums[r] = 0;
  }
  for (int64_t k = 1; k < n; k++) {
    const T *line = lines + k * ND4C_SHORT_ROWS;
    for (int64_t r = 0; r < ND4C_SHORT_ROWS; r++) {
      largest[r] = line[r] > largest[r] ? line[r] : largest[r]; /* NaN stays in the sum */
    }
  }
  for (int64_t k = 0; k < n; k++) {
    T *line = lines + k * ND4C_SHORT_ROWS;
    for (int64_t r = 0; r < ND4C_SHORT_ROWS; r++) {
      const T less = line[r] - largest[r], e = NAME(nd4c_exp)(less);
      sums[r] += e;
      line[r] = logarithm ? less : e;
    }
  }
  for (int64_t r = 0; r < ND4C_SHORT_ROWS; r++) {
    sums[r] = logarithm ? NAME(nd4c_log)(sums[r]) : 1 / sums[r];
  }
  for (int64_t k = 0; k < n; k++) {
    T *line = lines + k * ND4C_SHORT_ROWS;
    for (int64_t r = 0; r < ND4C_SHORT_ROWS; r++) {
      line[r] = logarithm ? line[r] - sums[r] : line[r] * sums[r];
    }
  }
}

/* to[c to_step + r] = from[r from_step + c]; f32 in squares. */
static void NAME(turn)(int64_t rows, int64_t columns, const T *from, int64_t from_step, T *to, int64_t to_step) {
  int64_t row = 0;
  for (; row + 4 <= rows && sizeof(T) == sizeof(uint32_t); row += 4) {
    const T *x = from + row * from_step;
    T *y = to + row;
    int64_t c = 0;
    for (; c + 4 <= columns; c += 4) {
      nd4c_transpose_4((const uint32_t *)(const void *)(x + c), from_step, (uint32_t *)(void *)(y + c * to_step),
                       to_step);
    }
    for (; c < columns; c++) {
      for (int64_t r = 0; r < 4; r++) {
        y[c * to_step + r] = x[r * from_step + c];
      }
    }
  }
  for (; row < rows; row++) {
    for (int64_t c = 0; c < columns; c++) {
      to[c * to_step + row] = from[row * from_step + c];
    }
  }
}

static void NAME(softmax_short)(int64_t rows, int64_t n, const void *vx, void *vy, bool logarithm) {
  T lines[ND4C_SHORT_ROW * ND4C_SHORT_ROWS];
  for (int64_t row = 0; row < rows; row += ND4C_SHORT_ROWS) {
    const int64_t count = rows - row < ND4C_SHORT_ROWS ? rows - row : ND4C_SHORT_ROWS;
    const T *x = (const T *)vx + row * n;
    T *y = (T *)vy + row * n;
    if (count < ND4C_SHORT_ROWS) {
      memset(lines, 0, (size_t)(n * ND4C_SHORT_ROWS) * sizeof *lines);
    }
    NAME(turn)(count, n, x, n, lines, ND4C_SHORT_ROWS);
    if (logarithm) {
      NAME(softmax_lines)(n, lines, true);
    } else {
      NAME(softmax_lines)(n, lines, false);
    }
    NAME(turn)(n, count, lines, ND4C_SHORT_ROWS, y, n);
  }
}

static void NAME(softmax_finish)(int64_t n, const void *vx, const void *vlargest, const void *vrest, void *vy,
                                 bool logarithm) {
  const T *x = vx, *largest = vlargest, *rest = vrest;
  T *y = vy;
  if (logarithm) {
    ND4C_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
      y[i] = (x[i] - largest[i]) - rest[i];
    }
    return;
  }
  int64_t i = 0;
#ifdef EXP_LINES
  i = NAME(finish_lines)(n, x, largest, rest, y);
#endif
  ND4C_INDEPENDENT
  for (int64_t l = i; l < n; l++) {
    y[l] = NAME(nd4c_exp)(x[l] - largest[l]) * rest[l];
  }
}

/* -- local response normalisation ------------------------------------------------------------------------------- */

/* y[i] = x[i] / (bias + factor * sums[i])^beta */
static void NAME(respond)(int64_t n, const T *x, const T *sums, const nd4c_lrn_parameters *p, T *y) {
  T factor = (T)p->factor, bias = (T)p->bias, beta = (T)p->beta;
  if (p->beta == 0.75) {
    ND4C_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
      T root = NAME(nd4c_sqrt)(NAME(nd4c_multiply_add)(sums[i], factor, bias));
      y[i] = x[i] / (root * NAME(nd4c_sqrt)(root));
    }
    return;
  }
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = x[i] * NAME(nd4c_exp)(-beta * NAME(nd4c_log)(NAME(nd4c_multiply_add)(sums[i], factor, bias)));
  }
}

static void NAME(lrn)(int64_t channels, const void *vx, const nd4c_lrn_parameters *p, void *vy) {
  const T *x = vx;
  T *y = vy;
  T squares[NAME(CHUNK) + ND4C_LRN_REACH], sums[NAME(CHUNK)];
  for (int64_t start = 0; start < channels; start += NAME(CHUNK)) {
    int64_t count = channels - start < NAME(CHUNK) ? channels - start : NAME(CHUNK);
    for (int64_t i = 0; i < count + p->before + p->after; i++) {
      int64_t channel = start + i - p->before;
      squares[i] = channel >= 0 && channel < channels ? x[channel] * x[channel] : 0;
    }
    for (int64_t i = 0; i < count; i++) {
      sums[i] = 0;
    }
    for (int64_t d = 0; d <= p->before + p->after; d++) {
      ND4C_INDEPENDENT
      for (int64_t i = 0; i < count; i++) {
        sums[i] += squares[i + d];
      }
    }
    NAME(respond)(count, x + start, sums, p, y + start);
  }
}

static void NAME(lrn_columns)(int64_t channels, int64_t step, int64_t width, const void *vx, int64_t y_step, void *vy,
                              const nd4c_lrn_parameters *p) {
  const T *x = vx;
  T *y = vy;
  T sums[NAME(CHUNK)];
  for (int64_t start = 0; start < width; start += NAME(CHUNK)) {
    int64_t count = width - start < NAME(CHUNK) ? width - start : NAME(CHUNK);
    for (int64_t channel = 0; channel < channels; channel++) {
      int64_t first = channel < p->before ? 0 : channel - p->before;
      int64_t last = channel + p->after < channels ? channel + p->after : channels - 1;
      for (int64_t i = 0; i < count; i++) {
        sums[i] = 0;
      }
      for (int64_t other = first; other <= last; other++) {
        const T *row = x + other * step + start;
        ND4C_INDEPENDENT
        for (int64_t i = 0; i < count; i++) {
          sums[i] = NAME(nd4c_multiply_add)(row[i], row[i], sums[i]);
        }
      }
      NAME(respond)(count, x + channel * step + start, sums, p, y + channel * y_step + start);
    }
  }
}

static const nd4c_normalization_loops NAME(loops) = {
    .fill = NAME(fill),
    .fold_norm = NAME(fold_norm),
    .affine = NAME(affine),
    .affine_all = NAME(affine_all),
    .affine_one = NAME(affine_one),
    .affine_each = NAME(affine_each),
    .scale_row = NAME(scale_row),
    .layer_norm = NAME(layer_norm),
    .softmax = NAME(softmax),
    .softmax_short = NAME(softmax_short),
    .softmax_finish = NAME(softmax_finish),
    .lrn = NAME(lrn),
    .lrn_columns = NAME(lrn_columns),
};
