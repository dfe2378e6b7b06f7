/* Greatest common divisors and least common multiples of integers: a template of each_dtype.h, which pairs.c includes.
 * Euclid's algorithm for a piece of pairs at once, in floats as division.h divides, until every pair is done. */
enum { NAME(PIECE) = 64 };
#define RATIO NAME(nd4c_ratio)
#define WRAP NAME(nd4c_wrap)

ND4C_INLINED WRAP NAME(magnitude)(T x) {
  return KIND == ND4C_SIGNED && x <= 0 ? 0 - (WRAP)x : (WRAP)x;
}

/* The divisors of pairs, all below 2^50. */
ND4C_INLINED void NAME(divisors)(int64_t n, RATIO *x, RATIO *z) {
  bool more = true;
  while (more) {
    int32_t open = 0;
    ND4C_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
      const bool is_done = z[i] == 0;
      const RATIO divisor = is_done ? 1 : z[i], near = x[i] / divisor;
      const RATIO step = (RATIO)(sizeof(RATIO) == 4 ? 0x1.8p23 : 0x1.8p52);
      const RATIO left = x[i] - ((near + step) - step) * divisor;
      const RATIO rest = left < 0 ? left + divisor : left;
      x[i] = is_done ? x[i] : divisor;
      z[i] = is_done ? 0 : rest;
      open |= z[i] != 0;
    }
    more = open != 0;
  }
}

ND4C_INLINED uint64_t NAME(divisor)(uint64_t x, uint64_t z) {
  while (z != 0) {
    const uint64_t rest = x % z;
    x = z;
    z = rest;
  }
  return x;
}

/* One pair of which a number is too large for that. */
ND4C_INLINED uint64_t NAME(plain)(enum nd4c_pair_index op, uint64_t x, uint64_t z) {
  const uint64_t divisor = NAME(divisor)(x, z);
  return op == ND4C_PAIR_gcd ? divisor : divisor == 0 ? 0 : x / divisor * z;
}

ND4C_INLINED void NAME(divisor_piece)(enum nd4c_pair_index op, int64_t n, const WRAP *x, const WRAP *z, T *y) {
  RATIO left[NAME(PIECE)], right[NAME(PIECE)];
  uint64_t excess = 0;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    excess |= (uint64_t)(x[i] | z[i]) >> 50;
    left[i] = (RATIO)x[i];
    right[i] = (RATIO)z[i];
  }
  if (excess != 0) {
    for (int64_t i = 0; i < n; i++) {
      y[i] = (T)NAME(plain)(op, x[i], z[i]);
    }
    return;
  }
  NAME(divisors)(n, left, right);
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    const RATIO divisor = left[i] == 0 ? 1 : left[i];
    y[i] = (T)(op == ND4C_PAIR_gcd ? (WRAP)left[i] : (WRAP)((RATIO)x[i] / divisor) * z[i]);
  }
}

ND4C_INLINED void NAME(loop_divisor)(enum nd4c_pair_index op, bool a_varies, bool b_varies, SIGNATURE) {
  const T *a = va, *b = vb;
  T *y = vy;
  if (n < 1) {
    return;
  }
  const T first = *a, second = *b;
  for (int64_t i = 0; i < n; i += NAME(PIECE)) {
    const int64_t count = n - i < NAME(PIECE) ? n - i : NAME(PIECE);
    WRAP x[NAME(PIECE)], z[NAME(PIECE)];
    ND4C_INDEPENDENT
    for (int64_t j = 0; j < count; j++) {
      x[j] = NAME(magnitude)(a_varies ? a[i + j] : first);
      z[j] = NAME(magnitude)(b_varies ? b[i + j] : second);
    }
    NAME(divisor_piece)(op, count, x, z, y + i);
  }
}
#undef RATIO
#undef WRAP
