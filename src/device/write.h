/* Host bytes into and out of arrays. */
#ifndef ND4C_DEVICE_WRITE_H
#define ND4C_DEVICE_WRITE_H

#include "array/array.h"

/* Writes the whole of a C-contiguous array that starts at its storage's first byte. */
nd4c_status nd4c_array_write_contiguous(nd4c_array *array, const void *host, int64_t bytes);

/* Brings the elements of a contiguous array to a fresh one from where they are, by way of the host only where the
 * devices need it, ... */
nd4c_status nd4c_array_copy_contiguous(nd4c_array *to, const nd4c_array *from);
/* ... and those of a strided one, packed by the host. */
nd4c_status nd4c_array_copy_packed(nd4c_array *to, const nd4c_array *from);

/* Makes the host's replica current and gives the address of element 0. */
nd4c_status nd4c_array_host_address(const nd4c_array *array, bool writes, void **address);

#endif
