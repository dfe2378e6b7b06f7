/* Sorting words by digits, the last one first. Where few places matter, partitions first put the words that belong
 * there next to each other. sort_portable.h includes this where no vectors sort. */

enum { NAMED(DIGIT_COUNT) = sizeof(WORD), NAMED(INSERTION_WORDS) = 40, NAMED(SAMPLE_WORDS) = 63, NAMED(FEW) = 4 };

static void NAMED(insertion_sort)(WORD *x, int64_t n) {
  for (int64_t i = 1; i < n; i++) {
    WORD word = x[i];
    int64_t place = i;
    for (; place > 0 && x[place - 1] > word; place--) {
      x[place] = x[place - 1];
    }
    x[place] = word;
  }
}

/* Digits that all words share are passed over. */
static void NAMED(radix_sort)(WORD *x, int64_t n, WORD *other) {
  int64_t counts[NAMED(DIGIT_COUNT)][256] = {{0}};
  WORD *from = x, *to = other;
  for (int64_t i = 0; i < n; i++) {
    for (int digit = 0; digit < NAMED(DIGIT_COUNT); digit++) {
      counts[digit][x[i] >> (8 * digit) & 255]++;
    }
  }
  for (int digit = 0; digit < NAMED(DIGIT_COUNT); digit++) {
    int64_t *places = counts[digit], place = 0;
    if (places[x[0] >> (8 * digit) & 255] == n) {
      continue;
    }
    for (int value = 0; value < 256; value++) {
      int64_t size = places[value];
      places[value] = place;
      place += size;
    }
    for (int64_t i = 0; i < n; i++) {
      to[places[from[i] >> (8 * digit) & 255]++] = from[i];
    }
    WORD *swap = from;
    from = to;
    to = swap;
  }
  if (from != x) {
    memcpy(x, from, (size_t)n * sizeof *x);
  }
}

static void NAMED(sort_all)(WORD *x, int64_t n, WORD *work) {
  if (n <= NAMED(INSERTION_WORDS)) {
    NAMED(insertion_sort)(x, n);
  } else {
    NAMED(radix_sort)(x, n, work);
  }
}

/* Words below the pivot first; how many there are. The others pass through `others`, room for n. Without branches:
 * which words are below cannot be foreseen. */
static int64_t NAMED(partition)(WORD *x, int64_t n, WORD pivot, WORD *others) {
  int64_t low = 0, high = 0;
  for (int64_t i = 0; i < n; i++) {
    WORD word = x[i];
    int64_t below = word < pivot;
    x[low] = word;
    others[high] = word;
    low += below;
    high += 1 - below;
  }
  memcpy(x + low, others, (size_t)high * sizeof *x);
  return low;
}

/* A word of x with about as large a share of the words below it as `place` has of n. */
static WORD NAMED(choose_pivot)(const WORD *x, int64_t n, int64_t place) {
  WORD sample[NAMED(SAMPLE_WORDS)];
  const int64_t step = n / NAMED(SAMPLE_WORDS);
  for (int64_t i = 0; i < NAMED(SAMPLE_WORDS); i++) {
    sample[i] = x[i * step + step / 2];
  }
  NAMED(insertion_sort)(sample, NAMED(SAMPLE_WORDS));
  return sample[(int64_t)((double)place / (double)n * NAMED(SAMPLE_WORDS))];
}

/* Puts what belongs at places from .. to - 1 there. Words that neither end of the places is among are not sorted. After
 * `depth` partitions that did not help enough, what is left is sorted: no input takes long. */
static void NAMED(select)(WORD *x, int64_t n, int64_t from, int64_t to, WORD *work, int32_t depth) {
  while (n > 4 * NAMED(SAMPLE_WORDS) && (to - from) * NAMED(FEW) < n && depth-- > 0) {
    const WORD pivot = NAMED(choose_pivot)(x, n, from + (to - from) / 2);
    int64_t below = NAMED(partition)(x, n, pivot, work);
    if (below == 0) { /* the pivot is the least: its equals are in place */
      below = pivot == (WORD)-1 ? n : NAMED(partition)(x, n, pivot + 1, work);
      if (to <= below) {
        return;
      }
      from = from < below ? below : from;
    }
    if (to <= below) {
      n = below;
      continue;
    }
    if (from < below) { /* places on both sides */
      NAMED(select)(x, below, from, below, work, depth);
      from = below;
    }
    x += below;
    n -= below;
    from -= below;
    to -= below;
  }
  NAMED(sort_all)(x, n, work);
}

static void NAMED(sort)(void *words, int64_t n, int64_t from, int64_t to, void *work) {
  from = from > 0 ? from : 0;
  to = to < n ? to : n;
  if (from < to) {
    NAMED(select)(words, n, from, to, work, 24);
  }
}
