/* The sum that skip_layer_norm normalises. families/normalization.c launches it before rows.cl. */

/* x + skip + addend, rounded into `sum` and unrounded into `wide`, dense. */
__kernel void skip_sum(nd4c_walk walk, __global const STORAGE(A) *x, long x0, __global const STORAGE(B) *skip,
                       long skip0, __global const STORAGE(C) *addend, long addend0, int has_addend,
                       __global STORAGE(Y) *sum, long sum0, __global REAL *wide) {
  ITEM(i, walk.size)
  REAL value = r_add(R(LOAD(A, x, x0 + nd4c_walk_place(&walk, 0, i))), R(LOAD(B, skip, skip0 + nd4c_walk_place(&walk, 1, i))));
  if (has_addend) value = r_add(value, R(LOAD(C, addend, addend0 + nd4c_walk_place(&walk, 2, i))));
  SAVE(Y, sum, sum0 + nd4c_walk_place(&walk, 3, i), R_ROUND(Y, value));
  wide[i] = value;
}
