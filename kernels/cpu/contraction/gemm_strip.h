/* The innermost loops of the matrix product, for one dtype. gemm_loops.h and attention/loops.h include and call them. A
 * strip is some rows of y, two vectors wide, whose sums stay in registers while k passes. Both operands are read where
 * they lie, with any distance from element to element of a and from row to row of b. What y holds is added at the end:
 * a sum that began with it would round to its size at every step. For the same reason `sum_terms` terms make a sum, and
 * longer sums are sums of these. */

/* Strips with fewer rows than these wait for their own sums: each of them has two, and a sum takes the next product
 * some four cycles later. */
enum { NAME(FEW_ROWS) = 4, NAME(MOST_ODD) = TILE_ROWS < 8 ? TILE_ROWS : 8 };

/* Rows of the next strip where `left` are left: TILE_ROWS, or any number up to MOST_ODD, since each is unrolled. Large
 * tiles leave the last two strips about as many rows each, because one of few rows takes as long as one of FEW_ROWS. */
static inline int64_t NAME(strip_rows)(int64_t left) {
  const bool even = TILE_ROWS >= 2 * NAME(FEW_ROWS) && left > NAME(MOST_ODD) && left != TILE_ROWS &&
                    left < TILE_ROWS + NAME(FEW_ROWS);
  return even ? (left + 1) / 2 : left < TILE_ROWS ? left : TILE_ROWS;
}

/* Memory that will be read soon: k places, `step` elements apart, are prefetched. */
typedef struct NAME(ahead) {
  const T *from;
  int64_t step;
} NAME(ahead);

/* What happens to the sums of a strip when they are complete. */
typedef struct NAME(ending) {
  const T *bias;   /* added to each row; NULL: none */
  const T *addend; /* added, its rows addend_row apart; NULL: none */
  int64_t addend_row;
  T *y; /* where the results go, instead of where the sums were */
  int64_t y_row;
  nd4c_inner_activation activation;
  bool far; /* as in nd4c_gemm_ending */
} NAME(ending);

/* Adds rows `row` apart to the sums of a strip. */
ND4C_INLINED void NAME(add_rows)(int rows, int vectors, bool whole, int64_t last, const T *from, int64_t row,
                                 V sum[][2]) {
#pragma GCC unroll 16
  for (int r = 0; r < rows; r++) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) {
      const T *at = from + r * row + v * NAME(LANES);
      sum[r][v] += whole || v + 1 < vectors ? LOAD(at) : PART_LOAD(at, last);
    }
  }
}

ND4C_INLINED void NAME(activate)(int rows, int vectors, nd4c_inner_activation activation, V sum[][2]) {
#pragma GCC unroll 16
  for (int r = 0; r < rows; r++) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) {
      sum[r][v] = ACTIVATED(sum[r][v], activation);
    }
  }
}

ND4C_INLINED void NAME(end)(int rows, int vectors, bool whole, int64_t last, const NAME(ending) * ending, V sum[][2]) {
  if (ending->bias != NULL) {
    NAME(add_rows)(rows, vectors, whole, last, ending->bias, 0, sum);
  }
  if (ending->addend != NULL) {
    NAME(add_rows)(rows, vectors, whole, last, ending->addend, ending->addend_row, sum);
  }
  if (ending->activation == ND4C_INNER_RELU) {
    NAME(activate)(rows, vectors, ND4C_INNER_RELU, sum);
  } else if (ending->activation == ND4C_INNER_RELU6) {
    NAME(activate)(rows, vectors, ND4C_INNER_RELU6, sum);
  } else if (ending->activation == ND4C_INNER_HARD_SWISH) {
    NAME(activate)(rows, vectors, ND4C_INNER_HARD_SWISH, sum);
  }
}

/* `rows` rows and `vectors` vectors of y, the last of which has `last` elements unless it is whole. The first three
 * are constants where this is called, so that the sums stay in registers. */
