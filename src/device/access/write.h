/* Host bytes into and out of arrays. */
#ifndef ND4C_DEVICE_WRITE_H
#define ND4C_DEVICE_WRITE_H

#include <stdbool.h>
#include <stddef.h>

#include "array/array.h"

/* Writes the whole of a C-contiguous array that starts at its storage's first byte. */
nd4c_status nd4c_array_write_contiguous(nd4c_array *array, const void *host, int64_t bytes);

/* Brings the elements of a contiguous array to a fresh one from where they are, by way of the host only where the
 * devices need it, ... */
nd4c_status nd4c_array_copy_contiguous(nd4c_array *to, const nd4c_array *from);
/* ... and those of a strided one, packed by the host. */
nd4c_status nd4c_array_copy_packed(nd4c_array *to, const nd4c_array *from);

/* Elements for the host to read. */
typedef struct nd4c_look {
  const char *element0;
  void *copy; /* of the view's part of a storage that stays where it is; NULL: the elements are the storage's */
  size_t bytes;
} nd4c_look;

/* The elements where the host reads them: a replica of the storage, or, of a small view, of its part alone. After
 * success nd4c_array_look_away must follow. */
nd4c_status nd4c_array_look_at(const nd4c_array *array, nd4c_look *look);
void nd4c_array_look_away(nd4c_look *look);

/* Whether a strided array's elements are few, far apart and away, so that the host should read them when they stand in
 * order; counts them as read apart. */
bool nd4c_array_is_scattered(const nd4c_array *array);
/* nd4c_array_read of an array that is one: the bytes that its elements lie in come to the host, which packs them. */
nd4c_status nd4c_array_read_here(const nd4c_array *array, void *data, size_t bytes);

/* nd4c_array_write where the host knows where the elements go: few of them are written where the array is, more on the
 * host, after it has come. */
nd4c_status nd4c_array_write_here(nd4c_array *array, const void *data, size_t bytes);
/* Whether an array of so many bytes has many elements that lie apart, while it is elsewhere and they come to little, so
 * that they should travel in order and its device put them in their places; counts them as written apart. */
bool nd4c_array_takes_scattered(const nd4c_array *array, size_t bytes);
/* After a write under the thread's context: where that is eager, the replicas follow that were current before. */
void nd4c_array_written(nd4c_array *array);

/* Makes the host's replica current and gives the address of element 0. */
nd4c_status nd4c_array_host_address(const nd4c_array *array, bool writes, void **address);

#endif
