/* Reads and writes files of ONNX's SequenceProto and OptionalProto (nd4c/datum.h). Programs call it, and so does `nd4c
 * run`. */
#include <inttypes.h>

#include "base/alloc.h"
#include "base/region.h"
#include "base/status.h"
#include "import/onnx/file/tensor.h"
#include "io/blob.h"
#include "io/datum.h"
#include "io/wire_write.h"
#include "nd4c/io.h"

/* Both messages have the same fields. */
enum {
  FIELD_NAME = 1,
  FIELD_TYPE = 2,
  FIELD_TENSOR = 3,
  FIELD_SPARSE = 4,
  FIELD_SEQUENCE = 5,
  FIELD_MAP = 6,
  FIELD_OPTIONAL = 7
};
enum { TYPE_NONE = 0, TYPE_TENSOR = 1, TYPE_SEQUENCE = 3, TYPE_OPTIONAL = 5 };

/* -- reading -------------------------------------------------------------------------------------------------- */

/* Items while they are read; one reference each. */
typedef struct item_list {
  nd4c_datum **items;
  int32_t count, capacity;
} item_list;

static nd4c_status read_message(nd4c_onnx_files *files, nd4c_wire *wire, nd4c_datum_kind kind, nd4c_datum **out);

static nd4c_status append_item(item_list *list, nd4c_datum *item) {
  nd4c_status status = nd4c_grow(&list->items, &list->capacity, list->count + 1, sizeof(nd4c_datum *), "a sequence");
  if (status != ND4C_OK) {
    nd4c_datum_release(item);
    return status;
  }
  list->items[list->count++] = item;
  return ND4C_OK;
}

static nd4c_status read_item(nd4c_onnx_files *files, const nd4c_wire *wire, const nd4c_wire_field *field,
                             item_list *list) {
  nd4c_wire inner;
  nd4c_datum *item = NULL;
  switch (field->number) {
    case FIELD_TENSOR:
      ND4C_TRY(nd4c_wire_enter(wire, field, "TensorProto", &inner));
      ND4C_TRY(read_message(files, &inner, ND4C_DATUM_ARRAY, &item));
      return append_item(list, item);
    case FIELD_SEQUENCE:
      ND4C_TRY(nd4c_wire_enter(wire, field, "SequenceProto", &inner));
      ND4C_TRY(read_message(files, &inner, ND4C_DATUM_SEQUENCE, &item));
      return append_item(list, item);
    case FIELD_OPTIONAL:
      ND4C_TRY(nd4c_wire_enter(wire, field, "OptionalProto", &inner));
      ND4C_TRY(read_message(files, &inner, ND4C_DATUM_OPTIONAL, &item));
      return append_item(list, item);
    case FIELD_SPARSE:
    case FIELD_MAP:
      return nd4c_fail(ND4C_UNSUPPORTED, "byte %" PRIu64 ": a %s", field->offset,
                       field->number == FIELD_MAP ? "map" : "sparse tensor");
    default:
      return ND4C_OK;
  }
}

static nd4c_status read_items(nd4c_onnx_files *files, nd4c_wire *wire, item_list *list) {
  while (nd4c_wire_more(wire)) {
    nd4c_wire_field field;
    ND4C_TRY(nd4c_wire_next(wire, &field));
    ND4C_TRY(read_item(files, wire, &field, list));
  }
  return ND4C_OK;
}

static nd4c_status make_datum(nd4c_datum_kind kind, const item_list *list, uint64_t offset, nd4c_datum **out) {
  if (kind == ND4C_DATUM_SEQUENCE) {
    return nd4c_datum_of_sequence(ND4C_DTYPE_NONE, list->items, list->count, out);
  }
  if (list->count > 1) {
    return nd4c_fail(ND4C_FORMAT, "byte %" PRIu64 ": an optional with %d values; expected one or none", offset,
                     (int)list->count);
  }
  return nd4c_datum_of_optional(list->count == 1 ? list->items[0] : NULL, out);
}

static nd4c_status read_message(nd4c_onnx_files *files, nd4c_wire *wire, nd4c_datum_kind kind, nd4c_datum **out) {
  uint64_t offset = (uint64_t)(wire->at - wire->file);
  item_list list = {0};
  if (kind == ND4C_DATUM_ARRAY) {
    nd4c_onnx_tensor tensor;
    nd4c_array *array = NULL;
    ND4C_TRY(nd4c_onnx_tensor_parse(wire, files, &tensor));
    ND4C_TRY(nd4c_onnx_tensor_array(&tensor, true, &array));
    nd4c_status status = nd4c_datum_of_array(array, out);
    nd4c_array_release(array);
    return status;
  }
  nd4c_status status = read_items(files, wire, &list);
  if (status == ND4C_OK) {
    status = make_datum(kind, &list, offset, out);
  }
  for (int32_t i = 0; i < list.count; i++) {
    nd4c_datum_release(list.items[i]);
  }
  nd4c_deallocate((void *)list.items);
  return status;
}

