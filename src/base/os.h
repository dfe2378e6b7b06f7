/* Everything asked of the operating system. Implemented by os_<system>*.c alone. */
#ifndef ND4C_BASE_OS_H
#define ND4C_BASE_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nd4c/plugin/thread.h"
#include "nd4c/status.h"

/* A file mapped for reading. */
typedef struct nd4c_os_mapping {
  const unsigned char *bytes;
  size_t size;
} nd4c_os_mapping;

/* Maps a whole regular file privately, read-only. IO with the system's words. An empty file gives size 0, bytes NULL.
 */
nd4c_status nd4c_os_map_file(const char *path, nd4c_os_mapping *mapping);
void nd4c_os_unmap_file(nd4c_os_mapping *mapping);

/* The path of `name` inside `directory`, with symbolic links followed. FORMAT if they lead out of the directory, IO
 * with the system's words if there is no such file. */
nd4c_status nd4c_os_path_inside(const char *directory, const char *name, char *path, size_t path_size);

/* Writes a file whole: to a temporary name in the same directory, then renamed over `path`. What is there and no
 * regular file (a pipe, a device, a link) is written to instead. */
nd4c_status nd4c_os_write_file(const char *path, const void *bytes, size_t size);

/* Files of the user's alone, read and written: nd4c/plugin/file.h tells the rules. `bytes` come from the allocator. */
typedef struct nd4c_os_allocator {
  void *(*allocate)(size_t bytes);
  void (*free)(void *memory);
} nd4c_os_allocator;
nd4c_status nd4c_os_read_own_file(const char *path, size_t most, const nd4c_os_allocator *allocator, void **bytes,
                                  size_t *size);
nd4c_status nd4c_os_write_own_file(const char *path, const void *bytes, size_t size);
/* Directories: made with those above, for the user alone; their names, listed until `each` returns false. */
nd4c_status nd4c_os_make_directory(const char *path);
nd4c_status nd4c_os_list_directory(const char *path, bool (*each)(void *user, const char *name), void *user);

/* Memory behind file descriptors: nd4c/plugin/file.h tells the rules. */
nd4c_status nd4c_os_shared_map(int32_t descriptor, int64_t offset, int64_t bytes, bool writes, void **address);
void nd4c_os_shared_unmap(void *address, int64_t bytes);
nd4c_status nd4c_os_descriptor_duplicate(int32_t descriptor, int32_t *duplicate);
void nd4c_os_descriptor_close(int32_t descriptor);

/* Opens a shared library: by path if it contains '/', else by name in each directory of `directories`
 * (comma-separated, absolute ones only, may be ""), then by the system's loader (which honours the RPATH of libnd4c).
 * Never looks in the current directory. ND4C_LIBRARY with the loader's words for each attempt; ND4C_ARGUMENT for a name
 * that is NULL or empty. */
nd4c_status nd4c_os_library_open(const char *name, const char *directories, void **library);
/* Whether nd4c_os_library_open would find a file (no folder), without opening it: fills `path` with what it found. */
bool nd4c_os_library_find(const char *name, const char *directories, char *path, size_t path_size);
/* NULL if there is none. */
void *nd4c_os_library_symbol(void *library, const char *symbol);
void nd4c_os_library_close(void *library);
/* What tells a file from all others, by whatever path it is named. False: there is no such file. */
typedef struct nd4c_os_file_id {
  uint64_t device, number;
} nd4c_os_file_id;
bool nd4c_os_file_identify(const char *path, nd4c_os_file_id *id);
/* Path of the file that holds `address` (a function), or "" . */
void nd4c_os_library_path(const void *address, char *path, size_t path_size);

/* Pages for bulk memory; contents zero on first use. huge: asks for huge pages. NULL when there are none. */
void *nd4c_os_pages_allocate(size_t bytes, bool huge);
void nd4c_os_pages_free(void *memory, size_t bytes);
size_t nd4c_os_page_size(void);
int64_t nd4c_os_memory_bytes(void);

/* Monotonic time. */
int64_t nd4c_os_nanoseconds(void);
/* Lets the calling thread sleep for so long, or until a signal comes; not at all for 0 and less. */
void nd4c_os_sleep(int64_t nanoseconds);
/* Value of an environment variable or NULL. */
const char *nd4c_os_environment(const char *name);
/* The `index`-th variable that begins so, as NAME=VALUE; NULL past the end. */
const char *nd4c_os_environment_at(const char *prefix, int32_t index);
/* Number of processors this process may use: cores (hwloc's, else the kernel's list),
 * affinity and the cgroup's cpu.max. */
int32_t nd4c_os_processors(void);
/* Directory for caches (OV_CACHE_DIR is not consulted here): XDG_CACHE_HOME/nd4c or HOME/.cache/nd4c; "" if none. */
void nd4c_os_cache_directory(char *path, size_t path_size);
/* Model name of the processor as the system states it, "" if it does not. */
void nd4c_os_cpu_model(char *text, size_t size);
/* Bit masks of instruction-set extensions that the system announces (word 0 and 1); 0 where it announces none. */
uint64_t nd4c_os_hardware_capabilities(int word);
/* Bytes of the last-level cache, 0 if unknown. */
int64_t nd4c_os_cache_bytes(void);
/* What backends have of locks, threads and time. */
extern const nd4c_host_threads nd4c_os_threads;
/* Runs function(argument) on a new thread that receives no signals and is never joined. False if there is none. */
bool nd4c_os_thread_start(void (*function)(void *argument), void *argument);
/* Calls `child` in the child after every fork from now on. */
void nd4c_os_on_fork(void (*child)(void));
/* Calls `before` before every fork from now on and `after` behind it, in the parent and in the child: who holds a lock
 * from one to the other leaves the child what it guards in order. Locks are taken in reverse order of these calls. */
void nd4c_os_around_fork(void (*before)(void), void (*after)(void));
/* A code point in upper or lower case: Unicode's simple mapping, of no language; itself if it has none. */
uint32_t nd4c_os_change_case(uint32_t code, bool upper);
/* strtod with a point, whatever the program's locale says. */
double nd4c_os_parse_number(const char *text, char **end);
/* A number that nobody can foresee. */
uint64_t nd4c_os_entropy(void);
/* Process number, to notice a fork. */
int64_t nd4c_os_process(void);
/* Has `function`, one in a process, called when the process ends (exit, return from main): before any library takes
 * down what is its own, if the main thread asks and ends the process; otherwise among the handlers of atexit. It may be
 * called in both places. */
void nd4c_os_call_at_exit(void (*function)(void *));

#endif
