/* Copies between host memory and arrays. dispatch/fetch.c calls them for nd4c_array_read and _write, ops that compute
 * on the host (dispatch, dispatch/text, dispatch/image) for the address of elements. */
#ifndef ND4C_DEVICE_ACCESS_WRITE_H
#define ND4C_DEVICE_ACCESS_WRITE_H

#include <stdbool.h>
#include <stddef.h>

#include "array/array.h"

/* Writes the whole of a C-contiguous array that starts at its storage's first byte. */
nd4c_status nd4c_array_write_contiguous(nd4c_array *array, const void *host, int64_t bytes);

/* Copies the elements of a contiguous array to a fresh one, through the host only if the devices cannot do it, ... */
nd4c_status nd4c_array_copy_contiguous(nd4c_array *to, const nd4c_array *from);
/* ... and those of a strided one, which the host packs. */
nd4c_status nd4c_array_copy_packed(nd4c_array *to, const nd4c_array *from);

/* Elements for the host to read. */
typedef struct nd4c_look {
  const char *element0;
  void *copy; /* a copy of the view's part of a storage on another device; NULL: the storage itself is read */
  size_t bytes;
} nd4c_look;

/* Makes the elements readable for the host: by a replica of the storage or, for a small view, a copy of its part. After
 * success nd4c_array_look_away must follow. */
nd4c_status nd4c_array_look_at(const nd4c_array *array, nd4c_look *look);
void nd4c_array_look_away(nd4c_look *look);

/* Whether a strided array on another device has few elements that are far apart, so that the device should pack them
 * before the host reads them; counts them as read apart. */
bool nd4c_array_is_scattered(const nd4c_array *array);
/* nd4c_array_read for a valid handle: copies the bytes that the elements span to the host, which packs them. */
nd4c_status nd4c_array_read_here(const nd4c_array *array, void *data, size_t bytes);

/* nd4c_array_write by the host: writes a few elements in place on the array's device, more of them to a replica on the
 * host. */
nd4c_status nd4c_array_write_here(nd4c_array *array, const void *data, size_t bytes);
/* Whether an array on another device has many scattered elements that are few bytes in total, so that they should be
 * copied in C order and scattered by its device; counts them as written apart. */
bool nd4c_array_takes_scattered(const nd4c_array *array, size_t bytes);
/* After a write under the thread's context: if that is eager, updates the replicas that were current before. */
void nd4c_array_written(nd4c_array *array);

/* Makes the host's replica current and gives the address of element 0. */
nd4c_status nd4c_array_host_address(const nd4c_array *array, bool writes, void **address);

#endif
