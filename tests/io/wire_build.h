/* Writes protobuf messages by hand, for files that no library would write. */
#ifndef ND4C_TESTS_WIRE_BUILD_H
#define ND4C_TESTS_WIRE_BUILD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { WIRE_ROOM = 1 << 16 };

/* Bytes under construction; longer ones end the test. */
typedef struct wire_bytes {
  size_t size;
  unsigned char bytes[WIRE_ROOM];
} wire_bytes;

static inline void wire_raw(wire_bytes *to, const void *bytes, size_t size) {
  assert_true(size <= WIRE_ROOM - to->size);
  memcpy(to->bytes + to->size, bytes, size);
  to->size += size;
}

static inline void wire_varint(wire_bytes *to, uint64_t value) {
  do {
    unsigned char byte = (unsigned char)((value & 0x7f) | (value >= 0x80 ? 0x80 : 0));
    wire_raw(to, &byte, 1);
    value >>= 7;
  } while (value != 0);
}

static inline void wire_tag(wire_bytes *to, uint32_t field, unsigned type) {
  wire_varint(to, (uint64_t)field << 3 | type);
}

static inline void wire_number(wire_bytes *to, uint32_t field, uint64_t value) {
  wire_tag(to, field, 0);
  wire_varint(to, value);
}

static inline void wire_block(wire_bytes *to, uint32_t field, const void *bytes, size_t size) {
  wire_tag(to, field, 2);
  wire_varint(to, size);
  wire_raw(to, bytes, size);
}

static inline void wire_text(wire_bytes *to, uint32_t field, const char *text) {
  wire_block(to, field, text, strlen(text));
}

static inline void wire_message(wire_bytes *to, uint32_t field, const wire_bytes *message) {
  wire_block(to, field, message->bytes, message->size);
}

#endif
