/* Elements that move: opaque units of UNIT's width. Places are found from an element's number in C order, so layouts
 * cost divisions only, and no two work items write one element. The families indexing, sorting and random launch these,
 * support/moving.c those that copy and clear. */

/* -- copies -------------------------------------------------------------------------------------------------------- */

__kernel void move(__global const UNIT *x, long x0, __global UNIT *y, long y0, nd4c_walk walk, long items) {
  ITEM(number, items)
  AT2(walk, number, x0, y0)
  y[at[1]] = x[at[0]];
}

__kernel void zero(__global UNIT *y, long y0, nd4c_walk walk, long items) {
  ITEM(number, items)
  AT1(walk, number, y0)
  y[at[0]] = (UNIT)0;
}

/* Element number i of x becomes number (i + shift) mod size of y. */
__kernel void reshape(__global const UNIT *x, long x0, __global UNIT *y, long y0, nd4c_walk from, nd4c_walk to,
                      long shift, long items) {
  ITEM(number, items)
  long x_at[1] = {x0}, y_at[1] = {y0}, place = number + shift;
  PLACES(from, number, 1, x_at)
  PLACES(to, (place >= to.size ? place - to.size : place), 1, y_at)
  y[y_at[0]] = x[x_at[0]];
}

/* -- beyond the ends ----------------------------------------------------------------------------------------------- */

enum { PAD_CONSTANT, PAD_EDGE, PAD_REFLECT, PAD_WRAP, PAD_SYMMETRIC };

typedef struct {
  long size;
  int rank, mode, has_value, unused;
  long y_shape[WALK_RANK], x_shape[WALK_RANK], begin[WALK_RANK], x_strides[WALK_RANK], y_strides[WALK_RANK];
} nd4c_padding;

/* Position j of an axis of n elements that goes on by a mode; -1 outside of it where nothing does. */
static inline long continued(int mode, long n, long j) {
  if (j >= 0 && j < n) {
    return j;
  }
  if (mode == PAD_CONSTANT) {
    return -1;
  }
  long period = mode == PAD_WRAP ? n : mode == PAD_SYMMETRIC ? 2 * n : 2 * (n - 1);
  if (mode == PAD_EDGE || period <= 0) {
    return j < 0 ? 0 : n - 1;
  }
  long place = j % period;
  place += place < 0 ? period : 0;
  return place < n ? place : mode == PAD_SYMMETRIC ? period - 1 - place : period - place;
}

__kernel void pad(__global const UNIT *x, long x0, __global UNIT *y, long y0, __global const UNIT *value, long value0,
                  nd4c_padding padding, long items) {
  ITEM(rest, items)
  bool inside = true;
  for (int axis = padding.rank - 1; axis >= 0; axis--) {
    long next = rest / padding.y_shape[axis], place = rest - next * padding.y_shape[axis];
    long from = continued(padding.mode, padding.x_shape[axis], place - padding.begin[axis]);
    rest = next;
    inside = inside && from >= 0;
    x0 += from * padding.x_strides[axis];
    y0 += place * padding.y_strides[axis];
  }
  y[y0] = inside ? x[x0] : padding.has_value ? value[value0] : (UNIT)0;
}

/* -- repeats ------------------------------------------------------------------------------------------------------- */

