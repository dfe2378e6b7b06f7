/* Implements mapped.h: what a deferred constant needs to compute itself, and the computation. */
#include "graph/ir/mapped.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "device/device.h"
#include "device/storage/deferred.h"
#include "device/storage/storage.h"

typedef struct recipe {
  nd4c_array *from; /* one reference */
  nd4c_derived_key key;
  double numbers[]; /* scale, then shift, if they are given */
} recipe;

/* What a number of a channel becomes. */
static inline double map_number(const nd4c_derived_key *key, int64_t channel, double number) {
  const double factor = key->scale == NULL ? 1.0 : key->scale[channel];
  const double term = key->shift == NULL ? 0.0 : key->shift[channel];
  return number * factor + term;
}

static int64_t numbers_each(const nd4c_derived_key *key, int64_t size) {
  return key->channels > 0 ? size / key->channels : 0;
}

/* Number after number, so that no wide copy of the constant is needed. */
static void map_floats(const float *from, int64_t size, const nd4c_derived_key *key, float *to) {
  const int64_t each = numbers_each(key, size);
  for (int64_t c = 0; c < key->channels; c++) {
    for (int64_t i = c * each; i < (c + 1) * each; i++) {
      to[i] = (float)map_number(key, c, (double)from[i]);
    }
  }
}

/* Whether a dtype holds the numbers of a result. */
typedef struct fit {
  double least, most; /* normal numbers of the dtype */
  double largest;     /* magnitude so far */
  bool odd, lost;     /* some number is not finite; some lost digits by becoming smaller than a normal one */
} fit;

static fit begin_fit(nd4c_dtype dtype) {
  const bool narrow = dtype == ND4C_FLOAT32;
  return (fit){.least = narrow ? (double)FLT_MIN : DBL_MIN, .most = narrow ? (double)FLT_MAX : DBL_MAX};
}

static inline void look_at(fit *f, double number, double made) {
  const double magnitude = fabs(made);
  f->odd = f->odd || !(magnitude <= f->most); /* NaN is odd, too */
  f->lost = f->lost || (magnitude < f->least && magnitude > 0 && fabs(number) >= f->least);
  f->largest = magnitude > f->largest ? magnitude : f->largest;
}

/* Lost digits do not count beside numbers that are 2^24 times as large as the least normal one: what they would add to
 * a sum with those is less than its rounding. */
static bool holds(const fit *f) {
  return !f->odd && (!f->lost || f->largest >= f->least * 0x1p24);
}

/* Whether float32 holds the result. */
static nd4c_status find_fit(const nd4c_derived_key *key, bool *fits) {
  const void *bytes = NULL;
  void *made = NULL;
  ND4C_TRY(nd4c_deferred_read(key->from->storage, &bytes, &made));
  const float *from = (const float *)bytes + key->from->offset;
  const int64_t each = numbers_each(key, key->from->size);
  fit found = begin_fit(ND4C_FLOAT32);
  for (int64_t c = 0; c < key->channels; c++) {
    for (int64_t i = c * each; i < (c + 1) * each; i++) {
      look_at(&found, (double)from[i], map_number(key, c, (double)from[i]));
    }
  }
  *fits = holds(&found);
  nd4c_deallocate(made);
  return ND4C_OK;
}

static nd4c_status fill(void *user, void *to) {
  const recipe *r = user;
  const void *bytes = NULL;
  void *made = NULL;
  ND4C_TRY(nd4c_deferred_read(r->from->storage, &bytes, &made));
  map_floats((const float *)bytes + r->from->offset, r->from->size, &r->key, to);
  nd4c_deallocate(made);
  return ND4C_OK;
}

static void release(void *user) {
  recipe *r = user;
  nd4c_array_release(r->from);
  nd4c_deallocate(r);
}

static nd4c_status make_recipe(const nd4c_derived_key *key, recipe **out) {
  const size_t bytes = (size_t)key->channels * sizeof(double);
  recipe *r = NULL;
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *r + 2 * bytes, "a folded constant", &r));
  r->key = (nd4c_derived_key){.channels = key->channels};
  if (key->scale != NULL) {
    memcpy(r->numbers, key->scale, bytes);
    r->key.scale = r->numbers;
  }
  if (key->shift != NULL) {
    memcpy(r->numbers + key->channels, key->shift, bytes);
    r->key.shift = r->numbers + key->channels;
  }
  const nd4c_array *from = key->from;
  nd4c_status status = nd4c_array_view(from, from->rank, from->shape, from->strides, from->offset, &r->from);
  if (status != ND4C_OK) {
    nd4c_deallocate(r);
    return status;
  }
  *out = r;
  return ND4C_OK;
}

