/* Implements the part of rewrite.h that reads and makes constants, in double precision. Passes call it. */
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

static double number_at(nd4c_dtype dtype, const void *elements, int64_t index) {
  switch (dtype) {
    case ND4C_INT8:
      return ((const int8_t *)elements)[index];
    case ND4C_UINT8:
      return ((const uint8_t *)elements)[index];
    case ND4C_INT32:
      return ((const int32_t *)elements)[index];
    case ND4C_FLOAT64:
      return ((const double *)elements)[index];
    default:
      return (double)((const float *)elements)[index];
  }
}

static bool is_float(nd4c_dtype dtype) {
  return dtype == ND4C_FLOAT32 || dtype == ND4C_FLOAT64;
}

static bool is_read(nd4c_dtype dtype) {
  return is_float(dtype) || dtype == ND4C_INT8 || dtype == ND4C_UINT8 || dtype == ND4C_INT32;
}

/* A deferred array is written here, so that reading it does not make a replica that stays. */
static nd4c_status read_elements(const nd4c_array *array, void *elements, size_t bytes) {
  const bool whole = nd4c_array_is_contiguous(array) && (int64_t)bytes == array->storage->bytes;
  return whole && nd4c_deferred_is_pending(array->storage) ? nd4c_deferred_write(array->storage, elements)
                                                           : nd4c_array_read(array, elements, bytes);
}

double *nd4c_constant_elements(const nd4c_rewrite *rewrite, nd4c_value value, nd4c_status *status) {
  *status = ND4C_OK;
  const nd4c_array *array = value < 0 ? NULL : rewrite->graph->values[value].constant;
  if (array == NULL || !is_read(array->dtype)) {
    return NULL;
  }
  size_t bytes = (size_t)(array->size * nd4c_dtype_size(array->dtype));
  double *numbers = nd4c_allocate((size_t)array->size * sizeof *numbers + 1);
  void *elements = nd4c_allocate(bytes + 1);
  if (numbers == NULL || elements == NULL) {
    *status = nd4c_fail_memory("reading constants", bytes);
  } else {
    *status = read_elements(array, elements, bytes);
  }
  for (int64_t i = 0; *status == ND4C_OK && i < array->size; i++) {
    numbers[i] = number_at(array->dtype, elements, i);
  }
  if (*status != ND4C_OK) {
    nd4c_deallocate(numbers);
    numbers = NULL;
  }
  nd4c_deallocate(elements);
  return numbers;
}

double *nd4c_constant_numbers(const nd4c_rewrite *rewrite, nd4c_value value, int64_t limit, nd4c_status *status) {
  *status = ND4C_OK;
  const nd4c_array *array = value < 0 ? NULL : rewrite->graph->values[value].constant;
  return array == NULL || array->size > limit || !is_float(array->dtype)
             ? NULL
             : nd4c_constant_elements(rewrite, value, status);
}

static void put_number(nd4c_dtype dtype, void *elements, int64_t index, double number) {
  switch (dtype) {
    case ND4C_INT8:
      ((int8_t *)elements)[index] = (int8_t)number;
      break;
    case ND4C_UINT8:
      ((uint8_t *)elements)[index] = (uint8_t)number;
      break;
    case ND4C_INT32:
      ((int32_t *)elements)[index] = (int32_t)number;
      break;
    case ND4C_FLOAT64:
      ((double *)elements)[index] = number;
      break;
    default:
      ((float *)elements)[index] = (float)number;
      break;
  }
}

nd4c_status nd4c_constant_make(nd4c_rewrite *rewrite, nd4c_dtype dtype, int32_t rank, const int64_t *shape,
                               const double *numbers, nd4c_value *value) {
  nd4c_array *array = NULL;
  ND4C_TRY(nd4c_array_empty(dtype, rank, shape, rewrite->context->device, &array));
  size_t bytes = (size_t)(array->size * nd4c_dtype_size(dtype));
  void *elements = nd4c_allocate(bytes + 1);
  nd4c_status status = elements == NULL ? nd4c_fail_memory("making constants", bytes) : ND4C_OK;
  for (int64_t i = 0; status == ND4C_OK && i < array->size; i++) {
    put_number(dtype, elements, i, numbers[i]);
  }
  status = status == ND4C_OK ? nd4c_array_write(array, elements, bytes) : status;
  nd4c_deallocate(elements);
  if (status != ND4C_OK) {
    nd4c_array_release(array);
    return status;
  }
  return nd4c_rewrite_constant(rewrite, array, value);
}
