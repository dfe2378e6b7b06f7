/* Implements shape.h, and nd4c_shapes_broadcast for programs. ops/infer computes the shapes of results here; device,
 * dispatch, graph and import check theirs. */
#include "array/shape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/status.h"
#include "nd4c/array.h"

enum { SHAPE_TEXT_SIZE = 512 };

nd4c_status nd4c_shape_size(nd4c_dtype dtype, int32_t rank, const int64_t *shape, int64_t *size) {
  const nd4c_dtype_info *info = nd4c_dtype_get_info(dtype);
  if (info == NULL || !info->available) {
    return nd4c_fail(ND4C_DTYPE, "dtype %s (%d) is not a dtype of this build", nd4c_dtype_name(dtype), (int)dtype);
  }
  if (rank < 0 || rank > ND4C_MAX_RANK) {
    return nd4c_fail(ND4C_SHAPE, "rank %d: expected 0 to %d", (int)rank, ND4C_MAX_RANK);
  }
  if (rank > 0 && shape == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "shape is NULL, rank is %d", (int)rank);
  }
  /* Extents of 0 do not hide an overflow of the others, because strides are their products. */
  int64_t count = 1, bytes = info->block_bytes;
  bool fits = true;
  for (int32_t i = 0; i < rank; i++) {
    if (shape[i] < 0) {
      char text[SHAPE_TEXT_SIZE];
      return nd4c_fail(ND4C_SHAPE, "shape %s: axis %d is negative", nd4c_shape_text(rank, shape, text, sizeof text),
                       (int)i);
    }
    fits = fits && nd4c_checked_multiply(bytes, shape[i] > 0 ? shape[i] : 1, &bytes);
    count *= fits ? shape[i] : 0;
  }
  if (!fits) {
    char text[SHAPE_TEXT_SIZE];
    return nd4c_fail(ND4C_OVERFLOW, "shape %s of %s: more bytes than int64 can count",
                     nd4c_shape_text(rank, shape, text, sizeof text), info->name);
  }
  *size = count;
  return ND4C_OK;
}

nd4c_status nd4c_shape_bytes(nd4c_dtype dtype, int32_t rank, const int64_t *shape, int64_t *bytes) {
  const nd4c_dtype_info *info = nd4c_dtype_get_info(dtype);
  if (info == NULL) {
    return nd4c_fail(ND4C_DTYPE, "dtype %d is not known", dtype);
  }
  if (!info->available) {
    return nd4c_fail(ND4C_DTYPE, "%s is not in this build (ND4C_DTYPES=lite)", info->name);
  }
  int64_t size = 0;
  ND4C_TRY(nd4c_shape_size(dtype, rank, shape, &size));
  *bytes = nd4c_dtype_bytes(dtype, size);
  return ND4C_OK;
}

bool nd4c_shape_equal(int32_t a_rank, const int64_t *a, int32_t b_rank, const int64_t *b) {
  return a_rank == b_rank && (a_rank == 0 || memcmp(a, b, (size_t)a_rank * sizeof *a) == 0);
}

void nd4c_shape_strides(int32_t rank, const int64_t *shape, int64_t *strides) {
  int64_t step = 1;
  for (int32_t i = rank - 1; i >= 0; i--) {
    strides[i] = step;
    step *= shape[i] > 0 ? shape[i] : 1;
  }
}

bool nd4c_shape_is_contiguous(int32_t rank, const int64_t *shape, const int64_t *strides) {
  int64_t step = 1;
  bool contiguous = true;
  for (int32_t i = rank - 1; i >= 0; i--) {
    if (shape[i] == 0) {
      return true;
    }
    contiguous = contiguous && (shape[i] == 1 || strides[i] == step);
    step *= contiguous ? shape[i] : 1;
  }
  return contiguous;
}

bool nd4c_layout_bounds(int32_t rank, const int64_t *shape, const int64_t *strides, int64_t *low, int64_t *high) {
  *low = 0;
  *high = 0;
  for (int32_t i = 0; i < rank; i++) {
    if (shape[i] == 0) {
      *low = 0;
      *high = -1;
      return true;
    }
  }
  for (int32_t i = 0; i < rank; i++) {
    int64_t reach;
    int64_t *bound = strides[i] < 0 ? low : high;
    if (!nd4c_checked_multiply(shape[i] - 1, strides[i], &reach) || !nd4c_checked_add(*bound, reach, bound)) {
      return false;
    }
  }
  return true;
}

nd4c_status nd4c_layout_extent(nd4c_dtype dtype, int32_t rank, const int64_t *shape, const int64_t *strides,
                               int64_t *first, int64_t *bytes) {
  int64_t low = 0, high = -1, count = 0, element = nd4c_dtype_size(dtype);
  *first = 0;
  ND4C_TRY(nd4c_shape_bytes(dtype, rank, shape, bytes));
  if (strides == NULL || element == 0) {
    return ND4C_OK; /* packed arrays have no strides but those of C order: making the handle checks them */
  }
  if (!nd4c_layout_bounds(rank, shape, strides, &low, &high) || !nd4c_checked_multiply(low, element, first) ||
      !nd4c_checked_subtract(high, low, &count) || !nd4c_checked_add(count, 1, &count) ||
      !nd4c_checked_multiply(count, element, bytes)) {
    return nd4c_fail(ND4C_OVERFLOW, "the strides reach beyond what addresses can express");
  }
  return ND4C_OK;
}

