/* Implements the part of rewrite.h that reads and makes constants, in double precision. The passes gelu, layer_norm and
 * fold_affine call it. */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "device/storage/deferred.h"
#include "graph/ir/rewrite.h"

bool nd4c_constant_scalar(const nd4c_rewrite *rewrite, nd4c_value value, double *number) {
  const nd4c_array *array = value < 0 ? NULL : rewrite->graph->values[value].constant;
  if (array == NULL || array->size != 1) {
    return false;
  }
  nd4c_dtype_kind kind = nd4c_dtype_get_info(array->dtype)->kind;
  if (kind != ND4C_KIND_FLOAT && kind != ND4C_KIND_INT && kind != ND4C_KIND_UINT) {
    return false;
  }
  int64_t index[ND4C_MAX_RANK] = {0};
  return nd4c_array_item(array, index, number) == ND4C_OK;
}

static void widen(nd4c_dtype dtype, const void *elements, int64_t count, double *numbers) {
  if (dtype == ND4C_FLOAT64) {
    memcpy(numbers, elements, (size_t)count * sizeof *numbers);
    return;
  }
  const float *floats = elements;
  for (int64_t i = 0; i < count; i++) {
    numbers[i] = (double)floats[i];
  }
}

/* A deferred array is written here, so that reading it does not make a replica that stays. */
static nd4c_status read_elements(const nd4c_array *array, void *elements, size_t bytes) {
  const bool whole = nd4c_array_is_contiguous(array) && (int64_t)bytes == array->storage->bytes;
  return whole && nd4c_deferred_is_pending(array->storage) ? nd4c_deferred_write(array->storage, elements)
                                                           : nd4c_array_read(array, elements, bytes);
}

double *nd4c_constant_numbers(const nd4c_rewrite *rewrite, nd4c_value value, int64_t limit, nd4c_status *status) {
  *status = ND4C_OK;
  const nd4c_array *array = value < 0 ? NULL : rewrite->graph->values[value].constant;
  if (array == NULL || array->size > limit || (array->dtype != ND4C_FLOAT32 && array->dtype != ND4C_FLOAT64)) {
    return NULL;
  }
  size_t bytes = (size_t)(array->size * nd4c_dtype_size(array->dtype));
  double *numbers = nd4c_allocate((size_t)array->size * sizeof *numbers);
  void *elements = nd4c_allocate(bytes);
  if (numbers == NULL || elements == NULL) {
    *status = nd4c_fail_memory("folding constants", bytes);
  } else {
    *status = read_elements(array, elements, bytes);
  }
  if (*status == ND4C_OK) {
    widen(array->dtype, elements, array->size, numbers);
  } else {
    nd4c_deallocate(numbers);
    numbers = NULL;
  }
  nd4c_deallocate(elements);
  return numbers;
}

nd4c_status nd4c_constant_make(nd4c_rewrite *rewrite, nd4c_dtype dtype, int32_t rank, const int64_t *shape,
                               const double *numbers, nd4c_value *value) {
  nd4c_array *array = NULL;
  ND4C_TRY(nd4c_array_empty(dtype, rank, shape, rewrite->context->device, &array));
  size_t bytes = (size_t)(array->size * nd4c_dtype_size(dtype));
  nd4c_status status = ND4C_OK;
  if (dtype == ND4C_FLOAT64) {
    status = nd4c_array_write(array, numbers, bytes);
  } else {
    float *floats = nd4c_allocate(bytes);
    if (floats == NULL) {
      status = nd4c_fail_memory("folding constants", bytes);
    } else {
      for (int64_t i = 0; i < array->size; i++) {
        floats[i] = (float)numbers[i];
      }
      status = nd4c_array_write(array, floats, bytes);
      nd4c_deallocate(floats);
    }
  }
  if (status != ND4C_OK) {
    nd4c_array_release(array);
    return status;
  }
  return nd4c_rewrite_constant(rewrite, array, value);
}
