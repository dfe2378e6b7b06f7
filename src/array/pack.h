/* Copies elements between strided and C-contiguous host memory. device/access/access.c calls it to read and write
 * arrays. */
#ifndef ND4C_ARRAY_PACK_H
#define ND4C_ARRAY_PACK_H

#include <stdint.h>

/* Copies the elements of a strided array (element 0 at `from`) to `to` in C order, and back. */
void nd4c_pack(int32_t rank, const int64_t *shape, const int64_t *strides, int64_t element_bytes, const void *from,
               void *to);
void nd4c_unpack(int32_t rank, const int64_t *shape, const int64_t *strides, int64_t element_bytes, const void *from,
                 void *to);

#endif
