/* Built programs on disk: one file each, named by a hash of all that went into it. A file is believed only if its
 * header states the very same key and its bytes have the header's hash; the driver may refuse it still.
 *
 * Programs of PoCL are not kept here. It keeps them itself ($POCL_CACHE_DIR), machine code and all. To give a binary
 * it compiles each kernel of the program once more, for groups of any size: this took longer than the build and was
 * of no use, since it compiles for the group of the launch again. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/opencl/device.h"

enum { PATH_BYTES = 1024, KEY_BYTES = 2048 };
enum { FORMAT = 1 };
#define LARGEST_BINARY ((size_t)256 << 20)

/* What a file begins with; then the key's bytes, then the binary's. Read on the machine that wrote it. */
typedef struct header {
  char magic[8];
  uint32_t format, key_bytes;
  uint64_t binary_bytes, binary_hash;
} header;
static const char magic[8] = "nd4c-cl";

/* Two runs of FNV-1a with different beginnings: 128 bits to tell sources apart. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size) {
  const unsigned char *byte = bytes;
  for (size_t i = 0; i < size; i++) {
    hash = (hash ^ byte[i]) * UINT64_C(1099511628211);
  }
  return hash;
}
static const uint64_t seed_a = UINT64_C(14695981039346656037), seed_b = UINT64_C(0x9e3779b97f4a7c15);

static void make_key(const nd4c_cl_device *device, const char *text, size_t text_size, const char *options, char *key) {
  (void)snprintf(key, KEY_BYTES, "%s\n%s\n%s\n%s\n%s\n%016llx%016llx %llu\n", device->model, device->driver,
                 device->version, device->platform_version, options,
                 (unsigned long long)hash_bytes(seed_a, text, text_size),
                 (unsigned long long)hash_bytes(seed_b, text, text_size), (unsigned long long)text_size);
}

/* Directory of the cache, or false if there is to be none. */
static bool find_directory(char *path) {
  const char *given = nd4c_cl_host->config("nd4c.opencl.cache");
  const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  int length = -1;
  if (given != NULL && strcmp(given, "off") == 0) {
    return false;
  }
  if (given != NULL && given[0] != '\0') {
    length = snprintf(path, PATH_BYTES, "%s", given);
  } else if (base != NULL && base[0] == '/') {
    length = snprintf(path, PATH_BYTES, "%s/nd4c", base);
  } else if (home != NULL && home[0] == '/') {
    length = snprintf(path, PATH_BYTES, "%s/.cache/nd4c", home);
  }
  return length > 0 && length < PATH_BYTES - 64;
}

static bool file_path(const char *key, char *path) {
  if (!find_directory(path)) {
    return false;
  }
  size_t used = strlen(path), size = strlen(key);
  (void)snprintf(path + used, PATH_BYTES - used, "/%016llx%016llx.clbin",
                 (unsigned long long)hash_bytes(seed_a, key, size), (unsigned long long)hash_bytes(seed_b, key, size));
  return true;
}

/* Leaves the path as it was. */
static bool make_directories(char *path) {
  for (char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
    if (slash != NULL) {
      *slash = '\0';
    }
    bool there = mkdir(path, 0700) == 0 || errno == EEXIST;
    if (slash != NULL) {
      *slash = '/';
    }
    if (slash == NULL || !there) {
      return there;
    }
  }
}

/* Whether programs can be kept there; the directory is made if need be. */
static bool is_usable(char *directory) {
  struct stat about;
  return make_directories(directory) && stat(directory, &about) == 0 && S_ISDIR(about.st_mode) &&
         access(directory, R_OK | W_OK | X_OK) == 0;
}

void nd4c_cl_cache_state(const nd4c_cl_device *device, char *text, size_t text_size) {
  char directory[PATH_BYTES];
  if (device->is_pocl) {
    (void)snprintf(text, text_size, "; programs are kept by the driver");
  } else if (!find_directory(directory)) {
    (void)snprintf(text, text_size, "; programs are not kept on disk");
  } else if (is_usable(directory)) {
    (void)snprintf(text, text_size, "; programs are kept in %s", directory);
  } else {
    (void)snprintf(text, text_size,
                   "; warning: programs cannot be kept in %s (nd4c.opencl.cache): each process builds "
                   "its own",
                   directory);
  }
}

/* -- loading --------------------------------------------------------------------------------------------- */

/* A program of somebody else's would run with this process's rights: only a plain file of the user's own, which no one
 * else may write to, is read. No link is followed and no pipe waited for. */
