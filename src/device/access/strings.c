/* Arrays of utf8 strings: one host storage with a table of offset and length for each element, then the bytes.
 * Programs, the ops in dispatch/text, and import create and read such arrays here. */
#include <string.h>

#include "array/array.h"
#include "array/shape.h"
#include "base/checked.h"
#include "base/status.h"
#include "device/storage/storage.h"

typedef struct string_entry {
  int64_t offset; /* bytes from the storage's first byte */
  int64_t length;
} string_entry;

/* Length of the UTF-8 sequence at `text` (1 to 4), 0 if it is not one: no overlong forms, no surrogates (RFC 3629). */
static int sequence_length(const unsigned char *text, int64_t left) {
  unsigned char lead = text[0];
  if (lead < 0x80) {
    return 1;
  }
  int length = lead >= 0xC2 && lead <= 0xDF   ? 2
               : lead >= 0xE0 && lead <= 0xEF ? 3
               : lead >= 0xF0 && lead <= 0xF4 ? 4
                                              : 0;
  if (length == 0 || left < length) {
    return 0;
  }
  unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (text[1] < low || text[1] > high) {
    return 0;
  }
  for (int i = 2; i < length; i++) {
    if ((text[i] & 0xC0) != 0x80) {
      return 0;
    }
  }
  return length;
}

static nd4c_status check_utf8(const char *text, int64_t length, int64_t number) {
  for (int64_t at = 0; at < length;) {
    int step = sequence_length((const unsigned char *)text + at, length - at);
    if (step == 0) {
      return nd4c_fail(ND4C_FORMAT, "string %lld is not UTF-8 at byte %lld", (long long)number, (long long)at);
    }
    at += step;
  }
  return ND4C_OK;
}

static nd4c_status measure(int64_t count, const char *const *strings, const int64_t *lengths, int64_t *total) {
  *total = count * (int64_t)sizeof(string_entry);
  for (int64_t i = 0; i < count; i++) {
    if (strings[i] == NULL || (lengths != NULL && lengths[i] < 0)) {
      return nd4c_fail(ND4C_ARGUMENT, "string %lld is %s", (long long)i,
                       strings[i] == NULL ? "NULL" : "of negative length");
    }
    int64_t length = lengths != NULL ? lengths[i] : (int64_t)strlen(strings[i]);
    ND4C_TRY(check_utf8(strings[i], length, i));
    if (!nd4c_checked_add(*total, length, total)) {
      return nd4c_fail(ND4C_OVERFLOW, "the strings' lengths add up to more than 2^63 bytes");
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_array_from_strings(int32_t rank, const int64_t *shape, const char *const *strings,
                                    const int64_t *lengths, nd4c_array **out) {
  int64_t count = 0, total = 0;
  if (out == NULL || (shape == NULL && rank > 0)) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_array_from_strings: %s is NULL", out == NULL ? "out" : "shape");
  }
  ND4C_TRY(nd4c_shape_size(ND4C_UTF8, rank, shape, &count));
  if (strings == NULL && count > 0) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_array_from_strings: strings is NULL");
  }
  ND4C_TRY(measure(count, strings, lengths, &total));
  nd4c_device *host = NULL;
  ND4C_TRY(nd4c_device_host(&host));
  nd4c_storage *storage = NULL;
  nd4c_status status = nd4c_storage_create(host, NULL, ND4C_UTF8, total, "nd4c_array_from_strings", &storage);
  if (status != ND4C_OK) {
    return nd4c_device_fail_prefix(status, host, "on", "nd4c_array_from_strings");
  }
  char *bytes = atomic_load(&storage->address);
  int64_t at = count * (int64_t)sizeof(string_entry);
  for (int64_t i = 0; i < count; i++) {
    int64_t length = lengths != NULL ? lengths[i] : (int64_t)strlen(strings[i]);
    string_entry entry = {at, length};
    memcpy(bytes + i * (int64_t)sizeof entry, &entry, sizeof entry);
    memcpy(bytes + at, strings[i], (size_t)length);
    at += length;
  }
  return nd4c_array_make_of(ND4C_UTF8, rank, shape, NULL, 0, storage, out);
}

nd4c_status nd4c_array_string(const nd4c_array *array, int64_t number, const char **text, int64_t *length) {
  ND4C_TRY(nd4c_array_check(array, "nd4c_array_string: array"));
  if (text == NULL || length == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_array_string: %s is NULL", text == NULL ? "text" : "length");
  }
  if (array->dtype != ND4C_UTF8) {
    return nd4c_fail(ND4C_DTYPE, "nd4c_array_string: the array is %s, not utf8", nd4c_dtype_name(array->dtype));
  }
  if (number < 0 || number >= array->size) {
    return nd4c_fail(ND4C_INDEX, "nd4c_array_string: element %lld of %lld", (long long)number, (long long)array->size);
  }
  int64_t offset = array->offset;
  for (int32_t axis = array->rank - 1; axis >= 0; axis--) {
    offset += number % array->shape[axis] * array->strides[axis];
    number /= array->shape[axis];
  }
  const char *bytes = atomic_load(&array->storage->address);
  string_entry entry;
  memcpy(&entry, bytes + offset * (int64_t)sizeof entry, sizeof entry);
  *text = bytes + entry.offset;
  *length = entry.length;
  return ND4C_OK;
}