nd4c_status nd4c_mapped_constant(const nd4c_rewrite *rewrite, const nd4c_derived_key *key, nd4c_array **array) {
  const nd4c_array *from = key->from;
  nd4c_device *host = NULL;
  recipe *made = NULL;
  ND4C_TRY(nd4c_device_host(&host));
  if (rewrite->context->device != host || from->dtype != ND4C_FLOAT32 || !nd4c_array_is_contiguous(from) ||
      nd4c_dtype_bytes(from->dtype, from->size) < ND4C_DEFERRED_LEAST || !nd4c_deferred_can_read(from->storage)) {
    return ND4C_OK;
  }
  bool fits = false;
  ND4C_TRY(find_fit(key, &fits));
  if (!fits) {
    return ND4C_OK;
  }
  ND4C_TRY(make_recipe(key, &made));
  const nd4c_deferral deferral = {.fill = fill, .release = release, .user = made};
  nd4c_status status = nd4c_deferred_array(from->dtype, from->rank, from->shape, &deferral, array);
  if (status != ND4C_OK) {
    release(made);
  }
  return status;
}

bool nd4c_factor_distributes(double factor) {
  return fabs(factor) >= 0x1p-64 && fabs(factor) <= 0x1p64;
}

/* Reuses an array that another plan has computed, as a constant of this one; *made stays NONE if there is none. */
static nd4c_status find_derived(nd4c_rewrite *rewrite, const nd4c_derived_key *key, nd4c_value *made) {
  nd4c_array *array = nd4c_derived_find(key);
  if (array == NULL) {
    return ND4C_OK;
  }
  nd4c_array_retain(array); /* rewrite_constant takes over one reference */
  nd4c_status status = nd4c_rewrite_constant(rewrite, array, made);
  if (status == ND4C_OK) {
    rewrite->graph->values[*made].derived = true;
  } else {
    nd4c_derived_drop(array);
  }
  nd4c_array_release(array);
  return status;
}

/* Maps numbers in place; false if the dtype does not hold the result. */
static bool map_numbers(double *numbers, int64_t size, const nd4c_derived_key *key, nd4c_dtype dtype) {
  const int64_t each = numbers_each(key, size);
  fit found = begin_fit(dtype);
  for (int64_t c = 0; c < key->channels; c++) {
    for (int64_t i = c * each; i < (c + 1) * each; i++) {
      const double made = map_number(key, c, numbers[i]);
      look_at(&found, numbers[i], made);
      numbers[i] = made;
    }
  }
  return holds(&found);
}

/* *made stays NONE if the dtype cannot hold a number of the result. */
static nd4c_status compute_constant(nd4c_rewrite *rewrite, nd4c_value old, const nd4c_derived_key *key,
                                    nd4c_value *made) {
  nd4c_array *array = NULL;
  nd4c_status status = nd4c_mapped_constant(rewrite, key, &array);
  if (status != ND4C_OK || array != NULL) {
    return status == ND4C_OK ? nd4c_rewrite_constant(rewrite, array, made) : status;
  }
  double *numbers = nd4c_constant_numbers(rewrite, old, ND4C_MAPPED_ELEMENTS, &status);
  if (numbers == NULL) {
    return status;
  }
  const nd4c_graph_value *value = &rewrite->graph->values[old];
  if (map_numbers(numbers, value->size, key, value->dtype)) {
    status = nd4c_constant_make(rewrite, value->dtype, value->rank, value->shape, numbers, made);
  }
  nd4c_deallocate(numbers);
  return status;
}

nd4c_status nd4c_map_constant(nd4c_rewrite *rewrite, nd4c_value old, const nd4c_derived_key *key, nd4c_value *made) {
  nd4c_value found = ND4C_VALUE_NONE;
  ND4C_TRY(find_derived(rewrite, key, &found));
  if (found == ND4C_VALUE_NONE) {
    ND4C_TRY(compute_constant(rewrite, old, key, &found));
    if (found == ND4C_VALUE_NONE) {
      *made = ND4C_VALUE_NONE;
      return ND4C_OK;
    }
    nd4c_graph_value *value = &rewrite->graph->values[found];
    ND4C_TRY(nd4c_storage_own(value->constant->storage)); /* other plans use it outside this thread's workspace */
    value->derived = nd4c_derived_add(key, value->constant);
  }
  *made = found;
  return ND4C_OK;
}
