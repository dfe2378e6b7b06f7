/* Implements transpose.h, from transpose_unit.h. A block is a cache line wide and high: 16 rows of 16 elements of 4
 * bytes. Compiled once per level. support/copy.c reads the table by nd4c_simd.transpose. */
#include "kernels/cpu/shape/transpose.h"

#include <stdbool.h>
#include <string.h>

#include "kernels/cpu/shape/squares.h"
#include "kernels/cpu/support/level.h"
#include "kernels/cpu/support/vector.h"

extern const nd4c_transpose_table ND4C_LEVEL_NAME(nd4c_transpose_table);

/* A block and where it goes: extents up to the side of one, pitches in bytes. */
typedef struct block {
  const char *from;
  char *to;
  int64_t from_pitch, to_pitch;
  int64_t rows, columns;
} block;

#if defined(__AVX512BW__)

/* -- blocks in registers ------------------------------------------------------------------------------------------- */

typedef __m512i line;
typedef enum block_kind { WHOLE, STREAMED, RAGGED } block_kind;

static inline uint64_t first_bytes(int64_t count) {
  return count >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << count) - 1;
}

static inline line load_row(const block *b, block_kind kind, int64_t row, uint64_t mask) {
  const char *from = b->from + row * b->from_pitch;
  if (kind != RAGGED) {
    return _mm512_loadu_si512(from);
  }
  return row < b->rows ? _mm512_maskz_loadu_epi8(mask, from) : _mm512_setzero_si512();
}

static inline void store_row(const block *b, block_kind kind, int64_t row, line value, uint64_t mask) {
  char *to = b->to + row * b->to_pitch;
  if (kind == STREAMED) {
    _mm512_stream_si512((line *)to, value);
  } else if (kind == WHOLE) {
    _mm512_storeu_si512(to, value);
  } else if (row < b->columns) {
    _mm512_mask_storeu_epi8(to, mask, value);
  }
}

/* Transposes the 16-byte lanes of v[0], v[step], v[2 step], v[3 step]. */
static inline void transpose_lanes(line *v, int step) {
  line a = _mm512_shuffle_i64x2(v[0], v[step], 0x44), b = _mm512_shuffle_i64x2(v[0], v[step], 0xee);
  line c = _mm512_shuffle_i64x2(v[2 * step], v[3 * step], 0x44);
  line d = _mm512_shuffle_i64x2(v[2 * step], v[3 * step], 0xee);
  v[0] = _mm512_shuffle_i64x2(a, c, 0x88);
  v[step] = _mm512_shuffle_i64x2(a, c, 0xdd);
  v[2 * step] = _mm512_shuffle_i64x2(b, d, 0x88);
  v[3 * step] = _mm512_shuffle_i64x2(b, d, 0xdd);
}

/* 16 rows of 16 elements of 4 bytes. */
static inline void transpose_words(line *v) {
  line t[16];
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(v[i], v[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(v[i], v[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    v[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
    v[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    v[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
    v[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
  for (int i = 0; i < 4; i++) {
    transpose_lanes(v + i, 4);
  }
}

static inline void block_16(const block *b, block_kind kind, uint64_t load, uint64_t store) {
  line v[4];
  for (int i = 0; i < 4; i++) {
    v[i] = load_row(b, kind, i, load);
  }
  transpose_lanes(v, 1);
  for (int i = 0; i < 4; i++) {
    store_row(b, kind, i, v[i], store);
  }
}

static inline void block_8(const block *b, block_kind kind, uint64_t load, uint64_t store) {
  line v[8];
  for (int i = 0; i < 8; i += 2) {
    line even = load_row(b, kind, i, load), odd = load_row(b, kind, i + 1, load);
    v[i] = _mm512_unpacklo_epi64(even, odd);
    v[i + 1] = _mm512_unpackhi_epi64(even, odd);
  }
  transpose_lanes(v, 2);
  transpose_lanes(v + 1, 2);
  for (int i = 0; i < 8; i++) {
    store_row(b, kind, i, v[i], store);
  }
}

static inline void block_4(const block *b, block_kind kind, uint64_t load, uint64_t store) {
  line v[16];
  for (int i = 0; i < 16; i++) {
    v[i] = load_row(b, kind, i, load);
  }
  transpose_words(v);
  for (int i = 0; i < 16; i++) {
    store_row(b, kind, i, v[i], store);
  }
}

/* Two rows make one of pairs: those of the lower halves of the 16-byte lanes first, then those of the upper ones. */
static inline void block_2(const block *b, block_kind kind, uint64_t load, uint64_t store) {
  for (int half = 0; half < 2; half++) {
    line v[16];
    for (int i = 0; i < 16; i++) {
      line even = load_row(b, kind, 2 * i, load), odd = load_row(b, kind, 2 * i + 1, load);
      v[i] = half == 0 ? _mm512_unpacklo_epi16(even, odd) : _mm512_unpackhi_epi16(even, odd);
    }
    transpose_words(v);
    for (int i = 0; i < 16; i++) {
      store_row(b, kind, i / 4 * 8 + half * 4 + i % 4, v[i], store);
    }
  }
}

/* Four rows make one of fours, by quarters of the lanes. */
static inline void block_1(const block *b, block_kind kind, uint64_t load, uint64_t store) {
  for (int quarter = 0; quarter < 4; quarter++) {
    line v[16];
    for (int i = 0; i < 16; i++) {
      line r[4];
      for (int k = 0; k < 4; k++) {
        r[k] = load_row(b, kind, 4 * i + k, load);
      }
      line first = quarter < 2 ? _mm512_unpacklo_epi8(r[0], r[1]) : _mm512_unpackhi_epi8(r[0], r[1]);
      line second = quarter < 2 ? _mm512_unpacklo_epi8(r[2], r[3]) : _mm512_unpackhi_epi8(r[2], r[3]);
      v[i] = quarter % 2 == 0 ? _mm512_unpacklo_epi16(first, second) : _mm512_unpackhi_epi16(first, second);
    }
    transpose_words(v);
    for (int i = 0; i < 16; i++) {
      store_row(b, kind, i / 4 * 16 + quarter * 4 + i % 4, v[i], store);
    }
  }
}

#endif

#define ND4C_TEMPLATE "kernels/cpu/shape/transpose_unit.h"
#include "kernels/cpu/support/each_unit.h"

const nd4c_transpose_table ND4C_LEVEL_NAME(nd4c_transpose_table) = {.transpose = ND4C_BY_SIZE(transpose),
                                                                    .interleave = ND4C_BY_SIZE(interleave),
                                                                    .deinterleave = ND4C_BY_SIZE(deinterleave)};
