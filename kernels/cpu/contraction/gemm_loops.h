/* The matrix product of one float: a template of each_dtype.h, with the names of gemm_vector.h. gemm.c includes it for
 * f32 and f64; simd/contraction.c and window_conv.c call the loops.
 *
 * Each element of y is a sum of sums of SUM_TERMS products, both in the order of k, whatever is packed and wherever
 * blocks end: results are the same to the last bit for every way through this file. The error of a sum grows with the
 * root of its length, so that of one sum of 3072 products would be four times as large. */

enum {
  NAME(LANES) = VECTOR_BYTES / sizeof(T),
  NAME(WIDE) = 2 * NAME(LANES), /* columns of a strip */
  NAME(SUM_TERMS) = 128,
  NAME(DEEP) = 2048 / sizeof(T), /* of k at a time, where operands are packed: a multiple of SUM_TERMS */
  NAME(BLOCK_ROWS) = 16 * TILE_ROWS,
  NAME(BLOCK_COLUMNS) = 512
};

#include "kernels/cpu/contraction/gemm_strip.h"

/* -- packing ---------------------------------------------------------------------------------------------------- */

/* `width` rows (columns) of k elements side by side: to[i * width + r]. step: between rows; along: in one. */
ND4C_INLINED void NAME(pack_panel)(int64_t width, int64_t k, const T *from, int64_t step, int64_t along, T *to) {
  if (step == 1) {
    for (int64_t i = 0; i < k; i++, to += width) {
      for (int64_t r = 0; r < width; r++) {
        to[r] = from[i * along + r];
      }
    }
  } else {
    for (int64_t i = 0; i < k; i++, to += width) {
      for (int64_t r = 0; r < width; r++) {
        to[r] = from[r * step + i * along];
      }
    }
  }
}

/* Rows of a, as many side by side as a strip takes. */
static void NAME(pack_rows)(int64_t m, int64_t k, const T *from, int64_t step, int64_t along, T *to) {
  for (int64_t row = 0, rows; row < m; row += rows) {
    rows = NAME(strip_rows)(m - row);
    if (rows == TILE_ROWS) {
      NAME(pack_panel)(TILE_ROWS, k, from + row * step, step, along, to + row * k);
    } else {
      NAME(pack_panel)(rows, k, from + row * step, step, along, to + row * k);
    }
  }
}

/* Columns of b; the last panel is filled up with zeros. */
static void NAME(pack_columns)(int64_t n, int64_t k, const T *from, int64_t step, int64_t along, T *to) {
  int64_t column = 0;
  for (; n - column >= NAME(WIDE); column += NAME(WIDE)) {
    NAME(pack_panel)(NAME(WIDE), k, from + column * step, step, along, to + column * k);
  }
  from += column * step;
  to += column * k;
  for (int64_t i = 0; i < k && column < n; i++) {
    for (int64_t r = 0; r < NAME(WIDE); r++) {
      to[i * NAME(WIDE) + r] = r < n - column ? from[r * step + i * along] : 0;
    }
  }
}

/* -- blocks ----------------------------------------------------------------------------------------------------- */

/* A strip of a y whose rows have gaps: computed beside and copied. */
static void NAME(strip_apart)(int64_t rows, int64_t columns, int64_t k, const T *a, int64_t a_row, int64_t a_step,
                              const T *b, int64_t b_step, NAME(ahead) ahead, T *y, nd4c_gemm_matrix to, bool adds) {
  T beside[TILE_ROWS * NAME(WIDE)];
  for (int64_t r = 0; r < rows && adds; r++) {
    for (int64_t c = 0; c < columns; c++) {
      beside[r * NAME(WIDE) + c] = y[r * to.row_stride + c * to.column_stride];
    }
  }
  NAME(strip_any)(rows, columns, k, a, a_row, a_step, b, b_step, ahead, beside, NAME(WIDE), adds);
  for (int64_t r = 0; r < rows; r++) {
    for (int64_t c = 0; c < columns; c++) {
      y[r * to.row_stride + c * to.column_stride] = beside[r * NAME(WIDE) + c];
    }
  }
}

/* How strips find their operands: of b, the distance from panel to panel and from row to row of one. */
typedef struct NAME(operands) {
  const T *a, *b;
  int64_t a_row, a_step; /* unless packed: rows then lie as pack_rows leaves them */
  int64_t b_panel, b_step;
  bool packed;
} NAME(operands);

/* Terms [first, first + terms) of the sums in `columns` columns, which are a panel's. y: the first of them. next: the
 * part of b that is needed after this one, NULL for none: all strips together prefetch it, since memory gives a few
 * bytes a cycle. */
static void NAME(panel)(int64_t m, int64_t columns, int64_t terms, int64_t first, const NAME(operands) * x, int64_t k,
                        const T *b, const T *next, T *y, nd4c_gemm_matrix to, bool adds) {
  const int64_t strips = (m + TILE_ROWS - 1) / TILE_ROWS;
  NAME(ahead) ahead = {.from = next != NULL ? next : b, .step = next != NULL ? (NAME(WIDE) + strips - 1) / strips : 0};
  for (int64_t row = 0, rows; row < m; row += rows, ahead.from += terms * ahead.step) {
    rows = NAME(strip_rows)(m - row);
    int64_t a_row = x->packed ? 1 : x->a_row, a_step = x->packed ? rows : x->a_step;
    const T *a = x->a + row * (x->packed ? k : x->a_row) + first * a_step;
    T *at = y + row * to.row_stride;
    if (to.column_stride == 1) {
      NAME(strip_any)(rows, columns, terms, a, a_row, a_step, b, x->b_step, ahead, at, to.row_stride, adds);
    } else {
      NAME(strip_apart)(rows, columns, terms, a, a_row, a_step, b, x->b_step, ahead, at, to, adds);
    }
  }
}

