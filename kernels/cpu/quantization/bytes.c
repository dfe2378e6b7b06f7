/* Implements bytes.h. With dot products (ARMv8.2) four bytes of a column lie together, and an instruction adds four
 * products to each of four sums; without them bytes are widened, and an instruction adds one product to each of four
 * sums. On x86-64 two bytes of a column lie together; once widened, an instruction multiplies both and adds the
 * products exactly. simd/quantization_bytes.c reads the table. */
#include "kernels/cpu/quantization/bytes.h"

#include <stddef.h>
#include <string.h>

#include "kernels/cpu/support/level.h"

extern const nd4c_bytes_table ND4C_LEVEL_NAME(nd4c_bytes_table);

#if defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>

enum { ROWS = 4, VECTORS = ND4C_BYTES_COLUMNS / 4 };
typedef int32x4_t accumulator;

#if defined(__ARM_FEATURE_DOTPROD)
enum { TOGETHER = 4, DEPTH = 16 };

/* Bytes 4 * lane .. 4 * lane + 3 of every row of a. */
#define STEP(lane)                                                  \
  for (int v = 0; v < VECTORS; v++) {                               \
    int8x16_t column = vld1q_s8(panel + (lane * VECTORS + v) * 16); \
    for (int r = 0; r < rows; r++)                                  \
      sums[r][v] = vdotq_laneq_s32(sums[r][v], column, x[r], lane); \
  }

ND4C_INLINED void add_block(int rows, int64_t k, const int8_t *a, const int8_t *panel,
                            accumulator sums[ROWS][VECTORS]) {
  int8x16_t x[ROWS];
#pragma GCC unroll 4
  for (int r = 0; r < rows; r++) {
    x[r] = vld1q_s8(a + r * k);
  }
  STEP(0) STEP(1) STEP(2) STEP(3)
}
#else
enum { TOGETHER = 1, DEPTH = 8 };

#define STEP(lane)                                                              \
  {                                                                             \
    int8x16_t line = vld1q_s8(panel + lane * ND4C_BYTES_COLUMNS);               \
    int16x8_t low = vmovl_s8(vget_low_s8(line)), high = vmovl_high_s8(line);    \
    for (int r = 0; r < rows; r++) {                                            \
      sums[r][0] = vmlal_laneq_s16(sums[r][0], vget_low_s16(low), x[r], lane);  \
      sums[r][1] = vmlal_high_laneq_s16(sums[r][1], low, x[r], lane);           \
      sums[r][2] = vmlal_laneq_s16(sums[r][2], vget_low_s16(high), x[r], lane); \
      sums[r][3] = vmlal_high_laneq_s16(sums[r][3], high, x[r], lane);          \
    }                                                                           \
  }

ND4C_INLINED void add_block(int rows, int64_t k, const int8_t *a, const int8_t *panel,
                            accumulator sums[ROWS][VECTORS]) {
  int16x8_t x[ROWS];
#pragma GCC unroll 4
  for (int r = 0; r < rows; r++) {
    x[r] = vmovl_s8(vld1_s8(a + r * k));
  }
  STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)
}
#endif
#elif defined(__SSE4_1__)
#include <immintrin.h>

#if defined(__AVX512BW__)
typedef __m512i accumulator;
#define LINE(p) _mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)(const void *)(p)))
#define PAIR(word) _mm512_cvtepi8_epi16(_mm256_set1_epi16(word))
#define ADD_PRODUCTS(sums, x, y) _mm512_add_epi32(sums, _mm512_madd_epi16(x, y))
#elif defined(__AVX2__)
typedef __m256i accumulator;
#define LINE(p) _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(const void *)(p)))
#define PAIR(word) _mm256_cvtepi8_epi16(_mm_set1_epi16(word))
#define ADD_PRODUCTS(sums, x, y) _mm256_add_epi32(sums, _mm256_madd_epi16(x, y))
#else
typedef __m128i accumulator;
#define LINE(p) _mm_cvtepi8_epi16(_mm_loadl_epi64((const __m128i *)(const void *)(p)))
#define PAIR(word) _mm_cvtepi8_epi16(_mm_set1_epi16(word))
#define ADD_PRODUCTS(sums, x, y) _mm_add_epi32(sums, _mm_madd_epi16(x, y))
#endif

