/* The matrix product of one type of numbers: a template with the names of gemm_vector.h. gemm.c includes it for f32 and
 * f64, gemm_whole.c for whole numbers, whose sums wrap; simd/contraction/contraction_ways.c and window_conv.c call the
 * loops.
 *
 * Each element of y is a sum of sums of SUM_TERMS products, or of fewer where the caller asks for that, both in the
 * order of k, whatever is packed and wherever blocks end: results are the same to the last bit for every way through
 * this file. The error of a sum grows with the root of its length, so that of one sum of 3072 products would be four
 * times as large. */

enum {
  NAME(LANES) = VECTOR_BYTES / sizeof(T),
  NAME(WIDE) = 2 * NAME(LANES), /* columns of a strip */
  NAME(SUM_TERMS) = VECTOR_BYTES == 32 ? 192 : 128,
  /* So many rows of a panel fill less than half of the L1 cache; with AVX-512, whose panels are twice as wide, all of
   * it, because sums that pass through the L2 cache three times as often cost more. A multiple of SUM_TERMS. */
  NAME(PASS_TERMS) = (VECTOR_BYTES == 64 ? 3 : 1) * NAME(SUM_TERMS),
  /* Of k at a time, where operands are packed: a multiple of SUM_TERMS. */
  NAME(DEEP) = (2048 / sizeof(T) + NAME(SUM_TERMS) - 1) / NAME(SUM_TERMS) * NAME(SUM_TERMS),
  NAME(BLOCK_ROWS) = 16 * TILE_ROWS,
  NAME(BLOCK_COLUMNS) = 512,
  NAME(SMALL) = 1024 /* elements of a b that is turned, not packed */
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
                              const T *b, int64_t b_step, NAME(ahead) ahead, T *y, nd4c_gemm_matrix to, bool adds,
                              int64_t sum_terms) {
  T beside[TILE_ROWS * NAME(WIDE)];
  for (int64_t r = 0; r < rows && adds; r++) {
    for (int64_t c = 0; c < columns; c++) {
      beside[r * NAME(WIDE) + c] = y[r * to.row_stride + c * to.column_stride];
    }
  }
  NAME(strip_any)(rows, columns, k, a, a_row, a_step, b, b_step, ahead, beside, NAME(WIDE), adds, sum_terms, NULL);
  for (int64_t r = 0; r < rows; r++) {
    for (int64_t c = 0; c < columns; c++) {
      y[r * to.row_stride + c * to.column_stride] = beside[r * NAME(WIDE) + c];
    }
  }
}

/* How strips find their operands. b lies in panels of WIDE columns: `group` panels side by side, then b_group elements
 * from the first row of a group to that of the next. The first panel is number `within` of its group. */
typedef struct NAME(operands) {
  const T *a, *b;        /* b: of the first panel's group */
  int64_t a_row, a_step; /* unless packed: rows then lie as pack_rows leaves them */
  int64_t b_step;        /* from row to row */
  int64_t group, within, b_group;
  int64_t sum_terms; /* of one sum: SUM_TERMS, or fewer */
  bool packed;
  bool filled; /* panels of b have WIDE columns, whatever n is */
  bool ahead;  /* panels are prefetched */
} NAME(operands);

enum { NAME(ALL_PANELS) = INT32_MAX }; /* a group of all of them */

/* Terms [first, first + terms) of the sums in `columns` columns, which are a panel's. y: the first of them. next: the
 * part of b that is needed after this one, NULL for none: all strips together prefetch it, since memory gives a few
 * bytes a cycle. */
static void NAME(panel)(int64_t m, int64_t columns, int64_t terms, int64_t first, const NAME(operands) * x, int64_t k,
                        const T *b, const T *next, T *y, nd4c_gemm_matrix to, bool adds, const NAME(ending) * ending) {
  const int64_t strips = (m + TILE_ROWS - 1) / TILE_ROWS;
  NAME(ahead) ahead = {.from = next != NULL ? next : b, .step = next != NULL ? (NAME(WIDE) + strips - 1) / strips : 0};
  const NAME(rows_of_a) a = {.data = x->a, .row = x->packed ? k : x->a_row, .step = x->a_step, .packed = x->packed};
  if (to.column_stride == 1) {
    NAME(strips_below)
    (m, columns, first, terms, a, (NAME(panel_of_b)){b, x->b_step, x->filled}, ahead, y, to.row_stride, adds,
     x->sum_terms, ending);
    return;
  }
  for (int64_t row = 0, rows; row < m; row += rows, ahead.from += terms * ahead.step) {
    rows = NAME(strip_rows)(m - row);
    const int64_t step = a.packed ? rows : a.step;
    NAME(strip_apart)
    (rows, columns, terms, a.data + row * a.row + first * step, a.packed ? 1 : a.row, step, b, x->b_step, ahead,
     y + row * to.row_stride, to, adds, x->sum_terms);
  }
}

/* The part of b that is needed after a panel's: the group's panels prefetch a part each of the next group's rows. NULL:
 * there is none. */
static const T *NAME(needed_next)(const NAME(operands) * x, const T *group, int64_t within, int64_t left, int64_t terms,
                                  const T *deeper) {
  const T *next = left > (x->group - within) * NAME(WIDE) ? group + x->b_group : deeper;
  return x->ahead && next != NULL ? next + within * terms * NAME(WIDE) : NULL;
}

