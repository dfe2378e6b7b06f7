#define _GNU_SOURCE /* sched_getaffinity, dladdr, O_CLOEXEC and others beyond C17 */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os.h"
#include "base/status.h"
#include "base/text.h"

enum { PATH_SIZE = 4096 };

/* -- files ---------------------------------------------------------------------------------------------------- */

static nd4c_status map_open_file(int file, const char *path, nd4c_os_mapping *mapping) {
  struct stat info;
  if (fstat(file, &info) != 0) {
    return nd4c_fail(ND4C_IO, "%s: %s", path, strerror(errno));
  }
  if (!S_ISREG(info.st_mode)) {
    return nd4c_fail(ND4C_IO, "%s: not a regular file", path);
  }
  mapping->bytes = NULL;
  mapping->size = 0;
  if (info.st_size == 0) {
    return ND4C_OK;
  }
  void *memory = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  if (memory == MAP_FAILED) {
    return nd4c_fail(ND4C_IO, "%s: could not map %lld bytes: %s", path, (long long)info.st_size, strerror(errno));
  }
  mapping->bytes = memory;
  mapping->size = (size_t)info.st_size;
  return ND4C_OK;
}

nd4c_status nd4c_os_map_file(const char *path, nd4c_os_mapping *mapping) {
  /* O_NONBLOCK: a named pipe must not hang the opening; it is refused afterwards. */
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    return nd4c_fail(ND4C_IO, "%s: %s", path, strerror(errno));
  }
  nd4c_status status = map_open_file(file, path, mapping);
  (void)close(file);
  return status;
}

void nd4c_os_unmap_file(nd4c_os_mapping *mapping) {
  if (mapping->bytes != NULL) {
    (void)munmap((void *)(uintptr_t)mapping->bytes, mapping->size);
  }
  mapping->bytes = NULL;
  mapping->size = 0;
}

/* The system's canonical form of a path; false with errno set. */
static bool canonical_path(const char *path, char *canonical, size_t size) {
  char *found = realpath(path, NULL);
  bool fits = found != NULL && strlen(found) < size;
  if (fits) {
    memcpy(canonical, found, strlen(found) + 1);
  } else if (found != NULL) {
    errno = ENAMETOOLONG;
  }
  free(found);
  return fits;
}

nd4c_status nd4c_os_path_inside(const char *directory, const char *name, char *path, size_t path_size) {
  char root[PATH_SIZE];
  char joined[PATH_SIZE];
  if (!canonical_path(directory, root, sizeof root)) {
    return nd4c_fail(ND4C_IO, "%s: %s", directory, strerror(errno));
  }
  int length = snprintf(joined, sizeof joined, "%s/%s", root, name);
  if (length < 0 || (size_t)length >= sizeof joined) {
    return nd4c_fail(ND4C_IO, "%s/%s: %s", directory, name, strerror(ENAMETOOLONG));
  }
  if (!canonical_path(joined, path, path_size)) {
    return nd4c_fail(ND4C_IO, "%s/%s: %s", directory, name, strerror(errno));
  }
  size_t root_length = strcmp(root, "/") == 0 ? 0 : strlen(root);
  if (strncmp(path, root, root_length) != 0 || path[root_length] != '/') {
    return nd4c_fail(ND4C_FORMAT, "%s leads to %s, outside %s", name, path, root);
  }
  return ND4C_OK;
}

static bool write_all(int file, const char *bytes, size_t size) {
  while (size > 0) {
    ssize_t written = write(file, bytes, size);
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return false;
    }
    bytes += written;
    size -= (size_t)written;
  }
  return true;
}

