/* Implements os.h for Linux: shared libraries, pages of memory, time, environment, process. The other os_linux_*.c
 * implement the rest. device/registry loads plug-ins here, threads/pages.c takes memory, many files ask for the
 * time. */
#define _GNU_SOURCE /* dladdr, environ and others beyond C17 */

#include <dlfcn.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/os.h"
#include "base/status.h"
#include "base/text.h"

enum { PATH_SIZE = 4096 };

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

static bool is_file(const char *path) {
  struct stat facts;
  return stat(path, &facts) == 0 && !S_ISDIR(facts.st_mode);
}

bool nd4c_os_file_identify(const char *path, nd4c_os_file_id *id) {
  struct stat facts;
  if (stat(path, &facts) != 0) {
    return false;
  }
  *id = (nd4c_os_file_id){(uint64_t)facts.st_dev, (uint64_t)facts.st_ino};
  return true;
}

nd4c_status nd4c_os_library_open(const char *name, const char *directories, void **library) {
  nd4c_text words = {0};
  char directory[PATH_SIZE], path[2 * PATH_SIZE];
  *library = NULL;
  if (name == NULL || name[0] == '\0') { /* the loader would give the program itself */
    return nd4c_fail(ND4C_ARGUMENT, "a library's name is %s, expected a file's name or path",
                     name == NULL ? "NULL" : "empty");
  }
  bool is_path = strchr(name, '/') != NULL;
  while (!is_path && *library == NULL && next_directory(&directories, directory, sizeof directory)) {
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    /* Only a directory whose file does not load is reported, not one without the file. */
    if (is_file(path)) {
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

static bool is_loaded(const char *path) {
  void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
  nd4c_os_library_close(library);
  return library != NULL;
}

bool nd4c_os_library_is_loaded(const char *name, const char *directories) {
  char directory[PATH_SIZE], path[2 * PATH_SIZE];
  while (strchr(name, '/') == NULL && next_directory(&directories, directory, sizeof directory)) {
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    if (is_file(path)) {
      return is_loaded(path);
    }
  }
  return is_loaded(name);
}

/* The two directories in the RPATH of libnd4c: the folder nd4c beside the library, and the library's own directory. ""
 * if its path is relative or too long. */
static void own_directories(char *list, size_t size) {
  static const char anchor;
  char own[PATH_SIZE];
  nd4c_os_library_path(&anchor, own, sizeof own);
  char *slash = strrchr(own, '/');
  if (slash != NULL) {
    *slash = '\0';
  }
  const int length = slash != NULL && own[0] == '/' ? snprintf(list, size, "%s/nd4c,%s", own, own) : 0;
  if (length <= 0 || (size_t)length >= size) {
    list[0] = '\0';
  }
}

bool nd4c_os_library_find(const char *name, const char *directories, char *path, size_t path_size) {
  static const char system_directories[] =
#if defined(__x86_64__)
      "/lib/x86_64-linux-gnu,/usr/lib/x86_64-linux-gnu,"
#elif defined(__aarch64__)
      "/lib/aarch64-linux-gnu,/usr/lib/aarch64-linux-gnu,"
#endif
      "/lib64,/usr/lib64,/lib,/usr/lib,/usr/local/lib";
  char directory[PATH_SIZE], own[2 * PATH_SIZE];
  if (path_size == 0) {
    return false;
  }
  path[0] = '\0';
  if (name == NULL || name[0] == '\0') {
    return false;
  }
  if (strchr(name, '/') != NULL) {
    const int length = snprintf(path, path_size, "%s", name);
    return (size_t)length < path_size && is_file(path);
  }
  /* In the loader's order: the given directories, RPATH, LD_LIBRARY_PATH (with colons), the system's. */
  char environment[PATH_SIZE] = "";
  const char *search_path = nd4c_os_environment("LD_LIBRARY_PATH");
  (void)snprintf(environment, sizeof environment, "%s", search_path != NULL ? search_path : "");
  for (char *c = strchr(environment, ':'); c != NULL; c = strchr(c, ':')) {
    *c = ',';
  }
  own_directories(own, sizeof own);
  const char *lists[] = {directories, own, environment, system_directories};
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
    const char *list = lists[i];
    while (next_directory(&list, directory, sizeof directory)) {
      int length = snprintf(path, path_size, "%s/%s", directory, name);
      if (length > 0 && (size_t)length < path_size && is_file(path)) {
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

void nd4c_os_heap_trim(void) {
#ifdef __GLIBC__
  (void)malloc_trim(0);
#endif
}

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
  /* mmap aligns only to small pages: map one huge page more and unmap the surplus at both ends. */
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
  if (nanoseconds <= 0) {
    return;
  }
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

/* glibc calls a thread's C++ destructors before the handlers of atexit. Those handlers also destroy the static objects
 * of libraries, in an order that nd4c cannot know: some objects are made long after their library was loaded. */
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
  if (base != NULL && base[0] == '/') { /* the XDG specification says to ignore a relative path */
    length = snprintf(path, path_size, "%s/nd4c", base);
  } else if (home != NULL && home[0] == '/') {
    length = snprintf(path, path_size, "%s/.cache/nd4c", home);
  }
  if (length <= 0 || (size_t)length >= path_size) {
    path[0] = '\0';
  }
}
