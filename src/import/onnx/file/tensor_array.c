/* Makes an array from a checked TensorProto. emission/scope.c calls it for initializers, emission/lists.c for
 * attributes, import/tensor.c and import/datum_file.c for files. */
#include <inttypes.h>

#include "array/narrow.h"
#include "base/alloc.h"
#include "base/status.h"
#include "device/device.h"
#include "device/storage/deferred.h"
#include "import/onnx/file/tensor.h"

/* Stores the low bytes of one wire value as the element type has it. */
static void store_value(unsigned char *to, uint64_t value, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i++) {
    to[i] = (unsigned char)(value >> (8 * i));
  }
}

/* Whether a varint is a value of the integer type that it stands for. */
static bool value_fits(uint64_t value, nd4c_dtype dtype) {
  int64_t number = (int64_t)value;
  switch (dtype) {
    case ND4C_BOOL:
      return value <= 1;
    case ND4C_INT8:
      return number >= INT8_MIN && number <= INT8_MAX;
    case ND4C_INT16:
      return number >= INT16_MIN && number <= INT16_MAX;
    case ND4C_INT32:
      return number >= INT32_MIN && number <= INT32_MAX;
    case ND4C_UINT8:
      return value <= UINT8_MAX;
    case ND4C_UINT16:
    case ND4C_FLOAT16:
    case ND4C_BFLOAT16:
      return value <= UINT16_MAX;
    case ND4C_UINT32:
      return value <= UINT32_MAX;
    default:
      return !nd4c_dtype_is_narrow(dtype) || (number >= INT8_MIN && number <= UINT8_MAX); /* codes of one byte */
  }
}

/* Where the typed values, numbers or strings, are written one after the other. */
typedef struct typed_reader {
  const nd4c_onnx_tensor *tensor;
  const nd4c_onnx_dtype *row;
  unsigned char *to; /* numbers */
  int64_t bytes;     /* of one value */
  const char **texts;
  int64_t *lengths;
  int64_t done;
} typed_reader;

static nd4c_status read_numbers(typed_reader *reader, const nd4c_wire *wire, const nd4c_wire_field *field) {
  static const nd4c_wire_type elements[] = {[ND4C_ONNX_TENSOR_FLOAT_DATA] = ND4C_WIRE_FIXED32,
                                            [ND4C_ONNX_TENSOR_DOUBLE_DATA] = ND4C_WIRE_FIXED64,
                                            [ND4C_ONNX_TENSOR_UINT64_DATA] = ND4C_WIRE_VARINT};
  nd4c_wire_list list;
  ND4C_TRY(nd4c_wire_list_open(wire, field, elements[field->number], &list));
  while (nd4c_wire_list_more(&list)) {
    uint64_t value = 0;
    ND4C_TRY(nd4c_wire_list_next(&list, &value));
    if (!value_fits(value, reader->tensor->dtype)) {
      return nd4c_fail(ND4C_FORMAT, "tensor %s at byte %" PRIu64 ": value %" PRId64 " (number %" PRId64 ") is no %s",
                       nd4c_span_show(reader->tensor->name).text, reader->tensor->offset, (int64_t)value, reader->done,
                       reader->row->name);
    }
    store_value(reader->to + reader->done * reader->bytes, value, reader->bytes);
    reader->done++;
  }
  return ND4C_OK;
}

static nd4c_status read_typed(typed_reader *reader) {
  const nd4c_onnx_tensor *tensor = reader->tensor;
  nd4c_wire wire = nd4c_wire_open(tensor->message, "TensorProto");
  wire.file = tensor->file;
  while (nd4c_wire_more(&wire)) {
    nd4c_wire_field field;
    ND4C_TRY(nd4c_wire_next(&wire, &field));
    if (field.number != reader->row->typed_field) {
      continue;
    }
    if (reader->texts == NULL) {
      ND4C_TRY(read_numbers(reader, &wire, &field));
    } else {
      reader->texts[reader->done] = (const char *)field.bytes.bytes;
      reader->lengths[reader->done++] = (int64_t)field.bytes.size;
    }
  }
  return ND4C_OK;
}

static nd4c_status make_strings(const nd4c_onnx_tensor *tensor, typed_reader *reader, nd4c_array **array) {
  size_t count = (size_t)tensor->size;
  reader->texts = nd4c_allocate_zeroed(count, sizeof *reader->texts);
  reader->lengths = nd4c_allocate_zeroed(count, sizeof *reader->lengths);
  nd4c_status status = ND4C_OK;
  if (reader->texts == NULL || reader->lengths == NULL) {
    status = nd4c_fail_memory("a tensor's strings", count * (sizeof *reader->texts + sizeof *reader->lengths));
  } else {
    status = read_typed(reader);
  }
  if (status == ND4C_OK) {
    status = nd4c_array_from_strings(tensor->rank, tensor->shape, reader->texts, reader->lengths, array);
  }
  nd4c_deallocate((void *)reader->texts);
  nd4c_deallocate(reader->lengths);
  return status;
}

