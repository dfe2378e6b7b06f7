/* Ops on the bits of 16-bit floats: a template of each_dtype.h, which pairs.c includes. Callers pass `op` as a
 * constant.
 */

/* Whether a number is less than another, by their bits; neither is NaN. Zeros of both signs are equal. */
ND4C_INLINED int32_t NAME(rank)(T x) {
  const int32_t magnitude = x & 0x7fff;
  return x & 0x8000 ? -magnitude : magnitude;
}

ND4C_INLINED T NAME(next)(T x, T z) {
  const int32_t from = NAME(rank)(x), to = NAME(rank)(z), step = from < to ? from + 1 : from - 1;
  const T near = (T)(step < 0 || (step == 0 && from < 0) ? 0x8000 - step : step);
  const bool x_is_nan = (x & 0x7fff) > NAME(infinity), z_is_nan = (z & 0x7fff) > NAME(infinity);
  return x_is_nan ? (T)(x | NAME(quiet)) : z_is_nan ? (T)(z | NAME(quiet)) : from == to ? z : near;
}

ND4C_INLINED void NAME(loop)(enum nd4c_pair_index op, bool a_varies, bool b_varies, SIGNATURE) {
  const T *a = va, *b = vb;
  T *y = vy;
  if (n < 1) {
    return;
  }
  const T first = *a, second = *b;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    const T x = a_varies ? a[i] : first, z = b_varies ? b[i] : second;
    y[i] = op == ND4C_PAIR_copysign ? (T)((x & 0x7fff) | (z & 0x8000)) : NAME(next)(x, z);
  }
}
