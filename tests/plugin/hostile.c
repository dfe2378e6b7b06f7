/* A plug-in whose texts are not UTF-8 and whose numbers are not sizes: a backend that cannot be used, and kernels for
 * cpu:0. HOSTILE_LIE selects a further fault, HOSTILE_END a function that ends the process. It includes only
 * nd4c/plugin.h of nd4c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nd4c/plugin.h"

ND4C_PLUGIN_EXPORT nd4c_status nd4c_plugin_entry(const nd4c_host *host, const nd4c_provider **provider);

static const nd4c_host *the_host;

/* A byte that begins no character, a control, a quote, an end of a line, half a character. */
#define ODD "odd \xff \x1b[31m \"quoted\"\nsecond line \xc3"

static bool lies(const char *about) {
  const char *lie = getenv("HOSTILE_LIE");
  return lie != NULL && strcmp(lie, about) == 0;
}

/* Ends the process if HOSTILE_END names the function: like a failed assertion of a driver, or by exit. */
static void end_process(const char *function) {
  const char *end = getenv("HOSTILE_END");
  if (end != NULL && strcmp(end, function) == 0) {
    if (getenv("HOSTILE_EXIT") != NULL) {
      _Exit(atoi(getenv("HOSTILE_EXIT")));
    }
    abort();
  }
}

/* Fills the whole buffer, without a terminating zero. */
static void fill(char *text, size_t size) {
  static const char odd[] = ODD;
  for (size_t i = 0; i < size; i++) {
    text[i] = odd[i % (sizeof odd - 1)];
  }
}

/* -- the backend -------------------------------------------------------------------------------------------------- */

static nd4c_verdict probe(bool verify, char *reason, size_t reason_size) {
  (void)verify;
  end_process("probe");
  fill(reason, reason_size);
  return lies("absent") ? ND4C_VERDICT_ABSENT : ND4C_VERDICT_FOUND;
}

static bool by_request_only(char *reason, size_t reason_size) {
  end_process("by_request_only");
  fill(reason, reason_size);
  return true;
}

static int32_t device_count(void) {
  return 2;
}

static nd4c_status device_open(int32_t index, void **device) {
  static char devices[2];
  end_process("device_open");
  if (lies("device")) {
    *device = &devices[index];
    return ND4C_OK;
  }
  return the_host->fail(ND4C_HARDWARE, "%s", ODD);
}

static nd4c_status describe(void *device, nd4c_device_description *description) {
  (void)device;
  description->type = ND4C_DEVICE_OTHER;
  description->description = ODD;
  description->alignment = getenv("HOSTILE_ALIGNMENT") != NULL ? strtoll(getenv("HOSTILE_ALIGNMENT"), NULL, 10) : 64;
  return ND4C_OK;
}

static nd4c_status allocate(void *device, const nd4c_buffer_descriptor *descriptor, nd4c_buffer *buffer) {
  (void)device;
  void *memory = calloc(1, (size_t)descriptor->bytes);
  memcpy(buffer, &memory, sizeof memory);
  return ND4C_OK;
}

static char *memory_of(nd4c_buffer buffer) {
  char *memory;
  memcpy(&memory, &buffer, sizeof memory);
  return memory;
}

static void release(void *device, nd4c_buffer buffer) {
  (void)device;
  free(memory_of(buffer));
}

static nd4c_status copy_from_host(void *device, nd4c_stream stream, nd4c_buffer to, int64_t offset, const void *from,
                                  int64_t bytes) {
  (void)device;
  (void)stream;
  memcpy(memory_of(to) + offset, from, (size_t)bytes);
  return ND4C_OK;
}

static nd4c_status copy_to_host(void *device, nd4c_stream stream, void *to, nd4c_buffer from, int64_t offset,
                                int64_t bytes) {
  (void)device;
  (void)stream;
  memcpy(to, memory_of(from) + offset, (size_t)bytes);
  return ND4C_OK;
}

static const nd4c_buffer_ops buffers = {
    .struct_size = ND4C_SIZE_OF(nd4c_buffer_ops), .allocate = allocate, .free = release};
static const nd4c_device_ops device_ops = {.struct_size = ND4C_SIZE_OF(nd4c_device_ops),
                                           .device_open = device_open,
                                           .describe = describe,
                                           .buffers = &buffers,
                                           .copy_from_host = copy_from_host,
                                           .copy_to_host = copy_to_host};
static const nd4c_backend backend = {.struct_size = ND4C_SIZE_OF(nd4c_backend),
                                     .type = ND4C_DEVICE_OTHER,
                                     .priority = 1,
                                     .device = &device_ops,
                                     .device_count = device_count,
                                     .by_request_only = by_request_only};

