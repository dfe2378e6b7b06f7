/* Finds the devices of all platforms, and checks every answer of a driver. backend.c calls it when the provider is
 * probed or opened. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/opencl/runtime/device.h"

enum { PLATFORMS = 32, DEVICES = 64, EXTENSION_BYTES = 64 * 1024 };

static nd4c_host_lock lock; /* guards the variables below until `searched` */
static bool searched;
static nd4c_status outcome;
static nd4c_status noted; /* why there is no device, if there is none */
static char outcome_text[ND4C_CL_REASON];
static nd4c_cl_device *devices[DEVICES];
static int32_t device_count;

/* -- what a driver says ------------------------------------------------------------------------------------------- */

/* A text of at most size - 1 bytes, terminated here whatever the driver does; longer ones are cut. Control characters
 * become blanks: texts go to terminals. If the driver has none, the text says why. `question`: call and constant. */
static bool take_text(const char *question, cl_int code, size_t given, char *raw, size_t raw_size, char *text,
                      size_t text_size) {
  if (code != CL_SUCCESS) {
    (void)snprintf(text, text_size, "unknown (%s: %d %s)", question, (int)code, nd4c_cl_error_name(code));
    return false;
  }
  if (given == 0 || given > raw_size) {
    (void)snprintf(text, text_size, "unknown (%s gives %zu bytes: expected 1 to %zu)", question, given, raw_size);
    return false;
  }
  raw[given < raw_size ? given : raw_size - 1] = '\0';
  size_t length = strlen(raw);
  length = length < text_size ? length : text_size - 1;
  for (size_t i = 0; i < length; i++) {
    text[i] = raw[i];
    if ((unsigned char)raw[i] < ' ') {
      text[i] = ' ';
    }
  }
  text[length] = '\0';
  return true;
}

static void platform_text(cl_platform_id platform, cl_uint what, const char *question, char *text, size_t size) {
  char raw[4096] = "";
  size_t given = 0;
  cl_int code = nd4c_cl.clGetPlatformInfo(platform, what, sizeof raw, raw, &given);
  (void)take_text(question, code, given, raw, sizeof raw, text, size);
}

static void device_text(cl_device_id id, cl_uint what, const char *question, char *text, size_t size) {
  char raw[4096] = "";
  size_t given = 0;
  cl_int code = nd4c_cl.clGetDeviceInfo(id, what, sizeof raw, raw, &given);
  (void)take_text(question, code, given, raw, sizeof raw, text, size);
}

/* A driver's answer for a number: its code, and its size in bytes. */
typedef struct answer {
  cl_int code;
  size_t bytes;
} answer;

/* A number of 4 or 8 bytes; false if the driver fails or gives another size. */
static bool device_number_answered(cl_device_id id, cl_uint what, uint64_t *number, answer *given) {
  unsigned char raw[64] = {0};
  *given = (answer){CL_SUCCESS, 0};
  *number = 0;
  given->code = nd4c_cl.clGetDeviceInfo(id, what, sizeof raw, raw, &given->bytes);
  if (given->code != CL_SUCCESS) {
    return false;
  }
  uint32_t narrow = 0;
  memcpy(&narrow, raw, sizeof narrow);
  memcpy(number, raw, sizeof *number);
  if (given->bytes == sizeof narrow) {
    *number = narrow;
  }
  return given->bytes == sizeof narrow || given->bytes == sizeof *number;
}

static bool device_number(cl_device_id id, cl_uint what, uint64_t *number) {
  answer given;
  return device_number_answered(id, what, number, &given);
}

/* The number, or `instead` if the driver has none or one above `most`. */
static uint64_t number_or(cl_device_id id, cl_uint what, uint64_t most, uint64_t instead) {
  uint64_t number = 0;
  return device_number(id, what, &number) && number <= most ? number : instead;
}

static bool has_word(const char *text, const char *word) {
  size_t length = strlen(word);
  for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) {
    if ((at == text || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) {
      return true;
    }
  }
  return false;
}

/* -- one device --------------------------------------------------------------------------------------------------- */

static nd4c_status refuse(const nd4c_cl_device *device, const char *what, uint64_t number, const char *expected) {
  return nd4c_cl_host->fail(ND4C_HARDWARE, "%s (%s): the driver gives %s %llu: expected %s", device->name,
                            device->model, what, (unsigned long long)number, expected);
}

