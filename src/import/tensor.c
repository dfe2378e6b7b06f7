/* Reads and writes files of ONNX's TensorProto (nd4c/io.h) for programs, and implements io/wire_write.h, which
 * datum_file.c uses. */
#include <inttypes.h>

#include "array/array.h"
#include "base/alloc.h"
#include "base/checked.h"
#include "base/os.h"
#include "base/status.h"
#include "import/onnx/file/tensor.h"
#include "io/blob.h"
#include "io/wire_write.h"
#include "nd4c/io.h"

enum { VARINT_BYTES = 10 };

/* -- reading -------------------------------------------------------------------------------------------------- */

static nd4c_status parse_and_make(nd4c_onnx_files *files, nd4c_array **array, char **name) {
  nd4c_onnx_tensor tensor;
  nd4c_wire wire = nd4c_wire_open(files->blob->bytes, "TensorProto");
  ND4C_TRY(nd4c_onnx_tensor_parse(&wire, files, &tensor));
  char *text = NULL;
  if (name != NULL) {
    text = nd4c_allocate(tensor.name.size + 1);
    if (text == NULL) {
      return nd4c_fail_memory("a tensor's name", tensor.name.size + 1);
    }
    if (tensor.name.size > 0) {
      memcpy(text, tensor.name.bytes, tensor.name.size);
    }
    text[tensor.name.size] = '\0';
  }
  nd4c_status status = nd4c_onnx_tensor_array(&tensor, true, array);
  if (status != ND4C_OK) {
    nd4c_deallocate(text);
  } else if (name != NULL) {
    *name = text;
  }
  return status;
}

static nd4c_status read_blob(nd4c_blob *blob, const char *directory, nd4c_array **array, char **name) {
  nd4c_region region = {0};
  nd4c_onnx_files files = {.region = &region, .blob = blob, .directory = directory};
  nd4c_status status = parse_and_make(&files, array, name);
  nd4c_onnx_files_close(&files);
  nd4c_region_free(&region);
  nd4c_blob_release(blob);
  return status;
}

nd4c_status nd4c_tensor_read_memory(const void *bytes, size_t size, nd4c_array **array, char **name) {
  nd4c_blob *blob = NULL;
  if (bytes == NULL || array == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_tensor_read_memory: %s is NULL", bytes == NULL ? "bytes" : "array");
  }
  ND4C_TRY(nd4c_blob_wrap(bytes, size, NULL, NULL, &blob));
  return read_blob(blob, NULL, array, name);
}

nd4c_status nd4c_tensor_read(const char *path, nd4c_array **array, char **name) {
  nd4c_blob *blob = NULL;
  if (path == NULL || array == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_tensor_read: %s is NULL", path == NULL ? "path" : "array");
  }
  ND4C_TRY(nd4c_blob_map(path, &blob));
  char *directory = nd4c_io_directory_of(path);
  if (directory == NULL) {
    nd4c_blob_release(blob);
    return nd4c_fail_memory("a path", strlen(path));
  }
  nd4c_status status = read_blob(blob, directory, array, name);
  nd4c_deallocate(directory);
  return status == ND4C_OK ? status : nd4c_fail_prefix(status, "%s", path);
}

/* -- writing -------------------------------------------------------------------------------------------------- */

static void put_bytes(nd4c_wire_writer *writer, const void *bytes, int64_t size) {
  if (writer->to != NULL && size > 0) {
    memcpy(writer->to + writer->used, bytes, (size_t)size);
  }
  writer->overflow |= !nd4c_checked_add(writer->used, size, &writer->used);
}

void nd4c_wire_put_varint(nd4c_wire_writer *writer, uint64_t value) {
  unsigned char bytes[VARINT_BYTES];
  int64_t count = 0;
  for (; value >= 0x80; value >>= 7) {
    bytes[count++] = (unsigned char)(value | 0x80);
  }
  bytes[count++] = (unsigned char)value;
  put_bytes(writer, bytes, count);
}

void nd4c_wire_put_tag(nd4c_wire_writer *writer, uint32_t field, nd4c_wire_type type) {
  nd4c_wire_put_varint(writer, (uint64_t)field << 3 | (uint64_t)type);
}

