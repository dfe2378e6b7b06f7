/* A bounded reader of protobuf's wire format over bytes in memory. It never copies, never allocates, and never looks
 * outside its range; every error is ND4C_FORMAT and carries the byte offset from the start of the file. The parsers of
 * src/import use it. */
#ifndef ND4C_IO_WIRE_H
#define ND4C_IO_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "io/span.h"
#include "nd4c/status.h"

/* Most messages and groups in each other. The parsers call themselves for each: a graph in a node takes three messages
 * and some 2 KB of stack, which makes 90 KB for the deepest file. ONNX wants ND4C_CONTROL_DEPTH graphs in each other
 * (import/onnx/file/graph.c). */
enum { ND4C_WIRE_DEPTH = 128 };

typedef enum nd4c_wire_type {
  ND4C_WIRE_VARINT = 0,
  ND4C_WIRE_FIXED64 = 1,
  ND4C_WIRE_BYTES = 2,
  ND4C_WIRE_GROUP = 3,
  ND4C_WIRE_GROUP_END = 4,
  ND4C_WIRE_FIXED32 = 5
} nd4c_wire_type;

/* One message being read. */
typedef struct nd4c_wire {
  const unsigned char *file; /* offsets in errors count from here */
  const unsigned char *at, *end;
  const char *message; /* its type, for errors; static */
  int32_t depth;
} nd4c_wire;

typedef struct nd4c_wire_field {
  uint32_t number;
  nd4c_wire_type type;
  uint64_t value;  /* VARINT, FIXED32, FIXED64 */
  nd4c_span bytes; /* BYTES; GROUP: the whole group with its end tag */
  uint64_t offset; /* of the tag */
} nd4c_wire_field;

/* Reads `bytes` as a whole file that holds one message. */
nd4c_wire nd4c_wire_open(nd4c_span bytes, const char *message);
/* Reads a BYTES field as a nested message. */
nd4c_status nd4c_wire_enter(const nd4c_wire *wire, const nd4c_wire_field *field, const char *message, nd4c_wire *inner);
/* Whether another field begins before the end of the message. */
static inline bool nd4c_wire_more(const nd4c_wire *wire) {
  return wire->at != wire->end;
}
/* Reads the next field, skipping whole groups; FORMAT at the end of the message. */
nd4c_status nd4c_wire_next(nd4c_wire *wire, nd4c_wire_field *field);

/* The field's value with the schema's type; FORMAT if the wire type differs. */
nd4c_status nd4c_wire_int(const nd4c_wire *wire, const nd4c_wire_field *field, int64_t *value);
nd4c_status nd4c_wire_float(const nd4c_wire *wire, const nd4c_wire_field *field, float *value);
nd4c_status nd4c_wire_bytes(const nd4c_wire *wire, const nd4c_wire_field *field, nd4c_span *value);
/* As nd4c_wire_bytes, and the bytes are UTF-8 without NUL. */
nd4c_status nd4c_wire_text(const nd4c_wire *wire, const nd4c_wire_field *field, nd4c_span *value);

/* Iterates over the values of one occurrence of a repeated number: packed (BYTES) or a single one. `element` is the
 * wire type of a value. */
typedef struct nd4c_wire_list {
  const nd4c_wire *wire;
  const unsigned char *at, *end;
  nd4c_wire_type element;
  bool single;
  uint64_t value;
} nd4c_wire_list;
nd4c_status nd4c_wire_list_open(const nd4c_wire *wire, const nd4c_wire_field *field, nd4c_wire_type element,
                                nd4c_wire_list *list);
/* Whether another value follows. */
static inline bool nd4c_wire_list_more(const nd4c_wire_list *list) {
  return list->single || list->at != list->end;
}
/* The next value; there must be one. */
nd4c_status nd4c_wire_list_next(nd4c_wire_list *list, uint64_t *value);

#endif
