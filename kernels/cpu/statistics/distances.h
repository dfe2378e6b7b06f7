/* The sums of the distances of n elements of one float from `origin`, and of their squares: a template of each_dtype.h,
 * which moments.c includes and calls for mean and variance. */
static void NAME(distances)(int64_t n, const T *x, double origin, double *rest, double *own) {
  enum { W = WIDTH_float64 };
  const wide_float64 nothing = {0}, from = nothing + origin;
  wide_float64 s0 = nothing, s1 = s0, s2 = s0, s3 = s0, q0 = s0, q1 = s0, q2 = s0, q3 = s0;
  int64_t i = 0;
  for (; i + 4 * W <= n; i += 4 * W) {
    wide_float64 v0 = NAME(fetch)(x + i) - from, v1 = NAME(fetch)(x + i + W) - from;
    wide_float64 v2 = NAME(fetch)(x + i + 2 * W) - from, v3 = NAME(fetch)(x + i + 3 * W) - from;
    s0 += v0, s1 += v1, s2 += v2, s3 += v3;
    q0 = FUSED(v0, v0, q0), q1 = FUSED(v1, v1, q1), q2 = FUSED(v2, v2, q2), q3 = FUSED(v3, v3, q3);
  }
  for (; i < n && n >= W; i += W) {
    int64_t at = i + W <= n ? i : n - W;
    wide_float64 v = NAME(fetch)(x + at) - from;
    if (at != i) {
      v = last_of_float64(v, n - i, nothing);
    }
    s0 += v, q0 = FUSED(v, v, q0);
  }
  s0 = (s0 + s1) + (s2 + s3), q0 = (q0 + q1) + (q2 + q3);
  *rest = fold_lanes_float64(ND4C_REDUCE_sum, &s0);
  *own = fold_lanes_float64(ND4C_REDUCE_sum, &q0);
  for (; i < n; i++) {
    double distance = (double)x[i] - origin;
    *rest += distance;
    *own += distance * distance;
  }
}
