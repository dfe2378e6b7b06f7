/* The axes of a reduction in the order of memory: what kernels of engine simd run over when they fold some axes of a
 * tensor (reduction.c, reduction_terms.c, statistics.c, statistics_median.c). */
#ifndef ND4C_BACKENDS_CPU_SUPPORT_REDUCTION_H
#define ND4C_BACKENDS_CPU_SUPPORT_REDUCTION_H

#include <stdatomic.h>

#include "backends/cpu/cpu.h"

/* Axes stand from the slowest of x to the fastest, those of length 1 are gone, neighbours of one kind are merged. */
typedef struct nd4c_reduction {
  int32_t rank;                                                                                 /* at least 1 */
  int64_t shape[ND4C_CPU_MAX_RANK], x_strides[ND4C_CPU_MAX_RANK], y_strides[ND4C_CPU_MAX_RANK]; /* in elements */
  bool reduced[ND4C_CPU_MAX_RANK];
  char *x, *y;
  int32_t x_bytes, y_bytes;
  char *z; /* a second operand of x's shape and dtype, or NULL */
  int64_t z_strides[ND4C_CPU_MAX_RANK];
  int64_t outer_kept, outer_reduced; /* positions of the axes before the last, by kind */
  const nd4c_cancellation_scope *cancellation;
  _Atomic int32_t stopped; /* why the call has to end early; ND4C_OK: it has not to */
} nd4c_reduction;

/* ordered: reduced axes keep their direction, because the op needs positions along them. */
void nd4c_reduction_prepare(nd4c_reduction *r, const nd4c_call *call, const bool *reduced, bool keepdims, bool ordered);

/* The same for a call whose attributes begin with axes and keepdims. */
void nd4c_reduction_over_axes(nd4c_reduction *r, const nd4c_call *call);

/* As nd4c_reduction_prepare, unordered, with z as the second operand (NULL: none). */
void nd4c_reduction_prepare_pair(nd4c_reduction *r, const nd4c_call *call, const bool *reduced, bool keepdims,
                                 const nd4c_tensor *z);

/* A broadcast x may have more elements than memory, and takes as long. Elements after which a thread looks whether the
 * call is cancelled: 0.3 ms or less. */
enum { ND4C_REDUCTION_LOOK = 1 << 18 };

/* Looks, and notes what it sees. */
bool nd4c_reduction_look(const nd4c_reduction *r);

/* Between loops: whether a thread of the last one saw that. Parts of results may be missing then. */
static inline bool nd4c_reduction_stopped(const nd4c_reduction *r) {
  return atomic_load_explicit(&r->stopped, memory_order_relaxed) != ND4C_OK;
}

/* Adds `count` to the elements since the thread looked last, and looks if they are many. True: some thread saw that the
 * call has to end; its results have no value. */
static inline bool nd4c_reduction_stops(const nd4c_reduction *r, int64_t count, int64_t *since) {
  if (r->cancellation == NULL) {
    return false;
  }
  *since += count;
  if (*since < ND4C_REDUCTION_LOOK) {
    return nd4c_reduction_stopped(r);
  }
  *since = 0;
  return nd4c_reduction_look(r);
}

/* The status of the call, after all of its threads: CANCELLED or DEADLINE if one saw that it has to end. */
nd4c_status nd4c_reduction_end(const nd4c_reduction *r, const nd4c_call *call);

/* What nd4c_reduction_locate returns of x, of z. */
int64_t nd4c_reduction_locate_second(const nd4c_reduction *r, bool reduced, int64_t index);

/* Byte offset into x of position `index` among the outer axes of one kind; adds that into y to *y_offset. */
int64_t nd4c_reduction_locate(const nd4c_reduction *r, bool reduced, int64_t index, int64_t *y_offset);

/* n elements of the last axis, contiguous: in place or in the buffer. */
const char *nd4c_reduction_gather(const nd4c_reduction *r, int64_t n, const char *x, char *buffer);

/* Writes a result that was computed in double: rounded once to a float, or cast to int64. */
void nd4c_reduction_store(nd4c_dtype dtype, double value, char *y);

/* Copies the elements of a float dtype that are no NaN from x to y, which may be x; returns how many there are. */
int64_t nd4c_reduction_drop_nan(nd4c_dtype dtype, int64_t n, const char *x, char *y);

static inline int64_t nd4c_reduction_last(const nd4c_reduction *r) {
  return r->shape[r->rank - 1];
}

#endif
