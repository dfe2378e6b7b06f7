/* Checks of parameters' values on the device, for ops that refuse invalid values before they write anything
 * (random_laws.c, image_boxes.c). */
#ifndef ND4C_BACKENDS_OPENCL_SUPPORT_JUDGE_H
#define ND4C_BACKENDS_OPENCL_SUPPORT_JUDGE_H

#include "backends/opencl/support/moving.h"

enum { ND4C_CL_JUDGED = 2 /* tensors at once */, ND4C_CL_JUDGE_BYTES = 16 * ND4C_CL_JUDGED /* of scratch */ };

/* The range of an element; NaN is always invalid. */
typedef struct nd4c_cl_range {
  double least, most;
  bool whole;
} nd4c_cl_range;

/* The first invalid element, in C order, of the first tensor that has one. */
typedef struct nd4c_cl_outlier {
  int32_t tensor; /* -1: there is none */
  int64_t place;
  double value;
} nd4c_cl_outlier;

/* `scratch` of kernels that need it for nothing else. */
static inline int64_t nd4c_cl_judge_scratch(const nd4c_call *call) {
  (void)call;
  return ND4C_CL_JUDGE_BYTES;
}
/* Refuses tensors that cannot be checked: they are read as float64, at most 2^31 elements of each. */
nd4c_status nd4c_cl_judge_check(const nd4c_cl_step *step, int32_t count, const nd4c_tensor *const *tensors);
/* Checks on the device, with the verdict in the scratch buffer's first bytes, and waits for it. */
nd4c_status nd4c_cl_judge(const nd4c_call *call, int32_t count, const nd4c_tensor *const *tensors,
                          const nd4c_cl_range *ranges, nd4c_cl_outlier *outlier);

#endif
