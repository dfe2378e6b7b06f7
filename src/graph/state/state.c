/* Implements state.h, and the functions of nd4c/variable.h that read and replace the variables of a state. */
#include "graph/state/state.h"

#include <string.h>

#include "array/shape.h"
#include "base/alloc.h"
#include "base/os.h"
#include "base/status.h"
#include "device/storage/storage.h"
#include "device/stream/cancellation.h"
#include "nd4c/ops.h"

enum { STATE_MAGIC = 0x73746174, STATE_DEAD = 0x73646561, SHOWN = 200, TEXT = 256 };
/* How often a thread that waits for the turn looks whether it was cancelled, in nanoseconds. */
enum { LOOK = 5 * 1000 * 1000 };

/* -- life ---------------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_state_check(const nd4c_state *state) {
  if (state == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "state is NULL");
  }
  return state->magic == STATE_MAGIC
             ? ND4C_OK
             : nd4c_fail(ND4C_HANDLE, "state %p is not a state, or was released", (const void *)state);
}

nd4c_status nd4c_state_create(nd4c_state **state) {
  nd4c_state *made = NULL;
  if (state == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_state_create: state is NULL");
  }
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *made, "a state", &made));
  made->magic = STATE_MAGIC;
  atomic_init(&made->references, 1);
  nd4c_lock_init(&made->lock);
  nd4c_condition_init(&made->given);
  *state = made;
  return ND4C_OK;
}

nd4c_state *nd4c_state_retain(nd4c_state *state) {
  atomic_fetch_add_explicit(&state->references, 1, memory_order_relaxed);
  return state;
}

void nd4c_state_release(nd4c_state *state) {
  if (state == NULL || state->magic != STATE_MAGIC ||
      atomic_fetch_sub_explicit(&state->references, 1, memory_order_acq_rel) != 1) {
    return;
  }
  for (int32_t i = 0; i < state->count; i++) {
    nd4c_array_release(state->items[i]->current);
    nd4c_array_release(state->items[i]->spare);
  }
  nd4c_deallocate(state->items);
  nd4c_region_free(&state->region);
  nd4c_condition_destroy(&state->given);
  nd4c_lock_destroy(&state->lock);
  state->magic = STATE_DEAD;
  nd4c_deallocate(state);
}

/* -- turns --------------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_state_begin(nd4c_state *state) {
  nd4c_status status = ND4C_OK;
  nd4c_lock_acquire(&state->lock);
  while (state->taken && status == ND4C_OK) {
    if (nd4c_cancellation_current() == NULL) {
      nd4c_condition_wait(&state->given, &state->lock);
    } else {
      (void)nd4c_condition_wait_until(&state->given, &state->lock, nd4c_os_nanoseconds() + LOOK);
      status = nd4c_cancellation_poll();
    }
  }
  if (status == ND4C_OK) {
    state->taken = true;
  } else {
    nd4c_condition_wake_one(&state->given); /* this thread may have been woken in place of another one */
  }
  nd4c_lock_release(&state->lock);
  return status;
}

void nd4c_state_end(nd4c_state *state) {
  nd4c_lock_acquire(&state->lock);
  state->taken = false;
  nd4c_condition_wake_one(&state->given);
  nd4c_lock_release(&state->lock);
}

/* -- items --------------------------------------------------------------------------------------------------------- */

nd4c_state_item *nd4c_state_find(const nd4c_state *state, const char *name) {
  for (int32_t i = 0; i < state->count; i++) {
    if (strcmp(state->items[i]->name, name) == 0) {
      return state->items[i];
    }
  }
  return NULL;
}

nd4c_status nd4c_state_add(nd4c_state *state, const char *name, bool trainable, nd4c_array *current, bool own) {
  nd4c_state_item *item = NULL;
  ND4C_TRY(nd4c_grow(&state->items, &state->capacity, state->count + 1, sizeof(nd4c_state_item *), "a state"));
  ND4C_TRY(nd4c_region_make(&state->region, 1, sizeof *item, &item));
  item->name = nd4c_region_text(&state->region, name);
  item->shape = nd4c_region_copy(&state->region, current->shape, current->rank, sizeof *current->shape);
  if (item->name == NULL || item->shape == NULL) {
    return nd4c_error_code();
  }
  item->dtype = current->dtype;
  item->rank = current->rank;
  item->trainable = trainable;
  item->current = nd4c_array_retain(current);
  item->own = own;
  state->items[state->count++] = item;
  return ND4C_OK;
}

static nd4c_status add_all(nd4c_state *to, const nd4c_state *from) {
  for (int32_t i = 0; i < from->count; i++) {
    const nd4c_state_item *item = from->items[i];
    ND4C_TRY(nd4c_state_add(to, item->name, item->trainable, item->current, false));
  }
  return ND4C_OK;
}

nd4c_status nd4c_state_fork(nd4c_state *state, nd4c_state **forked) {
  nd4c_state *made = NULL;
  ND4C_TRY(nd4c_state_create(&made));
  nd4c_lock_acquire(&state->lock);
  const nd4c_status status = add_all(made, state);
  nd4c_lock_release(&state->lock);
  if (status != ND4C_OK) {
    nd4c_state_release(made);
    return status;
  }
  *forked = made;
  return ND4C_OK;
}