/* No number, or one that is neither of 4 nor of 8 bytes. `question`: call and constant. */
static nd4c_status refuse_answer(const nd4c_cl_device *device, const char *question, const answer *given) {
  return given->code != CL_SUCCESS ? nd4c_cl_fail_opening(device, question, given->code)
                                   : nd4c_cl_host->fail(ND4C_HARDWARE, "%s (%s): %s gives %zu bytes: expected 4 or 8",
                                                        device->name, device->model, question, given->bytes);
}

static nd4c_status read_limits(nd4c_cl_device *device) {
  /* X(constant, what, least, most, expected) */
#define NUMBERS(X)                                                                                        \
  X(CL_DEVICE_MAX_COMPUTE_UNITS, "compute units", 1, UINT64_C(1) << 20, "1 to 2^20")                      \
  X(CL_DEVICE_MAX_WORK_GROUP_SIZE, "work items a group", 1, UINT64_C(1) << 20, "1 to 2^20")               \
  X(CL_DEVICE_MAX_MEM_ALLOC_SIZE, "bytes a buffer", UINT64_C(1) << 16, UINT64_C(1) << 56, "2^16 to 2^56") \
  X(CL_DEVICE_GLOBAL_MEM_SIZE, "bytes of memory", UINT64_C(1) << 16, UINT64_C(1) << 56, "2^16 to 2^56")   \
  X(CL_DEVICE_LOCAL_MEM_SIZE, "bytes of local memory", 1024, UINT64_C(1) << 40, "2^10 to 2^40")
  uint64_t numbers[5] = {0};
  int32_t at = 0;
  answer given;
#define READ(constant, what, least, most, expected)                          \
  if (!device_number_answered(device->id, constant, &numbers[at], &given)) { \
    return refuse_answer(device, "clGetDeviceInfo of " #constant, &given);   \
  }                                                                          \
  if (numbers[at] < (least) || numbers[at] > (most)) {                       \
    return refuse(device, what, numbers[at], expected);                      \
  }                                                                          \
  at++;
  NUMBERS(READ)
#undef READ
#undef NUMBERS
  device->limits.compute_units = (int32_t)numbers[0];
  device->limits.group_size = (int64_t)numbers[1];
  device->limits.buffer_bytes = (int64_t)numbers[2];
  device->memory_bytes = (int64_t)numbers[3];
  device->limits.local_bytes = (int64_t)numbers[4];
  return ND4C_OK;
}

/* Identifies the unit (UUID, PCI address), if the driver has the extensions. */
static void read_identity(nd4c_cl_device *device, const char *extensions) {
  size_t given = 0;
  device->has_uuid = has_word(extensions, "cl_khr_device_uuid") &&
                     nd4c_cl.clGetDeviceInfo(device->id, CL_DEVICE_UUID_KHR, sizeof device->uuid, device->uuid,
                                             &given) == CL_SUCCESS &&
                     given == sizeof device->uuid;
  cl_uint address[4] = {0}; /* domain, bus, device, function */
  if (has_word(extensions, "cl_khr_pci_bus_info") &&
      nd4c_cl.clGetDeviceInfo(device->id, CL_DEVICE_PCI_BUS_INFO_KHR, sizeof address, address, &given) == CL_SUCCESS &&
      given == sizeof address && address[1] <= 0xff && address[2] <= 0x1f && address[3] <= 7) {
    (void)snprintf(device->pci, sizeof device->pci, "%04x:%02x:%02x.%x", (unsigned)address[0], (unsigned)address[1],
                   (unsigned)address[2], (unsigned)address[3]);
  }
}

static nd4c_status read_extensions(nd4c_cl_device *device) {
  char *raw = nd4c_cl_host->allocate(EXTENSION_BYTES), *text = nd4c_cl_host->allocate(EXTENSION_BYTES);
  nd4c_status status = ND4C_OK;
  if (raw == NULL || text == NULL) {
    status = nd4c_cl_host->fail(ND4C_MEMORY, "%s: no memory for the list of extensions", device->name);
  } else {
    size_t given = 0;
    cl_int code = nd4c_cl.clGetDeviceInfo(device->id, CL_DEVICE_EXTENSIONS, EXTENSION_BYTES, raw, &given);
    if (take_text("clGetDeviceInfo of CL_DEVICE_EXTENSIONS", code, given, raw, EXTENSION_BYTES, text,
                  EXTENSION_BYTES)) {
      device->limits.has_fp64 = has_word(text, "cl_khr_fp64");
      device->has_priorities = has_word(text, "cl_khr_priority_hints");
      read_identity(device, text);
    }
  }
  nd4c_cl_host->free(raw);
  nd4c_cl_host->free(text);
  return status;
}

/* 12 for "OpenCL 1.2 ...", 0 for something else. */
static int version_of(const char *text) {
  int major = 0, minor = 0;
  return sscanf(text, "OpenCL %d.%d", &major, &minor) == 2 && major > 0 && major < 100 && minor >= 0 && minor < 10
             ? 10 * major + minor
             : 0;
}

/* The kind of a device. */
static nd4c_status read_type(nd4c_cl_device *device) {
  uint64_t type = 0;
  size_t given = 0;
  if (device->id == NULL) {
    return nd4c_cl_host->fail(ND4C_HARDWARE, "%s: clGetDeviceIDs gives NULL for a device", device->name);
  }
  cl_int code = nd4c_cl.clGetDeviceInfo(device->id, CL_DEVICE_TYPE, sizeof type, &type, &given);
  if (code != CL_SUCCESS) {
    return nd4c_cl_fail_opening(device, "clGetDeviceInfo of CL_DEVICE_TYPE", code);
  }
  if (given != sizeof type) {
    return nd4c_cl_host->fail(ND4C_HARDWARE, "%s: clGetDeviceInfo of CL_DEVICE_TYPE gives %zu bytes: expected %zu",
                              device->name, given, sizeof type);
  }
  device->limits.is_cpu = (type & CL_DEVICE_TYPE_CPU) != 0;
  return ND4C_OK;
}

static nd4c_status read_device(nd4c_cl_device *device) {
  cl_device_id id = device->id;
  ND4C_BACKEND_TRY(read_type(device));
#define DEVICE_TEXT(constant, field) \
  device_text(id, constant, "clGetDeviceInfo of " #constant, device->field, sizeof device->field)
#define PLATFORM_TEXT(constant, field) \
  platform_text(device->platform, constant, "clGetPlatformInfo of " #constant, device->field, sizeof device->field)
  DEVICE_TEXT(CL_DEVICE_NAME, model);
  DEVICE_TEXT(CL_DEVICE_VENDOR, vendor);
  DEVICE_TEXT(CL_DRIVER_VERSION, driver);
  DEVICE_TEXT(CL_DEVICE_VERSION, version);
  PLATFORM_TEXT(CL_PLATFORM_NAME, platform_name);
  PLATFORM_TEXT(CL_PLATFORM_VERSION, platform_version);
#undef PLATFORM_TEXT
#undef DEVICE_TEXT
  device->is_pocl = strcmp(device->platform_name, "Portable Computing Language") == 0;
  (void)snprintf(device->description, sizeof device->description, "%s, %s", device->model, device->platform_name);
  if (version_of(device->version) < 12) {
    return nd4c_cl_host->fail(ND4C_HARDWARE, "%s (%s): the driver's version is '%s': expected OpenCL 1.2 or later",
                              device->name, device->model, device->version);
  }
  (void)snprintf(device->capability, sizeof device->capability, "%d.%d", version_of(device->version) / 10,
                 version_of(device->version) % 10);
  /* X(constant, words): required features. */
#define NEEDS(X)                                     \
  X(CL_DEVICE_AVAILABLE, "is not available")         \
  X(CL_DEVICE_COMPILER_AVAILABLE, "has no compiler") \
  X(CL_DEVICE_ENDIAN_LITTLE, "is not little-endian")
  uint64_t number = 0;
  answer given;
#define CHECK(constant, words)                                                                           \
  if (!device_number_answered(id, constant, &number, &given)) {                                          \
    return refuse_answer(device, "clGetDeviceInfo of " #constant, &given);                               \
  }                                                                                                      \
  if (number == 0) {                                                                                     \
    return nd4c_cl_host->fail(ND4C_HARDWARE, "%s (%s): the device " words, device->name, device->model); \
  }
  NEEDS(CHECK)
#undef CHECK
#undef NEEDS
  nd4c_status status = read_limits(device);
  status = status == ND4C_OK ? read_extensions(device) : status;
  device->limits.has_fp64 = device->limits.has_fp64 && number_or(id, CL_DEVICE_DOUBLE_FP_CONFIG, UINT64_MAX, 0) != 0;
  device->unified_memory = number_or(id, CL_DEVICE_HOST_UNIFIED_MEMORY, UINT32_MAX, 0) != 0;
  device->exact_division =
      (number_or(id, CL_DEVICE_SINGLE_FP_CONFIG, UINT64_MAX, 0) & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
  device->can_reorder =
      (number_or(id, CL_DEVICE_QUEUE_PROPERTIES, UINT64_MAX, 0) & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
  return status;
}

/* -- all of them -------------------------------------------------------------------------------------------------- */

/* Why the devices of a platform, or of all platforms, are not listed. */
static void note(const char *call, cl_int code, cl_uint count, int most) {
  if (code != CL_SUCCESS) {
    (void)snprintf(outcome_text, sizeof outcome_text, "opencl: %s: %d %s", call, (int)code, nd4c_cl_error_name(code));
  } else {
    (void)snprintf(outcome_text, sizeof outcome_text, "opencl: %s gives %u: expected at most %d", call, (unsigned)count,
                   most);
  }
  nd4c_cl_host->log(ND4C_CL_LOG_WARNING, "opencl", "%s", outcome_text);
  noted = code == CL_OUT_OF_HOST_MEMORY || code == CL_OUT_OF_RESOURCES ? ND4C_MEMORY : noted;
}

nd4c_status nd4c_cl_device_read(nd4c_cl_device *device) {
  device->refusal = read_device(device);
  (void)snprintf(device->refused, sizeof device->refused, "%.500s",
                 device->refusal != ND4C_OK ? nd4c_cl_host->error_message() : "");
  return device->refusal;
}

static bool is_listed(cl_device_id id) {
  bool listed = false;
  for (int32_t i = 0; id != NULL && i < device_count; i++) {
    listed = listed || devices[i]->id == id;
  }
  return listed;
}

/* A refused device keeps its number, so that the numbers of the others do not change. */
static nd4c_status add_device(cl_platform_id platform, cl_device_id id) {
  if (device_count == DEVICES || is_listed(id)) {
    return ND4C_OK;
  }
  nd4c_cl_device *device = nd4c_cl_host->allocate(sizeof *device);
  if (device == NULL) {
    return nd4c_cl_host->fail(ND4C_MEMORY, "opencl: no memory for a device");
  }
  (void)snprintf(device->name, sizeof device->name, "opencl:%d", (int)device_count);
  device->platform = platform;
  device->id = id;
  (void)nd4c_cl_device_read(device);
  devices[device_count++] = device;
  return ND4C_OK;
}

/* Devices keep the platform's order, including one that fails to report its kind. */
static nd4c_status search_platform(cl_platform_id platform, cl_bitfield kinds) {
  cl_device_id ids[DEVICES] = {NULL};
  cl_uint count = 0;
  cl_int code = nd4c_cl.clGetDeviceIDs(platform, kinds, DEVICES, ids, &count);
  if (code != CL_SUCCESS || count > DEVICES) {
    if (code != CL_DEVICE_NOT_FOUND) {
      note("clGetDeviceIDs", code, count, DEVICES);
    }
    return ND4C_OK;
  }
  nd4c_status status = ND4C_OK;
  for (cl_uint d = 0; status == ND4C_OK && d < count; d++) {
    status = add_device(platform, ids[d]);
  }
  return status;
}

/* If a platform fails, the devices of the others are used; its status is the outcome only if there are none. */
static nd4c_status search(void) {
  nd4c_status status = nd4c_cl_loader_open();
  if (status != ND4C_OK) {
    (void)snprintf(outcome_text, sizeof outcome_text, "%.500s", nd4c_cl_host->error_message());
    return status;
  }
  cl_platform_id platforms[PLATFORMS] = {NULL};
  cl_uint count = 0;
  cl_int code = nd4c_cl.clGetPlatformIDs(PLATFORMS, platforms, &count);
  if (code != CL_SUCCESS || count > PLATFORMS) {
    note("clGetPlatformIDs", code, count, PLATFORMS);
    return noted;
  }
  static const cl_bitfield kinds[] = {CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_CPU};
  for (size_t k = 0; status == ND4C_OK && k < sizeof kinds / sizeof *kinds; k++) {
    for (cl_uint p = 0; status == ND4C_OK && p < count; p++) {
      if (platforms[p] == NULL) {
        (void)snprintf(outcome_text, sizeof outcome_text, "opencl: clGetPlatformIDs gives NULL for a platform");
        continue;
      }
      status = search_platform(platforms[p], kinds[k]);
    }
  }
  if (device_count == 0 && outcome_text[0] == '\0') {
    (void)snprintf(outcome_text, sizeof outcome_text,
                   "opencl: %u platforms, and no device of type GPU, ACCELERATOR or CPU", (unsigned)count);
  }
  return status == ND4C_OK && device_count == 0 ? noted : status;
}

nd4c_status nd4c_cl_platforms_open(char *reason, size_t reason_size) {
  nd4c_cl_lock(&lock);
  if (!searched) {
    outcome_text[0] = '\0';
    noted = ND4C_HARDWARE;
    outcome = search();
    searched = outcome != ND4C_MEMORY; /* memory may be freed by then */
    for (int32_t i = 0; !searched && i < device_count; i++) {
      nd4c_cl_host->free(devices[i]);
    }
    device_count = searched ? device_count : 0;
  }
  nd4c_status status = outcome;
  (void)snprintf(reason, reason_size, "%s", outcome_text);
  nd4c_cl_unlock(&lock);
  return status;
}

int32_t nd4c_cl_device_count(void) {
  return device_count;
}

nd4c_cl_device *nd4c_cl_device_at(int32_t index) {
  return index >= 0 && index < device_count ? devices[index] : NULL;
}

/* -- by request only ---------------------------------------------------------------------------------------------- */

/* Libraries whose devices are the host's processor. */
static const char *const host_drivers[] = {"pocl", "intelocl", "oclgrind"};

static bool names_host_driver(const char *text) {
  for (size_t i = 0; i < sizeof host_drivers / sizeof *host_drivers; i++) {
    if (strstr(text, host_drivers[i]) != NULL) {
      return true;
    }
  }
  return false;
}

/* An .icd file holds the name of a driver's library. */
static bool is_host_file(const char *directory, const char *name) {
  char path[768], line[512] = "";
  (void)snprintf(path, sizeof path, "%.500s/%.250s", directory, name);
  FILE *file = fopen(path, "r");
  if (file != NULL) {
    if (fgets(line, sizeof line, file) == NULL) {
      line[0] = '\0';
    }
    (void)fclose(file);
  }
  return names_host_driver(line);
}

static bool ends_with(const char *text, const char *end) {
  size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* Drivers that the loader would load, and those of the host's own processor. */
typedef struct driver_count {
  const char *directory;
  int32_t found, hosts;
} driver_count;

static bool count_driver(void *user, const char *name) {
  driver_count *drivers = user;
  if (ends_with(name, ".icd")) {
    drivers->found++;
    drivers->hosts += is_host_file(drivers->directory, name);
  }
  return true;
}

/* True if every driver that the loader would load is one of the host's own processor. */
static bool only_host_drivers(void) {
  const char *vendors = getenv("OCL_ICD_VENDORS");
  if (vendors != NULL && ends_with(vendors, ".icd")) {
    return names_host_driver(vendors);
  }
  driver_count drivers = {.directory = vendors != NULL && vendors[0] != '\0' ? vendors : "/etc/OpenCL/vendors"};
  /* A missing directory has no drivers. */
  (void)nd4c_cl_host->files->list(drivers.directory, count_driver, &drivers);
  return drivers.found > 0 && drivers.found == drivers.hosts;
}

bool nd4c_cl_host_only(char *reason, size_t reason_size) {
  nd4c_cl_lock(&lock);
  bool known = false, host = true; /* by those that can be used */
  for (int32_t i = 0; searched && i < device_count; i++) {
    known = known || devices[i]->refusal == ND4C_OK;
    host = host && (devices[i]->limits.is_cpu || devices[i]->refusal != ND4C_OK);
  }
  nd4c_cl_unlock(&lock);
  host = known ? host : only_host_drivers();
  if (host) {
    (void)snprintf(reason, reason_size,
                   "OpenCL here is the host's own processor: backend.type or a device's name asks for it");
  }
  return host;
}
