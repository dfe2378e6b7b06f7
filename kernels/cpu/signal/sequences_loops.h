/* The loops of sequences.c for one type of elements, T: a template that sequences.c includes for doubles and words;
 * simd/signal/signal_convolve.c runs them. */

typedef T NAME(lanes) __attribute__((vector_size(REGISTER)));

ND4C_INLINED T NAME(add_terms)(T sum, const T *a, const T *b, int64_t place, int64_t from, int64_t to) {
  for (int64_t j = from; j < to; j++) {
    sum += a[place - j] * b[j];
  }
  return sum;
}

/* BLOCK sums in y, to which each b[j] from `from` on is common; they begin with those in y, or with zeros. */
ND4C_INLINED void NAME(add_common)(bool begun, const T *a, const T *b, int64_t place, int64_t from, int64_t to, T *y) {
  NAME(lanes) first = {0}, second = {0}, third = {0}, fourth = {0};
  if (begun) {
    memcpy(&first, y, sizeof first);
    memcpy(&second, y + LANES, sizeof second);
    memcpy(&third, y + 2 * LANES, sizeof third);
    memcpy(&fourth, y + 3 * LANES, sizeof fourth);
  }
  for (int64_t j = from; j < to; j++) {
    const T *x = a + (place - j), factor = b[j];
    NAME(lanes) v;
    memcpy(&v, x, sizeof v);
    first += v * factor;
    memcpy(&v, x + LANES, sizeof v);
    second += v * factor;
    memcpy(&v, x + 2 * LANES, sizeof v);
    third += v * factor;
    memcpy(&v, x + 3 * LANES, sizeof v);
    fourth += v * factor;
  }
  memcpy(y, &first, sizeof first);
  memcpy(y + LANES, &second, sizeof second);
  memcpy(y + 2 * LANES, &third, sizeof third);
  memcpy(y + 3 * LANES, &fourth, sizeof fourth);
}

/* The same for `width` sums, some of which lack terms of others. */
static void NAME(add_edge)(const nd4c_sequence_pair *pair, int64_t place, int64_t width, T *y) {
  const T *a = pair->a, *b = pair->b;
  const int64_t m = pair->m, n = pair->n, from = most_of(place + width - m, 0);
  const int64_t to = width < BLOCK ? from : most_of(least_of(place + 1, n), from);
  for (int64_t l = 0; l < width; l++) {
    const int64_t own = most_of(place + l - m + 1, 0), end = least_of(place + l + 1, n);
    y[l] = NAME(add_terms)(0, a, b, place + l, own, least_of(from, end));
  }
  if (from < to) {
    NAME(add_common)(true, a, b, place, from, to, y);
  }
  for (int64_t l = 0; l < width; l++) {
    y[l] = NAME(add_terms)(y[l], a, b, place + l, to, least_of(place + l + 1, n));
  }
}

static void NAME(convolve)(const nd4c_sequence_pair *pair, int64_t first, int64_t count, void *vy) {
  T *y = vy;
  for (int64_t i = 0; i < count; i += BLOCK) {
    const int64_t place = first + i, width = least_of(BLOCK, count - i);
    if (width == BLOCK && place + 1 >= pair->n && place + BLOCK <= pair->m) {
      NAME(add_common)(false, pair->a, pair->b, place, 0, pair->n, y + i);
    } else {
      NAME(add_edge)(pair, place, width, y + i);
    }
  }
}
