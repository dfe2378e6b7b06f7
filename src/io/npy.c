/* Reads and writes .npy files: nd4c_npy_read and its kin (nd4c/io.h) for programs, npy.h for npz.c. */
#include <inttypes.h>
#include <stdio.h>

#include "array/array.h"
#include "array/narrow.h"
#include "base/alloc.h"
#include "base/checked.h"
#include "base/os.h"
#include "base/status.h"
#include "device/access/write.h"
#include "io/blob.h"
#include "io/npy.h"
#include "io/npy_header.h"
#include "nd4c/io.h"

enum { ALIGNMENT = 64, PREFIX_BYTES = 10, UCS4_BYTES = 4 };

/* -- reading -------------------------------------------------------------------------------------------------- */

static uint32_t ucs4_at(const unsigned char *bytes) {
  return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* Converts one '<U' element; trailing NULs are padding. `to` holds as many bytes as the element has. */
static nd4c_status string_from_ucs4(const unsigned char *from, int64_t bytes, int64_t number, unsigned char *to,
                                    int64_t *length) {
  int64_t count = bytes / UCS4_BYTES;
  while (count > 0 && ucs4_at(from + (count - 1) * UCS4_BYTES) == 0) {
    count--;
  }
  *length = 0;
  for (int64_t i = 0; i < count; i++) {
    uint32_t code = ucs4_at(from + i * UCS4_BYTES);
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
      return nd4c_fail(ND4C_FORMAT, "npy data: string %" PRId64 " holds %#" PRIx32 ", which is not a code point",
                       number, code);
    }
    *length += (int64_t)nd4c_utf8_encode(code, to + *length);
  }
  return ND4C_OK;
}

typedef struct npy_strings {
  unsigned char *bytes;
  const char **texts;
  int64_t *lengths;
} npy_strings;

static nd4c_status allocate_strings(const nd4c_npy_header *header, npy_strings *strings) {
  size_t count = (size_t)header->size;
  strings->bytes = nd4c_allocate((size_t)header->bytes);
  strings->texts = nd4c_allocate_zeroed(count, sizeof *strings->texts);
  strings->lengths = nd4c_allocate_zeroed(count, sizeof *strings->lengths);
  if (strings->bytes == NULL || strings->texts == NULL || strings->lengths == NULL) {
    return nd4c_fail_memory("the strings of a npy file", (size_t)header->bytes + count * 16);
  }
  return ND4C_OK;
}

static nd4c_status decode_strings(const nd4c_npy_header *header, const unsigned char *data, npy_strings *strings) {
  for (int64_t i = 0; i < header->size; i++) {
    unsigned char *to = strings->bytes + i * header->item_bytes;
    strings->texts[i] = (const char *)to;
    ND4C_TRY(string_from_ucs4(data + i * header->item_bytes, header->item_bytes, i, to, &strings->lengths[i]));
  }
  return ND4C_OK;
}

static nd4c_status read_strings(const nd4c_npy_header *header, const unsigned char *data, const int64_t *shape,
                                nd4c_array **array) {
  npy_strings strings = {0};
  /* Empty strings take no bytes in the file, so the file's size does not bound their number. */
  if (header->item_bytes == 0 && header->size > (int64_t)header->data_offset * 64) {
    return nd4c_fail(ND4C_FORMAT, "npy data: %" PRId64 " strings of no characters", header->size);
  }
  nd4c_status status = allocate_strings(header, &strings);
  if (status == ND4C_OK) {
    status = decode_strings(header, data, &strings);
  }
  if (status == ND4C_OK) {
    status = nd4c_array_from_strings(header->rank, shape, strings.texts, strings.lengths, array);
  }
  nd4c_deallocate(strings.bytes);
  nd4c_deallocate((void *)strings.texts);
  nd4c_deallocate(strings.lengths);
  return status;
}

static nd4c_status check_bools(const nd4c_npy_header *header, const unsigned char *data) {
  for (int64_t i = 0; header->dtype == ND4C_BOOL && i < header->size; i++) {
    if (data[i] > 1) {
      return nd4c_fail(ND4C_FORMAT, "npy data: element %" PRId64 " of bool is %d, expected 0 or 1", i, data[i]);
    }
  }
  return ND4C_OK;
}

