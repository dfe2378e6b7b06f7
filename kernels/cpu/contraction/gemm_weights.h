/* Products with a packed right-hand side, and what happens around a product: a template of each_dtype.h that gemm.c
 * includes behind gemm_loops.h for f32 and f64. simd/contraction/contraction_packed.c, window_conv.c and
 * support/contraction_epilogue.c call the loops. */

/* Sums of one row of a in FOUR panels, `size` elements apart: in one alone, each step would wait for the one before. */
enum { NAME(FOUR) = 4 };

ND4C_INLINED void NAME(four_panels)(int64_t k, const T *a, int64_t a_step, const T *b, int64_t size, int64_t sum_terms,
                                    V total[][2]) {
#pragma GCC unroll 4
  for (int p = 0; p < NAME(FOUR); p++) {
    total[p][0] = total[p][1] = REPEAT(0);
  }
  for (int64_t first = 0; first < k; first += sum_terms) {
    const int64_t end = k - first < sum_terms ? k : first + sum_terms;
    V sum[NAME(FOUR)][2];
#pragma GCC unroll 4
    for (int p = 0; p < NAME(FOUR); p++) {
      sum[p][0] = sum[p][1] = REPEAT(0);
    }
    for (int64_t i = first; i < end; i++) {
      const V factor = REPEAT(a[i * a_step]);
      const T *row = b + i * NAME(WIDE);
#pragma GCC unroll 4
      for (int p = 0; p < NAME(FOUR); p++) {
        sum[p][0] = FUSED(factor, LOAD(row + p * size), sum[p][0]);
        sum[p][1] = FUSED(factor, LOAD(row + p * size + NAME(LANES)), sum[p][1]);
      }
    }
#pragma GCC unroll 4
    for (int p = 0; p < NAME(FOUR); p++) {
      total[p][0] += sum[p][0];
      total[p][1] += sum[p][1];
    }
  }
}

/* One row of a times panels that are strips of their own; returns the columns that it has computed. */
static int64_t NAME(strips_row)(int64_t column, int64_t n, int64_t k, nd4c_gemm_matrix a, const void *b,
                                nd4c_gemm_strips strips, int64_t sum_terms, const nd4c_gemm_ending *ending) {
  const int64_t size = strips.columns * strips.depth, step = NAME(FOUR) * NAME(WIDE);
  int64_t done = 0;
  for (; n - done >= step; done += step) {
    V total[NAME(FOUR)][2];
    const T *from = (const T *)b + (column + done) / NAME(WIDE) * size;
    NAME(four_panels)(k, (const void *)a.data, a.column_stride, from, size, sum_terms, total);
    for (int p = 0; p < NAME(FOUR); p++) {
      const NAME(ending) end = NAME(ending_at)(ending, done + p * NAME(WIDE));
      NAME(end)(1, 2, true, NAME(LANES), &end, &total[p]);
      STORE(end.y, total[p][0]);
      STORE(end.y + NAME(LANES), total[p][1]);
    }
  }
  return done;
}

static void NAME(strips)(int64_t m, int64_t column, int64_t n, int64_t k, nd4c_gemm_matrix a, const void *b,
                         nd4c_gemm_strips strips, nd4c_gemm_matrix sums, int64_t sum_terms,
                         const nd4c_gemm_ending *ending) {
  const int64_t size = strips.columns * strips.depth;
  nd4c_gemm_ending rest;
  if (m == 1 && strips.columns == NAME(WIDE) && ending != NULL) {
    const int64_t done = NAME(strips_row)(column, n, k, a, b, strips, sum_terms, ending);
    if (done == n) {
      return;
    }
    rest = *ending;
    rest.y.data += done * (int64_t)sizeof(T);
    sums.data += sums.data != NULL ? done * (int64_t)sizeof(T) : 0; /* may be where the results go */
    rest.bias = rest.bias != NULL ? (const T *)rest.bias + done : NULL;
    rest.addend.data += rest.addend.data != NULL ? done * (int64_t)sizeof(T) : 0;
    ending = &rest;
    column += done;
    n -= done;
  }
  NAME(operands)
  x = {.a = (const void *)a.data,
       .b = (const T *)b + column / strips.columns * size,
       .a_row = a.row_stride,
       .a_step = a.column_stride,
       .b_step = strips.columns,
       .group = (strips.columns + NAME(WIDE) - 1) / NAME(WIDE),
       .within = column % strips.columns / NAME(WIDE),
       .b_group = size,
       .sum_terms = sum_terms,
       .filled = strips.columns % NAME(WIDE) == 0,
       .ahead = true};
  NAME(block)(m, n, k, &x, sums, false, ending);
}