void nd4c_wire_put_bytes(nd4c_wire_writer *writer, uint32_t field, const void *bytes, int64_t size) {
  nd4c_wire_put_tag(writer, field, ND4C_WIRE_BYTES);
  nd4c_wire_put_varint(writer, (uint64_t)size);
  put_bytes(writer, bytes, size);
}

static nd4c_status put_values(nd4c_wire_writer *writer, const nd4c_array *array) {
  if (nd4c_array_dtype(array) == ND4C_UTF8) {
    for (int64_t i = 0; i < nd4c_array_size(array); i++) {
      const char *text = NULL;
      int64_t length = 0;
      ND4C_TRY(nd4c_array_string(array, i, &text, &length));
      nd4c_wire_put_bytes(writer, ND4C_ONNX_TENSOR_STRING_DATA, text, length);
    }
    return ND4C_OK;
  }
  int64_t bytes = nd4c_dtype_bytes(nd4c_array_dtype(array), nd4c_array_size(array));
  nd4c_wire_put_tag(writer, ND4C_ONNX_TENSOR_RAW_DATA, ND4C_WIRE_BYTES);
  nd4c_wire_put_varint(writer, (uint64_t)bytes);
  if (writer->to != NULL) {
    ND4C_TRY(nd4c_array_read(array, writer->to + writer->used, (size_t)bytes));
  }
  writer->overflow |= !nd4c_checked_add(writer->used, bytes, &writer->used);
  return ND4C_OK;
}

nd4c_status nd4c_tensor_put(nd4c_wire_writer *writer, const nd4c_array *array, const char *name) {
  for (int32_t i = 0; i < nd4c_array_rank(array); i++) {
    nd4c_wire_put_tag(writer, ND4C_ONNX_TENSOR_DIMS, ND4C_WIRE_VARINT);
    nd4c_wire_put_varint(writer, (uint64_t)nd4c_array_shape(array)[i]);
  }
  nd4c_wire_put_tag(writer, ND4C_ONNX_TENSOR_DATA_TYPE, ND4C_WIRE_VARINT);
  nd4c_wire_put_varint(writer, (uint64_t)nd4c_onnx_dtype_number(nd4c_array_dtype(array)));
  if (name != NULL && name[0] != '\0') {
    nd4c_wire_put_bytes(writer, ND4C_ONNX_TENSOR_NAME, name, (int64_t)strlen(name));
  }
  return put_values(writer, array);
}

nd4c_status nd4c_wire_write_file(const char *path, const char *caller, nd4c_wire_put put, const void *value,
                                 const char *name) {
  nd4c_wire_writer writer = {0};
  ND4C_TRY(put(&writer, value, name));
  if (writer.overflow || writer.used > INT32_MAX) {
    return nd4c_fail(ND4C_OVERFLOW, "%s: %" PRId64 " bytes; a protobuf message holds at most %d", caller, writer.used,
                     INT32_MAX);
  }
  size_t size = (size_t)writer.used;
  writer = (nd4c_wire_writer){.to = nd4c_allocate(size)};
  if (writer.to == NULL) {
    return nd4c_fail_memory("a protobuf file", size);
  }
  nd4c_status status = put(&writer, value, name);
  if (status == ND4C_OK) {
    status = nd4c_os_write_file(path, writer.to, size);
  }
  nd4c_deallocate(writer.to);
  return status;
}

static nd4c_status put_array(nd4c_wire_writer *writer, const void *array, const char *name) {
  return nd4c_tensor_put(writer, array, name);
}

nd4c_status nd4c_tensor_write(const char *path, const nd4c_array *array, const char *name) {
  if (path == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_tensor_write: path is NULL");
  }
  ND4C_TRY(nd4c_array_check(array, "array"));
  if (name != NULL && !nd4c_span_is_text(nd4c_span_of_text(name))) {
    return nd4c_fail(ND4C_FORMAT, "nd4c_tensor_write: the name %s is not UTF-8",
                     nd4c_span_show(nd4c_span_of_text(name)).text);
  }
  return nd4c_wire_write_file(path, "nd4c_tensor_write", put_array, array, name);
}
