/* Implements os.h for Linux: files that are mapped, read, and written whole. io, import and graph/ahead.c read and
 * write their files here; device/kept.c keeps its cache of executables. */
#define _GNU_SOURCE /* O_CLOEXEC, realpath and others beyond C17 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "base/status.h"

enum { PATH_SIZE = 4096 };

/* -- mapping ------------------------------------------------------------------------------------------------------- */

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
    return nd4c_fail(ND4C_IO, "%s: %s", path[0] != '\0' ? path : "an empty path", strerror(errno));
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

/* -- writing ------------------------------------------------------------------------------------------------------- */

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

/* Creates a temporary file beside `path`; O_EXCL guarantees that no other process uses its name. */
static int temporary_open(const char *path, mode_t mode, char *temporary, size_t size) {
  static _Atomic unsigned counter;
  for (int attempt = 0; attempt < 100; attempt++) {
    int length = snprintf(temporary, size, "%s.%ld.%u.tmp", path, (long)getpid(), atomic_fetch_add(&counter, 1));
    if (length < 0 || (size_t)length >= size) {
      errno = ENAMETOOLONG;
      return -1;
    }
    int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file >= 0 || errno != EEXIST) {
      return file;
    }
  }
  return -1;
}

/* Writes directly to a device, a pipe or a link (such as /dev/stdout), instead of replacing it. */
static bool writes_through(const char *path) {
  struct stat info;
  return lstat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

static nd4c_status write_through(const char *path, const void *bytes, size_t size) {
  int file = -1;
  do { /* opening a pipe waits for a reader */
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

/* Written to a temporary file first, so readers see a whole file or none. */
static nd4c_status replace_file(const char *path, mode_t mode, const void *bytes, size_t size) {
  char temporary[PATH_SIZE];
  int file = temporary_open(path, mode, temporary, sizeof temporary);
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

nd4c_status nd4c_os_write_file(const char *path, const void *bytes, size_t size) {
  return writes_through(path) ? write_through(path, bytes, size) : replace_file(path, 0666, bytes, size);
}

nd4c_status nd4c_os_write_own_file(const char *path, const void *bytes, size_t size) {
  return replace_file(path, 0600, bytes, size);
}

/* -- a user's own files -------------------------------------------------------------------------------------------- */

/* Why another user could have written the file; NULL if no other user could. */
static const char *distrust(const struct stat *about) {
  return !S_ISREG(about->st_mode)                      ? "it is no regular file"
         : about->st_uid != geteuid()                  ? "it belongs to another user"
         : (about->st_mode & (S_IWGRP | S_IWOTH)) != 0 ? "other users may write to it"
                                                       : NULL;
}

static bool read_all(int file, char *bytes, size_t size) {
  while (size > 0) {
    ssize_t taken = read(file, bytes, size);
    if (taken < 0 && errno == EINTR) {
      continue;
    }
    if (taken <= 0) {
      errno = taken == 0 ? EIO : errno; /* another process has truncated it */
      return false;
    }
    bytes += taken;
    size -= (size_t)taken;
  }
  return true;
}

static nd4c_status read_open_file(int file, const char *path, size_t most, const nd4c_os_allocator *allocator,
                                  void **bytes, size_t *size) {
  struct stat about;
  if (fstat(file, &about) != 0) {
    return nd4c_fail(ND4C_IO, "%s: %s", path, strerror(errno));
  }
  const char *reason = distrust(&about);
  if (reason != NULL) {
    return nd4c_fail(ND4C_FORMAT, "%s is not read: %s; expected a file of this user's alone", path, reason);
  }
  if (about.st_size < 0 || (uintmax_t)about.st_size > most) {
    return nd4c_fail(ND4C_FORMAT, "%s is not read: it has %lld bytes, expected %zu at most", path,
                     (long long)about.st_size, most);
  }
  void *memory = about.st_size > 0 ? allocator->allocate((size_t)about.st_size) : NULL;
  if (about.st_size > 0 && memory == NULL) {
    return nd4c_fail(ND4C_MEMORY, "%s: no memory for its %lld bytes", path, (long long)about.st_size);
  }
  if (!read_all(file, memory, (size_t)about.st_size)) {
    nd4c_status status = nd4c_fail(ND4C_IO, "%s: %s", path, strerror(errno));
    allocator->free(memory);
    return status;
  }
  *bytes = memory;
  *size = (size_t)about.st_size;
  return ND4C_OK;
}

nd4c_status nd4c_os_read_own_file(const char *path, size_t most, const nd4c_os_allocator *allocator, void **bytes,
                                  size_t *size) {
  *bytes = NULL;
  *size = 0;
  /* O_NONBLOCK: a named pipe must not hang the opening; it is refused afterwards. */
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) {
    return errno == ELOOP ? nd4c_fail(ND4C_FORMAT, "%s is not read: it is a link; expected a file", path)
                          : nd4c_fail(ND4C_IO, "%s: %s", path, strerror(errno));
  }
  nd4c_status status = read_open_file(file, path, most, allocator, bytes, size);
  (void)close(file);
  return status;
}

/* -- directories --------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_os_make_directory(const char *path) {
  char part[PATH_SIZE];
  size_t length = strlen(path);
  if (path[0] != '/' || length >= sizeof part) {
    return nd4c_fail(ND4C_IO, "%s: expected a directory that begins with '/', of at most %d bytes", path,
                     PATH_SIZE - 1);
  }
  memcpy(part, path, length + 1);
  for (size_t end = 1; end <= length; end++) {
    if (part[end] != '/' && part[end] != '\0') {
      continue;
    }
    part[end] = '\0';
    if (mkdir(part, 0700) != 0 && errno != EEXIST) {
      return nd4c_fail(ND4C_IO, "%s: %s", part, strerror(errno));
    }
    part[end] = path[end];
  }
  struct stat about;
  if (stat(path, &about) != 0) {
    return nd4c_fail(ND4C_IO, "%s: %s", path, strerror(errno));
  }
  if (!S_ISDIR(about.st_mode)) {
    return nd4c_fail(ND4C_IO, "%s: %s", path, strerror(ENOTDIR));
  }
  return access(path, R_OK | W_OK | X_OK) == 0 ? ND4C_OK : nd4c_fail(ND4C_IO, "%s: %s", path, strerror(errno));
}

nd4c_status nd4c_os_list_directory(const char *path, bool (*each)(void *user, const char *name), void *user) {
  DIR *list = opendir(path);
  if (list == NULL) {
    return nd4c_fail(ND4C_IO, "%s: %s", path, strerror(errno));
  }
  bool more = true;
  for (struct dirent *entry = readdir(list); entry != NULL && more; entry = readdir(list)) {
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
      more = each(user, entry->d_name);
    }
  }
  (void)closedir(list);
  return ND4C_OK;
}
