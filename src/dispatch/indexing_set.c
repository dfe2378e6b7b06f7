/* nd4c_array_set, which programs call: writes values into a view, under a mask, or to places named by indices. */
#include <string.h>

#include "array/narrow.h"
#include "array/shape.h"
#include "base/compiler.h"
#include "base/status.h"
#include "device/context/context.h"
#include "dispatch/indexing.h"
#include "nd4c/ops.h"

enum { TEXT_SIZE = 128 };

/* -- the value ----------------------------------------------------------------------------------------------------- */

/* bool, integer, float, complex: a value moves upwards only. 0: not a number. */
static int kind_order(nd4c_dtype dtype) {
  switch (nd4c_dtype_get_info(dtype)->kind) {
    case ND4C_KIND_BOOL:
      return 1;
    case ND4C_KIND_INT:
    case ND4C_KIND_UINT:
      return 2;
    case ND4C_KIND_FLOAT:
      return 3;
    case ND4C_KIND_COMPLEX:
      return 4;
    default:
      return 0;
  }
}

static nd4c_status check_target(const nd4c_array *array, const nd4c_array *value) {
  if ((array->storage->flags & ND4C_STORAGE_READ_ONLY) != 0) {
    return nd4c_fail(ND4C_READ_ONLY, "array_set: the array is read-only");
  }
  if (array->dtype == value->dtype && ND4C_LIKELY(array->dtype != ND4C_UTF8)) {
    return ND4C_OK;
  }
  if (array->dtype == ND4C_UTF8) {
    return nd4c_fail(ND4C_UNSUPPORTED, "array_set: strings cannot be replaced in place");
  }
  int from = kind_order(value->dtype), to = kind_order(array->dtype);
  if (from == 0 || from > to) {
    return nd4c_fail(ND4C_DTYPE, "array_set: a value of %s for an array of %s: cast it first",
                     nd4c_dtype_name(value->dtype), nd4c_dtype_name(array->dtype));
  }
  return ND4C_OK;
}

/* A view of the value with a shape; drops surplus leading axes of length 1. */
static nd4c_status fit_value(const nd4c_array *value, int32_t rank, const int64_t *shape, nd4c_array **fitted) {
  int64_t strides[ND4C_MAX_RANK];
  int32_t extra = value->rank > rank ? value->rank - rank : 0, own = value->rank - extra;
  bool fits = true;
  for (int32_t i = 0; i < extra; i++) {
    fits = fits && value->shape[i] == 1;
  }
  for (int32_t i = 0; i < own; i++) {
    int64_t extent = value->shape[extra + i];
    fits = fits && (extent == 1 || extent == shape[rank - own + i]);
  }
  if (!fits) {
    char given[TEXT_SIZE], expected[TEXT_SIZE];
    return nd4c_fail(ND4C_SHAPE, "array_set: a value of shape %s does not broadcast to %s",
                     nd4c_shape_text(value->rank, value->shape, given, sizeof given),
                     nd4c_shape_text(rank, shape, expected, sizeof expected));
  }
  nd4c_broadcast_strides(rank, shape, own, value->shape + extra, value->strides + extra, strides);
  return nd4c_array_view(value, rank, shape, strides, value->offset, fitted);
}

/* *out = the value in the array's dtype, copied if it shares memory with the array. */
static nd4c_status ready_value(const nd4c_array *array, const nd4c_array *value, nd4c_array **out) {
  if (value->dtype != array->dtype) {
    return nd4c_cast(value, array->dtype, out);
  }
  if (value->storage == array->storage || nd4c_array_overlaps(array, value)) {
    return nd4c_copy(value, out);
  }
  return nd4c_array_view(value, value->rank, value->shape, value->strides, value->offset, out);
}

/* -- into a view --------------------------------------------------------------------------------------------------- */

/* Whether the value is in host memory with the view's dtype and shape, the view's storage is on another device, and the
 * thread computes on the host. The bytes are then written there, since the op copy would copy the whole storage to the
 * host. */
