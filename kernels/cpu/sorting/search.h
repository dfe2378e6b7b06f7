/* Searching words of one width, side by side and without branches: all searches halve the same lengths. sort_portable.h
 * and sort_vector.h include it with WORD and NAMED(x) defined; simd/sorting/sorting_search.c calls the searches. */

/* Among few keys the place is the number of those that are less, counted without a dependence on what is loaded. */
ND4C_INLINED void NAMED(search_few)(bool after, int64_t n, const WORD *words, const WORD *keys, int64_t count,
                                    int64_t *places) {
  for (int64_t i = 0; i < n; i += BESIDE) {
    const int64_t beside = n - i < BESIDE ? n - i : BESIDE;
    WORD wanted[BESIDE] = {0}, below[BESIDE] = {0};
    for (int64_t k = 0; k < beside; k++) {
      wanted[k] = words[i + k];
    }
    for (int64_t j = 0; j < count; j++) {
      const WORD key = keys[j];
      ND4C_INDEPENDENT
      for (int64_t k = 0; k < BESIDE; k++) {
        below[k] += after ? key <= wanted[k] : key < wanted[k];
      }
    }
    for (int64_t k = 0; k < beside; k++) {
      places[i + k] = (int64_t)below[k];
    }
  }
}

static void NAMED(search)(int64_t n, const void *vwords, const void *vkeys, int64_t count, bool after,
                          int64_t *places) {
  const WORD *words = vwords, *keys = vkeys;
  if (count <= FEW_KEYS) {
    if (after) {
      NAMED(search_few)(true, n, words, keys, count, places);
    } else {
      NAMED(search_few)(false, n, words, keys, count, places);
    }
    return;
  }
  for (int64_t i = 0; i < n; i += BESIDE) {
    int64_t beside = n - i < BESIDE ? n - i : BESIDE, length = count;
    WORD wanted[BESIDE], least = 0;
    int64_t base[BESIDE] = {0};
    for (int64_t k = 0; k < BESIDE; k++) {
      wanted[k] = k < beside ? words[i + k] : least;
    }
    while (length > 1) {
      int64_t half = length / 2;
      ND4C_INDEPENDENT
      for (int64_t k = 0; k < BESIDE; k++) {
        WORD at = keys[base[k] + half - 1];
        int64_t moves = (int64_t)(at < wanted[k]) | ((int64_t)after & (int64_t)(at == wanted[k]));
        base[k] += -moves & half;
      }
      length -= half;
    }
    for (int64_t k = 0; k < beside; k++) {
      WORD at = length > 0 ? keys[base[k]] : 0;
      places[i + k] = base[k] + (length > 0 && (at < wanted[k] || (after && at == wanted[k])));
    }
  }
}
