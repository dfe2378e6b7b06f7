/* Reads .safetensors: the size of a JSON header, the header, and the tensors' bytes one after the other. Programs call
 * it (nd4c/io.h). */
#include "io/safetensors.h"

#include <inttypes.h>
#include <stdlib.h>

#include "array/shape.h"
#include "base/status.h"
#include "io/archive.h"
#include "io/json.h"

/* Integers up to here are exact in JSON's numbers. */
#define EXACT 9007199254740992.0

/* -- arrays -------------------------------------------------------------------------------------------------------- */

static nd4c_status check_bools(const nd4c_archive_entry *entry, const unsigned char *data) {
  for (size_t i = 0; entry->dtype == ND4C_BOOL && i < entry->size; i++) {
    if (data[i] > 1) {
      return nd4c_fail(ND4C_FORMAT, "element %zu of BOOL is %d, expected 0 or 1", i, data[i]);
    }
  }
  return ND4C_OK;
}

static nd4c_status read_array(const nd4c_archive *archive, const nd4c_archive_entry *entry, nd4c_array **out) {
  const unsigned char *data = archive->blob->bytes.bytes + entry->begin;
  ND4C_TRY(check_bools(entry, data));
  if (entry->size == 0 || (uintptr_t)data % (uintptr_t)nd4c_dtype_get_info(entry->dtype)->alignment != 0) {
    return nd4c_array_from_data(entry->dtype, entry->rank, entry->shape, data, NULL, out);
  }
  nd4c_blob *blob = nd4c_blob_retain(archive->blob);
  nd4c_status status = nd4c_array_wrap(entry->dtype, entry->rank, entry->shape, NULL, (void *)(uintptr_t)data, true,
                                       nd4c_blob_release_user, blob, out);
  if (status != ND4C_OK) {
    nd4c_blob_release(blob);
  }
  return status;
}

/* -- header -------------------------------------------------------------------------------------------------------- */

/* The format has two dtypes of 6 bits, nd4c none. */
static nd4c_status refuse_dtype(const char *name, bool is_known) {
#define NAME(text, DTYPE) " " #text
  const nd4c_span_text shown = nd4c_span_show(nd4c_span_of_text(name));
  if (is_known) {
    return nd4c_fail(ND4C_UNSUPPORTED, "dtype %s is not in this build: use one built without ND4C_DTYPES=lite",
                     shown.text);
  }
  if (strcmp(name, "F6_E2M3") == 0 || strcmp(name, "F6_E3M2") == 0) {
    return nd4c_fail(ND4C_UNSUPPORTED,
                     "dtype %s: nd4c has no dtype of 6 bits; write the tensor as F8_E4M3, which has all its numbers",
                     shown.text);
  }
  return nd4c_fail(ND4C_UNSUPPORTED, "dtype %s, expected one of" ND4C_SAFETENSORS_DTYPES(NAME), shown.text);
#undef NAME
}

static nd4c_status find_dtype(const char *name, nd4c_dtype *dtype) {
  bool is_known = false;
#define ROW(text, NAME) {#text, ND4C_##NAME},
  static const struct {
    const char *name;
    nd4c_dtype dtype;
  } rows[] = {ND4C_SAFETENSORS_DTYPES(ROW)};
#undef ROW
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (strcmp(rows[i].name, name) == 0 && nd4c_dtype_get_info(rows[i].dtype)->available) {
      *dtype = rows[i].dtype;
      return ND4C_OK;
    }
    is_known = is_known || strcmp(rows[i].name, name) == 0;
  }
  return refuse_dtype(name, is_known);
}

/* Reads a list of integers from 0 on; *count is their number, and at most `most` are written. */
static nd4c_status read_integers(const nd4c_json *list, const char *what, int32_t most, int64_t *values,
                                 int32_t *count) {
  *count = 0;
  for (const nd4c_json *item = list->child; item != NULL; item = item->next) {
    double number = item->number;
    if (item->type != ND4C_JSON_NUMBER || !(number >= 0 && number <= EXACT) || number != (double)(int64_t)number) {
      return nd4c_fail(ND4C_FORMAT, "%s: entry %d is not an integer from 0 to 2^53", what, (int)*count);
    }
    if (*count == most) {
      return nd4c_fail(ND4C_FORMAT, "%s: more than %d entries", what, (int)most);
    }
    values[(*count)++] = (int64_t)number;
  }
  return ND4C_OK;
}

static nd4c_status expect(const nd4c_json *member, int type, const char *words) {
  return member->type == type ? ND4C_OK : nd4c_fail(ND4C_FORMAT, "%s is not %s", member->key, words);
}

typedef struct tensor_fields {
  int64_t shape[ND4C_MAX_RANK], offsets[2];
  unsigned seen;
} tensor_fields;

