/* Implements terms.h: loops that the compiler vectorises, and whole vectors for logarithms and powers. Compiled once
 * per level. simd/reduction/reduction_terms.c reads the table by nd4c_simd.terms. */
#include "kernels/cpu/reduction/terms.h"

#include <math.h>

#include "kernels/cpu/elementwise/eight.h"
#include "kernels/cpu/elementwise/mathematics.h"
#include "kernels/cpu/elementwise/power.h"
#include "kernels/cpu/support/half.h"
#include "kernels/cpu/support/level.h"
#include "kernels/types.h"

extern const nd4c_terms_table ND4C_LEVEL_NAME(nd4c_terms_table);

#define SIGNATURE int64_t n, const void *vx, const void *vz, double parameter, void *const *to

/* y[i] = ln y[i] */
static inline void take_logarithms(int64_t n, double *y) {
  int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + 8 <= n; i += 8) {
    _mm512_storeu_pd(y + i, nd4c_log_eight(_mm512_loadu_pd(y + i)));
  }
  if (i < n) { /* by the same function: a number's place must not change its bits */
    const __mmask8 rest = (__mmask8)((1U << (n - i)) - 1);
    _mm512_mask_storeu_pd(y + i, rest, nd4c_log_eight(_mm512_mask_loadu_pd(_mm512_set1_pd(1), rest, y + i)));
    i = n;
  }
#endif
  ND4C_INDEPENDENT
  for (int64_t j = i; j < n; j++) {
    y[j] = nd4c_log_float64(y[j]);
  }
}

/* y[i] = e^y[i] */
static inline void take_exponentials(int64_t n, double *y) {
  int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + 8 <= n; i += 8) {
    _mm512_storeu_pd(y + i, nd4c_exp_eight(_mm512_loadu_pd(y + i)));
  }
  if (i < n) { /* by the same function: a number's place must not change its bits */
    const __mmask8 rest = (__mmask8)((1U << (n - i)) - 1);
    _mm512_mask_storeu_pd(y + i, rest, nd4c_exp_eight(_mm512_mask_loadu_pd(_mm512_set1_pd(1), rest, y + i)));
    i = n;
  }
#endif
  ND4C_INDEPENDENT
  for (int64_t j = i; j < n; j++) {
    y[j] = nd4c_exp_float64(y[j]);
  }
}

/* y[i] = y[i]^p of y[i] >= 0 */
static inline void raise(int64_t n, double *y, double p) {
  ND4C_INDEPENDENT
  for (int64_t i = 0; p == 3 && i < n; i++) {
    y[i] = y[i] * y[i] * y[i];
  }
  ND4C_INDEPENDENT
  for (int64_t i = 0; p == 4 && i < n; i++) {
    y[i] = (y[i] * y[i]) * (y[i] * y[i]);
  }
  if (p != 1 && p != 3 && p != 4) {
    nd4c_power_float64(n, y, 1, &p, 0, y);
  }
}

/* -- floats of 32 and 64 bits -------------------------------------------------------------------------------------- */

/* One line of terms of type R: `term` says it of x[i] and z[i]. */
#define TERM_LOOP(name, R, term)      \
  static void NAME(name)(SIGNATURE) { \
    const T *x = vx, *z = vz;         \
    R *y = to[0];                     \
    (void)z, (void)parameter;         \
    ND4C_INDEPENDENT                  \
    for (int64_t i = 0; i < n; i++) { \
      y[i] = (term);                  \
    }                                 \
  }
#define APART ((double)x[i] - (double)z[i])

#define ND4C_TEMPLATE "kernels/cpu/reduction/terms_float.h"
#define ND4C_KINDS ND4C_WIDE_FLOAT
#include "kernels/cpu/support/each_dtype.h"

enum { CHUNK = 512 }; /* elements whose logarithms are taken at once, in a buffer that stays in the L1 cache */
#define ND4C_TEMPLATE "kernels/cpu/reduction/terms_loss.h"
#define ND4C_KINDS ND4C_WIDE_FLOAT
#include "kernels/cpu/support/each_dtype.h"

/* -- 16-bit floats: widened in chunks. Terms of two operands have both. -------------------------------------------- */