/* Packs codes of narrow elements, which have a byte each in the file. Fortran order is converted to C order, since
 * packed arrays have no strides. */
static nd4c_status read_packed(const nd4c_npy_header *header, const unsigned char *data, nd4c_array **array) {
  size_t bytes = (size_t)nd4c_dtype_bytes(header->dtype, header->size);
  unsigned char *packed = nd4c_allocate_zeroed(bytes + 1, 1);
  if (packed == NULL) {
    return nd4c_fail_memory("a npy file's elements", bytes);
  }
  for (int64_t i = 0; i < header->size; i++) {
    int64_t rest = i, from = i, step = header->size;
    if (header->fortran_order) {
      from = 0;
      for (int32_t axis = header->rank - 1; axis >= 0; axis--) {
        step /= header->shape[axis];
        from += rest % header->shape[axis] * step;
        rest /= header->shape[axis];
      }
    }
    nd4c_narrow_set(header->dtype, packed, i, data[from]);
  }
  nd4c_status status = nd4c_array_from_data(header->dtype, header->rank, header->shape, packed, NULL, array);
  nd4c_deallocate(packed);
  return status;
}

/* Fortran order is C order of the reversed shape, seen with its axes reversed. */
static nd4c_status reverse_axes(nd4c_array *base, const nd4c_npy_header *header, nd4c_array **array) {
  int64_t strides[ND4C_MAX_RANK];
  const int64_t *base_strides = nd4c_array_strides(base);
  for (int32_t i = 0; i < header->rank; i++) {
    strides[i] = base_strides[header->rank - 1 - i];
  }
  nd4c_status status = nd4c_array_as_strided(base, header->rank, header->shape, strides, 0, array);
  nd4c_array_release(base);
  return status;
}

static void release_holder(void *holder) {
  nd4c_array_release(holder);
}

/* Copies the elements or, if there is a `holder`, uses its bytes in place. */
static nd4c_status take_elements(const nd4c_npy_header *header, const int64_t *shape, const unsigned char *data,
                                 nd4c_array *holder, nd4c_array **array) {
  uintptr_t alignment = (uintptr_t)nd4c_dtype_get_info(header->dtype)->alignment;
  if (holder == NULL || header->size == 0 || (uintptr_t)data % alignment != 0) {
    return nd4c_array_from_data(header->dtype, header->rank, shape, data, NULL, array);
  }
  void *own = NULL;
  const void *begin = NULL;
  ND4C_TRY(nd4c_array_data(holder, &begin));
  ND4C_TRY(nd4c_array_host_address(holder, true, &own));
  unsigned char *elements = (unsigned char *)own + (data - (const unsigned char *)begin);
  nd4c_array *kept = nd4c_array_retain(holder);
  nd4c_status status =
      nd4c_array_wrap(header->dtype, header->rank, shape, NULL, elements, false, release_holder, kept, array);
  if (status != ND4C_OK) {
    nd4c_array_release(kept);
  }
  return status;
}

/* Copies big-endian numbers, of a complex number each part. */
static nd4c_status take_swapped(const nd4c_npy_header *header, const int64_t *shape, const unsigned char *data,
                                nd4c_array **array) {
  size_t parts = nd4c_dtype_get_info(header->dtype)->kind == ND4C_KIND_COMPLEX ? 2 : 1;
  size_t width = (size_t)header->item_bytes / parts, bytes = (size_t)header->bytes;
  unsigned char *swapped = nd4c_allocate(bytes + 1);
  if (swapped == NULL) {
    return nd4c_fail_memory("a npy file's elements", bytes);
  }
  for (size_t at = 0; at < bytes; at += width) {
    for (size_t i = 0; i < width; i++) {
      swapped[at + i] = data[at + width - 1 - i];
    }
  }
  nd4c_status status = nd4c_array_from_data(header->dtype, header->rank, shape, swapped, NULL, array);
  nd4c_deallocate(swapped);
  return status;
}

