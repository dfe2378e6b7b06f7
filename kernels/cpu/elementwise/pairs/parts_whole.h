/* The ops of parts.c on integers: a template of each_dtype.h, which parts.c includes;
 * simd/elementwise/elementwise_parts.c runs the loops. Callers pass `op` as a constant. */

/* Bits that are 1 in |x|: in pairs, in fours, in bytes, in all. */
ND4C_INLINED uint8_t NAME(ones)(T x) {
  const uint64_t ones = UINT64_MAX;
  NAME(nd4c_wrap) bits = KIND == ND4C_SIGNED && x <= 0 ? 0 - (NAME(nd4c_wrap))x : (NAME(nd4c_wrap))x;
  bits -= bits >> 1 & (NAME(nd4c_wrap))(ones / 3);
  bits = (bits & (NAME(nd4c_wrap))(ones / 5)) + (bits >> 2 & (NAME(nd4c_wrap))(ones / 5));
  bits = (bits + (bits >> 4)) & (NAME(nd4c_wrap))(ones / 17);
  bits += bits >> 8;
  bits += bits >> 16;
  bits += sizeof bits > 4 ? bits >> 16 >> 16 : 0;
  return (uint8_t)(bits & 0x7f);
}

static void NAME(bit_count)(SIGNATURE) {
  const T *x = vx;
  uint8_t *y = vy;
  int64_t i = 0;
  (void)parameters;
  if (sizeof(T) == 1) {
    i = ones_of_bytes(KIND == ND4C_SIGNED, n, vx, vy);
  }
  ND4C_INDEPENDENT
  for (; i < n; i++) {
    y[i] = NAME(ones)(x[i]);
  }
}

ND4C_INLINED void NAME(loop)(enum nd4c_part_index op, SIGNATURE) {
  const T *x = vx;
  T *y = vy;
  (void)parameters;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    const NAME(nd4c_wrap) wide = (NAME(nd4c_wrap))x[i];
    y[i] = (T)(op == ND4C_PART_bitwise_invert ? ~wide : wide * wide * wide);
  }
}