/* Never in a workspace that the caller has entered. */
static nd4c_status make_array(const nd4c_state_item *item, nd4c_device *device, nd4c_array **array) {
  const nd4c_array *like = item->current;
  nd4c_storage *storage = NULL;
  ND4C_TRY(nd4c_storage_create_own(device, NULL, item->dtype, nd4c_dtype_bytes(item->dtype, like->size), "variable",
                                   &storage));
  return nd4c_array_make_of(item->dtype, item->rank, item->shape, NULL, 0, storage, array);
}

nd4c_status nd4c_state_prepare(nd4c_state_item *item, nd4c_device *device, nd4c_array **next) {
  /* A run that only reads may still hold what was current before the last commit. */
  if (item->spare != NULL && atomic_load_explicit(&item->spare->references, memory_order_acquire) > 1) {
    nd4c_state_abandon(item);
  }
  if (item->spare == NULL) {
    ND4C_TRY(make_array(item, device, &item->spare));
  }
  *next = item->spare;
  return ND4C_OK;
}

void nd4c_state_commit(nd4c_state_item *item) {
  nd4c_array *old = item->current;
  item->current = item->spare;
  item->spare = old;
  if (!item->own) {
    nd4c_state_abandon(item);
  }
  item->own = true;
  item->changes++;
}

void nd4c_state_abandon(nd4c_state_item *item) {
  nd4c_array_release(item->spare);
  item->spare = NULL;
}

/* -- looking ------------------------------------------------------------------------------------------------------- */

/* The list may grow meanwhile; only the lock changes. */
static nd4c_state *locked(const nd4c_state *state) {
  nd4c_state *held = NULL;
  memcpy(&held, &state, sizeof held);
  nd4c_lock_acquire(&held->lock);
  return held;
}

int32_t nd4c_state_count(const nd4c_state *state) {
  if (state == NULL || nd4c_state_check(state) != ND4C_OK) {
    return 0;
  }
  nd4c_state *held = locked(state);
  const int32_t count = held->count;
  nd4c_lock_release(&held->lock);
  return count;
}

nd4c_status nd4c_state_get_info(const nd4c_state *state, int32_t index, nd4c_state_info *info) {
  ND4C_TRY(nd4c_state_check(state));
  if (info == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_state_get_info: info is NULL");
  }
  if (!ND4C_HAS_FIELD(info, changes)) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_state_get_info: struct_size is %u, expected at least %u", info->struct_size,
                     ND4C_SIZE_OF(nd4c_state_info));
  }
  nd4c_state *held = locked(state);
  const int32_t count = held->count;
  if (index >= 0 && index < count) {
    const nd4c_state_item *item = held->items[index];
    info->name = item->name;
    info->dtype = item->dtype;
    info->rank = item->rank;
    info->shape = item->shape;
    info->trainable = item->trainable;
    info->changes = item->changes;
  }
  nd4c_lock_release(&held->lock);
  return index >= 0 && index < count
             ? ND4C_OK
             : nd4c_fail(ND4C_INDEX, "nd4c_state_get_info: the state has %d variables, not one number %d", (int)count,
                         (int)index);
}

/* -- reading and replacing ----------------------------------------------------------------------------------------- */

static nd4c_status check_lists(const char *function, const char *const *names, const void *arrays, int32_t count) {
  if (count < 0 || (count > 0 && (names == NULL || arrays == NULL))) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: names or arrays are NULL, or count is negative", function);
  }
  for (int32_t i = 0; i < count; i++) {
    if (names[i] == NULL) {
      return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: name %d is NULL", function, (int)i);
    }
  }
  return ND4C_OK;
}

static nd4c_status fail_name(const char *function, const char *name, const char *why) {
  return nd4c_fail(ND4C_NAME, "%s: '%.*s' is %s", function, SHOWN, name, why);
}

static nd4c_status check_array(const char *function, const nd4c_state_item *item, const nd4c_array *array) {
  ND4C_TRY(nd4c_array_check(array, "array"));
  if (array->dtype != item->dtype) {
    return nd4c_fail(ND4C_DTYPE, "%s: the array for '%.*s' has dtype %s, expected %s", function, SHOWN, item->name,
                     nd4c_dtype_name(array->dtype), nd4c_dtype_name(item->dtype));
  }
  if (!nd4c_shape_equal(array->rank, array->shape, item->rank, item->shape)) {
    char has[TEXT], expected[TEXT];
    return nd4c_fail(ND4C_SHAPE, "%s: the array for '%.*s' has shape %s, expected %s", function, SHOWN, item->name,
                     nd4c_shape_text(array->rank, array->shape, has, sizeof has),
                     nd4c_shape_text(item->rank, item->shape, expected, sizeof expected));
  }
  return ND4C_OK;
}

