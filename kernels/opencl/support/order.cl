/* Sorting of keys with a payload, and numbering of flags, in one scratch buffer of 64-bit words. Lists lie at word
 * offsets: keys are words, orders and numbers are uints, flags are bytes. support/ordering.c launches these for every
 * op that sorts or selects. */

#define FLAGS(at) ((__global uchar *)(words + (at)))

/* -- stable merge sort ----------------------------------------------------------------------------------------------- */

/* Runs of BLOCK elements: one work item each, by insertion. */
__kernel void sort_blocks(__global ulong *words, long keys_at, long order_at, long length, long items) {
  WITHIN(items)
  long blocks = (length + BLOCK - 1) / BLOCK, line = get_global_id(0) / blocks;
  long begin = line * length + (get_global_id(0) - line * blocks) * BLOCK, end = min(begin + BLOCK, (line + 1) * length);
  __global ulong *keys = words + keys_at;
  __global uint *order = UINTS(order_at);
  for (long i = begin + 1; i < end; i++) {
    ulong key = keys[i];
    uint payload = order[i];
    long place = i;
    for (; place > begin && keys[place - 1] > key; place--) {
      keys[place] = keys[place - 1];
      order[place] = order[place - 1];
    }
    keys[place] = key;
    order[place] = payload;
  }
}

/* Pairs of runs of `width` become one. A work item makes PART elements of the result: where its diagonal crosses the
 * merge's path is found by halves. Of equal keys the left run's come first. */
__kernel void merge_runs(__global ulong *words, long keys_at, long order_at, long to_keys_at, long to_order_at,
                         long length, long width, long items) {
  WITHIN(items)
  long parts = (length + PART - 1) / PART, line = get_global_id(0) / parts;
  long begin = (get_global_id(0) - line * parts) * PART, end = min(begin + PART, length);
  long base = begin / (2 * width) * (2 * width), middle = min(base + width, length);
  long a_count = middle - base, b_count = min(base + 2 * width, length) - middle, diagonal = begin - base;
  __global const ulong *a = words + keys_at + line * length + base, *b = a + a_count;
  __global const uint *a_order = UINTS(order_at) + line * length + base, *b_order = a_order + a_count;
  __global ulong *to = words + to_keys_at + line * length;
  __global uint *to_order = UINTS(to_order_at) + line * length;
  long low = max((long)0, diagonal - b_count), high = min(diagonal, a_count);
  while (low < high) {
    long half_way = low + (high - low) / 2;
    if (a[half_way] <= b[diagonal - 1 - half_way]) {
      low = half_way + 1;
    } else {
      high = half_way;
    }
  }
  long i = low, j = diagonal - low;
  for (long k = begin; k < end; k++) {
    bool left = j >= b_count || (i < a_count && a[i] <= b[j]);
    to[k] = left ? a[i] : b[j];
    to_order[k] = left ? a_order[i] : b_order[j];
    i += left;
    j += !left;
  }
}

/* -- the same for rows of keys that stay where they are --------------------------------------------------------------- */

/* True if row a of `length` comes after row b. */
static inline bool is_after(__global const ulong *keys, long columns, long length, uint a, uint b) {
  long a_at = found_place(a, length) * columns, b_at = found_place(b, length) * columns;
  for (long c = 0; c < columns; c++) {
    ulong x = keys[a_at + c], y = keys[b_at + c];
    if (x != y) {
      return x > y;
    }
  }
  return false;
}

__kernel void sort_row_blocks(__global ulong *words, long keys_at, long columns, long order_at, long length,
                              long items) {
  WITHIN(items)
  long begin = get_global_id(0) * (long)BLOCK, end = min(begin + BLOCK, length);
  __global uint *order = UINTS(order_at);
  for (long i = begin; i < end; i++) {
    long place = i;
    for (; place > begin && is_after(words + keys_at, columns, length, order[place - 1], i); place--) {
      order[place] = order[place - 1];
    }
    order[place] = i;
  }
}

