/* Exponentials of a row in AVX-512's registers: a template of each_register.h, which normalization.c includes for the
 * softmax of simd/normalization.c. Replaces the functions of the same purpose in loops.h: four vectors at a time, then
 * single ones, then a part of one. */

/* y = e^(x - largest), and added to *sum. */
static inline void NAME(line)(const T *x, T largest, T *y, V *sum) {
  V e = NAME(exp_of)(OP(sub)(OP(loadu)(x), OP(set1)(largest)));
  *sum = OP(add)(*sum, e);
  if (y != NULL) {
    OP(storeu)(y, e);
  }
}

static inline T NAME(lines)(int64_t n, const T *x, T largest, T *y, bool keep) {
  enum { W = 64 / sizeof(T) };
  V sums[4];
  int64_t i = 0;
  for (int line = 0; line < 4; line++) {
    sums[line] = OP(setzero)();
  }
  for (; i + 4 * W <= n; i += 4 * W) {
    for (int line = 0; line < 4; line++) {
      const T *from = x + i + W * line;
      ND4C_PREFETCH((uintptr_t)(from + n)); /* the next row */
      NAME(line)(from, largest, keep ? y + i + W * line : NULL, &sums[line]);
    }
  }
  for (; i + W <= n; i += W) {
    NAME(line)(x + i, largest, keep ? y + i : NULL, &sums[0]);
  }
  if (i < n) {
    MASK some = (MASK)((1u << (n - i)) - 1);
    V e = NAME(exp_of)(OP(sub)(OP(maskz_loadu)(some, x + i), OP(set1)(largest)));
    sums[1] = OP(mask_add)(sums[1], some, sums[1], e);
    if (keep) {
      OP(mask_storeu)(y + i, some, e);
    }
  }
  return OP(reduce_add)(OP(add)(OP(add)(sums[0], sums[1]), OP(add)(sums[2], sums[3])));
}

/* Whole vectors of softmax_finish: how many elements those were. */
static inline int64_t NAME(finish_lines)(int64_t n, const T *x, const T *largest, const T *rest, T *y) {
  enum { W = 64 / sizeof(T) };
  int64_t i = 0;
  for (; i + W <= n; i += W) {
    V e = NAME(exp_of)(OP(sub)(OP(loadu)(x + i), OP(loadu)(largest + i)));
    OP(storeu)(y + i, OP(mul)(e, OP(loadu)(rest + i)));
  }
  return i;
}
