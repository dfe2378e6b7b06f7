/* Random classes of rows of probabilities; behind philox.cl. TYPE_B is the probabilities' dtype.
 * families/random_categories.c launches these. */
#ifdef HAS_FP64
/* A row of chances, unnormalised, from word `begin` on: with `sums` each with those before it. Of rows that have none,
 * the first is told in the lower half of words[0], which is the largest number before. A work item a row: sums are
 * rounded in the reference's order. */
__kernel void read_chances(__global const STORAGE(B) *b, long b0, nd4c_walk walk, long classes, int logarithms,
                           __global ulong *words, __global double *chances, long begin, int sums, long items) {
  ITEM(row, items)
  long first = row * classes;
  double largest = -INFINITY, sum = 0;
  bool good = true;
  for (long i = 0; i < classes && logarithms; i++) {
    largest = fmax(largest, CONVERT(TYPE_B, float64, LOAD(B, b, b0 + nd4c_walk_place(&walk, 0, (INDEX)(first + i)))));
  }
  for (long i = 0; i < classes; i++) {
    double chance = CONVERT(TYPE_B, float64, LOAD(B, b, b0 + nd4c_walk_place(&walk, 0, (INDEX)(first + i))));
    good = good && !isnan(chance) && chance != INFINITY && (logarithms || chance >= 0);
    chance = logarithms ? exp(chance - largest) : chance;
    sum += chance;
    chances[begin + first + i] = sums ? sum : chance;
  }
  if (!good || !(sum > 0 && sum < INFINITY)) {
    atomic_min(UINTS(0), (uint)row);
  }
}

/* The class in whose part of the row's sum a place lies. */
__kernel void choose_classes(__global const STORAGE(A) *a, long a0, long a_step, long a_count,
                             __global const double *chances, long begin, long classes, long samples,
                             __global STORAGE(Y) *y, long y0, nd4c_walk walk, long items) {
  ITEM(i, items)
  long low = 0, high = classes - 1;
  __global const double *sums = chances + begin + i / samples * classes;
  philox state = read_state(a, a0, a_step, a_count);
  double place = unit(word64(&state, i)) * sums[classes - 1];
  while (low < high) {
    long middle = low + (high - low) / 2;
    if (sums[middle] > place) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  SAVE(Y, y, y0 + nd4c_walk_place(&walk, 0, (INDEX)i), CONVERT_LETTER(I, TYPE_Y, low));
}

/* Chances become keys: exponential waiting times, which are none below 0, by their bits; those without a chance last. */
__kernel void wait_keys(__global const STORAGE(A) *a, long a0, long a_step, long a_count, __global ulong *words,
                        long keys_at, long order_at, long classes, long items) {
  ITEM(i, items)
  philox state = read_state(a, a0, a_step, a_count);
  double chance = as_double(words[keys_at + i]), u = unit(word64(&state, i)) + 0x1p-54;
  words[keys_at + i] = as_ulong(fabs(chance > 0 ? log(u) / chance : INFINITY));
  UINTS(order_at)[i] = i % classes;
}

__kernel void write_classes(__global const ulong *words, long order_at, long classes, long samples,
                            __global STORAGE(Y) *y, long y0, nd4c_walk walk, long items) {
  ITEM(i, items)
  long row = i / samples;
  uint number = ((__global const uint *)(words + order_at))[row * classes + i - row * samples];
  SAVE(Y, y, y0 + nd4c_walk_place(&walk, 0, (INDEX)i), CONVERT_LETTER(U, TYPE_Y, number));
}
#endif