__kernel void merge_rows(__global ulong *words, long keys_at, long columns, long order_at, long to_order_at,
                         long length, long width, long items) {
  WITHIN(items)
  long begin = get_global_id(0) * (long)PART, end = min(begin + PART, length);
  long base = begin / (2 * width) * (2 * width), middle = min(base + width, length);
  long a_count = middle - base, b_count = min(base + 2 * width, length) - middle, diagonal = begin - base;
  __global const uint *a = UINTS(order_at) + base, *b = a + a_count;
  __global uint *to = UINTS(to_order_at);
  long low = max((long)0, diagonal - b_count), high = min(diagonal, a_count);
  while (low < high) {
    long half_way = low + (high - low) / 2;
    if (is_after(words + keys_at, columns, length, a[half_way], b[diagonal - 1 - half_way])) {
      high = half_way;
    } else {
      low = half_way + 1;
    }
  }
  long i = low, j = diagonal - low;
  for (long k = begin; k < end; k++) {
    bool left = j >= b_count || (i < a_count && !is_after(words + keys_at, columns, length, a[i], b[j]));
    to[k] = left ? a[i] : b[j];
    i += left;
    j += !left;
  }
}

/* -- numbering flags --------------------------------------------------------------------------------------------------- */

/* Flags of a chunk, then the sums before each chunk, then every flag's number. */
__kernel void scan_count(__global ulong *words, long flags_at, long count, long chunk, long sums_at, long items) {
  WITHIN(items)
  long begin = get_global_id(0) * chunk, end = min(begin + chunk, count);
  ulong sum = 0;
  for (long i = begin; i < end; i++) {
    sum += FLAGS(flags_at)[i] != 0;
  }
  words[sums_at + get_global_id(0)] = sum;
}

__kernel void scan_sums(__global ulong *words, long sums_at, long chunks, long items) {
  WITHIN(items)
  ulong sum = 0;
  for (long i = 0; i < chunks; i++) {
    ulong own = words[sums_at + i];
    words[sums_at + i] = sum;
    sum += own;
  }
  words[sums_at + chunks] = sum;
}

/* chosen[number] = the place of the flag with that number; ranks[i] = flags up to and with i, less 1. */
__kernel void scan_number(__global ulong *words, long flags_at, long count, long chunk, long sums_at, long chosen_at,
                          long ranks_at, long items) {
  WITHIN(items)
  long begin = get_global_id(0) * chunk, end = min(begin + chunk, count);
  ulong number = words[sums_at + get_global_id(0)];
  for (long i = begin; i < end; i++) {
    if (FLAGS(flags_at)[i] && number < (ulong)count) { /* always, if sums are what they should be */
      UINTS(chosen_at)[number++] = i;
    }
    UINTS(ranks_at)[i] = number - 1;
  }
}

/* -- different elements ------------------------------------------------------------------------------------------------ */

/* Where a run of equal keys begins; one that is `loner` (a NaN's) is equal to none. */
__kernel void find_heads(__global ulong *words, long keys_at, int has_loner, ulong loner, long flags_at, long items) {
  ITEM(i, items)
  ulong key = words[keys_at + i];
  FLAGS(flags_at)[i] = i == 0 || words[keys_at + i - 1] != key || (has_loner && key == loner);
}

__kernel void find_row_heads(__global ulong *words, long keys_at, long columns, long order_at, int has_loner,
                             ulong loner, long flags_at, long items) {
  ITEM(i, items)
  bool head = i == 0;
  __global const ulong *own = words + keys_at + found_place(UINTS(order_at)[i], items) * columns;
  __global const ulong *before = words + keys_at + found_place(UINTS(order_at)[i > 0 ? i - 1 : 0], items) * columns;
  for (long c = 0; c < columns && !head; c++) {
    head = own[c] != before[c] || (has_loner && own[c] == loner);
  }
  FLAGS(flags_at)[i] = head;
}