ND4C_INLINED void NAME(strip)(int rows, int vectors, bool whole, int64_t last, int64_t k, const T *a, int64_t a_row,
                              int64_t a_step, const T *b, int64_t b_step, NAME(ahead) ahead, T *y, int64_t y_row,
                              bool adds, int64_t sum_terms, const NAME(ending) * ending) {
#pragma GCC unroll 16
  for (int r = 0; r < rows && adds; r++) {
    __builtin_prefetch(y + r * y_row);
    __builtin_prefetch(y + r * y_row + (vectors - 1) * NAME(LANES));
  }
  const int64_t three = 3 * a_row;
  const T *fours[(TILE_ROWS + 3) / 4]; /* of four rows of a each, the first */
#pragma GCC unroll 4
  for (int r = 0; r < rows; r += 4) {
    fours[r / 4] = a + r * a_row;
  }
  for (int64_t i = 0; i < k || i == 0; adds = true) {
    const int64_t end = k - i < sum_terms ? k : i + sum_terms;
    const bool ends = ending != NULL && end == k;
    V sum[TILE_ROWS][2];
#pragma GCC unroll 16
    for (int r = 0; r < rows && ends; r++) {
      __builtin_prefetch(ending->y + r * ending->y_row, 1);
      __builtin_prefetch(ending->y + r * ending->y_row + (vectors - 1) * NAME(LANES), 1);
    }
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
#pragma GCC unroll 2
      for (int v = 0; v < vectors; v++) {
        sum[r][v] = REPEAT(0);
      }
    }
#pragma GCC unroll 4
    for (; i < end; i++) {
      V row[2];
#pragma GCC unroll 2
      for (int v = 0; v < vectors; v++) {
        const T *at = b + v * NAME(LANES);
        row[v] = whole || v + 1 < vectors ? LOAD(at) : PART_LOAD(at, last);
      }
      __builtin_prefetch(ahead.from, 0, 2);
      ahead.from += ahead.step;
#pragma GCC unroll 16
      for (int r = 0; r < rows; r++) {
        V factor = REPEAT(fours[r / 4][r % 4 == 3 ? three : r % 4 * a_row]);
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) {
          sum[r][v] = FUSED(factor, row[v], sum[r][v]);
        }
      }
      b += b_step;
      ND4C_ADDRESS(b);
#pragma GCC unroll 4
      for (int r = 0; r < rows; r += 4) {
        fours[r / 4] += a_step;
        ND4C_ADDRESS(fours[r / 4]);
      }
    }
    if (adds) {
      NAME(add_rows)(rows, vectors, whole, last, y, y_row, sum);
    }
    if (ends) {
      NAME(end)(rows, vectors, whole, last, ending, sum);
    }
    T *to = ends ? ending->y : y;
    const int64_t to_row = ends ? ending->y_row : y_row;
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
#pragma GCC unroll 2
      for (int v = 0; v < vectors; v++) {
        T *at = to + r * to_row + v * NAME(LANES);
        if (whole || v + 1 < vectors) {
          STORE(at, sum[r][v]);
        } else {
          PART_STORE(at, sum[r][v], last);
        }
      }
    }
    if (k == 0) {
      break;
    }
  }
}

/* A function for each kind of strip: in one function of all kinds, GCC keeps on the stack what the loop of a kind uses.
 * All take what strip_any takes, so that choosing one is a jump. */
#define STRIP_PARAMETERS                                                                                           \
  int64_t rows, int64_t columns, int64_t k, const T *a, int64_t a_row, int64_t a_step, const T *b, int64_t b_step, \
      NAME(ahead) ahead, T *y, int64_t y_row, bool adds, int64_t sum_terms, const NAME(ending) * ending
#define STRIP_ARGUMENTS k, a, a_row, a_step, b, b_step, ahead, y, y_row, adds, sum_terms, ending
#define STRIP_KIND(name, its_rows, vectors, whole)                                                 \
  static __attribute__((noinline)) void NAME(name)(STRIP_PARAMETERS) {                             \
    (void)rows;                                                                                    \
    NAME(strip)(its_rows, vectors, whole, columns - (vectors - 1) * NAME(LANES), STRIP_ARGUMENTS); \
  }
