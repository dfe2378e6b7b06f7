/* The bytes of a file, mapped or lent by the caller. Models, archives and the arrays that point into the bytes share
 * one by reference count. The readers of src/io and src/import make them. */
#ifndef ND4C_IO_BLOB_H
#define ND4C_IO_BLOB_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/os.h"
#include "io/span.h"
#include "nd4c/array.h"

/* Immutable except the reference count, which any thread may drop. */
typedef struct nd4c_blob {
  _Atomic int32_t references;
  nd4c_span bytes;
  nd4c_os_mapping mapping; /* bytes NULL: lent */
  nd4c_release_callback release;
  void *user;
} nd4c_blob;

nd4c_status nd4c_blob_map(const char *path, nd4c_blob **blob);
/* Lent bytes; `release` (may be NULL) is called with `user` when the last reference is released. */
nd4c_status nd4c_blob_wrap(const void *bytes, size_t size, nd4c_release_callback release, void *user, nd4c_blob **blob);
nd4c_blob *nd4c_blob_retain(nd4c_blob *blob);
/* NULL is fine. */
void nd4c_blob_release(nd4c_blob *blob);
/* nd4c_blob_release as a callback of nd4c_array_wrap. */
void nd4c_blob_release_user(void *blob);

/* The directory part of a path ("." if it has none), to be freed with nd4c_deallocate; NULL if there is no memory. */
char *nd4c_io_directory_of(const char *path);

#endif
