/* Programs: embedded sources after common.cl, built once for each device and set of options. Every launch gets its
 * kernel here (nd4c_cl_begin). */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "backends/opencl/runtime/device.h"

enum { LARGEST_LOG = 16 << 20, LOG_SHOWN = 600, NAME_BYTES = 128 };

struct nd4c_cl_program {
  nd4c_cl_program *next; /* of the bucket */
  cl_program handle;
  nd4c_cl_kernel *kernels;
  char key[]; /* source, a newline, options */
};

/* -- options ------------------------------------------------------------------------------------------------------ */

void nd4c_cl_define(nd4c_cl_options *options, const char *name, const char *format, ...) {
  size_t used = strlen(options->text), size = sizeof options->text;
  int first = snprintf(options->text + used, size - used, " -D %s=", name);
  used += first > 0 ? (size_t)first : 0;
  if (used < size) {
    va_list arguments;
    va_start(arguments, format);
    int second = vsnprintf(options->text + used, size - used, format, arguments);
    va_end(arguments);
    used += second > 0 ? (size_t)second : 0;
  }
  if (used >= size) { /* full, as nd4c_cl_kernel_get will see */
    memset(options->text, 'x', size - 1);
    options->text[size - 1] = '\0';
  }
}

const char *nd4c_cl_dtype_name(nd4c_dtype dtype) {
#define NAME_OF(NAME, name, number, ...) [number] = #name,
  static const char *const names[ND4C_DTYPE_END] = {ND4C_DTYPE_TABLE(NAME_OF)};
#undef NAME_OF
  return dtype > 0 && dtype < ND4C_DTYPE_END ? names[dtype] : "none";
}

void nd4c_cl_define_type(nd4c_cl_options *options, char operand, nd4c_dtype dtype) {
  const char name[] = {'T', 'Y', 'P', 'E', '_', operand, '\0'};
  nd4c_cl_define(options, name, "%s", nd4c_cl_dtype_name(dtype));
}

void nd4c_cl_define_if(nd4c_cl_options *options, bool holds, const char *name) {
  if (holds) {
    nd4c_cl_define(options, name, "1");
  }
}

void nd4c_cl_define_types(nd4c_cl_options *options, const char *operands, const nd4c_dtype *dtypes) {
  for (int32_t i = 0; operands[i] != '\0'; i++) {
    nd4c_cl_define_type(options, operands[i], dtypes[i]);
  }
}

/* Farthest element from the buffer's start. */
static int64_t farthest(const nd4c_tensor *tensor) {
  int64_t last = tensor->offset;
  for (int32_t axis = 0; axis < tensor->rank; axis++) {
    last +=
        tensor->strides[axis] > 0 && tensor->shape[axis] > 0 ? tensor->strides[axis] * (tensor->shape[axis] - 1) : 0;
  }
  return last;
}

void nd4c_cl_define_index(nd4c_cl_options *options, const nd4c_call *call) {
  int64_t limit = INT64_C(1) << 31;
  bool narrow = true;
  for (int32_t i = 0; i < call->input_count; i++) {
    const nd4c_tensor *x = &call->inputs[i];
    narrow = narrow && (x->dtype == ND4C_DTYPE_NONE || (farthest(x) < limit && x->size < limit));
  }
  for (int32_t i = 0; i < call->output_count; i++) {
    narrow = narrow && farthest(&call->outputs[i]) < limit && call->outputs[i].size < limit;
  }
  nd4c_cl_define(options, "INDEX", "%s", narrow ? "uint" : "ulong");
}

/* -- what devices can compute with -------------------------------------------------------------------------------- */

const nd4c_cl_limits *nd4c_cl_device_limits(const void *device) {
  return &((const nd4c_cl_device *)device)->limits;
}

bool nd4c_cl_dtype_usable(const void *handle, nd4c_dtype dtype, char *reason, size_t reason_size) {
  const nd4c_cl_device *device = handle;
  if (dtype == ND4C_FLOAT64 && !device->limits.has_fp64) {
    (void)snprintf(reason, reason_size, "%s has no float64 (cl_khr_fp64)", device->name);
    return false;
  }
  if (dtype < ND4C_BOOL || dtype > ND4C_FLOAT64) {
    (void)snprintf(reason, reason_size, "dtype %s is not computed with by OpenCL kernels", nd4c_cl_dtype_name(dtype));
    return false;
  }
  return true;
}

