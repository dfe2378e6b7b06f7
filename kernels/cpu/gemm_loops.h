/* The matrix product for one dtype: included once for each, with T, V, LOAD, STORE, REPEAT, FUSED, PART_LOAD,
 * PART_STORE and NAME(x) defined.
 *
 * a and b are packed, a block at a time, into panels that lie as the innermost loop reads them: TILE_ROWS rows of a,
 * two vectors' width of b. The innermost loop keeps a tile of y in registers. */

enum {
  NAME(LANES) = VECTOR_BYTES / sizeof(T),
  NAME(WIDE) = 2 * NAME(LANES),  /* columns of a tile */
  NAME(DEEP) = 1024 / sizeof(T), /* of k at a time: a panel of each operand stays in the L1 cache */
  NAME(BLOCK_ROWS) = 16 * TILE_ROWS,
  NAME(BLOCK_COLUMNS) = 512
};

/* y tile = (y tile +) panel of a * panel of b. y's rows lie without gaps. */
static void NAME(tile)(int64_t k, const T *a, const T *b, T *y, int64_t y_stride, bool adds) {
  V sum[TILE_ROWS][2];
#pragma GCC unroll 16
  for (int r = 0; r < TILE_ROWS; r++) {
    sum[r][0] = adds ? LOAD(y + r * y_stride) : REPEAT(0);
    sum[r][1] = adds ? LOAD(y + r * y_stride + NAME(LANES)) : REPEAT(0);
  }
  for (int64_t i = 0; i < k; i++) {
    V b0 = LOAD(b), b1 = LOAD(b + NAME(LANES));
#pragma GCC unroll 16
    for (int r = 0; r < TILE_ROWS; r++) {
      V factor = REPEAT(a[r]);
      sum[r][0] = FUSED(factor, b0, sum[r][0]);
      sum[r][1] = FUSED(factor, b1, sum[r][1]);
    }
    a += TILE_ROWS;
    b += NAME(WIDE);
  }
#pragma GCC unroll 16
  for (int r = 0; r < TILE_ROWS; r++) {
    STORE(y + r * y_stride, sum[r][0]);
    STORE(y + r * y_stride + NAME(LANES), sum[r][1]);
  }
}

/* A tile at the edge, or of a y whose rows have gaps: computed beside and copied. */
static void NAME(edge)(int64_t rows, int64_t columns, int64_t k, const T *a, const T *b, T *y, nd4c_gemm_matrix to,
                       bool adds) {
  T beside[TILE_ROWS * NAME(WIDE)];
  NAME(tile)(k, a, b, beside, NAME(WIDE), false);
  for (int64_t r = 0; r < rows; r++) {
    for (int64_t c = 0; c < columns; c++) {
      T *at = y + r * to.row_stride + c * to.column_stride;
      *at = beside[r * NAME(WIDE) + c] + (adds ? *at : 0);
    }
  }
}

/* `count` rows (columns) of k elements into panels of `width`, filled up with zeros. step: between rows; along: in one.
 */
static void NAME(pack)(int64_t count, int64_t k, const T *from, int64_t step, int64_t along, int64_t width, T *to) {
  for (int64_t start = 0; start < count; start += width, to += width * k) {
    int64_t used = count - start < width ? count - start : width;
    const T *panel = from + start * step;
    if (along == 1) {
      for (int64_t r = 0; r < used; r++) {
        for (int64_t i = 0; i < k; i++) {
          to[i * width + r] = panel[r * step + i];
        }
      }
    } else if (step == 1 && used == width) {
      for (int64_t i = 0; i < k; i++) {
        for (int64_t r = 0; r < width; r++) {
          to[i * width + r] = panel[i * along + r];
        }
      }
    } else {
      for (int64_t i = 0; i < k; i++) {
        for (int64_t r = 0; r < used; r++) {
          to[i * width + r] = panel[r * step + i * along];
        }
      }
    }
    for (int64_t i = 0; i < k && used < width; i++) {
      for (int64_t r = used; r < width; r++) {
        to[i * width + r] = 0;
      }
    }
  }
}

