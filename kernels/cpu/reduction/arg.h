/* Positions of the largest and the smallest element for one dtype: a template of each_dtype.h, which reduction.c
 * includes; simd/reduction.c runs them for argmax and argmin. Callers pass `op` as a constant. */

ND4C_INLINED bool NAME(beats)(enum nd4c_reduce_index op, T x, T best) {
  return (op == ND4C_REDUCE_max ? x > best : x < best) || (ND4C_IS_NAN(x) && !ND4C_IS_NAN(best));
}

/* The first place of `best` from i on; the caller knows that there is one. */
static int64_t NAME(find)(int64_t n, int64_t i, const T *x, T best) {
  for (; i + BLOCK <= n; i += BLOCK) {
    uint32_t found = 0;
    for (int64_t j = 0; j < BLOCK; j++) {
      found |= x[i + j] == best || (ND4C_IS_NAN(best) && ND4C_IS_NAN(x[i + j]));
    }
    if (found) {
      break;
    }
  }
  while (!(x[i] == best || (ND4C_IS_NAN(best) && ND4C_IS_NAN(x[i])))) {
    i++;
  }
  return i;
}

/* The extreme of each piece, then where it stands in the first piece that has it. */
ND4C_INLINED int64_t NAME(arg_run)(enum nd4c_reduce_index op, T (*extreme)(int64_t n, const T *x), int64_t n,
                                   const T *x) {
  T best = x[0];
  int64_t i = 0;
  for (int64_t begin = 0; begin < n; begin += PIECE) {
    T piece = extreme(n - begin < PIECE ? n - begin : PIECE, x + begin);
    if (NAME(beats)(op, piece, best)) {
      best = piece;
      i = begin;
    }
  }
  return NAME(find)(n, i, x, best);
}

ND4C_INLINED void NAME(arg_fold)(enum nd4c_reduce_index op, int64_t n, const T *x, int64_t row, T *best,
                                 int64_t *where) {
  for (int64_t i = 0; i < n; i++) {
    bool taken = row == 0 || NAME(beats)(op, x[i], best[i]);
    where[i] = taken ? row : where[i];
    best[i] = taken ? x[i] : best[i];
  }
}