static FILE *open_own(const char *path, off_t *bytes) {
  int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  struct stat about;
  if (descriptor < 0) {
    return NULL;
  }
  bool own = fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid() &&
             (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  FILE *file = own ? fdopen(descriptor, "rb") : NULL;
  if (file == NULL) {
    (void)close(descriptor);
    if (!own) {
      nd4c_cl_host->log(ND4C_CL_LOG_INFO, "opencl", "%s is no file of this user's alone: not read", path);
    }
    return NULL;
  }
  *bytes = about.st_size;
  return file;
}

/* The binary of a file that is sound and whose key is this one; NULL otherwise. */
static unsigned char *read_binary(FILE *file, off_t bytes, const char *key, size_t *size) {
  header head;
  char stored[KEY_BYTES];
  size_t key_bytes = strlen(key);
  if (fread(&head, sizeof head, 1, file) != 1 || memcmp(head.magic, magic, sizeof magic) != 0 ||
      head.format != FORMAT || head.key_bytes != key_bytes || fread(stored, 1, key_bytes, file) != key_bytes ||
      memcmp(stored, key, key_bytes) != 0 || head.binary_bytes == 0 || head.binary_bytes > LARGEST_BINARY ||
      (uint64_t)bytes != sizeof head + key_bytes + head.binary_bytes) {
    return NULL;
  }
  unsigned char *binary = nd4c_cl_host->allocate((size_t)head.binary_bytes);
  if (binary != NULL && (fread(binary, 1, (size_t)head.binary_bytes, file) != head.binary_bytes ||
                         hash_bytes(seed_a, binary, (size_t)head.binary_bytes) != head.binary_hash)) {
    nd4c_cl_host->free(binary);
    binary = NULL;
  }
  *size = (size_t)head.binary_bytes;
  return binary;
}

static bool build_binary(nd4c_cl_device *device, const unsigned char *binary, size_t size, const char *options,
                         cl_program *out) {
  cl_int code = CL_SUCCESS, accepted = CL_SUCCESS;
  cl_program program =
      nd4c_cl.clCreateProgramWithBinary(device->context, 1, &device->id, &size, &binary, &accepted, &code);
  if (program == NULL) {
    return false;
  }
  if (code != CL_SUCCESS || accepted != CL_SUCCESS ||
      nd4c_cl.clBuildProgram(program, 1, &device->id, options, NULL, NULL) != CL_SUCCESS) {
    (void)nd4c_cl.clReleaseProgram(program);
    return false;
  }
  *out = program;
  return true;
}

bool nd4c_cl_cache_load(nd4c_cl_device *device, const char *text, size_t text_size, const char *options,
                        cl_program *program) {
  char key[KEY_BYTES], path[PATH_BYTES];
  if (device->is_pocl) {
    return false;
  }
  make_key(device, text, text_size, options, key);
  off_t bytes = 0;
  FILE *file = file_path(key, path) ? open_own(path, &bytes) : NULL;
  if (file == NULL) {
    return false;
  }
  size_t size = 0;
  unsigned char *binary = read_binary(file, bytes, key, &size);
  (void)fclose(file);
  bool built = binary != NULL && build_binary(device, binary, size, options, program);
  nd4c_cl_host->free(binary);
  if (!built) {
    nd4c_cl_host->log(ND4C_CL_LOG_INFO, "opencl", "%s is damaged or not this driver's: built from source", path);
  }
  return built;
}

/* -- storing --------------------------------------------------------------------------------------------- */

static unsigned char *take_binary(cl_program program, size_t *size) {
  *size = 0;
  if (nd4c_cl.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof *size, size, NULL) != CL_SUCCESS ||
      *size == 0 || *size > LARGEST_BINARY) {
    return NULL;
  }
  unsigned char *binary = nd4c_cl_host->allocate(*size);
  if (binary != NULL &&
      nd4c_cl.clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) != CL_SUCCESS) {
    nd4c_cl_host->free(binary);
    binary = NULL;
  }
  return binary;
}

/* Under a name of its own first: readers see a whole file or none. */
static bool write_file(const char *path, const char *key, const unsigned char *binary, size_t size) {
  char temporary[PATH_BYTES + 16];
  (void)snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
  int descriptor = mkstemp(temporary);
  FILE *file = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
  if (file == NULL) {
    if (descriptor >= 0) {
      (void)close(descriptor);
      (void)unlink(temporary);
    }
    return false;
  }
  header head = {.format = FORMAT,
                 .key_bytes = (uint32_t)strlen(key),
                 .binary_bytes = size,
                 .binary_hash = hash_bytes(seed_a, binary, size)};
  memcpy(head.magic, magic, sizeof magic);
  bool written = fwrite(&head, sizeof head, 1, file) == 1 && fwrite(key, 1, strlen(key), file) == strlen(key) &&
                 fwrite(binary, 1, size, file) == size;
  written = fclose(file) == 0 && written && rename(temporary, path) == 0;
  if (!written) {
    (void)unlink(temporary);
  }
  return written;
}

/* A warning the first time. */
static int level_of(atomic_bool *told) {
  return atomic_exchange(told, true) ? ND4C_CL_LOG_INFO : ND4C_CL_LOG_WARNING;
}

void nd4c_cl_cache_store(nd4c_cl_device *device, const char *text, size_t text_size, const char *options,
                         cl_program program) {
  char key[KEY_BYTES], path[PATH_BYTES], directory[PATH_BYTES];
  if (device->is_pocl) {
    return;
  }
  make_key(device, text, text_size, options, key);
  if (!file_path(key, path) || !find_directory(directory)) {
    return;
  }
  size_t size = 0;
  const bool there = make_directories(directory);
  unsigned char *binary = there ? take_binary(program, &size) : NULL;
  if (there && binary == NULL) {
    static atomic_bool told;
    nd4c_cl_host->log(level_of(&told), "opencl",
                      "%s: the driver gives no binary of a program to keep: programs are built anew by each process",
                      device->name);
  } else if (!there || !write_file(path, key, binary, size)) {
    static atomic_bool told;
    nd4c_cl_host->log(
        level_of(&told), "opencl",
        "%s could not be written: programs are built anew by each process (nd4c.opencl.cache names another "
        "directory)",
        path);
  }
  nd4c_cl_host->free(binary);
}
