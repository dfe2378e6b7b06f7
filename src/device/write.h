/* Host bytes into and out of arrays. */
#ifndef ND4C_DEVICE_WRITE_H
#define ND4C_DEVICE_WRITE_H

#include "array/array.h"

/* Writes the whole of a C-contiguous array that starts at its storage's first byte. */
nd4c_status nd4c_array_write_contiguous(nd4c_array *array, const void *host, int64_t bytes);

/* Makes the host's replica current and gives the address of element 0. */
nd4c_status nd4c_array_host_address(const nd4c_array *array, bool writes, void **address);

#endif
