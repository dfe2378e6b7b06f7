/* The ops of binary.c for two complex numbers: a template of each_complex.h, which binary.c includes. Products and
 * quotients are computed by the plain formulas; where these may have left the range of the dtype, or meet infinity or
 * NaN, C's own operators compute the element in complex128, as engine reference does. */

#define PART NAME(nd4c_part)
#define VECTOR NAME(nd4c_numbers)

enum {
  NAME(STEP) = ND4C_NUMBERS_BYTES / sizeof(T), /* elements of a vector */
  NAME(GROUP) = 4 * NAME(STEP),                /* checked together */
  NAME(BLOCK) = 64
};

ND4C_UNFUSED static T NAME(exact_product)(T x, T z) {
  return (T)((double complex)x * (double complex)z);
}

ND4C_UNFUSED static T NAME(exact_quotient)(T x, T z) {
  return (T)((double complex)x / (double complex)z);
}

/* Products of whole vectors, or of one number that fills a vector. */
ND4C_INLINED VECTOR NAME(product)(VECTOR x, VECTOR z) {
  const VECTOR real = __builtin_shufflevector(x, x, NAME(ND4C_LANES)(ND4C_LANE_OF_REAL));
  const VECTOR imaginary = __builtin_shufflevector(x, x, NAME(ND4C_LANES)(ND4C_LANE_OF_IMAGINARY));
  const VECTOR other = __builtin_shufflevector(z, z, NAME(ND4C_LANES)(ND4C_LANE_OF_OTHER));
  const VECTOR first = real * z, second = imaginary * other;
  return __builtin_shufflevector(first - second, first + second, NAME(ND4C_LANES)(NAME(ND4C_REAL_AND_IMAGINARY)));
}

/* Bits that are set where a part is infinite or NaN. */
ND4C_INLINED nd4c_numbers_bits NAME(endless)(VECTOR x) {
  const VECTOR nothing = x - x;
  return (nd4c_numbers_bits)(nothing != nothing);
}

ND4C_INLINED bool NAME(any)(nd4c_numbers_bits bits) {
  uint64_t found = 0;
  for (int32_t i = 0; i < (int32_t)(sizeof bits / sizeof found); i++) {
    found |= bits[i];
  }
  return found != 0;
}

ND4C_INLINED VECTOR NAME(filled)(T x) {
  VECTOR all;
  T numbers[NAME(STEP)];
  for (int32_t i = 0; i < NAME(STEP); i++) {
    numbers[i] = x;
  }
  memcpy(&all, numbers, sizeof all);
  return all;
}

/* As the vectors' lanes compute it: a result does not depend on where its element stands. */
ND4C_INLINED T NAME(product_of)(T x, T z) {
  const VECTOR all = NAME(product)(NAME(filled)(x), NAME(filled)(z));
  T product;
  memcpy(&product, &all, sizeof product);
  return NAME(any)(NAME(endless)(all)) ? NAME(exact_product)(x, z) : product;
}

/* Elements one by one, from i on. */
static inline void NAME(products)(bool a_varies, bool b_varies, int64_t i, int64_t n, const T *a, const T *b, T *y,
                                  T first, T second) {
  for (; i < n; i++) {
    y[i] = NAME(product_of)(a_varies ? a[i] : first, b_varies ? b[i] : second);
  }
}

ND4C_INLINED void NAME(multiply)(bool a_varies, bool b_varies, int64_t n, const T *a, const T *b, T *y) {
  const T first = *a, second = *b;
  const VECTOR left = NAME(filled)(first), right = NAME(filled)(second);
  int64_t i = 0;
  for (; i + NAME(GROUP) <= n; i += NAME(GROUP)) {
    const VECTOR *x = (const VECTOR *)(a + i), *z = (const VECTOR *)(b + i);
    const VECTOR y0 = NAME(product)(a_varies ? x[0] : left, b_varies ? z[0] : right);
    const VECTOR y1 = NAME(product)(a_varies ? x[1] : left, b_varies ? z[1] : right);
    const VECTOR y2 = NAME(product)(a_varies ? x[2] : left, b_varies ? z[2] : right);
    const VECTOR y3 = NAME(product)(a_varies ? x[3] : left, b_varies ? z[3] : right);
    if (NAME(any)(NAME(endless)(y0) | NAME(endless)(y1) | NAME(endless)(y2) | NAME(endless)(y3))) {
      NAME(products)(a_varies, b_varies, i, i + NAME(GROUP), a, b, y, first, second);
      continue;
    }
    VECTOR *to = (VECTOR *)(y + i);
    to[0] = y0;
    to[1] = y1;
    to[2] = y2;
    to[3] = y3;
  }
  NAME(products)(a_varies, b_varies, i, n, a, b, y, first, second);
}

