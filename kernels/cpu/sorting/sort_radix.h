/* Sorting words by digits, the last one first. sort_portable.h includes this where no vectors sort. */

enum { NAMED(DIGIT_COUNT) = sizeof(WORD), NAMED(INSERTION_WORDS) = 40 };

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

static void NAMED(sort)(void *words, int64_t n, int64_t from, int64_t to, void *work) {
  (void)from;
  (void)to;
  if (n <= NAMED(INSERTION_WORDS)) {
    NAMED(insertion_sort)(words, n);
  } else {
    NAMED(radix_sort)(words, n, work);
  }
}