bool nd4c_cl_call_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  bool usable = true;
  for (int32_t i = 0; usable && i < call->input_count; i++) {
    nd4c_dtype dtype = call->inputs[i].dtype;
    usable = dtype == ND4C_DTYPE_NONE || nd4c_cl_dtype_usable(call->device, dtype, reason, reason_size);
  }
  for (int32_t i = 0; usable && i < call->output_count; i++) {
    usable = nd4c_cl_dtype_usable(call->device, call->outputs[i].dtype, reason, reason_size);
  }
  return usable;
}

bool nd4c_cl_fp64_usable(const void *device, char *reason, size_t reason_size) {
  if (!nd4c_cl_device_limits(device)->has_fp64) {
    (void)snprintf(reason, reason_size, "is computed in float64, which the device lacks (cl_khr_fp64)");
    return false;
  }
  return true;
}

/* -- source text ----------------------------------------------------------------------------------------- */

static const nd4c_cl_source *find_source(const char *name, size_t length) {
  for (const nd4c_cl_source *source = nd4c_cl_sources; source->name != NULL; source++) {
    if (strlen(source->name) == length && strncmp(source->name, name, length) == 0) {
      return source;
    }
  }
  return NULL;
}

/* Appends a source to text (NULL: only counts); false if there is none of that name. */
static bool append_source(const char *name, size_t length, char *text, size_t *size) {
  const nd4c_cl_source *source = find_source(name, length);
  if (source != NULL) {
    if (text != NULL) {
      memcpy(text + *size, source->text, source->size);
    }
    *size += source->size;
  }
  return source != NULL;
}

/* Joins common.cl and the sources of these names; declared: builtins.cl comes first. */
static bool join_sources(const char *names, bool declared, char *text, size_t *size) {
  *size = 0;
  bool found = !declared || append_source("builtins", strlen("builtins"), text, size);
  found = found && append_source("common", strlen("common"), text, size);
  while (found && *names != '\0') {
    size_t length = strcspn(names, "+");
    found = append_source(names, length, text, size);
    names += length + (names[length] == '+');
  }
  return found;
}

/* -- building -------------------------------------------------------------------------------------------- */

/* The build's log, its first lines; "" if the driver has none. */
static void read_log(nd4c_cl_device *device, cl_program program, char *shown, size_t shown_size) {
  shown[0] = '\0';
  size_t size = 0, given = 0;
  if (nd4c_cl.clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) != CL_SUCCESS ||
      size == 0 || size > LARGEST_LOG) {
    return;
  }
  char *log = nd4c_cl_host->allocate(size + 1);
  if (log != NULL &&
      nd4c_cl.clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, size, log, &given) == CL_SUCCESS) {
    log[given < size ? given : size] = '\0';
    (void)snprintf(shown, shown_size, "%s", log);
  }
  nd4c_cl_host->free(log);
}

static nd4c_status compile(nd4c_cl_device *device, const char *name, const char *text, size_t size, const char *options,
                           cl_program *out) {
  cl_int code = CL_SUCCESS;
  cl_program program = nd4c_cl.clCreateProgramWithSource(device->context, 1, &text, &size, &code);
  if (code != CL_SUCCESS || program == NULL) {
    return code != CL_SUCCESS ? nd4c_cl_fail(device, "clCreateProgramWithSource", code)
                              : nd4c_cl_fail_nothing(device, "clCreateProgramWithSource", "no program");
  }
  code = nd4c_cl.clBuildProgram(program, 1, &device->id, options, NULL, NULL);
  if (code != CL_SUCCESS) {
    char log[LOG_SHOWN];
    read_log(device, program, log, sizeof log);
    (void)nd4c_cl.clReleaseProgram(program);
    return nd4c_cl_host->fail(ND4C_DEVICE, "%s: clBuildProgram of %s.cl (%s): %d %s: %s", device->name, name, options,
                              (int)code, nd4c_cl_error_name(code), log);
  }
  *out = program;
  return ND4C_OK;
}