/* -- kernels ------------------------------------------------------------------------------------------------------ */

static bool declines(const nd4c_call *call, char *reason, size_t reason_size) {
  (void)call;
  fill(reason, reason_size);
  return false;
}

static int64_t scratch_bytes(const nd4c_call *call) {
  (void)call;
  const char *bytes = getenv("HOSTILE_SCRATCH");
  return bytes != NULL ? strtoll(bytes, NULL, 10) : 0;
}

static nd4c_status run(const nd4c_call *call) {
  (void)call;
  return the_host->fail(ND4C_DEVICE, "%s", ODD);
}

#define KERNEL(op_name, kernel_name, priority_number, usable_function, scratch_function) \
  {.struct_size = ND4C_SIZE_OF(nd4c_kernel),                                             \
   .op_version = 1,                                                                      \
   .op = (op_name),                                                                      \
   .engine = "hostile",                                                                  \
   .name = (kernel_name),                                                                \
   .priority = (priority_number),                                                        \
   .dtypes = ND4C_DTYPE_BIT(ND4C_FLOAT32),                                               \
   .usable = (usable_function),                                                          \
   .scratch_bytes = (scratch_function),                                                  \
   .run = run}
static const nd4c_kernel add = KERNEL("add", "hostile.add", 2000, declines, NULL),
                         multiply = KERNEL("multiply", "hostile.multiply", 2000, NULL, scratch_bytes),
                         subtract = KERNEL("subtract", "hostile.subtract", 2000, NULL, NULL),
                         odd_op = KERNEL(ODD, "hostile.odd", 2000, NULL, NULL),
                         odd_name = KERNEL("add", ODD, 2000, NULL, NULL), no_name = KERNEL("add", "", 2000, NULL, NULL);
static const nd4c_kernel *const useful[] = {&add, &multiply, &subtract, &odd_op, &odd_name, &no_name, NULL};
static const nd4c_kernel *const useless[] = {&odd_op, &odd_name, &no_name, NULL};
static const nd4c_kernel *const *const useful_families[] = {useful};
static const nd4c_kernel *const *const useless_families[] = {useless};

static bool state(bool verify, char *text, size_t size) {
  if (verify) {
    end_process("state");
  }
  fill(text, size);
  return true;
}

static const nd4c_engine engine = {.struct_size = ND4C_SIZE_OF(nd4c_engine), .name = "hostile", .state = state};
static const nd4c_engine *const engines[] = {&engine};

static bool usable(const void *data, char *reason, size_t reason_size) {
  (void)data;
  end_process("usable");
  fill(reason, reason_size);
  return !lies("contribution");
}

static const nd4c_contribution to_cpu = {.struct_size = ND4C_SIZE_OF(nd4c_contribution),
                                         .backend = "cpu",
                                         .priority = 2000,
                                         .usable = usable,
                                         .engine_count = 1,
                                         .engines = engines,
                                         .family_count = 1,
                                         .families = useful_families},
                               own = {.struct_size = ND4C_SIZE_OF(nd4c_contribution),
                                      .engine_count = 1,
                                      .engines = engines,
                                      .family_count = 1,
                                      .families = useless_families};
static const nd4c_contribution *const contributions[] = {&to_cpu, &own};

static nd4c_status open_provider(void) {
  end_process("open");
  the_host->log(4711, ODD, "%s", ODD);
  the_host->log(-1, NULL, "%s", ODD);
  return lies("open") ? the_host->fail(ND4C_LIBRARY, "%s", ODD) : ND4C_OK;
}

static const nd4c_provider provider = {.struct_size = ND4C_SIZE_OF(nd4c_provider),
                                       .abi_major = ND4C_PLUGIN_ABI_MAJOR,
                                       .abi_minor = ND4C_PLUGIN_ABI_MINOR,
                                       .name = "hostile",
                                       .version = ODD,
                                       .probe = probe,
                                       .open = open_provider,
                                       .backend = &backend,
                                       .contribution_count = 2,
                                       .contributions = contributions};

nd4c_status nd4c_plugin_entry(const nd4c_host *host, const nd4c_provider **out) {
  the_host = host;
  end_process("nd4c_plugin_entry");
  if (lies("entry")) {
    return host->fail(ND4C_LIBRARY, "%s", ODD);
  }
  if (lies("library")) {
    void *library = NULL;
    return host->library_open("", &library);
  }
  if (lies("odd library")) {
    void *library = NULL;
    return host->library_open("/nosuch/" ODD ".so", &library);
  }
  *out = &provider;
  return ND4C_OK;
}