/* A name of its own beside `path`; O_EXCL makes sure that nobody else has it. */
static int temporary_open(const char *path, char *temporary, size_t size) {
  static _Atomic unsigned counter;
  for (int attempt = 0; attempt < 100; attempt++) {
    int length = snprintf(temporary, size, "%s.%ld.%u.tmp", path, (long)getpid(), atomic_fetch_add(&counter, 1));
    if (length < 0 || (size_t)length >= size) {
      errno = ENAMETOOLONG;
      return -1;
    }
    int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0 || errno != EEXIST) {
      return file;
    }
  }
  return -1;
}

/* A device, a pipe or a link (/dev/stdout is one) stays what it is and takes the bytes. */
static bool writes_through(const char *path) {
  struct stat info;
  return lstat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

static nd4c_status write_through(const char *path, const void *bytes, size_t size) {
  int file = -1;
  do { /* a pipe is opened when somebody reads it */
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
  } while (file < 0 && errno == EINTR);
  bool written = file >= 0 && write_all(file, bytes, size);
  int error = errno;
  if (file >= 0 && close(file) != 0 && written) {
    written = false;
    error = errno;
  }
  return written ? ND4C_OK : nd4c_fail(ND4C_IO, "%s: could not be written: %s", path, strerror(error));
}

nd4c_status nd4c_os_write_file(const char *path, const void *bytes, size_t size) {
  if (writes_through(path)) {
    return write_through(path, bytes, size);
  }
  char temporary[PATH_SIZE];
  int file = temporary_open(path, temporary, sizeof temporary);
  if (file < 0) {
    return nd4c_fail(ND4C_IO, "%s: could not be written: %s", path, strerror(errno));
  }
  bool written = write_all(file, bytes, size);
  int error = errno;
  if (close(file) != 0 && written) {
    written = false;
    error = errno;
  }
  if (written && rename(temporary, path) != 0) {
    written = false;
    error = errno;
  }
  if (!written) {
    (void)unlink(temporary);
    return nd4c_fail(ND4C_IO, "%s: could not be written: %s", path, strerror(error));
  }
  return ND4C_OK;
}

/* -- shared libraries ----------------------------------------------------------------------------------------- */

/* Takes the next directory of a comma-separated list; false at its end. Relative ones are skipped: they would depend on
 * the current directory. */
static bool next_directory(const char **list, char *directory, size_t size) {
  while (**list != '\0') {
    const char *begin = *list + strspn(*list, " \t");
    size_t length = strcspn(begin, ",");
    *list = begin + length + (begin[length] == ',');
    while (length > 0 && (begin[length - 1] == ' ' || begin[length - 1] == '\t')) {
      length--;
    }
    if (length > 0 && length < size && begin[0] == '/') {
      memcpy(directory, begin, length);
      directory[length] = '\0';
      return true;
    }
  }
  return false;
}

static bool library_try(const char *path, void **library, nd4c_text *words) {
  *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (*library == NULL) {
    const char *reason = dlerror();
    nd4c_text_print(words, "%s%s", words->length > 0 ? "; " : "", reason != NULL ? reason : "unknown failure");
  }
  return *library != NULL;
}

nd4c_status nd4c_os_library_open(const char *name, const char *directories, void **library) {
  nd4c_text words = {0};
  char directory[PATH_SIZE], path[2 * PATH_SIZE];
  *library = NULL;
  bool is_path = strchr(name, '/') != NULL;
  while (!is_path && *library == NULL && next_directory(&directories, directory, sizeof directory)) {
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    /* A directory without the file is no failure worth telling; one whose file does not load is. */
    if (access(path, F_OK) == 0) {
      (void)library_try(path, library, &words);
    }
  }
  if (*library == NULL) {
    (void)library_try(name, library, &words);
  }
  nd4c_status status = ND4C_OK;
  if (*library == NULL) {
    status = nd4c_fail(ND4C_LIBRARY, "%s could not be loaded: %s", name, words.bytes != NULL ? words.bytes : "?");
  }
  nd4c_text_free(&words);
  return status;
}

/* The directory of libnd4c itself, which its RPATH names. */
static bool own_directory(char *directory, size_t size) {
  static const char anchor;
  nd4c_os_library_path(&anchor, directory, size);
  char *slash = strrchr(directory, '/');
  if (slash == NULL) {
    return false;
  }
  *slash = '\0';
  return directory[0] == '/';
}

bool nd4c_os_library_find(const char *name, const char *directories, char *path, size_t path_size) {
  static const char system_directories[] =
#if defined(__x86_64__)
      "/lib/x86_64-linux-gnu,/usr/lib/x86_64-linux-gnu,"
#elif defined(__aarch64__)
      "/lib/aarch64-linux-gnu,/usr/lib/aarch64-linux-gnu,"
#endif
      "/lib64,/usr/lib64,/lib,/usr/lib,/usr/local/lib";
  char directory[PATH_SIZE], own[PATH_SIZE];
  if (strchr(name, '/') != NULL) {
    (void)snprintf(path, path_size, "%s", name);
    return access(path, F_OK) == 0;
  }
  /* As the loader goes: the given directories, RPATH, LD_LIBRARY_PATH (with colons), the system's. */
  char environment[PATH_SIZE] = "";
  const char *search_path = nd4c_os_environment("LD_LIBRARY_PATH");
  (void)snprintf(environment, sizeof environment, "%s", search_path != NULL ? search_path : "");
  for (char *c = strchr(environment, ':'); c != NULL; c = strchr(c, ':')) {
    *c = ',';
  }
  if (!own_directory(own, sizeof own)) {
    own[0] = '\0';
  }
  const char *lists[] = {directories, own, environment, system_directories};
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
    const char *list = lists[i];
    while (next_directory(&list, directory, sizeof directory)) {
      int length = snprintf(path, path_size, "%s/%s", directory, name);
      if (length > 0 && (size_t)length < path_size && access(path, F_OK) == 0) {
        return true;
      }
    }
  }
  path[0] = '\0';
  return false;
}

