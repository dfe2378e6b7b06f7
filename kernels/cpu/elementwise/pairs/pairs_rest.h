/* Divisions of floats with a rest: a template of each_dtype.h, which pairs.c includes.
 *
 * The truncated quotient of a float division, if it is below 2^24 (f64: 2^53), is the true one or one more, and a fused
 * product gives its rest exactly. Other quotients, infinities, and all numbers on levels without that instruction are
 * left to the C library. Callers pass `op` as a constant. */
enum { NAME(REST_PIECE) = 256 };

/* Whether the quotient is one of those for which `ratio` is right. */
ND4C_INLINED bool NAME(is_near)(T x, T z) {
  const T quotient = (T)fabs((double)(x / z)), divisor = (T)fabs((double)z);
  return (quotient < (T)(sizeof(T) == 4 ? 0x1p24 : 0x1p53)) & (divisor < (T)INFINITY) & (ND4C_HAS_FMA != 0);
}

ND4C_INLINED T NAME(with_sign)(T x, T like) {
  return sizeof(T) == 4 ? (T)copysignf((float)x, (float)like) : (T)copysign((double)x, (double)like);
}

/* The floor, from the sign of what the rounded quotient's floor leaves. */
ND4C_INLINED T NAME(floored)(T x, T z) {
  const T quotient = x / z, whole = (T)floor((double)quotient), left = NAME(nd4c_multiply_add)(-whole, z, x);
  const bool above = (left != 0) & ((left < 0) != (z < 0));
  return NAME(with_sign)(above ? whole - 1 : whole, quotient);
}

/* Without branches, so that it vectorises. */
ND4C_INLINED T NAME(ratio)(enum nd4c_pair_index op, T x, T z) {
  const T whole = (T)trunc((double)(x / z)), left = NAME(nd4c_multiply_add)(-whole, z, x);
  const bool above = (left != 0) & ((left < 0) != (x < 0));
  const T rest = left + (above ? NAME(with_sign)(z, x) : 0);
  const bool floors = (rest != 0) & ((rest < 0) != (z < 0));
  const T floor_rest = rest + (floors ? z : 0);
  return op == ND4C_PAIR_floor_divide ? NAME(floored)(x, z)
         : op == ND4C_PAIR_remainder  ? (rest == 0 ? NAME(with_sign)(0, z) : floor_rest)
                                      : NAME(with_sign)(rest, x);
}

/* odd: for a result that is rounded to 16 bits afterwards. */
static T NAME(far_ratio)(enum nd4c_pair_index op, bool odd, double x, double z) {
  const double y = op == ND4C_PAIR_floor_divide ? nd4c_floor_quotient(x, z)
                   : op == ND4C_PAIR_remainder  ? nd4c_floor_rest(x, z)
                                                : fmod(x, z);
  return odd ? (T)nd4c_double_to_odd_float(y) : (T)y;
}

ND4C_INLINED void NAME(rest_loop)(enum nd4c_pair_index op, bool odd, bool a_varies, bool b_varies, SIGNATURE) {
  const T *a = va, *b = vb;
  T *y = vy;
  if (n < 1) {
    return;
  }
  const T first = *a, second = *b;
  for (int64_t i = 0; i < n; i += NAME(REST_PIECE)) {
    const int64_t count = n - i < NAME(REST_PIECE) ? n - i : NAME(REST_PIECE);
    T x[NAME(REST_PIECE)], z[NAME(REST_PIECE)]; /* y may be a or b */
    uint32_t far = 0;
    ND4C_INDEPENDENT
    for (int64_t j = 0; j < count; j++) {
      x[j] = a_varies ? a[i + j] : first;
      z[j] = b_varies ? b[i + j] : second;
      far |= !NAME(is_near)(x[j], z[j]);
      y[i + j] = NAME(ratio)(op, x[j], z[j]);
    }
    for (int64_t j = 0; far && j < count; j++) {
      if (!NAME(is_near)(x[j], z[j])) {
        y[i + j] = NAME(far_ratio)(op, odd, (double)x[j], (double)z[j]);
      }
    }
  }
}
