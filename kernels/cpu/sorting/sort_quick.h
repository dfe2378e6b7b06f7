/* Quicksort of words, by a partition and by networks for what is short. sort_vector.h and sort_avx2.h include this
 * after they have defined NETWORK_WORDS, LANES, FEW_SAMPLES, BUFFER_WORDS, sort_few and both partitions. */

static int64_t NAMED(partition)(WORD *x, int64_t n, WORD pivot) {
  return n <= NAMED(BUFFER_WORDS) ? NAMED(partition_short)(x, n, pivot) : NAMED(partition_long)(x, n, pivot);
}

/* The middle one of a sample. */
static WORD NAMED(choose_pivot)(const WORD *x, int64_t n) {
  WORD sample[8 * LANES];
  int64_t count = n >= 256 * LANES ? 8 * LANES : FEW_SAMPLES, step = n / count;
  for (int64_t i = 0; i < count; i++) {
    sample[i] = x[i * step + step / 2];
  }
  NAMED(sort_few)(sample, count);
  return sample[count / 2];
}

/* The middle between least and largest: halves the values, whatever they are. least + 1 at least. */
static WORD NAMED(middle_value)(const WORD *x, int64_t n) {
  WORD least = x[0], most = x[0];
  for (int64_t i = 1; i < n; i++) {
    least = x[i] < least ? x[i] : least;
    most = x[i] > most ? x[i] : most;
  }
  return least == most ? 0 : least + (most - least) / 2 + 1;
}

/* Puts what belongs at places from .. to - 1 there. After `depth` partitions that did not help enough, pivots halve the
 * range of values: no input takes long. */
static void NAMED(quicksort)(WORD *x, int64_t n, int64_t from, int64_t to, int32_t depth) {
  while (n > NAMED(NETWORK_WORDS) && from < n && to > 0) {
    WORD pivot = depth > 0 ? NAMED(choose_pivot)(x, n) : NAMED(middle_value)(x, n);
    depth--;
    int64_t below = NAMED(partition)(x, n, pivot);
    if (below == 0) { /* the pivot is the least: its equals are in place */
      if (pivot == (WORD)-1 || (pivot == 0 && depth < 0)) {
        return;
      }
      below = NAMED(partition)(x, n, pivot + 1);
    } else if (below <= n - below) {
      NAMED(quicksort)(x, below, from, to, depth);
    } else {
      NAMED(quicksort)(x + below, n - below, from - below, to - below, depth);
      n = below;
      continue;
    }
    x += below;
    n -= below;
    from -= below;
    to -= below;
  }
  if (from < n && to > 0) {
    NAMED(sort_few)(x, n);
  }
}

static void NAMED(sort)(void *words, int64_t n, int64_t from, int64_t to, void *work) {
  (void)work;
  NAMED(quicksort)(words, n, from, to, 2 * (64 - __builtin_clzll((uint64_t)n | 1)));
}
