/* Elements as words in the same order, and back, for one dtype: a template of each_dtype.h, which sort.c includes.
 * simd/sorting/sorting.c and its neighbours call them by nd4c_simd.sort->dtypes. */

#if KIND == ND4C_SIGNED || KIND == ND4C_UNSIGNED
enum { NAME(HIGHEST_BIT) = 8 * sizeof(T) - 1 };
#define WORD NAME(nd4c_wrap)
#define BIAS (KIND == ND4C_SIGNED ? (WORD)1 << NAME(HIGHEST_BIT) : 0)

static uint32_t NAME(keys)(int64_t n, const void *vx, uint64_t flip, void *vwords) {
  const T *x = vx;
  WORD *words = vwords, turn = (WORD)flip;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    words[i] = (WORD)((WORD)x[i] + BIAS) ^ turn;
  }
  return 0;
}

static void NAME(elements)(int64_t n, const void *vwords, uint64_t flip, void *vx) {
  const WORD *words = vwords, turn = (WORD)flip;
  T *x = vx;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    x[i] = (T)((words[i] ^ turn) - BIAS);
  }
}
#undef BIAS
#else
#define WORD NAME(word)
#define SIGN ((WORD)1 << (8 * sizeof(T) - 1))
#define ALL (SIGN + (SIGN - 1))
#define INFINITE (SIGN - ((WORD)1 << NAME(MANTISSA)))

static uint32_t NAME(keys)(int64_t n, const void *vx, uint64_t flip, void *vwords) {
  const NAME(bits) *x = vx;
  const WORD turn = (WORD)flip;
  WORD *words = vwords, special = 0;
  for (int64_t i = 0; i < n; i++) {
    WORD b = x[i], size = b & (SIGN - 1), negative = 0 - (b >> (8 * sizeof(T) - 1));
    WORD key = (b ^ (negative | SIGN)) & ALL;
    key = size == 0 ? SIGN : key;
    key = size > INFINITE ? ALL : key;
    special |= size > INFINITE ? (WORD)ND4C_SORT_NAN : (WORD)(b == SIGN);
    words[i] = key ^ turn;
  }
  return (uint32_t)special;
}

static void NAME(elements)(int64_t n, const void *vwords, uint64_t flip, void *vx) {
  const WORD *words = vwords, turn = (WORD)flip, quiet = INFINITE | (WORD)1 << (NAME(MANTISSA) - 1);
  NAME(bits) *x = vx;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    WORD key = words[i] ^ turn, positive = 0 - (key >> (8 * sizeof(T) - 1));
    x[i] = (NAME(bits))(key == ALL ? quiet : key ^ (~positive | SIGN));
  }
}
#undef SIGN
#undef ALL
#undef INFINITE
#endif
#undef WORD
