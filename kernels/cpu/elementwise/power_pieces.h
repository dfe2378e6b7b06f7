/* Powers piece by piece: the formula for all elements, then again those for which it does not hold. A template of
 * each_dtype.h; POWER is the function's name, FINITE(a, b) the formula. power.h includes it on levels below AVX-512,
 * fast.c for the faster tier. */
static inline void POWER(int64_t n, const T *a, int64_t a_step, const T *b, int64_t b_step, T *y) {
  enum { PIECE = 256 };
  T bases[PIECE], exponents[PIECE], results[PIECE];
  if (n < 1 || (b_step == 0 && a_step == 1 && NAME(nd4c_power_plain)(n, a, *b, y))) {
    return;
  }
  for (int64_t i = 0; i < PIECE; i++) {
    bases[i] = *a;
    exponents[i] = *b;
  }
  for (int64_t i = 0; i < n; i += PIECE) {
    int64_t count = n - i < PIECE ? n - i : PIECE;
    uint32_t special = 0;
    if (a_step) {
      memcpy(bases, a + i, (size_t)count * sizeof *a);
    }
    if (b_step) {
      memcpy(exponents, b + i, (size_t)count * sizeof *b);
    }
    for (int64_t j = 0; j < count; j++) {
      special |= (uint32_t)NAME(nd4c_power_is_special)(bases[j], exponents[j]);
    }
    for (int64_t j = 0; j < count; j++) {
      results[j] = FINITE(bases[j], exponents[j]);
    }
    for (int64_t j = 0; special && j < count; j++) {
      if (NAME(nd4c_power_is_special)(bases[j], exponents[j])) {
        results[j] = (T)pow((double)bases[j], (double)exponents[j]);
      }
    }
    memcpy(y + i, results, (size_t)count * sizeof *y);
  }
}
