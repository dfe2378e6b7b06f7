/* Products with few rows, for one dtype of b. The includer defines the names of gemm_vector.h for T, the type of sums;
 * B, the type of b's elements; and OF_B(x), which appends b's dtype. gemm_loops.h includes it for f32 and f64, gemm.c
 * for b of bfloat16 and float16; simd/contraction/contraction.c and contraction_narrow.c call the loops.
 *
 * b is large, so it is read once and in the order of memory: four rows at a time, because hardware then prefetches four
 * streams, and in pieces whose part of y stays in the L1 cache. */

enum {
  OF_B(THIN_LANES) = VECTOR_BYTES / sizeof(T),
  OF_B(THIN_PIECE) = 16384 / sizeof(T),
  OF_B(THIN_DEPTH) = 64 /* terms of one sum; a long sum is a sum of such sums, whose error is much smaller */
};

/* y = y + `deep` columns of a times as many rows of b, for `rows` rows. rows and deep are constants where this is
 * called. */
ND4C_INLINED void OF_B(thin_rows)(int rows, int deep, int64_t n, const T *a, int64_t a_row, int64_t a_step, const B *b,
                                  int64_t b_step, T *y, int64_t y_row) {
  V factor[4][8];
#pragma GCC unroll 4
  for (int r = 0; r < rows; r++) {
#pragma GCC unroll 8
    for (int d = 0; d < deep; d++) {
      factor[r][d] = REPEAT(a[r * a_row + d * a_step]);
    }
  }
  int64_t c = 0;
  for (; c + OF_B(THIN_LANES) <= n; c += OF_B(THIN_LANES)) {
    V sum[4];
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++) {
      sum[r] = LOAD(y + r * y_row + c);
    }
#pragma GCC unroll 8
    for (int d = 0; d < deep; d++) {
      V x = OF_B(vector_load)(b + d * b_step + c);
#pragma GCC unroll 4
      for (int r = 0; r < rows; r++) {
        sum[r] = FUSED(factor[r][d], x, sum[r]);
      }
    }
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++) {
      STORE(y + r * y_row + c, sum[r]);
    }
  }
  int64_t last = n - c;
  for (int r = 0; r < rows && last > 0; r++) {
    V sum = PART_LOAD(y + r * y_row + c, last);
    for (int d = 0; d < deep; d++) {
      sum = FUSED(REPEAT(a[r * a_row + d * a_step]), OF_B(vector_part_load)(b + d * b_step + c, last), sum);
    }
    PART_STORE(y + r * y_row + c, sum, last);
  }
}

#define THIN(rows, deep) OF_B(thin_rows)(rows, deep, n, at, a.row_stride, a.column_stride, b, b_step, to, y_row)

/* `deep` rows of b, which are 8, 4 or 1: 8 only for one row of y. */
static void OF_B(thin_step)(int64_t m, int64_t n, int64_t deep, const T *a_data, nd4c_gemm_matrix a, const B *b,
                            int64_t b_step, T *y, int64_t y_row) {
  for (int64_t row = 0; row < m;) {
    const T *at = a_data + row * a.row_stride;
    T *to = y + row * y_row;
    int64_t left = m - row;
    if (deep == 8) {
      THIN(1, 8);
    } else if (left >= 4) {
      if (deep == 4) {
        THIN(4, 4);
      } else {
        THIN(4, 1);
      }
    } else if (left >= 2) {
      if (deep == 4) {
        THIN(2, 4);
      } else {
        THIN(2, 1);
      }
    } else if (deep == 4) {
      THIN(1, 4);
    } else {
      THIN(1, 1);
    }
    row += left >= 4 ? 4 : left >= 2 ? 2 : 1;
  }
}

#undef THIN

/* y = (y +) part */
static void OF_B(thin_add)(int64_t m, int64_t n, const T *part, T *y, int64_t y_row, bool adds) {
  for (int64_t row = 0; row < m; row++, part += n, y += y_row) {
    for (int64_t c = 0; c < n; c++) {
      y[c] = (adds ? y[c] : 0) + part[c];
    }
  }
}

/* What y holds before is added last: it is often larger than the product, as in a network with residuals, and every sum
 * that it takes part in rounds to its size. */
static void OF_B(rows)(int64_t m, int64_t n, int64_t k, nd4c_gemm_matrix a, nd4c_gemm_matrix b, nd4c_gemm_matrix y,
                       bool adds) {
  const T *a_data = (const void *)a.data;
  const B *b_data = (const void *)b.data;
  T *y_data = (void *)y.data;
  T part[OF_B(THIN_PIECE)], sums[OF_B(THIN_PIECE)];
  int64_t piece = OF_B(THIN_PIECE) / m / OF_B(THIN_LANES) * OF_B(THIN_LANES);
  piece = piece > OF_B(THIN_LANES) ? piece : OF_B(THIN_LANES);
  for (int64_t column = 0; column < n; column += piece) {
    int64_t columns = n - column < piece ? n - column : piece;
    for (int64_t i = 0, deep; i < k || i == 0; i += OF_B(THIN_DEPTH)) {
      int64_t end = k - i < OF_B(THIN_DEPTH) ? k : i + OF_B(THIN_DEPTH);
      memset(part, 0, (size_t)(m * columns) * sizeof(T));
      for (int64_t at = i; at < end; at += deep) {
        deep = m == 1 && end - at >= 8 ? 8 : end - at >= 4 ? 4 : 1;
        OF_B(thin_step)
        (m, columns, deep, a_data + at * a.column_stride, a, b_data + at * b.row_stride + column, b.row_stride, part,
         columns);
      }
      if (adds) {
        OF_B(thin_add)(m, columns, part, sums, columns, i > 0);
      } else {
        OF_B(thin_add)(m, columns, part, y_data + column, y.row_stride, i > 0);
      }
    }
    if (adds) {
      OF_B(thin_add)(m, columns, sums, y_data + column, y.row_stride, true);
    }
  }
}

