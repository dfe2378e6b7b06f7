/* The few things that plain C cannot say: stores that go past the caches. */
#ifndef ND4C_KERNELS_CPU_VECTOR_H
#define ND4C_KERNELS_CPU_VECTOR_H

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
  for (int i = 0; i < 4; i++)
    _mm_stream_si128(target + i, _mm_loadu_si128(source + i));
#else
  memcpy(to, from, ND4C_STREAM_BLOCK);
#endif
}

static inline void nd4c_stream_end(void) {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

#endif
