/* Implements os.h for Linux: processors, their model, caches and instruction-set extensions. threads/cpu.c and
 * threads/parallel.c call it, once in a process. */
#define _GNU_SOURCE /* sched_getaffinity, getauxval and others beyond C17 */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(ND4C_HAVE_HWLOC)
#include <hwloc.h>
#endif

#include "base/os.h"

enum { PATH_SIZE = 4096, LINE_SIZE = 4096 };

/* Reads a short system file; false if it cannot be read. */
static bool read_small(const char *path, char *text, size_t size) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return false;
  }
  size_t length = 0;
  while (length < size - 1) {
    ssize_t got = read(file, text + length, size - 1 - length);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      break;
    }
    length += (size_t)got;
  }
  text[length] = '\0';
  (void)close(file);
  return length > 0;
}

/* The number of processors that quota/period microseconds allow, at least 1; INT32_MAX for no limit. */
static int32_t quota_processors(long long quota, long long period) {
  if (quota <= 0 || period <= 0) {
    return INT32_MAX;
  }
  long long processors = quota / period + (quota % period != 0);
  return processors < INT32_MAX ? (int32_t)processors : INT32_MAX;
}

static int32_t group_limit_v2(const char *directory) {
  char path[PATH_SIZE], text[128];
  long long quota, period;
  (void)snprintf(path, sizeof path, "%.*s/cpu.max", PATH_SIZE - 16, directory);
  if (!read_small(path, text, sizeof text) || sscanf(text, "%lld %lld", &quota, &period) != 2) {
    return INT32_MAX; /* "max 100000", or no such file */
  }
  return quota_processors(quota, period);
}

static int32_t group_limit_v1(const char *directory) {
  char path[PATH_SIZE], text[64];
  long long quota = -1, period = -1;
  (void)snprintf(path, sizeof path, "%.*s/cpu.cfs_quota_us", PATH_SIZE - 32, directory);
  if (read_small(path, text, sizeof text)) {
    quota = atoll(text);
  }
  (void)snprintf(path, sizeof path, "%.*s/cpu.cfs_period_us", PATH_SIZE - 32, directory);
  if (read_small(path, text, sizeof text)) {
    period = atoll(text);
  }
  return quota_processors(quota, period);
}

/* The lowest limit from the process's group up to the mount point, since a parent's limit binds its children. In a
 * container the group's path is often relative to another mount; then only the mount point itself can be read. */
static int32_t group_limit(const char *mount, const char *group, int32_t (*limit)(const char *directory)) {
  char directory[PATH_SIZE];
  (void)snprintf(directory, sizeof directory, "%s%s", mount, group);
  size_t mount_length = strlen(mount);
  int32_t lowest = INT32_MAX;
  for (;;) {
    int32_t here = limit(directory);
    lowest = here < lowest ? here : lowest;
    char *slash = strrchr(directory, '/');
    if (strlen(directory) <= mount_length || slash == NULL) {
      return lowest;
    }
    *slash = '\0';
  }
}

/* True if a comma-separated list of controllers names "cpu". */
static bool controllers_have_cpu(const char *controllers) {
  for (const char *item = controllers; item != NULL; item = strchr(item, ',')) {
    item += *item == ',';
    if (strncmp(item, "cpu", 3) == 0 && (item[3] == ',' || item[3] == '\0')) {
      return true;
    }
  }
  return false;
}

/* Lines of /proc/self/cgroup are number:controllers:path; number 0 is version 2. */
int32_t nd4c_os_group_processors(const char *root) {
  char text[LINE_SIZE], own[PATH_SIZE], mount[PATH_SIZE];
  (void)snprintf(own, sizeof own, "%.*s/proc/self/cgroup", PATH_SIZE - 32, root);
  if (!read_small(own, text, sizeof text)) {
    return INT32_MAX;
  }
  int32_t lowest = INT32_MAX;
  char *rest = text;
  for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
    char *controllers = strchr(line, ':');
    char *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
    if (path == NULL) {
      continue;
    }
    *path++ = '\0';
    controllers++;
    path[strcmp(path, "/") == 0 ? 0 : strlen(path)] = '\0';
    int32_t limit = INT32_MAX;
    if (controllers[0] == '\0') {
      (void)snprintf(mount, sizeof mount, "%.*s/sys/fs/cgroup", PATH_SIZE - 32, root);
      limit = group_limit(mount, path, group_limit_v2);
    } else if (controllers_have_cpu(controllers)) {
      (void)snprintf(mount, sizeof mount, "%.*s/sys/fs/cgroup/cpu", PATH_SIZE - 32, root);
      limit = group_limit(mount, path, group_limit_v1);
    }
    lowest = limit < lowest ? limit : lowest;
  }
  return lowest;
}