/* The slice that place j of an axis shows: starts[i] is where slice i begins; uniform > 0: all have so many. */
static inline long slice_of(__global const long *starts, long slices, long uniform, long j) {
  if (uniform > 0) {
    return j / uniform;
  }
  long low = 0, high = slices;
  while (high - low > 1) {
    long middle = low + (high - low) / 2;
    if (starts[middle] <= j) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Operands of the walk: x but for the axis, y, the place on the axis. `slice_walk` leads to a slice of x. */
__kernel void repeat(__global const UNIT *x, long x0, __global UNIT *y, long y0, __global const long *starts,
                     long slices, long uniform, nd4c_walk walk, nd4c_walk slice_walk, long items) {
  ITEM(number, items)
  AT3(walk, number, x0, y0, 0)
  long slice = slice_of(starts, slices, uniform, at[2]);
  PLACES(slice_walk, slice, 1, at)
  y[at[1]] = x[at[0]];
}

/* -- by a number along an axis ------------------------------------------------------------------------------------- */

/* Operands: x but for time, y, the sequence's length, the step. */
__kernel void reverse_sequence(__global const UNIT *x, long x0, __global UNIT *y, long y0, __global const int *lengths,
                               long lengths0, int wide, long steps, long step, nd4c_walk walk, __global int *fault,
                               long items) {
  ITEM(number, items)
  AT4(walk, number, x0, y0, lengths0, 0)
  long length = index_at(lengths, at[2], wide), t = at[3];
  if (length < 0 || length > steps) {
    nd4c_fault_index(fault, length, steps + 1);
    return;
  }
  y[at[1]] = x[at[0] + (t < length ? length - 1 - t : t) * step];
}

/* Operands: update, y but for the axis, the batch's first step, the step. */
__kernel void write_steps(__global const UNIT *update, long update0, __global UNIT *y, long y0,
                          __global const int *indices, long indices0, int wide, int given, long last, long extent,
                          long step, nd4c_walk walk, __global int *fault, long items) {
  ITEM(number, items)
  AT4(walk, number, update0, y0, indices0, 0)
  long index = given ? index_at(indices, at[2], wide) : 0;
  if (index < 0 || index > last) {
    nd4c_fault_index(fault, index, last + 1);
    return;
  }
  y[at[1] + (index + at[3]) % extent * step] = update[at[0]];
}

/* Operands: x, y, column - row. */
__kernel void band(__global const UNIT *x, long x0, __global UNIT *y, long y0, long lower, long upper,
                   nd4c_walk walk, long items) {
  ITEM(number, items)
  AT3(walk, number, x0, y0, 0)
  y[at[1]] = at[2] >= lower && at[2] <= upper ? x[at[0]] : (UNIT)0;
}

/* Operands: indices, y, the place d along the axis. before: on where d < index; else where d == index, which may count
 * from the end. `values` (off, on) replaces the numbers given. */
__kernel void one_hot(__global const int *indices, long indices0, int wide, __global UNIT *y, long y0,
                      __global const UNIT *values, long values0, long values_step, int given, UNIT off, UNIT on,
                      long depth, int before, nd4c_walk walk, long items) {
  ITEM(number, items)
  AT3(walk, number, indices0, y0, 0)
  long index = index_at(indices, at[0], wide);
  bool is_on = before ? at[2] < index : at[2] == (index < 0 ? index + depth : index);
  y[at[1]] = given ? values[values0 + (is_on ? values_step : 0)] : is_on ? on : off;
}

/* Operands: x, mask, value, y. */
__kernel void masked_fill(__global const UNIT *x, long x0, __global const uchar *mask, long mask0,
                          __global const UNIT *value, long value0, __global UNIT *y, long y0, nd4c_walk walk,
                          long items) {
  ITEM(number, items)
  AT4(walk, number, x0, mask0, value0, y0)
  y[at[3]] = mask[at[1]] ? value[at[2]] : x[at[0]];
}

/* -- at indices ---------------------------------------------------------------------------------------------------- */

/* Operands: the whole but for the axes that indices choose, indices, the part. to_whole: whole = part. */
__kernel void pick(__global UNIT *whole, long whole0, __global const int *indices, long indices0, __global UNIT *part,
                   long part0, nd4c_walk walk, nd4c_target target, int to_whole, __global int *fault, long items) {
  ITEM(number, items)
  AT3(walk, number, whole0, indices0, part0)
  for (int k = 0; k < target.count; k++) {
    long place = resolve(index_at(indices, at[1] + k * target.step, target.wide), target.extent[k], target.mode, fault);
    if (place < 0) {
      return;
    }
    at[0] += place * target.stride[k];
  }
  if (to_whole) {
    whole[at[0]] = part[at[2]];
  } else {
    part[at[2]] = whole[at[0]];
  }
}

/* Operands: indices, y; indices are numbers of x's elements in C order. */
__kernel void take_flat(__global const UNIT *x, long x0, __global const int *indices, long indices0, __global UNIT *y,
                        long y0, nd4c_walk walk, nd4c_walk x_walk, int mode, int wide, __global int *fault,
                        long items) {
  ITEM(number, items)
  AT2(walk, number, indices0, y0)
  long from[1] = {x0};
  long place = resolve(index_at(indices, at[0], wide), x_walk.size, mode, fault);
  if (place >= 0) {
    PLACES(x_walk, place, 1, from)
    y[at[1]] = x[from[0]];
  }
}

/* -- at numbers in scratch ----------------------------------------------------------------------------------------- */

/* Operands: x but for the axis, y, the place in `order`, which holds places along the axis of `length`, `step` apart. */
__kernel void take_order(__global const UNIT *x, long x0, __global UNIT *y, long y0, __global const uint *order,
                         long order0, long length, long step, nd4c_walk walk, long items) {
  ITEM(number, items)
  AT3(walk, number, x0, y0, order0)
  y[at[1]] = x[at[0] + found_place(order[at[2]], length) * step];
}

/* Operands of the walk: x but for the axes of the chosen, y, the place in `chosen`; `places` leads from a number chosen
 * to the place in x. scatter: the other way round, y's element to x. */
__kernel void take_chosen(__global UNIT *x, long x0, __global UNIT *y, long y0, __global const uint *chosen,
                          long chosen0, nd4c_walk walk, nd4c_walk places, int scatter, long items) {
  ITEM(number, items)
  AT3(walk, number, x0, y0, chosen0)
  long place = found_place(chosen[at[2]], places.size);
  PLACES(places, place, 1, at)
  if (scatter) {
    x[at[0]] = y[at[1]];
  } else {
    y[at[1]] = x[at[0]];
  }
}

/* y[i] = the element of a (numbers below a's size) or b that chosen[i] names. */
__kernel void take_either(__global const UNIT *a, long a0, __global const UNIT *b, long b0, __global UNIT *y, long y0,
                          __global const uint *chosen, long chosen0, nd4c_walk a_walk, nd4c_walk b_walk, long items) {
  ITEM(number, items)
  long a_at[1] = {a0}, b_at[1] = {b0};
  long place = found_place(chosen[chosen0 + number], a_walk.size + b_walk.size);
  if (place < a_walk.size) {
    PLACES(a_walk, place, 1, a_at)
    y[y0 + number] = a[a_at[0]];
  } else {
    PLACES(b_walk, place - a_walk.size, 1, b_at)
    y[y0 + number] = b[b_at[0]];
  }
}

/* -- windows ------------------------------------------------------------------------------------------------------- */

/* Sliding windows over `spatial` axes; x [n, c, space...], y [n, c cells, windows]. */
typedef struct {
  int spatial, unused;
  long cells, all_windows, channels;
  long kernels[WALK_RANK], stride[WALK_RANK], pad[WALK_RANK], dilation[WALK_RANK], windows[WALK_RANK],
      extent[WALK_RANK], x_strides[WALK_RANK];
  long x_batch, x_channel, y_strides[3];
} nd4c_columns;

__kernel void im2col(__global const UNIT *x, long x0, __global UNIT *y, long y0, nd4c_columns columns, long items) {
  ITEM(number, items)
  long window = number % columns.all_windows, row = number / columns.all_windows;
  long cell = row % columns.cells, plane = row / columns.cells;
  long c = plane % columns.channels, n = plane / columns.channels;
  bool inside = true;
  y0 += n * columns.y_strides[0] + (c * columns.cells + cell) * columns.y_strides[1] + window * columns.y_strides[2];
  x0 += n * columns.x_batch + c * columns.x_channel;
  for (int i = columns.spatial - 1; i >= 0; i--) {
    long w = window % columns.windows[i], k = cell % columns.kernels[i];
    long place = w * columns.stride[i] + k * columns.dilation[i] - columns.pad[i];
    window /= columns.windows[i];
    cell /= columns.kernels[i];
    inside = inside && place >= 0 && place < columns.extent[i];
    x0 += place * columns.x_strides[i];
  }
  y[y0] = inside ? x[x0] : (UNIT)0;
}
