/* Implements judge.h with judge.cl: launches the check, and waits for the verdict. random_laws.c and image_boxes.c call
 * it. */
#include "backends/opencl/support/judge.h"

/* As judge.cl writes it, one for each tensor. */
typedef struct verdict {
  uint32_t place, unused;
  double value;
} verdict;
_Static_assert(ND4C_CL_JUDGED * sizeof(verdict) == ND4C_CL_JUDGE_BYTES, "scratch for the verdicts");

nd4c_status nd4c_cl_judge_check(const nd4c_cl_step *step, int32_t count, const nd4c_tensor *const *tensors) {
  if (!nd4c_cl_fp64_usable(step->call->device, step->reason, step->reason_size)) {
    return ND4C_UNSUPPORTED;
  }
  for (int32_t k = 0; k < count; k++) {
    nd4c_cl_walk walk;
    if (tensors[k]->size > INT32_MAX) {
      return nd4c_cl_step_refuse(step, "%lld parameters, more than 31 bits can number", (long long)tensors[k]->size);
    }
    ND4C_BACKEND_TRY(nd4c_cl_step_walk_all(step, &walk, tensors[k]));
  }
  return ND4C_OK;
}

/* told: the place whose value is read; -1: find the place of the first outlier. */
static nd4c_status launch_judge(const nd4c_call *call, int32_t slot, const nd4c_tensor *x, nd4c_cl_range range,
                                int64_t told) {
  const nd4c_cl_step step = {.call = call};
  nd4c_cl_walk walk;
  ND4C_BACKEND_TRY(nd4c_cl_step_walk_all(&step, &walk, x));
  return ND4C_CL_RUN_TYPED(call, "convert+judge", "judge", x->dtype, walk.size, ND4C_CL_IN(x), ND4C_CL_VALUE(walk),
                           ND4C_CL_DOUBLE(range.least, range.most), ND4C_CL_INT(range.whole),
                           ND4C_CL_SCRATCH(READ_WRITE), ND4C_CL_SCRATCH(READ_WRITE), ND4C_CL_LONG(slot, told));
}

nd4c_status nd4c_cl_judge(const nd4c_call *call, int32_t count, const nd4c_tensor *const *tensors,
                          const nd4c_cl_range *ranges, nd4c_cl_outlier *outlier) {
  const uint32_t none = UINT32_MAX;
  verdict verdicts[ND4C_CL_JUDGED];
  int64_t bytes = count * (int64_t)sizeof verdicts[0];
  *outlier = (nd4c_cl_outlier){.tensor = -1};
  ND4C_BACKEND_TRY(nd4c_cl_fill(call, call->scratch_buffer, 0, bytes, &none, sizeof none));
  for (int32_t k = 0; k < count; k++) {
    ND4C_BACKEND_TRY(launch_judge(call, k, tensors[k], ranges[k], -1));
  }
  ND4C_BACKEND_TRY(nd4c_cl_read_back(call, call->scratch_buffer, 0, verdicts, bytes));
  for (int32_t k = 0; k < count && outlier->tensor < 0; k++) {
    if (verdicts[k].place != none) {
      *outlier = (nd4c_cl_outlier){.tensor = k, .place = verdicts[k].place};
    }
  }
  if (outlier->tensor < 0) {
    return ND4C_OK;
  }
  ND4C_BACKEND_TRY(
      launch_judge(call, outlier->tensor, tensors[outlier->tensor], ranges[outlier->tensor], outlier->place));
  ND4C_BACKEND_TRY(nd4c_cl_read_back(call, call->scratch_buffer, 0, verdicts, bytes));
  outlier->value = verdicts[outlier->tensor].value;
  return ND4C_OK;
}
