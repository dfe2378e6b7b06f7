/* The loops of reduction.c for one dtype of 32 bits and more, or integer: a template of each_dtype.h, which reduction.c
 * includes; simd/reduction.c runs them. */

/* -- sums, products and norms: integers in uint64_t, where overflow wraps; a signed element is extended first -------
 */

#if KIND == ND4C_WIDE_FLOAT
#define A double
#else
#define A uint64_t
#endif
#define EXTREMES 0
#define OF(name) NAME(total_##name)
#include "kernels/cpu/reduction/runs.h"

/* One run. Sums of narrow integers are gathered in 32 bits, as many as those hold. */
ND4C_INLINED A NAME(total_piece)(enum nd4c_reduce_index op, int64_t n, const T *x) {
#if KIND == ND4C_WIDE_FLOAT
  if (sizeof(T) == 4 && (op == ND4C_REDUCE_sum || op == ND4C_REDUCE_norm1)) {
    return in_fours(op, n, (const float *)(const void *)x);
  }
  return NAME(in_double)(op, n, x);
#else
  enum { SOME = 16384 };
  uint64_t all = op == ND4C_REDUCE_prod;
  for (int64_t i = 0; op == ND4C_REDUCE_prod && i < n; i++) {
    all *= (uint64_t)x[i];
  }
  for (int64_t i = 0; op == ND4C_REDUCE_sum && i < n; i += SOME) {
    int64_t count = n - i < SOME ? n - i : SOME;
    NAME(part) part = 0;
    for (int64_t j = 0; j < count; j++) {
      part += (NAME(part))x[i + j];
    }
    all += KIND == ND4C_SIGNED && sizeof part == 4 ? (uint64_t)(int64_t)(int32_t)part : part;
  }
  return all;
#endif
}

ND4C_INLINED void NAME(total_store)(enum nd4c_reduce_index op, int64_t n, const A *a, double count, void *vy) {
#if KIND == ND4C_WIDE_FLOAT
  T *y = vy;
  for (int64_t i = 0; i < n; i++) {
    y[i] = (T)stored_total(op, a[i], count);
  }
#else
  (void)op;
  (void)count;
  memmove(vy, a, (size_t)n * sizeof *a);
#endif
}
#undef A
#undef OF
#undef EXTREMES

/* -- largest and smallest: plain loops for integers, for which the levels have instructions ------------------------ */

#define A T
#define OF(name) NAME(extreme_##name)
#define EXTREMES 1
#include "kernels/cpu/reduction/runs.h"

ND4C_INLINED T NAME(extreme_piece)(enum nd4c_reduce_index op, int64_t n, const T *x) {
#if KIND == ND4C_WIDE_FLOAT
  return NAME(extreme)(op, n, x);
#else
  T best = x[0];
  for (int64_t i = 1; i < n; i++) {
    best = op == ND4C_REDUCE_max ? (x[i] > best ? x[i] : best) : (x[i] < best ? x[i] : best);
  }
  return best;
#endif
}

ND4C_INLINED void NAME(extreme_store)(enum nd4c_reduce_index op, int64_t n, const T *a, double count, void *vy) {
  (void)op;
  (void)count;
  memmove(vy, a, (size_t)n * sizeof *a);
}
#undef A
#undef OF
#undef EXTREMES