static bool goes_as_bytes(const nd4c_array *view, const nd4c_array *value) {
  nd4c_context *context = NULL;
  return atomic_load(&view->storage->address) == NULL && atomic_load(&value->storage->address) != NULL &&
         value->contiguous && value->dtype == view->dtype && value->size == view->size &&
         nd4c_context_resolve(NULL, &context) == ND4C_OK && nd4c_device_is_immediate(context->device);
}

static nd4c_status write_view(nd4c_array *view, const nd4c_array *value) {
  nd4c_array *target = view;
  if (view->size == 0) {
    return ND4C_OK;
  }
  if (goes_as_bytes(view, value)) {
    return nd4c_array_write(view, nd4c_array_address(value, nd4c_dtype_size(value->dtype)),
                            (size_t)nd4c_dtype_bytes(value->dtype, value->size));
  }
  return value->dtype == view->dtype ? nd4c_copy(value, &target) : nd4c_cast(value, view->dtype, &target);
}

static nd4c_status assign(nd4c_array *view, const nd4c_array *value) {
  nd4c_array *fitted = NULL;
  if (nd4c_shape_equal(view->rank, view->shape, value->rank, value->shape)) {
    return write_view(view, value);
  }
  ND4C_TRY(fit_value(value, view->rank, view->shape, &fitted));
  nd4c_status status = write_view(view, fitted);
  nd4c_array_release(fitted);
  return status;
}

static bool is_one_element(const nd4c_index_plan *plan) {
  for (int32_t i = 0; i < plan->rank; i++) {
    if (plan->shape[i] != 1) {
      return false;
    }
  }
  return true;
}

/* One element for one element of the same dtype, both in host memory and ready: no view, no op. False: not done. */
static bool write_element(const nd4c_index_plan *plan, const nd4c_array *value) {
  if (plan->choice_count > 0 || value->size != 1 || value->dtype != plan->array->dtype || !is_one_element(plan) ||
      nd4c_dtype_is_packed(value->dtype)) {
    return false;
  }
  char *to = atomic_load_explicit(&plan->array->storage->address, memory_order_acquire);
  const char *from = atomic_load_explicit(&value->storage->address, memory_order_acquire);
  if (to == NULL || from == NULL) {
    return false;
  }
  int64_t bytes = nd4c_dtype_size(value->dtype);
  memmove(to + plan->offset * bytes, from + value->offset * bytes, (size_t)bytes);
  return true;
}

/* -- under a mask -------------------------------------------------------------------------------------------------- */

/* Whether the value is constant along the axis of the mask's elements, so that they need not be counted. */
static bool is_same_everywhere(const nd4c_index_plan *plan, const nd4c_array *value) {
  int32_t result_rank = plan->rank - plan->choices[0].array->rank + 1;
  int32_t at = plan->position - (result_rank - value->rank);
  return at < 0 || (at < value->rank && value->shape[at] == 1);
}

/* The value in a shape that broadcasts to the view: the single axis of the mask's elements becomes as many axes of
 * length 1 as the mask has. */
static nd4c_status spread_value(const nd4c_index_plan *plan, const nd4c_array *value, nd4c_array **out) {
  int64_t shape[ND4C_MAX_RANK], strides[ND4C_MAX_RANK];
  int32_t axis = plan->choices[0].axis, axes = plan->choices[0].array->rank, rank = 0;
  for (int32_t i = 0; i < plan->rank; i++) {
    if (rank == plan->position) {
      shape[rank++] = 1;
    }
    if (i < axis || i >= axis + axes) {
      shape[rank++] = plan->shape[i];
    }
  }
  if (rank == plan->position) {
    shape[rank++] = 1;
  }
  nd4c_array *fitted = NULL;
  ND4C_TRY(fit_value(value, rank, shape, &fitted));
  for (int32_t i = 0, other = 0; i < plan->rank; i++) {
    bool masked = i >= axis && i < axis + axes;
    other += !masked && other == plan->position ? 1 : 0;
    shape[i] = masked ? 1 : fitted->shape[other];
    strides[i] = masked ? 0 : fitted->strides[other];
    other += masked ? 0 : 1;
  }
  nd4c_status status = nd4c_array_view(fitted, plan->rank, shape, strides, fitted->offset, out);
  nd4c_array_release(fitted);
  return status;
}

