/* Declarations of the built-in functions that the kernels call. PoCL hands each program to Clang behind a header that
 * declares all of OpenCL C (18000 lines), whose parsing takes several times as long as all else that a build does. On
 * PoCL the host defines that header's guard (_OPENCL_H_, see build_text of program.c), and this text stands in for it.
 *
 * A call to a function that is not declared here fails to compile, and the program is then built with the header. Of a
 * function that is declared here, every overload for scalars must be: a missing one would convert its arguments. Of
 * overloads for vectors those that kernels use. */
#define PURE __attribute__((overloadable, const))
#define EFFECTIVE __attribute__((overloadable))
#define TOGETHER __attribute__((overloadable, convergent))

#ifdef HAS_FP64
#define OF_DOUBLE(...) __VA_ARGS__
#else
#define OF_DOUBLE(...)
#endif

/* DO(..., type) for every type of a kind. */
#define EACH_INTEGER(DO, ...)                                                                                      \
  DO(__VA_ARGS__, char) DO(__VA_ARGS__, uchar) DO(__VA_ARGS__, short) DO(__VA_ARGS__, ushort) DO(__VA_ARGS__, int) \
  DO(__VA_ARGS__, uint) DO(__VA_ARGS__, long) DO(__VA_ARGS__, ulong)
#define EACH_REAL(DO, ...) DO(__VA_ARGS__, float) OF_DOUBLE(DO(__VA_ARGS__, double))
#define EACH_SCALAR(DO, ...) EACH_INTEGER(DO, __VA_ARGS__) EACH_REAL(DO, __VA_ARGS__)
#define EACH_REAL8(DO, ...) EACH_REAL(DO, __VA_ARGS__) DO(__VA_ARGS__, float8) OF_DOUBLE(DO(__VA_ARGS__, double8))

/* -- work items -------------------------------------------------------------------------------------------------------- */

#define OF_DIMENSION(f) size_t PURE f(uint);
OF_DIMENSION(get_global_id)
OF_DIMENSION(get_global_size)
OF_DIMENSION(get_local_id)
OF_DIMENSION(get_local_size)
OF_DIMENSION(get_group_id)
OF_DIMENSION(get_num_groups)
void TOGETHER barrier(cl_mem_fence_flags);

/* -- conversions ------------------------------------------------------------------------------------------------------- */

#define FROM(f, to, type) to PURE f(type);
#define TO_INTEGER(to) EACH_SCALAR(FROM, convert_##to##_sat, to) EACH_SCALAR(FROM, convert_##to##_sat_rtz, to)
TO_INTEGER(char)
TO_INTEGER(uchar)
TO_INTEGER(short)
TO_INTEGER(ushort)
TO_INTEGER(int)
TO_INTEGER(uint)
TO_INTEGER(long)
TO_INTEGER(ulong)
EACH_SCALAR(FROM, convert_long, long)
EACH_SCALAR(FROM, convert_ulong, ulong)
EACH_SCALAR(FROM, convert_float, float)
EACH_SCALAR(FROM, convert_float_rtz, float)
FROM(convert_float8, float8, float8)
OF_DOUBLE(EACH_SCALAR(FROM, convert_double, double))
OF_DOUBLE(FROM(convert_float8, float8, double8))
OF_DOUBLE(FROM(convert_double8, double8, float8))
OF_DOUBLE(FROM(convert_double8, double8, double8))

/* -- real numbers ------------------------------------------------------------------------------------------------------ */

