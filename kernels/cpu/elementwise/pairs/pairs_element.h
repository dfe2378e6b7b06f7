/* The ops of pairs.c for two elements, and the loops over them: a template of each_dtype.h, which pairs.c includes.
 * simd/elementwise/elementwise_pairs.c runs the loops. Callers pass `op` as a constant. */

#if KIND == ND4C_WIDE_FLOAT
#define BITS NAME(bits)
#define SIGN ((BITS)1 << (8 * sizeof(T) - 1))

ND4C_INLINED BITS NAME(bits_of)(T x) {
  BITS bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* The number next to x in the direction of z: its bits count on from zero, upwards and downwards. */
ND4C_INLINED T NAME(next)(T x, T z) {
  const BITS from = NAME(bits_of)(x), step = (BITS)((x < z) == (x > 0) ? 1 : -1);
  const BITS least = 1 | (z > 0 ? 0 : SIGN), bits = x == 0 ? least : from + step;
  T near;
  memcpy(&near, &bits, sizeof near);
  return ND4C_IS_NAN(x) ? x : ND4C_IS_NAN(z) || x == z ? z : near;
}
#undef BITS
#undef SIGN

/* The difference of f32 is exact in f64, but for its last bits, so the square is rounded once. */
ND4C_INLINED T NAME(squared)(T x, T z) {
  const double difference = (double)x - (double)z;
  return (T)(difference * difference);
}

ND4C_INLINED T NAME(element)(enum nd4c_pair_index op, T x, T z) {
  const T sign = (T)copysign((double)x, (double)z);
  return op == ND4C_PAIR_fmax            ? (ND4C_IS_NAN(x) || !(x >= z || ND4C_IS_NAN(z)) ? z : x)
         : op == ND4C_PAIR_fmin          ? (ND4C_IS_NAN(x) || !(x <= z || ND4C_IS_NAN(z)) ? z : x)
         : op == ND4C_PAIR_heaviside     ? (x == 0           ? z
                                            : ND4C_IS_NAN(x) ? x
                                            : x > 0          ? 1
                                                             : 0)
         : op == ND4C_PAIR_divide_no_nan ? (z == 0 ? 0 : x / (z == 0 ? 1 : z))
         : op == ND4C_PAIR_copysign      ? sign
         : op == ND4C_PAIR_nextafter     ? NAME(next)(x, z)
                                         : NAME(squared)(x, z);
}
#else
#define WRAP NAME(nd4c_wrap)
#define WIDTH ((WRAP)(8 * sizeof(T)))

/* Counts are read as unsigned: a negative one is beyond every width. */
ND4C_INLINED T NAME(shifted_right)(T x, T z) {
  const bool within = (WRAP)z < WIDTH;
  if (KIND == ND4C_SIGNED) {
    return (T)(x >> (within ? (WRAP)z : WIDTH - 1));
  }
  return (T)(within ? x >> (within ? (WRAP)z : 0) : 0);
}

ND4C_INLINED T NAME(element)(enum nd4c_pair_index op, T x, T z) {
  const WRAP left = (WRAP)x, right = (WRAP)z, difference = left - right;
  return (T)(op == ND4C_PAIR_bitwise_and           ? left & right
             : op == ND4C_PAIR_bitwise_or          ? left | right
             : op == ND4C_PAIR_bitwise_xor         ? left ^ right
             : op == ND4C_PAIR_bitwise_left_shift  ? (right < WIDTH ? left << (right < WIDTH ? right : 0) : 0)
             : op == ND4C_PAIR_bitwise_right_shift ? (WRAP)NAME(shifted_right)(x, z)
                                                   : difference * difference);
}
#undef WRAP
#undef WIDTH
#endif

/* Which operands vary is a constant, too. A lone one is read once, before the loop: y may be it. Of no elements none is
 * read. */
ND4C_INLINED void NAME(loop)(enum nd4c_pair_index op, bool a_varies, bool b_varies, SIGNATURE) {
  const T *a = va, *b = vb;
  T *y = vy;
  if (n < 1) {
    return;
  }
  const T first = *a, second = *b;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = NAME(element)(op, a_varies ? a[i] : first, b_varies ? b[i] : second);
  }
}
