/* Normalisations on numbers in C order (numbers.h). The family normalization of engine reference calls these. */
#ifndef ND4C_KERNELS_REFERENCE_NORMALIZATION_NORMALIZATION_H
#define ND4C_KERNELS_REFERENCE_NORMALIZATION_NORMALIZATION_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/reference/support/tensor.h"

/* Rows that lie one behind the other: instance, group, layer and RMS norm. */
typedef struct nd4c_ref_rows_args {
  int64_t length;
  const double *x, *scale, *bias; /* scale and bias may be NULL: element number flat takes (flat / inner) % count */
  int64_t inner, count;
  double epsilon;
  bool rms;                             /* without a mean */
  double *y, *mean, *inverse_deviation; /* the last two by row, or NULL */
} nd4c_ref_rows_args;
/* Range over rows. */
void nd4c_ref_normalize_rows(const nd4c_ref_rows_args *args, int64_t begin, int64_t end);

/* The group of each element, numbered in C order of the axes that are not reduced; returns how many there are. */
int64_t nd4c_ref_group_elements(int32_t rank, const int64_t *shape, const bool *reduced, int64_t *groups);

/* Sums of |x|^p by group; p 1 and 2 exactly. */
void nd4c_ref_group_powers(int64_t size, const double *x, const int64_t *groups, double p, double *sums);
/* Turns sums of |x|^p into norms, their roots. Of a group whose sum has overflowed, or has lost digits because powers
 * were too small for a double, the sum is taken anew, in units of a power of 2 near the group's largest element.
 * `steps`: what each axis adds to the number of an element's group; `units`: room for a number of each group. */
void nd4c_ref_group_norms(const nd4c_ref_tensor *x, const int64_t *steps, int64_t count, double p, double *sums,
                          double *units);
/* Mean and population variance by group, in two passes. */
void nd4c_ref_group_statistics(int64_t size, const double *x, const int64_t *groups, int64_t count, double *mean,
                               double *variance);

#endif
