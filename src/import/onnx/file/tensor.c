/* Parses TensorProto without copying data, and checks its size. graph.c and attribute.c call it for models,
 * import/tensor.c and import/datum_file.c for files. */
#include "import/onnx/file/tensor.h"

#include <inttypes.h>
#include <stdio.h>

#include "array/narrow.h"
#include "array/shape.h"
#include "base/status.h"

/* What one pass over the message finds before it is checked. */
typedef struct found_tensor {
  int64_t data_type;
  bool has_type, external, has_location;
  uint32_t typed_field; /* the one that holds values, 0: none */
  int64_t typed_count;
  nd4c_span location;
  uint64_t external_offset;
  int64_t external_length;
} found_tensor;

nd4c_status nd4c_onnx_dims_parse(const nd4c_wire *wire, const nd4c_wire_field *field, const char *what, int64_t *shape,
                                 int32_t *rank) {
  nd4c_wire_list list;
  ND4C_TRY(nd4c_wire_list_open(wire, field, ND4C_WIRE_VARINT, &list));
  while (nd4c_wire_list_more(&list)) {
    uint64_t value = 0;
    ND4C_TRY(nd4c_wire_list_next(&list, &value));
    if (*rank == ND4C_MAX_RANK) {
      return nd4c_fail(ND4C_FORMAT, "byte %" PRIu64 ": %s of more than %d dimensions", field->offset, what,
                       ND4C_MAX_RANK);
    }
    shape[(*rank)++] = (int64_t)value;
  }
  return ND4C_OK;
}

static nd4c_wire_type typed_element(uint32_t field) {
  return field == ND4C_ONNX_TENSOR_FLOAT_DATA    ? ND4C_WIRE_FIXED32
         : field == ND4C_ONNX_TENSOR_DOUBLE_DATA ? ND4C_WIRE_FIXED64
                                                 : ND4C_WIRE_VARINT;
}

static nd4c_status count_typed(const nd4c_wire *wire, const nd4c_wire_field *field, found_tensor *found) {
  if (found->typed_field != 0 && found->typed_field != field->number) {
    return nd4c_fail(ND4C_FORMAT, "byte %" PRIu64 ": a tensor with values in field %u and in field %u", field->offset,
                     (unsigned)found->typed_field, (unsigned)field->number);
  }
  found->typed_field = field->number;
  if (field->number == ND4C_ONNX_TENSOR_STRING_DATA) {
    nd4c_span text;
    found->typed_count++;
    return nd4c_wire_bytes(wire, field, &text);
  }
  nd4c_wire_list list;
  ND4C_TRY(nd4c_wire_list_open(wire, field, typed_element(field->number), &list));
  while (nd4c_wire_list_more(&list)) {
    uint64_t value = 0;
    ND4C_TRY(nd4c_wire_list_next(&list, &value));
    found->typed_count++;
  }
  return ND4C_OK;
}

static nd4c_status parse_decimal(nd4c_span text, const char *key, uint64_t *value) {
  uint64_t result = 0;
  bool good = text.size > 0 && text.size < 20;
  for (size_t i = 0; good && i < text.size; i++) {
    good = text.bytes[i] >= '0' && text.bytes[i] <= '9';
    result = 10 * result + (uint64_t)(text.bytes[i] - '0');
  }
  if (!good || result > INT64_MAX) {
    return nd4c_fail(ND4C_FORMAT, "external data: %s is %s, expected a number of bytes", key,
                     nd4c_span_show(text).text);
  }
  *value = result;
  return ND4C_OK;
}

static nd4c_status parse_external(const nd4c_wire *wire, const nd4c_wire_field *outer, found_tensor *found) {
  nd4c_wire entry;
  nd4c_span key = {0};
  nd4c_span value = {0};
  ND4C_TRY(nd4c_wire_enter(wire, outer, "StringStringEntryProto", &entry));
  while (nd4c_wire_more(&entry)) {
    nd4c_wire_field field;
    ND4C_TRY(nd4c_wire_next(&entry, &field));
    if (field.number == 1 || field.number == 2) {
      ND4C_TRY(nd4c_wire_text(&entry, &field, field.number == 1 ? &key : &value));
    }
  }
  uint64_t number = 0;
  if (nd4c_span_is(key, "location")) {
    found->location = value;
    found->has_location = true;
  } else if (nd4c_span_is(key, "offset")) {
    ND4C_TRY(parse_decimal(value, "offset", &found->external_offset));
  } else if (nd4c_span_is(key, "length")) {
    ND4C_TRY(parse_decimal(value, "length", &number));
    found->external_length = (int64_t)number;
  }
  return ND4C_OK;
}

