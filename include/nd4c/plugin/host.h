/* What nd4c offers backends: error texts, the log, configuration, memory, the pool, libraries; threads, files
 * and counted device memory in tables of their own. */
#ifndef ND4C_PLUGIN_HOST_H
#define ND4C_PLUGIN_HOST_H

#include "nd4c/plugin/abi.h"
#include "nd4c/plugin/file.h"
#include "nd4c/plugin/memory.h"
#include "nd4c/plugin/thread.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* Computes [begin, end) of a parallel loop; `worker` is 0 .. width - 1. */
typedef void (*nd4c_range_function)(void *user, int64_t begin, int64_t end, int32_t worker);

/* Static for the life of the process. Every function may be called from any thread, at any time from the plug-in's
 * entry on, and does not block beyond what allocating memory takes, unless stated otherwise. */
typedef struct nd4c_host {
  uint32_t struct_size;
  uint16_t abi_major, abi_minor;

  /* Sets the calling thread's error text and returns `code`. The text is cut at 2 KiB, and bytes that are neither UTF-8
   * nor ends of lines become '?'; an argument may point into the text of before. About a microsecond: for failures, not
   * for control flow on a hot path. */
  nd4c_status (*fail)(nd4c_status code, const char *format, ...) ND4C_PRINTF(2, 3);
  /* The calling thread's error text, never NULL. Valid until the thread's next failure or its end. */
  const char *(*error_message)(void);
  /* One line of UTF-8 to the log; level is nd4c_log_level, area one word or two. The calling thread runs the
   * application's log callback, which may block. Costs some nanoseconds where the level is not logged. */
  void (*log)(int level, const char *area, const char *format, ...) ND4C_PRINTF(3, 4);
  /* Copies the value of a configuration property, cut to the size. False, and an empty text, if there is none of that
   * name. The lookup takes a lock and compares names: read once, where a device is opened, rather than in each call. */
  bool (*config)(const char *property, char *text, size_t text_size);
  /* The same, as a number: of a bool 0 or 1, of an int, and of bytes with its unit (512m) worked out. False, and 0, if
   * there is no property of that name or its type is another one. */
  bool (*config_number)(const char *property, int64_t *number);

  /* Small host memory, zeroed; NULL when there is none. Blocks that come and go with every call are recycled by lists
   * of the thread, as those of allocate_pages are: they cost some tens of nanoseconds and no allocation from the
   * system. A block lives until it is freed, by any thread. free takes NULL. */
  void *(*allocate)(size_t bytes);
  void (*free)(void *memory);

  /* Runs range over [0, count) in pieces of at least `grain` with at most `width` workers of the shared pool, including
   * the caller. Blocks until all are done; `user` must live that long, no longer. Nested calls run in the caller, one
   * piece after the other. Handing work to the pool costs some microseconds: choose the grain accordingly. Not while
   * holding a lock that `range` takes. */
  void (*parallel_for)(int64_t count, int64_t grain, int32_t width, nd4c_range_function range, void *user);
  /* Name of the instruction-set level that the CPU and the operating system allow and configuration permits: "base",
   * "avx2", "avx512"; on arm64 "neon", "dotprod". Static. */
  const char *(*cpu_level)(void);

  /* Bulk host memory to work in, aligned to 64 bytes, large blocks in whole pages and huge ones where they help;
   * contents undefined; NULL when there is none. Blocks of up to 64 MiB that come and go with every call are recycled,
   * 256 MiB of them at most (nd4c.memory.cache allows less); others are mapped anew, which costs a page fault for each
   * page. A block lives until it is freed, by any thread, with the size that was asked for. free_pages takes NULL. */
  void *(*allocate_pages)(size_t bytes);
  void (*free_pages)(void *memory, size_t bytes);

  /* Run-time libraries: by name in the directories of nd4c.library.path, then beside libnd4c, then where the system's
   * loader looks; by path if it contains '/'. Never in the current directory. Blocks while the library is loaded and
   * its constructors run. It stays loaded as long as the process lives. LIBRARY with the loader's words for each
   * attempt; ARGUMENT for an empty name. */
  nd4c_status (*library_open)(const char *name, void **library);
  /* Whether library_open would find a file: writes its path. Opens nothing; blocks on the disk for some
   * microseconds. */
  bool (*library_find)(const char *name, char *path, size_t path_size);
  /* Address of a symbol, as long as the process lives; NULL if there is none. May block while a library is opened. */
  void *(*library_symbol)(void *library, const char *symbol);
  /* Bytes of the last-level cache that the process can count on, 0 if unknown. */
  int64_t (*cache_bytes)(void);

  /* As allocate_pages, for the buffers of devices whose memory is the host's: nothing is recycled, since
   * nd4c keeps the buffers themselves. */
  void *(*allocate_buffer)(size_t bytes);
  void (*free_buffer)(void *memory, size_t bytes);

  const nd4c_host_threads *threads;
  const nd4c_host_files *files;

  /* Whether the call's thread is to stop (nd4c_call.cancellation): OK, or CANCELLED or DEADLINE with a text, for the
   * kernel to return; outputs may be written in part. NULL: OK. Any thread, while the kernel runs. A load, and with a
   * deadline the clock: some tens of nanoseconds. */
  nd4c_status (*check_cancelled)(const nd4c_cancellation_scope *cancellation);

  const nd4c_host_device_memory *device_memory;
} nd4c_host;

ND4C_EXTERN_C_END
#endif
