/* Plans that move blocks of elements, and checks of indices (move.h). The files of this folder and engine reference
 * call these. */
#include "kernels/reference/indexing/move.h"

/* -- plans --------------------------------------------------------------------------------------------------------- */

void nd4c_ref_plan_make(nd4c_ref_plan *plan, nd4c_ref_row row, nd4c_dtype dtype, int32_t rank, const int64_t *shape,
                        const int64_t *from_strides, const int64_t *to_strides) {
  int64_t bytes = nd4c_reference_bytes(dtype);
  int32_t last = 0;
  plan->bytes = bytes;
  plan->size = 1;
  plan->shape[0] = 1;
  plan->from[0] = plan->to[0] = bytes;
  for (int32_t i = 0; i < rank; i++) {
    int64_t from = from_strides[i] * bytes, to = to_strides[i] * bytes;
    plan->size *= shape[i];
    if (shape[i] == 1) {
      continue;
    }
    if (plan->shape[last] == 1) {
      plan->shape[last] = shape[i];
    } else if (plan->from[last] == from * shape[i] && plan->to[last] == to * shape[i]) {
      plan->shape[last] *= shape[i];
    } else {
      plan->shape[++last] = shape[i];
    }
    plan->from[last] = from;
    plan->to[last] = to;
  }
  plan->rank = last + 1;
  plan->row = row != NULL ? row : nd4c_ref_copy_row(bytes, plan->from[last], plan->to[last]);
}

static void run_axis(const nd4c_ref_plan *plan, int32_t axis, int64_t count, const char *from, char *to) {
  if (axis == plan->rank - 1) {
    plan->row(count, plan->bytes, from, plan->from[axis], to, plan->to[axis]);
    return;
  }
  for (int64_t i = 0; i < count; i++) {
    run_axis(plan, axis + 1, plan->shape[axis + 1], from + i * plan->from[axis], to + i * plan->to[axis]);
  }
}

void nd4c_ref_plan_run_part(const nd4c_ref_plan *plan, int64_t begin, int64_t end, const char *from, char *to) {
  if (plan->size > 0 && end > begin) {
    run_axis(plan, 0, end - begin, from + begin * plan->from[0], to + begin * plan->to[0]);
  }
}

void nd4c_ref_plan_run(const nd4c_ref_plan *plan, const char *from, char *to) {
  nd4c_ref_plan_run_part(plan, 0, plan->shape[0], from, to);
}

void nd4c_ref_fill(const nd4c_ref_tensor *y, const char *value) {
  static const int64_t same[ND4C_REF_PLAN_RANK];
  nd4c_ref_plan plan;
  nd4c_ref_plan_make(&plan, NULL, y->dtype, y->rank, y->shape, same, y->strides);
  nd4c_ref_plan_run(&plan, value, y->data);
}

void nd4c_ref_copy(const nd4c_ref_tensor *x, const nd4c_ref_tensor *y) {
  nd4c_ref_plan plan;
  nd4c_ref_plan_make(&plan, NULL, y->dtype, y->rank, y->shape, x->strides, y->strides);
  nd4c_ref_plan_run(&plan, x->data, y->data);
}

/* -- indices ------------------------------------------------------------------------------------------------------- */

/* Whether a row of indices is in range: all are looked at, so that no branch stands in the way. */
#define RANGE_ROW(name, type)                                                       \
  static bool name(const char *data, int64_t step, int64_t count, int64_t extent) { \
    bool outside = false;                                                           \
    for (int64_t i = 0; i < count; i++) {                                           \
      type index;                                                                   \
      memcpy(&index, data + i * step * (int64_t)sizeof index, sizeof index);        \
      outside |= index < -extent || index >= extent;                                \
    }                                                                               \
    return !outside;                                                                \
  }
RANGE_ROW(range_row_narrow, int32_t)
RANGE_ROW(range_row_wide, int64_t)

bool nd4c_ref_all_in_range(const nd4c_ref_tensor *indices, int64_t extent) {
  bool wide = indices->dtype == ND4C_INT64, in_range = true;
  nd4c_ref_walk walk;
  for (bool more = nd4c_ref_walk_start(&walk, indices->rank, indices->shape, 1, &indices->strides); more;
       more = in_range && nd4c_ref_walk_next(&walk)) {
    const char *data = indices->data + walk.at[0] * (wide ? 8 : 4);
    in_range = (wide ? range_row_wide : range_row_narrow)(data, walk.step[0], walk.length, extent);
  }
  return in_range;
}

bool nd4c_ref_find_bad_index(const nd4c_ref_tensor *indices, int64_t extent, int64_t *flat, int64_t *value) {
  if (nd4c_ref_all_in_range(indices, extent)) {
    return false;
  }
  nd4c_ref_walk walk;
  int64_t number = 0;
  for (bool more = nd4c_ref_walk_start(&walk, indices->rank, indices->shape, 1, &indices->strides); more;
       more = nd4c_ref_walk_next(&walk)) {
    for (int64_t i = 0; i < walk.length; i++, number++) {
      int64_t index = nd4c_ref_index(indices->dtype, indices->data, walk.at[0] + i * walk.step[0]);
      if (index < -extent || index >= extent) {
        *flat = number;
        *value = index;
        return true;
      }
    }
  }
  return false;
}