static nd4c_status parse_field(const nd4c_wire *wire, const nd4c_wire_field *field, int64_t *shape,
                               nd4c_onnx_tensor *tensor, found_tensor *found) {
  int64_t number = 0;
  switch (field->number) {
    case ND4C_ONNX_TENSOR_DIMS:
      return nd4c_onnx_dims_parse(wire, field, "a tensor", shape, &tensor->rank);
    case ND4C_ONNX_TENSOR_DATA_TYPE:
      found->has_type = true;
      return nd4c_wire_int(wire, field, &found->data_type);
    case ND4C_ONNX_TENSOR_SEGMENT:
      return nd4c_fail(ND4C_UNSUPPORTED, "byte %" PRIu64 ": a tensor stored in segments", field->offset);
    case ND4C_ONNX_TENSOR_NAME:
      return nd4c_wire_text(wire, field, &tensor->name);
    case ND4C_ONNX_TENSOR_RAW_DATA:
      tensor->has_raw = true;
      return nd4c_wire_bytes(wire, field, &tensor->raw);
    case ND4C_ONNX_TENSOR_FLOAT_DATA:
    case ND4C_ONNX_TENSOR_INT32_DATA:
    case ND4C_ONNX_TENSOR_STRING_DATA:
    case ND4C_ONNX_TENSOR_INT64_DATA:
    case ND4C_ONNX_TENSOR_DOUBLE_DATA:
    case ND4C_ONNX_TENSOR_UINT64_DATA:
      return count_typed(wire, field, found);
    case ND4C_ONNX_TENSOR_EXTERNAL_DATA:
      return parse_external(wire, field, found);
    case ND4C_ONNX_TENSOR_DATA_LOCATION:
      ND4C_TRY(nd4c_wire_int(wire, field, &number));
      if (number != 0 && number != 1) {
        return nd4c_fail(ND4C_FORMAT, "byte %" PRIu64 ": data location %" PRId64 ", expected 0 or 1", field->offset,
                         number);
      }
      found->external = number == 1;
      return ND4C_OK;
    default:
      return ND4C_OK;
  }
}

/* Compares the bytes in the file with those that shape and dtype need. */
static nd4c_status check_sizes(const nd4c_onnx_tensor *tensor, const found_tensor *found) {
  char shape[256];
  const nd4c_onnx_dtype *row = nd4c_onnx_dtype_get(found->data_type);
  nd4c_shape_text(tensor->rank, tensor->shape, shape, sizeof shape);
  if (tensor->has_raw) {
    int64_t bytes = nd4c_dtype_bytes(tensor->dtype, tensor->size);
    if (tensor->dtype == ND4C_UTF8) {
      return nd4c_fail(ND4C_FORMAT, "strings in raw data; expected them in string_data");
    }
    if (found->typed_count > 0) {
      return nd4c_fail(ND4C_FORMAT, "both raw data and %" PRId64 " typed values", found->typed_count);
    }
    if (tensor->raw.size != (uint64_t)bytes) {
      return nd4c_fail(ND4C_FORMAT, "%zu bytes of data; expected %" PRId64 " for shape %s of %s", tensor->raw.size,
                       bytes, shape, row->name);
    }
    return ND4C_OK;
  }
  if (found->typed_count > 0 && found->typed_field != row->typed_field) {
    return nd4c_fail(ND4C_FORMAT, "values of %s in field %u; expected field %u", row->name,
                     (unsigned)found->typed_field, (unsigned)row->typed_field);
  }
  /* Packed types take a value for each byte of elements. */
  bool packed = nd4c_dtype_is_packed(tensor->dtype);
  int64_t expected = packed ? nd4c_dtype_bytes(tensor->dtype, tensor->size) : tensor->size * row->typed_elements;
  if (found->typed_count != expected) {
    return nd4c_fail(ND4C_FORMAT, "%" PRId64 " values; expected %" PRId64 " for shape %s of %s", found->typed_count,
                     expected, shape, row->name);
  }
  return ND4C_OK;
}

static nd4c_status check_tensor(nd4c_onnx_files *files, const found_tensor *found, nd4c_onnx_tensor *tensor) {
  if (!found->has_type) {
    return nd4c_fail(ND4C_FORMAT, "no element type");
  }
  ND4C_TRY(nd4c_onnx_dtype_resolve(found->data_type, &tensor->dtype));
  nd4c_status status = nd4c_shape_size(tensor->dtype, tensor->rank, tensor->shape, &tensor->size);
  if (status != ND4C_OK) {
    return nd4c_fail_prefix(ND4C_FORMAT, "shape refused");
  }
  if (found->external) {
    if (!found->has_location || tensor->has_raw || found->typed_count > 0) {
      return nd4c_fail(ND4C_FORMAT, "external data needs a location and no data of its own");
    }
    ND4C_TRY(nd4c_onnx_files_range(files, found->location, found->external_offset, found->external_length, &tensor->raw,
                                   &tensor->blob));
    tensor->has_raw = true;
    int64_t bytes = nd4c_dtype_bytes(tensor->dtype, tensor->size);
    if (found->external_length < 0 && tensor->raw.size > (uint64_t)bytes) {
      tensor->raw.size = (size_t)bytes;
    }
  }
  return check_sizes(tensor, found);
}

nd4c_status nd4c_onnx_tensor_parse(nd4c_wire *wire, nd4c_onnx_files *files, nd4c_onnx_tensor *tensor) {
  int64_t shape[ND4C_MAX_RANK];
  found_tensor found = {.external_length = -1};
  uint64_t offset = (uint64_t)(wire->at - wire->file);
  *tensor = (nd4c_onnx_tensor){
      .message = {wire->at, (size_t)(wire->end - wire->at)}, .file = wire->file, .blob = files->blob, .offset = offset};
  while (nd4c_wire_more(wire)) {
    nd4c_wire_field field;
    ND4C_TRY(nd4c_wire_next(wire, &field));
    ND4C_TRY(parse_field(wire, &field, shape, tensor, &found));
  }
  int64_t *kept = NULL;
  ND4C_TRY(nd4c_region_claim(files->region, (size_t)tensor->rank, sizeof *kept, "a tensor's shape", &kept));
  memcpy(kept, shape, (size_t)tensor->rank * sizeof *kept);
  tensor->shape = kept;
  nd4c_status status = check_tensor(files, &found, tensor);
  if (status != ND4C_OK) {
    return nd4c_fail_prefix(status, "tensor %s at byte %" PRIu64, nd4c_span_show(tensor->name).text, offset);
  }
  return ND4C_OK;
}
