/* File functions for backends, which use them to cache programs beyond the end of the process, to look through the
 * directories of a vendor's installation, and to map memory behind file descriptors. Paths are absolute. Any thread may
 * call the functions, and all of them may block on the disk. Unless stated otherwise, a failure is IO with the path and
 * the system's error. */
#ifndef ND4C_PLUGIN_FILE_H
#define ND4C_PLUGIN_FILE_H

#include "nd4c/plugin/abi.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* Called with each name in a directory. False ends the list. */
typedef bool (*nd4c_name_function)(void *user, const char *name);

/* Static for the life of the process. */
typedef struct nd4c_host_files {
  uint32_t struct_size;
  /* Writes the path of nd4c's cache directory, which need not exist: $XDG_CACHE_HOME/nd4c, else $HOME/.cache/nd4c.
   * False if neither variable is an absolute path, or the result does not fit. Does not block. */
  bool (*cache_directory)(char *path, size_t path_size);
  /* Creates the directory and its missing parents, accessible to the user alone. Fails unless files can be created and
   * read there afterwards. */
  nd4c_status (*make_directory)(const char *path);
  /* Reads a whole file that only this user could have written: a plain file, not a link, that belongs to the user and
   * that no other user may write to. FORMAT, with the reason, for any other file and for one of more than `most` bytes.
   * *bytes is freed with host->free; an empty file gives NULL and 0. */
  nd4c_status (*read_own)(const char *path, int64_t most, void **bytes, int64_t *size);
  /* Writes a file that read_own accepts. Writes a temporary file in the same directory and renames it, so readers see
   * the old file, the whole new one, or none. */
  nd4c_status (*write_own)(const char *path, const void *bytes, int64_t size);
  /* Calls each(user, name) for every name in the directory except "." and "..", in any order. */
  nd4c_status (*list)(const char *path, nd4c_name_function each, void *user);

  /* Maps `bytes` bytes of a descriptor from `offset` on, shared: for reading, and for writing if `writes`. Neither
   * number has to be a multiple of a page. The caller keeps the descriptor and may close it. ARGUMENT: the descriptor
   * has fewer bytes. */
  nd4c_status (*map)(int32_t descriptor, int64_t offset, int64_t bytes, bool writes, void **address);
  /* Unmaps: `address` and `bytes` are those of map. */
  void (*unmap)(void *address, int64_t bytes);
  /* Duplicates a descriptor. The caller closes the duplicate; programs that the process starts do not inherit it. */
  nd4c_status (*duplicate)(int32_t descriptor, int32_t *duplicate);
  /* Closes a descriptor that duplicate gave. */
  void (*close)(int32_t descriptor);
} nd4c_host_files;

ND4C_EXTERN_C_END
#endif
