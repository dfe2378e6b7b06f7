/* Division of integers of one dtype: a template of each_dtype.h, which division.h includes and describes. Callers pass
 * `part` as a constant. */
#define RATIO NAME(nd4c_ratio)
#define RATIO_BITS NAME(nd4c_ratio_bits)
#define WRAP NAME(nd4c_wrap)
/* A float near it has steps of 1: the low bits of its pattern are the integer that was added. */
#define STEPS_OF_ONE ((RATIO)(sizeof(RATIO) == 4 ? 0x1.8p23 : 0x1.8p52))
#define BITS_OF_ONE ((RATIO_BITS)(sizeof(RATIO) == 4 ? UINT64_C(0x4b400000) : UINT64_C(0x4338000000000000)))

ND4C_INLINED RATIO NAME(nd4c_ratio_of)(T x) {
  if (sizeof(T) < 8) {
    return (RATIO)x;
  }
  const RATIO_BITS bits = (RATIO_BITS)x + BITS_OF_ONE;
  RATIO near;
  memcpy(&near, &bits, sizeof near);
  return near - STEPS_OF_ONE;
}

/* Modulo 2^bits: INT_MIN / -1 wraps. */
ND4C_INLINED T NAME(nd4c_integer_of)(RATIO x) {
  const RATIO near = x + STEPS_OF_ONE;
  RATIO_BITS bits;
  memcpy(&bits, &near, sizeof bits);
  return (T)(bits - BITS_OF_ONE);
}

/* Of x by z != 0. by_inverse: z is one number for all, and `inverse` its reciprocal (of |z| for divisions that
 * truncate).
 */
ND4C_INLINED T NAME(nd4c_divided)(enum nd4c_division part, T dividend, RATIO z, bool by_inverse, RATIO inverse) {
  const bool truncates = KIND == ND4C_SIGNED && (part == ND4C_DIVISION_TRUNC || part == ND4C_DIVISION_FMOD);
  const RATIO given = NAME(nd4c_ratio_of)(dividend);
  const RATIO x = truncates && given < 0 ? -given : given, divisor = truncates && z < 0 ? -z : z;
  const RATIO near = by_inverse ? x * inverse : x / divisor;
  const RATIO nearest = (near + STEPS_OF_ONE) - STEPS_OF_ONE;
  const RATIO left = x - nearest * divisor;
  const bool above = left * divisor < 0;
  const RATIO rest = above ? left + divisor : left, quotient = above ? nearest - 1 : nearest;
  if (part == ND4C_DIVISION_REMAINDER || part == ND4C_DIVISION_FMOD) {
    return NAME(nd4c_integer_of)(truncates && given < 0 ? -rest : rest);
  }
  return NAME(nd4c_integer_of)(truncates && given * z < 0 ? -quotient : quotient);
}

/* The same by the processor's division. */
ND4C_INLINED T NAME(nd4c_divided_plainly)(enum nd4c_division part, T x, T z) {
  if (z == 0) {
    return 0;
  }
  const bool negates = KIND == ND4C_SIGNED && z == (T)-1; /* the lowest number has no quotient */
  T quotient = negates ? (T)(0 - (WRAP)x) : (T)(x / z), rest = negates ? 0 : (T)(x % z);
  const bool floors = KIND == ND4C_SIGNED && (part == ND4C_DIVISION_FLOOR || part == ND4C_DIVISION_REMAINDER);
  if (floors && rest != 0 && (rest > 0) != (z > 0)) {
    quotient--;
    rest = (T)(rest + z);
  }
  return part == ND4C_DIVISION_FLOOR || part == ND4C_DIVISION_TRUNC ? quotient : rest;
}

/* Not 0 if a number is too large for nd4c_divided. */
ND4C_INLINED uint64_t NAME(nd4c_excess)(int64_t n, const T *x) {
  uint64_t excess = 0;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    excess |= KIND == ND4C_SIGNED ? ((uint64_t)x[i] + (UINT64_C(1) << 50)) >> 51 : (uint64_t)x[i] >> 50;
  }
  return excess;
}

/* Bytes by one divisor from 2 on: the upper half of a product with 2^16 / z, rounded up, is the quotient. */
ND4C_INLINED void NAME(nd4c_divide_bytes)(enum nd4c_division part, int64_t n, const T *a, uint32_t z, T *y) {
  const uint16_t inverse = (uint16_t)(0x10000 / z + 1);
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    const uint16_t x = (uint16_t)a[i], quotient = (uint16_t)((uint32_t)x * inverse >> 16);
    y[i] = (T)(part == ND4C_DIVISION_FLOOR || part == ND4C_DIVISION_TRUNC ? quotient : x - quotient * z);
  }
}

/* y[i] of a[i] and b[i], of which one may be a lone number. y may be a or b. */
ND4C_INLINED void NAME(nd4c_divide_piece)(enum nd4c_division part, bool a_varies, bool b_varies, int64_t n, const T *a,
                                          const T *b, T *y) {
  const T first = *a, second = *b;
  if (sizeof(T) == 8 && (NAME(nd4c_excess)(a_varies ? n : 1, a) | NAME(nd4c_excess)(b_varies ? n : 1, b)) != 0) {
    for (int64_t i = 0; i < n; i++) {
      y[i] = NAME(nd4c_divided_plainly)(part, a_varies ? a[i] : first, b_varies ? b[i] : second);
    }
    return;
  }
  if (sizeof(T) == 1 && KIND == ND4C_UNSIGNED && !b_varies && second > 1) {
    NAME(nd4c_divide_bytes)(part, n, a, (uint32_t)second, y);
    return;
  }
  const bool truncates = part == ND4C_DIVISION_TRUNC || part == ND4C_DIVISION_FMOD;
  const RATIO lone = NAME(nd4c_ratio_of)(second == 0 ? 1 : second);
  const RATIO inverse = 1 / (truncates && lone < 0 ? -lone : lone);
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    const T z = b_varies ? b[i] : second;
    const RATIO divisor = b_varies ? NAME(nd4c_ratio_of)(z == 0 ? 1 : z) : lone;
    const T part_of = NAME(nd4c_divided)(part, a_varies ? a[i] : first, divisor, !b_varies, inverse);
    y[i] = z == 0 ? 0 : part_of;
  }
}

ND4C_INLINED void NAME(nd4c_divide)(enum nd4c_division part, bool a_varies, bool b_varies, int64_t n, const void *va,
                                    const void *vb, void *vy) {
  const T *a = va, *b = vb;
  T *y = vy, first, second;
  if (n < 1) {
    return;
  }
  /* A lone number may be where y begins. */
  first = *a;
  second = *b;
  const int64_t most = sizeof(T) == 8 ? ND4C_DIVISION_PIECE : n; /* only numbers of 64 bits are looked at before */
  for (int64_t i = 0; i < n; i += most) {
    const int64_t count = n - i < most ? n - i : most;
    NAME(nd4c_divide_piece)
    (part, a_varies, b_varies, count, a_varies ? a + i : &first, b_varies ? b + i : &second, y + i);
  }
}
#undef RATIO
#undef RATIO_BITS
#undef WRAP
#undef STEPS_OF_ONE
#undef BITS_OF_ONE
