/* Products of bfloat16 for attention, two multiplications to an instruction: sums are f32, and pairs of numbers lie in
 * words of 32 bits. attention.c includes it; loops.h calls it where a panel says that the processor has the
 * instructions (AVX-512 BF16, AMX), which no level promises. Other levels have functions that are never called. */
#ifndef ND4C_KERNELS_CPU_ATTENTION_PAIRS_H
#define ND4C_KERNELS_CPU_ATTENTION_PAIRS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "kernels/cpu/contraction/gemm_vector.h"
#include "kernels/cpu/support/half.h"

/* A row of a product's right-hand side: the pairs of all lanes of a panel. */
enum { PAIR_LANES = 16, PAIR_WIDE = 32 };

#if defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__AVX512DQ__)
enum { HAS_PAIRS = true };
#define PAIR_CODE __attribute__((target("avx512bf16"), always_inline)) static inline
#define PAIR_FUNCTION __attribute__((target("avx512bf16"))) static

/* e^x for x up to 0 or NaN, rounded to bfloat16, so that the sum of the shares is that of the shares in the products.
 * What would be a subnormal number is 0, without being computed: the processor takes a hundred cycles for each vector
 * that underflows, as the shares of all masked keys do. */
static inline __m512 pair_exponential(__m512 x) {
  const __m512 scaled = _mm512_mul_ps(x, _mm512_set1_ps(0x1.715476p+0F));
  const __mmask16 normal = _mm512_cmp_ps_mask(scaled, _mm512_set1_ps(-126), _CMP_NLT_UQ);
  const __m512 whole = _mm512_roundscale_ps(scaled, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m512 rest = _mm512_sub_ps(scaled, whole); /* 2^rest by its series up to the fourth power */
  __m512 power = _mm512_fmadd_ps(_mm512_set1_ps(0x1.3b2ab6p-7F), rest, _mm512_set1_ps(0x1.c6b08ep-5F));
  power = _mm512_fmadd_ps(power, rest, _mm512_set1_ps(0x1.ebfbep-3F));
  power = _mm512_fmadd_ps(power, rest, _mm512_set1_ps(0x1.62e43p-1F));
  power = _mm512_fmadd_ps(power, rest, _mm512_set1_ps(1));
  return nd4c_bfloat16_odds(nd4c_bfloat16_rounded(_mm512_maskz_scalef_ps(normal, power, whole)));
}

/* Rows 2 i and 2 i + 1 of `wide`, PAIR_WIDE numbers each, become row i of `pairs`. */
static void pair_rows(int64_t pairs_count, int64_t width, const float *wide, uint32_t *pairs) {
  for (int64_t i = 0; i < pairs_count; i++) {
    for (int64_t l = 0; l < width; l += PAIR_LANES) {
      const float *at = wide + 2 * i * PAIR_WIDE + l;
      __m512i both = nd4c_bfloat16_narrow_pair(_mm512_loadu_ps(at), _mm512_loadu_ps(at + PAIR_WIDE));
      _mm512_storeu_si512(pairs + i * PAIR_WIDE + l, both);
    }
  }
}

/* Two rows of n bfloat16 become n pairs. */
static void pair_up(int64_t n, const uint16_t *first, const uint16_t *second, uint32_t *pairs) {
  for (int64_t i = 0; i < n; i += PAIR_LANES) {
    const __mmask16 some = (__mmask16)(n - i < PAIR_LANES ? (1U << (n - i)) - 1 : 0xffff);
    __m512i low = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(some, first + i));
    __m512i high = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(some, second + i));
    _mm512_mask_storeu_epi32(pairs + i, some, _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
  }
}

/* `rows` rows of y, `vectors` vectors wide: both are constants where this is called. a: pairs at a + row * a_row +
 * i * a_step, counted in bfloat16. */
PAIR_CODE void pair_strip(int rows, int vectors, int64_t count, const uint16_t *a, int64_t a_row, int64_t a_step,
                          const uint32_t *b, float *y) {
  __m512 sum[TILE_ROWS][2];
#pragma GCC unroll 16
  for (int r = 0; r < rows; r++) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) {
      sum[r][v] = _mm512_setzero_ps();
    }
  }
  for (int64_t i = 0; i < count; i++) {
    __m512i row[2];
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) {
      row[v] = _mm512_loadu_si512(b + i * PAIR_WIDE + v * PAIR_LANES);
    }
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
      int32_t pair;
      memcpy(&pair, a + r * a_row + i * a_step, sizeof pair);
      const __m512i factor = _mm512_set1_epi32(pair);
#pragma GCC unroll 2
      for (int v = 0; v < vectors; v++) {
        sum[r][v] = _mm512_dpbf16_ps(sum[r][v], (__m512bh)factor, (__m512bh)row[v]);
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < rows; r++) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) {
      _mm512_storeu_ps(y + r * PAIR_WIDE + v * PAIR_LANES, sum[r][v]);
    }
  }
}

