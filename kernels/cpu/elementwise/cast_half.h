/* Casts of a 16-bit float by way of f32, in pieces: a template of each_dtype.h, which cast.c includes. `loop` casts
 * between f32 and the other dtype, whose elements have `size` bytes. simd/elementwise.c runs the casts. */

static void NAME(from)(nd4c_cast_loop loop, int64_t size, int64_t n, const T *x, char *y) {
  float wide[ND4C_HALF_CHUNK];
  for (int64_t i = 0; i < n; i += ND4C_HALF_CHUNK) {
    int64_t count = n - i < ND4C_HALF_CHUNK ? n - i : ND4C_HALF_CHUNK;
    NAME(nd4c_widen)(count, x + i, wide);
    loop(count, wide, y + i * size);
  }
}

static void NAME(to)(nd4c_cast_loop loop, int64_t size, int64_t n, const char *x, T *y) {
  float wide[ND4C_HALF_CHUNK];
  for (int64_t i = 0; i < n; i += ND4C_HALF_CHUNK) {
    int64_t count = n - i < ND4C_HALF_CHUNK ? n - i : ND4C_HALF_CHUNK;
    loop(count, x + i * size, wide);
    NAME(nd4c_narrow)(count, wide, y + i);
  }
}