/* A strip of up to `width` columns whose elements lie `along` apart, `columns` of them. LINE rows of each column are
 * read together, since they may lie in one cache line. */
static void NAME(pack_strip)(int64_t columns, int64_t k, const T *from, int64_t step, int64_t along, int64_t width,
                             T *to) {
  enum { LINE = 64 / sizeof(T) };
  for (int64_t first = 0; first < k; first += LINE) {
    int64_t rows = k - first < LINE ? k - first : LINE;
    const T *x = from + first * along;
    T *y = to + first * width;
    for (int64_t c = 0; c < columns && step != 1; c++) {
      for (int64_t i = 0; i < rows; i++) {
        y[i * width + c] = x[c * step + i * along];
      }
    }
    for (int64_t i = 0; i < rows; i++) {
      if (step == 1) {
        memcpy(y + i * width, x + i * along, (size_t)columns * sizeof(T));
      }
      memset(y + i * width + columns, 0, (size_t)(width - columns) * sizeof(T));
    }
  }
}

static void NAME(pack)(int64_t n, int64_t k, nd4c_gemm_matrix b, nd4c_gemm_strips strips, void *vto) {
  const T *from = (const void *)b.data;
  T *to = vto;
  for (int64_t column = 0; column < n; column += strips.columns, to += strips.columns * strips.depth) {
    int64_t columns = n - column < strips.columns ? n - column : strips.columns;
    NAME(pack_strip)(columns, k, from + column * b.column_stride, b.column_stride, b.row_stride, strips.columns, to);
    memset(to + k * strips.columns, 0, (size_t)((strips.depth - k) * strips.columns) * sizeof(T));
  }
}

static void NAME(start)(int64_t n, const void *vbias, const void *vaddend, int64_t step, void *vy) {
  const T *bias = vbias, *addend = vaddend;
  T *y = vy;
  for (int64_t i = 0; i < n; i++) {
    y[i] = bias != NULL ? bias[i] : 0;
  }
  for (int64_t i = 0; i < n && addend != NULL; i++) {
    y[i] += addend[i * step];
  }
}

ND4C_INLINED void NAME(finish_of)(int64_t n, const T *bias, const T *addend, bool relu, T *y) {
  for (int64_t i = 0; i < n; i++) {
    T sum = y[i] + (bias != NULL ? bias[i] : 0);
    sum += addend != NULL ? addend[i] : 0;
    y[i] = relu && sum < 0 ? 0 : sum;
  }
}

static void NAME(finish)(int64_t n, const void *bias, const void *addend, bool relu, void *y) {
  if (bias != NULL && addend != NULL && relu) {
    NAME(finish_of)(n, bias, addend, true, y);
  } else if (bias != NULL && relu) {
    NAME(finish_of)(n, bias, NULL, true, y);
  } else if (bias != NULL && addend != NULL) {
    NAME(finish_of)(n, bias, addend, false, y);
  } else if (bias != NULL) {
    NAME(finish_of)(n, bias, NULL, false, y);
  } else if (addend != NULL || relu) {
    NAME(finish_of)(n, NULL, addend, relu, y);
  }
}

static void NAME(spread)(int64_t n, const void *vx, int64_t step, void *vy) {
  const T *x = vx;
  T *y = vy;
  for (int64_t i = 0; i < n; i++) {
    y[i * step] = x[i];
  }
}

static const nd4c_gemm_loops NAME(loops) = {
    .multiply = NAME(multiply),
    .direct = NAME(direct),
    .pack = NAME(pack),
    .strips = NAME(strips),
    .start = NAME(start),
    .finish = NAME(finish),
    .spread = NAME(spread),
    .sum_terms = NAME(SUM_TERMS),
    .strip_rows = TILE_ROWS,
    .strip_columns = NAME(WIDE),
    .buffer_bytes = (NAME(BLOCK_ROWS) + NAME(BLOCK_COLUMNS) + NAME(WIDE)) * NAME(DEEP) * (int64_t)sizeof(T),
};
