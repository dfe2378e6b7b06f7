/* .npy files in memory, for the reader and writer of .npz archives (npz.c). */
#ifndef ND4C_IO_NPY_H
#define ND4C_IO_NPY_H

#include "io/span.h"
#include "nd4c/array.h"

/* nd4c_npy_read_memory. With a holder, a uint8 array whose bytes contain the file, aligned elements are used in place,
 * writable; the array retains the holder. */
nd4c_status nd4c_npy_read_span(nd4c_span file, nd4c_array *holder, nd4c_array **array);
/* The bytes of a .npy file 1.0 of an array, to be freed with nd4c_deallocate. */
nd4c_status nd4c_npy_make(const nd4c_array *array, unsigned char **file, size_t *size);

#endif