/* Rows from `row` on, `step` at a time. */
#define PAIR_STRIPS(step, vectors)                                                            \
  for (; row + (step) <= rows; row += (step)) {                                               \
    pair_strip(step, vectors, count, a + row * a_row, a_row, a_step, b, y + row * PAIR_WIDE); \
  }

/* y [rows, PAIR_WIDE] = the product of `rows` rows of pairs and b; the first `width` lanes. */
PAIR_FUNCTION void pair_product(int64_t rows, int64_t width, int64_t count, const uint16_t *a, int64_t a_row,
                                int64_t a_step, const uint32_t *b, float *y) {
  int64_t row = 0;
  if (width > PAIR_LANES) {
    PAIR_STRIPS(TILE_ROWS, 2)
    PAIR_STRIPS(4, 2)
    PAIR_STRIPS(1, 2)
  } else {
    PAIR_STRIPS(TILE_ROWS, 1)
    PAIR_STRIPS(4, 1)
    PAIR_STRIPS(1, 1)
  }
}
#undef PAIR_STRIPS

#else
enum { HAS_PAIRS = false };

static inline void pair_rows(int64_t pairs_count, int64_t width, const float *wide, uint32_t *pairs) {
  (void)pairs_count, (void)width, (void)wide, (void)pairs;
}
static inline void pair_up(int64_t n, const uint16_t *first, const uint16_t *second, uint32_t *pairs) {
  (void)n, (void)first, (void)second, (void)pairs;
}
static inline void pair_product(int64_t rows, int64_t width, int64_t count, const uint16_t *a, int64_t a_row,
                                int64_t a_step, const uint32_t *b, float *y) {
  (void)rows, (void)width, (void)count, (void)a, (void)a_row, (void)a_step, (void)b, (void)y;
}
#endif

/* -- tiles -------------------------------------------------------------------------------------------------------- */

/* Rows of a tile, and pairs in a row of it. */
enum { TILE_SIDE = 16 };

#if defined(__AVX512BW__) && defined(__x86_64__) && (defined(__clang__) || __GNUC__ >= 11)
enum { HAS_TILES = true };
#define TILE_FUNCTION __attribute__((target("amx-tile,amx-bf16"))) static

/* What the processor reads and writes as the shapes of its tiles. Its owner may have been another library, which
 * expects it again. */
typedef struct tile_shapes {
  uint8_t palette, first_row, reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
} tile_shapes;
_Static_assert(sizeof(tile_shapes) == 64, "as the processor defines it");

TILE_FUNCTION void tiles_enter(tile_shapes *before) {
  tile_shapes wanted = {.palette = 1};
  for (int i = 0; i < 8; i++) {
    wanted.rows[i] = TILE_SIDE;
    wanted.row_bytes[i] = TILE_SIDE * sizeof(uint32_t);
  }
  _tile_storeconfig(before);
  __asm__ volatile("" ::: "memory");
  _tile_loadconfig(&wanted);
}

TILE_FUNCTION void tiles_leave(const tile_shapes *before) {
  if (before->palette == 0) {
    _tile_release();
  } else {
    _tile_loadconfig(before);
  }
}

/* As pair_product, with rows of a that have no gaps; count is a multiple of TILE_SIDE, and rows is not below it. The
 * last tile of rows may overlap the one before it. */
TILE_FUNCTION void tile_product(int64_t rows, int64_t width, int64_t count, const uint16_t *a, int64_t a_row,
                                const uint32_t *b, float *y) {
  const long a_step = (long)(a_row * (int64_t)sizeof *a), b_step = PAIR_WIDE * (long)sizeof *b;
  __asm__ volatile("" ::: "memory"); /* the instructions below read what was stored before */
  for (int64_t next = 0; next < rows; next += TILE_SIDE) {
    const int64_t row = next + TILE_SIDE <= rows ? next : rows - TILE_SIDE;
    _tile_zero(0);
    _tile_zero(1);
    for (int64_t i = 0; i < count; i += TILE_SIDE) {
      _tile_loadd(2, a + row * a_row + 2 * i, a_step);
      _tile_loadd(3, b + i * PAIR_WIDE, b_step);
      _tile_dpbf16ps(0, 2, 3);
      if (width > PAIR_LANES) {
        _tile_loadd(4, b + i * PAIR_WIDE + PAIR_LANES, b_step);
        _tile_dpbf16ps(1, 2, 4);
      }
    }
    _tile_stored(0, y + row * PAIR_WIDE, b_step);
    if (width > PAIR_LANES) {
      _tile_stored(1, y + row * PAIR_WIDE + PAIR_LANES, b_step);
    }
  }
}

#else
enum { HAS_TILES = false };

typedef struct tile_shapes {
  uint8_t palette;
} tile_shapes;
static inline void tiles_enter(tile_shapes *before) {
  (void)before;
}
static inline void tiles_leave(const tile_shapes *before) {
  (void)before;
}
static inline void tile_product(int64_t rows, int64_t width, int64_t count, const uint16_t *a, int64_t a_row,
                                const uint32_t *b, float *y) {
  (void)rows, (void)width, (void)count, (void)a, (void)a_row, (void)b, (void)y;
}
#endif

#endif
