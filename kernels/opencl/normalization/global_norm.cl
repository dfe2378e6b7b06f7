/* The norm of several arrays together: sums of squares, one per group, then the root of their total.
 * families/normalization.c launches these. */
__kernel void square_sums(nd4c_walk walk, __global const STORAGE(A) *x, long x0, __global REAL *sums, long at,
                          __local REAL *shared) {
  REAL sum = R(0);
  for (long i = get_global_id(0); i < walk.size; i += get_global_size(0)) {
    COMPUTE(A) value = LOAD(A, x, x0 + nd4c_walk_place(&walk, 0, i));
    sum = r_take_product(sum, value, value);
  }
  sum = share_sum(r_sum(sum), get_local_id(0), get_local_size(0), 1, shared);
  if (get_local_id(0) == 0) sums[at + get_group_id(0)] = sum;
}

__kernel void norm_end(__global const REAL *sums, long count, __global STORAGE(Y) *y, long y0, __local REAL *shared) {
  REAL sum = R(0);
  for (long i = get_local_id(0); i < count; i += get_local_size(0)) sum = r_add(sum, sums[i]);
  sum = share_sum(sum, get_local_id(0), get_local_size(0), 1, shared);
  if (get_local_id(0) == 0) SAVE(Y, y, y0, R_ROUND(Y, r_sqrt(sum)));
}
