/* The operating system's services, except locks, which os_lock.h has. Only os_<system>*.c call the system; every other
 * file of src calls these functions. Any thread may call them, unless stated otherwise. If the system fails, the
 * function returns a status, and the thread's error text has the system's message. */
#ifndef ND4C_BASE_OS_H
#define ND4C_BASE_OS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nd4c/plugin/thread.h"
#include "nd4c/status.h"

/* -- files: these may block on the disk ---------------------------------------------------------------------------- */

/* A file mapped for reading. */
typedef struct nd4c_os_mapping {
  const unsigned char *bytes;
  size_t size;
} nd4c_os_mapping;

/* Maps a whole regular file, private and read-only; the caller unmaps it. An empty file gives size 0 and bytes NULL.
 * IO for any failure. */
nd4c_status nd4c_os_map_file(const char *path, nd4c_os_mapping *mapping);
void nd4c_os_unmap_file(nd4c_os_mapping *mapping);

/* Resolves `name` inside `directory`, following symbolic links, and writes the path. FORMAT if links lead out of the
 * directory, IO if there is no such file. */
nd4c_status nd4c_os_path_inside(const char *directory, const char *name, char *path, size_t path_size);

/* Writes a whole file: under a temporary name in the same directory, which then replaces `path`. An existing pipe,
 * device or link is not replaced: the bytes are written to it. */
nd4c_status nd4c_os_write_file(const char *path, const void *bytes, size_t size);

/* Files that only this user reads and writes, as nd4c/plugin/file.h describes them. `bytes` is allocated by the
 * caller's allocator. */
typedef struct nd4c_os_allocator {
  void *(*allocate)(size_t bytes);
  void (*free)(void *memory);
} nd4c_os_allocator;
nd4c_status nd4c_os_read_own_file(const char *path, size_t most, const nd4c_os_allocator *allocator, void **bytes,
                                  size_t *size);
nd4c_status nd4c_os_write_own_file(const char *path, const void *bytes, size_t size);

/* Makes a directory and its missing parents, for this user alone. */
nd4c_status nd4c_os_make_directory(const char *path);
/* Calls `each` with each name in a directory until it returns false. */
nd4c_status nd4c_os_list_directory(const char *path, bool (*each)(void *user, const char *name), void *user);
/* Writes the directory for caches: nd4c in $XDG_CACHE_HOME, else in ~/.cache; "" if the environment names neither. */
void nd4c_os_cache_directory(char *path, size_t path_size);

/* Two paths name the same file if their ids are equal. False if there is no such file. */
typedef struct nd4c_os_file_id {
  uint64_t device, number;
} nd4c_os_file_id;
bool nd4c_os_file_identify(const char *path, nd4c_os_file_id *id);

/* Memory behind file descriptors, as nd4c/plugin/file.h describes it. */
nd4c_status nd4c_os_shared_map(int32_t descriptor, int64_t offset, int64_t bytes, bool writes, void **address);
void nd4c_os_shared_unmap(void *address, int64_t bytes);
nd4c_status nd4c_os_descriptor_duplicate(int32_t descriptor, int32_t *duplicate);
void nd4c_os_descriptor_close(int32_t descriptor);

/* -- shared libraries ---------------------------------------------------------------------------------------------- */

/* Opens a shared library: by path if the name contains '/'; else in each of `directories` (separated by commas;
 * relative ones are skipped; may be ""), then where the system's loader searches, which honours the RPATH of libnd4c.
 * Never searches the current directory. LIBRARY with the loader's message for each attempt; ARGUMENT for a name that is
 * NULL or empty. The caller closes the library. */
nd4c_status nd4c_os_library_open(const char *name, const char *directories, void **library);
void nd4c_os_library_close(void *library);
/* NULL if the library has no such symbol. */
void *nd4c_os_library_symbol(void *library, const char *symbol);
/* Whether nd4c_os_library_open would find a file. Writes its path; does not open it. */
bool nd4c_os_library_find(const char *name, const char *directories, char *path, size_t path_size);
/* Whether nd4c_os_library_open would find a library that the process has loaded already. Loads nothing. */
bool nd4c_os_library_is_loaded(const char *name, const char *directories);
/* Binds functions that an opened library imports, and those that the libraries imported which were loaded after it
 * because of it, to other addresses. `choose` is asked for each imported symbol: it leaves *address as NULL to keep the
 * loader's choice, and returns false to refuse the whole; it is asked twice for each. Nothing has changed if this
 * returns another status than OK: UNSUPPORTED after a refusal and for an import that is not a plain pointer, LIBRARY if
 * the system refuses. Only for libraries that no other thread uses yet. */
typedef bool (*nd4c_os_import_choice)(void *user, const char *symbol, void **address);
nd4c_status nd4c_os_library_rebind(void *library, nd4c_os_import_choice choose, void *user);
/* Writes the path of the library or program that contains `address`, or "". */
void nd4c_os_library_path(const void *address, char *path, size_t path_size);