static nd4c_status read_field(const nd4c_json *member, tensor_fields *fields, nd4c_archive_entry *entry) {
  static const char *const keys[] = {"dtype", "shape", "data_offsets"};
  int32_t which = 0, count = 0;
  while (which < 3 && strcmp(member->key, keys[which]) != 0) {
    which++;
  }
  if (which == 3 || (fields->seen & 1u << which) != 0) {
    return nd4c_fail(ND4C_FORMAT, "key %s; expected dtype, shape and data_offsets, each once",
                     nd4c_span_show(nd4c_span_of_text(member->key)).text);
  }
  fields->seen |= 1u << which;
  if (which == 0) {
    ND4C_TRY(expect(member, ND4C_JSON_STRING, "a string"));
    return find_dtype(member->text, &entry->dtype);
  }
  ND4C_TRY(expect(member, ND4C_JSON_ARRAY, "a list"));
  if (which == 1) {
    return read_integers(member, "shape", ND4C_MAX_RANK, fields->shape, &entry->rank);
  }
  ND4C_TRY(read_integers(member, "data_offsets", 2, fields->offsets, &count));
  return count == 2 ? ND4C_OK : nd4c_fail(ND4C_FORMAT, "data_offsets: %d entries, expected 2", (int)count);
}

/* Checks that the file has the tensor's bytes, as many as dtype and shape say. `data`: where the tensors begin, `room`:
 * their bytes. */
static nd4c_status place_tensor(const tensor_fields *fields, size_t data, size_t room, nd4c_archive_entry *entry) {
  int64_t size = 0, begin = fields->offsets[0], end = fields->offsets[1];
  ND4C_TRY(nd4c_shape_size(entry->dtype, entry->rank, fields->shape, &size));
  int64_t bytes = nd4c_dtype_bytes(entry->dtype, size);
  if (size % nd4c_dtype_get_info(entry->dtype)->block_elements != 0) {
    return nd4c_fail(ND4C_FORMAT, "%" PRId64 " elements of %s do not fill whole bytes, expected an even number", size,
                     nd4c_dtype_name(entry->dtype));
  }
  if (begin > end || (uint64_t)end > room) {
    return nd4c_fail(ND4C_FORMAT, "data_offsets %" PRId64 " to %" PRId64 " of %zu bytes", begin, end, room);
  }
  if (end - begin != bytes) {
    return nd4c_fail(ND4C_FORMAT, "data_offsets give %" PRId64 " bytes; dtype and shape need %" PRId64, end - begin,
                     bytes);
  }
  entry->begin = data + (size_t)begin;
  entry->size = (size_t)bytes;
  return ND4C_OK;
}

static nd4c_status read_tensor(nd4c_archive *archive, const nd4c_json *member, size_t data) {
  nd4c_archive_entry *entry = &archive->entries[archive->count];
  tensor_fields fields = {.seen = 0};
  int64_t *shape = NULL;
  ND4C_TRY(expect(member, ND4C_JSON_OBJECT, "an object"));
  for (const nd4c_json *field = member->child; field != NULL; field = field->next) {
    ND4C_TRY(read_field(field, &fields, entry));
  }
  if (fields.seen != 7) {
    return nd4c_fail(ND4C_FORMAT, "%s is missing; expected dtype, shape and data_offsets",
                     (fields.seen & 1) == 0   ? "dtype"
                     : (fields.seen & 2) == 0 ? "shape"
                                              : "data_offsets");
  }
  ND4C_TRY(place_tensor(&fields, data, archive->blob->bytes.size - data, entry));
  size_t rank = (size_t)entry->rank;
  ND4C_TRY(nd4c_region_claim(&archive->region, rank, sizeof *shape, "a shape", &shape));
  memcpy(shape, fields.shape, rank * sizeof *shape);
  entry->shape = shape;
  archive->count++;
  return ND4C_OK;
}

static nd4c_status read_metadata(nd4c_archive *archive, const nd4c_json *member) {
  size_t count = 0;
  ND4C_TRY(expect(member, ND4C_JSON_OBJECT, "an object"));
  if (archive->metadata != NULL) {
    return nd4c_fail(ND4C_FORMAT, ND4C_SAFETENSORS_METADATA " comes twice");
  }
  for (const nd4c_json *item = member->child; item != NULL; item = item->next) {
    count++;
  }
  ND4C_TRY(nd4c_region_claim(&archive->region, count, sizeof *archive->metadata, "metadata", &archive->metadata));
  for (const nd4c_json *item = member->child; item != NULL; item = item->next) {
    nd4c_archive_text *text = &archive->metadata[archive->metadata_count];
    if (item->type != ND4C_JSON_STRING) {
      return nd4c_fail(ND4C_FORMAT, ND4C_SAFETENSORS_METADATA ": %s is no string",
                       nd4c_span_show(nd4c_span_of_text(item->key)).text);
    }
    ND4C_TRY(nd4c_archive_keep(archive, nd4c_span_of_text(item->key), "a key", &text->key));
    ND4C_TRY(nd4c_archive_keep(archive, nd4c_span_of_text(item->text), "a text", &text->value));
    archive->metadata_count++;
  }
  return ND4C_OK;
}