static nd4c_status read_blob(nd4c_blob *blob, const char *directory, nd4c_datum_kind kind, nd4c_datum **out) {
  static const char *const messages[] = {"", "TensorProto", "SequenceProto", "OptionalProto"};
  nd4c_region region = {0};
  nd4c_onnx_files files = {.region = &region, .blob = blob, .directory = directory};
  nd4c_wire wire = nd4c_wire_open(blob->bytes, messages[kind]);
  nd4c_status status = read_message(&files, &wire, kind, out);
  nd4c_onnx_files_close(&files);
  nd4c_region_free(&region);
  nd4c_blob_release(blob);
  return status;
}

static nd4c_status check_kind(nd4c_datum_kind kind) {
  return kind >= ND4C_DATUM_ARRAY && kind <= ND4C_DATUM_OPTIONAL
             ? ND4C_OK
             : nd4c_fail(ND4C_ARGUMENT, "nd4c_datum_read: %d is no kind of datum", (int)kind);
}

nd4c_status nd4c_datum_read_memory(const void *bytes, size_t size, nd4c_datum_kind kind, nd4c_datum **out) {
  nd4c_blob *blob = NULL;
  if (bytes == NULL || out == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_datum_read_memory: %s is NULL", bytes == NULL ? "bytes" : "out");
  }
  ND4C_TRY(check_kind(kind));
  ND4C_TRY(nd4c_blob_wrap(bytes, size, NULL, NULL, &blob));
  return read_blob(blob, NULL, kind, out);
}

nd4c_status nd4c_datum_read(const char *path, nd4c_datum_kind kind, nd4c_datum **out) {
  nd4c_blob *blob = NULL;
  if (path == NULL || out == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_datum_read: %s is NULL", path == NULL ? "path" : "out");
  }
  ND4C_TRY(check_kind(kind));
  ND4C_TRY(nd4c_blob_map(path, &blob));
  char *directory = nd4c_io_directory_of(path);
  if (directory == NULL) {
    nd4c_blob_release(blob);
    return nd4c_fail_memory("a path", strlen(path));
  }
  nd4c_status status = read_blob(blob, directory, kind, out);
  nd4c_deallocate(directory);
  return status == ND4C_OK ? status : nd4c_fail_prefix(status, "%s", path);
}

/* -- writing -------------------------------------------------------------------------------------------------- */

static nd4c_status put_datum(nd4c_wire_writer *writer, const void *value, const char *name);

/* An item as a field: its size first. */
static nd4c_status put_item(nd4c_wire_writer *writer, const nd4c_datum *item) {
  static const uint32_t fields[] = {0, FIELD_TENSOR, FIELD_SEQUENCE, FIELD_OPTIONAL};
  nd4c_wire_writer counted = {0};
  ND4C_TRY(put_datum(&counted, item, NULL));
  nd4c_wire_put_tag(writer, fields[nd4c_datum_get_kind(item)], ND4C_WIRE_BYTES);
  nd4c_wire_put_varint(writer, (uint64_t)counted.used);
  writer->overflow |= counted.overflow;
  return put_datum(writer, item, NULL);
}

static nd4c_status put_datum(nd4c_wire_writer *writer, const void *value, const char *name) {
  static const uint64_t types[] = {TYPE_NONE, TYPE_TENSOR, TYPE_SEQUENCE, TYPE_OPTIONAL};
  const nd4c_datum *datum = value;
  if (nd4c_datum_get_kind(datum) == ND4C_DATUM_ARRAY) {
    return nd4c_tensor_put(writer, nd4c_datum_array(datum), name);
  }
  if (name != NULL && name[0] != '\0') {
    nd4c_wire_put_bytes(writer, FIELD_NAME, name, (int64_t)strlen(name));
  }
  int32_t count = nd4c_datum_count(datum);
  nd4c_datum_kind kind = nd4c_datum_get_kind(nd4c_datum_item(datum, 0));
  if (count == 0 && nd4c_datum_get_kind(datum) == ND4C_DATUM_SEQUENCE) {
    kind = ND4C_DATUM_ARRAY; /* an empty sequence has no items, but readers expect a type */
  }
  nd4c_wire_put_tag(writer, FIELD_TYPE, ND4C_WIRE_VARINT);
  nd4c_wire_put_varint(writer, types[kind]);
  for (int32_t i = 0; i < count; i++) {
    ND4C_TRY(put_item(writer, nd4c_datum_item(datum, i)));
  }
  return ND4C_OK;
}

nd4c_status nd4c_datum_write(const char *path, const nd4c_datum *datum, const char *name) {
  if (path == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_datum_write: path is NULL");
  }
  ND4C_TRY(nd4c_datum_check(datum, "nd4c_datum_write: datum"));
  if (name != NULL && !nd4c_span_is_text(nd4c_span_of_text(name))) {
    return nd4c_fail(ND4C_FORMAT, "nd4c_datum_write: the name %s is not UTF-8",
                     nd4c_span_show(nd4c_span_of_text(name)).text);
  }
  return nd4c_wire_write_file(path, "nd4c_datum_write", put_datum, datum, name);
}