/* -- memory -------------------------------------------------------------------------------------------------------- */

/* Whole pages for bulk memory, zero at first; huge ones if `huge`. NULL if the system has none left. */
void *nd4c_os_pages_allocate(size_t bytes, bool huge);
void nd4c_os_pages_free(void *memory, size_t bytes);
/* Gives pages that malloc keeps for later back to the system, as far as the C library can do that. */
void nd4c_os_heap_trim(void);
size_t nd4c_os_page_size(void);
/* The machine's memory; 0 if unknown. */
int64_t nd4c_os_memory_bytes(void);

/* -- time and environment ------------------------------------------------------------------------------------------ */

/* Monotonic time. */
int64_t nd4c_os_nanoseconds(void);
/* Blocks the calling thread for that time or until a signal arrives. Returns at once for 0 and less. */
void nd4c_os_sleep(int64_t nanoseconds);
/* The value of an environment variable, or NULL. Valid until the program changes its environment. */
const char *nd4c_os_environment(const char *name);
/* The `index`-th variable whose name begins with `prefix`, as NAME=VALUE; NULL past the last one. */
const char *nd4c_os_environment_at(const char *prefix, int32_t index);
/* A number that cannot be predicted. */
uint64_t nd4c_os_entropy(void);

/* -- threads and processes ----------------------------------------------------------------------------------------- */

/* Runs function(argument) on a new thread, which receives no signals and is never joined. False if the system cannot
 * start more threads. */
bool nd4c_os_thread_start(void (*function)(void *argument), void *argument);
/* Blocks while *word equals `expected`, until nd4c_os_wake; may return earlier, so test the word in a loop. */
void nd4c_os_wait(const _Atomic uint32_t *word, uint32_t expected);
/* Wakes at most `count` threads that wait for the word. The word's memory may have been freed meanwhile: it is not
 * touched. */
void nd4c_os_wake(const _Atomic uint32_t *word, int32_t count);
/* The locks, threads and clock of the host table (nd4c/plugin/thread.h). */
extern const nd4c_host_threads nd4c_os_threads;

/* The number of this process. A child of fork has another one. */
int64_t nd4c_os_process(void);
/* Calls `child` in the child after every fork from now on. */
void nd4c_os_on_fork(void (*child)(void));
/* Calls `before` before every fork from now on, and `after` after it, in the parent and in the child. If `before`
 * acquires a lock and `after` releases it, the child finds the data under the lock in a consistent state. `before`
 * functions run in reverse order of registration. */
void nd4c_os_around_fork(void (*before)(void), void (*after)(void));
/* Calls `function` when the process ends by exit or by a return from main. If the main thread makes this call and ends
 * the process, `function` runs before the destructors of any library; otherwise it runs among the handlers of atexit.
 * It may run twice. There is one such function in a process. */
void nd4c_os_call_at_exit(void (*function)(void *));

/* -- processors ---------------------------------------------------------------------------------------------------- */

/* The number of processors that this process may use: the cores (by hwloc, else by the kernel's list) within its
 * affinity and the cpu.max of its control group. */
int32_t nd4c_os_processors(void);
/* The number of processors that the process's control groups allow, of either version; INT32_MAX without a limit. The
 * files are read below `root`: "" for the system's, a folder in tests. */
int32_t nd4c_os_group_processors(const char *root);
/* The processor that the calling thread runs on at this moment; -1 if unknown. */
int32_t nd4c_os_processor(void);
/* The processors that a thread may run on. */
typedef struct nd4c_os_placement {
  int64_t thread;
  int32_t avoided;      /* -1: none */
  uint64_t allowed[16]; /* without regard to `avoided` */
} nd4c_os_placement;
/* Reads those of the calling thread. False if that is one processor, or if the system does not say. */
bool nd4c_os_placement_read(nd4c_os_placement *placement);
/* Keeps the thread, which is one of this process, off one processor; -1: off none. Where the user or the system has
 * changed the processors that the thread may run on, their choice counts from now on. Does nothing where no processor
 * would be left. */
void nd4c_os_placement_avoid(nd4c_os_placement *placement, int32_t processor);
/* Writes the processor's model name, or "". */
void nd4c_os_cpu_model(char *text, size_t size);
/* Bit masks of the instruction-set extensions that the system reports (word 0 and 1); 0 if it reports none. */
uint64_t nd4c_os_hardware_capabilities(int word);
/* Asks the system to let this process use the tile registers of x86-64 (AMX). False if it refuses or has none. */
bool nd4c_os_allow_tiles(void);
/* Bytes of the last-level cache; 0 if unknown. */
int64_t nd4c_os_cache_bytes(void);

/* -- text in no locale --------------------------------------------------------------------------------------------- */

/* A code point in upper or lower case by Unicode's simple, language-independent mapping. Itself if it has no other
 * case. */
uint32_t nd4c_os_change_case(uint32_t code, bool upper);
/* strtod with a decimal point, whatever the program's locale. */
double nd4c_os_parse_number(const char *text, char **end);

#endif
