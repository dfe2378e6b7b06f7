/* A writer of protobuf's wire format. Each message is written twice: the first pass only counts bytes. import/tensor.c
 * implements it; import/datum_file.c writes its messages with it. */
#ifndef ND4C_IO_WIRE_WRITE_H
#define ND4C_IO_WIRE_WRITE_H

#include "io/wire.h"
#include "nd4c/array.h"

/* Bytes of a message under construction; with `to` NULL they are only counted. */
typedef struct nd4c_wire_writer {
  unsigned char *to;
  int64_t used;
  bool overflow;
} nd4c_wire_writer;

void nd4c_wire_put_varint(nd4c_wire_writer *writer, uint64_t value);
void nd4c_wire_put_tag(nd4c_wire_writer *writer, uint32_t field, nd4c_wire_type type);
void nd4c_wire_put_bytes(nd4c_wire_writer *writer, uint32_t field, const void *bytes, int64_t size);
/* The fields of a TensorProto. */
nd4c_status nd4c_tensor_put(nd4c_wire_writer *writer, const nd4c_array *array, const char *name);

/* Puts all of a message. */
typedef nd4c_status (*nd4c_wire_put)(nd4c_wire_writer *writer, const void *value, const char *name);
/* Writes a file of one message. */
nd4c_status nd4c_wire_write_file(const char *path, const char *caller, nd4c_wire_put put, const void *value,
                                 const char *name);

#endif
