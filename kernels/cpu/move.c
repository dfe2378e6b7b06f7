/* See move.h. */
#include "kernels/cpu/move.h"

#include <string.h>

#include "kernels/cpu/level.h"
#include "kernels/cpu/squares.h"
#include "kernels/cpu/vector.h"

extern const nd4c_move_table ND4C_LEVEL_NAME(nd4c_move_table);

typedef uint8_t unit_1;
typedef uint16_t unit_2;
typedef uint32_t unit_4;
typedef uint64_t unit_8;
typedef struct unit_16 {
  uint64_t halves[2];
} unit_16;

static inline void nd4c_transpose_16(const unit_16 *from, int64_t from_column, unit_16 *to, int64_t to_row) {
  (void)from_column;
  (void)to_row;
  *to = *from;
}

/* Constant small steps get loops of their own: the compiler then shuffles instead of gathering. */
#define MOVE_ROW(size)                                                                                    \
  static inline void move_row_##size(int64_t n, const unit_##size *from, int64_t step, unit_##size *to) { \
    if (step == 1) {                                                                                      \
      memmove(to, from, (size_t)n * sizeof *to);                                                          \
    } else if (step == 0) {                                                                               \
      unit_##size x = *from;                                                                              \
      for (int64_t i = 0; i < n; i++)                                                                     \
        to[i] = x;                                                                                        \
    } else if (step == 2) {                                                                               \
      ND4C_INDEPENDENT                                                                                    \
      for (int64_t i = 0; i < n; i++)                                                                     \
        to[i] = from[2 * i];                                                                              \
    } else if (step == -1) {                                                                              \
      ND4C_INDEPENDENT                                                                                    \
      for (int64_t i = 0; i < n; i++)                                                                     \
        to[i] = from[-i];                                                                                 \
    } else {                                                                                              \
      for (int64_t i = 0; i < n; i++)                                                                     \
        to[i] = from[i * step];                                                                           \
    }                                                                                                     \
  }

/* Transposing takes as many rows at a time as a cache line of a column has, square by square. Hardware does not foresee
 * the next block of columns: it is asked for meanwhile. */
#define MOVE(size)                                                                                                 \
  MOVE_ROW(size)                                                                                                   \
  static void move_columns_##size(int64_t rows, int64_t columns, const unit_##size *from, int64_t from_column,     \
                                  unit_##size *to, int64_t to_row) {                                               \
    for (int64_t c = 0; c < columns; c++)                                                                          \
      for (int64_t r = 0; r < rows; r++)                                                                           \
        to[r * to_row + c] = from[c * from_column + r];                                                            \
  }                                                                                                                \
  static void move_transposed_##size(int64_t rows, int64_t columns, const unit_##size *from, int64_t from_column,  \
                                     unit_##size *to, int64_t to_row) {                                            \
    enum { LINE = ND4C_STREAM_BLOCK / size, SIDE = ND4C_SQUARE_##size };                                           \
    int64_t r = 0, squares = columns / SIDE * SIDE;                                                                \
    for (; r + LINE <= rows; r += LINE) {                                                                          \
      for (int64_t c = 0; c < squares; c += SIDE) {                                                                \
        for (int64_t i = 0; i < SIDE; i++)                                                                         \
          ND4C_PREFETCH((uintptr_t)from + (uintptr_t)((c + i + columns) * from_column + r) * size);                \
        for (int64_t i = 0; i < LINE; i += SIDE)                                                                   \
          nd4c_transpose_##size(from + c * from_column + r + i, from_column, to + (r + i) * to_row + c, to_row);   \
      }                                                                                                            \
      move_columns_##size(LINE, columns - squares, from + squares * from_column + r, from_column,                  \
                          to + r * to_row + squares, to_row);                                                      \
    }                                                                                                              \
    move_columns_##size(rows - r, columns, from + r, from_column, to + r * to_row, to_row);                        \
  }                                                                                                                \
  static void move_##size(int64_t rows, int64_t columns, const void *vfrom, int64_t from_row, int64_t from_column, \
                          void *vto, int64_t to_row, int64_t to_column) {                                          \
    const unit_##size *from = vfrom;                                                                               \
    unit_##size *to = vto;                                                                                         \
    if (to_column == 1 && from_row == 1 && from_column != 1 && from_column != 0) {                                 \
      move_transposed_##size(rows, columns, from, from_column, to, to_row);                                        \
      return;                                                                                                      \
    }                                                                                                              \
    for (int64_t r = 0; r < rows; r++, from += from_row, to += to_row) {                                           \
      if (to_column == 1)                                                                                          \
        move_row_##size(columns, from, from_column, to);                                                           \
      else                                                                                                         \
        for (int64_t c = 0; c < columns; c++)                                                                      \
          to[c * to_column] = from[c * from_column];                                                               \
    }                                                                                                              \
  }
MOVE(1)
MOVE(2)
MOVE(4)
MOVE(8)
MOVE(16)

static void stream(int64_t bytes, const void *from, void *to) {
  const char *source = from;
  char *target = to;
  int64_t head = (int64_t)(-(uintptr_t)target % ND4C_STREAM_BLOCK);
  head = head < bytes ? head : bytes;
  memcpy(target, source, (size_t)head);
  int64_t i = head;
  for (; i + ND4C_STREAM_BLOCK <= bytes; i += ND4C_STREAM_BLOCK)
    nd4c_stream_block(target + i, source + i);
  memcpy(target + i, source + i, (size_t)(bytes - i));
}

static void stream_fence(void) {
  nd4c_stream_end();
}

const nd4c_move_table ND4C_LEVEL_NAME(nd4c_move_table) = {
    .move = {[1] = move_1, [2] = move_2, [4] = move_4, [8] = move_8, [16] = move_16},
    .stream = stream,
    .stream_fence = stream_fence,
};