/* `rows` rows of a with `columns` columns of b, both without gaps along k: a sum a lane, then across. */
ND4C_INLINED void OF_B(thin_dots)(int rows, int columns, int64_t k, const T *a, int64_t a_row, const B *b,
                                  int64_t b_column, T *y, int64_t y_row, int64_t y_column, bool adds) {
  V sum[4][4];
#pragma GCC unroll 4
  for (int r = 0; r < rows; r++) {
#pragma GCC unroll 4
    for (int c = 0; c < columns; c++) {
      sum[r][c] = REPEAT(0);
    }
  }
  int64_t i = 0;
  for (; i + OF_B(THIN_LANES) <= k; i += OF_B(THIN_LANES)) {
    V x[4];
#pragma GCC unroll 4
    for (int c = 0; c < columns; c++) {
      x[c] = OF_B(vector_load)(b + c * b_column + i);
    }
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++) {
      V factor = LOAD(a + r * a_row + i);
#pragma GCC unroll 4
      for (int c = 0; c < columns; c++) {
        sum[r][c] = FUSED(factor, x[c], sum[r][c]);
      }
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < rows; r++) {
#pragma GCC unroll 4
    for (int c = 0; c < columns; c++) {
      T *to = y + r * y_row + c * y_column;
      if (i < k) {
        V factor = PART_LOAD(a + r * a_row + i, k - i), x = OF_B(vector_part_load)(b + c * b_column + i, k - i);
        sum[r][c] = FUSED(factor, x, sum[r][c]);
      }
      *to = (adds ? *to : 0) + SUM(sum[r][c]);
    }
  }
}

#define DOTS(rows, columns)                                                                                         \
  OF_B(thin_dots)                                                                                                   \
  (rows, columns, k, a_data + row * a.row_stride, a.row_stride, b_data + column * b.column_stride, b.column_stride, \
   y_data + row * y.row_stride + column * y.column_stride, y.row_stride, y.column_stride, adds)

static void OF_B(dots)(int64_t m, int64_t n, int64_t k, nd4c_gemm_matrix a, nd4c_gemm_matrix b, nd4c_gemm_matrix y,
                       bool adds) {
  const T *a_data = (const void *)a.data;
  const B *b_data = (const void *)b.data;
  T *y_data = (void *)y.data;
  for (int64_t column = 0, columns; column < n; column += columns) {
    columns = n - column >= 4 ? 4 : 1;
    for (int64_t row = 0, rows; row < m; row += rows) {
      rows = m - row >= 4 ? 4 : m - row >= 2 ? 2 : 1;
      if (columns == 4) {
        if (rows == 4) {
          DOTS(4, 4);
        } else if (rows == 2) {
          DOTS(2, 4);
        } else {
          DOTS(1, 4);
        }
      } else if (rows == 4) {
        DOTS(4, 1);
      } else if (rows == 2) {
        DOTS(2, 1);
      } else {
        DOTS(1, 1);
      }
    }
  }
}

#undef DOTS

/* The sum of k products: one long column alone. */
static void OF_B(dot)(int64_t k, const void *va, const void *vb, void *vy) {
  const T *a = va;
  const B *b = vb;
  T *y = vy;
  V sum[4] = {REPEAT(0), REPEAT(0), REPEAT(0), REPEAT(0)};
  int64_t i = 0;
  for (; i + 4 * OF_B(THIN_LANES) <= k; i += 4 * OF_B(THIN_LANES)) {
#pragma GCC unroll 4
    for (int64_t s = 0; s < 4; s++) {
      int64_t at = i + s * OF_B(THIN_LANES);
      sum[s] = FUSED(LOAD(a + at), OF_B(vector_load)(b + at), sum[s]);
    }
  }
  for (; i < k; i += OF_B(THIN_LANES)) {
    int64_t left = k - i < OF_B(THIN_LANES) ? k - i : OF_B(THIN_LANES);
    V factor = left == OF_B(THIN_LANES) ? LOAD(a + i) : PART_LOAD(a + i, left);
    V x = left == OF_B(THIN_LANES) ? OF_B(vector_load)(b + i) : OF_B(vector_part_load)(b + i, left);
    sum[0] = FUSED(factor, x, sum[0]);
  }
  *y = (SUM(sum[0]) + SUM(sum[1])) + (SUM(sum[2]) + SUM(sum[3]));
}

static const nd4c_thin_loops OF_B(thin) = {.rows = OF_B(rows), .dots = OF_B(dots), .dot = OF_B(dot)};

#undef B
#undef LOAD_B
#undef PART_LOAD_B
