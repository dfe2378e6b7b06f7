/* Vectors of one level for the matrix product: V##32 of floats, V##64 of doubles, with load, store, repeat and
 * multiply-add. Plain C cannot say that sums of products are to be fused and to stay in registers. */
#ifndef ND4C_KERNELS_CPU_CONTRACTION_GEMM_VECTOR_H
#define ND4C_KERNELS_CPU_CONTRACTION_GEMM_VECTOR_H

#include <stdint.h>
#include <string.h>

#include "kernels/cpu/support/half.h"

#if defined(__AVX512F__)
#include <immintrin.h>
enum { VECTOR_BYTES = 64, TILE_ROWS = 12 };
typedef __m512 V32;
typedef __m512d V64;
#define LOAD32(p) _mm512_loadu_ps(p)
#define LOAD64(p) _mm512_loadu_pd(p)
#define STORE32(p, v) _mm512_storeu_ps(p, v)
#define STORE64(p, v) _mm512_storeu_pd(p, v)
#define REPEAT32(x) _mm512_set1_ps(x)
#define REPEAT64(x) _mm512_set1_pd(x)
#define FUSED32(a, b, c) _mm512_fmadd_ps(a, b, c)
#define FUSED64(a, b, c) _mm512_fmadd_pd(a, b, c)
#define SUM32(v) _mm512_reduce_add_ps(v)
#define SUM64(v) _mm512_reduce_add_pd(v)
#define WIDEN16(x) _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16))
#define LOAD16(p) WIDEN16(_mm256_loadu_si256((const void *)(p)))
#define PART_LOAD16(p, n) WIDEN16(_mm256_maskz_loadu_epi16((__mmask16)((1u << (n)) - 1), p))
#define PART_LOAD32(p, n) _mm512_maskz_loadu_ps((__mmask16)((1u << (n)) - 1), p)
#define PART_LOAD64(p, n) _mm512_maskz_loadu_pd((__mmask8)((1u << (n)) - 1), p)
#define PART_STORE32(p, v, n) _mm512_mask_storeu_ps(p, (__mmask16)((1u << (n)) - 1), v)
#define PART_STORE64(p, v, n) _mm512_mask_storeu_pd(p, (__mmask8)((1u << (n)) - 1), v)
#elif defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
enum { VECTOR_BYTES = 32, TILE_ROWS = 6 };
typedef __m256 V32;
typedef __m256d V64;
#define LOAD32(p) _mm256_loadu_ps(p)
#define LOAD64(p) _mm256_loadu_pd(p)
#define STORE32(p, v) _mm256_storeu_ps(p, v)
#define STORE64(p, v) _mm256_storeu_pd(p, v)
#define REPEAT32(x) _mm256_set1_ps(x)
#define REPEAT64(x) _mm256_set1_pd(x)
#define FUSED32(a, b, c) _mm256_fmadd_ps(a, b, c)
#define FUSED64(a, b, c) _mm256_fmadd_pd(a, b, c)
#define LOAD16(p) _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)(p))), 16))
#elif defined(__SSE2__)
#include <immintrin.h>
enum { VECTOR_BYTES = 16, TILE_ROWS = 4 };
typedef __m128 V32;
typedef __m128d V64;
#define LOAD32(p) _mm_loadu_ps(p)
#define LOAD64(p) _mm_loadu_pd(p)
#define STORE32(p, v) _mm_storeu_ps(p, v)
#define STORE64(p, v) _mm_storeu_pd(p, v)
#define REPEAT32(x) _mm_set1_ps(x)
#define REPEAT64(x) _mm_set1_pd(x)
#define FUSED32(a, b, c) _mm_add_ps(_mm_mul_ps(a, b), c)
#define FUSED64(a, b, c) _mm_add_pd(_mm_mul_pd(a, b), c)
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
enum { VECTOR_BYTES = 16, TILE_ROWS = 8 };
typedef float32x4_t V32;
typedef float64x2_t V64;
#define LOAD32(p) vld1q_f32(p)
#define LOAD64(p) vld1q_f64(p)
#define STORE32(p, v) vst1q_f32(p, v)
#define STORE64(p, v) vst1q_f64(p, v)
#define REPEAT32(x) vdupq_n_f32(x)
#define REPEAT64(x) vdupq_n_f64(x)
#define FUSED32(a, b, c) vfmaq_f32(c, a, b)
#define FUSED64(a, b, c) vfmaq_f64(c, a, b)
#else
enum { VECTOR_BYTES = 8, TILE_ROWS = 4 };
typedef struct {
  float x[2];
} V32;
typedef double V64;
static inline V32 nd4c_pair(float x, float y) {
  V32 v = {{x, y}};
  return v;
}
#define LOAD32(p) nd4c_pair((p)[0], (p)[1])
#define LOAD64(p) (*(p))
#define STORE32(p, v) ((p)[0] = (v).x[0], (p)[1] = (v).x[1])
#define STORE64(p, v) (*(p) = (v))
#define REPEAT32(value) nd4c_pair(value, value)
#define REPEAT64(value) (value)
#define FUSED32(a, b, c) nd4c_pair((a).x[0] * (b).x[0] + (c).x[0], (a).x[1] * (b).x[1] + (c).x[1])
#define FUSED64(a, b, c) ((a) * (b) + (c))
#endif

