/* Implements converted.h: the conversion, what a deferred constant needs to do it later, and sharing. */
#include "graph/ir/converted.h"

#include "array/half.h"
#include "base/alloc.h"
#include "base/status.h"
#include "device/device.h"
#include "device/storage/deferred.h"
#include "device/storage/storage.h"
#include "graph/ir/derived.h"

/* Bits of a half without its sign: infinity, and the largest number. */
enum { SIGN = 0x8000, BFLOAT16_INFINITE = 0x7f80, FLOAT16_INFINITE = 0x7c00 };

static bool is_finite(float x) {
  return x - x == 0;
}

/* The largest number stands one below infinity. */
static uint16_t narrow_number(nd4c_dtype dtype, float x) {
  const bool brain = dtype == ND4C_BFLOAT16;
  const uint16_t bits = brain ? nd4c_bfloat16_from_float(x) : nd4c_float16_from_float(x);
  const int infinite = brain ? BFLOAT16_INFINITE : FLOAT16_INFINITE;
  return (uint16_t)((bits & (SIGN - 1)) == infinite && is_finite(x) ? bits - 1 : bits);
}

static void narrow_numbers(nd4c_dtype dtype, int64_t count, const float *from, uint16_t *to) {
  for (int64_t i = 0; i < count; i++) {
    to[i] = narrow_number(dtype, from[i]);
  }
}

static void widen_numbers(nd4c_dtype dtype, int64_t count, const uint16_t *from, float *to) {
  for (int64_t i = 0; i < count; i++) {
    to[i] = dtype == ND4C_BFLOAT16 ? nd4c_bfloat16_to_float(from[i]) : nd4c_float16_to_float(from[i]);
  }
}

/* One of the dtypes is float32. */
static void convert_numbers(nd4c_dtype from_dtype, nd4c_dtype to_dtype, int64_t count, const void *from, void *to) {
  if (from_dtype == ND4C_FLOAT32) {
    narrow_numbers(to_dtype, count, from, to);
  } else {
    widen_numbers(from_dtype, count, from, to);
  }
}

/* -- deferred ------------------------------------------------------------------------------------------------------ */

typedef struct recipe {
  nd4c_array *from; /* one reference */
  nd4c_dtype dtype;
} recipe;

static nd4c_status fill(void *user, void *to) {
  const recipe *r = user;
  const void *bytes = NULL;
  void *made = NULL;
  ND4C_TRY(nd4c_deferred_read(r->from->storage, &bytes, &made));
  bytes = (const char *)bytes + r->from->offset * nd4c_dtype_size(r->from->dtype);
  convert_numbers(r->from->dtype, r->dtype, r->from->size, bytes, to);
  nd4c_deallocate(made);
  return ND4C_OK;
}

static void release(void *user) {
  recipe *r = user;
  nd4c_array_release(r->from);
  nd4c_deallocate(r);
}

static bool can_defer(const nd4c_array *from) {
  return nd4c_array_is_contiguous(from) && nd4c_dtype_bytes(from->dtype, from->size) >= ND4C_DEFERRED_LEAST &&
         nd4c_deferred_can_read(from->storage);
}

static nd4c_status defer(const nd4c_array *from, nd4c_dtype dtype, nd4c_array **array) {
  recipe *r = NULL;
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *r, "a constant in another dtype", &r));
  r->dtype = dtype;
  nd4c_status status = nd4c_array_view(from, from->rank, from->shape, from->strides, from->offset, &r->from);
  if (status == ND4C_OK) {
    const nd4c_deferral deferral = {.fill = fill, .release = release, .user = r};
    status = nd4c_deferred_array(dtype, from->rank, from->shape, &deferral, array);
  }
  if (status != ND4C_OK) {
    release(r);
  }
  return status;
}

/* -- at once ------------------------------------------------------------------------------------------------------- */

static nd4c_status convert(const nd4c_array *from, nd4c_array *to) {
  const size_t from_bytes = (size_t)(from->size * nd4c_dtype_size(from->dtype));
  const size_t to_bytes = (size_t)(from->size * nd4c_dtype_size(to->dtype));
  char *given = NULL, *made = NULL;
  nd4c_status status = nd4c_allocate_or_fail(from_bytes, 1, "a constant in another dtype", &given);
  if (status == ND4C_OK) {
    status = nd4c_allocate_or_fail(to_bytes, 1, "a constant in another dtype", &made);
  }
  if (status == ND4C_OK) {
    status = nd4c_array_read(from, given, from_bytes);
  }
  if (status == ND4C_OK) {
    convert_numbers(from->dtype, to->dtype, from->size, given, made);
    status = nd4c_array_write(to, made, to_bytes);
  }
  nd4c_deallocate(given);
  nd4c_deallocate(made);
  return status;
}

static nd4c_status make(const nd4c_rewrite *rewrite, const nd4c_array *from, nd4c_dtype dtype, nd4c_array **array) {
  nd4c_device *host = NULL;
  ND4C_TRY(nd4c_device_host(&host));
  if (rewrite->context->device == host && can_defer(from)) {
    return defer(from, dtype, array);
  }
  ND4C_TRY(nd4c_array_empty(dtype, from->rank, from->shape, rewrite->context->device, array));
  nd4c_status status = convert(from, *array);
  if (status == ND4C_OK) {
    status = nd4c_storage_own((*array)->storage); /* other plans use it outside this thread's workspace */
  }
  if (status != ND4C_OK) {
    nd4c_array_release(*array);
    *array = NULL;
  }
  return status;
}

/* -- sharing ------------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_converted_constant(nd4c_rewrite *rewrite, nd4c_value from, nd4c_dtype dtype, nd4c_value *made) {
  const nd4c_derived_key key = {.from = rewrite->graph->values[from].constant, .dtype = dtype};
  nd4c_array *array = nd4c_derived_find(&key);
  bool derived = array != NULL;
  if (!derived) {
    ND4C_TRY(make(rewrite, key.from, dtype, &array));
    derived = nd4c_derived_add(&key, array);
  }
  nd4c_array_retain(array); /* rewrite_constant takes over one reference */
  const nd4c_status status = nd4c_rewrite_constant(rewrite, array, made);
  if (status == ND4C_OK) {
    rewrite->graph->values[*made].derived = derived;
  } else if (derived) {
    nd4c_derived_drop(array);
  }
  nd4c_array_release(array);
  return status;
}