/* first, last: the first and last place of each group; counts: how many it has. */
__kernel void describe_groups(__global ulong *words, long order_at, long heads_at, long groups, long count,
                              long first_at, long last_at, long counts_at, long items) {
  ITEM(g, items)
  long begin = found_place(UINTS(heads_at)[g], count);
  long end = g + 1 < groups ? found_place(UINTS(heads_at)[g + 1], count) : count;
  UINTS(first_at)[g] = UINTS(order_at)[begin];
  UINTS(last_at)[g] = UINTS(order_at)[max(end, (long)1) - 1];
  UINTS(counts_at)[g] = end - begin;
}

/* group_of[place] = the number of the group of the element that came there. */
__kernel void find_inverse(__global ulong *words, long order_at, long ranks_at, long group_of_at, long items) {
  ITEM(i, items)
  UINTS(group_of_at)[found_place(UINTS(order_at)[i], items)] = UINTS(ranks_at)[i];
}

/* Marks the first places of groups among all `count` places. */
__kernel void mark_firsts(__global ulong *words, long first_at, long flags_at, long count, long items) {
  WITHIN(items)
  FLAGS(flags_at)[found_place(UINTS(first_at)[get_global_id(0)], count)] = 1;
}

/* to[i] = list[places[i]]: numbers looked up by numbers, in a list with room for `count`. */
__kernel void look_up(__global ulong *words, long list_at, long places_at, long to_at, long count, long items) {
  ITEM(i, items)
  UINTS(to_at)[i] = UINTS(list_at)[found_place(UINTS(places_at)[i], count)];
}

/* Groups that a set operation wants: bit 1: of a alone, bit 2: of b alone, bit 4: of both. */
__kernel void find_wanted(__global ulong *words, long first_at, long last_at, long a_count, int wanted,
                          long flags_at, long items) {
  ITEM(g, items)
  bool in_a = UINTS(first_at)[g] < a_count, in_b = UINTS(last_at)[g] >= a_count;
  FLAGS(flags_at)[g] = (wanted & (in_a && in_b ? 4 : in_a ? 1 : 2)) != 0;
}

/* -- results ----------------------------------------------------------------------------------------------------------- */

/* y = numbers as int64. Operands of the walk: y, the place in the list. */
__kernel void write_numbers(__global const ulong *words, long list_at, long first, __global long *y, long y0, nd4c_walk walk,
                            long items) {
  ITEM(number, items)
  AT2(walk, number, y0, first)
  y[at[0]] = ((__global const uint *)(words + list_at))[at[1]];
}

/* y = whether the element's group has a member at or behind `a_count`; there may be `count` groups. */
__kernel void write_membership(__global const ulong *words, long group_of_at, long last_at, long count, long a_count,
                               int invert, __global uchar *y, long y0, nd4c_walk walk, long items) {
  ITEM(number, items)
  AT1(walk, number, y0)
  long group = found_place(((__global const uint *)(words + group_of_at))[number], count);
  bool found = ((__global const uint *)(words + last_at))[group] >= a_count;
  y[at[0]] = found != (invert != 0);
}

/* Positions of the chosen elements of an array: y[axis, i] or (by_row) y[i, axis], C order. */
__kernel void write_positions(__global const ulong *words, long chosen_at, long count, nd4c_walk shape, int by_row,
                              __global long *y, long y0, long items) {
  ITEM(i, items)
  long rest = ((__global const uint *)(words + chosen_at))[i];
  for (int axis = shape.rank - 1; axis >= 0; axis--) {
    long next = rest / shape.shape[axis];
    y[y0 + (by_row ? i * shape.rank + axis : axis * count + i)] = rest - next * shape.shape[axis];
    rest = next;
  }
}

/* counts[g] = how many of the sorted keys are those of group g. */
__kernel void count_groups(__global const ulong *words, long keys_at, long count, __global long *counts, long counts0,
                           long step, long items) {
  ITEM(g, items)
  ulong key = PLACE_KEY(g);
  long begin = first_not_below(words + keys_at, count, key);
  counts[counts0 + g * step] = first_not_below(words + keys_at, count, key + 1) - begin;
}
