/* The larger of two vectors of one float, or NaN of either: a template of each_dtype.h, which pool_vector.h includes
 * for pool_loops.h. The maximum instructions of x86 give their second operand if one is NaN. */
ND4C_INLINED V VECTOR_LARGER(V a, V b) {
#if defined(__AVX512F__)
  if (sizeof(T) == 4) {
    return (V)_mm512_mask_mov_ps(_mm512_max_ps((__m512)b, (__m512)a),
                                 _mm512_cmp_ps_mask((__m512)b, (__m512)b, _CMP_UNORD_Q), (__m512)b);
  }
  return (V)_mm512_mask_mov_pd(_mm512_max_pd((__m512d)b, (__m512d)a),
                               _mm512_cmp_pd_mask((__m512d)b, (__m512d)b, _CMP_UNORD_Q), (__m512d)b);
#elif defined(__AVX2__) && defined(__FMA__)
  if (sizeof(T) == 4) {
    return (V)_mm256_blendv_ps(_mm256_max_ps((__m256)b, (__m256)a), (__m256)b,
                               _mm256_cmp_ps((__m256)b, (__m256)b, _CMP_UNORD_Q));
  }
  return (V)_mm256_blendv_pd(_mm256_max_pd((__m256d)b, (__m256d)a), (__m256d)b,
                             _mm256_cmp_pd((__m256d)b, (__m256d)b, _CMP_UNORD_Q));
#elif defined(__SSE2__)
  __m128i is_nan = (__m128i)(b != b);
  __m128i most =
      sizeof(T) == 4 ? (__m128i)_mm_max_ps((__m128)b, (__m128)a) : (__m128i)_mm_max_pd((__m128d)b, (__m128d)a);
  return (V)((is_nan & (__m128i)b) | (~is_nan & most));
#elif defined(ND4C_HAS_NEON)
  return sizeof(T) == 4 ? (V)vmaxq_f32((float32x4_t)a, (float32x4_t)b) : (V)vmaxq_f64((float64x2_t)a, (float64x2_t)b);
#else
  for (int lane = 0; lane < NAME(VECTOR_LANES); lane++) {
    a[lane] = b[lane] > a[lane] || b[lane] != b[lane] ? b[lane] : a[lane];
  }
  return a;
#endif
}
