/* Vectors of one level. Plain C cannot say that sums of products are fused and stay in registers. Included by gemm.c,
 * recurrent/recurrent.c, signal/fft.c and window/pool_vector.h for their loops.
 *
 * A template of each_dtype.h sees them under names that do not tell the dtype: V, LOAD, STORE, ... */
#ifndef ND4C_KERNELS_CPU_CONTRACTION_GEMM_VECTOR_H
#define ND4C_KERNELS_CPU_CONTRACTION_GEMM_VECTOR_H

#include <stdint.h>
#include <string.h>

#include "kernels/cpu/contraction/inner_activation.h"
#include "kernels/cpu/support/half.h"
#include "kernels/cpu/support/level.h"
#include "kernels/types.h"

#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#define ND4C_HAS_NEON
#endif

#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64, TILE_ROWS = 12 };
#elif defined(__AVX2__) && defined(__FMA__)
enum { VECTOR_BYTES = 32, TILE_ROWS = 6 };
#elif defined(ND4C_HAS_NEON)
enum { VECTOR_BYTES = 16, TILE_ROWS = 8 };
#else
enum { VECTOR_BYTES = 16, TILE_ROWS = 4 };
#endif

/* Says that a vector which was loaded stays in a register. GCC would load it again for each operation that uses it, and
 * a processor that adds one vector a cycle reads no more than one. */
#if defined(__AVX512F__)
#define ND4C_IN_REGISTER(vector) __asm__("" : "+v"(vector))
#elif defined(__SSE2__)
#define ND4C_IN_REGISTER(vector) __asm__("" : "+x"(vector))
#elif defined(ND4C_HAS_NEON)
#define ND4C_IN_REGISTER(vector) __asm__("" : "+w"(vector))
#else
#define ND4C_IN_REGISTER(vector) ((void)0)
#endif

/* Says that a pointer which a loop moves on stays one pointer. GCC would make one of each address that is computed from
 * it, more than there are registers, and load them in the loop. */
#define ND4C_ADDRESS(pointer) __asm__("" : "+r"(pointer))

typedef float vector_float32 __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef double vector_float64 __attribute__((vector_size(VECTOR_BYTES), may_alias));

#if !defined(__AVX512F__) && defined(__AVX2__) && defined(__FMA__)
/* All bits of the first n elements, of 4 or 8 bytes. */
ND4C_INLINED __m256i vector_mask_4(int64_t n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32((int32_t)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

ND4C_INLINED __m256i vector_mask_8(int64_t n) {
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
}
#endif

#define V NAME(vector)
#define LOAD NAME(vector_load)
#define STORE NAME(vector_store)
#define REPEAT NAME(vector_repeat)
#define FUSED NAME(vector_fused)
#define SUM NAME(vector_sum)
#define PART_LOAD NAME(vector_part_load)
#define PART_STORE NAME(vector_part_store)
#define ACTIVATED NAME(vector_activated)

#define ND4C_TEMPLATE "kernels/cpu/contraction/gemm_vector_float.h"
#define ND4C_KINDS ND4C_WIDE_FLOAT
#include "kernels/cpu/support/each_dtype.h"

/* bfloat16 is the upper half of f32. */
#if defined(__AVX512F__)
ND4C_INLINED vector_float32 vector_widen(__m256i x) {
  return (vector_float32)_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16);
}
#endif

ND4C_INLINED vector_float32 vector_load_bfloat16(const uint16_t *from) {
#if defined(__AVX512F__)
  return vector_widen(_mm256_loadu_si256((const void *)from));
#elif defined(__AVX2__) && defined(__FMA__)
  return (vector_float32)_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)from)), 16);
#else
  float wide[VECTOR_BYTES / sizeof(float)];
  nd4c_widen_bfloat16(VECTOR_BYTES / sizeof(float), from, wide);
  return vector_load_float32(wide);
#endif
}

ND4C_INLINED vector_float32 vector_part_load_bfloat16(const uint16_t *from, int64_t n) {
#if defined(__AVX512F__)
  return vector_widen(_mm256_maskz_loadu_epi16((__mmask16)((1u << n) - 1), from));
#else
  uint16_t whole[VECTOR_BYTES / sizeof(float)] = {0};
  memcpy(whole, from, (size_t)n * sizeof *from);
  return vector_load_bfloat16(whole);
#endif
}

/* float16 is converted by instructions where the level has them. */
ND4C_INLINED vector_float32 vector_load_float16(const uint16_t *from) {
#if defined(__AVX512F__)
  return (vector_float32)_mm512_cvtph_ps(_mm256_loadu_si256((const void *)from));
#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
  return (vector_float32)_mm256_cvtph_ps(_mm_loadu_si128((const void *)from));
#else
  float wide[VECTOR_BYTES / sizeof(float)];
  nd4c_widen_float16(VECTOR_BYTES / sizeof(float), from, wide);
  return vector_load_float32(wide);
#endif
}

ND4C_INLINED vector_float32 vector_part_load_float16(const uint16_t *from, int64_t n) {
#if defined(__AVX512F__)
  return (vector_float32)_mm512_cvtph_ps(_mm256_maskz_loadu_epi16((__mmask16)((1u << n) - 1), from));
#else
  uint16_t whole[VECTOR_BYTES / sizeof(float)] = {0};
  memcpy(whole, from, (size_t)n * sizeof *from);
  return vector_load_float16(whole);
#endif
}

#endif
