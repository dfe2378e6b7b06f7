/* Macros for sources that are compiled once per instruction-set level: names, inlining, fused operations. Every .c file
 * of kernels/cpu includes it; CMake defines ND4C_LEVEL for each compilation. */
#ifndef ND4C_KERNELS_CPU_SUPPORT_LEVEL_H
#define ND4C_KERNELS_CPU_SUPPORT_LEVEL_H

#include <math.h>
#include <stdint.h>

#define ND4C_LEVEL_PASTE2(name, level) name##_##level
#define ND4C_LEVEL_PASTE(name, level) ND4C_LEVEL_PASTE2(name, level)
/* name_avx2, name_base, ... */
#define ND4C_LEVEL_NAME(name) ND4C_LEVEL_PASTE(name, ND4C_LEVEL)

/* Functions that are compiled into their callers, where constant arguments choose their code. */
#if defined(__GNUC__)
#define ND4C_INLINED static inline __attribute__((always_inline))
#else
#define ND4C_INLINED static inline
#endif

/* Says that iterations are independent: pointers of element-wise loops are equal or do not overlap. (`restrict` would
 * forbid that an output is an input.) */
#if defined(__clang__)
#define ND4C_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__) && defined(__OPTIMIZE__) /* without, gcc warns that it ignores it */
#define ND4C_INDEPENDENT _Pragma("GCC ivdep")
#else
#define ND4C_INDEPENDENT
#endif

/* Asks for the cache line of an address (a uintptr_t), which need not be valid. */
#if defined(__GNUC__)
#define ND4C_PREFETCH(address) __builtin_prefetch((const void *)(address))
#else
#define ND4C_PREFETCH(address) ((void)(address))
#endif

/* In a macro, since compilers warn of such a comparison of integers, for which templates are compiled, too. */
#define ND4C_IS_NAN(x) ((x) != (x))

/* a * b + c, fused where the level has an instruction for it, else rounded twice. */
#if defined(__FMA__) || defined(__aarch64__)
#define ND4C_HAS_FMA 1
#define ND4C_FMA(a, b, c) fma((a), (b), (c))
#define ND4C_FMAF(a, b, c) fmaf((a), (b), (c))
#else
#define ND4C_HAS_FMA 0
#define ND4C_FMA(a, b, c) ((a) * (b) + (c))
#define ND4C_FMAF(a, b, c) ((a) * (b) + (c))
#endif

static inline float nd4c_multiply_add_float32(float a, float b, float c) {
  return ND4C_FMAF(a, b, c);
}
static inline double nd4c_multiply_add_float64(double a, double b, double c) {
  return ND4C_FMA(a, b, c);
}

/* x held within limits, or below one, or above one; NaN passes. gcc for arm64 makes a dozen instructions of comparisons
 * and selections that let NaN pass, and one each of fmin and fmax, which do not. */
#if defined(__aarch64__)
#define ND4C_HELD(x, minimum, selection) ((x) == (x) ? (minimum) : (x))
#else
#define ND4C_HELD(x, minimum, selection) (selection)
#endif
static inline float nd4c_within_f32(float x, float low, float high) {
  return ND4C_HELD(x, fmaxf(fminf(x, high), low), x > high ? high : x < low ? low : x);
}
static inline double nd4c_within_f64(double x, double low, double high) {
  return ND4C_HELD(x, fmax(fmin(x, high), low), x > high ? high : x < low ? low : x);
}
static inline float nd4c_at_most_f32(float x, float high) {
  return ND4C_HELD(x, fminf(x, high), x > high ? high : x);
}
static inline double nd4c_at_most_f64(double x, double high) {
  return ND4C_HELD(x, fmin(x, high), x > high ? high : x);
}
static inline float nd4c_at_least_f32(float x, float low) {
  return ND4C_HELD(x, fmaxf(x, low), x < low ? low : x);
}
static inline double nd4c_at_least_f64(double x, double low) {
  return ND4C_HELD(x, fmax(x, low), x < low ? low : x);
}

#endif
