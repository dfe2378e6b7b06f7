/* Pairs of features that are rotated: a template that rotary.c includes for float and double. */

ND4C_INLINED void NAME(turn)(int64_t n, int64_t step, const T *a, const T *b, const T *cosines, const T *sines, T *to_a,
                             T *to_b) {
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    const double p = a[i * step], q = b[i * step], c = cosines[i], s = sines[i];
    to_a[i * step] = (T)(c * p - s * q);
    to_b[i * step] = (T)(s * p + c * q);
  }
}

static void NAME(rotate)(int64_t pairs, bool interleaved, const void *vx, const void *cosines, const void *sines,
                         void *vy) {
  const T *x = vx;
  T *y = vy;
  if (interleaved) {
    NAME(turn)(pairs, 2, x, x + 1, cosines, sines, y, y + 1);
  } else {
    NAME(turn)(pairs, 1, x, x + pairs, cosines, sines, y, y + pairs);
  }
}
