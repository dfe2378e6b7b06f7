/* Operations on vectors of one float: a template of each_dtype.h. gemm_vector.h includes it for f32 and f64; the loops
 * of products, pools, recurrent cells and transforms call them. */

enum { NAME(VECTOR_LANES) = VECTOR_BYTES / sizeof(T) };

ND4C_INLINED V LOAD(const T *from) {
  typedef T loose __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(T)), may_alias));
  return *(const loose *)(const void *)from;
}

ND4C_INLINED void STORE(T *to, V v) {
  typedef T loose __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(T)), may_alias));
  *(loose *)(void *)to = v;
}

/* Less 0, which keeps the sign of zero. */
ND4C_INLINED V REPEAT(T x) {
  return x - (V){0};
}

/* a * b + c, fused where the level has an instruction for it. */
ND4C_INLINED V FUSED(V a, V b, V c) {
#if defined(__AVX512F__)
  return sizeof(T) == 4 ? (V)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c)
                        : (V)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__AVX2__) && defined(__FMA__)
  return sizeof(T) == 4 ? (V)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c)
                        : (V)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#elif defined(ND4C_HAS_NEON)
  return sizeof(T) == 4 ? (V)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b)
                        : (V)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
#else
  return a * b + c;
#endif
}

/* The first n elements of a vector: a load sets the others to zero, a store leaves them as they are in memory. */
ND4C_INLINED V PART_LOAD(const T *from, int64_t n) {
#if defined(__AVX512F__)
  return sizeof(T) == 4 ? (V)_mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), from)
                        : (V)_mm512_maskz_loadu_pd((__mmask8)((1u << n) - 1), from);
#elif defined(__AVX2__) && defined(__FMA__)
  return sizeof(T) == 4 ? (V)_mm256_maskload_ps((const void *)from, vector_mask_4(n))
                        : (V)_mm256_maskload_pd((const void *)from, vector_mask_8(n));
#else
  T whole[NAME(VECTOR_LANES)] = {0};
  memcpy(whole, from, (size_t)n * sizeof *from);
  return LOAD(whole);
#endif
}

ND4C_INLINED void PART_STORE(T *to, V v, int64_t n) {
#if defined(__AVX512F__)
  if (sizeof(T) == 4) {
    _mm512_mask_storeu_ps(to, (__mmask16)((1u << n) - 1), (__m512)v);
  } else {
    _mm512_mask_storeu_pd(to, (__mmask8)((1u << n) - 1), (__m512d)v);
  }
#elif defined(__AVX2__) && defined(__FMA__)
  /* By halves: a masked store takes some twenty times as long as a plain one on AMD's processors up to Zen 4. */
  enum { HALF = 16 / sizeof(T) };
  if (n == 2 * HALF) {
    STORE(to, v);
    return;
  }
  const bool upper = n >= HALF;
  __m128i rest = (__m128i)_mm256_castsi256_si128((__m256i)v);
  if (upper) {
    _mm_storeu_si128((void *)to, rest);
    rest = _mm256_extracti128_si256((__m256i)v, 1);
    to += HALF;
  }
  n -= upper ? HALF : 0;
  if (sizeof(T) == 4 && n >= 2) {
    _mm_storel_epi64((void *)to, rest);
    rest = _mm_unpackhi_epi64(rest, rest);
    to += 2;
    n -= 2;
  }
  if (n > 0 && sizeof(T) == 4) {
    _mm_store_ss((void *)to, (__m128)rest);
  } else if (n > 0) {
    _mm_storel_epi64((void *)to, rest);
  }
#else
  memcpy(to, &v, (size_t)n * sizeof *to);
#endif
}

/* low where x is less: a NaN of x stays. */
ND4C_INLINED V NAME(vector_at_least)(V low, V x) {
#if defined(__AVX512F__)
  return sizeof(T) == 4 ? (V)_mm512_max_ps((__m512)low, (__m512)x) : (V)_mm512_max_pd((__m512d)low, (__m512d)x);
#elif defined(__AVX2__) && defined(__FMA__)
  return sizeof(T) == 4 ? (V)_mm256_max_ps((__m256)low, (__m256)x) : (V)_mm256_max_pd((__m256d)low, (__m256d)x);
#else
  const __typeof__(x < low) less = x < low;
  return (V)((less & (__typeof__(less))low) | (~less & (__typeof__(less))x));
#endif
}

/* high where x is more: a NaN of x stays. */
ND4C_INLINED V NAME(vector_at_most)(V high, V x) {
#if defined(__AVX512F__)
  return sizeof(T) == 4 ? (V)_mm512_min_ps((__m512)high, (__m512)x) : (V)_mm512_min_pd((__m512d)high, (__m512d)x);
#elif defined(__AVX2__) && defined(__FMA__)
  return sizeof(T) == 4 ? (V)_mm256_min_ps((__m256)high, (__m256)x) : (V)_mm256_min_pd((__m256d)high, (__m256d)x);
#else
  const __typeof__(x > high) more = x > high;
  return (V)((more & (__typeof__(more))high) | (~more & (__typeof__(more))x));
#endif
}

/* hard_swish of x between -3 and 3; chosen by masks beyond, where the product may overflow. */
ND4C_INLINED V NAME(vector_hard_swish)(V x) {
  const V three = REPEAT(3), between = x * (x + three) * REPEAT((T)1 / 6);
  const __typeof__(x < three) low = x <= -three, high = x >= three;
  const __typeof__(low) inside = ~high & (__typeof__(low))between, beyond = high & (__typeof__(low))x;
  return (V)((low & (__typeof__(low))-(V){0}) | (~low & (inside | beyond)));
}

ND4C_INLINED V ACTIVATED(V x, nd4c_inner_activation activation) {
  switch (activation) {
    case ND4C_INNER_RELU:
      return NAME(vector_at_least)(REPEAT(0), x);
    case ND4C_INNER_RELU6:
      return NAME(vector_at_most)(REPEAT(6), NAME(vector_at_least)(REPEAT(0), x));
    case ND4C_INNER_HARD_SWISH:
      return NAME(vector_hard_swish)(x);
    default:
      return x;
  }
}

/* The sum of all elements of a vector, halves onto halves. */
static inline T SUM(V v) {
#if defined(__AVX512F__)
  return sizeof(T) == 4 ? (T)_mm512_reduce_add_ps((__m512)v) : (T)_mm512_reduce_add_pd((__m512d)v);
#else
  T all[NAME(VECTOR_LANES)];
  STORE(all, v);
  for (int half = NAME(VECTOR_LANES) / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; i++) {
      all[i] += all[i + half];
    }
  }
  return all[0];
#endif
}
