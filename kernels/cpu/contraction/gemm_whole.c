/* Implements gemm_whole.h from the templates of floats: gemm_loops.h and gemm_thin.h over gemm_vector_whole.h. Compiled
 * once per level. simd/contraction/contraction_whole.c reads the table by nd4c_simd.whole. */
#include "kernels/cpu/contraction/gemm_whole.h"

#include <stddef.h>
#include <string.h>

#include "kernels/cpu/contraction/gemm_vector.h"
#include "kernels/cpu/support/level.h"

extern const nd4c_whole_table ND4C_LEVEL_NAME(nd4c_whole_table);

#define T uint16_t
#define NAME(name) name##_uint16
#include "kernels/cpu/contraction/gemm_vector_whole.h"
/* Needs the vectors. */
#include "kernels/cpu/contraction/gemm_loops.h"

/* b of bytes. */
ND4C_INLINED vector_uint16 vector_load_bytes(const uint8_t *from) {
  typedef uint8_t narrow __attribute__((vector_size(VECTOR_BYTES / 2)));
  narrow x;
  memcpy(&x, from, sizeof x);
  return __builtin_convertvector(x, vector_uint16);
}

ND4C_INLINED vector_uint16 vector_part_load_bytes(const uint8_t *from, int64_t n) {
  uint8_t whole[VECTOR_BYTES / 2] = {0};
  memcpy(whole, from, (size_t)n);
  return vector_load_bytes(whole);
}

/* As thin_bytes's, with a of bytes, too: a long a is not worth widening in memory. */
static void dot_of_bytes(int64_t k, const void *va, const void *vb, void *vy) {
  enum { LANES = VECTOR_BYTES / sizeof(uint16_t) };
  const uint8_t *a = va, *b = vb;
  uint16_t *y = vy;
  vector_uint16 sum[4] = {{0}, {0}, {0}, {0}};
  int64_t i = 0;
  for (; i + 4 * LANES <= k; i += 4 * LANES) {
#pragma GCC unroll 4
    for (int s = 0; s < 4; s++) {
      sum[s] += vector_load_bytes(a + i + s * LANES) * vector_load_bytes(b + i + s * LANES);
    }
  }
  for (; i < k; i += LANES) {
    const int64_t left = k - i < LANES ? k - i : LANES;
    sum[0] += vector_part_load_bytes(a + i, left) * vector_part_load_bytes(b + i, left);
  }
  *y = vector_sum_uint16((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

#define B uint8_t
#define OF_B(name) name##_bytes
#include "kernels/cpu/contraction/gemm_thin.h"
#undef B
#undef OF_B
#undef T
#undef NAME

#define T uint32_t
#define NAME(name) name##_uint32
#include "kernels/cpu/contraction/gemm_vector_whole.h"
/* Needs the vectors. */
#include "kernels/cpu/contraction/gemm_loops.h"
#undef T
#undef NAME

#define T uint64_t
#define NAME(name) name##_uint64
#include "kernels/cpu/contraction/gemm_vector_whole.h"
/* Needs the vectors. */
#include "kernels/cpu/contraction/gemm_loops.h"
#undef T
#undef NAME

static void widen(int64_t n, const uint8_t *x, int64_t step, uint16_t *y) {
  if (step == 1) {
    for (int64_t i = 0; i < n; i++) {
      y[i] = x[i];
    }
  } else {
    for (int64_t i = 0; i < n; i++) {
      y[i] = x[i * step];
    }
  }
}

static void narrow(int64_t n, const uint16_t *x, int64_t step, uint8_t *y) {
  if (step == 1) {
    for (int64_t i = 0; i < n; i++) {
      y[i] = (uint8_t)x[i];
    }
  } else {
    for (int64_t i = 0; i < n; i++) {
      y[i * step] = (uint8_t)x[i];
    }
  }
}

#define LOOPS(dtype, type)                       \
  static const nd4c_gemm_loops loops_##dtype = { \
      .multiply = multiply_##dtype,              \
      .direct = direct_##dtype,                  \
      .sum_terms = SUM_TERMS_##dtype,            \
      .strip_rows = TILE_ROWS,                   \
      .strip_columns = WIDE_##dtype,             \
      .buffer_bytes =                            \
          (BLOCK_ROWS_##dtype + BLOCK_COLUMNS_##dtype + WIDE_##dtype) * DEEP_##dtype * (int64_t)sizeof(type)};
LOOPS(uint16, uint16_t)
LOOPS(uint32, uint32_t)
LOOPS(uint64, uint64_t)

const nd4c_whole_table ND4C_LEVEL_NAME(nd4c_whole_table) = {
    .loops = {[2] = &loops_uint16, [4] = &loops_uint32, [8] = &loops_uint64},
    .thin = {[1] = &thin_bytes, [2] = &thin_uint16, [4] = &thin_uint32, [8] = &thin_uint64},
    .dot_bytes = dot_of_bytes,
    .widen = widen,
    .narrow = narrow};
