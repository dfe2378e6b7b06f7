/* Implements npy_header.h: a small parser of the dictionary. npy.c and npz.c call it before they read any data. */
#include "io/npy_header.h"

#include <inttypes.h>

#include "array/narrow.h"
#include "array/shape.h"
#include "base/checked.h"
#include "base/status.h"

enum { MAGIC_BYTES = 6, UCS4_BYTES = 4 };

/* A place in the dictionary's text. */
typedef struct npy_cursor {
  const unsigned char *file, *at, *end;
} npy_cursor;

static nd4c_status malformed(const npy_cursor *cursor, const char *expected) {
  nd4c_span rest = {cursor->at, (size_t)(cursor->end - cursor->at)};
  rest.size = rest.size > 16 ? 16 : rest.size;
  return nd4c_fail(ND4C_FORMAT, "npy header, byte %td: found %s, expected %s", cursor->at - cursor->file,
                   nd4c_span_show(rest).text, expected);
}

static void skip_space(npy_cursor *cursor) {
  while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\n' || *cursor->at == '\t')) {
    cursor->at++;
  }
}

static bool take(npy_cursor *cursor, const char *token) {
  skip_space(cursor);
  size_t size = strlen(token);
  if ((size_t)(cursor->end - cursor->at) < size || memcmp(cursor->at, token, size) != 0) {
    return false;
  }
  cursor->at += size;
  return true;
}

static nd4c_status read_quoted(npy_cursor *cursor, nd4c_span *text) {
  skip_space(cursor);
  if (cursor->at == cursor->end || (*cursor->at != '\'' && *cursor->at != '"')) {
    return malformed(cursor, "a quoted text");
  }
  const unsigned char *quote = cursor->at;
  const unsigned char *start = quote + 1;
  const unsigned char *close = memchr(start, *quote, (size_t)(cursor->end - start));
  if (close == NULL || memchr(start, '\\', (size_t)(close - start)) != NULL) {
    return malformed(cursor, "a quoted text without escapes");
  }
  *text = (nd4c_span){start, (size_t)(close - start)};
  cursor->at = close + 1;
  return ND4C_OK;
}

static nd4c_status read_extent(npy_cursor *cursor, int64_t *extent) {
  skip_space(cursor);
  const unsigned char *start = cursor->at;
  int64_t value = 0;
  while (cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9') {
    if (!nd4c_checked_multiply(value, 10, &value) || !nd4c_checked_add(value, *cursor->at - '0', &value)) {
      cursor->at = start;
      return nd4c_fail(ND4C_OVERFLOW, "npy header, byte %td: an extent does not fit 64 bits", start - cursor->file);
    }
    cursor->at++;
  }
  if (cursor->at == start) {
    return malformed(cursor, "an extent or ')'");
  }
  (void)take(cursor, "L"); /* Python 2 wrote 3L */
  *extent = value;
  return ND4C_OK;
}

static nd4c_status read_shape(npy_cursor *cursor, nd4c_npy_header *header) {
  if (!take(cursor, "(")) {
    return malformed(cursor, "'(' of the shape");
  }
  while (!take(cursor, ")")) {
    if (header->rank == ND4C_MAX_RANK) {
      return nd4c_fail(ND4C_FORMAT, "npy header, byte %td: more than %d dimensions", cursor->at - cursor->file,
                       ND4C_MAX_RANK);
    }
    ND4C_TRY(read_extent(cursor, &header->shape[header->rank++]));
    if (!take(cursor, ",") && !(cursor->at < cursor->end && *cursor->at == ')' && header->rank > 1)) {
      return malformed(cursor, "',' or ')' in the shape");
    }
  }
  return ND4C_OK;
}

/* "<U12": strings of 12 code points. */
static nd4c_status string_dtype(nd4c_span descr, nd4c_npy_header *header) {
  int64_t length = 0;
  for (size_t i = 2; i < descr.size; i++) {
    if (descr.bytes[i] < '0' || descr.bytes[i] > '9' || length > INT32_MAX) {
      return nd4c_fail(ND4C_FORMAT, "npy header: descr %s, expected a length below 2^31 after U",
                       nd4c_span_show(descr).text);
    }
    length = 10 * length + (descr.bytes[i] - '0');
  }
  header->dtype = ND4C_UTF8;
  header->item_bytes = length * UCS4_BYTES;
  return ND4C_OK;
}

