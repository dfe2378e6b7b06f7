/* Runs of one element: a template of each_unit.h, which creation.c includes. */
static void NAME(fill)(int64_t n, const void *element, void *vy) {
  const T lone = *(const T *)element;
  T *y = vy;
  for (int64_t i = 0; i < n; i++) {
    y[i] = lone;
  }
}