static int64_t step_of(int64_t stride) {
  return stride < 0 ? -stride : stride;
}

bool nd4c_layout_is_distinct(int32_t rank, const int64_t *shape, const int64_t *strides) {
  bool seen[ND4C_MAX_RANK] = {false};
  int64_t reach = 0; /* of the axes seen, from the first element on */
  for (int32_t i = 0; i < rank; i++) {
    int32_t shortest = -1;
    for (int32_t axis = 0; axis < rank; axis++) {
      bool shorter = shortest < 0 || step_of(strides[axis]) < step_of(strides[shortest]);
      shortest = !seen[axis] && shorter ? axis : shortest;
    }
    seen[shortest] = true;
    if (shape[shortest] > 1 && step_of(strides[shortest]) <= reach) {
      return false;
    }
    reach += shape[shortest] > 1 ? (shape[shortest] - 1) * step_of(strides[shortest]) : 0;
  }
  return true;
}

nd4c_status nd4c_shape_broadcast(int32_t a_rank, const int64_t *a, int32_t b_rank, const int64_t *b, int32_t *rank,
                                 int64_t *shape) {
  int32_t result_rank = a_rank > b_rank ? a_rank : b_rank;
  int64_t result[ND4C_MAX_RANK];
  for (int32_t i = 1; i <= result_rank; i++) {
    int64_t from_a = i <= a_rank ? a[a_rank - i] : 1;
    int64_t from_b = i <= b_rank ? b[b_rank - i] : 1;
    if (from_a != from_b && from_a != 1 && from_b != 1) {
      char a_text[SHAPE_TEXT_SIZE], b_text[SHAPE_TEXT_SIZE];
      return nd4c_fail(ND4C_SHAPE, "shapes %s and %s do not broadcast: axis %d from the end has %lld and %lld elements",
                       nd4c_shape_text(a_rank, a, a_text, sizeof a_text),
                       nd4c_shape_text(b_rank, b, b_text, sizeof b_text), (int)i, (long long)from_a, (long long)from_b);
    }
    result[result_rank - i] = from_a == 1 ? from_b : from_a;
  }
  /* `shape` may be one of the inputs. */
  for (int32_t i = 0; i < result_rank; i++) {
    shape[i] = result[i];
  }
  *rank = result_rank;
  return ND4C_OK;
}

nd4c_status nd4c_shapes_broadcast(int32_t count, const int32_t *ranks, const int64_t *const *shapes, int32_t *rank,
                                  int64_t *shape) {
  if (count < 0 || (count > 0 && (ranks == NULL || shapes == NULL)) || rank == NULL || shape == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "shapes_broadcast: a list or a result is NULL, or the count %d is negative",
                     (int)count);
  }
  int32_t common_rank = 0;
  int64_t common[ND4C_MAX_RANK];
  for (int32_t i = 0; i < count; i++) {
    if (ranks[i] < 0 || ranks[i] > ND4C_MAX_RANK || (ranks[i] > 0 && shapes[i] == NULL)) {
      return nd4c_fail(ND4C_SHAPE, "shapes_broadcast: shape %d has rank %d%s, expected 0 to %d axes", (int)i,
                       (int)ranks[i], ranks[i] > 0 && ranks[i] <= ND4C_MAX_RANK ? " without extents" : "",
                       ND4C_MAX_RANK);
    }
    for (int32_t axis = 0; axis < ranks[i]; axis++) {
      if (shapes[i][axis] < 0) {
        return nd4c_fail(ND4C_SHAPE, "shapes_broadcast: shape %d has %lld elements on axis %d, expected at least 0",
                         (int)i, (long long)shapes[i][axis], (int)axis);
      }
    }
    ND4C_TRY(nd4c_shape_broadcast(common_rank, common, ranks[i], shapes[i], &common_rank, common));
  }
  for (int32_t axis = 0; axis < common_rank; axis++) {
    shape[axis] = common[axis];
  }
  *rank = common_rank;
  return ND4C_OK;
}

void nd4c_broadcast_strides(int32_t rank, const int64_t *shape, int32_t from_rank, const int64_t *from_shape,
                            const int64_t *from_strides, int64_t *strides) {
  int32_t missing = rank - from_rank;
  for (int32_t i = 0; i < rank; i++) {
    bool repeated = i < missing || (from_shape[i - missing] == 1 && shape[i] != 1);
    strides[i] = repeated ? 0 : from_strides[i - missing];
  }
}

/* One run of old axes with as many elements as one run of new axes: the new axes can be strides over the old ones only
 * if those step through memory uniformly. */
