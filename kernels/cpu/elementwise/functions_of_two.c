/* Implements the functions of two numbers of functions.h. Compiled once per level: the compiler vectorises the plain
 * loops. simd/elementwise/elementwise_functions.c picks them from nd4c_simd.functions_of_two. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "kernels/cpu/elementwise/functions.h"
#include "kernels/cpu/elementwise/functions/two.h"
#include "kernels/cpu/support/half.h"
#include "kernels/cpu/support/level.h"
#include "kernels/types.h"

extern const nd4c_functions_of_two_table ND4C_LEVEL_NAME(nd4c_functions_of_two_table);

#define SIGNATURE int64_t n, const void *va, const void *vb, void *vy

/* A lone operand is read before the loop: y may be it. Of no elements none is read. */
#define OPERANDS(T, U) \
  const T *a = va;     \
  const U *b = vb;     \
  T *y = vy;           \
  if (n < 1) {         \
    return;            \
  }                    \
  const T first = *a;  \
  const U second = *b; \
  (void)first, (void)second

#define LOOP(function, T, as, U, wide, narrow, variant, x, z)             \
  static void function##_##as##_##variant(SIGNATURE) {                    \
    OPERANDS(T, U);                                                       \
    ND4C_INDEPENDENT                                                      \
    for (int64_t i = 0; i < n; i++) {                                     \
      y[i] = (T)nd4c_function_##function((double)(x), (wide)(z), narrow); \
    }                                                                     \
  }
#define LOOPS(function, T, as, U, wide, narrow)               \
  LOOP(function, T, as, U, wide, narrow, both, a[i], b[i])    \
  LOOP(function, T, as, U, wide, narrow, first, a[i], second) \
  LOOP(function, T, as, U, wide, narrow, second, first, b[i])
#define NARROW_LOOPS(name, cost) LOOPS(name, float, float32, float, double, true)
#define WIDE_LOOPS(name, cost) LOOPS(name, double, float64, double, double, false)

/* -- sums of f64 that may cancel: pieces, of which the operands are needed again ----------------------------------- */

enum { PIECE = 256 };

static double sum_alone(bool binary, double a, double b) {
  const long double unit = binary ? 0.693147180559945309417232121458176568L : 1;
  const long double larger = a > b ? a : b, smaller = a > b ? b : a;
  return (double)(larger + log1pl(expl((smaller - larger) * unit)) / unit);
}

#define SUM_LOOP(function, variant, a_varies, b_varies, x, z)                                      \
  static void function##_float64_##variant(SIGNATURE) {                                            \
    double results[PIECE];                                                                         \
    OPERANDS(double, double);                                                                      \
    for (int64_t count = 0; n > 0; n -= count, y += count) {                                       \
      count = n < PIECE ? n : PIECE;                                                               \
      function##_formula_##variant(count, a_varies ? a : &first, b_varies ? b : &second, results); \
      for (int64_t i = 0; i < count; i++) {                                                        \
        if (fabs(results[i]) < 0.25 * fabs((x) > (z) ? (x) : (z))) {                               \
          results[i] = sum_alone(ND4C_FUNCTION_##function == ND4C_FUNCTION_logaddexp2, x, z);      \
        }                                                                                          \
      }                                                                                            \
      memcpy(y, results, (size_t)count * sizeof *y);                                               \
      a += a_varies ? count : 0;                                                                   \
      b += b_varies ? count : 0;                                                                   \
    }                                                                                              \
  }
#define SUM_LOOPS(name, cost)                         \
  LOOPS(name, double, formula, double, double, false) \
  SUM_LOOP(name, both, true, true, a[i], b[i])        \
  SUM_LOOP(name, first, true, false, a[i], second)    \
  SUM_LOOP(name, second, false, true, first, b[i])

/* -- loops of each function --------------------------------------------------------------------------------------- */

