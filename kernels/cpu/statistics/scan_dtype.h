/* Scans of one dtype of 32 bits and more, or integer: a template of each_dtype.h, which scan.c includes;
 * simd/statistics_scan.c runs them. Callers of inlined functions pass as constants `op` and whether they look for the
 * largest. */

#if KIND == ND4C_WIDE_FLOAT
#define A double
#define R T
#else /* integers wrap */
#define A uint64_t
#define R uint64_t

ND4C_INLINED void NAME(run)(scan_op op, int64_t n, const T *x, uint64_t *y, uint64_t *carry) {
  uint64_t all = *carry;
  int64_t i = 0;
#if defined(__AVX512F__) /* otherwise one after the other is faster: an addition waits a cycle for the one before */
  for (; i + LANES <= n; i += LANES) {
    lanes_uint64 v;
    for (int j = 0; j < LANES; j++) {
      v[j] = (uint64_t)x[i + j];
    }
    prefix_uint64(op, &v);
    v = op == PROD ? v * all : v + all;
    all = v[LANES - 1];
    memcpy(y + i, &v, sizeof v);
  }
#endif
  for (; i < n; i++) {
    all = op == PROD ? all * (uint64_t)x[i] : all + (uint64_t)x[i];
    y[i] = all;
  }
  *carry = all;
}

static void NAME(sum_total)(int64_t n, const void *vx, void *carry) {
  const T *x = vx;
  uint64_t all = 0;
  for (int64_t i = 0; i < n; i++) {
    all += (uint64_t)x[i];
  }
  *(uint64_t *)carry += all;
}
#endif

ND4C_INLINED void NAME(row)(scan_op op, int64_t n, const T *x, R *y, A *all) {
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    A next = op == PROD ? all[i] * (A)x[i] : all[i] + (A)x[i];
    all[i] = next;
    y[i] = (R)next;
  }
}
#undef A
#undef R

/* -- best so far -------------------------------------------------------------------------------------------------- */

/* Is x at least as good as the best? Against a NaN only NaN is. */
ND4C_INLINED bool NAME(reaches)(bool largest, T x, T best) {
  return (largest ? x >= best : x <= best) | ND4C_IS_NAN(x);
}

/* A new best is rare: pieces without one are filled. */
ND4C_INLINED void NAME(best_run)(bool largest, int64_t n, const T *x, int64_t position, T *own_best, int64_t *own_where,
                                 T *y, int64_t *indices) {
  enum { PIECE = 32 };
  T best = *own_best;
  int64_t where = *own_where;
  for (int64_t i = 0; i < n; i += PIECE) {
    int64_t count = n - i < PIECE ? n - i : PIECE;
    uint32_t found = 0;
    for (int64_t j = 0; j < count; j++) {
      found |= (uint32_t)NAME(reaches)(largest, x[i + j], best);
    }
    ND4C_INDEPENDENT
    for (int64_t j = 0; !found && j < count; j++) {
      y[i + j] = best;
      indices[i + j] = where;
    }
    for (int64_t j = 0; found && j < count; j++) {
      bool taken = NAME(reaches)(largest, x[i + j], best);
      best = taken ? x[i + j] : best;
      where = taken ? position + i + j : where;
      y[i + j] = best;
      indices[i + j] = where;
    }
  }
  *own_best = best;
  *own_where = where;
}

ND4C_INLINED void NAME(best_row)(bool largest, int64_t n, const T *x, int64_t position, T *best, int64_t *where, T *y,
                                 int64_t *indices) {
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    bool taken = NAME(reaches)(largest, x[i], best[i]);
    T value = taken ? x[i] : best[i];
    int64_t at = taken ? position : where[i];
    best[i] = value;
    y[i] = value;
    where[i] = at;
    indices[i] = at;
  }
}
