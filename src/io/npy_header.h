/* The header of a .npy file, a Python dictionary as text, for npy.c and npz.c. */
#ifndef ND4C_IO_NPY_HEADER_H
#define ND4C_IO_NPY_HEADER_H

#include "io/span.h"
#include "nd4c/array.h"

/* Bytes of a dictionary at most. */
enum { ND4C_NPY_HEADER_LIMIT = 1 << 20 };

typedef struct nd4c_npy_header {
  nd4c_dtype dtype;
  int64_t item_bytes; /* of one element in the file */
  bool swapped;       /* big-endian */
  bool fortran_order;
  int32_t rank;
  int64_t shape[ND4C_MAX_RANK];
  int64_t size;       /* elements */
  int64_t bytes;      /* of data */
  size_t data_offset; /* where they begin */
} nd4c_npy_header;

/* Reads magic, version and dictionary. FORMAT with the byte offset, UNSUPPORTED for a dtype that nd4c lacks. Reads only
 * the header, but checks that the file has as many bytes of data as the header says. */
nd4c_status nd4c_npy_header_parse(nd4c_span file, nd4c_npy_header *header);

#endif
