/* Sums over groups of rows that sorting brought together, and over windows; in ACC, the widest number of the kind, in
 * the order of the reference, rounded once. TYPE_A: of x and y; KIND: BOOL, INT, UINT or FLOAT.
 * families/indexing_parts.c launches these. */

#ifdef COMPENSATED
/* Where there is no float64, COMPENSATED is one of these: what the sum leaves out is summed beside it (T. J. Dekker's two-sum in D. E. Knuth's form).
 * An infinity leaves nothing out. */
static inline ACC add_compensated(ACC sum, ACC value, ACC *rest) {
  ACC next = sum + value, part = next - sum, less = (sum - (next - part)) + (value - part);
  *rest += next - next == 0 ? less : (ACC)0;
  return next;
}

/* The same of a product: what it lost is of its size. */
static inline ACC multiply_compensated(ACC product, ACC value, ACC *rest) {
  ACC next = product * value;
  *rest = next - next == 0 ? fma(product, value, -next) + *rest * value : (ACC)0;
  return next;
}

/* (sum + rest) / (by + more), the quotient corrected by what it leaves; a zero keeps its sign. */
static inline ACC divide_compensated(ACC sum, ACC rest, ACC by, ACC more) {
  ACC quotient = sum / by, left = fma(-quotient, by, sum) + (rest - quotient * more);
  return quotient - quotient == 0 && left != 0 ? quotient + left / by : quotient;
}
#endif

#ifdef JOIN
/* Group g of y: x's rows with that number, in their order. Operands of `inner`: x, y. divide 1: by the count, 2: by its
 * root. */
__kernel void join_groups(__global const ulong *words, long keys_at, long order_at, long count,
                          __global const STORAGE(A) *x, long x0, long x_row, __global STORAGE(A) *y, long y0,
                          long y_row, nd4c_walk inner, ACC identity, int divide, long items) {
  WITHIN(items)
  long g = get_global_id(0) / inner.size, j = get_global_id(0) - g * inner.size, at[2] = {x0, y0 + g * y_row};
  long begin = first_not_below(words + keys_at, count, PLACE_KEY(g)), k = begin;
  ACC sum = identity;
#ifdef COMPENSATED
  ACC rest = 0;
#endif
  PLACES(inner, j, 2, at)
  for (; k < count && words[keys_at + k] == PLACE_KEY(g); k++) {
    ACC value = LOAD(A, x, at[0] + found_place(((__global const uint *)(words + order_at))[k], count) * x_row);
#ifdef COMPENSATED
    sum = k == begin ? value : COMPENSATED(sum, value, &rest);
#else
    sum = k == begin ? value : JOINED(sum, value);
#endif
  }
#ifdef COMPENSATED
  ACC rows = (ACC)(k - begin), root = sqrt(rows), more = fma(-root, root, rows) / (2 * root);
  ACC by = divide == 2 ? root : divide == 1 ? rows : (ACC)1;
  sum = k > begin ? divide_compensated(sum, rest, by, divide == 2 ? more : (ACC)0) : sum;
#else
  if (divide != 0 && k > begin) {
    sum /= divide == 1 ? (ACC)(k - begin) : (ACC)sqrt((FRACTION)(k - begin));
  }
#endif
  SAVE(A, y, at[1], (COMPUTE(A))sum);
}
#endif

typedef struct {
  int spatial, unused;
  long cells, all_windows, channels;
  long kernels[WALK_RANK], stride[WALK_RANK], pad[WALK_RANK], dilation[WALK_RANK], windows[WALK_RANK],
      extent[WALK_RANK], image_strides[WALK_RANK];
  long image_batch, image_channel, column_strides[3];
} nd4c_columns;

/* Each element of y [n, c, space...]: the sum of what im2col would have taken from it, cell by cell. */
__kernel void col2im(__global const STORAGE(A) *x, long x0, __global STORAGE(A) *y, long y0, nd4c_columns columns,
                     long items) {
  ITEM(rest, items)
  long place[WALK_RANK];
  ACC sum = 0;
#ifdef COMPENSATED
  ACC left_out = 0;
#endif
  for (int i = columns.spatial - 1; i >= 0; i--) {
    place[i] = rest % columns.extent[i];
    rest /= columns.extent[i];
    y0 += place[i] * columns.image_strides[i];
  }
  long c = rest % columns.channels, n = rest / columns.channels;
  y0 += n * columns.image_batch + c * columns.image_channel;
  x0 += n * columns.column_strides[0] + c * columns.cells * columns.column_strides[1];
  for (long cell = 0; cell < columns.cells; cell++) {
    long cells = cell, window = 0, stride = 1;
    bool inside = true;
    for (int i = columns.spatial - 1; i >= 0 && inside; i--) {
      long begin = place[i] + columns.pad[i] - cells % columns.kernels[i] * columns.dilation[i];
      cells /= columns.kernels[i];
      inside = begin >= 0 && begin % columns.stride[i] == 0 && begin / columns.stride[i] < columns.windows[i];
      window += begin / columns.stride[i] * stride;
      stride *= columns.windows[i];
    }
    if (inside) {
      ACC value = LOAD(A, x, x0 + cell * columns.column_strides[1] + window * columns.column_strides[2]);
#ifdef COMPENSATED
      sum = add_compensated(sum, value, &left_out);
#else
      sum = PASTE(ADD, KIND)(sum, value);
#endif
    }
  }
#ifdef COMPENSATED
  sum = left_out != 0 ? sum + left_out : sum;
#endif
  SAVE(A, y, y0, (COMPUTE(A))sum);
}
