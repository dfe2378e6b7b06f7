/* Counting and placing elements of one size that are not zero: a template of each_unit.h, which nonzero.c includes for
 * every size but 16; simd/sorting/sorting_nonzero.c and indexing_masks.c call the functions. */
#if SIZE < 16

static int64_t NAME(count)(int64_t n, const void *vx, uint64_t wide_mask) {
  const T *x = vx, mask = (T)wide_mask;
  int64_t total = 0, i = 0;
  while (i + LANES <= n) {
    T counts[LANES] = {0};
    int64_t rows = (n - i) / LANES < BLOCK ? (n - i) / LANES : BLOCK;
    for (int64_t row = 0; row < rows; row++, i += LANES) {
      for (int64_t lane = 0; lane < LANES; lane++) {
        counts[lane] = (T)(counts[lane] + ((x[i + lane] & mask) != 0));
      }
    }
    for (int64_t lane = 0; lane < LANES; lane++) {
      total += (int64_t)counts[lane];
    }
  }
  for (; i < n; i++) {
    total += (x[i] & mask) != 0;
  }
  return total;
}

static void NAME(places)(int64_t n, int64_t count, const void *vx, uint64_t wide_mask, int64_t first, int64_t *y) {
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  enum { STEP = 64 / SIZE };
  const char *x = vx;
  const __m512i wanted = SIZE == 1   ? _mm512_set1_epi8((char)wide_mask)
                         : SIZE == 2 ? _mm512_set1_epi16((short)wide_mask)
                         : SIZE == 4 ? _mm512_set1_epi32((int)wide_mask)
                                     : _mm512_set1_epi64((int64_t)wide_mask);
  int64_t i = 0, place = 0;
  for (; i + STEP <= n && place < count; i += STEP) {
    place += write_places(which_of(SIZE, _mm512_loadu_si512(x + i * SIZE), wanted), STEP, first + i, y + place);
  }
  if (place < count) {
    __m512i rest = _mm512_maskz_loadu_epi8((UINT64_C(1) << (n - i) * SIZE) - 1, x + i * SIZE);
    (void)write_places(which_of(SIZE, rest, wanted), STEP, first + i, y + place);
  }
#else
  (void)n;
  const T *x = vx, mask = (T)wide_mask;
  for (int64_t i = 0, place = 0; place < count; i++) {
    y[place] = first + i;
    place += (x[i] & mask) != 0;
  }
#endif
}
#endif
