/* Operations that plain C cannot express: blocks of one cache line as vectors, and stores that go past the caches.
 * binary.c, pick.c, move.c, transpose.c, fft.c and scan.c call these in their loops. */
#ifndef ND4C_KERNELS_CPU_SUPPORT_VECTOR_H
#define ND4C_KERNELS_CPU_SUPPORT_VECTOR_H

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

/* Bytes of one streaming block: a cache line. */
enum { ND4C_STREAM_BLOCK = 64 };

/* Copies one cache line to an aligned address. Where there are no such stores, as memcpy. */
static inline void nd4c_stream_block(void *to, const void *from) {
#if defined(__AVX512F__)
  _mm512_stream_si512(to, _mm512_loadu_si512(from));
#elif defined(__AVX__)
  const __m256i *source = from;
  __m256i *target = to;
  _mm256_stream_si256(target, _mm256_loadu_si256(source));
  _mm256_stream_si256(target + 1, _mm256_loadu_si256(source + 1));
#elif defined(__SSE2__)
  const __m128i *source = from;
  __m128i *target = to;
  for (int i = 0; i < 4; i++) {
    _mm_stream_si128(target + i, _mm_loadu_si128(source + i));
  }
#else
  memcpy(to, from, ND4C_STREAM_BLOCK);
#endif
}

/* A cache line of elements, at any address that suits one element. */
typedef float nd4c_block_float32 __attribute__((vector_size(64), aligned(4), may_alias));
typedef double nd4c_block_float64 __attribute__((vector_size(64), aligned(8), may_alias));
typedef uint16_t nd4c_block_uint16 __attribute__((vector_size(64), aligned(2), may_alias));

#define ND4C_EVENS_8 0, 2, 4, 6
#define ND4C_EVENS_16 ND4C_EVENS_8, 8, 10, 12, 14
#define ND4C_EVENS_32 ND4C_EVENS_16, 16, 18, 20, 22, 24, 26, 28, 30
#define ND4C_LATER_EVENS_8 8, 10, 12, 14
#define ND4C_LATER_EVENS_16 16, 18, 20, 22, 24, 26, 28, 30
#define ND4C_LATER_EVENS_32 32, 34, 36, 38, 40, 42, 44, 46, 48, 50, 52, 54, 56, 58, 60, 62
#define ND4C_ODDS_32 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#define ND4C_LATER_ODDS_32 33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63
#define ND4C_DOWN_8 7, 6, 5, 4, 3, 2, 1, 0
#define ND4C_DOWN_16 15, 14, 13, 12, 11, 10, 9, 8, ND4C_DOWN_8
#define ND4C_DOWN_32 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, ND4C_DOWN_16

/* Elements from[0], from[step], ... of one block. Touches what lies up to, but not including, the first element of the
 * next block: there must be one. */
#define ND4C_BLOCK_LOAD(name, type, count)                                                              \
  static inline void nd4c_block_load_##name(const type *from, int64_t step, nd4c_block_##name *block) { \
    if (step == 1) {                                                                                    \
      *block = *(const nd4c_block_##name *)from;                                                        \
    } else if (step == -1) {                                                                            \
      nd4c_block_##name line = *(const nd4c_block_##name *)(from - (count - 1));                        \
      *block = __builtin_shufflevector(line, line, ND4C_DOWN_##count);                                  \
    } else if (step == 2) {                                                                             \
      nd4c_block_##name line = *(const nd4c_block_##name *)from;                                        \
      nd4c_block_##name next = *(const nd4c_block_##name *)(from + count);                              \
      *block = __builtin_shufflevector(line, next, ND4C_EVENS_##count, ND4C_LATER_EVENS_##count);       \
    } else {                                                                                            \
      type line[count]; /* a vector filled lane by lane looks unset to gcc 12 */                        \
      for (int64_t i = 0; i < count; i++)                                                               \
        line[i] = from[i * step];                                                                       \
      memcpy(block, line, sizeof line);                                                                 \
    }                                                                                                   \
  }
ND4C_BLOCK_LOAD(float32, float, 16)
ND4C_BLOCK_LOAD(float64, double, 8)
ND4C_BLOCK_LOAD(uint16, uint16_t, 32)

static inline void nd4c_stream_end(void) {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

#endif
