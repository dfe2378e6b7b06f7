/* Sums over groups of rows that sorting brought together, and over windows; in ACC, the widest number of the kind, in
 * the order of the reference, rounded once. TYPE_A: of x and y; KIND: BOOL, INT, UINT or FLOAT.
 * families/indexing_parts.c launches these. */

#define ADD_BOOL(a, b) ((a) | (b))
#define ADD_INT(a, b) ((ACC)((ulong)(a) + (ulong)(b)))
#define ADD_UINT(a, b) ((a) + (b))
#define ADD_FLOAT(a, b) ((a) + (b))
#define MULTIPLY_BOOL(a, b) ((a) & (b))
#define MULTIPLY_INT(a, b) ((ACC)((ulong)(a) * (ulong)(b)))
#define MULTIPLY_UINT(a, b) ((a) * (b))
#define MULTIPLY_FLOAT(a, b) ((a) * (b))
#define MAXIMUM_BOOL(a, b) ((a) | (b))
#define MAXIMUM_INT(a, b) max(a, b)
#define MAXIMUM_UINT(a, b) max(a, b)
#define MAXIMUM_FLOAT(a, b) ((a) != (a) || (a) >= (b) ? (a) : (b))
#define MINIMUM_BOOL(a, b) ((a) & (b))
#define MINIMUM_INT(a, b) min(a, b)
#define MINIMUM_UINT(a, b) min(a, b)
#define MINIMUM_FLOAT(a, b) ((a) != (a) || (a) <= (b) ? (a) : (b))
#define JOINED(a, b) PASTE(JOIN, KIND)(a, b)

#define PLACE_KEY(offset) ((ulong)(offset) ^ ((ulong)1 << 63))

/* The first of the sorted keys that is not below `key`. */
static inline long first_not_below(__global const ulong *keys, long count, ulong key) {
  long low = 0, high = count;
  while (low < high) {
    long middle = low + (high - low) / 2;
    if (keys[middle] < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

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
                          __global const STORAGE_A *x, long x0, long x_row, __global STORAGE_A *y, long y0, long y_row,
                          nd4c_walk inner, ACC identity, int divide, long items) {
  WITHIN(items)
  long g = get_global_id(0) / inner.size, j = get_global_id(0) - g * inner.size, at[2] = {x0, y0 + g * y_row};
  long begin = first_not_below(words + keys_at, count, PLACE_KEY(g)), k = begin;
  ACC sum = identity;
#ifdef COMPENSATED
  ACC rest = 0;
#endif
  PLACES(inner, j, 2, at)
  for (; k < count && words[keys_at + k] == PLACE_KEY(g); k++) {
    ACC value = LOAD_A(x, at[0] + found_place(((__global const uint *)(words + order_at))[k], count) * x_row);
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
  SAVE_A(y, at[1], (COMPUTE_A)sum);
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
__kernel void col2im(__global const STORAGE_A *x, long x0, __global STORAGE_A *y, long y0, nd4c_columns columns,
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
      ACC value = LOAD_A(x, x0 + cell * columns.column_strides[1] + window * columns.column_strides[2]);
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
  SAVE_A(y, y0, (COMPUTE_A)sum);
}
