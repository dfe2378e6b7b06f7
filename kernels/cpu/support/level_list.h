/* The instruction-set levels of this build, lowest first. simd/simd.h includes this and simd/engine.c makes the list of
 * tables from it; CMake defines ND4C_HAVE_LEVEL_* for them. */
#ifndef ND4C_KERNELS_CPU_SUPPORT_LEVEL_LIST_H
#define ND4C_KERNELS_CPU_SUPPORT_LEVEL_LIST_H

#ifdef ND4C_HAVE_LEVEL_BASE
#define ND4C_IF_LEVEL_BASE(X) X(base)
#else
#define ND4C_IF_LEVEL_BASE(X)
#endif
#ifdef ND4C_HAVE_LEVEL_AVX2
#define ND4C_IF_LEVEL_AVX2(X) X(avx2)
#else
#define ND4C_IF_LEVEL_AVX2(X)
#endif
#ifdef ND4C_HAVE_LEVEL_AVX512
#define ND4C_IF_LEVEL_AVX512(X) X(avx512)
#else
#define ND4C_IF_LEVEL_AVX512(X)
#endif
#ifdef ND4C_HAVE_LEVEL_NEON
#define ND4C_IF_LEVEL_NEON(X) X(neon)
#define ND4C_LOWEST_LEVEL(X) X(neon)
#else
#define ND4C_IF_LEVEL_NEON(X)
#define ND4C_LOWEST_LEVEL(X) X(base)
#endif
#ifdef ND4C_HAVE_LEVEL_DOTPROD
#define ND4C_IF_LEVEL_DOTPROD(X) X(dotprod)
#else
#define ND4C_IF_LEVEL_DOTPROD(X)
#endif

/* X(level) */
#define ND4C_KERNEL_LEVELS(X) \
  ND4C_IF_LEVEL_BASE(X)       \
  ND4C_IF_LEVEL_AVX2(X)       \
  ND4C_IF_LEVEL_AVX512(X)     \
  ND4C_IF_LEVEL_NEON(X)       \
  ND4C_IF_LEVEL_DOTPROD(X)

#endif
