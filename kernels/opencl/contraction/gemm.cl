/* Matrix products through local memory: a group computes a square tile of y, a work item 4 x 4 elements of it.
 * support/gemm.c builds and launches it for families/contraction*.c and attention.c.
 *
 * -D ACC: the type that products are summed in. SIDE: work items along a side of the group (the tile has 4 SIDE rows
 * and columns). A_TALL, B_TALL: neighbours in memory stand below each other, so that loads run down the columns.
 * DOWN, ACROSS instead of SIDE: for processors, the extents of a tile by vectors, see below.
 * EPILOGUE: y = activation(a b + bias + addend), the activation and what comes before it in REAL. */

#define TILE (4 * SIDE)
#define DEEP 16

typedef struct {
  long m, n, k;
  long a_row, a_column, b_row, b_column, y_row, y_column;
  long bias_row, bias_column, addend_row, addend_column;
} matrices;

#ifdef EPILOGUE
#define MORE                                                                                                     \
  , nd4c_walk more, __global const STORAGE(C) *bias, long bias0, __global const STORAGE(D) *addend, long addend0, \
      int has_bias, int has_addend
#define PLACE_MORE(matrix)                    \
  bias0 += nd4c_walk_place(&more, 0, matrix); \
  addend0 += nd4c_walk_place(&more, 1, matrix)
#define STORE(row, column, sum)                                                                                \
  {                                                                                                            \
    REAL value = (REAL)(sum);                                                                                  \
    if (has_bias) value += (REAL)LOAD(C, bias, bias0 + (row)*s.bias_row + (column)*s.bias_column);              \
    if (has_addend) value += (REAL)LOAD(D, addend, addend0 + (row)*s.addend_row + (column)*s.addend_column);    \
    SAVE(Y, y, y0 + (row)*s.y_row + (column)*s.y_column, ROUND(Y, activate(value)));                             \
  }
#else
#define MORE
#define PLACE_MORE(matrix)
#define STORE(row, column, sum) SAVE(Y, y, y0 + (row)*s.y_row + (column)*s.y_column, ROUND(Y, sum));
#endif

/* Operands of the batch: a, b, y and, of the epilogue, bias and addend as one walk more. */
#define PARAMETERS                                                                                              \
  nd4c_walk batch, matrices s, __global const STORAGE(A) *a, long a0, __global const STORAGE(B) *b, long b0,      \
      __global STORAGE(Y) *y, long y0 MORE

#ifdef SIDE
__kernel void gemm(PARAMETERS) {
  __local ACC rows[DEEP][TILE + 1], columns[DEEP][TILE + 1];
  int me = get_local_id(0), x = me % SIDE, z = me / SIDE;
  long across = (s.n + TILE - 1) / TILE, down = (s.m + TILE - 1) / TILE, tile = get_group_id(0);
  long n0 = tile % across * TILE, m0 = tile / across % down * TILE, matrix = tile / across / down;
  a0 += nd4c_walk_place(&batch, 0, matrix);
  b0 += nd4c_walk_place(&batch, 1, matrix);
  y0 += nd4c_walk_place(&batch, 2, matrix);
  ACC sums[4][4];
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) sums[i][j] = 0;
  for (long k0 = 0; k0 < s.k; k0 += DEEP) {
    for (int i = me; i < DEEP * TILE; i += SIDE * SIDE) {
#ifdef A_TALL
      int row = i % TILE, deep = i / TILE;
#else
      int row = i / DEEP, deep = i % DEEP;
#endif
      bool inside = m0 + row < s.m && k0 + deep < s.k;
      rows[deep][row] = inside ? (ACC)LOAD(A, a, a0 + (m0 + row) * s.a_row + (k0 + deep) * s.a_column) : (ACC)0;
    }
    for (int i = me; i < DEEP * TILE; i += SIDE * SIDE) {
#ifdef B_TALL
      int column = i / DEEP, deep = i % DEEP;
#else
      int column = i % TILE, deep = i / TILE;
#endif
      bool inside = n0 + column < s.n && k0 + deep < s.k;
      columns[deep][column] =
          inside ? (ACC)LOAD(B, b, b0 + (k0 + deep) * s.b_row + (n0 + column) * s.b_column) : (ACC)0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    /* Beyond the last product nothing is added: 0 times an infinity would be NaN. */
    int depth = s.k - k0 < DEEP ? (int)(s.k - k0) : DEEP;
    for (int deep = 0; deep < depth; deep++) {
      ACC left[4], right[4];
      for (int i = 0; i < 4; i++) {
        left[i] = rows[deep][z + i * SIDE];
        right[i] = columns[deep][x + i * SIDE];
      }
      for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) sums[i][j] += left[i] * right[j];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  PLACE_MORE(matrix);
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 4; j++) {
      long row = m0 + z + i * SIDE, column = n0 + x + j * SIDE;
      if (row < s.m && column < s.n) STORE(row, column, sums[i][j])
    }
  }
}
#else
#define DEPTH 128
#define HEIGHT 8
#ifdef FP_FAST_FMAF
#define MULTIPLY_ADD(x, y, z) fma(x, y, z)
#else
#define MULTIPLY_ADD(x, y, z) ((x) * (y) + (z))
#endif