/* y = (y +) a b, strip by strip: SUM_TERMS rows of a panel of b stay in the L1 cache while all rows of a pass, and as
 * many columns of a in the L2 cache while all panels do. k == 0 still has to write zeros. */
static void NAME(block)(int64_t m, int64_t n, int64_t k, const NAME(operands) * x, nd4c_gemm_matrix to, bool adds) {
  for (int64_t first = 0; first == 0 || first < k; first += NAME(SUM_TERMS)) {
    int64_t terms = k - first < NAME(SUM_TERMS) ? k - first : NAME(SUM_TERMS);
    const T *b = x->b + first * x->b_step;
    for (int64_t column = 0; column < n; column += NAME(WIDE), b += x->b_panel) {
      int64_t columns = n - column < NAME(WIDE) ? n - column : NAME(WIDE);
      const T *next = column + NAME(WIDE) < n ? b + x->b_panel
                      : first + terms < k     ? x->b + (first + terms) * x->b_step
                                              : NULL;
      T *y = (T *)(void *)to.data + column * to.column_stride;
      NAME(panel)
      (m, columns, terms, first, x, k, b, x->b_step == NAME(WIDE) ? next : NULL, y, to, adds || first > 0);
    }
  }
}

static void NAME(multiply)(int64_t m, int64_t n, int64_t k, nd4c_gemm_matrix a, nd4c_gemm_matrix b, nd4c_gemm_matrix y,
                           bool adds, void *buffer) {
  const T *a_data = (const void *)a.data, *b_data = (const void *)b.data;
  T *a_packed = buffer, *b_packed = a_packed + NAME(BLOCK_ROWS) * NAME(DEEP);
  NAME(operands) x = {.a = a_packed, .b = b_packed, .b_step = NAME(WIDE), .packed = true};
  for (int64_t column = 0; column < n; column += NAME(BLOCK_COLUMNS)) {
    int64_t columns = n - column < NAME(BLOCK_COLUMNS) ? n - column : NAME(BLOCK_COLUMNS);
    /* k == 0 still has to write zeros. */
    for (int64_t depth = 0; depth == 0 || depth < k; depth += NAME(DEEP)) {
      int64_t deep = k - depth < NAME(DEEP) ? k - depth : NAME(DEEP);
      NAME(pack_columns)
      (columns, deep, b_data + depth * b.row_stride + column * b.column_stride, b.column_stride, b.row_stride,
       b_packed);
      x.b_panel = NAME(WIDE) * deep;
      for (int64_t row = 0; row < m; row += NAME(BLOCK_ROWS)) {
        int64_t rows = m - row < NAME(BLOCK_ROWS) ? m - row : NAME(BLOCK_ROWS);
        NAME(pack_rows)
        (rows, deep, a_data + row * a.row_stride + depth * a.column_stride, a.row_stride, a.column_stride, a_packed);
        nd4c_gemm_matrix to = y;
        to.data += (row * y.row_stride + column * y.column_stride) * (int64_t)sizeof(T);
        NAME(block)(rows, columns, deep, &x, to, adds || depth > 0);
      }
    }
  }
}

static void NAME(direct)(int64_t m, int64_t n, int64_t k, nd4c_gemm_matrix a, nd4c_gemm_matrix b, nd4c_gemm_matrix y,
                         bool adds) {
  NAME(operands)
  x = {.a = (const void *)a.data,
       .b = (const void *)b.data,
       .a_row = a.row_stride,
       .a_step = a.column_stride,
       .b_panel = NAME(WIDE),
       .b_step = b.row_stride};
  NAME(block)(m, n, k, &x, y, adds);
}

static void NAME(panels)(int64_t m, int64_t n, int64_t k, nd4c_gemm_matrix a, const void *packed, nd4c_gemm_matrix y,
                         bool adds) {
  NAME(operands)
  x = {.a = (const void *)a.data,
       .b = packed,
       .a_row = a.row_stride,
       .a_step = a.column_stride,
       .b_panel = NAME(WIDE) * k,
       .b_step = NAME(WIDE)};
  NAME(block)(m, n, k, &x, y, adds);
}

static void NAME(pack)(int64_t n, int64_t k, nd4c_gemm_matrix b, void *to) {
  NAME(pack_columns)(n, k, (const void *)b.data, b.column_stride, b.row_stride, to);
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
    .panels = NAME(panels),
    .start = NAME(start),
    .spread = NAME(spread),
    .strip_rows = TILE_ROWS,
    .strip_columns = NAME(WIDE),
    .buffer_bytes = (NAME(BLOCK_ROWS) + NAME(BLOCK_COLUMNS) + NAME(WIDE)) * NAME(DEEP) * (int64_t)sizeof(T),
};

#define B T
#define OF_B NAME
#include "kernels/cpu/contraction/gemm_thin.h"
#undef B
#undef OF_B