nd4c_status nd4c_onnx_host_array(nd4c_dtype dtype, int32_t rank, const int64_t *shape, const void *data,
                                 nd4c_array **array) {
  nd4c_device *host = NULL;
  ND4C_TRY(nd4c_device_host(&host));
  return data != NULL ? nd4c_array_from_data(dtype, rank, shape, data, host, array)
                      : nd4c_array_zeros(dtype, rank, shape, host, array);
}

/* own: on the device on which the calling program makes its arrays. */
static nd4c_status make_array(const nd4c_onnx_tensor *tensor, bool own, const void *data, nd4c_array **array) {
  if (!own) {
    return nd4c_onnx_host_array(tensor->dtype, tensor->rank, tensor->shape, data, array);
  }
  return data != NULL ? nd4c_array_from_data(tensor->dtype, tensor->rank, tensor->shape, data, NULL, array)
                      : nd4c_array_zeros(tensor->dtype, tensor->rank, tensor->shape, NULL, array);
}

static nd4c_status make_typed(const nd4c_onnx_tensor *tensor, bool own, nd4c_array **array) {
  const nd4c_onnx_dtype *row = nd4c_onnx_dtype_get(nd4c_onnx_dtype_number(tensor->dtype));
  typed_reader reader = {.tensor = tensor, .row = row};
  if (tensor->dtype == ND4C_UTF8) {
    return make_strings(tensor, &reader, array);
  }
  size_t bytes = (size_t)nd4c_dtype_bytes(tensor->dtype, tensor->size);
  reader.bytes = nd4c_dtype_bytes(tensor->dtype, 1) / row->typed_elements;
  /* the parser counted the values, so the file's size bounds the memory */
  reader.to = nd4c_allocate(bytes);
  if (reader.to == NULL) {
    return nd4c_fail_memory("a tensor's values", bytes);
  }
  nd4c_status status = read_typed(&reader);
  if (status == ND4C_OK) {
    status = make_array(tensor, own, reader.to, array);
  }
  nd4c_deallocate(reader.to);
  return status;
}

static nd4c_status check_bools(const nd4c_onnx_tensor *tensor) {
  for (size_t i = 0; tensor->dtype == ND4C_BOOL && i < tensor->raw.size; i++) {
    if (tensor->raw.bytes[i] > 1) {
      return nd4c_fail(ND4C_FORMAT, "tensor %s at byte %" PRIu64 ": element %zu of BOOL is %d, expected 0 or 1",
                       nd4c_span_show(tensor->name).text, tensor->offset, i, tensor->raw.bytes[i]);
    }
  }
  return ND4C_OK;
}

/* Weights at an address that is not aligned for their dtype. */
static nd4c_status make_unaligned(const nd4c_onnx_tensor *tensor, nd4c_array **array) {
  nd4c_blob *blob = nd4c_blob_retain(tensor->blob);
  const nd4c_deferral deferral = {.release = nd4c_blob_release_user, .user = blob, .bytes = tensor->raw.bytes};
  nd4c_status status = nd4c_deferred_array(tensor->dtype, tensor->rank, tensor->shape, &deferral, array);
  if (status != ND4C_OK) {
    nd4c_blob_release(blob);
  }
  return status;
}

nd4c_status nd4c_onnx_tensor_array(const nd4c_onnx_tensor *tensor, bool copy, nd4c_array **array) {
  if (tensor->sparse != NULL) {
    return nd4c_onnx_sparse_array(tensor, array);
  }
  if (!tensor->has_raw) {
    return make_typed(tensor, copy, array);
  }
  ND4C_TRY(check_bools(tensor));
  uintptr_t alignment = (uintptr_t)nd4c_dtype_get_info(tensor->dtype)->alignment;
  if (tensor->size == 0) {
    return make_array(tensor, copy, NULL, array);
  }
  const bool aligned = (uintptr_t)tensor->raw.bytes % alignment == 0;
  if (copy || (!aligned && tensor->raw.size < ND4C_DEFERRED_LEAST)) {
    return make_array(tensor, copy, tensor->raw.bytes, array);
  }
  if (!aligned) {
    return make_unaligned(tensor, array);
  }
  nd4c_blob *blob = nd4c_blob_retain(tensor->blob);
  /* The mapping is read-only; the array says so and refuses writing. */
  void *bytes = (void *)(uintptr_t)tensor->raw.bytes;
  nd4c_status status = nd4c_array_wrap(tensor->dtype, tensor->rank, tensor->shape, NULL, bytes, true,
                                       nd4c_blob_release_user, blob, array);
  if (status != ND4C_OK) {
    nd4c_blob_release(blob);
  }
  return status;
}
