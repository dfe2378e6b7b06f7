/* The ops of parts.c on floats: a template of each_dtype.h, which parts.c includes;
 * simd/elementwise/elementwise_parts.c runs the loops. 16-bit floats compute as f32 what is not a question of bits.
 * Callers pass `op` as a constant. */

/* The bits without the sign compare as magnitudes do. */
#define BITS NAME(bits)
#define MAGNITUDE ((BITS)((BITS) - 1 >> 1))

ND4C_INLINED uint8_t NAME(answer)(enum nd4c_part_index op, BITS x, bool negative, bool positive) {
  const BITS magnitude = x & MAGNITUDE;
  const bool is_negative = x > MAGNITUDE;
  return op == ND4C_PART_is_finite ? magnitude < NAME(infinity)
         : op == ND4C_PART_is_inf  ? (magnitude == NAME(infinity)) & (is_negative ? negative : positive)
                                   : is_negative;
}

ND4C_INLINED void NAME(predicate)(enum nd4c_part_index op, SIGNATURE) {
  const char *x = vx;
  uint8_t *y = vy;
  const bool detects = op == ND4C_PART_is_inf;
  const bool negative = detects && parameters->alpha != 0, positive = detects && parameters->beta != 0;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    BITS bits;
    memcpy(&bits, x + i * (int64_t)sizeof bits, sizeof bits);
    y[i] = NAME(answer)(op, bits, negative, positive);
  }
}

static void NAME(nan_to_num)(SIGNATURE) {
  const char *x = vx, *given = parameters->high;
  char *y = vy;
  enum { BYTES = sizeof(BITS) };
  BITS chosen[3]; /* for NaN, infinity, minus infinity */
  memcpy(chosen, given, sizeof chosen);
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    BITS bits;
    memcpy(&bits, x + i * BYTES, BYTES);
    const BITS magnitude = bits & MAGNITUDE, infinite = bits > MAGNITUDE ? chosen[2] : chosen[1];
    const BITS result = magnitude > NAME(infinity) ? chosen[0] : magnitude == NAME(infinity) ? infinite : bits;
    memcpy(y + i * BYTES, &result, BYTES);
  }
}
#undef BITS
#undef MAGNITUDE

#if KIND == ND4C_WIDE_FLOAT
/* Rounded once: f32 in f64, which holds the square; f64 with the square's rounding error, where a fused product tells
 * it. */
ND4C_INLINED T NAME(cubed)(T x) {
  if (sizeof(T) == 4) {
    return (T)((double)x * (double)x * (double)x);
  }
  if (!ND4C_HAS_FMA) {
    return (T)((long double)x * x * x);
  }
  const T square = x * x, error = NAME(nd4c_multiply_add)(x, x, -square);
  const T cube = square * x, low = NAME(nd4c_multiply_add)(square, x, -cube) + error * x;
  return cube - cube == 0 ? cube + low : cube;
}

ND4C_INLINED void NAME(loop)(enum nd4c_part_index op, SIGNATURE) {
  const T *x = vx;
  T *y = vy;
  (void)parameters;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    const T whole = (T)trunc((double)x[i]);
    y[i] = op == ND4C_PART_trunc ? whole : op == ND4C_PART_frac ? x[i] - whole : NAME(cubed)(x[i]);
  }
}
#endif
