/* Layouts: the same elements, in other places. */
#include <stdlib.h>
#include <string.h>

#include "conformance.h"

#define LAYOUT_NAME(name) #name,
const char *const cf_layout_names[CF_LAYOUT_COUNT] = {CF_LAYOUTS(LAYOUT_NAME)};
#undef LAYOUT_NAME

/* Gap-free strides with the axes in the given order, slowest first. Returns the number of elements. */
static int64_t ordered_strides(int32_t rank, const int64_t *shape, const int32_t *order, int64_t *strides) {
  int64_t stride = 1;
  for (int32_t i = rank - 1; i >= 0; i--) {
    strides[order[i]] = stride;
    stride *= shape[order[i]];
  }
  return stride;
}

static void axis_order(cf_layout layout, int32_t rank, int32_t *order) {
  for (int32_t i = 0; i < rank; i++) {
    order[i] = layout == CF_LAYOUT_transposed ? rank - 1 - i : i;
  }
  if (layout == CF_LAYOUT_channels_last) {
    for (int32_t i = 1; i + 1 < rank; i++) {
      order[i] = i + 1;
    }
    order[rank - 1] = 1;
  }
}

static bool applies(cf_layout layout, int32_t rank, const int64_t *shape) {
  bool longer = false;
  for (int32_t i = 0; i < rank; i++) {
    longer = longer || shape[i] > 1;
  }
  switch (layout) {
    case CF_LAYOUT_contiguous:
    case CF_LAYOUT_offset:
      return true;
    case CF_LAYOUT_transposed:
    case CF_LAYOUT_overlapping:
      return rank >= 2 && longer;
    case CF_LAYOUT_channels_last:
      return rank >= 3 && rank <= 5 && longer;
    default:
      return rank >= 1 && longer;
  }
}

/* Packed arrays are contiguous; in the layout `offset` they begin with a later byte, and end where the memory does. */
static bool place_packed(cf_layout layout, int32_t rank, const int64_t *shape, cf_placement *placement) {
  int32_t order[CF_RANK];
  axis_order(CF_LAYOUT_contiguous, rank, order);
  int64_t size = ordered_strides(rank, shape, order, placement->strides);
  placement->offset = layout == CF_LAYOUT_contiguous ? 0 : 8;
  placement->total = size + placement->offset;
  return layout == CF_LAYOUT_contiguous || layout == CF_LAYOUT_offset;
}

bool cf_place(nd4c_dtype dtype, cf_layout layout, int32_t rank, const int64_t *shape, cf_placement *placement) {
  int32_t order[CF_RANK];
  int64_t size = 1;
  *placement = (cf_placement){.injective = true, .offset = layout == CF_LAYOUT_contiguous ? 0 : CF_GUARD};
  if (cf_is_packed(dtype)) {
    return place_packed(layout, rank, shape, placement);
  }
  if (!applies(layout, rank, shape)) {
    return false;
  }
  axis_order(layout, rank, order);
  size = ordered_strides(rank, shape, order, placement->strides);
  placement->total = size + 2 * placement->offset;
  if (layout == CF_LAYOUT_second) {
    for (int32_t i = 0; i < rank; i++) {
      placement->strides[i] *= 2;
    }
    placement->total += size;
  } else if (layout == CF_LAYOUT_negative) {
    for (int32_t i = 0; i < rank; i++) {
      placement->offset += size > 0 ? placement->strides[i] * (shape[i] - 1) : 0;
      placement->strides[i] = -placement->strides[i];
    }
  } else if (layout == CF_LAYOUT_zero) {
    for (int32_t i = 0; i < rank && placement->injective; i++) {
      if (shape[i] > 1) {
        placement->strides[i] = 0;
        placement->injective = false;
      }
    }
  } else if (layout == CF_LAYOUT_overlapping) {
    for (int32_t i = 0; i < rank; i++) {
      placement->strides[i] = 1;
    }
    placement->injective = false;
  }
  return true;
}

/* Places of all elements in C order. */
static int64_t place_of(const cf_tensor *tensor, const cf_placement *placement, int64_t number) {
  int64_t place = placement->offset;
  for (int32_t axis = tensor->rank - 1; axis >= 0; axis--) {
    place += number % tensor->shape[axis] * placement->strides[axis];
    number /= tensor->shape[axis];
  }
  return place;
}

static nd4c_status upload_packed(const cf_tensor *block, nd4c_device *device, nd4c_array **base) {
  unsigned char *packed = cf_need((size_t)block->size);
  cf_pack(block, packed);
  nd4c_status status = nd4c_array_from_data(block->dtype, block->rank, block->shape, packed, device, base);
  free(packed);
  return status;
}