/* What ml_dtypes writes, one code a byte: "<f1" is its float8_e5m2; "V1" is ambiguous among the others, and is read as
 * uint8 codes. */
static bool ml_dtype(nd4c_span type, nd4c_npy_header *header) {
  bool e5m2 = nd4c_span_is(type, "f1") && nd4c_dtype_get_info(ND4C_FLOAT8_E5M2)->available;
  if (!e5m2 && !nd4c_span_is(type, "V1")) {
    return false;
  }
  header->dtype = e5m2 ? ND4C_FLOAT8_E5M2 : ND4C_UINT8;
  header->item_bytes = 1;
  return true;
}

static nd4c_status find_dtype(nd4c_span descr, nd4c_npy_header *header) {
  char order = descr.size > 1 ? (char)descr.bytes[0] : '?';
  if (memchr("<>|=", order, 4) == NULL) {
    return nd4c_fail(ND4C_UNSUPPORTED, "npy header: descr %s, expected a byte order and a type such as '<f4'",
                     nd4c_span_show(descr).text);
  }
  if (descr.bytes[1] == 'U' && order != '>') {
    return string_dtype(descr, header);
  }
  nd4c_span type = {descr.bytes + 1, descr.size - 1};
  if (ml_dtype(type, header)) {
    return ND4C_OK;
  }
  for (nd4c_dtype dtype = 1; dtype < ND4C_DTYPE_END; dtype++) {
    const nd4c_dtype_info *info = nd4c_dtype_get_info(dtype);
    if (info == NULL || info->kind == ND4C_KIND_STRING || !nd4c_span_is(type, info->numpy_type + 1)) {
      continue;
    }
    if (!info->available) {
      return nd4c_fail(ND4C_UNSUPPORTED, "npy header: descr %s is %s, which this build leaves out",
                       nd4c_span_show(descr).text, info->name);
    }
    header->dtype = dtype;
    header->item_bytes = info->block_bytes;
    header->swapped = order == '>' && info->bits > 8;
    return ND4C_OK;
  }
  return nd4c_fail(ND4C_UNSUPPORTED, "npy header: descr %s is not a dtype of nd4c", nd4c_span_show(descr).text);
}

/* "[('float8_e4m3fn', '|V1')]", as nd4c writes narrow dtypes: the name of the single field is the dtype. */
static nd4c_status read_named_dtype(npy_cursor *cursor, nd4c_npy_header *header) {
  nd4c_span name, type;
  const unsigned char *start = cursor->at;
  if (!take(cursor, "[") || !take(cursor, "(") || read_quoted(cursor, &name) != ND4C_OK || !take(cursor, ",") ||
      read_quoted(cursor, &type) != ND4C_OK || !take(cursor, ")") || !take(cursor, "]") || type.size != 3 ||
      !nd4c_span_is((nd4c_span){type.bytes + 1, 2}, "V1")) {
    return nd4c_fail(ND4C_UNSUPPORTED, "npy header, byte %td: a structured dtype", start - cursor->file);
  }
  for (nd4c_dtype dtype = 1; dtype < ND4C_DTYPE_END; dtype++) {
    const nd4c_dtype_info *info = nd4c_dtype_get_info(dtype);
    if (nd4c_dtype_is_narrow(dtype) && info->available && nd4c_span_is(name, info->name)) {
      header->dtype = dtype;
      header->item_bytes = 1;
      return ND4C_OK;
    }
  }
  return nd4c_fail(ND4C_UNSUPPORTED, "npy header, byte %td: a structured dtype, its field %s is not a dtype of nd4c",
                   start - cursor->file, nd4c_span_show(name).text);
}

static nd4c_status read_entry(npy_cursor *cursor, nd4c_npy_header *header, unsigned *seen) {
  static const char *const keys[] = {"descr", "fortran_order", "shape"};
  nd4c_span key;
  const unsigned char *start = cursor->at;
  ND4C_TRY(read_quoted(cursor, &key));
  unsigned which = 0;
  while (which < 3 && !nd4c_span_is(key, keys[which])) {
    which++;
  }
  if (which == 3 || (*seen & 1u << which) != 0) {
    return nd4c_fail(ND4C_FORMAT, "npy header, byte %td: key %s; expected descr, fortran_order and shape, each once",
                     start - cursor->file, nd4c_span_show(key).text);
  }
  *seen |= 1u << which;
  if (!take(cursor, ":")) {
    return malformed(cursor, "':'");
  }
  if (which == 0) {
    nd4c_span descr;
    skip_space(cursor);
    if (cursor->at < cursor->end && (*cursor->at == '[' || *cursor->at == '(')) {
      return read_named_dtype(cursor, header);
    }
    ND4C_TRY(read_quoted(cursor, &descr));
    return find_dtype(descr, header);
  }
  if (which == 2) {
    return read_shape(cursor, header);
  }
  header->fortran_order = take(cursor, "True");
  return header->fortran_order || take(cursor, "False") ? ND4C_OK : malformed(cursor, "True or False");
}

