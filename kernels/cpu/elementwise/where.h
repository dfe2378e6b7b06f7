/* y[i] = condition[i] ? a[i] : b[i] of elements of one size: a template of each_unit.h, which cast.c includes.
 * simd/elementwise.c runs it for `where`, simd/indexing_masks.c for masked updates. */
static void NAME(where)(int64_t n, const uint8_t *condition, const void *va, const void *vb, void *vy) {
  const T *a = va, *b = vb;
  T *y = vy;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    T chosen = a[i], other = b[i];
#if SIZE == 16 /* a vector: without a branch */
    y[i] = other ^ ((chosen ^ other) & ((T){0} - (uint8_t)(condition[i] != 0)));
#else
    y[i] = condition[i] ? chosen : other;
#endif
  }
}
