/* The ops that AVX-512 has instructions for, on whole vectors, and two of AVX2. unary.c includes this and calls the
 * functions, with `op` and `dtype` as constants. */
#ifndef ND4C_KERNELS_CPU_ELEMENTWISE_UNARY_VECTOR_H
#define ND4C_KERNELS_CPU_ELEMENTWISE_UNARY_VECTOR_H

#include "kernels/cpu/elementwise/eight.h"
#include "kernels/cpu/elementwise/exponential_vector.h"
#include "kernels/cpu/elementwise/sixteen.h"
#include "kernels/cpu/elementwise/unary.h"
#include "kernels/cpu/support/half.h"

#if defined(__AVX512F__)

/* near: before rounding to bfloat16. */
ND4C_INLINED __m512 nd4c_unary_sixteen(enum nd4c_unary_index op, bool near, __m512 x) {
  return op == ND4C_UNARY_exp       ? nd4c_exp_any_sixteen(x)
         : op == ND4C_UNARY_log     ? nd4c_log_sixteen(x)
         : op == ND4C_UNARY_tanh    ? nd4c_tanh_sixteen(x)
         : op == ND4C_UNARY_erf     ? nd4c_erf_sixteen(x)
         : op == ND4C_UNARY_sigmoid ? nd4c_sigmoid_sixteen(x)
         : op == ND4C_UNARY_swish   ? nd4c_swish_sixteen(x)
         : op == ND4C_UNARY_gelu    ? (near ? nd4c_gelu_near_sixteen(x) : nd4c_gelu_sixteen(x))
         : op == ND4C_UNARY_sqrt    ? (near ? nd4c_sqrt_near_sixteen(x) : nd4c_sqrt_sixteen(x))
         : near                     ? nd4c_gelu_tanh_near_sixteen(x)
                                    : nd4c_gelu_tanh_sixteen(x);
}

ND4C_INLINED __m512d nd4c_unary_eight(enum nd4c_unary_index op, __m512d x) {
  return op == ND4C_UNARY_exp       ? nd4c_exp_eight(x)
         : op == ND4C_UNARY_log     ? nd4c_log_eight(x)
         : op == ND4C_UNARY_sigmoid ? nd4c_sigmoid_eight(x)
                                    : _mm512_sqrt_pd(x);
}

