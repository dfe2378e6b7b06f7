/* The ops of binary.c for two elements, and the loops over them: a template of each_dtype.h, which binary.c includes.
 * simd/elementwise.c runs the loops. Callers pass `op` as a constant. */

#if KIND == ND4C_WIDE_FLOAT
ND4C_INLINED T NAME(element)(enum nd4c_binary_index op, T x, T z) {
  return op == ND4C_BINARY_add        ? x + z
         : op == ND4C_BINARY_subtract ? x - z
         : op == ND4C_BINARY_multiply ? x * z
         : op == ND4C_BINARY_divide   ? x / z
         : op == ND4C_BINARY_prelu    ? (x < 0 ? x * z : x)
         : op == ND4C_BINARY_maximum  ? (x >= z || ND4C_IS_NAN(x) ? x : z) /* NaN of z fails the comparison */
                                      : (x <= z || ND4C_IS_NAN(x) ? x : z);
}
#else
static inline T NAME(power)(T x, T z) {
  NAME(nd4c_wrap) base = (NAME(nd4c_wrap))x, result = 1;
  if (KIND == ND4C_SIGNED && z <= 0 && z != 0) {
    return (T)(x == 1 ? 1 : x == (T)-1 ? (z & 1 ? -1 : 1) : 0);
  }
  for (; z != 0; z = (T)(z >> 1), base *= base) {
    result = z & 1 ? result * base : result;
  }
  return (T)result;
}

ND4C_INLINED T NAME(element)(enum nd4c_binary_index op, T x, T z) {
  NAME(nd4c_wrap) left = (NAME(nd4c_wrap))x, right = (NAME(nd4c_wrap))z;
  return op == ND4C_BINARY_add        ? (T)(left + right)
         : op == ND4C_BINARY_subtract ? (T)(left - right)
         : op == ND4C_BINARY_multiply ? (T)(left * right)
         : op == ND4C_BINARY_power    ? NAME(power)(x, z)
         : op == ND4C_BINARY_maximum  ? (x >= z ? x : z)
                                      : (x <= z ? x : z);
}
#endif

ND4C_INLINED bool NAME(compared)(enum nd4c_binary_index op, T x, T z) {
  return op == ND4C_BINARY_equal        ? x == z
         : op == ND4C_BINARY_not_equal  ? x != z
         : op == ND4C_BINARY_less       ? x < z
         : op == ND4C_BINARY_less_equal ? x <= z
         : op == ND4C_BINARY_greater    ? x > z
                                        : x >= z;
}

/* Which operands vary is a constant, too. A lone one is read once, before the loop: y may be it. Of no elements none is
 * read. */
ND4C_INLINED void NAME(loop)(enum nd4c_binary_index op, bool a_varies, bool b_varies, SIGNATURE) {
  const T *a = va, *b = vb;
  T *y = vy;
#if KIND == ND4C_WIDE_FLOAT
  if (op == ND4C_BINARY_power) {
    NAME(nd4c_power)(n, a, a_varies, b, b_varies, y);
    return;
  }
#endif
  if (n < 1) {
    return;
  }
  const T first = *a, second = *b;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = NAME(element)(op, a_varies ? a[i] : first, b_varies ? b[i] : second);
  }
}

ND4C_INLINED void NAME(comparison)(enum nd4c_binary_index op, bool a_varies, bool b_varies, SIGNATURE) {
  const T *a = va, *b = vb;
  uint8_t *y = vy;
  if (n < 1) {
    return;
  }
  const T first = *a, second = *b;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    y[i] = NAME(compared)(op, a_varies ? a[i] : first, b_varies ? b[i] : second);
  }
}

#if KIND != ND4C_WIDE_FLOAT
ND4C_INLINED void NAME(quotient)(enum nd4c_binary_index op, bool a_varies, bool b_varies, SIGNATURE) {
  (void)op;
  NAME(nd4c_divide)(ND4C_DIVISION_TRUNC, a_varies, b_varies, n, va, vb, vy);
}
#endif
