/* The functions of nd4c that backends and plug-ins call: error texts, the log, configuration, memory, the pool,
 * libraries. Three more tables, to which this one points, have the functions for threads, files and counted device
 * memory. */
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

/* Static for the life of the process. Any thread may call any function from the plug-in's entry on. Unless stated
 * otherwise, functions block no longer than an allocation. */
typedef struct nd4c_host {
  uint32_t struct_size;
  uint16_t abi_major, abi_minor;

  /* Sets the calling thread's error text and returns `code`. The text is cut at 2 KiB, and bytes that are neither UTF-8
   * nor newlines become '?'. An argument may point into the previous text. Costs about a microsecond: use it for
   * failures, not for control flow on a hot path. */
  nd4c_status (*fail)(nd4c_status code, const char *format, ...) ND4C_PRINTF(2, 3);
  /* The calling thread's error text, never NULL. Valid until the thread's next failure or its end. */
  const char *(*error_message)(void);
  /* Writes one line of UTF-8 to the log; `level` is an nd4c_log_level, `area` one word or two. The application's log
   * callback runs on the calling thread and may block. Costs a few nanoseconds if the level is not logged. */
  void (*log)(int level, const char *area, const char *format, ...) ND4C_PRINTF(3, 4);
  /* Copies the value of a configuration property, cut to the size. False, and an empty text, if there is no property of
   * that name. The lookup takes a lock and compares names: read properties once, when a device is opened, not in each
   * call. */
  bool (*config)(const char *property, char *text, size_t text_size);
  /* The value of a property as a number: 0 or 1 for a bool, the number for an int or bytes (a unit as in 512m is
   * applied). False, and 0, if there is no property of that name or it has another type. */
  bool (*config_number)(const char *property, int64_t *number);

  /* Allocates small host memory, zeroed; NULL if memory is exhausted. Freed blocks go to per-thread lists, as those of
   * allocate_pages do: reusing one costs some tens of nanoseconds and no system call. Any thread may free a block. free
   * accepts NULL. */
  void *(*allocate)(size_t bytes);
  void (*free)(void *memory);

  /* Runs `range` over [0, count) in pieces of at least `grain` with at most `width` workers of the shared pool,
   * including the caller. Blocks until all pieces are done; `user` is not used afterwards. A nested call runs its
   * pieces one after the other on the calling thread. Handing work to the pool costs some microseconds: choose the
   * grain accordingly. Do not call it while holding a lock that `range` takes. */
  void (*parallel_for)(int64_t count, int64_t grain, int32_t width, nd4c_range_function range, void *user);
  /* Name of the highest instruction-set level that the CPU, the operating system and the configuration all allow:
   * "base", "avx2", "avx512"; on arm64 "neon", "dotprod". Static. */
  const char *(*cpu_level)(void);

  /* Allocates large host memory as scratch, aligned to 64 bytes, contents undefined; NULL if memory is exhausted. Large
   * blocks take whole pages, and huge pages where they help. Freed blocks of up to 64 MiB are recycled, 256 MiB in
   * total (nd4c.memory.cache can lower that); other blocks are mapped anew, which costs a page fault for each page. Any
   * thread may free a block, with the size that it was allocated with. free_pages accepts NULL. */
  void *(*allocate_pages)(size_t bytes);
  void (*free_pages)(void *memory, size_t bytes);

  /* Opens a run-time library. A name is looked up in the directories of nd4c.library.path, then beside libnd4c, then
   * where the system's loader looks; a name with a '/' is a path. The current directory is never searched. Blocks while
   * the library is loaded and its constructors run. The library stays loaded for the life of the process. LIBRARY with
   * the loader's message for each attempt; ARGUMENT for an empty name. */
  nd4c_status (*library_open)(const char *name, void **library);
  /* Whether library_open would find a file; writes its path. Does not open it; blocks on the disk for some
   * microseconds. */
  bool (*library_find)(const char *name, char *path, size_t path_size);
  /* Address of a symbol, valid for the life of the process; NULL if the library lacks it. May block while another
   * thread opens a library. */
  void *(*library_symbol)(void *library, const char *symbol);
  /* The part of the last-level cache that the process can count on, in bytes; 0 if unknown. */
  int64_t (*cache_bytes)(void);

  /* As allocate_pages, for buffers of devices whose memory is the host's. Blocks are not recycled, because nd4c caches
   * the buffers. */
  void *(*allocate_buffer)(size_t bytes);
  void (*free_buffer)(void *memory, size_t bytes);

  const nd4c_host_threads *threads;
  const nd4c_host_files *files;

  /* Whether a call must stop (nd4c_call.cancellation): OK, or CANCELLED or DEADLINE with a text. The kernel then stops
   * and returns that status; its outputs may be partly written. OK for NULL. Any thread, while the kernel runs. Costs a
   * load and, with a deadline, reading the clock: some tens of nanoseconds. */
  nd4c_status (*check_cancelled)(const nd4c_cancellation_scope *cancellation);

  const nd4c_host_device_memory *device_memory;

  /* Space-separated names of the instruction-set extensions that the CPU has and the operating system supports, as in
   * nd4c_machine_info.cpu_features ("avx2 fma avx512f avx512_bf16"). Levels promise some of them. Static. */
  const char *(*cpu_features)(void);

  /* Asks the operating system to let this process use the tile registers of x86-64 (AMX); false if the processor has
   * none or the system refuses, as Linux does while a thread has a signal stack that is too small. Features name
   * amx_tile before anyone has asked. Linux then refuses signal stacks of less than about 11 KiB (sigaltstack), so call
   * it only for work that will use tiles. The first answer holds for the process. Any thread. */
  bool (*allow_tiles)(void);

  /* Opens a run-time library that has parallel regions of OpenMP, as library_open does, and describes its OpenMP; the
   * caller sets openmp->struct_size. If the library was compiled for GCC's runtime, calls only functions of it that
   * nd4c has, and was not in the process before, its regions run on the pool of parallel_for from now on, as do those
   * of libraries that are loaded because of it. That holds unless nd4c.pool is openmp. The rest of the process keeps
   * its OpenMP. ARGUMENT without a struct_size; else as library_open. Any thread; call it before any function of the
   * library. */
  nd4c_status (*openmp_open)(const char *name, void **library, nd4c_host_openmp *openmp);
  /* Makes an opened library see a variable of the environment, as well as the libraries that were loaded because of it.
   * The process's own environment does not change, since setenv is not safe beside other threads; all libraries for
   * which this was called see the same variables, of which there are at most 16. Replaces the value of an earlier call.
   * It comes too late for what the library asked when it was loaded. Only for libraries that no other thread uses yet.
   * ARGUMENT for NULL, an empty name, and names and values of 64 bytes or more; MEMORY for a 17th variable; UNSUPPORTED
   * if the library does not call getenv, or not through a plain pointer; LIBRARY if the system refuses. Any thread. */
  nd4c_status (*library_setenv)(void *library, const char *name, const char *value);
} nd4c_host;

ND4C_EXTERN_C_END
#endif
