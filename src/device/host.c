#include "device/host.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/config.h"
#include "base/cpu.h"
#include "base/log.h"
#include "base/os.h"
#include "base/pages.h"
#include "base/parallel.h"
#include "base/recycle.h"
#include "base/status.h"

enum { LINE_SIZE = 2048, PATH_LIST_SIZE = 4096 };

static nd4c_status host_fail(nd4c_status code, const char *format, ...) {
  char line[LINE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  return nd4c_fail(code, "%s", line);
}

static void host_log(int level, const char *area, const char *format, ...) {
  char line[LINE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  nd4c_log_write((nd4c_log_level)level, area, "%s", line);
}

static const char *host_config(const char *property) {
  /* A backend asking for a property that does not exist is no failure of the caller's: keep his error text. */
  int32_t count = nd4c_config_count();
  for (int32_t i = 0; i < count; ++i) {
    nd4c_config_row row = {.struct_size = ND4C_SIZE_OF(nd4c_config_row)};
    if (nd4c_config_get_row(i, &row) == ND4C_OK && strcmp(row.property, property) == 0) {
      return row.value;
    }
  }
  return NULL;
}

/* What backends allocate at every call comes and goes as our own records do. The size stands before the block, since
 * they give it back without. */
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

static const char *host_cpu_level(void) {
  return nd4c_cpu_level_name(nd4c_cpu_get_level());
}

/* Work space of a kernel that comes and goes with every call. What is small comes from the C library's heap, a mapping
 * of its own would waste most of a page's worth; the block that was taken stands before the space. */
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

/* Buffers of devices, which the device's memory manager keeps: here nothing is. */
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

static bool host_library_find(const char *name, char *path, size_t path_size) {
  char directories[PATH_LIST_SIZE];
  (void)nd4c_config_string(ND4C_CONFIG_LIBRARY_PATH, directories, sizeof directories);
  return nd4c_os_library_find(name, directories, path, path_size);
}

const nd4c_host *nd4c_host_table(void) {
  static const nd4c_host table = {
      .struct_size = ND4C_SIZE_OF(nd4c_host),
      .abi_major = ND4C_PLUGIN_ABI_MAJOR,
      .abi_minor = ND4C_PLUGIN_ABI_MINOR,
      .fail = host_fail,
      .error_message = nd4c_error_message,
      .log = host_log,
      .config = host_config,
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
  };
  return &table;
}
