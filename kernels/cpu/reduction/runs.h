/* How runs and rows of one dtype are gathered. reduction_dtype.h includes it twice per dtype: for sums, products and
 * norms, and for largest and smallest elements; it defines T, A (of accumulators), OF(x), EXTREMES and KIND. Callers
 * pass `op` and functions that are arguments as constants. */

/* Two choices for extremes, not one of two conditions: the compiler makes vectors of these. NaN wins. */
ND4C_INLINED A OF(combine)(enum nd4c_reduce_index op, A a, A x) {
  return op == ND4C_REDUCE_prod                                ? a * x
         : op == ND4C_REDUCE_min                               ? (ND4C_IS_NAN(x) ? x
                                                                  : x < a        ? x
                                                                                 : a)
         : op == ND4C_REDUCE_max || op == ND4C_REDUCE_norm_max ? (ND4C_IS_NAN(x) ? x
                                                                  : x > a        ? x
                                                                                 : a)
                                                               : a + x;
}

/* What an element counts for. */
ND4C_INLINED A OF(take)(enum nd4c_reduce_index op, T x) {
  return op == ND4C_REDUCE_norm1 || op == ND4C_REDUCE_norm_max     ? (A)fabs((double)x)
         : op == ND4C_REDUCE_sum_square || op == ND4C_REDUCE_norm2 ? (A)x * (A)x
                                                                   : (A)x;
}

ND4C_INLINED A OF(two)(enum nd4c_reduce_index op, const T *x, const T *z, int64_t i) {
  return OF(combine)(op, OF(take)(op, x[i]), OF(take)(op, z[i]));
}

/* Are eight rows folded in registers, by fold.h? */
#define IN_REGISTERS (KIND == ND4C_WIDE_FLOAT && (EXTREMES || (sizeof(T) == 4 && op == ND4C_REDUCE_sum)))

#if !(KIND == ND4C_WIDE_FLOAT && EXTREMES)
/* Eight rows, so that the line of accumulators is read and written for every eighth row alone, and so many places of x
 * are read at once. */
ND4C_INLINED void OF(rows)(enum nd4c_reduce_index op, int64_t n, const char *line, int64_t step, A *a, bool set) {
  if (IN_REGISTERS) {
    add_eight_rows_float32(n, line, step, a, set);
    return;
  }
  const T *x[FOLD_ROWS];
  for (int row = 0; row < FOLD_ROWS; row++) {
    x[row] = (const T *)(const void *)(line + row * step);
  }
  const T *x0 = x[0], *x1 = x[1], *x2 = x[2], *x3 = x[3], *x4 = x[4], *x5 = x[5], *x6 = x[6], *x7 = x[7];
  ND4C_INDEPENDENT
  for (int64_t i = 0; set && i < n; i++) {
    a[i] = OF(combine)(op, OF(combine)(op, OF(two)(op, x0, x1, i), OF(two)(op, x2, x3, i)),
                       OF(combine)(op, OF(two)(op, x4, x5, i), OF(two)(op, x6, x7, i)));
  }
  ND4C_INDEPENDENT
  for (int64_t i = 0; !set && i < n; i++) {
    a[i] = OF(combine)(op, a[i],
                       OF(combine)(op, OF(combine)(op, OF(two)(op, x0, x1, i), OF(two)(op, x2, x3, i)),
                                   OF(combine)(op, OF(two)(op, x4, x5, i), OF(two)(op, x6, x7, i))));
  }
}
#endif

ND4C_INLINED void OF(fold)(enum nd4c_reduce_index op, rows_loop eight, ROWS_SIGNATURE, int32_t first) {
  A *a = accumulators;
  const char *line = vx;
  for (; rows >= FOLD_ROWS; rows -= FOLD_ROWS, line += FOLD_ROWS * step, first = 0) {
    if (IN_REGISTERS) {
      in_whole_vectors(eight, REGISTER / sizeof(T), sizeof(T), sizeof *a, n, line, step, a, first != 0);
    } else {
      eight(n, line, step, a, first != 0);
    }
  }
  for (; rows > 0; rows--, line += step, first = 0) {
    const T *x = (const T *)(const void *)line;
    ND4C_INDEPENDENT
    for (int64_t i = 0; first && i < n; i++) {
      a[i] = OF(take)(op, x[i]);
    }
    ND4C_INDEPENDENT
    for (int64_t i = 0; !first && i < n; i++) {
      a[i] = OF(combine)(op, a[i], OF(take)(op, x[i]));
    }
  }
}

ND4C_INLINED void OF(merge)(enum nd4c_reduce_index op, int64_t n, const A *x, A *a) {
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    a[i] = OF(combine)(op, a[i], x[i]);
  }
}

/* Floats are added in pieces, and those pairwise: the error grows with the logarithm of the number of pieces. */
static A OF(pairs)(enum nd4c_reduce_index op, A (*piece)(int64_t n, const T *x), int64_t n, const T *x) {
  if (n <= PIECE) {
    return piece(n, x);
  }
  int64_t half = (n / PIECE + 1) / 2 * PIECE;
  A left = OF(pairs)(op, piece, half, x);
  return OF(combine)(op, left, OF(pairs)(op, piece, n - half, x + half));
}

ND4C_INLINED void OF(run)(enum nd4c_reduce_index op, A (*piece)(int64_t n, const T *x), bool whole, ROWS_SIGNATURE) {
  A *a = accumulators;
  for (int64_t row = 0; row < rows; row++) {
    const T *x = (const T *)(const void *)((const char *)vx + row * step);
    a[row] = whole || n <= PIECE ? piece(n, x) : OF(pairs)(op, piece, n, x);
  }
}
#undef IN_REGISTERS