/* Builds the program of a key: from the disk or, if it is not there, from source, and then stores it on disk. declared:
 * with builtins.cl in place of Clang's header, which defining its guard _OPENCL_H_ keeps out. */
static nd4c_status build_text(nd4c_cl_device *device, const char *source, const char *options, bool declared,
                              cl_program *out) {
  size_t size = 0;
  if (!join_sources(source, declared, NULL, &size)) {
    return nd4c_cl_host->fail(ND4C_INTERNAL, "%s: there is no source %s.cl", device->name, source);
  }
  char *text = nd4c_cl_host->allocate(size + 1);
  if (text == NULL) {
    return nd4c_cl_host->fail(ND4C_MEMORY, "%s: no memory for the source %s.cl", device->name, source);
  }
  (void)join_sources(source, declared, text, &size);
  char all[ND4C_CL_OPTIONS];
  (void)snprintf(all, sizeof all, "%s%s%s", device->base_options, declared ? " -D _OPENCL_H_" : "", options);
  nd4c_status status = ND4C_OK;
  if (!nd4c_cl_cache_load(device, text, size, all, out)) {
    status = compile(device, source, text, size, all, out);
    if (status == ND4C_OK) {
      nd4c_cl_cache_store(device, text, size, all, *out);
    }
  }
  nd4c_cl_host->free(text);
  return status;
}

/* If a program builds with the header but not without it, builtins.cl does not fit this version of the driver: later
 * programs are built with the header at once. */
static nd4c_status build(nd4c_cl_device *device, const char *source, const char *options, cl_program *out) {
  nd4c_status status = build_text(device, source, options, device->own_declarations, out);
  if (status == ND4C_DEVICE && device->own_declarations) {
    char text[ND4C_CL_REASON];
    (void)snprintf(text, sizeof text, "%s", nd4c_cl_host->error_message());
    status = build_text(device, source, options, false, out);
    if (status == ND4C_OK) {
      device->own_declarations = false;
      nd4c_cl_host->log(ND4C_CL_LOG_WARNING, "opencl", "%s; programs are built with Clang's header, which takes longer",
                        text);
    }
  }
  return status;
}

/* -- the process's cache --------------------------------------------------------------------------------- */

static uint32_t hash_text(const char *text) {
  uint32_t hash = 2166136261U;
  for (; *text != '\0'; text++) {
    hash = (hash ^ (unsigned char)*text) * 16777619U;
  }
  return hash;
}

/* Under the program lock, like all below. */
static nd4c_status find_program(nd4c_cl_device *device, const char *source, const char *options,
                                nd4c_cl_program **out) {
  char key[sizeof((nd4c_cl_options *)0)->text + NAME_BYTES];
  int length = snprintf(key, sizeof key, "%s\n%s", source, options);
  if (length < 0 || (size_t)length >= sizeof key) {
    return nd4c_cl_host->fail(ND4C_INTERNAL, "%s: the source's name %s is too long", device->name, source);
  }
  nd4c_cl_program **bucket = &device->programs[hash_text(key) % ND4C_CL_PROGRAM_BUCKETS];
  for (nd4c_cl_program *program = *bucket; program != NULL; program = program->next) {
    if (strcmp(program->key, key) == 0) {
      *out = program;
      return ND4C_OK;
    }
  }
  nd4c_cl_program *program = nd4c_cl_host->allocate(sizeof *program + (size_t)length + 1);
  if (program == NULL) {
    return nd4c_cl_host->fail(ND4C_MEMORY, "%s: no memory for a program's record", device->name);
  }
  memcpy(program->key, key, (size_t)length + 1);
  nd4c_status status = build(device, source, options, &program->handle);
  if (status != ND4C_OK) {
    nd4c_cl_host->free(program);
    return status;
  }
  program->next = *bucket;
  *bucket = program;
  *out = program;
  return ND4C_OK;
}