/* The mask with an axis of length 1 for each axis of the view behind it. */
static nd4c_status spread_mask(const nd4c_index_plan *plan, nd4c_array **out) {
  const nd4c_array *mask = plan->choices[0].array;
  int64_t shape[ND4C_MAX_RANK], strides[ND4C_MAX_RANK];
  int32_t rank = plan->rank - plan->choices[0].axis;
  for (int32_t i = 0; i < rank; i++) {
    shape[i] = i < mask->rank ? mask->shape[i] : 1;
    strides[i] = i < mask->rank ? mask->strides[i] : 0;
  }
  return nd4c_array_view(mask, rank, shape, strides, mask->offset, out);
}

static nd4c_status fill(const nd4c_index_plan *plan, nd4c_array *view, const nd4c_array *value) {
  nd4c_array *ready = NULL, *same = NULL, *mask = NULL, *target = view;
  nd4c_status status = ready_value(view, value, &ready);
  if (status == ND4C_OK) {
    status = spread_value(plan, ready, &same);
  }
  if (status == ND4C_OK) {
    status = spread_mask(plan, &mask);
  }
  if (status == ND4C_OK && view->size > 0) {
    status = nd4c_masked_fill(view, mask, same, &target);
  }
  nd4c_array_release(ready);
  nd4c_array_release(same);
  nd4c_array_release(mask);
  return status;
}

/* One value for each true element of a mask over everything: no indices are made. */
static bool is_one_for_each(const nd4c_index_plan *plan, const nd4c_array *value) {
  return plan->choices[0].array->rank == plan->rank && value->rank == 1;
}

static nd4c_status check_count(const nd4c_array *mask, const nd4c_array *value) {
  nd4c_array *counted = NULL, *fitted = NULL;
  int64_t count = 0;
  ND4C_TRY(nd4c_count_nonzero(mask, NULL, 0, false, &counted));
  nd4c_status status = nd4c_array_read(counted, &count, sizeof count);
  nd4c_array_release(counted);
  ND4C_TRY(status);
  status = fit_value(value, 1, &count, &fitted);
  nd4c_array_release(fitted);
  return status;
}

static nd4c_status fill_each(const nd4c_index_plan *plan, nd4c_array *view, const nd4c_array *value) {
  nd4c_array *ready = NULL, *target = view;
  ND4C_TRY(check_count(plan->choices[0].array, value));
  if (view->size == 0 || value->size == 0) {
    return ND4C_OK;
  }
  ND4C_TRY(ready_value(view, value, &ready));
  nd4c_status status = nd4c_masked_scatter(view, plan->choices[0].array, ready, &target);
  nd4c_array_release(ready);
  return status;
}

/* -- to places ----------------------------------------------------------------------------------------------------- */

/* The shape of x[items]: the view's axes that no item chooses from, with the common axes of the indices among them. */
static nd4c_status result_shape(const nd4c_index_places *places, const nd4c_array *view, int32_t *rank,
                                int64_t *shape) {
  bool chosen[ND4C_MAX_RANK] = {false};
  if (view->rank - places->count + places->rank > ND4C_MAX_RANK) {
    return nd4c_fail(ND4C_INDEX, "array_set: what is set has more than %d axes", ND4C_MAX_RANK);
  }
  for (int32_t i = 0; i < places->count; i++) {
    chosen[places->axes[i]] = true;
  }
  *rank = 0;
  for (int32_t i = 0; i <= view->rank; i++) {
    for (int32_t k = 0; k < places->rank && *rank - k == places->position; k++) {
      shape[(*rank)++] = places->shape[k];
    }
    if (i < view->rank && !chosen[i]) {
      shape[(*rank)++] = view->shape[i];
    }
  }
  return ND4C_OK;
}

