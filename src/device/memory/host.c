/* Implements host.h: each function of the host table, most of them from src/base. Backends, plug-ins and kernels call
 * these functions; device/registry passes the table to a provider when it is loaded. */
#include "device/memory/host.h"
#include "device/memory/held.h"
#include "device/stream/cancellation.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/config/config.h"
#include "base/config/log.h"
#include "base/library_environment.h"
#include "base/os.h"
#include "base/recycle.h"
#include "base/status.h"
#include "base/text.h"
#include "base/threads/cpu.h"
#include "base/threads/openmp.h"
#include "base/threads/pages.h"
#include "base/threads/parallel.h"

enum { LINE_SIZE = 2048, AREA_SIZE = 64, PATH_LIST_SIZE = 4096 };

static nd4c_status host_fail(nd4c_status code, const char *format, ...) {
  char line[LINE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  return nd4c_fail(code, "%s", nd4c_text_clean(line, true));
}

static void host_log(int level, const char *area, const char *format, ...) {
  const int known = level < ND4C_LOG_ERROR ? ND4C_LOG_ERROR : level > ND4C_LOG_DEBUG ? ND4C_LOG_DEBUG : level;
  if (!nd4c_log_is_wanted((nd4c_log_level)known)) {
    return;
  }
  char line[LINE_SIZE], where[AREA_SIZE];
  (void)snprintf(where, sizeof where, "%s", area != NULL ? area : "plug-in");
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  nd4c_log_write((nd4c_log_level)known, nd4c_text_clean(where, false), "%s", nd4c_text_clean(line, false));
}

static bool host_config(const char *property, char *text, size_t text_size) {
  const int key = nd4c_config_find(property);
  if (text_size > 0) {
    text[0] = '\0';
  }
  if (key >= 0) {
    (void)nd4c_config_string((nd4c_config_key)key, text, text_size);
  }
  return key >= 0;
}

static bool host_config_number(const char *property, int64_t *number) {
  const int key = nd4c_config_find(property);
  *number = 0;
  return key >= 0 && nd4c_config_number(key, number);
}

/* Blocks of backends are recycled like nd4c's own records. The size is stored before the block, because backends free
 * without a size. */
typedef struct block_head {
  _Alignas(max_align_t) size_t bytes;
} block_head;

static void *host_allocate(size_t bytes) {
  size_t total = sizeof(block_head) + bytes;
  block_head *head = total < bytes                   ? NULL
                     : total <= ND4C_RECYCLE_LARGEST ? nd4c_recycle_take(total)
                                                     : nd4c_pages_take(total, true);
  if (head == NULL) {
    return NULL;
  }
  head->bytes = total;
  return head + 1;
}

static void host_free(void *memory) {
  if (memory != NULL) {
    block_head *head = (block_head *)memory - 1;
    if (head->bytes <= ND4C_RECYCLE_LARGEST) {
      nd4c_recycle_give(head, head->bytes);
    } else {
      nd4c_pages_give(head, head->bytes);
    }
  }
}

static const char *host_cpu_features(void) {
  return nd4c_cpu_features();
}

static const char *host_cpu_level(void) {
  return nd4c_cpu_level_name(nd4c_cpu_get_level());
}

/* Scratch that a kernel allocates and frees in every call. Small blocks come from the heap, because a mapping would
 * waste most of a page; the start of the allocation is stored before the block. */
enum { HEAP_ALIGNMENT = 64, BEFORE_SPACE = HEAP_ALIGNMENT + sizeof(void *) };
enum { PAGES_FROM = ND4C_RECYCLE_LARGEST - BEFORE_SPACE + 1 };

static void *host_allocate_pages(size_t bytes) {
  if (bytes >= PAGES_FROM) {
    return nd4c_pages_take(bytes, false);
  }
  char *block = nd4c_recycle_take_raw(bytes + BEFORE_SPACE);
  if (block == NULL) {
    return NULL;
  }
  uintptr_t after = (uintptr_t)block + sizeof(void *);
  void **space = (void **)(block + sizeof(void *) + (HEAP_ALIGNMENT - after % HEAP_ALIGNMENT) % HEAP_ALIGNMENT);
  space[-1] = block;
  return space;
}

static void host_free_pages(void *memory, size_t bytes) {
  if (bytes >= PAGES_FROM) {
    nd4c_pages_give(memory, bytes);
  } else if (memory != NULL) {
    nd4c_recycle_give(((void **)memory)[-1], bytes + BEFORE_SPACE);
  }
}

/* Buffers of devices are not recycled here, because the device's memory manager caches them. */
static void *host_allocate_buffer(size_t bytes) {
  return bytes < PAGES_FROM ? nd4c_allocate_aligned(HEAP_ALIGNMENT, bytes) : nd4c_pages_map(bytes);
}

static void host_free_buffer(void *memory, size_t bytes) {
  if (bytes < PAGES_FROM) {
    nd4c_deallocate(memory);
  } else {
    nd4c_pages_unmap(memory, bytes);
  }
}

static nd4c_status host_library_open(const char *name, void **library) {
  char directories[PATH_LIST_SIZE];
  (void)nd4c_config_string(ND4C_CONFIG_LIBRARY_PATH, directories, sizeof directories);
  return nd4c_os_library_open(name, directories, library);
}

static nd4c_status host_openmp_open(const char *name, void **library, nd4c_host_openmp *openmp) {
  char directories[PATH_LIST_SIZE];
  (void)nd4c_config_string(ND4C_CONFIG_LIBRARY_PATH, directories, sizeof directories);
  return nd4c_openmp_open(name, directories, library, openmp);
}

static bool host_library_find(const char *name, char *path, size_t path_size) {
  char directories[PATH_LIST_SIZE];
  (void)nd4c_config_string(ND4C_CONFIG_LIBRARY_PATH, directories, sizeof directories);
  return nd4c_os_library_find(name, directories, path, path_size);
}

/* -- files --------------------------------------------------------------------------------------------------------- */

static bool host_cache_directory(char *path, size_t path_size) {
  nd4c_os_cache_directory(path, path_size);
  return path[0] != '\0';
}

static nd4c_status host_read_own(const char *path, int64_t most, void **bytes, int64_t *size) {
  static const nd4c_os_allocator allocator = {host_allocate, host_free};
  size_t taken = 0;
  nd4c_status status = nd4c_os_read_own_file(path, most > 0 ? (size_t)most : 0, &allocator, bytes, &taken);
  *size = (int64_t)taken;
  return status;
}

static nd4c_status host_write_own(const char *path, const void *bytes, int64_t size) {
  return size < 0 ? nd4c_fail(ND4C_ARGUMENT, "%s: a size of %lld bytes, expected 0 or more", path, (long long)size)
                  : nd4c_os_write_own_file(path, bytes, (size_t)size);
}

static const nd4c_host_files files = {
    .struct_size = ND4C_SIZE_OF(nd4c_host_files),
    .cache_directory = host_cache_directory,
    .make_directory = nd4c_os_make_directory,
    .read_own = host_read_own,
    .write_own = host_write_own,
    .list = nd4c_os_list_directory,
    .map = nd4c_os_shared_map,
    .unmap = nd4c_os_shared_unmap,
    .duplicate = nd4c_os_descriptor_duplicate,
    .close = nd4c_os_descriptor_close,
};

const nd4c_host *nd4c_host_table(void) {
  static const nd4c_host table = {
      .struct_size = ND4C_SIZE_OF(nd4c_host),
      .abi_major = ND4C_PLUGIN_ABI_MAJOR,
      .abi_minor = ND4C_PLUGIN_ABI_MINOR,
      .fail = host_fail,
      .error_message = nd4c_error_message,
      .log = host_log,
      .config = host_config,
      .config_number = host_config_number,
      .allocate = host_allocate,
      .free = host_free,
      .parallel_for = nd4c_parallel_for,
      .cpu_level = host_cpu_level,
      .allocate_pages = host_allocate_pages,
      .free_pages = host_free_pages,
      .library_open = host_library_open,
      .library_find = host_library_find,
      .library_symbol = nd4c_os_library_symbol,
      .cache_bytes = nd4c_cpu_cache_share,
      .allocate_buffer = host_allocate_buffer,
      .free_buffer = host_free_buffer,
      .threads = &nd4c_os_threads,
      .files = &files,
      .check_cancelled = nd4c_cancellation_check_scope,
      .device_memory = &nd4c_held_table,
      .cpu_features = host_cpu_features,
      .allow_tiles = nd4c_cpu_allow_tiles,
      .openmp_open = host_openmp_open,
      .library_setenv = nd4c_library_environment_set,
  };
  return &table;
}

static _Atomic(const nd4c_host *) replaced;

const nd4c_host *nd4c_host_for_plugins(void) {
  const nd4c_host *host = atomic_load(&replaced);
  return host != NULL ? host : nd4c_host_table();
}

const nd4c_host *nd4c_plugin_get_host(void) {
  return nd4c_host_for_plugins();
}

nd4c_status nd4c_plugin_set_host(const nd4c_host *host) {
  if (host != NULL && (host->struct_size != ND4C_SIZE_OF(nd4c_host) || host->abi_major != ND4C_PLUGIN_ABI_MAJOR ||
                       host->abi_minor != ND4C_PLUGIN_ABI_MINOR)) {
    return nd4c_fail(ND4C_ARGUMENT,
                     "nd4c_plugin_set_host: a table of %u bytes and version %d.%d, expected %u bytes and %d.%d: begin "
                     "with a copy of nd4c_plugin_get_host()",
                     host->struct_size, host->abi_major, host->abi_minor, ND4C_SIZE_OF(nd4c_host),
                     ND4C_PLUGIN_ABI_MAJOR, ND4C_PLUGIN_ABI_MINOR);
  }
  atomic_store(&replaced, host);
  return ND4C_OK;
}
