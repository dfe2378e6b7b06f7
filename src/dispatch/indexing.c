/* Turns index items into an indexing plan, which indexing_set.c uses, too; nd4c_array_get and nd4c_array_at, which
 * programs call. */
#include "dispatch/indexing.h"

#include <string.h>

#include "array/narrow.h"
#include "array/shape.h"
#include "base/checked.h"
#include "base/compiler.h"
#include "base/status.h"
#include "nd4c/ops.h"

enum { TEXT_SIZE = 128 };

/* -- items --------------------------------------------------------------------------------------------------------- */

static bool is_mask(const nd4c_index *item) {
  return item->kind == ND4C_INDEX_MASK || (item->kind == ND4C_INDEX_ARRAY && item->array->dtype == ND4C_BOOL);
}

static nd4c_status check_choice(const nd4c_index *item, int32_t number, const char *name) {
  if (item->array == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: the array of item %d is NULL", name, (int)number);
  }
  nd4c_status status = nd4c_array_check(item->array, "array of an item");
  if (status != ND4C_OK) {
    return nd4c_fail_prefix(status, "%s: item %d", name, (int)number);
  }
  nd4c_dtype_kind kind = nd4c_dtype_get_info(item->array->dtype)->kind;
  bool integers = (kind == ND4C_KIND_INT || kind == ND4C_KIND_UINT) && item->kind == ND4C_INDEX_ARRAY;
  if (!integers && kind != ND4C_KIND_BOOL) {
    return nd4c_fail(ND4C_INDEX, "%s: item %d is an array of %s, expected %s", name, (int)number,
                     nd4c_dtype_name(item->array->dtype), item->kind == ND4C_INDEX_MASK ? "bool" : "integers or bool");
  }
  return ND4C_OK;
}

/* Number of axes of the array that an item covers. */
static inline nd4c_status count_axes(const nd4c_index *item, int32_t number, const char *name, int32_t *axes,
                                     int32_t *ellipses) {
  switch (item->kind) {
    case ND4C_INDEX_INTEGER:
    case ND4C_INDEX_SLICE:
      (*axes)++;
      return ND4C_OK;
    case ND4C_INDEX_ELLIPSIS:
      (*ellipses)++;
      return ND4C_OK;
    case ND4C_INDEX_NEW_AXIS:
      return ND4C_OK;
    case ND4C_INDEX_MASK:
    case ND4C_INDEX_ARRAY:
      ND4C_TRY(check_choice(item, number, name));
      *axes += is_mask(item) ? item->array->rank : 1;
      return ND4C_OK;
    default:
      return nd4c_fail(ND4C_ARGUMENT, "%s: item %d is of kind %d, expected %d to %d", name, (int)number,
                       (int)item->kind, ND4C_INDEX_INTEGER, ND4C_INDEX_ARRAY);
  }
}

static nd4c_status check_room(const nd4c_index_plan *plan, int32_t more) {
  if (ND4C_LIKELY(plan->rank + more <= ND4C_MAX_RANK)) {
    return ND4C_OK;
  }
  return nd4c_fail(ND4C_INDEX, "%s: the result has more than %d axes", plan->name, ND4C_MAX_RANK);
}

static inline void take_whole(nd4c_index_plan *plan, int32_t axes) {
  for (int32_t i = 0; i < axes; i++, plan->next++, plan->rank++) {
    plan->shape[plan->rank] = plan->array->shape[plan->next];
    plan->strides[plan->rank] = plan->array->strides[plan->next];
  }
}

static inline nd4c_status take_integer(nd4c_index_plan *plan, int64_t index) {
  int64_t extent = plan->array->shape[plan->next];
  if (ND4C_UNLIKELY(index < -extent || index >= extent)) {
    return nd4c_fail(ND4C_INDEX, "%s: index %lld is out of range for axis %d of length %lld: expected %lld to %lld",
                     plan->name, (long long)index, (int)plan->next, (long long)extent, (long long)-extent,
                     (long long)(extent - 1));
  }
  plan->offset += (index < 0 ? index + extent : index) * plan->array->strides[plan->next++];
  return ND4C_OK;
}

static inline nd4c_status take_slice(nd4c_index_plan *plan, const nd4c_index *item) {
  int64_t stride = plan->array->strides[plan->next], step = item->step == ND4C_SLICE_NONE ? 1 : item->step, first = 0;
  if (ND4C_UNLIKELY(step == 0)) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: the slice of axis %d has step 0", plan->name, (int)plan->next);
  }
  ND4C_TRY(check_room(plan, 1));
  int64_t *count = &plan->shape[plan->rank];
  nd4c_slice_axis(plan->array->shape[plan->next], item->start, item->stop, step, &first, count);
  if (*count == 0) {
    plan->empty = true;
  } else {
    plan->offset += first * stride;
  }
  /* A step that overflows is longer than any axis, so at most one element is left. */
  if (!nd4c_checked_multiply(stride, step, &plan->strides[plan->rank])) {
    plan->strides[plan->rank] = stride;
  }
  plan->rank++;
  plan->next++;
  return ND4C_OK;
}