/* Only 0-d masks: they choose everything or nothing. `updates` has the axis that they add. */
static nd4c_status put_all(const nd4c_index_places *places, nd4c_array *view, const nd4c_array *updates) {
  nd4c_array *whole = NULL;
  if (updates->size == 0) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_array_select(updates, places->position, 0, &whole));
  nd4c_status status = write_view(view, whole);
  nd4c_array_release(whole);
  return status;
}

static nd4c_status put_slices(const nd4c_index_places *places, nd4c_array *view, const nd4c_array *updates) {
  nd4c_array *moved = NULL, *target = view;
  int32_t axis = places->axes[0];
  ND4C_TRY(nd4c_index_move_axes(updates, places->position, places->rank, axis, &moved));
  nd4c_status status = nd4c_scatter_update(view, places->indices[0], moved, axis, &target);
  nd4c_array_release(moved);
  return status;
}

static nd4c_status put_positions(const nd4c_index_places *places, nd4c_array *view, const nd4c_array *updates) {
  nd4c_array *moved = NULL, *packed = NULL, *front = NULL;
  nd4c_status status = nd4c_index_move_axes(updates, places->position, places->rank, 0, &moved);
  if (status == ND4C_OK) {
    status = nd4c_index_places_pack(places, &packed);
  }
  if (status == ND4C_OK) {
    status = nd4c_index_places_front(places, view, &front);
  }
  if (status == ND4C_OK) {
    status = nd4c_scatter_nd(front, packed, moved, ND4C_SCATTER_REDUCTION_NONE, &front);
  }
  nd4c_array_release(moved);
  nd4c_array_release(packed);
  nd4c_array_release(front);
  return status;
}

static nd4c_status put_updates(const nd4c_index_places *places, nd4c_array *view, const nd4c_array *value) {
  int64_t shape[2 * ND4C_MAX_RANK];
  int32_t rank = 0;
  nd4c_array *ready = NULL, *updates = NULL;
  ND4C_TRY(result_shape(places, view, &rank, shape));
  nd4c_status status = ready_value(view, value, &ready);
  if (status == ND4C_OK) {
    status = fit_value(ready, rank, shape, &updates);
  }
  if (status == ND4C_OK) {
    status = places->count == 0   ? put_all(places, view, updates)
             : places->count == 1 ? put_slices(places, view, updates)
                                  : put_positions(places, view, updates);
    status = status == ND4C_OK ? ND4C_OK : nd4c_index_places_blame(places, status);
  }
  nd4c_array_release(ready);
  nd4c_array_release(updates);
  return status;
}

static nd4c_status put(const nd4c_index_plan *plan, nd4c_array *view, const nd4c_array *value) {
  nd4c_index_places places;
  nd4c_status status = nd4c_index_places_make(plan, &places);
  if (status == ND4C_OK) {
    status = put_updates(&places, view, value);
  }
  nd4c_index_places_clear(&places);
  return status;
}

/* -- entry --------------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_array_set(nd4c_array *array, const nd4c_index *items, int32_t count, const nd4c_array *value) {
  nd4c_index_plan plan;
  nd4c_array *view = NULL;
  ND4C_TRY(nd4c_array_check(array, "array_set: array"));
  ND4C_TRY(nd4c_array_check(value, "array_set: value"));
  ND4C_TRY(check_target(array, value));
  ND4C_TRY(nd4c_index_plan_make("array_set", array, items, count, &plan));
  if (write_element(&plan, value)) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_index_plan_view(&plan, &view));
  bool one_mask = plan.choice_count == 1 && plan.choices[0].is_mask && plan.choices[0].array->rank > 0;
  nd4c_status status = plan.choice_count == 0                         ? assign(view, value)
                       : one_mask && is_same_everywhere(&plan, value) ? fill(&plan, view, value)
                       : one_mask && is_one_for_each(&plan, value)    ? fill_each(&plan, view, value)
                                                                      : put(&plan, view, value);
  nd4c_array_release(view);
  return status;
}