enum {
  LANES = sizeof(accumulator) / 4,
  VECTORS = ND4C_BYTES_COLUMNS / LANES,
  ROWS = LANES == 4   ? 2
         : LANES == 8 ? 4
                      : 8
};
enum { TOGETHER = 2, DEPTH = 2 };

ND4C_INLINED void add_block(int rows, int64_t k, const int8_t *a, const int8_t *panel,
                            accumulator sums[ROWS][VECTORS]) {
  accumulator column[VECTORS];
#pragma GCC unroll 4
  for (int v = 0; v < VECTORS; v++) {
    column[v] = LINE(panel + v * LANES * TOGETHER);
  }
#pragma GCC unroll 8
  for (int r = 0; r < rows; r++) {
    int16_t word;
    memcpy(&word, a + r * k, sizeof word);
    accumulator x = PAIR(word);
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++) {
      sums[r][v] = ADD_PRODUCTS(sums[r][v], column[v], x);
    }
  }
}

#include "kernels/cpu/quantization/bytes_thin.h"
#define DOTS dots
#else
#define NO_PRODUCT
#endif
#ifndef DOTS
#define DOTS NULL
#endif

#ifdef NO_PRODUCT
const nd4c_bytes_table ND4C_LEVEL_NAME(nd4c_bytes_table) = {.depth = 0, .pack = NULL, .multiply = NULL, .dots = NULL};
#else
/* `rows` is a constant where this is called, so that the sums stay in registers. */
ND4C_INLINED void strip(int rows, int64_t columns, int64_t k, const int8_t *a, const int8_t *panel, int32_t *y,
                        int64_t y_stride) {
  accumulator sums[ROWS][VECTORS];
#pragma GCC unroll 8
  for (int r = 0; r < rows; r++) {
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++) {
      sums[r][v] = (accumulator){0};
    }
  }
  for (int64_t i = 0; i < k; i += DEPTH) {
    add_block(rows, k, a + i, panel + i * ND4C_BYTES_COLUMNS, sums);
  }
#pragma GCC unroll 8
  for (int r = 0; r < rows; r++) {
    accumulator line[VECTORS];
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++) {
      line[v] = sums[r][v];
    }
    memcpy(y + r * y_stride, line, (size_t)columns * sizeof *y);
  }
}

static void multiply(int64_t m, int64_t columns, int64_t k, const int8_t *a, const int8_t *panel, int32_t *y,
                     int64_t y_stride) {
  int64_t row = 0;
  for (; row + ROWS <= m; row += ROWS) {
    strip(ROWS, columns, k, a + row * k, panel, y + row * y_stride, y_stride);
  }
  for (; row < m; row++) {
    strip(1, columns, k, a + row * k, panel, y + row * y_stride, y_stride);
  }
}

static void pack(int64_t columns, int64_t k, const int8_t *b, int64_t row_stride, int64_t column_stride,
                 int8_t *panel) {
  int64_t whole = (k + DEPTH - 1) / DEPTH * DEPTH;
  if (columns < ND4C_BYTES_COLUMNS || k < whole) {
    memset(panel, 0, (size_t)(whole * ND4C_BYTES_COLUMNS));
  }
  for (int64_t i = 0; i < k; i++) {
    const int8_t *line = b + i * row_stride;
    int8_t *to = panel + i / TOGETHER * TOGETHER * ND4C_BYTES_COLUMNS + i % TOGETHER;
    for (int64_t j = 0; j < columns; j++) {
      to[j * TOGETHER] = line[j * column_stride];
    }
  }
}

const nd4c_bytes_table ND4C_LEVEL_NAME(nd4c_bytes_table) = {
    .depth = DEPTH, .pack = pack, .multiply = multiply, .dots = DOTS};
#endif