/* A tile by one work item, in vectors of 16 floats: a thread runs the items of a group one after the other, and what
 * many of them hold at once does not stay in its registers. What lies beyond the edges is computed and not stored. */
__kernel void gemm(PARAMETERS) {
  __local float sums[DOWN * ACROSS], left[DEPTH * HEIGHT], right[DEPTH * ACROSS];
  long across = (s.n + ACROSS - 1) / ACROSS, down = (s.m + DOWN - 1) / DOWN, tile = get_group_id(0);
  long m0 = tile % down * DOWN, n0 = tile / down % across * ACROSS, matrix = tile / down / across;
  int tall = (int)min(s.m - m0, (long)DOWN), wide = (int)min(s.n - n0, (long)ACROSS);
  a0 += nd4c_walk_place(&batch, 0, matrix) + m0 * s.a_row;
  b0 += nd4c_walk_place(&batch, 1, matrix) + n0 * s.b_column;
  y0 += nd4c_walk_place(&batch, 2, matrix);
  for (int i = 0; i < DOWN * ACROSS; i++) sums[i] = 0;
  for (long k0 = 0; k0 < s.k; k0 += DEPTH) {
    int depth = (int)min(s.k - k0, (long)DEPTH);
    for (int k = 0; k < depth; k++)
      for (int column = 0; column < ACROSS; column++)
        right[k * ACROSS + column] =
            column < wide ? (float)LOAD(B, b, b0 + (k0 + k) * s.b_row + column * s.b_column) : 0.0f;
    for (int top = 0; top < tall; top += HEIGHT) {
      for (int row = 0; row < HEIGHT; row++)
        for (int k = 0; k < depth; k++)
          left[k * HEIGHT + row] =
              top + row < tall ? (float)LOAD(A, a, a0 + (top + row) * s.a_row + (k0 + k) * s.a_column) : 0.0f;
      float16 each[HEIGHT][2];
#pragma unroll
      for (int row = 0; row < HEIGHT; row++) {
        each[row][0] = vload16(2 * (top + row), sums);
        each[row][1] = vload16(2 * (top + row) + 1, sums);
      }
      for (int k = 0; k < depth; k++) {
        float16 first = vload16(2 * k, right), second = vload16(2 * k + 1, right);
#pragma unroll
        for (int row = 0; row < HEIGHT; row++) {
          float16 factor = left[k * HEIGHT + row];
          each[row][0] = MULTIPLY_ADD(factor, first, each[row][0]);
          each[row][1] = MULTIPLY_ADD(factor, second, each[row][1]);
        }
      }
#pragma unroll
      for (int row = 0; row < HEIGHT; row++) {
        vstore16(each[row][0], 2 * (top + row), sums);
        vstore16(each[row][1], 2 * (top + row) + 1, sums);
      }
    }
  }
  PLACE_MORE(matrix);
  for (int row = 0; row < tall; row++)
    for (int column = 0; column < wide; column++) STORE(m0 + row, n0 + column, sums[row * ACROSS + column])
}
#endif