static int32_t affinity_processors(void) {
  /* The mask may be wider than cpu_set_t on large machines: the kernel refuses one that is too short. */
  for (int count = 1024; count <= 1 << 20; count *= 4) {
    cpu_set_t *set = CPU_ALLOC((size_t)count);
    size_t bytes = CPU_ALLOC_SIZE((size_t)count);
    if (set == NULL) {
      break;
    }
    int found = sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : -1;
    int error = errno;
    CPU_FREE(set);
    if (found > 0) {
      return found;
    }
    if (error != EINVAL) {
      break;
    }
  }
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (int32_t)online : 1;
}

#if defined(ND4C_HAVE_HWLOC) && HWLOC_API_VERSION >= 0x00020100

/* The functions of hwloc that nd4c uses. It is loaded at run time like every vendor's library: libnd4c also starts
 * without it. */
#define HWLOC_FUNCTIONS(X)         \
  X(topology_init)                 \
  X(topology_destroy)              \
  X(topology_load)                 \
  X(topology_set_components)       \
  X(topology_set_type_filter)      \
  X(topology_set_all_types_filter) \
  X(get_cpubind)                   \
  X(get_type_depth)                \
  X(get_nbobjs_by_depth)           \
  X(get_obj_by_depth)              \
  X(bitmap_alloc)                  \
  X(bitmap_free)                   \
  X(bitmap_intersects)

typedef struct hwloc_functions {
#define MEMBER(name) __typeof__(hwloc_##name) *name;
  HWLOC_FUNCTIONS(MEMBER)
#undef MEMBER
} hwloc_functions;

/* The library stays open, because it keeps memory for the life of the process that would otherwise leak. */
static bool hwloc_open(hwloc_functions *hwloc) {
  void *library = dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    return false;
  }
  void *symbol;
#define FIND(name)                         \
  symbol = dlsym(library, "hwloc_" #name); \
  if (symbol == NULL) {                    \
    return false;                          \
  }                                        \
  memcpy(&hwloc->name, &symbol, sizeof symbol);
  HWLOC_FUNCTIONS(FIND)
#undef FIND
  return true;
}

/* Only cores are asked for; caches and devices would cost more. hwloc reads them from the kernel: its own way, by
 * cpuid, would move the calling thread over all processors, and might wait for each of them on a busy machine. 0 if
 * hwloc cannot tell. */
static int32_t hwloc_cores(void) {
  hwloc_functions hwloc;
  hwloc_topology_t topology;
  /* Without /sys (a chroot, some containers) hwloc would print to stderr, which a library must not do. */
  if (access("/sys/devices/system/cpu/cpu0/topology", F_OK) != 0 || !hwloc_open(&hwloc) ||
      hwloc.topology_init(&topology) != 0) {
    return 0;
  }
  int32_t cores = 0;
  hwloc_cpuset_t allowed = hwloc.bitmap_alloc();
  if (allowed != NULL &&
      hwloc.topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86") == 0 &&
      hwloc.topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE) == 0 &&
      hwloc.topology_set_type_filter(topology, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL) == 0 &&
      hwloc.topology_load(topology) == 0 && hwloc.get_cpubind(topology, allowed, 0) == 0) {
    int depth = hwloc.get_type_depth(topology, HWLOC_OBJ_CORE);
    unsigned count = depth >= 0 ? hwloc.get_nbobjs_by_depth(topology, depth) : 0;
    for (unsigned i = 0; i < count; i++) {
      hwloc_obj_t core = hwloc.get_obj_by_depth(topology, depth, i);
      cores += core != NULL && hwloc.bitmap_intersects(core->cpuset, allowed);
    }
  }
  hwloc.bitmap_free(allowed);
  hwloc.topology_destroy(topology);
  return cores;
}

