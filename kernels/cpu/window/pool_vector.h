/* The operations that pools need beyond gemm_vector.h: the larger of two vectors, where the first stays unless the
 * second is larger or NaN, and every second element of two vectors that lie side by side. pool.c and depthwise.c
 * include this. */
#ifndef ND4C_KERNELS_CPU_WINDOW_POOL_VECTOR_H
#define ND4C_KERNELS_CPU_WINDOW_POOL_VECTOR_H

#include "kernels/cpu/contraction/gemm_vector.h"
#include "kernels/cpu/support/vector.h"

#define VECTOR_LARGER NAME(vector_larger)
#define EVENS(a, b) __builtin_shufflevector(a, b, NAME(PLACES_OF_EVENS))
#define ODDS(a, b) __builtin_shufflevector(a, b, NAME(PLACES_OF_ODDS))
#define ND4C_TEMPLATE "kernels/cpu/window/pool_larger.h"
#define ND4C_KINDS ND4C_WIDE_FLOAT
#include "kernels/cpu/support/each_dtype.h"

#if defined(__AVX512F__)
#define PLACES_OF_EVENS_float32 ND4C_EVENS_32
#define PLACES_OF_ODDS_float32 ND4C_ODDS_32
#define PLACES_OF_EVENS_float64 ND4C_EVENS_16
#define PLACES_OF_ODDS_float64 1, 3, 5, 7, 9, 11, 13, 15
#elif defined(__AVX2__) && defined(__FMA__)
#define PLACES_OF_EVENS_float32 ND4C_EVENS_16
#define PLACES_OF_ODDS_float32 1, 3, 5, 7, 9, 11, 13, 15
#define PLACES_OF_EVENS_float64 ND4C_EVENS_8
#define PLACES_OF_ODDS_float64 1, 3, 5, 7
#else
#define PLACES_OF_EVENS_float32 ND4C_EVENS_8
#define PLACES_OF_ODDS_float32 1, 3, 5, 7
#define PLACES_OF_EVENS_float64 0, 2
#define PLACES_OF_ODDS_float64 1, 3
#endif

#endif
