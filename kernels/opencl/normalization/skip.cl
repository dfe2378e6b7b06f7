/* The sum that skip_layer_norm normalises. families/normalization.c launches it before rows.cl. */

/* x + skip + addend, rounded into `sum` and unrounded into `wide`, dense. */
__kernel void skip_sum(nd4c_walk walk, __global const STORAGE_A *x, long x0, __global const STORAGE_B *skip, long skip0,
                       __global const STORAGE_C *addend, long addend0, int has_addend, __global STORAGE_Y *sum,
                       long sum0, __global REAL *wide) {
  long i = get_global_id(0);
  if (i >= walk.size) return;
  REAL value = r_add(R(LOAD_A(x, x0 + nd4c_walk_place(&walk, 0, i))), R(LOAD_B(skip, skip0 + nd4c_walk_place(&walk, 1, i))));
  if (has_addend) value = r_add(value, R(LOAD_C(addend, addend0 + nd4c_walk_place(&walk, 2, i))));
  SAVE_Y(sum, sum0 + nd4c_walk_place(&walk, 3, i), R_ROUND(TYPE_Y, value));
  wide[i] = value;
}
