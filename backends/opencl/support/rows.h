/* Rows that a kernel first gathers statistics of and then writes (rows.cl). families/normalization.c uses it. */
#ifndef ND4C_BACKENDS_OPENCL_SUPPORT_ROWS_H
#define ND4C_BACKENDS_OPENCL_SUPPORT_ROWS_H

#include "backends/opencl/support/reduction.h"

typedef enum nd4c_cl_rows_extra {
  ND4C_CL_ROWS_PLAIN,
  ND4C_CL_ROWS_STATISTICS, /* two results a row, walked with it */
  ND4C_CL_ROWS_RUNNING,    /* four vectors by row: running mean and variance, before and after */
  ND4C_CL_ROWS_LIMIT       /* a second parameter */
} nd4c_cl_rows_extra;

/* Axes of x, those of a row flagged; scale and bias have strides by them (0 where they are broadcast). */
typedef struct nd4c_cl_rows {
  const char *what; /* ROW_<what> */
  const nd4c_tensor *x, *y, *scale, *bias;
  int32_t rank;
  bool inner[ND4C_CL_AXES];
  int64_t shape[ND4C_CL_AXES], x_strides[ND4C_CL_AXES], y_strides[ND4C_CL_AXES], scale_strides[ND4C_CL_AXES],
      bias_strides[ND4C_CL_AXES];
  bool of_pairs;           /* x lies in memory as pairs of floats (real.cl) */
  double parameter, limit; /* limit: momentum of RUNNING, too */
  nd4c_cl_rows_extra extra;
  const nd4c_tensor *statistics[2], *running[2];
  int64_t statistics_strides[2][ND4C_CL_AXES];
} nd4c_cl_rows;

nd4c_status nd4c_cl_rows_step(const nd4c_cl_step *step, const nd4c_cl_rows *rows);

#endif
