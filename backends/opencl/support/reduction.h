/* Reductions over any axes. The families reduction and contraction launch them; others use its functions on axes and
 * types. */
#ifndef ND4C_BACKENDS_OPENCL_SUPPORT_REDUCTION_H
#define ND4C_BACKENDS_OPENCL_SUPPORT_REDUCTION_H

#include "backends/opencl/support/moving.h"

enum { ND4C_CL_AXES = 64 };

/* A reduction: one result for each place of the axes that are kept, from the elements of a (or the pairs of a and b)
 * along the other axes. */
typedef struct nd4c_cl_reduction {
  const char *gather;           /* GATHER_<what> of reduction.cl */
  const nd4c_tensor *a, *b, *y; /* dtypes, buffers, offsets; b: NULL, if there is none */
  int32_t rank;
  bool reduced[ND4C_CL_AXES];
  int64_t shape[ND4C_CL_AXES], a_strides[ND4C_CL_AXES], b_strides[ND4C_CL_AXES], y_strides[ND4C_CL_AXES];
  bool least, skip_nan;
  double parameter;
  int64_t scratch_at; /* first byte of call->scratch_buffer that is its own; a multiple of 64 */
} nd4c_cl_reduction;

/* Flags of the axes that the attribute names; where it is left out: all. */
void nd4c_cl_reduced_axes(int32_t rank, const nd4c_attr_value *axes, bool *reduced);
/* Over the axes of a, and of b of the same shape, whose flags are set. */
void nd4c_cl_reduction_over(nd4c_cl_reduction *reduction, bool keepdims);

nd4c_status nd4c_cl_reduce(const nd4c_cl_step *step, const nd4c_cl_reduction *reduction);
/* Bytes of call->scratch_buffer that it wants. */
int64_t nd4c_cl_reduction_scratch(const nd4c_call *call, const nd4c_cl_reduction *reduction);

/* Whether elements of x that become numbers of y, as the op cast says, lose something or change on the way: they must
 * be cast then (convert.cl), not merely converted to the type that y is computed in. */
static inline bool nd4c_cl_must_cast(nd4c_dtype x, nd4c_dtype y) {
  return x != y && (nd4c_cl_is_float(x) || nd4c_cl_is_float(y)) && y != ND4C_FLOAT64;
}

/* The type in which integers are added and multiplied: an unsigned one, because unsigned overflow wraps and signed
 * overflow is undefined in OpenCL C. `otherwise` for all other dtypes. */
static inline const char *nd4c_cl_wrapping(nd4c_dtype dtype, const char *otherwise) {
  return dtype == ND4C_INT32 ? "uint" : dtype == ND4C_INT64 ? "ulong" : otherwise;
}

#endif
