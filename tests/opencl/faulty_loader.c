/* An OpenCL loader that stands between the library and the system's one, for tests: calls fail when they are told to,
 * objects and the bytes between host and device are counted, and it can lie as a broken driver would.
 *
 *   FAULTY_CL=CALL:N:CODE,...   the N-th such call fails with that code (0: every one); in the environment, or at run
 *                               time by faulty_cl_control("CALL:N:CODE,...") counted from then; "" forgets
 *   FAULTY_CL=CALL:N:CODE:FATE  the call succeeds and its command fails: faulty_flight.h has the fates (lost, belied,
 *                               late)
 *   FAULTY_CL_ONLY=N            lies about devices apply only to the N-th one (from 0)
 *   FAULTY_CL_PLATFORM=NAME     the name that platforms report
 *   FAULTY_CL_LIE=WORD          lies of the table below; mobile_gpu is no lie but a disguise: a device without
 *                               float64 and 64-bit atomics, with small groups and memory that is not the host's;
 *                               held is no lie either: kernels begin when the library waits for an event, and a process
 *                               that destroys static objects before that ends with code 9
 *
 * Calls of a library with another OpenCL loader (CLBlast) do not pass through this loader. */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/opencl/runtime/api.h"
#include "faulty_flight.h"

#define EXPORT __attribute__((visibility("default")))

/* X(word): lies of the driver; host_copy: no lie, but every launch counts as if it had read back a megabyte. */
// clang-format off
#define LIES(X) \
  X(no_platform) X(null_platform) X(many_platforms) X(null_device) X(many_devices) X(null_context) \
  X(null_queue) X(null_buffer) X(null_program) X(null_kernel) X(null_event) X(endless_name) X(long_info) \
  X(long_name) X(long_number) X(zero_info) X(huge_info) X(no_binary) X(null_map) X(big_endian) X(unavailable) \
  X(small_groups) X(mobile_gpu) X(many_units) X(host_copy) X(held) \
  X(identity) X(odd_identity)
// clang-format on
enum lie {
  LIE_NONE,
#define LIE_ENUM(word) LIE_##word,
  LIES(LIE_ENUM)
#undef LIE_ENUM
};

enum call {
#define CALL_ENUM(result, name, parameters) CALL_##name,
  ND4C_CL_SYMBOLS(CALL_ENUM)
#undef CALL_ENUM
      CALLS
};
static const char *const call_names[CALLS] = {
#define CALL_NAME(result, name, parameters) #name,
    ND4C_CL_SYMBOLS(CALL_NAME)
#undef CALL_NAME
};

/* Objects that are counted, by references. */
#define OBJECTS(X) X(contexts) X(queues) X(buffers) X(programs) X(kernels) X(events)
enum object {
#define OBJECT_ENUM(name) OBJECT_##name,
  OBJECTS(OBJECT_ENUM)
#undef OBJECT_ENUM
      OBJECT_COUNT
};
static const char *const object_names[OBJECT_COUNT] = {
#define OBJECT_NAME(name) #name,
    OBJECTS(OBJECT_NAME)
#undef OBJECT_NAME
};

static nd4c_cl_api real;
static enum lie lie;
static _Atomic long objects[OBJECT_COUNT];
/* Bytes that commands carry to and from the device; those of mapped memory count as carried. */
static _Atomic long read_bytes, written_bytes;

/* Guards the rules and counts of calls. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  long count, fails_at; /* fails_at 0: every one, -1: never */
  cl_int code;
  flight_fate fate;
} rules[CALLS];

/* -- rules ------------------------------------------------------------------------------------------------------ */

static int find_call(const char *text, size_t length) {
  for (int i = 0; i < CALLS; i++) {
    if (strlen(call_names[i]) == length && strncmp(call_names[i], text, length) == 0) {
      return i;
    }
  }
  return -1;
}

