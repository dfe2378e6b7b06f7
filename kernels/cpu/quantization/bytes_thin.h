/* Products of few rows of bytes with columns that lie without gaps, on x86-64: nothing is packed, b is read once. Pairs
 * are multiplied in 16 bits and added in 32, exactly. bytes.c includes it and defines accumulator, LANES and
 * ADD_PRODUCTS; simd/quantization_narrow.c calls the products. */
#ifndef ND4C_KERNELS_CPU_QUANTIZATION_BYTES_THIN_H
#define ND4C_KERNELS_CPU_QUANTIZATION_BYTES_THIN_H

enum { DOT_STEP = 2 * LANES }; /* 16-bit numbers of a vector */

#if defined(__AVX512BW__)
#define TURNED_LINE(p, turn) \
  _mm512_cvtepi8_epi16(_mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(const void *)(p)), _mm256_set1_epi8(turn)))
#define WORDS(p) _mm512_loadu_si512(p)
#elif defined(__AVX2__)
#define TURNED_LINE(p, turn) \
  _mm256_cvtepi8_epi16(_mm_xor_si128(_mm_loadu_si128((const __m128i *)(const void *)(p)), _mm_set1_epi8(turn)))
#define WORDS(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#else
#define TURNED_LINE(p, turn) \
  _mm_cvtepi8_epi16(_mm_xor_si128(_mm_loadl_epi64((const __m128i *)(const void *)(p)), _mm_set1_epi8(turn)))
#define WORDS(p) _mm_loadu_si128((const __m128i *)(const void *)(p))
#endif

static inline int32_t lanes_sum(accumulator x) {
  int32_t lanes[LANES];
  uint32_t sum = 0;
  memcpy(lanes, &x, sizeof lanes);
  for (int i = 0; i < LANES; i++) {
    sum += (uint32_t)lanes[i];
  }
  return (int32_t)sum;
}

/* `rows` and `columns` are constants where this is called, so that the sums stay in registers. */
ND4C_INLINED void dot_block(int rows, int columns, int64_t k, const int16_t *x, int64_t x_row, const int8_t *b,
                            int64_t b_column, char turn, int32_t *y, int64_t y_row) {
  accumulator sums[8] = {0};
  int64_t i = 0;
  for (; i + DOT_STEP <= k; i += DOT_STEP)
#pragma GCC unroll 4
    for (int c = 0; c < columns; c++) {
      const accumulator line = TURNED_LINE(b + c * b_column + i, turn);
#pragma GCC unroll 8
      for (int r = 0; r < rows; r++) {
        sums[r * columns + c] = ADD_PRODUCTS(sums[r * columns + c], line, WORDS(x + r * x_row + i));
      }
    }
  if (i < k)
#pragma GCC unroll 4
    for (int c = 0; c < columns; c++) {
      int8_t rest[DOT_STEP] = {0}; /* x has zeros there */
      memcpy(rest, b + c * b_column + i, (size_t)(k - i));
      const accumulator line = TURNED_LINE(rest, turn);
#pragma GCC unroll 8
      for (int r = 0; r < rows; r++) {
        sums[r * columns + c] = ADD_PRODUCTS(sums[r * columns + c], line, WORDS(x + r * x_row + i));
      }
    }
#pragma GCC unroll 8
  for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
    for (int c = 0; c < columns; c++) {
      y[r * y_row + c] = lanes_sum(sums[r * columns + c]);
    }
}

/* As many columns at a time as leave eight sums. */
#define DOT_ROWS(rows, columns)                                                                              \
  case rows:                                                                                                 \
    for (; j + (columns) <= n; j += (columns))                                                               \
      dot_block(rows, columns, k, x, x_row, (const int8_t *)b + j * b_column, b_column, turn, y + j, y_row); \
    for (; (columns) > 1 && j < n; j++)                                                                      \
      dot_block(rows, 1, k, x, x_row, (const int8_t *)b + j * b_column, b_column, turn, y + j, y_row);       \
    break;

static void dots(int64_t m, int64_t n, int64_t k, const int16_t *x, int64_t x_row, const void *b, int64_t b_column,
                 bool flipped, int32_t *y, int64_t y_row) {
  const char turn = flipped ? (char)0x80 : 0;
  int64_t j = 0;
  switch (m) {
    DOT_ROWS(1, 4)
    DOT_ROWS(2, 4)
    DOT_ROWS(3, 2)
    DOT_ROWS(4, 2)
    default:
      break;
  }
}

#endif
