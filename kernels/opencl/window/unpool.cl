/* max_unpool: each x goes to its index; of several at one index the last wins, whatever the order of work.
 * families/window_pool.c launches these. */

/* The output's flat number that an index of x means. `extents` are those in which it counts. */
static inline long target_of(const sweep *s, long row, long index, int planar, const long *extents) {
  long plane = extents[0] * extents[1] * extents[2], rest = planar ? index : index % plane;
  row = planar ? row : index / plane;
  long at[3] = {rest / (extents[1] * extents[2]), rest / extents[2] % extents[1], rest % extents[2]};
  return ((row * s->y[0] + at[0]) * s->y[1] + at[1]) * s->y[2] + at[2];
}

/* winner[flat output] becomes the largest number of an x that goes there, counted from 1. z_strides: of the indices. */
__kernel void unpool_mark(sweep s, long extent0, long extent1, long extent2, __global const STORAGE(B) *indices,
                          long indices0, int planar, __global int *winner, __global int *fault) {
  long i = get_global_id(0), cells = s.x[0] * s.x[1] * s.x[2], rows = s.batch * s.channels;
  if (i >= rows * cells) return;
  long extents[3] = {extent0, extent1, extent2}, rest = i % cells, row = i / cells;
  long at[3] = {rest / (s.x[1] * s.x[2]), rest / s.x[2] % s.x[1], rest % s.x[2]};
  long index = (long)LOAD(B, indices, indices0 + at_strides(s.z_strides, row / s.channels, row % s.channels, at));
  long count = (planar ? 1 : rows) * extent0 * extent1 * extent2;
  if (index < 0 || index >= count) {
    nd4c_fault_index(fault, index, count);
    return;
  }
  atomic_max(&winner[target_of(&s, row, index, planar, extents)], (int)i + 1);
}

__kernel void unpool_take(sweep s, __global const STORAGE(A) *x, long x0, __global STORAGE(Y) *y, long y0,
                          __global const int *winner) {
  long i = get_global_id(0), n, c, at[3];
  if (i >= output_count(&s)) return;
  output_place(&s, i, &n, &c, at);
  long cells = s.x[0] * s.x[1] * s.x[2], from = min((long)winner[i], s.batch * s.channels * cells) - 1;
  long rest = from % cells, row = from / cells;
  long q[3] = {rest / (s.x[1] * s.x[2]), rest / s.x[2] % s.x[1], rest % s.x[2]};
  COMPUTE(Y) value = 0;
  if (from >= 0) value = (COMPUTE(Y))LOAD(A, x, x0 + at_strides(s.x_strides, row / s.channels, row % s.channels, q));
  SAVE(Y, y, y0 + at_strides(s.y_strides, n, c, at), value);
}
