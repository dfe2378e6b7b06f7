/* The loops of reduction.c for 16-bit floats, widened in pieces: a template of each_dtype.h, which reduction.c
 * includes; simd/reduction.c runs them. Callers of inlined functions pass `op` as a constant. */

ND4C_INLINED double NAME(total_pieces)(enum nd4c_reduce_index op, double (*piece)(int64_t n, const float *x), int64_t n,
                                       const T *x) {
  float wide[HALF_PIECE];
  double all = 0;
  for (int64_t i = NAME(sum_fours)(op, n, x, &all); i < n; i += HALF_PIECE) {
    int64_t count = n - i < HALF_PIECE ? n - i : HALF_PIECE;
    NAME(nd4c_widen)(count, x + i, wide);
    double one = piece(count, wide);
    all = i == 0 ? one : total_combine_float32(op, all, one);
  }
  return all;
}

ND4C_INLINED float NAME(extreme_pieces)(enum nd4c_reduce_index op, float (*piece)(int64_t n, const float *x), int64_t n,
                                        const T *x) {
  float wide[HALF_PIECE], all = 0;
  for (int64_t i = NAME(extreme_fours)(op, n, x, &all); i < n; i += HALF_PIECE) {
    int64_t count = n - i < HALF_PIECE ? n - i : HALF_PIECE;
    NAME(nd4c_widen)(count, x + i, wide);
    float one = piece(count, wide);
    all = i == 0 ? one : extreme_combine_float32(op, all, one);
  }
  return all;
}

/* size: of an accumulator. `eight` takes rows as they are; what it leaves is widened, and all where it is NULL. */
static void NAME(fold)(rows_loop eight, fold_loop wide_fold, int64_t size, ROWS_SIGNATURE, int32_t first) {
  float wide[FOLD_ROWS * ND4C_HALF_CHUNK];
  const char *line = vx;
  int64_t taken = 0;
  for (; eight != NULL && rows >= FOLD_ROWS; rows -= FOLD_ROWS, line += FOLD_ROWS * step, first = 0) {
    in_whole_vectors(eight, WIDTH_float32, sizeof(T), size, n, line, step, accumulators, first != 0);
  }
  for (; rows > 0; rows -= taken, line += taken * step, first = 0) {
    taken = rows < FOLD_ROWS ? rows : FOLD_ROWS;
    for (int64_t i = 0; i < n; i += ND4C_HALF_CHUNK) {
      int64_t count = n - i < ND4C_HALF_CHUNK ? n - i : ND4C_HALF_CHUNK;
      for (int64_t row = 0; row < taken; row++) {
        NAME(nd4c_widen)(count, (const T *)(const void *)(line + row * step) + i, wide + row * ND4C_HALF_CHUNK);
      }
      wide_fold(taken, count, wide, ND4C_HALF_CHUNK * sizeof *wide, (char *)accumulators + i * size, first);
    }
  }
}

ND4C_INLINED void NAME(total_store)(enum nd4c_reduce_index op, int64_t n, const double *a, double count, T *y) {
  double totals[ND4C_HALF_CHUNK];
  float odd[ND4C_HALF_CHUNK];
  for (int64_t i = 0; i < n; i += ND4C_HALF_CHUNK) {
    int64_t some = n - i < ND4C_HALF_CHUNK ? n - i : ND4C_HALF_CHUNK;
    for (int64_t j = 0; j < some; j++) {
      totals[j] = stored_total(op, a[i + j], count);
    }
    nd4c_odd_floats(some, totals, odd);
    NAME(nd4c_narrow)(some, odd, y + i);
  }
}

ND4C_INLINED void NAME(extreme_store)(enum nd4c_reduce_index op, int64_t n, const float *a, double count, T *y) {
  (void)op;
  (void)count;
  for (int64_t i = 0; i < n; i++) {
    y[i] = FROM_FLOAT(a[i]);
  }
}

/* -- positions ------------------------------------------------------------------------------------------------------
 */

ND4C_INLINED int64_t NAME(arg_run)(enum nd4c_reduce_index op, float (*extreme)(int64_t n, const float *x), int64_t n,
                                   const T *x) {
  float wide[ND4C_HALF_CHUNK], best = 0;
  int64_t begin = 0;
  for (int64_t i = 0; i < n; i += ND4C_HALF_CHUNK) {
    int64_t count = n - i < ND4C_HALF_CHUNK ? n - i : ND4C_HALF_CHUNK;
    NAME(nd4c_widen)(count, x + i, wide);
    float piece = extreme(count, wide);
    if (i == 0 || beats_float32(op, piece, best)) {
      best = piece;
      begin = i;
    }
  }
  int64_t count = n - begin < ND4C_HALF_CHUNK ? n - begin : ND4C_HALF_CHUNK;
  NAME(nd4c_widen)(count, x + begin, wide);
  return begin + find_float32(count, 0, wide, best);
}

ND4C_INLINED void NAME(arg_fold)(enum nd4c_reduce_index op, int64_t n, const T *x, int64_t row, float *best,
                                 int64_t *where) {
  float wide[ND4C_HALF_CHUNK];
  for (int64_t i = 0; i < n; i += ND4C_HALF_CHUNK) {
    int64_t count = n - i < ND4C_HALF_CHUNK ? n - i : ND4C_HALF_CHUNK;
    NAME(nd4c_widen)(count, x + i, wide);
    arg_fold_float32(op, count, wide, row, best + i, where + i);
  }
}
