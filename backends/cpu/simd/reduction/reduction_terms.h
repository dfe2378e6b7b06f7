/* Reductions of terms: functions of the elements of one or two operands, one to three of each, which the loops of
 * reduction.h fold. reduction_terms.c walks the operands; reduction_functions.c has a row for each op. */
#ifndef ND4C_BACKENDS_CPU_SIMD_REDUCTION_TERMS_H
#define ND4C_BACKENDS_CPU_SIMD_REDUCTION_TERMS_H

#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/reduction.h"

typedef struct nd4c_simd_terms nd4c_simd_terms;

/* n results at y, y + y_step, ... from accumulators, an array for each line. x, x + x_step, ...: the first elements of
 * the results. */
typedef void (*nd4c_simd_terms_store)(const nd4c_simd_terms *t, int64_t n, uint64_t *const *accumulators, const char *x,
                                      int64_t x_step, char *y, int64_t y_step);

/* A reduction of terms. The caller fills the first part, nd4c_simd_terms_run the rest. */
struct nd4c_simd_terms {
  nd4c_reduction axes;
  nd4c_term_map map;                       /* NULL: each line is x itself */
  int32_t lines, bytes, accumulator_bytes; /* bytes of a term, and of an accumulator of it */
  double parameter;
  const nd4c_reduction_loops *loops[ND4C_TERM_LINES];
  nd4c_simd_terms_store store;
  double (*finish)(const double *folded, double count, double parameter); /* for stores that call it */
  nd4c_dtype x_dtype, y_dtype;
  bool settles, settled_by; /* whether one accumulator that is (or is not) 0 decides the result */

  int64_t count;        /* elements of a result */
  int64_t block;        /* terms of a line that are made at once */
  int64_t length, step; /* of the reduced axis before the last one: rows that are taken together; 1 if there is none */
  int64_t z_step;
  int64_t unit_rows, row_units, pieces, units; /* of a result whose last axis is reduced */
  int64_t columns, chunks;                     /* of the last axis, if it is kept */
  int64_t share, shares;                       /* units or rows in a part of a result, and parts */
  uint64_t *partial;                           /* accumulators of the parts; NULL: a result is made at once */
};

/* Computes all results. They do not depend on `width`. The caller asks nd4c_reduction_end. */
void nd4c_simd_terms_run(nd4c_simd_terms *t, int32_t width);

/* Folds the elements of input 0 themselves over these axes into output 0 (reduction.c). */
nd4c_status nd4c_simd_reduce(const nd4c_call *call, enum nd4c_reduce_index op, const nd4c_attr_value *axes,
                             bool keepdims);
/* Reductions over the axes of a call, whose attributes begin with axes and keepdims, into output 0 of double. */
typedef nd4c_status (*nd4c_simd_row_reduction)(const nd4c_call *call);
/* Of x, the first input, and z, the second one: sums of xz; the same, where 0 z is 0 whatever x is; sums of z
 * (reduction_functions.c). */
nd4c_status nd4c_simd_sum_products(const nd4c_call *call);
nd4c_status nd4c_simd_sum_scores(const nd4c_call *call);
nd4c_status nd4c_simd_sum_targets(const nd4c_call *call);
/* Means, into an output 0 of any float dtype (reduction_functions.c). */
nd4c_status nd4c_simd_mean(const nd4c_call *call);
/* Sums of |x|^p (reduction_functions.c). */
nd4c_status nd4c_simd_sum_powers(const nd4c_call *call, double p);
/* Logarithms of the sums of exponentials; means, and variances into output 1, which has output 0's strides
 * (statistics.c). */
nd4c_status nd4c_simd_logsumexp(const nd4c_call *call);
nd4c_status nd4c_simd_moments(const nd4c_call *call);
/* y = the first input - rows, which lack its axis and are of double without gaps (reduction_normalize.c). */
void nd4c_simd_subtract_rows(const nd4c_call *call, int32_t axis, const nd4c_tensor *rows, const nd4c_tensor *y);

#endif
