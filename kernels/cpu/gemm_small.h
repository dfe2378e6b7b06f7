/* Products too small for packing to pay, for one dtype: a part of gemm_loops.h. b is read where it lies; each element
 * is the same sum in the same order as that of the packed way, to the last bit. */

/* Rows of a strip: as many sums of two vectors as the registers of the level hold beside b's. */
enum { NAME(STRIP) = TILE_ROWS >= 8 ? 8 : 4 };

/* `rows` rows and `vectors` vectors of y, the last of which has `last` elements unless it is whole. The first three
 * are constants where this is called, so that the sums stay in registers. */
static inline __attribute__((always_inline)) void NAME(strip)(int rows, int vectors, bool whole, int64_t last,
                                                              int64_t k, const T *a, nd4c_gemm_matrix a_at, const T *b,
                                                              int64_t b_stride, T *y, int64_t y_stride, bool adds) {
  V sum[8][2];
#pragma GCC unroll 8
  for (int r = 0; r < rows; r++) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) {
      const T *at = y + r * y_stride + v * NAME(LANES);
      sum[r][v] = !adds ? REPEAT(0) : whole || v + 1 < vectors ? LOAD(at) : PART_LOAD(at, last);
    }
  }
  for (int64_t i = 0; i < k; i++) {
    V row[2];
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) {
      const T *at = b + i * b_stride + v * NAME(LANES);
      row[v] = whole || v + 1 < vectors ? LOAD(at) : PART_LOAD(at, last);
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++) {
      V factor = REPEAT(a[r * a_at.row_stride + i * a_at.column_stride]);
#pragma GCC unroll 2
      for (int v = 0; v < vectors; v++) {
        sum[r][v] = FUSED(factor, row[v], sum[r][v]);
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < rows; r++) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) {
      T *at = y + r * y_stride + v * NAME(LANES);
      if (whole || v + 1 < vectors) {
        STORE(at, sum[r][v]);
      } else {
        PART_STORE(at, sum[r][v], last);
      }
    }
  }
}

#define STRIP_OF(rows, vectors, whole)                                                           \
  NAME(strip)                                                                                    \
  (rows, vectors, whole, last, k, a_data + row * a.row_stride, a, b_data + column, b.row_stride, \
   y_data + row * y.row_stride + column, y.row_stride, adds)
#define STRIP(rows)                                                                  \
  (whole          ? vectors == 2 ? STRIP_OF(rows, 2, true) : STRIP_OF(rows, 1, true) \
            : vectors == 2 ? STRIP_OF(rows, 2, false)                                \
                  : STRIP_OF(rows, 1, false))

static void NAME(small)(int64_t m, int64_t n, int64_t k, nd4c_gemm_matrix a, nd4c_gemm_matrix b, nd4c_gemm_matrix y,
                        bool adds) {
  const T *a_data = (const void *)a.data, *b_data = (const void *)b.data;
  T *y_data = (void *)y.data;
  for (int64_t column = 0; column < n; column += NAME(WIDE)) {
    int64_t columns = n - column < NAME(WIDE) ? n - column : NAME(WIDE);
    int vectors = columns > NAME(LANES) ? 2 : 1;
    int64_t last = columns - (vectors - 1) * NAME(LANES);
    bool whole = last == NAME(LANES);
    int64_t row = 0;
    for (; NAME(STRIP) == 8 && m - row >= 8; row += 8) {
      STRIP(8);
    }
    for (; m - row >= 4; row += 4) {
      STRIP(4);
    }
    for (; row < m; row++) {
      STRIP(1);
    }
  }
}

#undef STRIP
#undef STRIP_OF
