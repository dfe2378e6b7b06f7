/* Files of a backend's own: compiled programs that it keeps from one process to the next, what its vendor's
 * installation lists in a directory, and memory behind file descriptors. Paths are absolute. All functions may block on
 * the disk and may be called from any thread; a failure is IO with the path and the system's words, unless stated
 * otherwise. */
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
  /* nd4c's directory for what can be made again: nd4c in $XDG_CACHE_HOME, or in ~/.cache. It need not exist yet. False
   * if the environment names neither or the path does not fit. Does not block. */
  bool (*cache_directory)(char *path, size_t path_size);
  /* Makes the directory, and those above it that are missing, for the user alone. Fails unless files can be made and
   * read there afterwards. */
  nd4c_status (*make_directory)(const char *path);
  /* Reads a whole file that can be trusted as this process itself is: a plain file, no link, which belongs to the user
   * and to which no other user may write. FORMAT, with the reason, for any other, and for one of more than `most`
   * bytes. *bytes is freed with host->free; an empty file gives NULL and 0. */
  nd4c_status (*read_own)(const char *path, int64_t most, void **bytes, int64_t *size);
  /* Writes a file that read_own accepts. Readers see the old file, all of the new one, or none: it is written under
   * another name in its directory, then renamed. */
  nd4c_status (*write_own)(const char *path, const void *bytes, int64_t size);
  /* Calls each(user, name) for every name in the directory but "." and "..", in no order. */
  nd4c_status (*list)(const char *path, nd4c_name_function each, void *user);

  /* Maps `bytes` bytes, from `offset` on, of what a descriptor names, shared: for reading, and for writing if `writes`.
   * Neither has to be a multiple of a page. The descriptor stays the caller's, who may close it. ARGUMENT: it has fewer
   * bytes. */
  nd4c_status (*map)(int32_t descriptor, int64_t offset, int64_t bytes, bool writes, void **address);
  /* Ends a mapping, by what map was asked for and gave. */
  void (*unmap)(void *address, int64_t bytes);
  /* A descriptor of the same memory, the caller's to close, which no other program inherits. */
  nd4c_status (*duplicate)(int32_t descriptor, int32_t *duplicate);
  /* Closes a descriptor that duplicate gave. */
  void (*close)(int32_t descriptor);
} nd4c_host_files;

ND4C_EXTERN_C_END
#endif