/* Of float16 the lower half of a register is used: 16 numbers of f32 come of it. */
ND4C_INLINED __m512i nd4c_unary_register(enum nd4c_unary_index op, nd4c_dtype dtype, __m512i x) {
  if (dtype == ND4C_FLOAT64) {
    return _mm512_castpd_si512(nd4c_unary_eight(op, _mm512_castsi512_pd(x)));
  }
  if (dtype == ND4C_FLOAT32) {
    return _mm512_castps_si512(nd4c_unary_sixteen(op, false, _mm512_castsi512_ps(x)));
  }
  if (dtype == ND4C_BFLOAT16) {
    return nd4c_bfloat16_narrow_pair(nd4c_unary_sixteen(op, true, nd4c_bfloat16_evens(x)),
                                     nd4c_unary_sixteen(op, true, nd4c_bfloat16_odds(x)));
  }
  __m512 wide = nd4c_unary_sixteen(op, false, _mm512_cvtph_ps(_mm512_castsi512_si256(x)));
  return _mm512_castsi256_si512(_mm512_cvtps_ph(wide, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

ND4C_INLINED __m512i nd4c_unary_at(enum nd4c_unary_index op, nd4c_dtype dtype, const char *x) {
  __m512i loaded =
      dtype == ND4C_FLOAT16 ? _mm512_castsi256_si512(_mm256_loadu_si256((const void *)x)) : _mm512_loadu_si512(x);
  return nd4c_unary_register(op, dtype, loaded);
}

/* y = op x of whole registers; returns how many of n bytes that were. streams: stored past the caches, where y is
 * aligned. */
ND4C_INLINED int64_t nd4c_unary_registers(enum nd4c_unary_index op, nd4c_dtype dtype, bool streams, int64_t n,
                                          const char *x, char *y) {
  const int64_t width = dtype == ND4C_FLOAT16 ? 32 : 64;
  int64_t i = 0;
  for (; i + width <= n; i += width) {
    __m512i result = nd4c_unary_at(op, dtype, x + i);
    if (width == 32 && streams) {
      _mm256_stream_si256((void *)(y + i), _mm512_castsi512_si256(result));
    } else if (width == 32) {
      _mm256_storeu_si256((void *)(y + i), _mm512_castsi512_si256(result));
    } else if (streams) {
      _mm512_stream_si512((void *)(y + i), result);
    } else {
      _mm512_storeu_si512(y + i, result);
    }
  }
  return i;
}

ND4C_INLINED void nd4c_unary_vectors(enum nd4c_unary_index op, nd4c_dtype dtype, int64_t n, const char *x, char *y) {
  int64_t i = nd4c_unary_registers(op, dtype, false, n, x, y);
  if (i == n) {
    return;
  }
  __mmask64 rest = (UINT64_C(1) << (n - i)) - 1;
  _mm512_mask_storeu_epi8(y + i, rest, nd4c_unary_register(op, dtype, _mm512_maskz_loadu_epi8(rest, x + i)));
}

/* True if it has computed an op with parameters, for some of which there are whole vectors: swish with alpha 1. */
ND4C_INLINED bool nd4c_unary_with_parameters(enum nd4c_unary_index op, nd4c_dtype dtype, int64_t n, const void *x,
                                             void *y, const nd4c_unary_parameters *parameters) {
  if (op != ND4C_UNARY_swish || dtype != ND4C_FLOAT32 || parameters->alpha != 1) {
    return false;
  }
  nd4c_unary_vectors(op, dtype, n * (int64_t)sizeof(float), x, y);
  return true;
}

/* Begins at a cache line of y. `loop` is the op's own. */
ND4C_INLINED void nd4c_unary_stream(enum nd4c_unary_index op, nd4c_dtype dtype, nd4c_unary_loop loop, int64_t size,
                                    int64_t n, const char *x, char *y) {
  int64_t head = (int64_t)(-(uintptr_t)y % ND4C_STREAM_BLOCK) / size;
  head = head < n ? head : n;
  loop(head, x, y, NULL);
  int64_t i = head * size + nd4c_unary_registers(op, dtype, true, (n - head) * size, x + head * size, y + head * size);
  loop(n - i / size, x + i, y + i, NULL);
}

#elif defined(__AVX2__) && defined(__FMA__)

/* -- AVX2 --------------------------------------------------------------------------------------------------------- */

ND4C_INLINED __m256 nd4c_unary_eight_f32(enum nd4c_unary_index op, __m256 x) {
  return op == ND4C_UNARY_sigmoid ? nd4c_sigmoid_eight_f32(x) : nd4c_swish_eight_f32(x);
}

/* True if it has computed the op: of those whose plain loops are much longer, and of swish with alpha 1. */
ND4C_INLINED bool nd4c_unary_with_parameters(enum nd4c_unary_index op, nd4c_dtype dtype, int64_t n, const void *vx,
                                             void *vy, const nd4c_unary_parameters *parameters) {
  if (dtype != ND4C_FLOAT32 || !(op == ND4C_UNARY_sigmoid || (op == ND4C_UNARY_swish && parameters->alpha == 1))) {
    return false;
  }
  const float *x = vx;
  float *y = vy;
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    _mm256_storeu_ps(y + i, nd4c_unary_eight_f32(op, _mm256_loadu_ps(x + i)));
  }
  if (i < n) {
    const __m256i rest =
        _mm256_cmpgt_epi32(_mm256_set1_epi32((int32_t)(n - i)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    _mm256_maskstore_ps(y + i, rest, nd4c_unary_eight_f32(op, _mm256_maskload_ps(x + i, rest)));
  }
  return true;
}
#endif

#endif