/* y block = (y block +) packed a * packed b. */
static void NAME(block)(int64_t m, int64_t n, int64_t k, const T *a, const T *b, nd4c_gemm_matrix to, bool adds) {
  for (int64_t column = 0; column < n; column += NAME(WIDE)) {
    int64_t columns = n - column < NAME(WIDE) ? n - column : NAME(WIDE);
    for (int64_t row = 0; row < m; row += TILE_ROWS) {
      int64_t rows = m - row < TILE_ROWS ? m - row : TILE_ROWS;
      T *y = (T *)(void *)to.data + row * to.row_stride + column * to.column_stride;
      const T *a_panel = a + row * k, *b_panel = b + column * k;
      if (rows == TILE_ROWS && columns == NAME(WIDE) && to.column_stride == 1) {
        NAME(tile)(k, a_panel, b_panel, y, to.row_stride, adds);
      } else {
        NAME(edge)(rows, columns, k, a_panel, b_panel, y, to, adds);
      }
    }
  }
}

static void NAME(multiply)(int64_t m, int64_t n, int64_t k, nd4c_gemm_matrix a, nd4c_gemm_matrix b, nd4c_gemm_matrix y,
                           bool adds, void *buffer) {
  const T *a_data = (const void *)a.data, *b_data = (const void *)b.data;
  T *a_packed = buffer, *b_packed = a_packed + NAME(BLOCK_ROWS) * NAME(DEEP);
  for (int64_t column = 0; column < n; column += NAME(BLOCK_COLUMNS)) {
    int64_t columns = n - column < NAME(BLOCK_COLUMNS) ? n - column : NAME(BLOCK_COLUMNS);
    /* k == 0 still has to write zeros. */
    for (int64_t depth = 0; depth == 0 || depth < k; depth += NAME(DEEP)) {
      int64_t deep = k - depth < NAME(DEEP) ? k - depth : NAME(DEEP);
      NAME(pack)
      (columns, deep, b_data + depth * b.row_stride + column * b.column_stride, b.column_stride, b.row_stride,
       NAME(WIDE), b_packed);
      for (int64_t row = 0; row < m; row += NAME(BLOCK_ROWS)) {
        int64_t rows = m - row < NAME(BLOCK_ROWS) ? m - row : NAME(BLOCK_ROWS);
        NAME(pack)
        (rows, deep, a_data + row * a.row_stride + depth * a.column_stride, a.row_stride, a.column_stride, TILE_ROWS,
         a_packed);
        nd4c_gemm_matrix to = y;
        to.data += (row * y.row_stride + column * y.column_stride) * (int64_t)sizeof(T);
        NAME(block)(rows, columns, deep, a_packed, b_packed, to, adds || depth > 0);
      }
    }
  }
}

#include "kernels/cpu/gemm_small.h"

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

static void NAME(spread)(int64_t n, const void *vx, int64_t step, void *vy) {
  const T *x = vx;
  T *y = vy;
  for (int64_t i = 0; i < n; i++) {
    y[i * step] = x[i];
  }
}

static const nd4c_gemm_loops NAME(loops) = {
    .multiply = NAME(multiply),
    .small = NAME(small),
    .small_depth = NAME(DEEP),
    .start = NAME(start),
    .spread = NAME(spread),
    .tile_rows = 2 * NAME(BLOCK_ROWS),
    .tile_columns = NAME(BLOCK_COLUMNS),
    .buffer_bytes = (NAME(BLOCK_ROWS) + NAME(BLOCK_COLUMNS) + NAME(WIDE)) * NAME(DEEP) * (int64_t)sizeof(T),
};

#undef T
#undef V
#undef LOAD
#undef STORE
#undef REPEAT
#undef FUSED
#undef PART_LOAD
#undef PART_STORE
#undef NAME
