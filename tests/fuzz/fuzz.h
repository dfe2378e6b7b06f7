/* Functions that the fuzz targets share. */
#ifndef ND4C_TESTS_FUZZ_H
#define ND4C_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "nd4c/array.h"
#include "nd4c/datum.h"
#include "nd4c/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads every element, so that sanitizers find elements outside of memory. Ends the process if the array cannot be
 * read. */
static inline void fuzz_read_array(const nd4c_array *array) {
  enum { MOST = 1 << 16 };
  int64_t size = nd4c_array_size(array);
  if (nd4c_array_dtype(array) == ND4C_UTF8) {
    for (int64_t i = 0; i < size && i < MOST; i++) {
      const char *text = NULL;
      int64_t length = 0;
      if (nd4c_array_string(array, i, &text, &length) != ND4C_OK || length < 0) {
        abort();
      }
    }
    return;
  }
  if (size > MOST) {
    return;
  }
  size_t bytes = (size_t)nd4c_dtype_bytes(nd4c_array_dtype(array), size);
  void *copy = malloc(bytes + 1);
  if (copy == NULL || nd4c_array_read(array, copy, bytes) != ND4C_OK) {
    abort();
  }
  free(copy);
}

/* The same for every array in a datum. */
static inline void fuzz_read_datum(const nd4c_datum *datum) {
  if (nd4c_datum_array(datum) != NULL) {
    fuzz_read_array(nd4c_datum_array(datum));
  }
  for (int32_t i = 0; i < nd4c_datum_count(datum); i++) {
    fuzz_read_datum(nd4c_datum_item(datum, i));
  }
}

/* Every array and every text of an archive, which is released. */
static inline void fuzz_read_archive(nd4c_archive *archive) {
  for (int32_t i = 0; i < nd4c_archive_count(archive); i++) {
    nd4c_array *array = NULL;
    if (nd4c_archive_find(archive, nd4c_archive_name(archive, i)) != i) {
      abort();
    }
    if (nd4c_archive_array(archive, i, &array) == ND4C_OK) {
      fuzz_read_array(array);
      nd4c_array_release(array);
    }
  }
  for (int32_t i = 0; i < nd4c_archive_metadata_count(archive); i++) {
    if (nd4c_archive_metadata_key(archive, i) == NULL || nd4c_archive_metadata_value(archive, i) == NULL) {
      abort();
    }
  }
  nd4c_archive_release(archive);
}

#endif