nd4c_status nd4c_npy_read_span(nd4c_span file, nd4c_array *holder, nd4c_array **array) {
  nd4c_npy_header header;
  nd4c_array *base = NULL;
  int64_t shape[ND4C_MAX_RANK];
  ND4C_TRY(nd4c_npy_header_parse(file, &header));
  const unsigned char *data = file.bytes + header.data_offset;
  bool reversed = header.fortran_order && header.rank > 1;
  for (int32_t i = 0; i < header.rank; i++) {
    shape[i] = header.shape[reversed ? header.rank - 1 - i : i];
  }
  ND4C_TRY(check_bools(&header, data));
  if (nd4c_dtype_is_packed(header.dtype)) {
    return read_packed(&header, data, array);
  }
  if (header.dtype == ND4C_UTF8) {
    ND4C_TRY(read_strings(&header, data, shape, &base));
  } else if (header.swapped) {
    ND4C_TRY(take_swapped(&header, shape, data, &base));
  } else {
    ND4C_TRY(take_elements(&header, shape, data, holder, &base));
  }
  if (reversed) {
    return reverse_axes(base, &header, array);
  }
  *array = base;
  return ND4C_OK;
}

nd4c_status nd4c_npy_read_memory(const void *bytes, size_t size, nd4c_array **array) {
  if (bytes == NULL || array == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_npy_read_memory: %s is NULL", bytes == NULL ? "bytes" : "array");
  }
  return nd4c_npy_read_span((nd4c_span){bytes, size}, NULL, array);
}

nd4c_status nd4c_npy_read(const char *path, nd4c_array **array) {
  if (path == NULL || array == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_npy_read: %s is NULL", path == NULL ? "path" : "array");
  }
  nd4c_blob *blob = NULL;
  ND4C_TRY(nd4c_blob_map(path, &blob));
  nd4c_status status = nd4c_npy_read_span(blob->bytes, NULL, array);
  nd4c_blob_release(blob);
  return status == ND4C_OK ? status : nd4c_fail_prefix(status, "%s", path);
}

/* -- writing -------------------------------------------------------------------------------------------------- */

/* The element type in the file: its name there and its bytes. */
typedef struct npy_type {
  char descr[48];
  int64_t item_bytes;
} npy_type;

static nd4c_status count_code_points(const nd4c_array *array, int64_t *longest) {
  *longest = 1;
  for (int64_t i = 0; i < nd4c_array_size(array); i++) {
    const char *text = NULL;
    int64_t length = 0;
    int64_t count = 0;
    ND4C_TRY(nd4c_array_string(array, i, &text, &length));
    for (int64_t at = 0; at < length; at++) {
      count += ((unsigned char)text[at] & 0xc0) != 0x80;
    }
    *longest = count > *longest ? count : *longest;
  }
  return ND4C_OK;
}

static nd4c_status describe_type(const nd4c_array *array, npy_type *type) {
  nd4c_dtype dtype = nd4c_array_dtype(array);
  if (dtype == ND4C_UTF8) {
    int64_t longest = 0;
    ND4C_TRY(count_code_points(array, &longest));
    (void)snprintf(type->descr, sizeof type->descr, "<U%" PRId64, longest);
    type->item_bytes = longest * UCS4_BYTES;
  } else if (nd4c_dtype_is_narrow(dtype)) {
    (void)snprintf(type->descr, sizeof type->descr, "[('%s', '|V1')]", nd4c_dtype_name(dtype));
    type->item_bytes = 1;
  } else {
    (void)snprintf(type->descr, sizeof type->descr, "%s", nd4c_dtype_get_info(dtype)->numpy_type);
    type->item_bytes = nd4c_dtype_size(dtype);
  }
  return ND4C_OK;
}