static int compare_places(const void *a, const void *b) {
  const nd4c_archive_entry *x = a, *y = b;
  return x->begin != y->begin ? (x->begin < y->begin ? -1 : 1) : (x->size > y->size) - (x->size < y->size);
}

/* Checks that every byte belongs to exactly one tensor, without overlaps and gaps. */
static nd4c_status check_places(nd4c_archive *archive, size_t data) {
  size_t at = data;
  qsort(archive->entries, (size_t)archive->count, sizeof *archive->entries, compare_places);
  for (int32_t i = 0; i < archive->count; i++) {
    const nd4c_archive_entry *entry = &archive->entries[i];
    if (entry->begin != at) {
      return nd4c_fail(ND4C_FORMAT, "tensor %s begins at byte %zu of the data, expected %zu: they %s",
                       nd4c_span_show(nd4c_span_of_text(entry->name)).text, entry->begin - data, at - data,
                       entry->begin < at ? "overlap" : "leave a hole");
    }
    at += entry->size;
  }
  size_t end = archive->blob->bytes.size;
  return at == end ? ND4C_OK : nd4c_fail(ND4C_FORMAT, "%zu bytes after the last tensor", end - at);
}

static nd4c_status read_members(nd4c_archive *archive, const nd4c_json *header, size_t data) {
  int64_t count = 0;
  if (header->type != ND4C_JSON_OBJECT) {
    return nd4c_fail(ND4C_FORMAT, "safetensors header: expected a JSON object");
  }
  for (const nd4c_json *member = header->child; member != NULL; member = member->next) {
    count++;
  }
  ND4C_TRY(nd4c_archive_reserve(archive, count));
  for (const nd4c_json *member = header->child; member != NULL; member = member->next) {
    nd4c_span key = nd4c_span_of_text(member->key);
    nd4c_status status = ND4C_OK;
    if (nd4c_span_is(key, ND4C_SAFETENSORS_METADATA)) {
      status = read_metadata(archive, member);
    } else {
      ND4C_TRY(nd4c_archive_keep(archive, key, "a tensor's name", &archive->entries[archive->count].name));
      status = read_tensor(archive, member, data);
    }
    if (status != ND4C_OK) {
      return nd4c_fail_prefix(status, "safetensors header: %s", nd4c_span_show(key).text);
    }
  }
  return check_places(archive, data);
}

static nd4c_status parse(nd4c_archive *archive) {
  nd4c_span file = archive->blob->bytes;
  nd4c_json *header = NULL;
  uint64_t size = 0;
  archive->read = read_array;
  for (size_t i = 0; i < ND4C_SAFETENSORS_SIZE_BYTES && i < file.size; i++) {
    size |= (uint64_t)file.bytes[i] << (8 * i);
  }
  if (file.size < ND4C_SAFETENSORS_SIZE_BYTES || size > file.size - ND4C_SAFETENSORS_SIZE_BYTES ||
      size > ND4C_SAFETENSORS_HEADER_MOST) {
    return nd4c_fail(ND4C_FORMAT,
                     "safetensors header of %" PRIu64 " bytes in a file of %zu; expected at most %d, all there", size,
                     file.size, (int)ND4C_SAFETENSORS_HEADER_MOST);
  }
  if (size == 0 || file.bytes[ND4C_SAFETENSORS_SIZE_BYTES] != '{') {
    return nd4c_fail(ND4C_FORMAT, "safetensors header: expected '{' at byte %d", (int)ND4C_SAFETENSORS_SIZE_BYTES);
  }
  nd4c_status status = nd4c_json_parse((nd4c_span){file.bytes + ND4C_SAFETENSORS_SIZE_BYTES, (size_t)size}, &header);
  if (status == ND4C_OK) {
    status = read_members(archive, header, ND4C_SAFETENSORS_SIZE_BYTES + (size_t)size);
  } else {
    status = nd4c_fail_prefix(status, "safetensors header");
  }
  nd4c_json_free(header);
  return status;
}

nd4c_status nd4c_safetensors_open(const char *path, nd4c_archive **out) {
  return nd4c_archive_open("nd4c_safetensors_open", path, parse, out);
}

nd4c_status nd4c_safetensors_open_memory(const void *bytes, size_t size, nd4c_archive **out) {
  return nd4c_archive_open_memory("nd4c_safetensors_open_memory", bytes, size, parse, out);
}