#ifndef PART_LOAD32
/* The first n elements of a vector; the others are zeros, and stay what they are in memory. */
static inline V32 nd4c_part_load32(const float *from, int64_t n) {
  float whole[VECTOR_BYTES / sizeof(float)] = {0};
  memcpy(whole, from, (size_t)n * sizeof *from);
  return LOAD32(whole);
}
static inline V64 nd4c_part_load64(const double *from, int64_t n) {
  double whole[VECTOR_BYTES / sizeof(double)] = {0};
  memcpy(whole, from, (size_t)n * sizeof *from);
  return LOAD64(whole);
}
static inline void nd4c_part_store32(float *to, V32 v, int64_t n) {
  float whole[VECTOR_BYTES / sizeof(float)];
  STORE32(whole, v);
  memcpy(to, whole, (size_t)n * sizeof *to);
}
static inline void nd4c_part_store64(double *to, V64 v, int64_t n) {
  double whole[VECTOR_BYTES / sizeof(double)];
  STORE64(whole, v);
  memcpy(to, whole, (size_t)n * sizeof *to);
}
#define PART_LOAD32 nd4c_part_load32
#define PART_LOAD64 nd4c_part_load64
#define PART_STORE32 nd4c_part_store32
#define PART_STORE64 nd4c_part_store64
#endif

#ifndef LOAD16
/* bfloat16 is the upper half of f32. */
static inline V32 nd4c_load16(const uint16_t *from) {
  float wide[VECTOR_BYTES / sizeof(float)];
  nd4c_widen_bfloat16(VECTOR_BYTES / sizeof(float), from, wide);
  return LOAD32(wide);
}
#define LOAD16 nd4c_load16
#endif
#ifndef PART_LOAD16
static inline V32 nd4c_part_load16(const uint16_t *from, int64_t n) {
  uint16_t whole[VECTOR_BYTES / sizeof(float)] = {0};
  memcpy(whole, from, (size_t)n * sizeof *from);
  return LOAD16(whole);
}
#define PART_LOAD16 nd4c_part_load16
#endif

#ifndef SUM32
/* The sum of all elements of a vector, halves onto halves. */
static inline float nd4c_sum32(V32 v) {
  enum { COUNT = VECTOR_BYTES / sizeof(float) };
  float all[COUNT];
  STORE32(all, v);
  for (int half = COUNT / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; i++) {
      all[i] += all[i + half];
    }
  }
  return all[0];
}
static inline double nd4c_sum64(V64 v) {
  enum { COUNT = VECTOR_BYTES / sizeof(double) };
  double all[COUNT];
  STORE64(all, v);
  for (int half = COUNT / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; i++) {
      all[i] += all[i + half];
    }
  }
  return all[0];
}
#define SUM32 nd4c_sum32
#define SUM64 nd4c_sum64
#endif

#endif