/* 0, or -1 if the text is no list of CALL:N:CODE or CALL:N:CODE:FATE. */
EXPORT int faulty_cl_control(const char *text);
EXPORT int faulty_cl_control(const char *text) {
  int result = 0;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < CALLS; i++) {
    rules[i].fails_at = -1;
  }
  while (*text != '\0' && result == 0) {
    const size_t length = strcspn(text, ":");
    const int call = find_call(text, length);
    long number = 0, code = 0;
    int used = 0;
    if (call < 0 || sscanf(text + length, ":%ld:%ld%n", &number, &code, &used) != 2) {
      result = -1;
      break;
    }
    rules[call].fails_at = number == 0 ? 0 : rules[call].count + number;
    rules[call].code = (cl_int)code;
    text += length + (size_t)used;
    const size_t fate = strcspn(text, ",");
    rules[call].fate = flight_named(text + 1, fate > 0 ? fate - 1 : 0);
    result = fate > 0 && rules[call].fate == FATE_FAILS ? -1 : 0;
    text += fate;
    text += *text == ',';
  }
  pthread_mutex_unlock(&lock);
  return result;
}

/* The number of calls of a function, of references to objects of a kind, or of bytes ("read_bytes", "written_bytes")
 * copied from and to the device so far; -1: an unknown name. */
EXPORT long faulty_cl_count(const char *name);
EXPORT long faulty_cl_count(const char *name) {
  for (int i = 0; i < OBJECT_COUNT; i++) {
    if (strcmp(object_names[i], name) == 0) {
      return atomic_load(&objects[i]);
    }
  }
  if (strcmp(name, "read_bytes") == 0 || strcmp(name, "written_bytes") == 0) {
    return atomic_load(name[0] == 'r' ? &read_bytes : &written_bytes);
  }
  const int call = find_call(name, strlen(name));
  pthread_mutex_lock(&lock);
  const long count = call >= 0 ? rules[call].count : -1;
  pthread_mutex_unlock(&lock);
  return count;
}

/* Counts the call. Gives the fate of its command, and the code with which the call or the command fails, or
 * CL_SUCCESS. */
static cl_int take_command(enum call call, flight_fate *fate) {
  pthread_mutex_lock(&lock);
  const long number = ++rules[call].count;
  const bool fails = rules[call].fails_at == 0 || rules[call].fails_at == number;
  const cl_int code = fails ? rules[call].code : CL_SUCCESS;
  *fate = fails ? rules[call].fate : FATE_FAILS;
  pthread_mutex_unlock(&lock);
  return code;
}

/* The same for a call that has no command. */
static cl_int take(enum call call) {
  flight_fate fate;
  return take_command(call, &fate);
}

static void read_lie(void) {
  static const struct {
    const char *word;
    enum lie lie;
  } words[] = {
#define LIE_ROW(word) {#word, LIE_##word},
      LIES(LIE_ROW)
#undef LIE_ROW
  };
  const char *given = getenv("FAULTY_CL_LIE");
  for (size_t i = 0; given != NULL && i < sizeof words / sizeof words[0]; i++) {
    if (strcmp(given, words[i].word) == 0) {
      lie = words[i].lie;
    }
  }
}

