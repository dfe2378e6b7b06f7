/* Sums and products of runs of one float, in double: a template of each_dtype.h, which vector.h includes for
 * reduction.c and normalization.c. Callers pass `op` as a constant. */

/* The accumulator a with the vector at x. */
ND4C_INLINED wide_float64 NAME(joined)(enum nd4c_reduce_index op, wide_float64 a, const T *x) {
  wide_float64 v = term_float64(op, NAME(fetch)(x));
  return op == ND4C_REDUCE_prod ? a * v : a + v;
}

/* Eight accumulators, for an addition takes several cycles. */
ND4C_INLINED double NAME(in_double)(enum nd4c_reduce_index op, int64_t n, const T *x) {
  enum { W = WIDTH_float64 };
  const bool product = op == ND4C_REDUCE_prod;
  const wide_float64 neutral = (product ? 1 : -0.0) - (wide_float64){0};
  wide_float64 a0 = neutral, a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0, a6 = a0, a7 = a0;
  int64_t i = 0;
  for (; i + 8 * W <= n; i += 8 * W) {
    a0 = NAME(joined)(op, a0, x + i), a1 = NAME(joined)(op, a1, x + i + W);
    a2 = NAME(joined)(op, a2, x + i + 2 * W), a3 = NAME(joined)(op, a3, x + i + 3 * W);
    a4 = NAME(joined)(op, a4, x + i + 4 * W), a5 = NAME(joined)(op, a5, x + i + 5 * W);
    a6 = NAME(joined)(op, a6, x + i + 6 * W), a7 = NAME(joined)(op, a7, x + i + 7 * W);
  }
  for (; i + W <= n; i += W) {
    a0 = NAME(joined)(op, a0, x + i);
  }
  if (i < n && n >= W) {
    wide_float64 last = last_of_float64(term_float64(op, NAME(fetch)(x + n - W)), n - i, neutral);
    a1 = product ? a1 * last : a1 + last;
    i = n;
  }
  a0 = product ? ((a0 * a1) * (a2 * a3)) * ((a4 * a5) * (a6 * a7)) : ((a0 + a1) + (a2 + a3)) + ((a4 + a5) + (a6 + a7));
  double all = fold_lanes_float64(product ? op : ND4C_REDUCE_sum, &a0);
  for (; i < n; i++) {
    double one = term_float64(op, (double)x[i] - (wide_float64){0})[0];
    all = product ? all * one : all + one;
  }
  return all;
}
