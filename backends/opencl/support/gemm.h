/* Matrix products by tiles, for operands with any strides. The families contraction and attention use it; clblast reads
 * its calls with it. */
#ifndef ND4C_BACKENDS_OPENCL_SUPPORT_GEMM_H
#define ND4C_BACKENDS_OPENCL_SUPPORT_GEMM_H

#include "backends/opencl/support/moving.h"

/* The same struct as in gemm.cl: extents, and strides in elements. */
typedef struct nd4c_cl_matrices {
  int64_t m, n, k;
  int64_t a_row, a_column, b_row, b_column, y_row, y_column;
  int64_t bias_row, bias_column, addend_row, addend_column;
} nd4c_cl_matrices;

typedef struct nd4c_cl_gemm {
  nd4c_cl_walk batch; /* a, b, y */
  nd4c_cl_walk more;  /* bias, addend */
  nd4c_cl_matrices matrices;
  const nd4c_tensor *a, *b, *y, *bias, *addend; /* the last two: NULL, if there is none */
  bool epilogue;
  const char *sum; /* the type that products are summed in; NULL: by y's dtype */
  int64_t activation;
} nd4c_cl_gemm;

/* Whether a tile would be full enough to be worth it. */
bool nd4c_cl_gemm_pays(int64_t m, int64_t n, int64_t k);
/* Whether a work item computes a tile by itself, in vectors (DOWN and ACROSS of gemm.cl): sums in float, on processors.
 */
bool nd4c_cl_gemm_by_vectors(const nd4c_call *call, const nd4c_cl_gemm *gemm);
/* Work items along the side of a tile's group: as many as the device takes with sums of so many bytes. */
int64_t nd4c_cl_gemm_side(const nd4c_call *call, int64_t bytes);
/* The products of a call of matmul; a step that is refused if its batch has too many axes. */
nd4c_status nd4c_cl_matmul_plan(const nd4c_cl_step *step, nd4c_cl_gemm *gemm);
nd4c_status nd4c_cl_gemm_run(const nd4c_cl_step *step, const nd4c_cl_gemm *gemm);

#endif