static nd4c_status make_kernel(nd4c_cl_device *device, nd4c_cl_program *program, const char *function,
                               nd4c_cl_kernel **out) {
  size_t length = strlen(function);
  nd4c_cl_kernel *kernel = nd4c_cl_host->allocate(sizeof *kernel + length + 1);
  if (kernel == NULL) {
    return nd4c_cl_host->fail(ND4C_MEMORY, "%s: no memory for the record of kernel %s", device->name, function);
  }
  cl_int code = CL_SUCCESS;
  cl_kernel handle = nd4c_cl.clCreateKernel(program->handle, function, &code);
  if (code != CL_SUCCESS || handle == NULL) {
    nd4c_cl_host->free(kernel);
    char call[NAME_BYTES];
    (void)snprintf(call, sizeof call, "clCreateKernel of %.80s", function);
    return code != CL_SUCCESS ? nd4c_cl_fail(device, call, code) : nd4c_cl_fail_nothing(device, call, "no kernel");
  }
  size_t group = 0;
  code = nd4c_cl.clGetKernelWorkGroupInfo(handle, device->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof group, &group, NULL);
  if (code != CL_SUCCESS || group == 0 || group > (size_t)device->limits.group_size) {
    group = code == CL_SUCCESS && group > 0 ? (size_t)device->limits.group_size : 1;
  }
  memcpy(kernel->function, function, length + 1);
  kernel->device = device;
  kernel->handle = handle;
  kernel->group_size = (int64_t)group;
  kernel->next = program->kernels;
  program->kernels = kernel;
  *out = kernel;
  return ND4C_OK;
}

nd4c_status nd4c_cl_kernel_get(void *handle, const char *source, const char *function, const nd4c_cl_options *options,
                               nd4c_cl_kernel **kernel) {
  nd4c_cl_device *device = handle;
  const char *given = options != NULL ? options->text : "";
  if (strlen(given) >= sizeof options->text - 1) {
    return nd4c_cl_host->fail(ND4C_INTERNAL, "%s: the options of %s.cl are too long", device->name, source);
  }
  nd4c_cl_lock(&device->program_lock);
  nd4c_cl_program *program = NULL;
  nd4c_status status = find_program(device, source, given, &program);
  nd4c_cl_kernel *found = status == ND4C_OK ? program->kernels : NULL;
  while (found != NULL && strcmp(found->function, function) != 0) {
    found = found->next;
  }
  if (status == ND4C_OK && found == NULL) {
    status = make_kernel(device, program, function, &found);
  }
  nd4c_cl_unlock(&device->program_lock);
  *kernel = found;
  return status;
}

nd4c_status nd4c_cl_begin(nd4c_cl_launch *launch, const nd4c_call *call, const char *source, const char *function,
                          const nd4c_cl_options *options) {
  launch->call = call;
  launch->count = 0;
  launch->used = 0;
  launch->overflow = false;
  return nd4c_cl_kernel_get(call->device, source, function, options, &launch->kernel);
}

int64_t nd4c_cl_kernel_fit(const nd4c_cl_kernel *kernel, int64_t group) {
  while (group > 1 && group > kernel->group_size) {
    group /= 2;
  }
  return group;
}

static void free_program(nd4c_cl_program *program) {
  while (program->kernels != NULL) {
    nd4c_cl_kernel *kernel = program->kernels;
    program->kernels = kernel->next;
    (void)nd4c_cl.clReleaseKernel(kernel->handle);
    nd4c_cl_host->threads->lock_destroy(&kernel->lock);
    nd4c_cl_host->free(kernel);
  }
  (void)nd4c_cl.clReleaseProgram(program->handle);
  nd4c_cl_host->free(program);
}

void nd4c_cl_programs_close(nd4c_cl_device *device) {
  for (int32_t b = 0; b < ND4C_CL_PROGRAM_BUCKETS; b++) {
    while (device->programs[b] != NULL) {
      nd4c_cl_program *program = device->programs[b];
      device->programs[b] = program->next;
      free_program(program);
    }
  }
}
