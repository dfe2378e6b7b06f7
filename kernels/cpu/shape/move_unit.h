/* Moving elements of one size: a template of each_unit.h, which move.c includes; support/nest.c and engine simd
 * (shape.c, reduction.c, sorting.c) call the functions. */

/* Elements 3 to 7 apart, of 4 or 8 bytes: those of a vector are squeezed together, and what is stored too much is
 * overwritten by the next ones. Returns how many of n are done. */
static inline int64_t NAME(squeeze)(int64_t n, const T *from, int64_t step, T *to) {
  int64_t i = 0;
#if defined(__AVX512F__) && (SIZE == 4 || SIZE == 8)
  const int64_t lanes = 64 / SIZE, some = step > 2 && step < 8 ? (lanes - 1) / step + 1 : 0;
  uint32_t wanted = 0;
  for (int64_t k = 0; k < some; k++) {
    wanted |= 1u << k * step;
  }
  for (; some > 0 && i + lanes <= n; i += some) {
    const __m512i line = _mm512_loadu_si512(from + i * step);
    _mm512_storeu_si512(to + i, SIZE == 4 ? _mm512_maskz_compress_epi32((__mmask16)wanted, line)
                                          : _mm512_maskz_compress_epi64((__mmask8)wanted, line));
  }
#else
  (void)n, (void)from, (void)step, (void)to;
#endif
  return i;
}

/* Constant small steps get loops of their own: the compiler then shuffles instead of gathering. */
static inline void NAME(move_row)(int64_t n, const T *from, int64_t step, T *to) {
  if (step == 1) {
    memmove(to, from, (size_t)n * sizeof *to);
  } else if (step == 0) {
    T x = *from;
    for (int64_t i = 0; i < n; i++) {
      to[i] = x;
    }
  } else if (step == 2) {
    ND4C_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
      to[i] = from[2 * i];
    }
  } else if (step == -1) {
    ND4C_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
      to[i] = from[-i];
    }
  } else {
    for (int64_t i = NAME(squeeze)(n, from, step, to); i < n; i++) {
      to[i] = from[i * step];
    }
  }
}

/* -- transposing: as many rows at a time as a cache line of a column has, square by square ---------------------------
 */

static void NAME(move_columns)(int64_t rows, int64_t columns, const T *from, int64_t from_column, T *to,
                               int64_t to_row) {
  for (int64_t c = 0; c < columns; c++) {
    for (int64_t r = 0; r < rows; r++) {
      to[r * to_row + c] = from[c * from_column + r];
    }
  }
}

/* Hardware does not foresee the next block of columns: it is asked for meanwhile. */
static void NAME(move_transposed)(int64_t rows, int64_t columns, const T *from, int64_t from_column, T *to,
                                  int64_t to_row) {
  enum { LINE = ND4C_STREAM_BLOCK / SIZE, SIDE = NAME(ND4C_SQUARE) };
  int64_t r = 0, squares = columns / SIDE * SIDE;
  for (; r + LINE <= rows; r += LINE) {
    for (int64_t c = 0; c < squares; c += SIDE) {
      for (int64_t i = 0; i < SIDE; i++) {
        ND4C_PREFETCH((uintptr_t)from + (uintptr_t)((c + i + columns) * from_column + r) * SIZE);
      }
      for (int64_t i = 0; i < LINE; i += SIDE) {
        NAME(nd4c_transpose)(from + c * from_column + r + i, from_column, to + (r + i) * to_row + c, to_row);
      }
    }
    NAME(move_columns)
    (LINE, columns - squares, from + squares * from_column + r, from_column, to + r * to_row + squares, to_row);
  }
  NAME(move_columns)(rows - r, columns, from + r, from_column, to + r * to_row, to_row);
}

/* -- each element of a column `columns` times ------------------------------------------------------------------------
 */

/* `columns` is a constant where this is called: the compiler then shuffles. */
ND4C_INLINED void NAME(spread_by)(int64_t columns, int64_t rows, const T *from, int64_t from_row, T *restrict to) {
  for (int64_t r = 0; r < rows; r++) {
    for (int64_t k = 0; k < columns; k++) {
      to[columns * r + k] = from[r * from_row];
    }
  }
}

/* Whole vectors are written, whose ends the next element's overwrite. Returns how many rows are done. */
static int64_t NAME(spread_lines)(int64_t rows, int64_t columns, const T *from, int64_t from_row, T *to) {
#if SIZE == 16
  (void)rows, (void)columns, (void)from, (void)from_row, (void)to;
  return 0;
#else
  typedef T line_of __attribute__((vector_size(ND4C_STREAM_BLOCK), aligned(1), may_alias));
  enum { LINE = ND4C_STREAM_BLOCK / SIZE };
  int64_t r = 0, past = (columns + LINE - 1) / LINE * LINE - columns;
  for (; (rows - r - 1) * columns >= past && r < rows; r++, to += columns) {
    const line_of line = (line_of){0} + from[r * from_row];
    for (int64_t c = 0; c < columns; c += LINE) {
      *(line_of *)(to + c) = line;
    }
  }
  return r;
#endif
}

static void NAME(spread)(int64_t rows, int64_t columns, const T *from, int64_t from_row, T *restrict to) {
  if (columns == 2) {
    NAME(spread_by)(2, rows, from, from_row, to);
  } else if (columns == 3) {
    NAME(spread_by)(3, rows, from, from_row, to);
  } else if (columns == 4) {
    NAME(spread_by)(4, rows, from, from_row, to);
  } else {
    for (int64_t r = NAME(spread_lines)(rows, columns, from, from_row, to); r < rows; r++) {
      NAME(move_row)(columns, from + r * from_row, 0, to + r * columns);
    }
  }
}

static void NAME(move)(int64_t rows, int64_t columns, const void *vfrom, int64_t from_row, int64_t from_column,
                       void *vto, int64_t to_row, int64_t to_column) {
  const T *from = vfrom;
  T *to = vto;
  if (to_column == 1 && to_row == columns && from_row == 0 && rows > 1) {
    NAME(move_row)(columns, from, from_column, to);
    repeat_row(rows, columns * SIZE, vto);
    return;
  }
  if (to_column == 1 && to_row == columns && from_column == 0) {
    NAME(spread)(rows, columns, from, from_row, to);
    return;
  }
  if (to_column == 1 && from_row == 1 && from_column != 1 && from_column != 0) {
    NAME(move_transposed)(rows, columns, from, from_column, to, to_row);
    return;
  }
  for (int64_t r = 0; r < rows; r++, from += from_row, to += to_row) {
    if (to_column == 1) {
      NAME(move_row)(columns, from, from_column, to);
    } else {
      for (int64_t c = 0; c < columns; c++) {
        to[c * to_column] = from[c * from_column];
      }
    }
  }
}
