/* Operations on vectors of one unsigned number, which wrap: a template with the names of gemm_vector.h. gemm_whole.c
 * includes it; the loops of products call them. The compiler has instructions, or short sequences of them, for the
 * products of each level. */

typedef T V __attribute__((vector_size(VECTOR_BYTES), may_alias));

enum { NAME(VECTOR_LANES) = VECTOR_BYTES / sizeof(T) };

ND4C_INLINED V LOAD(const T *from) {
  V v;
  memcpy(&v, from, sizeof v);
  return v;
}

ND4C_INLINED void STORE(T *to, V v) {
  memcpy(to, &v, sizeof v);
}

ND4C_INLINED V REPEAT(T x) {
  return x - (V){0};
}

ND4C_INLINED V FUSED(V a, V b, V c) {
  return a * b + c;
}

/* Whole numbers have no activations. */
ND4C_INLINED V ACTIVATED(V x, nd4c_inner_activation activation) {
  (void)activation;
  return x;
}

/* The first n elements of a vector: a load sets the others to zero, a store leaves them as they are in memory. */
ND4C_INLINED V PART_LOAD(const T *from, int64_t n) {
#if defined(__AVX512F__) && defined(__AVX512BW__)
  return sizeof(T) == 2   ? (V)_mm512_maskz_loadu_epi16((__mmask32)((UINT64_C(1) << n) - 1), from)
         : sizeof(T) == 4 ? (V)_mm512_maskz_loadu_epi32((__mmask16)((1u << n) - 1), from)
                          : (V)_mm512_maskz_loadu_epi64((__mmask8)((1u << n) - 1), from);
#else
  T whole[NAME(VECTOR_LANES)] = {0};
  memcpy(whole, from, (size_t)n * sizeof *from);
  return LOAD(whole);
#endif
}

ND4C_INLINED void PART_STORE(T *to, V v, int64_t n) {
#if defined(__AVX512F__) && defined(__AVX512BW__)
  if (sizeof(T) == 2) {
    _mm512_mask_storeu_epi16(to, (__mmask32)((UINT64_C(1) << n) - 1), (__m512i)v);
  } else if (sizeof(T) == 4) {
    _mm512_mask_storeu_epi32(to, (__mmask16)((1u << n) - 1), (__m512i)v);
  } else {
    _mm512_mask_storeu_epi64(to, (__mmask8)((1u << n) - 1), (__m512i)v);
  }
#else
  memcpy(to, &v, (size_t)n * sizeof *to);
#endif
}

/* The sum of all elements of a vector. */
static inline T SUM(V v) {
  T all[NAME(VECTOR_LANES)], sum = 0;
  memcpy(all, &v, sizeof v);
  for (int i = 0; i < NAME(VECTOR_LANES); i++) {
    sum = (T)(sum + all[i]);
  }
  return sum;
}