static nd4c_status read_dictionary(npy_cursor *cursor, nd4c_npy_header *header) {
  unsigned seen = 0;
  if (!take(cursor, "{")) {
    return malformed(cursor, "'{'");
  }
  while (!take(cursor, "}")) {
    ND4C_TRY(read_entry(cursor, header, &seen));
    if (!take(cursor, ",") && !(cursor->at < cursor->end && *cursor->at == '}')) {
      return malformed(cursor, "',' or '}'");
    }
  }
  skip_space(cursor);
  if (cursor->at != cursor->end) {
    return malformed(cursor, "only spaces after the dictionary");
  }
  if (seen != 7) {
    return nd4c_fail(ND4C_FORMAT, "npy header: %s is missing; expected descr, fortran_order and shape",
                     (seen & 1) == 0   ? "descr"
                     : (seen & 2) == 0 ? "fortran_order"
                                       : "shape");
  }
  return ND4C_OK;
}

/* Finds the dictionary behind magic, version and length. */
static nd4c_status find_dictionary(nd4c_span file, npy_cursor *cursor) {
  static const unsigned char magic[MAGIC_BYTES] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
  if (file.size < MAGIC_BYTES + 2 || memcmp(file.bytes, magic, MAGIC_BYTES) != 0) {
    return nd4c_fail(ND4C_FORMAT, "not a .npy file: expected \\x93NUMPY and a version at byte 0 of %zu", file.size);
  }
  unsigned char major = file.bytes[MAGIC_BYTES];
  if (major < 1 || major > 3 || file.bytes[MAGIC_BYTES + 1] != 0) {
    return nd4c_fail(ND4C_UNSUPPORTED, "npy format version %d.%d; expected 1.0, 2.0 or 3.0", major,
                     file.bytes[MAGIC_BYTES + 1]);
  }
  size_t width = major == 1 ? 2 : 4;
  size_t start = MAGIC_BYTES + 2 + width;
  uint64_t length = 0;
  for (size_t i = 0; i < width && MAGIC_BYTES + 2 + i < file.size; i++) {
    length |= (uint64_t)file.bytes[MAGIC_BYTES + 2 + i] << (8 * i);
  }
  if (file.size < start || length > file.size - start || length > ND4C_NPY_HEADER_LIMIT) {
    return nd4c_fail(ND4C_FORMAT,
                     "npy header of %" PRIu64 " bytes at byte %zu of a file of %zu; expected at most %d, all there",
                     length, start, file.size, (int)ND4C_NPY_HEADER_LIMIT);
  }
  *cursor = (npy_cursor){file.bytes, file.bytes + start, file.bytes + start + length};
  return ND4C_OK;
}

nd4c_status nd4c_npy_header_parse(nd4c_span file, nd4c_npy_header *header) {
  npy_cursor cursor = {0};
  *header = (nd4c_npy_header){.dtype = ND4C_DTYPE_NONE};
  ND4C_TRY(find_dictionary(file, &cursor));
  header->data_offset = (size_t)(cursor.end - file.bytes);
  ND4C_TRY(read_dictionary(&cursor, header));
  ND4C_TRY(nd4c_shape_size(header->dtype, header->rank, header->shape, &header->size));
  if (!nd4c_checked_multiply(header->size, header->item_bytes, &header->bytes)) {
    return nd4c_fail(ND4C_OVERFLOW, "npy header: %" PRId64 " elements of %" PRId64 " bytes overflow", header->size,
                     header->item_bytes);
  }
  uint64_t there = file.size - header->data_offset;
  if (there != (uint64_t)header->bytes) {
    return nd4c_fail(ND4C_FORMAT, "npy data: %" PRIu64 " bytes from byte %zu on, expected %" PRId64, there,
                     header->data_offset, header->bytes);
  }
  return ND4C_OK;
}
