/* Writes .safetensors as the format's reference package does: larger elements first, so that all are aligned. Programs
 * call it (nd4c/io.h). */
#include <inttypes.h>
#include <stdlib.h>

#include "array/array.h"
#include "base/alloc.h"
#include "base/checked.h"
#include "base/os.h"
#include "base/status.h"
#include "base/text.h"
#include "io/archive.h"
#include "io/json.h"
#include "io/safetensors.h"

typedef struct tensor {
  const char *name;
  const nd4c_array *array;
  int32_t rank; /* of its dtype in the format's order */
  int64_t begin, end;
} tensor;

typedef struct dtype_row {
  const char *name;
  nd4c_dtype dtype;
} dtype_row;

#define ROW(text, NAME) {#text, ND4C_##NAME},
static const dtype_row rows[] = {ND4C_SAFETENSORS_DTYPES(ROW)};
#undef ROW
enum { ROWS = sizeof rows / sizeof rows[0], HEADER_ALIGNMENT = 8 };

static int compare_tensors(const void *a, const void *b) {
  const tensor *x = a, *y = b;
  return x->rank != y->rank ? y->rank - x->rank : strcmp(x->name, y->name);
}

static nd4c_status prepare(const char *const *names, const nd4c_array *const *arrays, int32_t count, tensor *tensors) {
  int64_t at = 0;
  for (int32_t i = 0; i < count; i++) {
    nd4c_dtype dtype = nd4c_array_dtype(arrays[i]);
    int32_t rank = 0;
    while (rank < ROWS && rows[rank].dtype != dtype) {
      rank++;
    }
    nd4c_span_text name = nd4c_span_show(nd4c_span_of_text(names[i]));
    if (rank == ROWS) {
      return nd4c_fail(ND4C_DTYPE, "nd4c_safetensors_write: %s is %s, which the format lacks", name.text,
                       nd4c_dtype_name(dtype));
    }
    if (strcmp(names[i], ND4C_SAFETENSORS_METADATA) == 0) {
      return nd4c_fail(ND4C_ARGUMENT, "nd4c_safetensors_write: %s is reserved and cannot name an array", name.text);
    }
    if (nd4c_array_size(arrays[i]) % nd4c_dtype_get_info(dtype)->block_elements != 0) {
      return nd4c_fail(ND4C_DTYPE,
                       "nd4c_safetensors_write: %s has %" PRId64
                       " elements of %s, but the format takes whole bytes: expected an even number",
                       name.text, nd4c_array_size(arrays[i]), nd4c_dtype_name(dtype));
    }
    tensors[i] = (tensor){.name = names[i], .array = arrays[i], .rank = rank};
  }
  qsort(tensors, (size_t)count, sizeof *tensors, compare_tensors);
  for (int32_t i = 0; i < count; i++) {
    tensors[i].begin = at;
    int64_t bytes = nd4c_dtype_bytes(rows[tensors[i].rank].dtype, nd4c_array_size(tensors[i].array));
    if (!nd4c_checked_add(at, bytes, &at)) {
      return nd4c_fail(ND4C_OVERFLOW, "nd4c_safetensors_write: the arrays' bytes overflow");
    }
    tensors[i].end = at;
  }
  return ND4C_OK;
}

static nd4c_status add_tensor(nd4c_json *header, const tensor *written) {
  nd4c_text text = {0};
  nd4c_text_print(&text, "{\"dtype\":\"%s\",\"shape\":[", rows[written->rank].name);
  for (int32_t i = 0; i < nd4c_array_rank(written->array); i++) {
    nd4c_text_print(&text, "%s%" PRId64, i > 0 ? "," : "", nd4c_array_shape(written->array)[i]);
  }
  nd4c_text_print(&text, "],\"data_offsets\":[%" PRId64 ",%" PRId64 "]}", written->begin, written->end);
  nd4c_status status =
      text.failed ? nd4c_fail_memory("a header", 1) : nd4c_json_add(header, written->name, text.bytes, true);
  nd4c_text_free(&text);
  return status;
}

static nd4c_status add_metadata(nd4c_json *header, const char *const *keys, const char *const *values, int32_t count) {
  nd4c_json *metadata = NULL;
  nd4c_status status = nd4c_json_make_object(&metadata);
  for (int32_t i = 0; i < count && status == ND4C_OK; i++) {
    status = nd4c_json_add(metadata, keys[i], values[i], false);
  }
  if (status != ND4C_OK) {
    nd4c_json_free(metadata);
    return status;
  }
  return nd4c_json_add_object(header, ND4C_SAFETENSORS_METADATA, metadata);
}