#define OF_ONE(f, type) type PURE f(type);
#define OF_TWO(f, type) type PURE f(type, type);
#define OF_THREE(f, type) type PURE f(type, type, type);
EACH_REAL(OF_ONE, acos)
EACH_REAL(OF_ONE, acosh)
EACH_REAL(OF_ONE, asin)
EACH_REAL(OF_ONE, asinh)
EACH_REAL(OF_ONE, atan)
EACH_REAL(OF_ONE, atanh)
EACH_REAL(OF_ONE, cbrt)
EACH_REAL(OF_ONE, ceil)
EACH_REAL(OF_ONE, cos)
EACH_REAL(OF_ONE, cosh)
EACH_REAL(OF_ONE, erf)
EACH_REAL(OF_ONE, erfc)
EACH_REAL8(OF_ONE, exp)
EACH_REAL(OF_ONE, exp2)
EACH_REAL(OF_ONE, expm1)
EACH_REAL(OF_ONE, fabs)
EACH_REAL(OF_ONE, floor)
EACH_REAL(OF_ONE, log)
EACH_REAL(OF_ONE, log10)
EACH_REAL(OF_ONE, log1p)
EACH_REAL(OF_ONE, log2)
EACH_REAL(OF_ONE, rint)
EACH_REAL(OF_ONE, round)
EACH_REAL(OF_ONE, sin)
EACH_REAL(OF_ONE, sinh)
EACH_REAL(OF_ONE, sqrt)
EACH_REAL(OF_ONE, tan)
EACH_REAL(OF_ONE, tanh)
EACH_REAL(OF_ONE, trunc)
EACH_REAL(OF_TWO, atan2)
EACH_REAL(OF_TWO, copysign)
EACH_REAL(OF_TWO, fmax)
EACH_REAL(OF_TWO, fmin)
EACH_REAL(OF_TWO, fmod)
EACH_REAL(OF_TWO, hypot)
EACH_REAL(OF_TWO, nextafter)
EACH_REAL(OF_TWO, pow)
EACH_REAL(OF_THREE, fma)
float16 PURE fma(float16, float16, float16);

#define POWER_OF_TWO(f, type) type PURE f(type, int);
EACH_REAL(POWER_OF_TWO, ldexp)
POWER_OF_TWO(ldexp, float2)
#define TO_INT(f, type) int PURE f(type);
EACH_REAL(TO_INT, ilogb)
EACH_REAL(TO_INT, isfinite)
EACH_REAL(TO_INT, isinf)
EACH_REAL(TO_INT, isnan)
EACH_REAL(TO_INT, signbit)
int8 PURE isnan(float8);
OF_DOUBLE(long8 PURE isnan(double8);)
float8 PURE select(float8, float8, int8);
OF_DOUBLE(double8 PURE select(double8, double8, long8);)

/* -- whole numbers ----------------------------------------------------------------------------------------------------- */

EACH_SCALAR(OF_TWO, max)
EACH_SCALAR(OF_TWO, min)
EACH_SCALAR(OF_THREE, clamp)
EACH_INTEGER(OF_TWO, mul_hi)
EACH_INTEGER(OF_ONE, popcount)

/* -- memory ------------------------------------------------------------------------------------------------------------ */

#define EACH_SPACE(DO) DO(__global) DO(__local) DO(__private)
#define HALVES(space)                                             \
  float EFFECTIVE __attribute__((pure)) vload_half(size_t, const space half *); \
  void EFFECTIVE vstore_half_rte(float, size_t, space half *);    \
  OF_DOUBLE(void EFFECTIVE vstore_half_rte(double, size_t, space half *);)
EACH_SPACE(HALVES)
#define VECTORS(space)                                                \
  float8 EFFECTIVE __attribute__((pure)) vload8(size_t, const space float *);       \
  float16 EFFECTIVE __attribute__((pure)) vload16(size_t, const space float *);     \
  void EFFECTIVE vstore8(float8, size_t, space float *);              \
  void EFFECTIVE vstore16(float16, size_t, space float *);            \
  OF_DOUBLE(double8 EFFECTIVE __attribute__((pure)) vload8(size_t, const space double *); \
            void EFFECTIVE vstore8(double8, size_t, space double *);)
EACH_SPACE(VECTORS)

#define ATOMICS(type, space)                                          \
  type EFFECTIVE atomic_cmpxchg(volatile space type *, type, type);   \
  type EFFECTIVE atomic_max(volatile space type *, type);             \
  type EFFECTIVE atomic_min(volatile space type *, type);             \
  type EFFECTIVE atomic_or(volatile space type *, type);
ATOMICS(int, __global)
ATOMICS(int, __local)
ATOMICS(uint, __global)
ATOMICS(uint, __local)