void *nd4c_os_library_symbol(void *library, const char *symbol) {
  return dlsym(library, symbol);
}

void nd4c_os_library_close(void *library) {
  if (library != NULL) {
    (void)dlclose(library);
  }
}

void nd4c_os_library_path(const void *address, char *path, size_t path_size) {
  Dl_info info;
  bool known = dladdr(address, &info) != 0 && info.dli_fname != NULL;
  (void)snprintf(path, path_size, "%s", known ? info.dli_fname : "");
}

/* -- memory --------------------------------------------------------------------------------------------------- */

size_t nd4c_os_page_size(void) {
  return (size_t)sysconf(_SC_PAGESIZE);
}

void *nd4c_os_pages_allocate(size_t bytes, bool huge) {
  enum { HUGE_PAGE = 2 << 20 };
  if (bytes == 0 || bytes > SIZE_MAX - 2 * (size_t)HUGE_PAGE) {
    return NULL;
  }
  size_t page = nd4c_os_page_size();
  bytes = (bytes + page - 1) / page * page;
  bool aligned = huge && bytes >= HUGE_PAGE;
  /* mmap aligns to small pages: take a huge page more and give back what sticks out. */
  size_t asked = aligned ? bytes + HUGE_PAGE : bytes;
  char *memory = mmap(NULL, asked, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return NULL;
  }
  if (!aligned) {
    return memory;
  }
  size_t before = (HUGE_PAGE - (uintptr_t)memory % HUGE_PAGE) % HUGE_PAGE;
  if (before > 0) {
    (void)munmap(memory, before);
  }
  (void)munmap(memory + before + bytes, HUGE_PAGE - before);
  (void)madvise(memory + before, bytes, MADV_HUGEPAGE);
  return memory + before;
}

void nd4c_os_pages_free(void *memory, size_t bytes) {
  size_t page = nd4c_os_page_size();
  if (memory != NULL) {
    (void)munmap(memory, (bytes + page - 1) / page * page);
  }
}

