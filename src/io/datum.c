/* Implements nd4c/datum.h: arrays, sequences and optionals as values. Programs call it, and src/import for the inputs
 * and outputs of models. */
#include "io/datum.h"

#include "array/array.h"
#include "base/alloc.h"
#include "base/status.h"

enum { DATUM_MAGIC = 0x6461746d, DATUM_DEAD = 0x64656174, DEPTH_MOST = 8 };

nd4c_status nd4c_datum_check(const nd4c_datum *datum, const char *what) {
  if (datum == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "%s is NULL", what);
  }
  return datum->magic == DATUM_MAGIC ? ND4C_OK : nd4c_fail(ND4C_HANDLE, "%s is released or no datum", what);
}

static nd4c_status make(nd4c_datum_kind kind, nd4c_dtype dtype, int32_t count, nd4c_datum **out) {
  size_t bytes = sizeof(nd4c_datum) + (size_t)count * sizeof(nd4c_datum *);
  nd4c_datum *made = nd4c_allocate_zeroed(1, bytes);
  if (made == NULL) {
    return nd4c_fail_memory("a datum", bytes);
  }
  made->magic = DATUM_MAGIC;
  atomic_init(&made->references, 1);
  made->kind = kind;
  made->dtype = dtype;
  made->depth = 1;
  made->count = count;
  *out = made;
  return ND4C_OK;
}

nd4c_status nd4c_datum_of_array(nd4c_array *array, nd4c_datum **out) {
  nd4c_datum *made = NULL;
  if (out == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_datum_of_array: out is NULL");
  }
  ND4C_TRY(nd4c_array_check(array, "array"));
  ND4C_TRY(make(ND4C_DATUM_ARRAY, nd4c_array_dtype(array), 0, &made));
  made->array = nd4c_array_retain(array);
  *out = made;
  return ND4C_OK;
}

/* Releasing, writing and comparing data recurses into items, so their depth must be bounded. */
static nd4c_status check_depth(const nd4c_datum *item) {
  return item->depth < DEPTH_MOST ? ND4C_OK : nd4c_fail(ND4C_ARGUMENT, "a datum more than %d deep", (int)DEPTH_MOST);
}

static nd4c_status check_items(nd4c_dtype *dtype, nd4c_datum *const *items, int32_t count) {
  if (count < 0 || (count > 0 && items == NULL)) {
    return nd4c_fail(count < 0 ? ND4C_ARGUMENT : ND4C_NULL_ARGUMENT, "nd4c_datum_of_sequence: %d items%s", (int)count,
                     items == NULL ? ", items is NULL" : "");
  }
  for (int32_t i = 0; i < count; i++) {
    ND4C_TRY(nd4c_datum_check(items[i], "nd4c_datum_of_sequence: an item"));
    if (items[i]->kind != items[0]->kind) {
      return nd4c_fail(ND4C_ARGUMENT, "nd4c_datum_of_sequence: item %d is of another kind than item 0", (int)i);
    }
    ND4C_TRY(check_depth(items[i]));
    nd4c_dtype found = items[i]->dtype;
    *dtype = *dtype == ND4C_DTYPE_NONE ? found : *dtype;
    if (found != ND4C_DTYPE_NONE && found != *dtype) {
      return nd4c_fail(ND4C_DTYPE, "nd4c_datum_of_sequence: item %d is %s, expected %s", (int)i, nd4c_dtype_name(found),
                       nd4c_dtype_name(*dtype));
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_datum_of_sequence(nd4c_dtype dtype, nd4c_datum *const *items, int32_t count, nd4c_datum **out) {
  nd4c_datum *made = NULL;
  if (out == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_datum_of_sequence: out is NULL");
  }
  ND4C_TRY(check_items(&dtype, items, count));
  ND4C_TRY(make(ND4C_DATUM_SEQUENCE, dtype, count, &made));
  for (int32_t i = 0; i < count; i++) {
    made->items[i] = nd4c_datum_retain(items[i]);
    made->depth = made->depth <= items[i]->depth ? items[i]->depth + 1 : made->depth;
  }
  *out = made;
  return ND4C_OK;
}

nd4c_status nd4c_datum_of_optional(nd4c_datum *item, nd4c_datum **out) {
  nd4c_datum *made = NULL;
  if (out == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_datum_of_optional: out is NULL");
  }
  if (item != NULL) {
    ND4C_TRY(nd4c_datum_check(item, "nd4c_datum_of_optional: item"));
    if (item->kind == ND4C_DATUM_OPTIONAL) {
      return nd4c_fail(ND4C_ARGUMENT, "nd4c_datum_of_optional: item is an optional; expected an array or a sequence");
    }
    ND4C_TRY(check_depth(item));
  }
  ND4C_TRY(make(ND4C_DATUM_OPTIONAL, item == NULL ? ND4C_DTYPE_NONE : item->dtype, item != NULL, &made));
  if (item != NULL) {
    made->items[0] = nd4c_datum_retain(item);
    made->depth = item->depth + 1;
  }
  *out = made;
  return ND4C_OK;
}

nd4c_datum *nd4c_datum_retain(nd4c_datum *datum) {
  if (datum != NULL) {
    (void)atomic_fetch_add_explicit(&datum->references, 1, memory_order_relaxed);
  }
  return datum;
}

void nd4c_datum_release(nd4c_datum *datum) {
  if (datum == NULL || nd4c_datum_check(datum, "datum") != ND4C_OK ||
      atomic_fetch_sub_explicit(&datum->references, 1, memory_order_acq_rel) != 1) {
    return;
  }
  for (int32_t i = 0; i < datum->count; i++) {
    nd4c_datum_release(datum->items[i]);
  }
  nd4c_array_release(datum->array);
  datum->magic = DATUM_DEAD;
  nd4c_deallocate(datum);
}

nd4c_datum_kind nd4c_datum_get_kind(const nd4c_datum *datum) {
  return datum == NULL ? ND4C_DATUM_NONE : datum->kind;
}

nd4c_array *nd4c_datum_array(const nd4c_datum *datum) {
  return datum == NULL ? NULL : datum->array;
}

int32_t nd4c_datum_count(const nd4c_datum *datum) {
  return datum == NULL ? 0 : datum->count;
}

nd4c_datum *nd4c_datum_item(const nd4c_datum *datum, int32_t index) {
  return datum == NULL || index < 0 || index >= datum->count ? NULL : datum->items[index];
}

nd4c_dtype nd4c_datum_dtype(const nd4c_datum *datum) {
  return datum == NULL ? ND4C_DTYPE_NONE : datum->dtype;
}