__attribute__((constructor)) static void start(void) {
  void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
#define FIND(result, name, parameters)                             \
  {                                                                \
    void *symbol = library != NULL ? dlsym(library, #name) : NULL; \
    memcpy(&real.name, &symbol, sizeof symbol);                    \
  }
  ND4C_CL_SYMBOLS(FIND)
#undef FIND
  const char *rules_given = getenv("FAULTY_CL");
  (void)faulty_cl_control(rules_given != NULL ? rules_given : "");
  read_lie();
  const bool can_hold = flight_find(library, &real);
  if (lie == LIE_held && can_hold) {
    /* The position of a driver's handler among the handlers of exit: it runs after the handlers that wait for work in
     * flight. */
    (void)atexit(flight_look_at_exit);
  } else if (lie == LIE_held && library != NULL) { /* a test of this lie would always pass */
    (void)fprintf(stderr, "FAULTY_CL_LIE=held: the system's OpenCL lacks user events or what tells of queues\n");
    _exit(8);
  }
}

/* The answer of a loader without drivers, given here if the system has no loader. */
enum { PLATFORM_NOT_FOUND = -1001 };

/* -- forwarding ------------------------------------------------------------------------------------------------- */

/* A function that gives a code. */
#define FORWARD(name, parameters, arguments)                \
  EXPORT cl_int name parameters;                            \
  EXPORT cl_int name parameters {                           \
    const cl_int code = take(CALL_##name);                  \
    return code != CL_SUCCESS ? code : real.name arguments; \
  }

/* The same for a function that waits. */
#define FORWARD_WAIT(name, parameters, arguments)           \
  EXPORT cl_int name parameters;                            \
  EXPORT cl_int name parameters {                           \
    const cl_int code = take(CALL_##name);                  \
    flight_open_gate();                                     \
    return code != CL_SUCCESS ? code : real.name arguments; \
  }

/* A function that gives an object, and its code in *error. */
#define CREATE(type, object, name, word, parameters, arguments)        \
  EXPORT type name parameters;                                         \
  EXPORT type name parameters {                                        \
    const cl_int code = take(CALL_##name);                             \
    if (code != CL_SUCCESS || lie == LIE_##word) {                     \
      if (error != NULL) {                                             \
        *error = code;                                                 \
      }                                                                \
      return NULL;                                                     \
    }                                                                  \
    type made = real.name arguments;                                   \
    atomic_fetch_add(&objects[OBJECT_##object], made != NULL ? 1 : 0); \
    return made;                                                       \
  }

/* A function that enqueues and gives an event if it is asked for one. */
#define ENQUEUE(name, parameters, arguments)                               \
  EXPORT cl_int name parameters;                                           \
  EXPORT cl_int name parameters {                                          \
    flight f;                                                              \
    cl_int code = begin(&f, CALL_##name, queue, &count, &waits);           \
    code = code != CL_SUCCESS || is_lost(&f) ? code : real.name arguments; \
    return end(&f, code, event);                                           \
  }

/* The same for a command that copies `size` bytes. */
#define CARRY(name, counter, parameters, arguments)                        \
  EXPORT cl_int name parameters;                                           \
  EXPORT cl_int name parameters {                                          \
    flight f;                                                              \
    cl_int code = begin(&f, CALL_##name, queue, &count, &waits);           \
    code = code != CL_SUCCESS || is_lost(&f) ? code : real.name arguments; \
    atomic_fetch_add(counter, code == CL_SUCCESS ? (long)size : 0);        \
    return end(&f, code, event);                                           \
  }

#define RELEASE(type, object, name)                 \
  EXPORT cl_int name(type handle);                  \
  EXPORT cl_int name(type handle) {                 \
    const cl_int code = take(CALL_##name);          \
    atomic_fetch_sub(&objects[OBJECT_##object], 1); \
    const cl_int given = real.name(handle);         \
    return code != CL_SUCCESS ? code : given;       \
  }

static cl_int count_event(cl_int code, cl_event *event) {
  if (code == CL_SUCCESS && event != NULL && lie == LIE_null_event) {
    (void)real.clReleaseEvent(*event);
    *event = NULL;
  } else if (code == CL_SUCCESS && event != NULL) {
    atomic_fetch_add(&objects[OBJECT_events], 1);
  }
  return code;
}

/* The code with which an enqueuing call fails, or CL_SUCCESS, and the events that its command must wait for. */
static cl_int begin(flight *f, enum call call, cl_command_queue queue, cl_uint *count, const cl_event **waits) {
  f->code = take_command(call, &f->fate);
  const cl_int code = f->fate == FATE_FAILS ? f->code : CL_SUCCESS;
  flight_begin(f, queue, lie == LIE_held && call == CALL_clEnqueueNDRangeKernel, count, waits);
  return code;
}

static bool is_lost(const flight *f) {
  return f->fate == FATE_LOST;
}

static cl_int end(flight *f, cl_int code, cl_event *event) {
  flight_end(f, code, event);
  return count_event(code, event);
}

EXPORT cl_int clGetPlatformIDs(cl_uint count, cl_platform_id *platforms, cl_uint *found);
EXPORT cl_int clGetPlatformIDs(cl_uint count, cl_platform_id *platforms, cl_uint *found) {
  const cl_int code = take(CALL_clGetPlatformIDs);
  if (code != CL_SUCCESS || real.clGetPlatformIDs == NULL) {
    return code != CL_SUCCESS ? code : PLATFORM_NOT_FOUND;
  }
  const cl_int given = real.clGetPlatformIDs(count, platforms, found);
  if (found != NULL && lie == LIE_no_platform) {
    *found = 0;
  } else if (found != NULL && lie == LIE_many_platforms) {
    *found = UINT32_MAX;
  }
  for (cl_uint i = 0; platforms != NULL && lie == LIE_null_platform && i < count; i++) {
    platforms[i] = NULL;
  }
  return given;
}

EXPORT cl_int clGetDeviceIDs(cl_platform_id platform, cl_bitfield type, cl_uint count, cl_device_id *devices,
                             cl_uint *found);
EXPORT cl_int clGetDeviceIDs(cl_platform_id platform, cl_bitfield type, cl_uint count, cl_device_id *devices,
                             cl_uint *found) {
  const cl_int code = take(CALL_clGetDeviceIDs);
  if (code != CL_SUCCESS) {
    return code;
  }
  const cl_int given = real.clGetDeviceIDs(platform, type, count, devices, found);
  if (found != NULL && lie == LIE_many_devices) {
    *found = UINT32_MAX - 1;
  }
  for (cl_uint i = 0; devices != NULL && lie == LIE_null_device && i < count; i++) {
    devices[i] = NULL;
  }
  return given;
}

/* Changes a word of a list into an unknown one. */
static void hide_word(char *list, const char *word) {
  const size_t length = strlen(word);
  for (char *at = strstr(list, word); at != NULL; at = strstr(at, word)) {
    memset(at, '-', length);
  }
}

static const struct {
  cl_uint what;
  uint64_t value;
  size_t size;
} guise[] = {{CL_DEVICE_TYPE, CL_DEVICE_TYPE_GPU, sizeof(cl_bitfield)},
             {CL_DEVICE_HOST_UNIFIED_MEMORY, 0, sizeof(cl_bool)},
             {CL_DEVICE_DOUBLE_FP_CONFIG, 0, sizeof(cl_bitfield)},
             {CL_DEVICE_MAX_WORK_GROUP_SIZE, 256, sizeof(size_t)},
             {CL_DEVICE_LOCAL_MEM_SIZE, 16384, sizeof(uint64_t)}};

static void put_on_guise(cl_uint what, size_t size, void *value) {
  if (what == CL_DEVICE_EXTENSIONS && size > 0) {
    ((char *)value)[size - 1] = '\0';
    hide_word(value, "cl_khr_fp64");
    hide_word(value, "cl_khr_int64_base_atomics");
    hide_word(value, "cl_khr_int64_extended_atomics");
  }
  for (size_t i = 0; i < sizeof guise / sizeof guise[0]; i++) {
    if (guise[i].what == what && guise[i].size <= size) {
      memcpy(value, &guise[i].value, guise[i].size); /* little-endian, as all machines that run these tests */
    }
  }
}

/* Texts without an end, sizes of nothing or of everything. */
static void lie_about(cl_uint what, size_t size, void *value, size_t *needed) {
  const bool is_text = what == CL_DEVICE_NAME || what == CL_DEVICE_VENDOR || what == CL_DRIVER_VERSION ||
                       what == CL_DEVICE_VERSION || what == CL_DEVICE_EXTENSIONS;
  const bool is_flag = what == CL_DEVICE_TYPE || what == CL_DEVICE_ENDIAN_LITTLE || what == CL_DEVICE_AVAILABLE ||
                       what == CL_DEVICE_COMPILER_AVAILABLE;
  if (lie == LIE_mobile_gpu && value != NULL) {
    put_on_guise(what, size, value);
  } else if (lie == LIE_endless_name && is_text && value != NULL) {
    memset(value, 'n', size);
  } else if (needed != NULL && (lie == LIE_long_info || (lie == LIE_long_name && what == CL_DEVICE_NAME) ||
                                (lie == LIE_long_number && !is_text && what != CL_DEVICE_TYPE))) {
    *needed = SIZE_MAX / 2;
  } else if (lie == LIE_many_units && value != NULL && what == CL_DEVICE_MAX_COMPUTE_UNITS && size >= sizeof(cl_uint)) {
    *(cl_uint *)value = 8; /* so that a processor with few units gets work for many */
  } else if (lie == LIE_zero_info && value != NULL && !is_text && !is_flag) {
    memset(value, 0, size);
  } else if (lie == LIE_huge_info && value != NULL && !is_text && !is_flag) {
    memset(value, 0xff, size);
  } else if ((lie == LIE_big_endian && what == CL_DEVICE_ENDIAN_LITTLE && value != NULL) ||
             (lie == LIE_unavailable && what == CL_DEVICE_AVAILABLE && value != NULL)) {
    memset(value, 0, size);
  }
}

/* Whether the lie applies to this device: FAULTY_CL_ONLY names one by the order of the first queries. */
static bool is_liar(cl_device_id device) {
  enum { KNOWN = 8 };
  static cl_device_id known[KNOWN];
  const char *only = getenv("FAULTY_CL_ONLY");
  int at = 0;
  pthread_mutex_lock(&lock);
  while (at < KNOWN && known[at] != NULL && known[at] != device) {
    at++;
  }
  if (at < KNOWN) {
    known[at] = device;
  }
  pthread_mutex_unlock(&lock);
  return only == NULL || atoi(only) == at;
}

/* The answers of a driver with cl_khr_device_uuid and cl_khr_pci_bus_info; odd_identity: an impossible bus and a UUID
 * that is too short. If it answers, *needed is the size. */
static cl_int tell_identity(cl_int given, cl_uint what, size_t size, void *value, size_t *needed) {
  static const char words[] = " cl_khr_device_uuid cl_khr_pci_bus_info";
  const bool odd = lie == LIE_odd_identity;
  const cl_uint address[4] = {0xab, odd ? 999 : 0x65, 0x1f, 7};
  unsigned char uuid[16];
  for (int i = 0; i < 16; i++) {
    uuid[i] = (unsigned char)(0xf0 - i);
  }
  if (what == CL_DEVICE_EXTENSIONS && value != NULL && strlen(value) + sizeof words <= size) {
    memcpy((char *)value + strlen(value), words, sizeof words);
    *needed = strlen(value) + 1;
  } else if (what == CL_DEVICE_UUID_KHR && size >= sizeof uuid) {
    memcpy(value, uuid, sizeof uuid);
    *needed = odd ? 8 : sizeof uuid;
    return CL_SUCCESS;
  } else if (what == CL_DEVICE_PCI_BUS_INFO_KHR && size >= sizeof address) {
    memcpy(value, address, sizeof address);
    *needed = sizeof address;
    return CL_SUCCESS;
  }
  return given;
}

EXPORT cl_int clGetDeviceInfo(cl_device_id device, cl_uint what, size_t size, void *value, size_t *needed);
EXPORT cl_int clGetDeviceInfo(cl_device_id device, cl_uint what, size_t size, void *value, size_t *needed) {
  const cl_int code = take(CALL_clGetDeviceInfo);
  const cl_int given = code != CL_SUCCESS ? code : real.clGetDeviceInfo(device, what, size, value, needed);
  if (given == CL_SUCCESS && is_liar(device)) {
    lie_about(what, size, value, needed);
  }
  if (lie == LIE_identity || lie == LIE_odd_identity) {
    return tell_identity(given, what, size, value, needed);
  }
  return given;
}

EXPORT cl_int clGetPlatformInfo(cl_platform_id platform, cl_uint what, size_t size, void *value, size_t *needed);
EXPORT cl_int clGetPlatformInfo(cl_platform_id platform, cl_uint what, size_t size, void *value, size_t *needed) {
  const cl_int code = take(CALL_clGetPlatformInfo);
  const cl_int given = code != CL_SUCCESS ? code : real.clGetPlatformInfo(platform, what, size, value, needed);
  const char *name = getenv("FAULTY_CL_PLATFORM");
  if (given == CL_SUCCESS && name != NULL && what == CL_PLATFORM_NAME && value != NULL && strlen(name) < size) {
    memcpy(value, name, strlen(name) + 1);
    if (needed != NULL) {
      *needed = strlen(name) + 1;
    }
  }
  return given;
}

EXPORT cl_int clGetProgramInfo(cl_program program, cl_uint what, size_t size, void *value, size_t *needed);
EXPORT cl_int clGetProgramInfo(cl_program program, cl_uint what, size_t size, void *value, size_t *needed) {
  const cl_int code = take(CALL_clGetProgramInfo);
  const cl_int given = code != CL_SUCCESS ? code : real.clGetProgramInfo(program, what, size, value, needed);
  if (given == CL_SUCCESS && lie == LIE_no_binary && what == CL_PROGRAM_BINARY_SIZES && value != NULL) {
    memset(value, 0, size);
  }
  return given;
}

EXPORT void *clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_bitfield flags, size_t at,
                                size_t size, cl_uint count, const cl_event *waits, cl_event *event, cl_int *error);
EXPORT void *clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_bitfield flags, size_t at,
                                size_t size, cl_uint count, const cl_event *waits, cl_event *event, cl_int *error) {
  const cl_int code = take(CALL_clEnqueueMapBuffer);
  if (code != CL_SUCCESS || lie == LIE_null_map) {
    *error = code;
    return NULL;
  }
  void *address = real.clEnqueueMapBuffer(queue, buffer, blocking, flags, at, size, count, waits, event, error);
  if (*error == CL_SUCCESS) {
    atomic_fetch_add(&read_bytes, (flags & CL_MAP_READ) != 0 ? (long)size : 0);
    atomic_fetch_add(&written_bytes, (flags & CL_MAP_WRITE) != 0 ? (long)size : 0);
  }
  (void)count_event(*error, event);
  return address;
}

EXPORT cl_int clRetainEvent(cl_event event);
EXPORT cl_int clRetainEvent(cl_event event) {
  const cl_int code = take(CALL_clRetainEvent);
  const cl_int given = code != CL_SUCCESS ? code : real.clRetainEvent(event);
  atomic_fetch_add(&objects[OBJECT_events], given == CL_SUCCESS ? 1 : 0);
  return given;
}

EXPORT cl_int clRetainMemObject(cl_mem memory);
EXPORT cl_int clRetainMemObject(cl_mem memory) {
  const cl_int code = take(CALL_clRetainMemObject);
  const cl_int given = code != CL_SUCCESS ? code : real.clRetainMemObject(memory);
  atomic_fetch_add(&objects[OBJECT_buffers], given == CL_SUCCESS ? 1 : 0);
  return given;
}

/* With small_groups kernels take groups of at most SMALL_GROUP work items, as kernels with many registers do on
 * GPUs. */
enum { SMALL_GROUP = 8 };

EXPORT cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_uint what, size_t size, void *value,
                                       size_t *needed);
EXPORT cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_uint what, size_t size, void *value,
                                       size_t *needed) {
  const cl_int code = take(CALL_clGetKernelWorkGroupInfo);
  const cl_int given =
      code != CL_SUCCESS ? code : real.clGetKernelWorkGroupInfo(kernel, device, what, size, value, needed);
  if (given == CL_SUCCESS && lie == LIE_small_groups && what == CL_KERNEL_WORK_GROUP_SIZE && size == sizeof(size_t)) {
    *(size_t *)value = SMALL_GROUP;
  }
  return given;
}

EXPORT cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *offset,
                                     const size_t *global, const size_t *local, cl_uint count, const cl_event *waits,
                                     cl_event *event);
EXPORT cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *offset,
                                     const size_t *global, const size_t *local, cl_uint count, const cl_event *waits,
                                     cl_event *event) {
  flight f;
  cl_int code = begin(&f, CALL_clEnqueueNDRangeKernel, queue, &count, &waits);
  size_t group = 1;
  for (cl_uint d = 0; local != NULL && d < dims; d++) {
    group *= local[d];
  }
  if (code == CL_SUCCESS && lie == LIE_small_groups && group > SMALL_GROUP) {
    code = CL_INVALID_WORK_GROUP_SIZE;
  }
  atomic_fetch_add(&read_bytes, lie == LIE_host_copy ? 1L << 20 : 0);
  if (code == CL_SUCCESS && !is_lost(&f)) {
    code = real.clEnqueueNDRangeKernel(queue, kernel, dims, offset, global, local, count, waits, event);
  }
  return end(&f, code, event);
}

/* The disguised device has no double: a program that uses it does not compile. */
EXPORT cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **texts,
                                            const size_t *lengths, cl_int *error);
EXPORT cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **texts,
                                            const size_t *lengths, cl_int *error) {
  static const char before[] = "#define double this_device_has_no_double\n";
  cl_int code = take(CALL_clCreateProgramWithSource);
  code = code == CL_SUCCESS && count != 1 ? CL_INVALID_VALUE : code; /* the library gives one text */
  if (code != CL_SUCCESS || lie == LIE_null_program) {
    *error = code;
    return NULL;
  }
  const char *both[] = {before, texts[0]};
  const size_t both_lengths[] = {strlen(before), lengths != NULL ? lengths[0] : 0};
  cl_program made = lie == LIE_mobile_gpu ? real.clCreateProgramWithSource(context, 2, both, both_lengths, error)
                                          : real.clCreateProgramWithSource(context, count, texts, lengths, error);
  atomic_fetch_add(&objects[OBJECT_programs], made != NULL ? 1 : 0);
  return made;
}

/* clang-format off */
CREATE(cl_context, contexts, clCreateContext, null_context,
       (const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
        void (*notify)(const char *, const void *, size_t, void *), void *user, cl_int *error),
       (properties, count, devices, notify, user, error))
CREATE(cl_command_queue, queues, clCreateCommandQueue, null_queue,
       (cl_context context, cl_device_id device, cl_bitfield properties, cl_int *error),
       (context, device, properties, error))
CREATE(cl_mem, buffers, clCreateBuffer, null_buffer,
       (cl_context context, cl_bitfield flags, size_t size, void *host, cl_int *error),
       (context, flags, size, host, error))
CREATE(cl_mem, buffers, clCreateSubBuffer, null_buffer,
       (cl_mem memory, cl_bitfield flags, cl_uint type, const void *region, cl_int *error),
       (memory, flags, type, region, error))
CREATE(cl_program, programs, clCreateProgramWithBinary, null_program,
       (cl_context context, cl_uint count, const cl_device_id *devices, const size_t *lengths,
        const unsigned char **binaries, cl_int *states, cl_int *error),
       (context, count, devices, lengths, binaries, states, error))
CREATE(cl_kernel, kernels, clCreateKernel, null_kernel, (cl_program program, const char *name, cl_int *error),
       (program, name, error))
RELEASE(cl_context, contexts, clReleaseContext)
RELEASE(cl_command_queue, queues, clReleaseCommandQueue)
RELEASE(cl_mem, buffers, clReleaseMemObject)
RELEASE(cl_program, programs, clReleaseProgram)
RELEASE(cl_kernel, kernels, clReleaseKernel)
RELEASE(cl_event, events, clReleaseEvent)
CARRY(clEnqueueReadBuffer, &read_bytes,
      (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t at, size_t size, void *to, cl_uint count,
       const cl_event *waits, cl_event *event),
      (queue, buffer, blocking, at, size, to, count, waits, event))
CARRY(clEnqueueWriteBuffer, &written_bytes,
      (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t at, size_t size, const void *from,
       cl_uint count, const cl_event *waits, cl_event *event),
      (queue, buffer, blocking, at, size, from, count, waits, event))
ENQUEUE(clEnqueueCopyBuffer,
        (cl_command_queue queue, cl_mem from, cl_mem to, size_t from_at, size_t to_at, size_t size, cl_uint count,
         const cl_event *waits, cl_event *event),
        (queue, from, to, from_at, to_at, size, count, waits, event))
ENQUEUE(clEnqueueFillBuffer,
        (cl_command_queue queue, cl_mem buffer, const void *pattern, size_t length, size_t at, size_t size,
         cl_uint count, const cl_event *waits, cl_event *event),
        (queue, buffer, pattern, length, at, size, count, waits, event))
ENQUEUE(clEnqueueUnmapMemObject,
        (cl_command_queue queue, cl_mem buffer, void *address, cl_uint count, const cl_event *waits, cl_event *event),
        (queue, buffer, address, count, waits, event))
ENQUEUE(clEnqueueMarkerWithWaitList,
        (cl_command_queue queue, cl_uint count, const cl_event *waits, cl_event *event), (queue, count, waits, event))
ENQUEUE(clEnqueueBarrierWithWaitList,
        (cl_command_queue queue, cl_uint count, const cl_event *waits, cl_event *event), (queue, count, waits, event))
FORWARD(clBuildProgram,
        (cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
         void (*notify)(cl_program, void *), void *user),
        (program, count, devices, options, notify, user))
FORWARD(clGetProgramBuildInfo,
        (cl_program program, cl_device_id device, cl_uint what, size_t size, void *value, size_t *needed),
        (program, device, what, size, value, needed))
FORWARD(clSetKernelArg, (cl_kernel kernel, cl_uint index, size_t size, const void *value),
        (kernel, index, size, value))
FORWARD(clGetMemObjectInfo, (cl_mem memory, cl_uint what, size_t size, void *value, size_t *needed),
        (memory, what, size, value, needed))
FORWARD(clGetEventInfo, (cl_event event, cl_uint what, size_t size, void *value, size_t *needed),
        (event, what, size, value, needed))
FORWARD(clFlush, (cl_command_queue queue), (queue))
FORWARD_WAIT(clWaitForEvents, (cl_uint count, const cl_event *events), (count, events))
FORWARD_WAIT(clFinish, (cl_command_queue queue), (queue))
/* clang-format on */
