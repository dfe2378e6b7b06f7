/* Cross products: a work item per vector. Operands of the walk: a, b, y without the axis of three.
 * families/contraction.c launches it. */
__kernel void cross_product(nd4c_walk walk, __global const STORAGE_A *a, long a0, long a_step,
                            __global const STORAGE_B *b, long b0, long b_step, __global STORAGE_Y *y, long y0,
                            long y_step) {
  long i = get_global_id(0);
  if (i >= walk.size) return;
  a0 += nd4c_walk_place(&walk, 0, i);
  b0 += nd4c_walk_place(&walk, 1, i);
  y0 += nd4c_walk_place(&walk, 2, i);
  VALUE u[3], v[3];
  for (int k = 0; k < 3; k++) {
    u[k] = (VALUE)LOAD_A(a, a0 + k * a_step);
    v[k] = (VALUE)LOAD_B(b, b0 + k * b_step);
  }
  for (int k = 0; k < 3; k++) {
    int p = (k + 1) % 3, q = (k + 2) % 3;
    SAVE_Y(y, y0 + k * y_step, ROUND_Y(u[p] * v[q] - u[q] * v[p]));
  }
}