static nd4c_status take_new_axis(nd4c_index_plan *plan) {
  ND4C_TRY(check_room(plan, 1));
  plan->shape[plan->rank] = 1;
  plan->strides[plan->rank++] = 0;
  return ND4C_OK;
}

/* -- masks and arrays ---------------------------------------------------------------------------------------------- */

enum { NO_CHOICE, INSIDE, BEHIND, SEPARATED };

/* Whether choices and integers are adjacent by NumPy's rules: an ellipsis separates them even if it covers no axis, and
 * integers count although they choose from no axis of the view. */
static inline void take_neighbour(nd4c_index_plan *plan, bool chooses) {
  if (!chooses) {
    plan->neighbourhood = plan->neighbourhood == INSIDE ? BEHIND : plan->neighbourhood;
  } else if (plan->neighbourhood == NO_CHOICE) {
    plan->position = plan->rank - plan->chosen_axes;
    plan->neighbourhood = INSIDE;
  } else if (plan->neighbourhood == BEHIND) {
    plan->position = 0;
    plan->neighbourhood = SEPARATED;
  }
}

static nd4c_status check_mask(const nd4c_index_plan *plan, const nd4c_array *mask) {
  for (int32_t i = 0; i < mask->rank; i++) {
    if (mask->shape[i] != plan->array->shape[plan->next + i] && mask->shape[i] != 0) {
      return nd4c_fail(ND4C_INDEX, "%s: the mask has %lld elements for axis %d, which has length %lld", plan->name,
                       (long long)mask->shape[i], (int)(plan->next + i), (long long)plan->array->shape[plan->next + i]);
    }
  }
  return ND4C_OK;
}

/* A mask without elements chooses nothing from an axis of any length: NumPy and the Array API accept its extents of
 * 0. */
static void narrow_to_mask(nd4c_index_plan *plan, const nd4c_array *mask) {
  memcpy(&plan->shape[plan->rank - mask->rank], mask->shape, (size_t)mask->rank * sizeof *mask->shape);
  plan->empty = true;
}

static nd4c_status take_choice(nd4c_index_plan *plan, const nd4c_index *item) {
  bool mask = is_mask(item);
  int32_t axes = mask ? item->array->rank : 1;
  if (mask) {
    ND4C_TRY(check_mask(plan, item->array));
  }
  ND4C_TRY(check_room(plan, axes));
  if (plan->choice_count == ND4C_MAX_RANK) {
    return nd4c_fail(ND4C_INDEX, "%s: more than %d masks and arrays", plan->name, ND4C_MAX_RANK);
  }
  plan->choices[plan->choice_count++] = (nd4c_index_choice){item->array, mask, plan->rank, plan->next};
  plan->chosen_axes += axes;
  take_whole(plan, axes);
  if (mask && item->array->size == 0) {
    narrow_to_mask(plan, item->array);
  }
  return ND4C_OK;
}

/* -- the plan ------------------------------------------------------------------------------------------------------ */

static nd4c_status take_item(nd4c_index_plan *plan, const nd4c_index *item, int32_t left) {
  bool chooses = item->kind == ND4C_INDEX_INTEGER || item->kind >= ND4C_INDEX_MASK;
  take_neighbour(plan, chooses);
  switch (item->kind) {
    case ND4C_INDEX_INTEGER:
      return take_integer(plan, item->start);
    case ND4C_INDEX_SLICE:
      return take_slice(plan, item);
    case ND4C_INDEX_NEW_AXIS:
      return take_new_axis(plan);
    case ND4C_INDEX_ELLIPSIS:
      ND4C_TRY(check_room(plan, left));
      take_whole(plan, left);
      return ND4C_OK;
    default:
      return take_choice(plan, item);
  }
}

nd4c_status nd4c_index_plan_make(const char *name, const nd4c_array *array, const nd4c_index *items, int32_t count,
                                 nd4c_index_plan *plan) {
  int32_t axes = 0, ellipses = 0;
  if (ND4C_UNLIKELY(count < 0 || (items == NULL && count > 0))) {
    return nd4c_fail(count < 0 ? ND4C_ARGUMENT : ND4C_NULL_ARGUMENT, "%s: %d items%s", name, (int)count,
                     count < 0 ? "" : " at NULL");
  }
  for (int32_t i = 0; i < count; i++) {
    ND4C_TRY(count_axes(&items[i], i, name, &axes, &ellipses));
    if (ND4C_UNLIKELY(axes > array->rank || ellipses > 1)) {
      return axes > array->rank
                 ? nd4c_fail(ND4C_INDEX, "%s: too many indices: item %d would be for axis %d of an array of %d axes",
                             name, (int)i, (int)axes - 1, (int)array->rank)
                 : nd4c_fail(ND4C_INDEX, "%s: item %d is a second ellipsis, expected one at most", name, (int)i);
    }
  }
  plan->name = name;
  plan->array = array;
  plan->next = plan->rank = plan->choice_count = plan->chosen_axes = plan->position = 0;
  plan->neighbourhood = NO_CHOICE;
  plan->offset = array->offset;
  plan->empty = array->size == 0;
  for (int32_t i = 0; i < count; i++) {
    ND4C_TRY(take_item(plan, &items[i], array->rank - axes));
  }
  ND4C_TRY(check_room(plan, array->rank - plan->next));
  take_whole(plan, array->rank - plan->next);
  if (plan->empty) {
    plan->offset = array->offset;
  }
  return ND4C_OK;
}

