/* Implements blob.h: maps files and wraps lent bytes. The readers of src/io and src/import call it. */
#include "io/blob.h"

#include "base/alloc.h"
#include "base/status.h"

static nd4c_status make(nd4c_blob **blob) {
  *blob = nd4c_allocate_zeroed(1, sizeof **blob);
  if (*blob == NULL) {
    return nd4c_fail_memory("a file's handle", sizeof **blob);
  }
  atomic_init(&(*blob)->references, 1);
  return ND4C_OK;
}

nd4c_status nd4c_blob_map(const char *path, nd4c_blob **blob) {
  nd4c_blob *made = NULL;
  ND4C_TRY(make(&made));
  nd4c_status status = nd4c_os_map_file(path, &made->mapping);
  if (status != ND4C_OK) {
    nd4c_deallocate(made);
    return status;
  }
  made->bytes = (nd4c_span){made->mapping.bytes, made->mapping.size};
  *blob = made;
  return ND4C_OK;
}

nd4c_status nd4c_blob_wrap(const void *bytes, size_t size, nd4c_release_callback release, void *user,
                           nd4c_blob **blob) {
  ND4C_TRY(make(blob));
  (*blob)->bytes = (nd4c_span){bytes, size};
  (*blob)->release = release;
  (*blob)->user = user;
  return ND4C_OK;
}

nd4c_blob *nd4c_blob_retain(nd4c_blob *blob) {
  atomic_fetch_add_explicit(&blob->references, 1, memory_order_relaxed);
  return blob;
}

void nd4c_blob_release(nd4c_blob *blob) {
  if (blob == NULL || atomic_fetch_sub_explicit(&blob->references, 1, memory_order_acq_rel) != 1) {
    return;
  }
  if (blob->mapping.bytes != NULL) {
    nd4c_os_unmap_file(&blob->mapping);
  }
  if (blob->release != NULL) {
    blob->release(blob->user);
  }
  nd4c_deallocate(blob);
}

void nd4c_blob_release_user(void *blob) {
  nd4c_blob_release(blob);
}

char *nd4c_io_directory_of(const char *path) {
  const char *slash = strrchr(path, '/');
  if (slash == NULL) {
    return nd4c_duplicate_text(".");
  }
  size_t length = slash == path ? 1 : (size_t)(slash - path);
  char *directory = nd4c_allocate(length + 1);
  if (directory != NULL) {
    memcpy(directory, path, length);
    directory[length] = '\0';
  }
  return directory;
}
