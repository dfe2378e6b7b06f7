/* Numbers in scratch that other kernels read. families/indexing_arrangement.c and indexing_parts.c launch these. */

typedef struct {
  long numbers[64];
} nd4c_numbers;

__kernel void put_numbers(__global long *to, long begin, nd4c_numbers numbers, long items) {
  WITHIN(items)
  to[begin + get_global_id(0)] = numbers.numbers[get_global_id(0)];
}

/* starts[i] = the sum of the counts before i. Chunks of them are added up each by itself, then one after the other, then
 * gone through again. A chunk's sum is -1 if a count is negative or the sum more than `total`. */
__kernel void repeat_sums(__global const int *counts, long counts0, long step, int wide, long slices, long total,
                          long chunk, __global long *sums, long sums0, long items) {
  WITHIN(items)
  long first = get_global_id(0) * chunk, end = min(first + chunk, slices), left = total;
  for (long i = first; i < end && left >= 0; i++) {
    long count = index_at(counts, counts0 + i * step, wide);
    left = count < 0 || count > left ? -1 : left - count;
  }
  sums[sums0 + get_global_id(0)] = left < 0 ? -1 : total - left;
}

/* Sums become those before each chunk. At verdict: the first count that is negative or more than is left (-1: none), it,
 * and what is left of total. One work item. */
__kernel void repeat_chain(__global const int *counts, long counts0, long step, int wide, long slices, long total,
                           long chunk, __global long *numbers, long verdict0, long sums0, long chunks, long items) {
  WITHIN(items)
  long left = total, bad = -1, bad_count = 0;
  for (long k = 0; k < chunks && bad < 0; k++) {
    long sum = numbers[sums0 + k];
    numbers[sums0 + k] = total - left;
    bool good = sum >= 0 && sum <= left;
    for (long i = k * chunk; !good && bad < 0 && i < slices; i++) {
      long count = index_at(counts, counts0 + i * step, wide);
      if (count < 0 || count > left) {
        bad = i;
        bad_count = count;
      } else {
        left -= count;
      }
    }
    left -= good ? sum : 0;
  }
  numbers[verdict0] = bad;
  numbers[verdict0 + 1] = bad_count;
  numbers[verdict0 + 2] = left;
}

__kernel void repeat_starts(__global const int *counts, long counts0, long step, int wide, long slices, long chunk,
                            __global long *starts, long sums0, long items) {
  WITHIN(items)
  long first = get_global_id(0) * chunk, end = min(first + chunk, slices), start = starts[sums0 + get_global_id(0)];
  for (long i = first; i < end; i++) {
    starts[i] = start;
    start += index_at(counts, counts0 + i * step, wide);
  }
}

/* -- permutations ---------------------------------------------------------------------------------------------------- */

/* table[x[i]] = i, in a table filled with -1; a number out of range, or a repeated one, is reported. */
__kernel void find_inverse_places(__global const int *x, long x0, long step, int wide, __global int *table,
                                  __global int *fault, long items) {
  ITEM(i, items)
  long value = index_at(x, x0 + i * step, wide);
  if (value < 0 || value >= items || atomic_cmpxchg(&table[value], -1, (int)i) != -1) {
    nd4c_fault_index(fault, value, items);
  }
}

__kernel void write_table(__global const int *table, __global int *y, long y0, long step, int wide, long items) {
  ITEM(i, items)
  long at = y0 + i * step;
  if (wide) {
    ((__global long *)y)[at] = table[i];
  } else {
    y[at] = table[i];
  }
}

/* -- numbers of elements --------------------------------------------------------------------------------------------- */

typedef struct {
  long count, extent[32];
} nd4c_extents;

/* Operands: indices, y in its first row; rows are `row` apart. */
__kernel void unravel(__global const int *indices, long indices0, int wide, __global long *y, long y0, long row,
                      nd4c_walk walk, nd4c_extents shape, __global int *fault, long items) {
  ITEM(number, items)
  AT2(walk, number, indices0, y0)
  long size = 1;
  for (int axis = 0; axis < shape.count; axis++) {
    size *= shape.extent[axis];
  }
  long rest = resolve(index_at(indices, at[0], wide), size, INDEX_RAISE, fault);
  for (int axis = shape.count - 1; axis >= 0 && rest >= 0; axis--) {
    long next = rest / shape.extent[axis];
    y[at[1] + axis * row] = rest - next * shape.extent[axis];
    rest = next;
  }
}

/* Operands: indices in their first row, y. */
__kernel void ravel(__global const int *indices, long indices0, int wide, __global long *y, long y0, long row,
                    nd4c_walk walk, nd4c_extents shape, __global int *fault, long items) {
  ITEM(number, items)
  AT2(walk, number, indices0, y0)
  long sum = 0;
  for (int axis = 0; axis < shape.count; axis++) {
    long index = resolve(index_at(indices, at[0] + axis * row, wide), shape.extent[axis], INDEX_RAISE, fault);
    if (index < 0) {
      return;
    }
    sum = sum * shape.extent[axis] + index;
  }
  y[at[1]] = sum;
}