/* Retains the current arrays of the names, all at one moment; `found` has those of them that were found. */
static nd4c_status snapshot(const nd4c_state *state, const char *const *names, int32_t count, nd4c_array *const *arrays,
                            nd4c_array **found) {
  nd4c_state *held = locked(state);
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < count && status == ND4C_OK; i++) {
    const nd4c_state_item *item = nd4c_state_find(held, names[i]);
    status = item == NULL        ? fail_name("nd4c_state_get", names[i], "no variable of the state")
             : arrays[i] != NULL ? check_array("nd4c_state_get", item, arrays[i])
                                 : ND4C_OK;
    if (status == ND4C_OK) {
      found[i] = nd4c_array_retain(item->current);
    }
  }
  nd4c_lock_release(&held->lock);
  return status;
}

static nd4c_status copy_all(const char *const *names, nd4c_array *const *found, int32_t count, nd4c_array **arrays,
                            bool *fresh) {
  for (int32_t i = 0; i < count; i++) {
    fresh[i] = arrays[i] == NULL;
    const nd4c_status status = nd4c_copy(found[i], &arrays[i]);
    if (status != ND4C_OK) {
      return nd4c_fail_prefix(status, "nd4c_state_get: '%.*s'", SHOWN, names[i]);
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_state_get(const nd4c_state *state, const char *const *names, nd4c_array **arrays, int32_t count) {
  nd4c_array **found = NULL;
  bool *fresh = NULL;
  ND4C_TRY(nd4c_state_check(state));
  ND4C_TRY(check_lists("nd4c_state_get", names, arrays, count));
  nd4c_status status = nd4c_allocate_or_fail((size_t)count + 1, sizeof(nd4c_array *), "variables", &found);
  status = status == ND4C_OK ? nd4c_allocate_or_fail((size_t)count + 1, sizeof *fresh, "variables", &fresh) : status;
  if (status == ND4C_OK) {
    status = snapshot(state, names, count, arrays, found);
    status = status == ND4C_OK ? copy_all(names, found, count, arrays, fresh) : status;
  }
  for (int32_t i = 0; i < count && fresh != NULL; i++) {
    nd4c_array_release(found[i]);
    if (status != ND4C_OK && fresh[i]) {
      nd4c_array_release(arrays[i]);
      arrays[i] = NULL;
    }
  }
  nd4c_deallocate(fresh);
  nd4c_deallocate(found);
  return status;
}

/* Finds the variables of the names, and checks the arrays against them. */
static nd4c_status find_all(nd4c_state *state, const char *const *names, const nd4c_array *const *arrays, int32_t count,
                            nd4c_state_item **items) {
  nd4c_status status = ND4C_OK;
  nd4c_lock_acquire(&state->lock);
  for (int32_t i = 0; i < count && status == ND4C_OK; i++) {
    items[i] = nd4c_state_find(state, names[i]);
    status = items[i] == NULL ? fail_name("nd4c_state_set", names[i], "no variable of the state")
                              : check_array("nd4c_state_set", items[i], arrays[i]);
    for (int32_t k = 0; k < i && status == ND4C_OK; k++) {
      status = items[k] == items[i] ? fail_name("nd4c_state_set", names[i], "given twice") : ND4C_OK;
    }
  }
  nd4c_lock_release(&state->lock);
  return status;
}

/* Copies the arrays beside the current ones. */
static nd4c_status prepare_all(nd4c_state_item *const *items, const nd4c_array *const *arrays, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    nd4c_array *next = NULL;
    nd4c_status status = nd4c_state_prepare(items[i], arrays[i]->storage->device, &next);
    status = status == ND4C_OK ? nd4c_copy(arrays[i], &next) : status;
    if (status != ND4C_OK) {
      return nd4c_fail_prefix(status, "nd4c_state_set: '%.*s'", SHOWN, items[i]->name);
    }
  }
  return ND4C_OK;
}

static void finish(nd4c_state *state, nd4c_state_item *const *items, int32_t count, bool commit) {
  nd4c_lock_acquire(&state->lock);
  for (int32_t i = 0; i < count; i++) {
    if (commit) {
      nd4c_state_commit(items[i]);
    } else {
      nd4c_state_abandon(items[i]);
    }
  }
  nd4c_lock_release(&state->lock);
}

nd4c_status nd4c_state_set(nd4c_state *state, const char *const *names, const nd4c_array *const *arrays,
                           int32_t count) {
  nd4c_state_item **items = NULL;
  ND4C_TRY(nd4c_state_check(state));
  ND4C_TRY(check_lists("nd4c_state_set", names, arrays, count));
  ND4C_TRY(nd4c_allocate_or_fail((size_t)count + 1, sizeof(nd4c_state_item *), "variables", &items));
  nd4c_status status = find_all(state, names, arrays, count, items);
  status = status == ND4C_OK ? nd4c_state_begin(state) : status;
  if (status == ND4C_OK) {
    status = prepare_all(items, arrays, count);
    finish(state, items, count, status == ND4C_OK);
    nd4c_state_end(state);
  }
  nd4c_deallocate(items);
  return status;
}
