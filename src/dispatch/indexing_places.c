/* Masks and arrays of indices, made ready for the ops that take and place elements. indexing.c and indexing_set.c call
 * it. */
#include <string.h>

#include "array/shape.h"
#include "base/alloc.h"
#include "base/status.h"
#include "dispatch/indexing.h"
#include "nd4c/ops.h"

enum { TEXT_SIZE = 128 };

/* -- making -------------------------------------------------------------------------------------------------------- */

/* Notes indices, of which it takes over the reference, that choose from one axis of the plan's view. */
static void add_axis(nd4c_index_places *places, const nd4c_index_plan *plan, const nd4c_index_choice *choice,
                     int32_t behind, nd4c_array *indices) {
  places->axes[places->count] = choice->axis + behind;
  places->given[places->count] = choice->given + behind;
  places->extents[places->count] = plan->shape[choice->axis + behind];
  places->indices[places->count++] = indices;
}

static nd4c_status join_shape(nd4c_index_places *places, int32_t rank, const int64_t *shape) {
  int64_t common[ND4C_MAX_RANK];
  int32_t common_rank = 0;
  if (nd4c_shape_broadcast(places->rank, places->shape, rank, shape, &common_rank, common) != ND4C_OK) {
    char before[TEXT_SIZE], given[TEXT_SIZE];
    return nd4c_fail(ND4C_INDEX, "%s: arrays of indices do not broadcast: %s and %s", places->name,
                     nd4c_shape_text(places->rank, places->shape, before, sizeof before),
                     nd4c_shape_text(rank, shape, given, sizeof given));
  }
  places->rank = common_rank;
  memcpy(places->shape, common, (size_t)common_rank * sizeof *common);
  return ND4C_OK;
}

static nd4c_status add_array(nd4c_index_places *places, const nd4c_index_plan *plan, const nd4c_index_choice *choice) {
  nd4c_array *indices = NULL;
  nd4c_dtype dtype = choice->array->dtype;
  ND4C_TRY(join_shape(places, choice->array->rank, choice->array->shape));
  if (dtype == ND4C_INT32 || dtype == ND4C_INT64) {
    ND4C_TRY(nd4c_array_view(choice->array, choice->array->rank, choice->array->shape, choice->array->strides,
                             choice->array->offset, &indices));
  } else {
    ND4C_TRY(nd4c_cast(choice->array, ND4C_INT64, &indices));
  }
  add_axis(places, plan, choice, 0, indices);
  return ND4C_OK;
}

/* A 0-d mask chooses from no axis, but adds one, of length 1 or 0. */
static nd4c_status add_truth(nd4c_index_places *places, const nd4c_array *mask) {
  bool truth = false;
  ND4C_TRY(nd4c_array_read(mask, &truth, sizeof truth));
  const int64_t count = truth ? 1 : 0;
  return join_shape(places, 1, &count);
}

static nd4c_status add_mask(nd4c_index_places *places, const nd4c_index_plan *plan, const nd4c_index_choice *choice) {
  nd4c_array *found = NULL;
  if (choice->array->rank == 0) {
    return add_truth(places, choice->array);
  }
  ND4C_TRY(nd4c_nonzero(choice->array, &found));
  nd4c_status status = join_shape(places, 1, &found->shape[1]);
  for (int32_t i = 0; i < choice->array->rank && status == ND4C_OK; i++) {
    nd4c_array *row = NULL;
    status = nd4c_array_select(found, 0, i, &row);
    if (status == ND4C_OK) {
      add_axis(places, plan, choice, i, row);
    }
  }
  nd4c_array_release(found);
  return status;
}

