/* Implements encoded.h. blocks.c makes such storages; dispatch shows their blocks to kernels; replica_copy.c decodes
 * them. */
#include "device/storage/encoded.h"

#include <string.h>

#include "array/shape.h"
#include "base/alloc.h"
#include "base/status.h"
#include "device/storage/storage_body.h"
#include "nd4c/plugin/blocks.h"

typedef struct nd4c_encoding {
  nd4c_layout layout;
  nd4c_block block;
} nd4c_encoding;

static const nd4c_encoding *encoding_of(const nd4c_storage *storage) {
  return (storage->flags & ND4C_STORAGE_ENCODED) == 0 ? NULL : ((const nd4c_storage_body *)storage)->encoding;
}

const nd4c_layout *nd4c_encoded_layout(const nd4c_storage *storage) {
  const nd4c_encoding *encoding = encoding_of(storage);
  return encoding != NULL ? &encoding->layout : NULL;
}

/* -- life ---------------------------------------------------------------------------------------------------------- */

static nd4c_status make_encoding(nd4c_device *host, const nd4c_layout *layout, const void *blocks,
                                 nd4c_encoding **out) {
  const nd4c_memory_request request = {
      .bytes = layout->bytes, .origin = "quantised blocks", .usage = ND4C_BUFFER_ARRAY};
  nd4c_encoding *encoding = NULL;
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *encoding, "an encoded array", &encoding));
  nd4c_status status = nd4c_memory_allocate(host, &request, &encoding->block);
  if (status != ND4C_OK) {
    nd4c_deallocate(encoding);
    return status;
  }
  encoding->layout = *layout;
  memcpy(encoding->block.address, blocks, (size_t)layout->bytes);
  *out = encoding;
  return ND4C_OK;
}

nd4c_status nd4c_encoded_create(const nd4c_layout *layout, const void *blocks, nd4c_storage **storage) {
  nd4c_device *host = NULL;
  nd4c_encoding *encoding = NULL;
  int64_t size = 1;
  for (int32_t i = 0; i < layout->rank; i++) {
    size *= layout->shape[i]; /* cannot overflow, since the caller has made an array's shape of it */
  }
  ND4C_TRY(nd4c_device_host(&host));
  ND4C_TRY(make_encoding(host, layout, blocks, &encoding));
  nd4c_storage_body *body = nd4c_storage_body_make(host, layout->dtype, nd4c_dtype_bytes(layout->dtype, size),
                                                   ND4C_STORAGE_READ_ONLY | ND4C_STORAGE_ENCODED);
  if (body == NULL) {
    nd4c_memory_free(host, &encoding->block);
    nd4c_deallocate(encoding);
    return ND4C_MEMORY;
  }
  body->encoding = encoding;
  body->first.state = 'I';
  *storage = &body->base;
  return ND4C_OK;
}

void nd4c_encoded_free(nd4c_storage_body *body) {
  nd4c_device *host = NULL;
  if (body->encoding != NULL && nd4c_device_host(&host) == ND4C_OK) {
    nd4c_memory_free(host, &body->encoding->block);
    nd4c_deallocate(body->encoding);
    body->encoding = NULL;
  }
}

/* -- what kernels are shown ---------------------------------------------------------------------------------------- */

/* Whether the tensor has all elements of the layout, in C order or as a transposed matrix. */
static bool is_all(const nd4c_layout *layout, const nd4c_tensor *tensor) {
  const size_t bytes = (size_t)layout->rank * sizeof *tensor->shape;
  if (tensor->rank != layout->rank || tensor->dtype != layout->dtype) {
    return false;
  }
  if (memcmp(tensor->shape, layout->shape, bytes) == 0 &&
      nd4c_shape_is_contiguous(tensor->rank, tensor->shape, tensor->strides)) {
    return true;
  }
  return tensor->rank == 2 && tensor->shape[0] == layout->shape[1] && tensor->shape[1] == layout->shape[0] &&
         tensor->strides[0] == 1 && tensor->strides[1] == layout->shape[1];
}

bool nd4c_encoded_show(const nd4c_storage *storage, int64_t offset, const nd4c_device *device, nd4c_tensor *tensor) {
  const nd4c_encoding *encoding = encoding_of(storage);
  nd4c_device *host = NULL;
  if (encoding == NULL || offset != 0 || nd4c_device_host(&host) != ND4C_OK || device != host ||
      !is_all(&encoding->layout, tensor)) {
    return false;
  }
  tensor->layout = encoding->layout.tag;
  tensor->arrangement = &encoding->layout;
  tensor->data = encoding->block.address;
  tensor->buffer = encoding->block.buffer;
  tensor->offset = 0;
  return true;
}

/* -- decoding ------------------------------------------------------------------------------------------------------ */

static nd4c_status decode(const nd4c_encoding *encoding, float *to) {
  const nd4c_block_format *format = nd4c_block_format_find(encoding->layout.format);
  if (format == NULL) {
    return nd4c_fail(ND4C_INTERNAL, "an array in blocks of format %s", encoding->layout.format);
  }
  const unsigned char *blocks = encoding->block.address;
  for (int64_t at = 0; at < encoding->layout.bytes; at += format->bytes, to += format->elements) {
    format->decode(blocks + at, to);
  }
  return ND4C_OK;
}

nd4c_status nd4c_encoded_decode(nd4c_storage_body *body) {
  nd4c_device *host = NULL;
  ND4C_TRY(nd4c_device_host(&host));
  nd4c_replica *replica = nd4c_replica_find(body, host);
  if (replica == NULL || !nd4c_replica_is_there(replica)) {
    return nd4c_storage_ask_for_memory(body, host);
  }
  ND4C_TRY(decode(body->encoding, replica->block.address));
  replica->state = 'M';
  nd4c_storage_update_address(body);
  return ND4C_OK;
}
