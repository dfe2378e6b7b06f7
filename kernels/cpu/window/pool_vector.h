/* What pools ask of vectors beyond gemm_vector.h: the larger of two, where the first stays unless the second is larger
 * or NaN, and every second element of two vectors that lie side by side. */
#ifndef ND4C_KERNELS_CPU_WINDOW_POOL_VECTOR_H
#define ND4C_KERNELS_CPU_WINDOW_POOL_VECTOR_H

#include "kernels/cpu/contraction/gemm_vector.h"
#include "kernels/cpu/support/vector.h"

/* The maximum instructions of x86 give their second operand if one is NaN. */
#if defined(__AVX512F__)
static inline V32 nd4c_larger32(V32 a, V32 b) {
  return _mm512_mask_mov_ps(_mm512_max_ps(b, a), _mm512_cmp_ps_mask(b, b, _CMP_UNORD_Q), b);
}
static inline V64 nd4c_larger64(V64 a, V64 b) {
  return _mm512_mask_mov_pd(_mm512_max_pd(b, a), _mm512_cmp_pd_mask(b, b, _CMP_UNORD_Q), b);
}
#elif defined(__AVX2__) && defined(__FMA__)
static inline V32 nd4c_larger32(V32 a, V32 b) {
  return _mm256_blendv_ps(_mm256_max_ps(b, a), b, _mm256_cmp_ps(b, b, _CMP_UNORD_Q));
}
static inline V64 nd4c_larger64(V64 a, V64 b) {
  return _mm256_blendv_pd(_mm256_max_pd(b, a), b, _mm256_cmp_pd(b, b, _CMP_UNORD_Q));
}
#elif defined(__SSE2__)
static inline V32 nd4c_larger32(V32 a, V32 b) {
  V32 is_nan = _mm_cmpunord_ps(b, b);
  return _mm_or_ps(_mm_and_ps(is_nan, b), _mm_andnot_ps(is_nan, _mm_max_ps(b, a)));
}
static inline V64 nd4c_larger64(V64 a, V64 b) {
  V64 is_nan = _mm_cmpunord_pd(b, b);
  return _mm_or_pd(_mm_and_pd(is_nan, b), _mm_andnot_pd(is_nan, _mm_max_pd(b, a)));
}
#elif defined(__ARM_NEON) && defined(__aarch64__)
#define nd4c_larger32 vmaxq_f32
#define nd4c_larger64 vmaxq_f64
#else
static inline double nd4c_larger64(double a, double b) {
  return b > a || b != b ? b : a;
}
static inline V32 nd4c_larger32(V32 a, V32 b) {
  return nd4c_pair((float)nd4c_larger64(a.x[0], b.x[0]), (float)nd4c_larger64(a.x[1], b.x[1]));
}
#endif

#if defined(__AVX512F__)
#define EVENS32(a, b) __builtin_shufflevector(a, b, ND4C_EVENS_32)
#define ODDS32(a, b) __builtin_shufflevector(a, b, ND4C_ODDS_32)
#define EVENS64(a, b) __builtin_shufflevector(a, b, ND4C_EVENS_16)
#define ODDS64(a, b) __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15)
#elif defined(__AVX2__) && defined(__FMA__)
#define EVENS32(a, b) __builtin_shufflevector(a, b, ND4C_EVENS_16)
#define ODDS32(a, b) __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15)
#define EVENS64(a, b) __builtin_shufflevector(a, b, ND4C_EVENS_8)
#define ODDS64(a, b) __builtin_shufflevector(a, b, 1, 3, 5, 7)
#elif defined(__SSE2__) || (defined(__ARM_NEON) && defined(__aarch64__))
#define EVENS32(a, b) __builtin_shufflevector(a, b, ND4C_EVENS_8)
#define ODDS32(a, b) __builtin_shufflevector(a, b, 1, 3, 5, 7)
#define EVENS64(a, b) __builtin_shufflevector(a, b, 0, 2)
#define ODDS64(a, b) __builtin_shufflevector(a, b, 1, 3)
#else
#define EVENS32(a, b) nd4c_pair((a).x[0], (b).x[0])
#define ODDS32(a, b) nd4c_pair((a).x[1], (b).x[1])
#define EVENS64(a, b) (a)
#define ODDS64(a, b) (b)
#endif

#endif