#define STRIP_KINDS(name, rows)           \
  STRIP_KIND(name##_whole, rows, 2, true) \
  STRIP_KIND(name##_half, rows, 1, true)  \
  STRIP_KIND(name##_part, rows, 2, false) \
  STRIP_KIND(name##_less, rows, 1, false)
#define STRIP_CALL(name)                                                         \
  (columns == NAME(WIDE)    ? NAME(name##_whole)(rows, columns, STRIP_ARGUMENTS) \
   : columns == NAME(LANES) ? NAME(name##_half)(rows, columns, STRIP_ARGUMENTS)  \
   : columns > NAME(LANES)  ? NAME(name##_part)(rows, columns, STRIP_ARGUMENTS)  \
                            : NAME(name##_less)(rows, columns, STRIP_ARGUMENTS))

STRIP_KINDS(strip_tile, TILE_ROWS)
/* Kinds that strip_rows does not ask for are like the first. */
#define STRIP_ODD(rows) STRIP_KINDS(strip_##rows, rows < TILE_ROWS ? rows : 1)
STRIP_ODD(1)
STRIP_ODD(2)
STRIP_ODD(3)
STRIP_ODD(4)
STRIP_ODD(5)
STRIP_ODD(6)
STRIP_ODD(7)
STRIP_ODD(8)

/* rows: one of strip_rows's. columns: at most two vectors. sum_terms: at least 1. ending: NULL for none. */
static void NAME(strip_any)(STRIP_PARAMETERS) {
  if (rows == TILE_ROWS) {
    STRIP_CALL(strip_tile);
    return;
  }
#define STRIP_CASE(its_rows)                                       \
  case (its_rows < TILE_ROWS ? its_rows : TILE_ROWS + (its_rows)): \
    STRIP_CALL(strip_##its_rows);                                  \
    break;
  switch (rows) {
    STRIP_CASE(1)
    STRIP_CASE(2)
    STRIP_CASE(3)
    STRIP_CASE(4)
    STRIP_CASE(5)
    STRIP_CASE(6)
    STRIP_CASE(7)
    STRIP_CASE(8)
    default:
      break;
  }
#undef STRIP_CASE
#undef STRIP_ODD
}

#undef STRIP_PARAMETERS
#undef STRIP_ARGUMENTS
#undef STRIP_KIND
#undef STRIP_KINDS
#undef STRIP_CALL

#if defined(__AVX2__) && defined(__FMA__) && !defined(__AVX512F__)
#define HAS_TALL
#include "kernels/cpu/contraction/gemm_tall.h"
#endif

/* Where a lies. */
typedef struct NAME(rows_of_a) {
  const T *data;
  int64_t row, step; /* from row to row, from element to element */
  bool packed;       /* the rows of a strip lie side by side; `row` elements are of each row, `step` is unused */
} NAME(rows_of_a);

/* Where b lies. */
typedef struct NAME(panel_of_b) {
  const T *data;
  int64_t step; /* from row to row */
  bool filled;  /* rows have WIDE elements that may be read, beyond the columns of the panel, too */
} NAME(panel_of_b);

/* Terms [first, first + terms) of all sums of m rows: strip_any for one strip after the other. The strips prefetch one
 * after the other, too. b: from term `first` on. */
static void NAME(strips_below)(int64_t m, int64_t columns, int64_t first, int64_t terms, NAME(rows_of_a) a,
                               NAME(panel_of_b) b, NAME(ahead) ahead, T *y, int64_t y_row, bool adds, int64_t sum_terms,
                               const NAME(ending) * ending) {
  int64_t row = 0;
#ifdef HAS_TALL
  const bool is_float = (T)0.5 != 0;
  if (is_float && m >= TILE_ROWS && (columns == NAME(WIDE) || b.filled)) {
    const int64_t strips = m / TILE_ROWS, step = a.packed ? TILE_ROWS : a.step;
    NAME(tall_strips)
    (columns, strips, terms, a.data + first * step, a.packed ? 1 : a.row, step, TILE_ROWS * a.row, b.data, b.step,
     ahead, y, y_row, adds, sum_terms, ending);
    row = strips * TILE_ROWS;
    ahead.from += strips * terms * ahead.step;
  }
#endif
  for (int64_t rows; row < m; row += rows, ahead.from += terms * ahead.step) {
    rows = NAME(strip_rows)(m - row);
    const int64_t step = a.packed ? rows : a.step;
    NAME(ending) here;
    if (ending != NULL) {
      here = *ending;
      here.addend += here.addend != NULL ? row * here.addend_row : 0;
      here.y += row * here.y_row;
    }
    NAME(strip_any)
    (rows, columns, terms, a.data + row * a.row + first * step, a.packed ? 1 : a.row, step, b.data, b.step, ahead,
     y + row * y_row, y_row, adds, sum_terms, ending != NULL ? &here : NULL);
  }
}
#undef HAS_TALL