static bool reshape_run(const int64_t *shape, const int64_t *strides, int32_t from, int32_t to,
                        const int64_t *new_shape, int64_t *new_strides, int32_t new_from, int32_t new_to) {
  for (int32_t i = from; i + 1 < to; i++) {
    if (strides[i] != strides[i + 1] * shape[i + 1]) {
      return false;
    }
  }
  int64_t step = strides[to - 1];
  for (int32_t i = new_to - 1; i >= new_from; i--) {
    new_strides[i] = step;
    step *= new_shape[i];
  }
  return true;
}

bool nd4c_reshape_strides(int32_t rank, const int64_t *shape, const int64_t *strides, int32_t new_rank,
                          const int64_t *new_shape, int64_t *new_strides) {
  int64_t old_shape[ND4C_MAX_RANK], old_strides[ND4C_MAX_RANK], size = 1;
  int32_t count = 0;
  for (int32_t i = 0; i < rank; i++) { /* axes of length 1 say nothing about memory */
    size = shape[i] == 0 ? 0 : size;
    if (shape[i] != 1) {
      old_shape[count] = shape[i];
      old_strides[count++] = strides[i];
    }
  }
  if (size == 0 || count == 0) {
    nd4c_shape_strides(new_rank, new_shape, new_strides);
    return true;
  }
  int32_t old_begin = 0, new_begin = 0;
  while (old_begin < count && new_begin < new_rank) {
    int32_t old_end = old_begin + 1, new_end = new_begin + 1;
    int64_t old_size = old_shape[old_begin], new_size = new_shape[new_begin];
    while (old_size != new_size) {
      if (new_size < old_size && new_end < new_rank) {
        new_size *= new_shape[new_end++];
      } else if (old_size < new_size && old_end < count) {
        old_size *= old_shape[old_end++];
      } else {
        return false; /* the sizes differ: the caller's mistake, but it must not loop for ever */
      }
    }
    if (!reshape_run(old_shape, old_strides, old_begin, old_end, new_shape, new_strides, new_begin, new_end)) {
      return false;
    }
    old_begin = old_end;
    new_begin = new_end;
  }
  for (int32_t i = new_begin; i < new_rank; i++) {
    new_strides[i] = 1; /* what is left has length 1 */
  }
  return old_begin == count;
}

/* 1 if `inner` should lie outside `outer`, 0 if not, -1 if no layout decides. */
static int axes_swapped(const int64_t *shape, int32_t count, const int64_t *const *like, int32_t outer, int32_t inner) {
  if (shape[outer] == 1 || shape[inner] == 1) {
    return -1;
  }
  for (int32_t i = 0; i < count; i++) {
    int64_t outer_step = like[i][outer], inner_step = like[i][inner];
    if (outer_step == 0 || inner_step == 0) {
      continue;
    }
    return llabs(outer_step) < llabs(inner_step);
  }
  return -1;
}

void nd4c_shape_strides_like(int32_t rank, const int64_t *shape, int32_t count, const int64_t *const *like,
                             int64_t *strides) {
  int32_t order[ND4C_MAX_RANK]; /* axes from the slowest to the fastest */
  for (int32_t i = 0; i < rank; i++) {
    int32_t place = i;
    for (int32_t j = i - 1; j >= 0; j--) {
      int swapped = axes_swapped(shape, count, like, order[j], i);
      if (swapped == 0) {
        break;
      }
      place = swapped > 0 ? j : place;
    }
    for (int32_t j = i; j > place; j--) {
      order[j] = order[j - 1];
    }
    order[place] = i;
  }
  int64_t step = 1;
  for (int32_t i = rank - 1; i >= 0; i--) {
    strides[order[i]] = step;
    step *= shape[order[i]] > 0 ? shape[order[i]] : 1;
  }
}

nd4c_status nd4c_axis_normalize(int64_t axis, int32_t rank, const char *what, int32_t *normalized) {
  if (axis < -(int64_t)rank || axis >= rank) {
    if (rank == 0) {
      return nd4c_fail(ND4C_INDEX, "%s %lld: the array has no axes", what, (long long)axis);
    }
    return nd4c_fail(ND4C_INDEX, "%s %lld: expected %d to %d", what, (long long)axis, -(int)rank, (int)rank - 1);
  }
  *normalized = nd4c_axis_index(axis, rank);
  return ND4C_OK;
}

const char *nd4c_shape_text(int32_t rank, const int64_t *shape, char *buffer, size_t size) {
  size_t length = 0;
  for (int32_t i = -1; i <= rank && length < size; i++) {
    char part[32];
    if (i < 0) {
      (void)snprintf(part, sizeof part, "(");
    } else if (i == rank) {
      (void)snprintf(part, sizeof part, rank == 1 ? ",)" : ")");
    } else {
      (void)snprintf(part, sizeof part, "%s%lld", i > 0 ? ", " : "", (long long)shape[i]);
    }
    int written = snprintf(buffer + length, size - length, "%s", part);
    length += (size_t)written;
  }
  if (length >= size && size >= 4) {
    (void)snprintf(buffer + size - 4, 4, "...");
  }
  return buffer;
}
