/* Walks: a shape and the strides of up to four operands along it, with as few axes as they allow. Families make one
 * before a launch, most of them through support/moving.c. */
#include <stdio.h>
#include <string.h>

#include "backends/opencl/runtime/opencl.h"

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

static bool finish(nd4c_cl_walk *walk, int32_t rank, int64_t *shape, int32_t count, int64_t (*strides)[MOST],
                   const bool *there, char *reason, size_t reason_size) {
  int64_t size = 1;
  for (int32_t axis = 0; axis < rank; axis++) {
    size *= shape[axis];
  }
  rank = size == 0 ? 0 : merge(rank, shape, count, strides);
  if (rank > ND4C_CL_RANK) {
    (void)snprintf(reason, reason_size, "%d axes that cannot be merged; the kernels walk at most %d", (int)rank,
                   (int)ND4C_CL_RANK);
    return false;
  }
  memset(walk, 0, sizeof *walk);
  walk->size = size;
  walk->rank = rank;
  walk->contiguous = rank <= 1;
  for (int32_t axis = 0; axis < rank; axis++) {
    walk->shape[axis] = shape[axis];
    for (int32_t k = 0; k < count; k++) {
      walk->strides[k][axis] = strides[k][axis];
      walk->contiguous = walk->contiguous && (!there[k] || strides[k][axis] == 1);
    }
  }
  return true;
}

bool nd4c_cl_walk_make(nd4c_cl_walk *walk, int32_t rank, const int64_t *shape, int32_t count,
                       const nd4c_tensor *const *tensors, char *reason, size_t reason_size) {
  int64_t extents[MOST], strides[ND4C_CL_WALKED][MOST] = {{0}};
  bool there[ND4C_CL_WALKED] = {false};
  for (int32_t axis = 0; axis < rank; axis++) {
    extents[axis] = shape[axis];
  }
  for (int32_t k = 0; k < count; k++) {
    const nd4c_tensor *tensor = tensors[k];
    there[k] = tensor != NULL;
    int32_t missing = tensor != NULL ? rank - tensor->rank : rank;
    for (int32_t axis = missing; axis < rank; axis++) {
      strides[k][axis] = tensor->shape[axis - missing] == shape[axis] ? tensor->strides[axis - missing] : 0;
    }
  }
  return finish(walk, rank, extents, count, strides, there, reason, reason_size);
}

bool nd4c_cl_walk_strides(nd4c_cl_walk *walk, int32_t rank, const int64_t *shape, int32_t count,
                          const int64_t *const *given, char *reason, size_t reason_size) {
  int64_t extents[MOST], strides[ND4C_CL_WALKED][MOST] = {{0}};
  const bool there[ND4C_CL_WALKED] = {true, true, true, true};
  for (int32_t axis = 0; axis < rank; axis++) {
    extents[axis] = shape[axis];
    for (int32_t k = 0; k < count; k++) {
      strides[k][axis] = given[k][axis];
    }
  }
  return finish(walk, rank, extents, count, strides, there, reason, reason_size);
}
