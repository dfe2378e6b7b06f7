/* Cache of built programs on disk, for program.c: one file each, named by a hash of its key (source, options, device).
 * A file is used only if its header has the same key and its bytes match the header's hash; the driver may still refuse
 * it. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/opencl/runtime/device.h"

enum { PATH_BYTES = 1024, KEY_BYTES = 2048 };
enum { FORMAT = 1 };
#define LARGEST_BINARY ((size_t)256 << 20)
#define LARGEST_FILE ((int64_t)(sizeof(header) + KEY_BYTES + LARGEST_BINARY))

/* What a file begins with; then the key's bytes, then the binary's. Read on the machine that wrote it. */
typedef struct header {
  char magic[8];
  uint32_t format, key_bytes;
  uint64_t binary_bytes, binary_hash;
} header;
static const char magic[8] = "nd4c-cl";

/* Two FNV-1a hashes with different offsets: 128 bits, to distinguish sources. */
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

/* Directory of the cache; false if caching is off. */
static bool find_directory(char *path) {
  (void)nd4c_cl_host->config("nd4c.opencl.cache", path, PATH_BYTES);
  if (strcmp(path, "off") == 0) {
    return false;
  }
  return (path[0] != '\0' || nd4c_cl_host->files->cache_directory(path, PATH_BYTES)) && strlen(path) < PATH_BYTES - 64;
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

void nd4c_cl_cache_state(const nd4c_cl_device *device, char *text, size_t text_size) {
  char directory[PATH_BYTES];
  if (device->is_pocl) {
    (void)snprintf(text, text_size, "; programs are kept by the driver");
  } else if (!find_directory(directory)) {
    (void)snprintf(text, text_size, "; programs are not kept on disk");
  } else if (nd4c_cl_host->files->make_directory(directory) == ND4C_OK) {
    (void)snprintf(text, text_size, "; programs are kept in %s", directory);
  } else {
    (void)snprintf(text, text_size,
                   "; warning: programs cannot be kept in %s (nd4c.opencl.cache): each process builds "
                   "its own",
                   directory);
  }
}

/* -- loading --------------------------------------------------------------------------------------------- */

/* The binary in a valid file with this key; NULL otherwise. */
static const unsigned char *find_binary(const void *file, int64_t bytes, const char *key, size_t *size) {
  const size_t key_bytes = strlen(key);
  header head;
  if (bytes < (int64_t)(sizeof head + key_bytes)) {
    return NULL;
  }
  memcpy(&head, file, sizeof head);
  const unsigned char *stored = (const unsigned char *)file + sizeof head, *binary = stored + key_bytes;
  const size_t rest = (size_t)bytes - sizeof head - key_bytes;
  if (memcmp(head.magic, magic, sizeof magic) != 0 || head.format != FORMAT || head.key_bytes != key_bytes ||
      memcmp(stored, key, key_bytes) != 0 || rest == 0 || head.binary_bytes != rest ||
      hash_bytes(seed_a, binary, rest) != head.binary_hash) {
    return NULL;
  }
  *size = rest;
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

/* Programs of PoCL are not cached here, because PoCL caches machine code itself ($POCL_CACHE_DIR). To return a binary,
 * it would compile each kernel again for groups of any size: that took longer than the build and did not help, since
 * PoCL compiles again for the group size of each launch. */
bool nd4c_cl_cache_load(nd4c_cl_device *device, const char *text, size_t text_size, const char *options,
                        cl_program *program) {
  char key[KEY_BYTES], path[PATH_BYTES];
  if (device->is_pocl) {
    return false;
  }
  make_key(device, text, text_size, options, key);
  /* A program runs with this process's rights, so only files that no other user can write are read. */
  void *file = NULL;
  int64_t bytes = 0;
  nd4c_status status =
      file_path(key, path) ? nd4c_cl_host->files->read_own(path, LARGEST_FILE, &file, &bytes) : ND4C_IO;
  if (status != ND4C_OK) {
    if (status == ND4C_FORMAT) {
      nd4c_cl_host->log(ND4C_CL_LOG_INFO, "opencl", "%s", nd4c_cl_host->error_message());
    }
    return false;
  }
  size_t size = 0;
  const unsigned char *binary = find_binary(file, bytes, key, &size);
  bool built = binary != NULL && build_binary(device, binary, size, options, program);
  nd4c_cl_host->free(file);
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

static bool write_file(const char *path, const char *key, const unsigned char *binary, size_t size) {
  const size_t key_bytes = strlen(key), bytes = sizeof(header) + key_bytes + size;
  unsigned char *file = nd4c_cl_host->allocate(bytes);
  if (file == NULL) {
    return false;
  }
  header head = {.format = FORMAT,
                 .key_bytes = (uint32_t)key_bytes,
                 .binary_bytes = size,
                 .binary_hash = hash_bytes(seed_a, binary, size)};
  memcpy(head.magic, magic, sizeof magic);
  memcpy(file, &head, sizeof head);
  memcpy(file + sizeof head, key, key_bytes);
  memcpy(file + sizeof head + key_bytes, binary, size);
  bool written = nd4c_cl_host->files->write_own(path, file, (int64_t)bytes) == ND4C_OK;
  nd4c_cl_host->free(file);
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
  const bool there = nd4c_cl_host->files->make_directory(directory) == ND4C_OK;
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
