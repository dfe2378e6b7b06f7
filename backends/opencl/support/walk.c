/* Walks: a shape and the strides of up to four operands along it, with as few axes as they allow. The files of
 * families/ and support/ make one for each kernel that visits strided operands. */
#include <string.h>

#include "backends/opencl/support/moving.h"

enum { MOST = 64 };

/* Axes of extent 1 are dropped; two neighbouring axes are merged if every operand steps over them uniformly. */
static bool can_merge(int32_t count, int64_t (*strides)[MOST], int32_t outer, const int64_t *shape, int32_t inner) {
  for (int32_t k = 0; k < count; k++) {
    if (strides[k][outer] != strides[k][inner] * shape[inner]) {
      return false;
    }
  }
  return true;
}

static int32_t merge(int32_t rank, int64_t *shape, int32_t count, int64_t (*strides)[MOST]) {
  int32_t kept = 0;
  for (int32_t axis = 0; axis < rank; axis++) {
    if (shape[axis] == 1) {
      continue;
    }
    shape[kept] = shape[axis];
    for (int32_t k = 0; k < count; k++) {
      strides[k][kept] = strides[k][axis];
    }
    if (kept > 0 && can_merge(count, strides, kept - 1, shape, kept)) {
      shape[kept - 1] *= shape[kept];
      for (int32_t k = 0; k < count; k++) {
        strides[k][kept - 1] = strides[k][kept];
      }
    } else {
      kept++;
    }
  }
  return kept;
}

nd4c_status nd4c_cl_step_walk(const nd4c_cl_step *step, nd4c_cl_walk *walk, int32_t rank, const int64_t *shape,
                              int32_t count, const int64_t *const *strides) {
  int64_t extents[MOST], merged[ND4C_CL_WALKED][MOST], size = 1;
  for (int32_t axis = 0; axis < rank; axis++) {
    extents[axis] = shape[axis];
    size *= shape[axis];
    for (int32_t k = 0; k < count; k++) {
      merged[k][axis] = strides[k][axis];
    }
  }
  rank = size == 0 ? 0 : merge(rank, extents, count, merged);
  if (rank > ND4C_CL_RANK) {
    return nd4c_cl_step_refuse(step, "%d axes that cannot be merged; the kernels walk at most %d", (int)rank,
                               (int)ND4C_CL_RANK);
  }
  *walk = (nd4c_cl_walk){.size = size, .rank = rank};
  for (int32_t axis = 0; axis < rank; axis++) {
    walk->shape[axis] = extents[axis];
    for (int32_t k = 0; k < count; k++) {
      walk->strides[k][axis] = merged[k][axis];
    }
  }
  return ND4C_OK;
}

void nd4c_cl_broadcast_strides(const nd4c_tensor *tensor, int32_t rank, const int64_t *shape, int64_t *strides) {
  int32_t missing = tensor != NULL ? rank - tensor->rank : rank;
  for (int32_t i = 0; i < rank; i++) {
    bool own = i >= missing && tensor->shape[i - missing] == shape[i];
    strides[i] = own ? tensor->strides[i - missing] : 0;
  }
}

nd4c_status nd4c_cl_step_walk_tensors(const nd4c_cl_step *step, nd4c_cl_walk *walk, int32_t rank, const int64_t *shape,
                                      int32_t count, const nd4c_tensor *const *tensors) {
  int64_t strides[ND4C_CL_WALKED][ND4C_CL_MAX_RANK];
  const int64_t *const all[] = {strides[0], strides[1], strides[2], strides[3]};
  for (int32_t k = 0; k < count; k++) {
    nd4c_cl_broadcast_strides(tensors[k], rank, shape, strides[k]);
  }
  return nd4c_cl_step_walk(step, walk, rank, shape, count, all);
}

nd4c_status nd4c_cl_step_walk_all(const nd4c_cl_step *step, nd4c_cl_walk *walk, const nd4c_tensor *tensor) {
  return nd4c_cl_step_walk(step, walk, tensor->rank, tensor->shape, 1, &tensor->strides);
}

nd4c_status nd4c_cl_step_walk_split(const nd4c_cl_step *step, nd4c_cl_walk *kept, nd4c_cl_walk *inner, int32_t rank,
                                    const int64_t *shape, const bool *is_inner, const int32_t *counts,
                                    const int64_t *const *strides) {
  nd4c_cl_walk *const walks[] = {kept, inner};
  for (int side = 0; side < 2; side++) {
    int64_t extents[MOST], steps[ND4C_CL_WALKED][MOST];
    const int64_t *const all[] = {steps[0], steps[1], steps[2], steps[3]};
    int32_t own = 0;
    for (int32_t axis = 0; axis < rank; axis++) {
      extents[own] = shape[axis];
      for (int32_t k = 0; k < counts[side]; k++) {
        steps[k][own] = strides[k][axis];
      }
      own += is_inner[axis] == side;
    }
    ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, walks[side], own, extents, counts[side], all));
  }
  return ND4C_OK;
}