static nd4c_status upload(const cf_tensor *block, nd4c_device *device, nd4c_array **base) {
  if (cf_is_packed(block->dtype)) {
    return upload_packed(block, device, base);
  }
  if (block->dtype != ND4C_UTF8) {
    return nd4c_array_from_data(block->dtype, block->rank, block->shape, block->data, device, base);
  }
  const char **texts = calloc((size_t)block->size + 1, sizeof *texts);
  if (texts == NULL) {
    return ND4C_MEMORY;
  }
  for (int64_t i = 0; i < block->size; i++) {
    texts[i] = cf_string(cf_get(block, i).i);
  }
  nd4c_status status = nd4c_array_from_strings(block->rank, block->shape, texts, NULL, base);
  free((void *)texts);
  return status;
}

nd4c_status cf_array_make(cf_tensor *tensor, const cf_placement *placement, nd4c_device *device, cf_array *array) {
  int64_t bytes = cf_size_of(tensor->dtype);
  *array = (cf_array){.placement = *placement};
  cf_tensor_make(&array->block, tensor->dtype, 1, &placement->total);
  /* No kernel may use the bytes between the elements; the pattern is NaN, or huge. */
  int pattern = tensor->dtype == ND4C_UTF8 ? 0 : cf_is_packed(tensor->dtype) ? 1 : 0x7f;
  memset(array->block.data, pattern, (size_t)(placement->total * bytes));
  for (int64_t i = 0; i < tensor->size; i++) {
    memcpy(array->block.data + place_of(tensor, placement, i) * bytes, tensor->data + i * bytes, (size_t)bytes);
  }
  for (int64_t i = 0; i < tensor->size; i++) {
    memcpy(tensor->data + i * bytes, array->block.data + place_of(tensor, placement, i) * bytes, (size_t)bytes);
  }
  nd4c_status status = upload(&array->block, device, &array->base);
  if (status != ND4C_OK) {
    return status;
  }
  return nd4c_array_as_strided(array->base, tensor->rank, tensor->shape, placement->strides, placement->offset,
                               &array->view);
}

void cf_array_clear(cf_array *array) {
  nd4c_array_release(array->view);
  nd4c_array_release(array->base);
  cf_tensor_clear(&array->block);
  *array = (cf_array){0};
}

static nd4c_status read_strings(const nd4c_array *array, cf_tensor *tensor) {
  for (int64_t i = 0; i < tensor->size; i++) {
    const char *text = NULL;
    int64_t length = 0;
    nd4c_status status = nd4c_array_string(array, i, &text, &length);
    if (status != ND4C_OK) {
      return status;
    }
    cf_set(tensor, i, (cf_value){.i = cf_string_number(text, length)});
  }
  return ND4C_OK;
}

static nd4c_status read_packed(const nd4c_array *array, cf_tensor *tensor) {
  size_t bytes = (size_t)((tensor->size * cf_bits_of(tensor->dtype) + 7) / 8);
  unsigned char *packed = cf_need(bytes);
  nd4c_status status = nd4c_array_read(array, packed, bytes);
  cf_unpack(packed, tensor);
  free(packed);
  return status;
}

nd4c_status cf_array_read(const nd4c_array *array, cf_tensor *tensor) {
  cf_tensor_make(tensor, nd4c_array_dtype(array), nd4c_array_rank(array), nd4c_array_shape(array));
  if (cf_is_packed(tensor->dtype)) {
    return read_packed(array, tensor);
  }
  nd4c_status status = tensor->dtype == ND4C_UTF8
                           ? read_strings(array, tensor)
                           : nd4c_array_read(array, tensor->data, (size_t)(tensor->size * cf_size_of(tensor->dtype)));
  if (status != ND4C_OK) {
    cf_tensor_clear(tensor);
  }
  return status;
}

bool cf_array_intact(const cf_array *array, bool except_view) {
  cf_tensor now = {0};
  if (cf_array_read(array->base, &now) != ND4C_OK) {
    return false;
  }
  int64_t bytes = cf_size_of(now.dtype);
  if (except_view) {
    cf_tensor view = {.rank = nd4c_array_rank(array->view), .size = nd4c_array_size(array->view)};
    memcpy(view.shape, nd4c_array_shape(array->view), (size_t)view.rank * sizeof(int64_t));
    for (int64_t i = 0; i < view.size; i++) {
      int64_t place = place_of(&view, &array->placement, i) * bytes;
      memcpy(now.data + place, array->block.data + place, (size_t)bytes);
    }
  }
  bool same = memcmp(now.data, array->block.data, (size_t)(now.size * bytes)) == 0;
  cf_tensor_clear(&now);
  return same;
}
