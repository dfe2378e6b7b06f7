/* Exchange between the work items that share a row: lane 0 .. lanes - 1 (a power of two) of a row stand `step` apart in
 * the group. All items of the group take part. Behind real.cl. rows.cl, global_norm.cl, loss.cl and attention.cl call
 * these. */

/* Sum over the lanes of a row, known to all of them. */
static inline REAL share_sum(REAL x, int lane, int lanes, int step, __local REAL *shared) {
  int me = get_local_id(0);
  shared[me] = x;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int hop = lanes / 2; hop > 0; hop /= 2) {
    if (lane < hop) shared[me] = r_add(shared[me], shared[me + hop * step]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  x = shared[me - lane * step];
  barrier(CLK_LOCAL_MEM_FENCE);
  return x;
}

/* Largest, NaN winning. */
static inline REAL share_largest(REAL x, int lane, int lanes, int step, __local REAL *shared) {
  int me = get_local_id(0);
  shared[me] = x;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int hop = lanes / 2; hop > 0; hop /= 2) {
    if (lane < hop) {
      REAL other = shared[me + hop * step];
      if (!r_isnan(shared[me]) && (r_isnan(other) || r_less(shared[me], other))) shared[me] = other;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  x = shared[me - lane * step];
  barrier(CLK_LOCAL_MEM_FENCE);
  return x;
}
