/* What nd4c offers backends: error texts, the log, memory, threads, libraries. */
#ifndef ND4C_PLUGIN_HOST_H
#define ND4C_PLUGIN_HOST_H

#include "nd4c/plugin/abi.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* Computes [begin, end) of a parallel loop; `worker` is 0 .. width - 1. */
typedef void (*nd4c_range_function)(void *user, int64_t begin, int64_t end, int32_t worker);

/* What nd4c offers a backend. Static for the life of the process. */
typedef struct nd4c_host {
  uint32_t struct_size;
  uint16_t abi_major, abi_minor;
  /* Sets the calling thread's error text and returns `code`. */
  nd4c_status (*fail)(nd4c_status code, const char *format, ...) ND4C_PRINTF(2, 3);
  const char *(*error_message)(void);
  /* One line to the log; level is nd4c_log_level. */
  void (*log)(int level, const char *area, const char *format, ...) ND4C_PRINTF(3, 4);
  /* Value of a configuration property, NULL if there is none of that name. Valid until it is set again. */
  const char *(*config)(const char *property);
  /* Small host memory, zeroed; NULL when there is none. Blocks that come and go with every call are recycled, as those
   * of allocate_pages are: they cost no allocation from the system. Any thread may free them. */
  void *(*allocate)(size_t bytes);
  void (*free)(void *memory);
  /* Runs range over [0, count) in pieces of at least `grain` with at most `width` workers of the shared pool, including
   * the caller; returns when all are done. Nested calls run in the caller. */
  void (*parallel_for)(int64_t count, int64_t grain, int32_t width, nd4c_range_function range, void *user);
  /* Name of the instruction-set level that the CPU and the operating system allow and configuration permits: "base",
   * "avx2", "avx512"; on arm64 "neon", "dotprod". */
  const char *(*cpu_level)(void);
  /* Bulk host memory to work in, aligned to 64 bytes, large blocks in whole pages and huge ones where they help;
   * contents undefined. Blocks of up to 64 MiB that come and go with every call are recycled, 256 MiB of them at most
   * (nd4c.memory.cache allows less). free_pages wants the size that was asked for. Any thread may free them. */
  void *(*allocate_pages)(size_t bytes);
  void (*free_pages)(void *memory, size_t bytes);
  /* Run-time libraries: by name in the directories of nd4c.library.path, then beside libnd4c, then where the system's
   * loader looks; by path if it contains '/'. Never in the current directory. library_open fails with LIBRARY and the
   * loader's words for each attempt; library_find opens nothing and writes the path found. */
  nd4c_status (*library_open)(const char *name, void **library);
  bool (*library_find)(const char *name, char *path, size_t path_size);
  void *(*library_symbol)(void *library, const char *symbol);
  /* Bytes of the last-level cache that the process can count on, 0 if unknown. */
  int64_t (*cache_bytes)(void);
  /* As allocate_pages, for the buffers of devices whose memory is the host's: nothing is recycled, since
   * nd4c keeps the buffers themselves. */
  void *(*allocate_buffer)(size_t bytes);
  void (*free_buffer)(void *memory, size_t bytes);
} nd4c_host;

ND4C_EXTERN_C_END
#endif
