/* Largest and smallest of eight rows of one float: a template of each_dtype.h, which fold.h includes; reduction.c calls
 * it. Callers pass `op` as a constant. */

ND4C_INLINED NAME(wide) NAME(row_at)(const char *line, int64_t step, int64_t row, int64_t i) {
  return NAME(load)((const T *)(const void *)(line + row * step) + i);
}

/* What two rows count for, the better of both. */
ND4C_INLINED NAME(wide) NAME(best_of)(enum nd4c_reduce_index op, NAME(seen) * seen, NAME(wide) x, NAME(wide) z) {
  NAME(see)(seen, x, z);
  return NAME(better)(op, NAME(term)(op, x), NAME(term)(op, z));
}

/* a[i] = the best of it and eight rows, or of those with `set`, for n >= WIDTH columns. */
ND4C_INLINED void NAME(extreme_rows)(enum nd4c_reduce_index op, int64_t n, const char *line, int64_t step, T *a,
                                     bool set) {
  enum { W = NAME(WIDTH) };
  for (int64_t i = 0; i < n; i += W) {
    int64_t at = i + W <= n ? i : n - W;
    NAME(wide) v[FOLD_ROWS];
#pragma GCC unroll 8
    for (int row = 0; row < FOLD_ROWS; row++) {
      v[row] = NAME(row_at)(line, step, row, at);
    }
    NAME(seen) seen = {0};
    NAME(wide) first = NAME(best_of)(op, &seen, v[0], v[1]), second = NAME(best_of)(op, &seen, v[2], v[3]);
    NAME(wide) third = NAME(best_of)(op, &seen, v[4], v[5]), fourth = NAME(best_of)(op, &seen, v[6], v[7]);
    NAME(wide) best = NAME(better)(op, NAME(better)(op, first, second), NAME(better)(op, third, fourth));
    NAME(wide) *to = (NAME(wide) *)(void *)(a + at);
    best = set ? best : NAME(better)(op, best, *to); /* NaN that is there stays */
    for (int row = 0; NAME(has_seen)(seen) && row < FOLD_ROWS; row++) {
      NAME(wide) x = NAME(row_at)(line, step, row, at);
      best = NAME(choose)((NAME(bits))(x != x), x, best);
    }
    *to = best;
  }
}
