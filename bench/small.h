/* Loops over calls on small arrays, which measure the overhead of a call. */
#ifndef ND4C_BENCH_SMALL_H
#define ND4C_BENCH_SMALL_H

#include <nd4c/nd4c.h>

typedef enum bench_small {
  BENCH_SMALL_INTO = 0,  /* y = a + b, into y */
  BENCH_SMALL_FRESH = 1, /* a + b, into a fresh array that is released */
  BENCH_SMALL_VIEW = 2,  /* a view of a without its first element, released */
  BENCH_SMALL_SUM = 3    /* sum of a into a fresh array that is released */
} bench_small;

/* Nanoseconds per call for `calls` calls; negative if a call failed. */
ND4C_API double bench_small_calls(int which, const nd4c_array *a, const nd4c_array *b, nd4c_array *y, int64_t calls);

#endif
