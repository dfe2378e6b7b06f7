/* The reference's view of an element: loaded into the widest number of its kind, computed there, stored back with one
 * rounding. Slow and plain on purpose, because the other engines are compared with it. The reference kernels of all
 * families call these. */
#ifndef ND4C_KERNELS_REFERENCE_SUPPORT_VALUE_H
#define ND4C_KERNELS_REFERENCE_SUPPORT_VALUE_H

#include <complex.h>
#include <stdbool.h>
#include <stdint.h>

#include "nd4c/dtype.h"

/* CMPLX of complex.h, which not every compiler has. */
static inline double complex nd4c_complex_make(double real, double imaginary) {
  union {
    double parts[2];
    double complex whole;
  } made = {{real, imaginary}};
  return made.whole;
}

/* Which member is meant follows from the kind: BOOL and UINT u, INT i, FLOAT f, COMPLEX c. */
typedef union nd4c_value {
  int64_t i;
  uint64_t u;
  double f;
  double complex c;
} nd4c_value;

/* Strided operand; strides count elements. */
typedef struct nd4c_operand {
  nd4c_dtype dtype;
  char *data; /* element 0; inputs are never written */
  const int64_t *strides;
} nd4c_operand;

/* Kind and bytes of a dtype; kind NONE and 0 bytes if this build does not compute it. Packed dtypes have a kind but 0
 * bytes: their elements are counted from an address that begins with element 0, and share bytes, so that no two threads
 * may store to one array. */
nd4c_dtype_kind nd4c_reference_kind(nd4c_dtype dtype);
int64_t nd4c_reference_bytes(nd4c_dtype dtype);

/* The element at `index` (elements) from data, in the dtype's own kind. */
nd4c_value nd4c_value_load(nd4c_dtype dtype, const char *data, int64_t index);
/* Stores a value of the dtype's own kind: integers wrap, floats are rounded once (float8 to infinity or NaN beyond its
 * largest: nd4c_value_cast is what saturates). */
void nd4c_value_store(nd4c_dtype dtype, char *data, int64_t index, nd4c_value value);
/* The same for `count` elements at start, start + stride, ... */
void nd4c_values_load(nd4c_dtype dtype, const char *data, int64_t start, int64_t stride, int64_t count,
                      nd4c_value *values);
void nd4c_values_store(nd4c_dtype dtype, char *data, int64_t start, int64_t stride, int64_t count,
                       const nd4c_value *values);
/* Moves an element as it is, NaN's bits too. */
void nd4c_value_move(nd4c_dtype dtype, const char *from, int64_t from_index, char *to, int64_t to_index);
/* Between kinds as the op `cast` says, for integers to the range of `to`: float to integer truncates, out of range
 * saturates, NaN gives 0; integer to integer wraps at the store; complex to real drops the imaginary part. */
nd4c_value nd4c_value_cast(nd4c_dtype_kind from, nd4c_value value, nd4c_dtype to);

/* A real number as a double, the real part of a complex one. */
double nd4c_value_as_double(nd4c_dtype_kind kind, nd4c_value value);
/* The largest finite number of a float dtype of 16 bits and more. */
double nd4c_reference_largest(nd4c_dtype dtype);

/* Advances `index` over `shape` in C order; false after the last. Start with zeros; rank 0 has one element. */
bool nd4c_index_next(int32_t rank, const int64_t *shape, int64_t *index);
/* Element offset of `index`. */
int64_t nd4c_index_offset(int32_t rank, const int64_t *index, const int64_t *strides);

#endif