static NAME(ending) NAME(ending_at)(const nd4c_gemm_ending *ending, int64_t column) {
  const T *bias = ending->bias, *addend = (const void *)ending->addend.data;
  return (NAME(ending)){.bias = bias != NULL ? bias + column : NULL,
                        .addend = addend != NULL ? addend + column : NULL,
                        .addend_row = ending->addend.row_stride,
                        .y = (T *)(void *)ending->y.data + column,
                        .y_row = ending->y.row_stride,
                        .activation = ending->activation,
                        .far = ending->far};
}

/* y = (y +) a b, strip by strip: PASS_TERMS rows of a panel of b stay in the L1 cache while all rows of a pass, and as
 * many columns of a in the L2 cache while all panels do. k == 0 still has to write zeros. */
static void NAME(block)(int64_t m, int64_t n, int64_t k, const NAME(operands) * x, nd4c_gemm_matrix to, bool adds,
                        const nd4c_gemm_ending *ending) {
  for (int64_t first = 0; first == 0 || first < k; first += NAME(PASS_TERMS)) {
    int64_t terms = k - first < NAME(PASS_TERMS) ? k - first : NAME(PASS_TERMS), within = x->within;
    const T *group = x->b + first * x->b_step;
    const T *deeper = first + terms < k ? group + terms * x->b_step : NULL;
    for (int64_t column = 0; column < n; column += NAME(WIDE)) {
      int64_t columns = n - column < NAME(WIDE) ? n - column : NAME(WIDE);
      const T *next = NAME(needed_next)(x, group, within, n - column, terms, deeper);
      T *y = (T *)(void *)to.data + column * to.column_stride;
      NAME(ending) end;
      const bool ends = ending != NULL && first + terms == k;
      if (ends) {
        end = NAME(ending_at)(ending, column);
      }
      NAME(panel)
      (m, columns, terms, first, x, k, group + within * NAME(WIDE), next, y, to, adds || first > 0, ends ? &end : NULL);
      bool last = ++within == x->group;
      within = last ? 0 : within;
      group += last ? x->b_group : 0;
    }
  }
}

static void NAME(direct)(int64_t m, int64_t n, int64_t k, nd4c_gemm_matrix a, nd4c_gemm_matrix b, nd4c_gemm_matrix y,
                         bool adds, int64_t sum_terms) {
  NAME(operands)
  x = {.a = (const void *)a.data,
       .b = (const void *)b.data,
       .a_row = a.row_stride,
       .a_step = a.column_stride,
       .b_step = b.row_stride,
       .group = NAME(ALL_PANELS),
       .sum_terms = sum_terms,
       .ahead = b.row_stride == NAME(WIDE)}; /* one packed panel, whose rows follow each other */
  NAME(block)(m, n, k, &x, y, adds, NULL);
}

/* A product whose b is small: it is copied by rows, and needs no panels. */
static void NAME(multiply_small)(int64_t m, int64_t n, int64_t k, nd4c_gemm_matrix a, nd4c_gemm_matrix b,
                                 nd4c_gemm_matrix y, bool adds, T *buffer) {
  const T *from = (const void *)b.data;
  for (int64_t i = 0; i < k; i++) {
    for (int64_t c = 0; c < n; c++) {
      buffer[i * n + c] = from[i * b.row_stride + c * b.column_stride];
    }
  }
  const nd4c_gemm_matrix rows = {.data = (char *)buffer, .row_stride = n, .column_stride = 1};
  NAME(direct)(m, n, k, a, rows, y, adds, NAME(SUM_TERMS));
}

static void NAME(multiply)(int64_t m, int64_t n, int64_t k, nd4c_gemm_matrix a, nd4c_gemm_matrix b, nd4c_gemm_matrix y,
                           bool adds, void *buffer) {
  const T *a_data = (const void *)a.data, *b_data = (const void *)b.data;
  T *a_packed = buffer, *b_packed = a_packed + NAME(BLOCK_ROWS) * NAME(DEEP);
  if (k * n <= NAME(SMALL)) {
    NAME(multiply_small)(m, n, k, a, b, y, adds, buffer);
    return;
  }
  NAME(operands)
  x = {.a = a_packed,
       .b = b_packed,
       .b_step = NAME(WIDE),
       .group = 1,
       .sum_terms = NAME(SUM_TERMS),
       .packed = true,
       .filled = true,
       .ahead = true};
  for (int64_t column = 0; column < n; column += NAME(BLOCK_COLUMNS)) {
    int64_t columns = n - column < NAME(BLOCK_COLUMNS) ? n - column : NAME(BLOCK_COLUMNS);
    /* k == 0 still has to write zeros. */
    for (int64_t depth = 0; depth == 0 || depth < k; depth += NAME(DEEP)) {
      int64_t deep = k - depth < NAME(DEEP) ? k - depth : NAME(DEEP);
      NAME(pack_columns)
      (columns, deep, b_data + depth * b.row_stride + column * b.column_stride, b.column_stride, b.row_stride,
       b_packed);
      x.b_group = NAME(WIDE) * deep;
      for (int64_t row = 0; row < m; row += NAME(BLOCK_ROWS)) {
        int64_t rows = m - row < NAME(BLOCK_ROWS) ? m - row : NAME(BLOCK_ROWS);
        NAME(pack_rows)
        (rows, deep, a_data + row * a.row_stride + depth * a.column_stride, a.row_stride, a.column_stride, a_packed);
        nd4c_gemm_matrix to = y;
        to.data += (row * y.row_stride + column * y.column_stride) * (int64_t)sizeof(T);
        NAME(block)(rows, columns, deep, &x, to, adds || depth > 0, NULL);
      }
    }
  }
}

#define B T
#define OF_B NAME
#include "kernels/cpu/contraction/gemm_thin.h"
#undef B
#undef OF_B
