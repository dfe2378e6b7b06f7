/* Elements that fall into bins become keys: the bin's number, or NO_PLACE. Sorting brings those of a bin together in
 * the order in which they came, so that sums of weights are added in the reference's order. TYPE_A is the dtype of the
 * operand that a kernel reads or writes. families/sorting_counts.c launches these. */

/* Numbers 0 .. limit - 1 as keys; combine: the keys that stand there times limit, plus the number. The number itself is
 * put at raw. verdict[0] = the least place of a number out of range, verdict[1] = the largest number; a count and -1
 * before. */
__kernel void number_keys(__global const STORAGE(A) *x, long x0, __global ulong *words, long keys_at, long order_at,
                          long raw_at, nd4c_walk walk, long limit, int combine, __global int *verdict, long verdict_at,
                          long items) {
  ITEM(number, items)
  AT1(walk, number, x0)
  long value = (long)LOAD(A, x, at[0]);
  bool valid = value >= 0 && value < limit;
  ulong before = words[keys_at + number];
  long base = combine ? (long)PLACE_KEY(before) * limit : 0;
  words[raw_at + number] = (ulong)value;
  words[keys_at + number] = valid && !(combine && before == NO_PLACE) ? PLACE_KEY(base + value) : NO_PLACE;
  UINTS(order_at)[number] = number;
  if (valid) {
    atomic_max(&verdict[verdict_at + 1], (int)value);
  } else {
    atomic_min(&verdict[verdict_at], (int)number);
  }
}

/* y = counts, or (weighted) sums of doubles. */
__kernel void write_totals(__global const ulong *words, long totals_at, int weighted, __global STORAGE(A) *y, long y0,
                           nd4c_walk walk, long items) {
  ITEM(number, items)
  AT1(walk, number, y0)
#ifdef HAS_FP64
  if (weighted) {
    SAVE(A, y, at[0], (COMPUTE(A))as_double(words[totals_at + number]));
    return;
  }
#endif
  SAVE(A, y, at[0], (COMPUTE(A))(long)words[totals_at + number]);
}

/* y[i] = the target's prediction is finite and fewer than k of its row are greater. */
__kernel void in_top_k(__global const STORAGE(A) *x, long x0, long row, long column, long classes,
                       __global const int *targets, long targets0, long step, int wide, long k, __global uchar *y,
                       long y0, long y_step, long items) {
  ITEM(i, items)
  long greater = 0;
  long target = index_at(targets, targets0 + i * step, wide);
  bool known = target >= 0 && target < classes;
  COMPUTE(A) own = known ? LOAD(A, x, x0 + i * row + target * column) : 0;
  for (long c = 0; known && c < classes; c++) {
    greater += LOAD(A, x, x0 + i * row + c * column) > own;
  }
  y[y0 + i * y_step] = known && own - own == 0 && greater < k;
}

#ifdef HAS_FP64

/* Least, largest and whether all are finite, of chunks of elements: three words each; then of all of them. */
__kernel void find_extents(__global const STORAGE(A) *x, long x0, nd4c_walk walk, long chunk, __global double *parts,
                           long parts0, long items) {
  long begin = get_global_id(0) * chunk, end = min(begin + chunk, walk.size);
  WITHIN(items)
  parts += parts0;
  double low = INFINITY, high = -INFINITY, finite = 1;
  for (long i = begin; i < end; i++) {
    long at[1] = {x0};
    PLACES(walk, i, 1, at)
    double value = (double)LOAD(A, x, at[0]);
    finite = isfinite(value) ? finite : 0;
    low = value < low ? value : low;
    high = value > high ? value : high;
  }
  parts[3 * get_global_id(0)] = low;
  parts[3 * get_global_id(0) + 1] = high;
  parts[3 * get_global_id(0) + 2] = finite;
}

__kernel void join_extents(__global double *parts, long parts0, long chunks, long items) {
  parts += parts0;
  WITHIN(1)
  for (long i = 1; i < chunks; i++) {
    parts[0] = fmin(parts[0], parts[3 * i]);
    parts[1] = fmax(parts[1], parts[3 * i + 1]);
    parts[2] = fmin(parts[2], parts[3 * i + 2]);
  }
}

