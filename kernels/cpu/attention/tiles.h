/* The tile registers of x86-64 (AMX), and the products of bfloat16 that attention makes with them. tiled.c includes it
 * where the level has AVX-512 and the compiler knows tiles; the functions run where the processor has AVX-512 BF16 and
 * AMX, and the process may use them.
 *
 * A tile has sixteen rows of 64 bytes: of the left operand 16 rows of 32 numbers, of the right one 16 pairs of rows,
 * whose numbers lie side by side in words, and of the sums 16 rows of 16 floats. */
#ifndef ND4C_KERNELS_CPU_ATTENTION_TILES_H
#define ND4C_KERNELS_CPU_ATTENTION_TILES_H

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "kernels/cpu/support/level.h"

/* TILE_NUMBERS: bfloat16 in a row of a tile; TILE_ALL: in a tile. */
enum { TILE_SIDE = 16, TILE_NUMBERS = 32, TILE_ALL = TILE_SIDE * TILE_NUMBERS };

#define TILE_CODE __attribute__((target("amx-tile,amx-bf16,avx512bf16")))
#define TILE_INLINED TILE_CODE ND4C_INLINED

/* What the processor reads and writes as the shapes of its tiles. Its owner may have been another library, which
 * expects it again. */
typedef struct tile_shapes {
  uint8_t palette, first_row, reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
} tile_shapes;
_Static_assert(sizeof(tile_shapes) == 64, "as the processor defines it");

/* The compiler does not know that the instructions read and write memory. */
#define TILE_FENCE() __asm__ volatile("" ::: "memory")

TILE_CODE static void tiles_enter(tile_shapes *before) {
  tile_shapes wanted = {.palette = 1};
  for (int i = 0; i < 8; i++) {
    wanted.rows[i] = TILE_SIDE;
    wanted.row_bytes[i] = TILE_SIDE * sizeof(uint32_t);
  }
  _tile_storeconfig(before);
  TILE_FENCE();
  _tile_loadconfig(&wanted);
}

TILE_CODE static void tiles_leave(const tile_shapes *before) {
  if (before->palette == 0) {
    _tile_release();
  } else {
    _tile_loadconfig(before);
  }
}

/* Tiles of a product, and where they lie: rows of the left operand a_row bytes apart, tiles of the right one one after
 * the other b_step numbers apart, those of the next columns b_next numbers on. `rows` and `columns` are 1 or 2 tiles,
 * and constants where this is called. Tiles 0 to 3 are the sums, which the caller zeroes or loads before and stores
 * afterwards. */
TILE_INLINED void tile_multiply(int rows, int columns, int64_t depth, const uint16_t *a, int64_t a_row,
                                const uint16_t *b, int64_t b_step, int64_t b_next) {
  for (int64_t i = 0; i < depth; i++, a += TILE_NUMBERS, b += b_step) {
    _tile_loadd(4, a, a_row);
    _tile_loadd(6, b, TILE_NUMBERS * sizeof *b);
    _tile_dpbf16ps(0, 4, 6);
    if (columns > 1) {
      _tile_loadd(7, b + b_next, TILE_NUMBERS * sizeof *b);
      _tile_dpbf16ps(1, 4, 7);
    }
    if (rows > 1) {
      _tile_loadd(5, (const char *)a + TILE_SIDE * a_row, a_row);
      _tile_dpbf16ps(2, 5, 6);
    }
    if (rows > 1 && columns > 1) {
      _tile_dpbf16ps(3, 5, 7);
    }
  }
}

TILE_INLINED void tile_zero(void) {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
}

/* Sums to and from rows of floats, y_row bytes apart. */
TILE_INLINED void tile_load_sums(int rows, int columns, const float *y, int64_t y_row) {
  _tile_loadd(0, y, y_row);
  if (columns > 1) {
    _tile_loadd(1, y + TILE_SIDE, y_row);
  }
  if (rows > 1) {
    _tile_loadd(2, (const char *)y + TILE_SIDE * y_row, y_row);
  }
  if (rows > 1 && columns > 1) {
    _tile_loadd(3, (const char *)(y + TILE_SIDE) + TILE_SIDE * y_row, y_row);
  }
}

TILE_INLINED void tile_store_sums(int rows, int columns, float *y, int64_t y_row) {
  _tile_stored(0, y, y_row);
  if (columns > 1) {
    _tile_stored(1, y + TILE_SIDE, y_row);
  }
  if (rows > 1) {
    _tile_stored(2, (char *)y + TILE_SIDE * y_row, y_row);
  }
  if (rows > 1 && columns > 1) {
    _tile_stored(3, (char *)(y + TILE_SIDE) + TILE_SIDE * y_row, y_row);
  }
}

#endif