static nd4c_status check_metadata(const char *const *keys, const char *const *values, int32_t count) {
  if (count < 0 || (count > 0 && (keys == NULL || values == NULL))) {
    return nd4c_fail(count < 0 ? ND4C_ARGUMENT : ND4C_NULL_ARGUMENT, "nd4c_safetensors_write: %d texts%s", (int)count,
                     count < 0 ? "" : ", keys or values is NULL");
  }
  for (int32_t i = 0; i < count; i++) {
    if (keys[i] == NULL || values[i] == NULL) {
      return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_safetensors_write: text %d is NULL", (int)i);
    }
    if (!nd4c_span_is_text(nd4c_span_of_text(keys[i])) || !nd4c_span_is_text(nd4c_span_of_text(values[i]))) {
      return nd4c_fail(ND4C_FORMAT, "nd4c_safetensors_write: text %d is not UTF-8", (int)i);
    }
    for (int32_t j = 0; j < i; j++) {
      if (strcmp(keys[i], keys[j]) == 0) {
        return nd4c_fail(ND4C_ARGUMENT, "nd4c_safetensors_write: the key %s comes twice",
                         nd4c_span_show(nd4c_span_of_text(keys[i])).text);
      }
    }
  }
  return ND4C_OK;
}

static nd4c_status write_file(const char *path, const char *header, const tensor *tensors, int32_t count) {
  size_t length = strlen(header);
  size_t padded = (length + HEADER_ALIGNMENT - 1) / HEADER_ALIGNMENT * HEADER_ALIGNMENT;
  size_t begin = ND4C_SAFETENSORS_SIZE_BYTES + padded;
  size_t size = begin + (count == 0 ? 0 : (size_t)tensors[count - 1].end);
  if (padded > ND4C_SAFETENSORS_HEADER_MOST) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_safetensors_write: a header of %zu bytes, expected at most %d", padded,
                     (int)ND4C_SAFETENSORS_HEADER_MOST);
  }
  size_t values = nd4c_json_count(nd4c_span_of_text(header));
  if (values > ND4C_JSON_MOST) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_safetensors_write: a header of %zu values, expected at most %d", values,
                     (int)ND4C_JSON_MOST);
  }
  unsigned char *file = nd4c_allocate(size);
  if (file == NULL) {
    return nd4c_fail_memory("a safetensors file", size);
  }
  for (size_t i = 0; i < ND4C_SAFETENSORS_SIZE_BYTES; i++) {
    file[i] = (unsigned char)((uint64_t)padded >> (8 * i));
  }
  memcpy(file + ND4C_SAFETENSORS_SIZE_BYTES, header, length);
  memset(file + ND4C_SAFETENSORS_SIZE_BYTES + length, ' ', padded - length);
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < count && status == ND4C_OK; i++) {
    size_t bytes = (size_t)(tensors[i].end - tensors[i].begin);
    status = nd4c_array_read(tensors[i].array, file + begin + tensors[i].begin, bytes);
  }
  if (status == ND4C_OK) {
    status = nd4c_os_write_file(path, file, size);
  }
  nd4c_deallocate(file);
  return status;
}

static nd4c_status make_header(const tensor *tensors, int32_t count, const char *const *keys, const char *const *values,
                               int32_t metadata_count, char **text) {
  nd4c_json *header = NULL;
  ND4C_TRY(nd4c_json_make_object(&header));
  nd4c_status status = metadata_count > 0 ? add_metadata(header, keys, values, metadata_count) : ND4C_OK;
  for (int32_t i = 0; i < count && status == ND4C_OK; i++) {
    status = add_tensor(header, &tensors[i]);
  }
  if (status == ND4C_OK) {
    status = nd4c_json_print(header, text);
  }
  nd4c_json_free(header);
  return status;
}

nd4c_status nd4c_safetensors_write(const char *path, const char *const *names, const nd4c_array *const *arrays,
                                   int32_t count, const char *const *keys, const char *const *values,
                                   int32_t metadata_count) {
  char *header = NULL;
  ND4C_TRY(nd4c_archive_check_written("nd4c_safetensors_write", path, names, arrays, count));
  ND4C_TRY(check_metadata(keys, values, metadata_count));
  tensor *tensors = nd4c_allocate_zeroed((size_t)count + 1, sizeof *tensors);
  if (tensors == NULL) {
    return nd4c_fail_memory("a list of tensors", (size_t)count);
  }
  nd4c_status status = prepare(names, arrays, count, tensors);
  if (status == ND4C_OK) {
    status = make_header(tensors, count, keys, values, metadata_count, &header);
  }
  if (status == ND4C_OK) {
    status = write_file(path, header, tensors, count);
  }
  nd4c_deallocate(header);
  nd4c_deallocate(tensors);
  return status;
}