#else

static int32_t hwloc_cores(void) {
  return 0;
}

#endif

/* The first processor of a kernel's list ("3,67", "0-1") that the process may use. */
static int first_allowed(const char *list, const cpu_set_t *allowed) {
  while (*list >= '0' && *list <= '9') {
    char *end;
    long first = strtol(list, &end, 10), last = *end == '-' ? strtol(end + 1, &end, 10) : first;
    for (long processor = first; processor <= last && processor < CPU_SETSIZE; processor++) {
      if (CPU_ISSET((size_t)processor, allowed)) {
        return (int)processor;
      }
    }
    list = end + (*end == ',');
  }
  return -1;
}

/* The same without hwloc: counts each core at its first allowed hardware thread. 0 if the kernel has no such list. */
static int32_t listed_cores(void) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
    return 0;
  }
  int32_t cores = 0;
  for (int processor = 0; processor < CPU_SETSIZE; processor++) {
    char path[128], text[LINE_SIZE];
    if (!CPU_ISSET((size_t)processor, &allowed)) {
      continue;
    }
    (void)snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", processor);
    if (!read_small(path, text, sizeof text)) {
      return 0;
    }
    cores += first_allowed(text, &allowed) == processor;
  }
  return cores;
}

/* Cores that the process may run on: two hardware threads of one core share its arithmetic units. INT32_MAX if neither
 * hwloc nor the kernel can say. */
static int32_t allowed_cores(void) {
  int32_t cores = hwloc_cores();
  cores = cores > 0 ? cores : listed_cores();
  return cores > 0 ? cores : INT32_MAX;
}

int32_t nd4c_os_processors(void) {
  int32_t processors = affinity_processors();
  int32_t cores = allowed_cores();
  processors = cores < processors ? cores : processors;
  int32_t limit = nd4c_os_group_processors("");
  return processors < limit ? processors : limit;
}

void nd4c_os_cpu_model(char *text, size_t size) {
  char information[LINE_SIZE];
  text[0] = '\0';
  if (!read_small("/proc/cpuinfo", information, sizeof information)) {
    return;
  }
  static const char *const labels[] = {"model name", "Model", "cpu\t"};
  for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
    const char *line = strstr(information, labels[i]);
    const char *colon = line != NULL ? strchr(line, ':') : NULL;
    if (colon != NULL) {
      colon += 1 + strspn(colon + 1, " \t");
      (void)snprintf(text, size, "%.*s", (int)strcspn(colon, "\n"), colon);
      return;
    }
  }
}

uint64_t nd4c_os_hardware_capabilities(int word) {
  return getauxval(word == 0 ? AT_HWCAP : AT_HWCAP2);
}

/* Since Linux 5.16 a process has these registers after arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) only. Their
 * state makes signal frames larger: the system refuses if a thread's own signal stack is too small for them. */
bool nd4c_os_allow_tiles(void) {
#if defined(__x86_64__) && defined(SYS_arch_prctl)
  enum { REQUEST_STATE = 0x1023, TILE_DATA = 18 };
  return syscall(SYS_arch_prctl, REQUEST_STATE, TILE_DATA) == 0;
#else
  return false;
#endif
}

int64_t nd4c_os_cache_bytes(void) {
  int64_t bytes = 0;
  int highest = 0;
  for (int index = 0; index < 8; index++) {
    char path[128], text[64];
    (void)snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/level", index);
    int level = read_small(path, text, sizeof text) ? atoi(text) : 0;
    (void)snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
    if (level <= highest || !read_small(path, text, sizeof text)) {
      continue;
    }
    char *unit;
    long long size = strtoll(text, &unit, 10);
    bytes = (int64_t)size << (*unit == 'K' ? 10 : *unit == 'M' ? 20 : *unit == 'G' ? 30 : 0);
    highest = level;
  }
  if (bytes == 0) {
    long size = sysconf(_SC_LEVEL3_CACHE_SIZE);
    bytes = size > 0 ? size : 0;
  }
  return bytes;
}