/* size: bytes of a term. */
#define HALF_MAP(D, d, kind)                                                     \
  static inline void by_chunks_##d(nd4c_term_map map, int64_t size, SIGNATURE) { \
    const uint16_t *x = vx, *z = vz;                                             \
    float wide[2][ND4C_HALF_CHUNK];                                              \
    for (int64_t i = 0; i < n; i += ND4C_HALF_CHUNK) {                           \
      void *lines[ND4C_TERM_LINES] = {NULL};                                     \
      int64_t count = n - i < ND4C_HALF_CHUNK ? n - i : ND4C_HALF_CHUNK;         \
      nd4c_widen_##d(count, x + i, wide[0]);                                     \
      if (z != NULL) {                                                           \
        nd4c_widen_##d(count, z + i, wide[1]);                                   \
      }                                                                          \
      for (int line = 0; line < ND4C_TERM_LINES && to[line] != NULL; line++) {   \
        lines[line] = (char *)to[line] + i * size;                               \
      }                                                                          \
      map(count, wide[0], wide[1], parameter, lines);                            \
    }                                                                            \
  }                                                                              \
  ND4C_DOUBLE_TERMS(HALF_DOUBLE_##d) ND4C_OWN_TERMS(HALF_OWN_##d)
#define HALF_LOOP(name, d, size)                                              \
  static void name##_##d(SIGNATURE) {                                         \
    by_chunks_##d(name##_float32, (int64_t)(size), n, vx, vz, parameter, to); \
  }
#define HALF_DOUBLE_float16(name) HALF_LOOP(name, float16, sizeof(double))
#define HALF_DOUBLE_bfloat16(name) HALF_LOOP(name, bfloat16, sizeof(double))
#define HALF_OWN_float16(name) HALF_LOOP(name, float16, sizeof(float))
#define HALF_OWN_bfloat16(name) HALF_LOOP(name, bfloat16, sizeof(float))
ND4C_HALF_DTYPES(HALF_MAP)

/* -- zeros of any dtype: all bits, but the sign of floats, which is shifted out -------------------------------------
 */

typedef uint8_t bits_8 __attribute__((may_alias));
typedef uint16_t bits_16 __attribute__((may_alias));
typedef uint32_t bits_32 __attribute__((may_alias));
typedef uint64_t bits_64 __attribute__((may_alias));

#define ZEROS(name, size, shift, op)                     \
  static void name##_##size##_##shift(SIGNATURE) {       \
    const bits_##size *x = vx;                           \
    uint8_t *y = to[0];                                  \
    (void)vz, (void)parameter;                           \
    ND4C_INDEPENDENT                                     \
    for (int64_t i = 0; i < n; i++) {                    \
      y[i] = (uint8_t)((bits_##size)(x[i] << shift) op); \
    }                                                    \
  }
#define BOTH_ZEROS(size, shift) ZEROS(zero, size, shift, == 0) ZEROS(nonzero, size, shift, != 0)
BOTH_ZEROS(8, 0)
BOTH_ZEROS(32, 0)
BOTH_ZEROS(64, 0)
BOTH_ZEROS(32, 1)
BOTH_ZEROS(64, 1)
#ifndef ND4C_DTYPES_LITE
BOTH_ZEROS(16, 0)
BOTH_ZEROS(16, 1)
#endif

/* -- table --------------------------------------------------------------------------------------------------------- */

#define FLOAT_ENTRY_FLOAT32(name) [ND4C_TERM_##name][ND4C_FLOAT32] = name##_float32,
#define FLOAT_ENTRY_FLOAT64(name) [ND4C_TERM_##name][ND4C_FLOAT64] = name##_float64,
#define FLOAT_ENTRY_FLOAT16(name) [ND4C_TERM_##name][ND4C_FLOAT16] = name##_float16,
#define FLOAT_ENTRY_BFLOAT16(name) [ND4C_TERM_##name][ND4C_BFLOAT16] = name##_bfloat16,
#define FLOAT_ENTRIES(D, d, kind) ND4C_DOUBLE_TERMS(FLOAT_ENTRY_##D) ND4C_OWN_TERMS(FLOAT_ENTRY_##D)
#define ZERO_ENTRIES(D, size, shift) \
  [ND4C_TERM_zero][ND4C_##D] = zero_##size##_##shift, [ND4C_TERM_nonzero][ND4C_##D] = nonzero_##size##_##shift,

const nd4c_terms_table ND4C_LEVEL_NAME(nd4c_terms_table) = {
    .maps = {ND4C_WIDE_FLOAT_DTYPES(FLOAT_ENTRIES) ND4C_HALF_DTYPES(FLOAT_ENTRIES) ZERO_ENTRIES(BOOL, 8, 0)
                 ZERO_ENTRIES(INT8, 8, 0) ZERO_ENTRIES(UINT8, 8, 0) ZERO_ENTRIES(INT32, 32, 0)
                     ZERO_ENTRIES(INT64, 64, 0) ZERO_ENTRIES(FLOAT32, 32, 1) ZERO_ENTRIES(FLOAT64, 64, 1)
#ifndef ND4C_DTYPES_LITE
                         ZERO_ENTRIES(INT16, 16, 0) ZERO_ENTRIES(UINT16, 16, 0) ZERO_ENTRIES(UINT32, 32, 0)
                             ZERO_ENTRIES(UINT64, 64, 0) ZERO_ENTRIES(FLOAT16, 16, 1) ZERO_ENTRIES(BFLOAT16, 16, 1)
#endif
    }};