ND4C_FUNCTIONS_OF_TWO(NARROW_LOOPS)
ND4C_FUNCTIONS_OF_PAIRS(WIDE_LOOPS)
ND4C_FUNCTIONS_OF_SUMS(SUM_LOOPS)
LOOPS(ldexp, float, float32_int32, int32_t, int64_t, true)
LOOPS(ldexp, float, float32_int64, int64_t, int64_t, true)
LOOPS(ldexp, double, float64_int32, int32_t, int64_t, false)
LOOPS(ldexp, double, float64_int64, int64_t, int64_t, false)

#define ROW(name) {name##_both, name##_first, name##_second, NULL}

#ifndef ND4C_DTYPES_LITE
#define ND4C_TEMPLATE "kernels/cpu/elementwise/binary_half.h"
#define ND4C_KINDS ND4C_HALF
#include "kernels/cpu/support/each_dtype.h"

#define HALF_LOOP(name, d, variant, a_varies, b_varies)                               \
  static void name##_##d##_##variant(SIGNATURE) {                                     \
    in_float_##d(name##_float32_##variant, false, a_varies, b_varies, n, va, vb, vy); \
  }
#define HALF_LOOPS_OF(name, d)           \
  HALF_LOOP(name, d, both, true, true)   \
  HALF_LOOP(name, d, first, true, false) \
  HALF_LOOP(name, d, second, false, true)
#define HALF_LOOPS(name, cost) HALF_LOOPS_OF(name, float16) HALF_LOOPS_OF(name, bfloat16)
ND4C_FUNCTIONS_OF_TWO(HALF_LOOPS)
#define HALF_ROWS(name) , [ND4C_FLOAT16] = ROW(name##_float16), [ND4C_BFLOAT16] = ROW(name##_bfloat16)

/* Only x is widened. */
#define HALF_LDEXP(d, e, U, variant, x_step, n_step)                           \
  static void ldexp_##d##_##e##_##variant(SIGNATURE) {                         \
    const uint16_t *a = va;                                                    \
    const U *b = vb;                                                           \
    uint16_t *y = vy;                                                          \
    float wide[ND4C_HALF_CHUNK], results[ND4C_HALF_CHUNK];                     \
    for (int64_t i = 0; i < n; i += ND4C_HALF_CHUNK) {                         \
      const int64_t count = n - i < ND4C_HALF_CHUNK ? n - i : ND4C_HALF_CHUNK; \
      if ((x_step) != 0 || i == 0) { /* y may be a lone x */                   \
        nd4c_widen_##d((x_step) != 0 ? count : 1, a + i * (x_step), wide);     \
      }                                                                        \
      ldexp_float32_##e##_##variant(count, wide, b + i * (n_step), results);   \
      nd4c_narrow_##d(count, results, y + i);                                  \
    }                                                                          \
  }
#define HALF_LDEXPS(d, e, U)       \
  HALF_LDEXP(d, e, U, both, 1, 1)  \
  HALF_LDEXP(d, e, U, first, 1, 0) \
  HALF_LDEXP(d, e, U, second, 0, 1)
HALF_LDEXPS(float16, int32, int32_t)
HALF_LDEXPS(float16, int64, int64_t)
HALF_LDEXPS(bfloat16, int32, int32_t)
HALF_LDEXPS(bfloat16, int64, int64_t)
#else
#define HALF_ROWS(name)
#endif

/* -- table --------------------------------------------------------------------------------------------------------- */

#define ROWS(name, cost) \
  [ND4C_FUNCTION_##name] = {[ND4C_FLOAT32] = ROW(name##_float32), [ND4C_FLOAT64] = ROW(name##_float64) HALF_ROWS(name)},
#define LDEXP_ROWS(D, d, kind) [ND4C_##D] = {ROW(ldexp_##d##_int32), ROW(ldexp_##d##_int64)},

const nd4c_functions_of_two_table ND4C_LEVEL_NAME(nd4c_functions_of_two_table) = {
    .loops = {ND4C_FUNCTIONS_OF_TWO(ROWS)}, .ldexp = {ND4C_FLOAT_DTYPES(LDEXP_ROWS)}};
