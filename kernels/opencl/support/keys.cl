/* Elements as unsigned words in the same order: NaN above all, -0 as 0. From their bits alone, so that no
 * floating-point extension is needed. TYPE_A is the elements' dtype. support/ordering.c and families/sorting_sets.c and
 * sorting_counts.c launch these. */

#define RAW PASTE(raw, CLASS(A))(STORAGE(A))
#define raw_bool(storage) storage
#define raw_integer(storage) storage
#define raw_float16(storage) ushort
#define raw_bfloat16(storage) ushort
#define raw_float32(storage) uint
#define raw_float64(storage) ulong

static inline ulong float_key(ulong bits, int width, ulong infinity) {
  ulong all = ULONG_MAX >> (64 - width), sign = (ulong)1 << (width - 1), magnitude = bits & (sign - 1);
  if (magnitude > infinity) {
    return all;
  }
  return magnitude == 0 ? sign : bits & sign ? ~bits & all : bits | sign;
}
#define KEY(x) PASTE(key, CLASS(A))(STORAGE(A), x)
#define key_bool(storage, x) ((ulong)((x) != 0))
/* Of signed integers the sign is turned. */
#define key_integer(storage, x) ((ulong)(long)(x) ^ ((storage)-1 < 0 ? (ulong)1 << 63 : 0))
#define key_float16(storage, x) float_key(x, 16, 0x7c00)
#define key_bfloat16(storage, x) float_key(x, 16, 0x7f80)
#define key_float32(storage, x) float_key(x, 32, 0x7f800000)
#define key_float64(storage, x) float_key(x, 64, 0x7ff0000000000000UL)

/* Keys of no sign: true of what is not zero. */
#define NONZERO(x) PASTE(nonzero, CLASS(A))(x)
#define nonzero_bool(x) ((x) != 0)
#define nonzero_integer(x) ((x) != 0)
#define nonzero_float16(x) (((x)&0x7fff) != 0)
#define nonzero_bfloat16(x) (((x)&0x7fff) != 0)
#define nonzero_float32(x) (((x)&0x7fffffff) != 0)
#define nonzero_float64(x) (((x)&0x7fffffffffffffffUL) != 0)

/* Keys of lines of `length` elements, one line after the other, into scratch, from place `begin` on. by_order: each
 * line is read in the order that stands there; else the places themselves are made its order. */
__kernel void make_keys(__global const RAW *x, long x0, __global ulong *words, long keys_at, long order_at, long begin,
                        nd4c_walk walk, long length, ulong flip, int by_order, long items) {
  ITEM(number, items)
  long at[1] = {x0}, place = number;
  __global uint *order = (__global uint *)(words + order_at);
  if (by_order) {
    place = number / length * length + found_place(order[number], length);
  } else {
    order[begin + number] = (begin + number) % length;
  }
  PLACES(walk, place, 1, at)
  words[keys_at + begin + number] = KEY(x[at[0]]) ^ flip;
}

/* Keys alone. */
__kernel void make_row_keys(__global const RAW *x, long x0, __global ulong *words, long keys_at, nd4c_walk walk,
                            long items) {
  ITEM(number, items)
  AT1(walk, number, x0)
  words[keys_at + number] = KEY(x[at[0]]);
}

__kernel void make_flags(__global const RAW *x, long x0, __global ulong *words, long flags_at, nd4c_walk walk,
                         long items) {
  ITEM(number, items)
  AT1(walk, number, x0)
  ((__global uchar *)(words + flags_at))[number] = NONZERO(x[at[0]]);
}

/* -- searching ------------------------------------------------------------------------------------------------------- */

/* Element `at` of integers of 1, 2, 4 or (else) 8 bytes. */
static inline long integer_at(__global const uchar *p, long at, int bytes, int is_signed) {
  if (bytes == 1) {
    return is_signed ? (long)((__global const char *)p)[at] : (long)p[at];
  }
  if (bytes == 2) {
    return is_signed ? (long)((__global const short *)p)[at] : (long)((__global const ushort *)p)[at];
  }
  if (bytes == 4) {
    return is_signed ? (long)((__global const int *)p)[at] : (long)((__global const uint *)p)[at];
  }
  return ((__global const long *)p)[at];
}

/* Place of a key among ascending elements: before equal ones, or after. Every `sorter` place must be in range. */
__kernel void search_sorted(__global const RAW *x, long x0, long x_step, long count, __global const uchar *sorter,
                            long sorter0, long sorter_step, int bytes, int is_signed, int has_sorter, int after, int downwards,
                            __global const RAW *values, long values0, __global long *y, long y0, nd4c_walk walk,
                            long items) {
  ITEM(number, items)
  AT2(walk, number, values0, y0)
  long low = 0, high = count;
  ulong key = KEY(values[at[0]]);
  while (low < high) {
    long middle = low + (high - low) / 2, place = downwards ? count - 1 - middle : middle;
    place = has_sorter ? integer_at(sorter, sorter0 + place * sorter_step, bytes, is_signed) : place;
    /* A sorter out of range has been told; nothing is read there. */
    ulong there = place >= 0 && place < count ? KEY(x[x0 + place * x_step]) : 0;
    if (there < key || (after && there == key)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  y[at[1]] = downwards ? count - low : low;
}

__kernel void check_sorter(__global const uchar *sorter, long sorter0, long step, int bytes, int is_signed, long count, __global int *fault,
                           long items) {
  WITHIN(items)
  long place = integer_at(sorter, sorter0 + get_global_id(0) * step, bytes, is_signed);
  if (place < 0 || place >= count) {
    nd4c_fault_index(fault, place, count);
  }
}

/* verdict[0] = 1 where an element is less than the one before it, verdict[1] = 1 where it is greater; zeros before. */
__kernel void find_direction(__global const RAW *x, long x0, long step, __global int *verdict, long items) {
  ITEM(i, items)
  ulong before = KEY(x[x0 + i * step]), own = KEY(x[x0 + (i + 1) * step]);
  if (own < before) {
    verdict[0] = 1;
  }
  if (own > before) {
    verdict[1] = 1;
  }
}

/* Unset where a pair of neighbours is out of order; a NaN (`loner`) is in none. */
__kernel void check_order(__global const RAW *x, long x0, __global uchar *y, long y0, nd4c_walk walk, int strict,
                          int has_loner, ulong loner, long items) {
  ITEM(number, items)
  long before_at[1] = {x0}, at[1] = {x0}, next = number + 1;
  PLACES(walk, number, 1, before_at)
  PLACES(walk, next, 1, at)
  ulong before = KEY(x[before_at[0]]), own = KEY(x[at[0]]);
  if ((has_loner && (before == loner || own == loner)) || before > own || (strict && before == own)) {
    y[y0] = 0;
  }
}