/* Equally spaced edges as the dtype holds them: into y and as doubles. */
__kernel void space_edges(__global STORAGE(A) *y, long y0, long step, __global double *edges, long edges_at, double low,
                          double high, long bins, long items) {
  ITEM(i, items)
  if (low == high) {
    low -= 0.5;
    high += 0.5;
  }
  double width = (high - low) / (double)bins;
  SAVE(A, y, y0 + i * step, (COMPUTE(A))(i == bins ? high : low + (double)i * width));
  edges[edges_at + i] = (double)LOAD(A, y, y0 + i * step);
}

/* Edges given, as doubles. verdict[0] = the least place of one that is NaN or less than the one before. */
__kernel void take_edges(__global const STORAGE(A) *x, long x0, long step, __global double *edges, long edges_at,
                         __global int *verdict, long verdict_at, long items) {
  ITEM(i, items)
  double own = (double)LOAD(A, x, x0 + i * step), before = i > 0 ? (double)LOAD(A, x, x0 + (i - 1) * step) : own;
  edges[edges_at + i] = own;
  if (own != own || own < before) {
    atomic_min(&verdict[verdict_at], (int)i);
  }
}

/* Edges into an output of another dtype or place. */
__kernel void write_edges(__global const double *edges, long edges_at, __global STORAGE(A) *y, long y0, long step,
                          long items) {
  ITEM(i, items)
  SAVE(A, y, y0 + i * step, (COMPUTE(A))edges[edges_at + i]);
}

/* Bin of x among ascending edges, the last one closed; -1 if it lies in none. */
static inline long bin_of(__global const double *edges, long bins, double x) {
  if (bins == 0 || !(x >= edges[0] && x <= edges[bins])) {
    return -1;
  }
  double part = (x - edges[0]) / (edges[bins] - edges[0]) * (double)bins;
  long guess = part > 0 && part < (double)bins ? (long)part : 0, low = 0, high = bins - 1;
  /* Equal bins: next to the guess. Others: by halves. */
  if (x >= edges[guess] && (guess == bins - 1 || x < edges[guess + 1])) {
    return guess;
  }
  while (low < high) {
    long middle = low + (high - low + 1) / 2;
    if (x >= edges[middle]) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

/* fixed: equal bins over low .. high, where elements beyond count in the bin at that end and NaN in none. */
__kernel void bin_keys(__global const STORAGE(A) *x, long x0, __global ulong *words, long keys_at, long order_at,
                       nd4c_walk walk, long edges_at, long bins, int fixed, double low, double high, long items) {
  ITEM(number, items)
  AT1(walk, number, x0)
  long bin;
  double value = (double)LOAD(A, x, at[0]);
  if (fixed) {
    double part = floor((value - low) / (high - low) * (double)bins);
    bin = part != part ? -1 : part < 0 ? 0 : part >= (double)bins ? bins - 1 : (long)part;
  } else {
    bin = bin_of((__global const double *)(words + edges_at), bins, value);
  }
  words[keys_at + number] = bin < 0 ? NO_PLACE : PLACE_KEY(bin);
  UINTS(order_at)[number] = number;
}

/* totals[g] = the sum of the weights of the elements of bin g, in their order. */
__kernel void weigh_groups(__global ulong *words, long keys_at, long order_at, long count,
                           __global const STORAGE(A) *weights, long weights0, nd4c_walk walk, long totals_at,
                           long items) {
  ITEM(g, items)
  double sum = 0;
  for (long i = first_not_below(words + keys_at, count, PLACE_KEY(g));
       i < count && words[keys_at + i] == PLACE_KEY(g); i++) {
    long at[1] = {weights0};
    PLACES(walk, found_place(UINTS(order_at)[i], walk.size), 1, at)
    sum += (double)LOAD(A, weights, at[0]);
  }
  words[totals_at + g] = as_ulong(sum);
}

/* Totals divided by all of them and by the bins' widths; one work item adds them up in their order first. */
__kernel void add_totals(__global ulong *words, long totals_at, long bins, int weighted, long sum_at, long items) {
  WITHIN(1)
  double sum = 0;
  for (long i = 0; i < bins; i++) {
    ulong total = words[totals_at + i];
    sum += weighted ? as_double(total) : (double)(long)total;
  }
  words[sum_at] = as_ulong(sum);
}

__kernel void make_density(__global ulong *words, long totals_at, int weighted, long sum_at, long edges_at,
                           long items) {
  ITEM(i, items)
  __global const double *edges = (__global const double *)(words + edges_at);
  double total = weighted ? as_double(words[totals_at + i]) : (double)(long)words[totals_at + i];
  words[totals_at + i] = as_ulong(total / (edges[i + 1] - edges[i]) / as_double(words[sum_at]));
}
#endif
