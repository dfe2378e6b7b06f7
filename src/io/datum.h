/* The inside of a datum, for src/io and src/import. */
#ifndef ND4C_IO_DATUM_H
#define ND4C_IO_DATUM_H

#include <stdatomic.h>

#include "nd4c/datum.h"

struct nd4c_datum {
  uint32_t magic;
  atomic_int references;
  nd4c_datum_kind kind;
  nd4c_dtype dtype;
  nd4c_array *array;
  int32_t depth; /* of an array: 1 */
  int32_t count;
  nd4c_datum *items[];
};

/* NULL_ARGUMENT or HANDLE; `what` names it. */
nd4c_status nd4c_datum_check(const nd4c_datum *datum, const char *what);

#endif
