/* Implements wire.h. The parsers of src/import call it. */
#include "io/wire.h"

#include <inttypes.h>

#include "base/status.h"

static const char *type_name(nd4c_wire_type type) {
  static const char *const names[] = {"varint", "64-bit", "length-delimited", "group", "end of group", "32-bit"};
  return names[type];
}

static uint64_t offset_of(const nd4c_wire *wire, const unsigned char *at) {
  return (uint64_t)(at - wire->file);
}

static nd4c_status read_varint(const nd4c_wire *wire, const unsigned char **at, const unsigned char *end,
                               uint64_t *value) {
  const unsigned char *start = *at;
  uint64_t result = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (*at == end) {
      return nd4c_fail(ND4C_FORMAT, "byte %" PRIu64 ": %s ends inside a number", offset_of(wire, start), wire->message);
    }
    unsigned char byte = *(*at)++;
    if (shift == 63 && byte > 1) {
      break;
    }
    result |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) {
      *value = result;
      return ND4C_OK;
    }
  }
  return nd4c_fail(ND4C_FORMAT, "byte %" PRIu64 ": a number in %s is longer than 64 bits", offset_of(wire, start),
                   wire->message);
}

static uint64_t little_endian(const unsigned char *bytes, int count) {
  uint64_t value = 0;
  for (int i = count - 1; i >= 0; i--) {
    value = value << 8 | bytes[i];
  }
  return value;
}

static nd4c_status read_fixed(const nd4c_wire *wire, const unsigned char **at, const unsigned char *end, int count,
                              uint64_t *value) {
  if (end - *at < count) {
    return nd4c_fail(ND4C_FORMAT, "byte %" PRIu64 ": %s ends inside a %d-byte number: %" PRId64 " bytes are left",
                     offset_of(wire, *at), wire->message, count, (int64_t)(end - *at));
  }
  *value = little_endian(*at, count);
  *at += count;
  return ND4C_OK;
}

nd4c_wire nd4c_wire_open(nd4c_span bytes, const char *message) {
  static const unsigned char nothing;
  const unsigned char *start = bytes.size > 0 ? bytes.bytes : &nothing;
  return (nd4c_wire){start, start, start + bytes.size, message, 0};
}

nd4c_status nd4c_wire_enter(const nd4c_wire *wire, const nd4c_wire_field *field, const char *message,
                            nd4c_wire *inner) {
  nd4c_span bytes;
  ND4C_TRY(nd4c_wire_bytes(wire, field, &bytes));
  if (wire->depth + 1 > ND4C_WIRE_DEPTH) {
    return nd4c_fail(ND4C_FORMAT, "byte %" PRIu64 ": messages are nested deeper than %d", field->offset,
                     ND4C_WIRE_DEPTH);
  }
  *inner = (nd4c_wire){wire->file, bytes.bytes, bytes.bytes + bytes.size, message, wire->depth + 1};
  return ND4C_OK;
}

static nd4c_status read_tag(const nd4c_wire *wire, const unsigned char **at, uint32_t *number, nd4c_wire_type *type) {
  const unsigned char *start = *at;
  uint64_t tag = 0;
  ND4C_TRY(read_varint(wire, at, wire->end, &tag));
  if (tag > UINT32_MAX || tag >> 3 == 0 || (tag & 7) > ND4C_WIRE_FIXED32) {
    return nd4c_fail(ND4C_FORMAT, "byte %" PRIu64 ": %" PRIu64 " is not a field tag (in %s)", offset_of(wire, start),
                     tag, wire->message);
  }
  *number = (uint32_t)(tag >> 3);
  *type = (nd4c_wire_type)(tag & 7);
  return ND4C_OK;
}

static nd4c_status read_value(const nd4c_wire *wire, const unsigned char **at, nd4c_wire_type type, uint64_t *value,
                              nd4c_span *bytes) {
  if (type == ND4C_WIRE_VARINT) {
    return read_varint(wire, at, wire->end, value);
  }
  if (type != ND4C_WIRE_BYTES) {
    return read_fixed(wire, at, wire->end, type == ND4C_WIRE_FIXED32 ? 4 : 8, value);
  }
  const unsigned char *start = *at;
  uint64_t size = 0;
  ND4C_TRY(read_varint(wire, at, wire->end, &size));
  if (size > (uint64_t)(wire->end - *at)) {
    return nd4c_fail(ND4C_FORMAT,
                     "byte %" PRIu64 ": a field of %s claims %" PRIu64 " bytes, but only %" PRIu64 " are left",
                     offset_of(wire, start), wire->message, size, (uint64_t)(wire->end - *at));
  }
  *bytes = (nd4c_span){*at, (size_t)size};
  *at += size;
  return ND4C_OK;
}