int64_t nd4c_os_memory_bytes(void) {
  long pages = sysconf(_SC_PHYS_PAGES);
  return pages > 0 ? (int64_t)pages * (int64_t)nd4c_os_page_size() : 0;
}

/* -- time, process, environment ------------------------------------------------------------------------------- */

int64_t nd4c_os_nanoseconds(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void nd4c_os_sleep(int64_t nanoseconds) {
  const struct timespec time = {.tv_sec = (time_t)(nanoseconds / 1000000000),
                                .tv_nsec = (long)(nanoseconds % 1000000000)};
  (void)nanosleep(&time, NULL);
}

const char *nd4c_os_environment(const char *name) {
  return getenv(name);
}

const char *nd4c_os_environment_at(const char *prefix, int32_t index) {
  for (char **variable = environ; variable != NULL && *variable != NULL; variable++) {
    if (strncmp(*variable, prefix, strlen(prefix)) == 0 && index-- == 0) {
      return *variable;
    }
  }
  return NULL;
}

uint64_t nd4c_os_entropy(void) {
  uint64_t value = 0;
  if (getrandom(&value, sizeof value, GRND_NONBLOCK) != (ssize_t)sizeof value) {
    value = (uint64_t)nd4c_os_nanoseconds() * UINT64_C(0x9E3779B97F4A7C15) ^ (uint64_t)nd4c_os_process();
  }
  return value;
}

int64_t nd4c_os_process(void) {
  return (int64_t)getpid();
}

/* glibc calls a thread's destructors of C++ kind before the handlers of atexit, among which the static objects of
 * libraries are taken down in an order that nobody else can foresee: some come to be long after the library. */
extern int __cxa_thread_atexit_impl(void (*function)(void *), void *argument, void *library) __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));
static void (*at_exit)(void *);

static void call_at_exit(void) {
  at_exit(NULL);
}

void nd4c_os_call_at_exit(void (*function)(void *)) {
  at_exit = function;
  (void)atexit(call_at_exit);
  if (gettid() == getpid() && __cxa_thread_atexit_impl != NULL) {
    (void)__cxa_thread_atexit_impl(function, NULL, &__dso_handle);
  }
}

typedef struct thread_start {
  void (*function)(void *argument);
  void *argument;
} thread_start;

static void *thread_main(void *argument) {
  thread_start start = *(thread_start *)argument;
  nd4c_deallocate(argument);
  start.function(start.argument);
  return NULL;
}

bool nd4c_os_thread_start(void (*function)(void *argument), void *argument) {
  thread_start *start = nd4c_allocate(sizeof *start);
  if (start == NULL) {
    return false;
  }
  *start = (thread_start){function, argument};
  /* A thread inherits the mask: with everything blocked, handlers run on the application's own threads only. */
  sigset_t all, before;
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t made;
  bool started = pthread_create(&made, NULL, thread_main, start) == 0;
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!started) {
    nd4c_deallocate(start);
    return false;
  }
  (void)pthread_detach(made);
  return true;
}

void nd4c_os_on_fork(void (*child)(void)) {
  (void)pthread_atfork(NULL, NULL, child);
}

void nd4c_os_around_fork(void (*before)(void), void (*after)(void)) {
  (void)pthread_atfork(before, after, after);
}

void nd4c_os_cache_directory(char *path, size_t path_size) {
  const char *base = nd4c_os_environment("XDG_CACHE_HOME");
  const char *home = nd4c_os_environment("HOME");
  int length = 0;
  if (base != NULL && base[0] == '/') { /* the XDG rules: a relative path is to be ignored */
    length = snprintf(path, path_size, "%s/nd4c", base);
  } else if (home != NULL && home[0] == '/') {
    length = snprintf(path, path_size, "%s/.cache/nd4c", home);
  }
  if (length <= 0 || (size_t)length >= path_size) {
    path[0] = '\0';
  }
}
