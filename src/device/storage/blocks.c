/* nd4c_array_from_blocks: arrays of quantised blocks, which encoded.c stores. Programs call it, among them the Python
 * package. */
#include <stdio.h>

#include "array/shape.h"
#include "base/status.h"
#include "device/storage/encoded.h"
#include "nd4c/plugin/blocks.h"

static nd4c_status check_given(const char *format, int32_t rank, const int64_t *shape, const void *blocks,
                               nd4c_array **out) {
  const char *missing = format == NULL              ? "format"
                        : rank > 0 && shape == NULL ? "shape"
                        : blocks == NULL            ? "blocks"
                        : out == NULL               ? "out"
                                                    : NULL;
  return missing == NULL ? ND4C_OK : nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_array_from_blocks: %s is NULL", missing);
}

static nd4c_status check_shape(const nd4c_block_format *format, int32_t rank, const int64_t *shape, int64_t *size) {
  char text[256];
  ND4C_TRY(nd4c_shape_size(ND4C_FLOAT32, rank, shape, size));
  if (rank > ND4C_LAYOUT_AXES) {
    return nd4c_fail(ND4C_SHAPE, "nd4c_array_from_blocks: rank %d, expected 1 to %d", rank, ND4C_LAYOUT_AXES);
  }
  if (rank < 1 || *size == 0 || shape[rank - 1] % format->elements != 0) {
    return nd4c_fail(
        ND4C_SHAPE,
        "nd4c_array_from_blocks: shape %s: expected extents of 1 or more, the last one a multiple of %d, a "
        "block of %s",
        nd4c_shape_text(rank, shape, text, sizeof text), format->elements, format->name);
  }
  return ND4C_OK;
}

static nd4c_layout layout_of(const nd4c_block_format *format, int32_t rank, const int64_t *shape, int64_t size) {
  nd4c_layout layout = {.struct_size = ND4C_SIZE_OF(nd4c_layout),
                        .tag = ND4C_LAYOUT_QUANTISED,
                        .dtype = ND4C_FLOAT32,
                        .bytes = size / format->elements * format->bytes,
                        .rank = rank,
                        .axis = rank - 1,
                        .block_elements = format->elements,
                        .block_bytes = format->bytes};
  for (int32_t i = 0; i < rank; i++) {
    layout.shape[i] = shape[i];
  }
  (void)snprintf(layout.format, sizeof layout.format, "%s", format->name);
  return layout;
}

nd4c_status nd4c_array_from_blocks(const char *format, int32_t rank, const int64_t *shape, const void *blocks,
                                   size_t bytes, nd4c_array **out) {
  ND4C_TRY(check_given(format, rank, shape, blocks, out));
  const nd4c_block_format *found = nd4c_block_format_find(format);
  int64_t size = 0;
  if (found == NULL) {
    return nd4c_fail(ND4C_NAME, "nd4c_array_from_blocks: there is no block format '%.60s': expected q8_0 or q4_0",
                     format);
  }
  ND4C_TRY(check_shape(found, rank, shape, &size));
  const nd4c_layout layout = layout_of(found, rank, shape, size);
  if (bytes != (size_t)layout.bytes) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_array_from_blocks: %zu bytes given, %lld elements of %s need %lld", bytes,
                     (long long)size, found->name, (long long)layout.bytes);
  }
  nd4c_storage *storage = NULL;
  ND4C_TRY(nd4c_layout_check(&layout, "nd4c_array_from_blocks"));
  ND4C_TRY(nd4c_encoded_create(&layout, blocks, &storage));
  return nd4c_array_make_of(ND4C_FLOAT32, rank, shape, NULL, 0, storage, out);
}

const char *nd4c_array_block_format(const nd4c_array *array) {
  if (array == NULL || nd4c_array_check(array, "nd4c_array_block_format: array") != ND4C_OK) {
    return NULL;
  }
  const nd4c_layout *layout = nd4c_encoded_layout(array->storage);
  return layout != NULL ? layout->format : NULL;
}
