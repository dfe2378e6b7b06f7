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
  if (sizeof(T) == 4) {
    _mm256_maskstore_ps((void *)to, vector_mask_4(n), (__m256)v);
  } else {
    _mm256_maskstore_pd((void *)to, vector_mask_8(n), (__m256d)v);
  }
#else
  memcpy(to, &v, (size_t)n * sizeof *to);
#endif
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
