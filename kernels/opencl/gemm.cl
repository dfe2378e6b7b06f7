/* Matrix products through local memory: a group computes a square tile of y, a work item 4 x 4 elements of it.
 *
 * -D ACC: the type that products are summed in. SIDE: work items along a side of the group (the tile has 4 SIDE rows and
 * columns). A_TALL, B_TALL: neighbours in memory stand below each other, so that loads run down the columns.
 * EPILOGUE: y = activation(a b + bias + addend), the activation and what comes before it in REAL. */

#define TILE (4 * SIDE)
#define DEEP 16

typedef struct {
  long m, n, k;
  long a_row, a_column, b_row, b_column, y_row, y_column;
  long bias_row, bias_column, addend_row, addend_column;
} matrices;

/* Operands of the batch: a, b, y and, of the epilogue, bias and addend as one walk more. */
__kernel void gemm(nd4c_walk batch, matrices s, __global const STORAGE_A *a, long a0, __global const STORAGE_B *b,
                   long b0, __global STORAGE_Y *y, long y0
#ifdef EPILOGUE
                   ,
                   nd4c_walk more, __global const STORAGE_C *bias, long bias0, __global const STORAGE_D *addend,
                   long addend0, int has_bias, int has_addend
#endif
) {
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
      rows[deep][row] = inside ? (ACC)LOAD_A(a, a0 + (m0 + row) * s.a_row + (k0 + deep) * s.a_column) : (ACC)0;
    }
    for (int i = me; i < DEEP * TILE; i += SIDE * SIDE) {
#ifdef B_TALL
      int column = i / DEEP, deep = i % DEEP;
#else
      int column = i % TILE, deep = i / TILE;
#endif
      bool inside = n0 + column < s.n && k0 + deep < s.k;
      columns[deep][column] = inside ? (ACC)LOAD_B(b, b0 + (k0 + deep) * s.b_row + (n0 + column) * s.b_column) : (ACC)0;
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
#ifdef EPILOGUE
  bias0 += nd4c_walk_place(&more, 0, matrix);
  addend0 += nd4c_walk_place(&more, 1, matrix);
#endif
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 4; j++) {
      long row = m0 + z + i * SIDE, column = n0 + x + j * SIDE;
      if (row >= s.m || column >= s.n) continue;
#ifdef EPILOGUE
      REAL value = (REAL)sums[i][j];
      if (has_bias) value += (REAL)LOAD_C(bias, bias0 + row * s.bias_row + column * s.bias_column);
      if (has_addend) value += (REAL)LOAD_D(addend, addend0 + row * s.addend_row + column * s.addend_column);
      SAVE_Y(y, y0 + row * s.y_row + column * s.y_column, ROUND_Y(activate(value)));
#else
      SAVE_Y(y, y0 + row * s.y_row + column * s.y_column, ROUND_Y(sums[i][j]));
#endif
    }
  }
}
