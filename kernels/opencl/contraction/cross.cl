/* Cross products: a work item per vector. Operands of the walk: a, b, y without the axis of three.
 * families/contraction.c launches it. */
__kernel void cross_product(nd4c_walk walk, __global const STORAGE(A) *a, long a0, long a_step,
                            __global const STORAGE(B) *b, long b0, long b_step, __global STORAGE(Y) *y, long y0,
                            long y_step) {
  ITEM(i, walk.size)
  a0 += nd4c_walk_place(&walk, 0, i);
  b0 += nd4c_walk_place(&walk, 1, i);
  y0 += nd4c_walk_place(&walk, 2, i);
  VALUE u[3], v[3];
  for (int k = 0; k < 3; k++) {
    u[k] = (VALUE)LOAD(A, a, a0 + k * a_step);
    v[k] = (VALUE)LOAD(B, b, b0 + k * b_step);
  }
  for (int k = 0; k < 3; k++) {
    int p = (k + 1) % 3, q = (k + 2) % 3;
    SAVE(Y, y, y0 + k * y_step, ROUND(Y, u[p] * v[q] - u[q] * v[p]));
  }
}