/* Writes prefix and dictionary, padded to a multiple of ALIGNMENT; returns the bytes. */
static size_t write_header(const nd4c_array *array, const npy_type *type, char *to, size_t size) {
  size_t used = PREFIX_BYTES;
  const char *quote = type->descr[0] == '[' ? "" : "'";
  used += (size_t)snprintf(to + used, size - used, "{'descr': %s%s%s, 'fortran_order': False, 'shape': (", quote,
                           type->descr, quote);
  for (int32_t i = 0; i < nd4c_array_rank(array); i++) {
    used += (size_t)snprintf(to + used, size - used, "%s%" PRId64, i > 0 ? ", " : "", nd4c_array_shape(array)[i]);
  }
  used += (size_t)snprintf(to + used, size - used, "%s), }", nd4c_array_rank(array) == 1 ? "," : "");
  size_t total = (used + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  memset(to + used, ' ', total - used - 1);
  to[total - 1] = '\n';
  size_t length = total - PREFIX_BYTES;
  memcpy(to, "\x93NUMPY\x01\x00", 8);
  to[8] = (char)(length & 0xff);
  to[9] = (char)(length >> 8);
  return total;
}

static nd4c_status write_strings(const nd4c_array *array, const npy_type *type, unsigned char *to) {
  for (int64_t i = 0; i < nd4c_array_size(array); i++) {
    const char *text = NULL;
    int64_t length = 0;
    ND4C_TRY(nd4c_array_string(array, i, &text, &length));
    const unsigned char *bytes = (const unsigned char *)text;
    unsigned char *item = to + i * type->item_bytes;
    memset(item, 0, (size_t)type->item_bytes);
    for (int64_t at = 0; at < length; item += UCS4_BYTES) {
      uint32_t code = 0;
      size_t step = nd4c_utf8_decode(bytes + at, (size_t)(length - at), &code);
      if (step == 0) {
        return nd4c_fail(ND4C_FORMAT, "string %" PRId64 " is not UTF-8", i);
      }
      for (int byte = 0; byte < UCS4_BYTES; byte++) {
        item[byte] = (unsigned char)(code >> (8 * byte));
      }
      at += (int64_t)step;
    }
  }
  return ND4C_OK;
}

/* One code a byte, as NumPy and ml_dtypes have them. */
static nd4c_status write_codes(const nd4c_array *array, unsigned char *to) {
  size_t bytes = (size_t)nd4c_dtype_bytes(nd4c_array_dtype(array), nd4c_array_size(array));
  unsigned char *packed = nd4c_allocate(bytes + 1);
  if (packed == NULL) {
    return nd4c_fail_memory("a npy file's elements", bytes);
  }
  nd4c_status status = nd4c_array_read(array, packed, bytes);
  for (int64_t i = 0; status == ND4C_OK && i < nd4c_array_size(array); i++) {
    to[i] = nd4c_narrow_get(nd4c_array_dtype(array), packed, i);
  }
  nd4c_deallocate(packed);
  return status;
}

static nd4c_status write_elements(const nd4c_array *array, const npy_type *type, unsigned char *to, size_t bytes) {
  nd4c_dtype dtype = nd4c_array_dtype(array);
  return dtype == ND4C_UTF8            ? write_strings(array, type, to)
         : nd4c_dtype_is_packed(dtype) ? write_codes(array, to)
                                       : nd4c_array_read(array, to, bytes);
}

nd4c_status nd4c_npy_make(const nd4c_array *array, unsigned char **file, size_t *size) {
  char header[1024];
  npy_type type;
  int64_t bytes = 0;
  ND4C_TRY(describe_type(array, &type));
  size_t header_bytes = write_header(array, &type, header, sizeof header);
  if (!nd4c_checked_multiply(nd4c_array_size(array), type.item_bytes, &bytes) ||
      !nd4c_checked_add(bytes, (int64_t)header_bytes, &bytes)) {
    return nd4c_fail(ND4C_OVERFLOW, "nd4c_npy_write: %" PRId64 " elements of %" PRId64 " bytes overflow",
                     nd4c_array_size(array), type.item_bytes);
  }
  *file = nd4c_allocate((size_t)bytes);
  if (*file == NULL) {
    return nd4c_fail_memory("a npy file", (size_t)bytes);
  }
  memcpy(*file, header, header_bytes);
  *size = (size_t)bytes;
  nd4c_status status = write_elements(array, &type, *file + header_bytes, *size - header_bytes);
  if (status != ND4C_OK) {
    nd4c_deallocate(*file);
    *file = NULL;
  }
  return status;
}

nd4c_status nd4c_npy_write(const char *path, const nd4c_array *array) {
  unsigned char *file = NULL;
  size_t size = 0;
  if (path == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_npy_write: path is NULL");
  }
  ND4C_TRY(nd4c_array_check(array, "array"));
  ND4C_TRY(nd4c_npy_make(array, &file, &size));
  nd4c_status status = nd4c_os_write_file(path, file, size);
  nd4c_deallocate(file);
  return status;
}
