/* The OpenCL backend, registered through the same ABI as a stranger's plug-in. Kernels come from the families, engines
 * from the list, both of families.h. */
#include <stdio.h>
#include <string.h>

#include "backends/opencl/device.h"

nd4c_status nd4c_backend_opencl_entry(const nd4c_host *host, const nd4c_backend **backend);

const nd4c_host *nd4c_cl_host;

#define ENGINE_ENTRY(engine) &nd4c_cl_##engine##_engine,
static const nd4c_cl_engine *const engines[] = {ND4C_CL_ENGINES(ENGINE_ENTRY)};
#define ENGINE_NAME(engine) #engine,
static const char *const engine_names[] = {ND4C_CL_ENGINES(ENGINE_NAME)};
enum { ENGINE_COUNT = sizeof engines / sizeof *engines };

#define FAMILY_ENTRY(family) nd4c_cl_##family##_kernels,
static const nd4c_kernel *const *const families[] = {ND4C_CL_FAMILIES(FAMILY_ENTRY)};
enum { FAMILY_COUNT = sizeof families / sizeof *families };

/* All kernels of all families in one list; made by backend_open, gone with backend_close. */
static const nd4c_kernel **kernel_list;
static int32_t kernel_total;

/* -- engine opencl: our own kernels ---------------------------------------------------------------------- */

static bool opencl_state(bool verify, char *text, size_t text_size) {
  if (!verify) {
    return nd4c_cl_loader_find(text, text_size);
  }
  char reason[ND4C_CL_REASON];
  if (nd4c_cl_platforms_open(reason, sizeof reason) != ND4C_OK) {
    (void)snprintf(text, text_size, "%s", reason);
    return false;
  }
  const nd4c_cl_device *device = nd4c_cl_device_at(0);
  (void)snprintf(text, text_size, "%d device(s); opencl:0 is %s, driver %s", (int)nd4c_cl_device_count(),
                 device->description, device->driver);
  return true;
}

const nd4c_cl_engine nd4c_cl_opencl_engine = {.name = "opencl", .state = opencl_state};

/* -- backend --------------------------------------------------------------------------------------------- */

static nd4c_verdict probe(bool verify, char *reason, size_t reason_size) {
  bool usable =
      verify ? nd4c_cl_platforms_open(reason, reason_size) == ND4C_OK : nd4c_cl_loader_find(reason, reason_size);
  return usable ? ND4C_VERDICT_FOUND : ND4C_VERDICT_ABSENT;
}

static nd4c_status backend_open(void) {
  char reason[ND4C_CL_REASON];
  nd4c_status status = nd4c_cl_platforms_open(reason, sizeof reason);
  if (status != ND4C_OK) {
    return nd4c_cl_host->fail(status, "%s", reason);
  }
  int32_t count = 0;
  for (int32_t f = 0; f < FAMILY_COUNT; f++) {
    for (const nd4c_kernel *const *kernel = families[f]; *kernel != NULL; kernel++) {
      count++;
    }
  }
  kernel_total = 0;
  kernel_list = nd4c_cl_host->allocate((size_t)count * sizeof *kernel_list);
  if (kernel_list == NULL) {
    return nd4c_cl_host->fail(ND4C_MEMORY, "opencl: no memory for the list of %d kernels", (int)count);
  }
  for (int32_t f = 0; f < FAMILY_COUNT; f++) {
    for (const nd4c_kernel *const *kernel = families[f]; *kernel != NULL; kernel++) {
      kernel_list[kernel_total++] = *kernel;
    }
  }
  return ND4C_OK;
}

static void backend_close(void) {
  for (int32_t e = ENGINE_COUNT - 1; e >= 0; e--) {
    if (engines[e]->close != NULL) {
      engines[e]->close();
    }
  }
  nd4c_cl_host->free(kernel_list);
  kernel_list = NULL;
  kernel_total = 0;
}

static bool engine_state(const char *engine, bool verify, char *text, size_t text_size) {
  for (int32_t e = 0; e < ENGINE_COUNT; e++) {
    if (strcmp(engines[e]->name, engine) == 0) {
      return engines[e]->state(verify, text, text_size);
    }
  }
  (void)snprintf(text, text_size, "backend opencl has no engine %s", engine);
  return false;
}

static int32_t kernel_count(void) {
  return kernel_total;
}

static const nd4c_kernel *const *kernels(void) {
  return kernel_list;
}

static const nd4c_backend the_backend = {
    .struct_size = ND4C_SIZE_OF(nd4c_backend),
    .abi_major = ND4C_PLUGIN_ABI_MAJOR,
    .abi_minor = ND4C_PLUGIN_ABI_MINOR,
    .name = "opencl",
    .version = ND4C_OPENCL_VERSION,
    .type = ND4C_DEVICE_OPENCL,
    .priority = 20,
    .probe = probe,
    .open = backend_open,
    .close = backend_close,
    .device_count = nd4c_cl_device_count,
    .device = &nd4c_cl_device_ops,
    .engine_count = ENGINE_COUNT,
    .engines = engine_names,
    .engine_state = engine_state,
    .kernel_count = kernel_count,
    .kernels = kernels,
    .by_request_only = nd4c_cl_host_only,
};

nd4c_status nd4c_backend_opencl_entry(const nd4c_host *host, const nd4c_backend **backend) {
  nd4c_cl_host = host;
  *backend = &the_backend;
  return ND4C_OK;
}