/* Skips a group up to its end tag. Open groups are kept in a list, not on the call stack. */
static nd4c_status skip_group(const nd4c_wire *wire, const unsigned char **at, uint32_t number) {
  uint32_t open[ND4C_WIRE_DEPTH];
  int32_t depth = 1;
  open[0] = number;
  while (depth > 0) {
    const unsigned char *start = *at;
    uint32_t inner = 0;
    nd4c_wire_type type = ND4C_WIRE_VARINT;
    ND4C_TRY(read_tag(wire, at, &inner, &type));
    if (type == ND4C_WIRE_GROUP_END) {
      if (inner != open[depth - 1]) {
        return nd4c_fail(ND4C_FORMAT, "byte %" PRIu64 ": end of group %u where group %u is open",
                         offset_of(wire, start), (unsigned)inner, (unsigned)open[depth - 1]);
      }
      depth--;
    } else if (type == ND4C_WIRE_GROUP) {
      if (wire->depth + depth + 1 > ND4C_WIRE_DEPTH) {
        return nd4c_fail(ND4C_FORMAT, "byte %" PRIu64 ": groups are nested deeper than %d", offset_of(wire, start),
                         ND4C_WIRE_DEPTH);
      }
      open[depth++] = inner;
    } else {
      uint64_t value = 0;
      nd4c_span bytes;
      ND4C_TRY(read_value(wire, at, type, &value, &bytes));
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_wire_next(nd4c_wire *wire, nd4c_wire_field *field) {
  const unsigned char *start = wire->at;
  *field = (nd4c_wire_field){.offset = offset_of(wire, start)};
  ND4C_TRY(read_tag(wire, &wire->at, &field->number, &field->type));
  if (field->type == ND4C_WIRE_GROUP_END) {
    return nd4c_fail(ND4C_FORMAT, "byte %" PRIu64 ": end of group %u in %s, but none is open", field->offset,
                     (unsigned)field->number, wire->message);
  }
  if (field->type == ND4C_WIRE_GROUP) {
    ND4C_TRY(skip_group(wire, &wire->at, field->number));
    field->bytes = (nd4c_span){start, (size_t)(wire->at - start)};
    return ND4C_OK;
  }
  return read_value(wire, &wire->at, field->type, &field->value, &field->bytes);
}

static nd4c_status expect_type(const nd4c_wire *wire, const nd4c_wire_field *field, nd4c_wire_type expected) {
  if (field->type != expected) {
    return nd4c_fail(ND4C_FORMAT, "byte %" PRIu64 ": field %u of %s has wire type %s, expected %s", field->offset,
                     (unsigned)field->number, wire->message, type_name(field->type), type_name(expected));
  }
  return ND4C_OK;
}

nd4c_status nd4c_wire_int(const nd4c_wire *wire, const nd4c_wire_field *field, int64_t *value) {
  ND4C_TRY(expect_type(wire, field, ND4C_WIRE_VARINT));
  *value = (int64_t)field->value;
  return ND4C_OK;
}

nd4c_status nd4c_wire_float(const nd4c_wire *wire, const nd4c_wire_field *field, float *value) {
  ND4C_TRY(expect_type(wire, field, ND4C_WIRE_FIXED32));
  uint32_t bits = (uint32_t)field->value;
  memcpy(value, &bits, sizeof bits);
  return ND4C_OK;
}

nd4c_status nd4c_wire_bytes(const nd4c_wire *wire, const nd4c_wire_field *field, nd4c_span *value) {
  ND4C_TRY(expect_type(wire, field, ND4C_WIRE_BYTES));
  *value = field->bytes;
  return ND4C_OK;
}

nd4c_status nd4c_wire_text(const nd4c_wire *wire, const nd4c_wire_field *field, nd4c_span *value) {
  ND4C_TRY(nd4c_wire_bytes(wire, field, value));
  if (!nd4c_span_is_text(*value)) {
    return nd4c_fail(ND4C_FORMAT, "byte %" PRIu64 ": field %u of %s is not UTF-8 text: %s", field->offset,
                     (unsigned)field->number, wire->message, nd4c_span_show(*value).text);
  }
  return ND4C_OK;
}

nd4c_status nd4c_wire_list_open(const nd4c_wire *wire, const nd4c_wire_field *field, nd4c_wire_type element,
                                nd4c_wire_list *list) {
  *list = (nd4c_wire_list){.wire = wire, .element = element};
  if (field->type == ND4C_WIRE_BYTES) {
    list->at = field->bytes.bytes;
    list->end = field->bytes.bytes + field->bytes.size;
    return ND4C_OK;
  }
  ND4C_TRY(expect_type(wire, field, element));
  list->single = true;
  list->value = field->value;
  return ND4C_OK;
}

nd4c_status nd4c_wire_list_next(nd4c_wire_list *list, uint64_t *value) {
  if (list->single) {
    list->single = false;
    *value = list->value;
    return ND4C_OK;
  }
  if (list->element == ND4C_WIRE_VARINT) {
    return read_varint(list->wire, &list->at, list->end, value);
  }
  return read_fixed(list->wire, &list->at, list->end, list->element == ND4C_WIRE_FIXED32 ? 4 : 8, value);
}