/* Every array of indices in the common shape. */
static nd4c_status spread(nd4c_index_places *places) {
  for (int32_t i = 0; i < places->count; i++) {
    nd4c_array *indices = places->indices[i], *whole = NULL;
    if (!nd4c_shape_equal(indices->rank, indices->shape, places->rank, places->shape)) {
      ND4C_TRY(nd4c_broadcast_to(indices, places->shape, places->rank, &whole));
      nd4c_array_release(indices);
      places->indices[i] = whole;
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_index_places_make(const nd4c_index_plan *plan, nd4c_index_places *places) {
  nd4c_status status = ND4C_OK;
  places->name = plan->name;
  places->count = places->rank = 0;
  places->axes[0] = 0;
  places->position = plan->position;
  for (int32_t i = 0; i < plan->choice_count && status == ND4C_OK; i++) {
    const nd4c_index_choice *choice = &plan->choices[i];
    status = choice->is_mask ? add_mask(places, plan, choice) : add_array(places, plan, choice);
  }
  return status == ND4C_OK ? spread(places) : status;
}

void nd4c_index_places_clear(nd4c_index_places *places) {
  for (int32_t i = 0; i < places->count; i++) {
    nd4c_array_release(places->indices[i]);
  }
  places->count = 0;
}

/* -- using --------------------------------------------------------------------------------------------------------- */

static nd4c_status fill_column(nd4c_array *packed, int32_t column, const nd4c_array *indices) {
  nd4c_array *slot = NULL;
  ND4C_TRY(nd4c_array_select(packed, -1, column, &slot));
  nd4c_status status = indices->dtype == ND4C_INT64 ? nd4c_copy(indices, &slot) : nd4c_cast(indices, ND4C_INT64, &slot);
  nd4c_array_release(slot);
  return status;
}

nd4c_status nd4c_index_places_pack(const nd4c_index_places *places, nd4c_array **packed) {
  int64_t shape[ND4C_MAX_RANK + 1];
  nd4c_array *made = NULL;
  memcpy(shape, places->shape, (size_t)places->rank * sizeof *shape);
  shape[places->rank] = places->count;
  ND4C_TRY(nd4c_array_empty(ND4C_INT64, places->rank + 1, shape, NULL, &made));
  for (int32_t i = 0; i < places->count && made->size > 0; i++) {
    nd4c_status status = fill_column(made, i, places->indices[i]);
    if (status != ND4C_OK) {
      nd4c_array_release(made);
      return status;
    }
  }
  *packed = made;
  return ND4C_OK;
}

nd4c_status nd4c_index_places_front(const nd4c_index_places *places, const nd4c_array *view, nd4c_array **front) {
  int64_t shape[ND4C_MAX_RANK], strides[ND4C_MAX_RANK];
  bool chosen[ND4C_MAX_RANK] = {false};
  int32_t rank = 0;
  for (; rank < places->count; rank++) {
    int32_t axis = places->axes[rank];
    chosen[axis] = true;
    shape[rank] = view->shape[axis];
    strides[rank] = view->strides[axis];
  }
  for (int32_t i = 0; i < view->rank; i++) {
    if (!chosen[i]) {
      shape[rank] = view->shape[i];
      strides[rank++] = view->strides[i];
    }
  }
  return nd4c_array_view(view, rank, shape, strides, view->offset, front);
}

nd4c_status nd4c_index_move_axes(const nd4c_array *array, int32_t from, int32_t count, int32_t to, nd4c_array **out) {
  int64_t shape[ND4C_MAX_RANK], strides[ND4C_MAX_RANK];
  for (int32_t i = 0, other = 0; i < array->rank; i++) {
    bool moved = i >= to && i < to + count;
    int32_t axis = moved ? from + (i - to) : other + (other >= from ? count : 0);
    other += moved ? 0 : 1;
    shape[i] = array->shape[axis];
    strides[i] = array->strides[axis];
  }
  return nd4c_array_view(array, array->rank, shape, strides, array->offset, out);
}

/* -- texts --------------------------------------------------------------------------------------------------------- */

/* The first index that is out of range; false if there is none, or if it cannot be read. */
static bool find_bad(const nd4c_array *indices, int64_t extent, int64_t *bad) {
  nd4c_array *wide = NULL;
  int64_t *values = nd4c_allocate((size_t)indices->size * sizeof *values + 1);
  bool found = false;
  if (values != NULL && nd4c_cast(indices, ND4C_INT64, &wide) == ND4C_OK &&
      nd4c_array_read(wide, values, (size_t)indices->size * sizeof *values) == ND4C_OK) {
    for (int64_t i = 0; i < indices->size && !found; i++) {
      found = values[i] < -extent || values[i] >= extent;
      *bad = values[i];
    }
  }
  nd4c_array_release(wide);
  nd4c_deallocate(values);
  return found;
}

nd4c_status nd4c_index_places_blame(const nd4c_index_places *places, nd4c_status status) {
  int64_t bad = 0;
  for (int32_t i = 0; i < places->count && status == ND4C_INDEX; i++) {
    if (find_bad(places->indices[i], places->extents[i], &bad)) {
      return nd4c_fail(ND4C_INDEX, "%s: index %lld is out of range for axis %d of length %lld: expected %lld to %lld",
                       places->name, (long long)bad, (int)places->given[i], (long long)places->extents[i],
                       (long long)-places->extents[i], (long long)(places->extents[i] - 1));
    }
  }
  return nd4c_fail_prefix(status, "%s", places->name);
}