/* In double, where squares of complex64 cannot leave the range; those of complex128 are watched. Parts are stored
 * apart, for gcc 12 would fuse what it stores side by side, but not in the last elements of a block. */
ND4C_INLINED void NAME(divide)(bool a_varies, bool b_varies, int64_t n, const T *a, const T *b, T *y) {
  const T first = *a, second = *b;
  for (int64_t i = 0; i < n; i += NAME(BLOCK)) {
    const int64_t count = n - i < NAME(BLOCK) ? n - i : NAME(BLOCK);
    const T *x = a_varies ? a + i : &first, *z = b_varies ? b + i : &second;
    const PART *x_parts = (const PART *)x, *z_parts = (const PART *)z;
    PART real[NAME(BLOCK)], imaginary[NAME(BLOCK)], *to = (PART *)(y + i);
    uint8_t left[NAME(BLOCK)], any = 0;
    for (int64_t j = 0; j < count; j++) {
      const double p = x_parts[a_varies ? 2 * j : 0], q = x_parts[a_varies ? 2 * j + 1 : 1];
      const double r = z_parts[b_varies ? 2 * j : 0], s = z_parts[b_varies ? 2 * j + 1 : 1];
      const double size = fabs(p) + fabs(q), square = r * r + s * s;
      real[j] = (PART)((p * r + q * s) / square);
      imaginary[j] = (PART)((q * r - p * s) / square);
      left[j] = !((size >= 0x1p-400) & (size <= 0x1p400) & (square >= 0x1p-400) & (square <= 0x1p400));
      any |= left[j];
    }
    for (int64_t j = 0; any && j < count; j++) {
      if (left[j]) {
        PART quotient[2];
        const T exact = NAME(exact_quotient)(x[a_varies ? j : 0], z[b_varies ? j : 0]);
        memcpy(quotient, &exact, sizeof quotient);
        real[j] = quotient[0];
        imaginary[j] = quotient[1];
      }
    }
    for (int64_t j = 0; j < count; j++) {
      to[2 * j] = real[j];
      to[2 * j + 1] = imaginary[j];
    }
  }
}

/* Sums and differences of parts. */
ND4C_INLINED void NAME(combine)(enum nd4c_binary_index op, bool a_varies, bool b_varies, int64_t n, const T *va,
                                const T *vb, T *vy) {
  const PART *a = (const PART *)va, *b = (const PART *)vb;
  PART *y = (PART *)vy;
  const PART first[2] = {a[0], a[1]}, second[2] = {b[0], b[1]};
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    const PART real = b_varies ? b[2 * i] : second[0], imaginary = b_varies ? b[2 * i + 1] : second[1];
    const PART x = a_varies ? a[2 * i] : first[0], z = a_varies ? a[2 * i + 1] : first[1];
    y[2 * i] = op == ND4C_BINARY_add ? x + real : x - real;
    y[2 * i + 1] = op == ND4C_BINARY_add ? z + imaginary : z - imaginary;
  }
}

/* Which operands vary is a constant, too. A lone one is read before y, which may be it, is written. */
ND4C_INLINED void NAME(loop)(enum nd4c_binary_index op, bool a_varies, bool b_varies, SIGNATURE) {
  if (n < 1) {
    return;
  }
  if (op == ND4C_BINARY_multiply) {
    NAME(multiply)(a_varies, b_varies, n, va, vb, vy);
  } else if (op == ND4C_BINARY_divide) {
    NAME(divide)(a_varies, b_varies, n, va, vb, vy);
  } else {
    NAME(combine)(op, a_varies, b_varies, n, va, vb, vy);
  }
}

ND4C_INLINED void NAME(comparison)(enum nd4c_binary_index op, bool a_varies, bool b_varies, SIGNATURE) {
  const PART *a = va, *b = vb;
  uint8_t *y = vy;
  if (n < 1) {
    return;
  }
  const PART first[2] = {a[0], a[1]}, second[2] = {b[0], b[1]};
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    const bool real = (a_varies ? a[2 * i] : first[0]) == (b_varies ? b[2 * i] : second[0]);
    const bool imaginary = (a_varies ? a[2 * i + 1] : first[1]) == (b_varies ? b[2 * i + 1] : second[1]);
    y[i] = (real & imaginary) == (op == ND4C_BINARY_equal);
  }
}

#undef PART
#undef VECTOR
