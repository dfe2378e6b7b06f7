/* Numbers in scratch that other kernels read. */

typedef struct {
  long numbers[64];
} nd4c_numbers;

__kernel void put_numbers(__global long *to, long begin, nd4c_numbers numbers, long items) {
  if (get_global_id(0) >= items) {
    return;
  }
  to[begin + get_global_id(0)] = numbers.numbers[get_global_id(0)];
}

/* starts[i] = the sum of the counts before i; behind them the first count that is negative or more than is left (-1:
 * none), it, and what is left of total. One work item: a sum of few numbers, and the first bad one is told. */
__kernel void repeat_starts(__global const int *counts, long counts0, long step, int wide, long slices, long total,
                            __global long *starts, long items) {
  if (get_global_id(0) >= items) {
    return;
  }
  long left = total, bad = -1, bad_count = 0;
  for (long i = 0; i < slices && bad < 0; i++) {
    long at = counts0 + i * step, count = wide ? ((__global const long *)counts)[at] : counts[at];
    starts[i] = total - left;
    if (count < 0 || count > left) {
      bad = i;
      bad_count = count;
    } else {
      left -= count;
    }
  }
  starts[slices] = bad;
  starts[slices + 1] = bad_count;
  starts[slices + 2] = left;
}