nd4c_status nd4c_index_plan_view(const nd4c_index_plan *plan, nd4c_array **view) {
  bool packed = nd4c_dtype_is_packed(plan->array->dtype);
  nd4c_status status =
      packed ? nd4c_array_view(plan->array, plan->rank, plan->shape, plan->strides, plan->offset, view)
             : nd4c_array_view_within(plan->array, plan->rank, plan->shape, plan->strides, plan->offset, view);
  return ND4C_LIKELY(status == ND4C_OK) ? ND4C_OK : nd4c_fail_prefix(status, "%s", plan->name);
}

/* -- getting ------------------------------------------------------------------------------------------------------- */

/* Several axes chosen from, or none: 0-d masks alone add an axis of length 0 or 1. */
static nd4c_status gather(const nd4c_index_places *places, const nd4c_array *view, nd4c_array **out) {
  nd4c_array *packed = NULL, *front = NULL;
  nd4c_status status = nd4c_index_places_pack(places, &packed);
  if (status == ND4C_OK) {
    status = nd4c_index_places_front(places, view, &front);
  }
  if (status == ND4C_OK) {
    status = nd4c_gather_nd(front, packed, 0, out);
  }
  nd4c_array_release(packed);
  nd4c_array_release(front);
  return status;
}

static nd4c_status pick(const nd4c_index_plan *plan, const nd4c_array *view, nd4c_array **out) {
  nd4c_index_places places;
  nd4c_array *picked = NULL;
  nd4c_status status = nd4c_index_places_make(plan, &places);
  if (status == ND4C_OK) {
    const int64_t axis = places.axes[0];
    status = places.count == 1 ? nd4c_take(view, places.indices[0], &axis, 1, ND4C_INDEX_MODE_RAISE, &picked)
                               : gather(&places, view, &picked);
    status = status == ND4C_OK ? ND4C_OK : nd4c_index_places_blame(&places, status);
  }
  if (status == ND4C_OK) {
    int32_t from = places.count == 1 ? places.axes[0] : 0;
    status = nd4c_index_move_axes(picked, from, places.rank, places.position, out);
  }
  nd4c_array_release(picked);
  nd4c_index_places_clear(&places);
  return status;
}

static nd4c_status filter(const nd4c_index_plan *plan, const nd4c_array *view, nd4c_array **out) {
  nd4c_array *filtered = NULL;
  int32_t axis = plan->choices[0].axis;
  nd4c_status status = nd4c_boolean_mask(view, plan->choices[0].array, axis, &filtered);
  if (status != ND4C_OK) {
    return nd4c_fail_prefix(status, "%s", plan->name);
  }
  status = nd4c_index_move_axes(filtered, axis, 1, plan->position, out);
  nd4c_array_release(filtered);
  return status;
}

nd4c_status nd4c_array_get(const nd4c_array *array, const nd4c_index *items, int32_t count, nd4c_array **out) {
  nd4c_index_plan plan;
  ND4C_TRY(nd4c_array_check(array, "array_get: array"));
  if (out == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "array_get: out is NULL");
  }
  ND4C_TRY(nd4c_index_plan_make("array_get", array, items, count, &plan));
  if (ND4C_LIKELY(plan.choice_count == 0)) {
    return nd4c_index_plan_view(&plan, out);
  }
  nd4c_array *view = NULL;
  ND4C_TRY(nd4c_index_plan_view(&plan, &view));
  bool one_mask = plan.choice_count == 1 && plan.choices[0].is_mask && plan.choices[0].array->rank > 0;
  nd4c_status status = one_mask ? filter(&plan, view, out) : pick(&plan, view, out);
  nd4c_array_release(view);
  return status;
}

/* More items are always an error: each covers an axis of the array, adds one to the result, or is a choice or an
 * ellipsis. */
enum { ITEMS_AT_MOST = 3 * ND4C_MAX_RANK + 1 };

nd4c_array *nd4c_array_at(const nd4c_array *array, const nd4c_index *items) {
  nd4c_array *out = NULL;
  int32_t count = 0;
  while (items != NULL && count <= ITEMS_AT_MOST && items[count].kind != ND4C_INDEX_END) {
    count++;
  }
  if (ND4C_UNLIKELY(items == NULL)) {
    nd4c_fail(ND4C_NULL_ARGUMENT, "array_at: items is NULL");
    return NULL;
  }
  return nd4c_array_get(array, items, count, &out) == ND4C_OK ? out : NULL;
}
