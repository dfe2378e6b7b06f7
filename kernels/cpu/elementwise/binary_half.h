/* Loops of binary ops on 16-bit floats: widened in pieces, computed by the loop of f32, narrowed unless the results are
 * truth values. A template of each_dtype.h, which binary.c includes; simd/elementwise.c runs the loops. */

static void NAME(in_float)(nd4c_binary_loop wide_loop, bool compares, bool a_varies, bool b_varies, SIGNATURE) {
  const T *a = va, *b = vb;
  float wide_a[ND4C_HALF_CHUNK], wide_b[ND4C_HALF_CHUNK], wide_y[ND4C_HALF_CHUNK];
  if (n < 1) {
    return;
  }
  NAME(nd4c_widen)(1, a, wide_a);
  NAME(nd4c_widen)(1, b, wide_b);
  for (int64_t i = 0; i < n; i += ND4C_HALF_CHUNK) {
    int64_t count = n - i < ND4C_HALF_CHUNK ? n - i : ND4C_HALF_CHUNK;
    if (a_varies) {
      NAME(nd4c_widen)(count, a + i, wide_a);
    }
    if (b_varies) {
      NAME(nd4c_widen)(count, b + i, wide_b);
    }
    wide_loop(count, wide_a, wide_b, compares ? (void *)((uint8_t *)vy + i) : wide_y);
    if (!compares) {
      NAME(nd4c_narrow)(count, wide_y, (T *)vy + i);
    }
  }
}
