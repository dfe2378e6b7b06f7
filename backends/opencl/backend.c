/* The OpenCL backend, registered through the same ABI as a stranger's plug-in. Kernels come from the families, engines
 * from the list, both of families.h. */
#include <stdio.h>
#include <string.h>

#include "backends/opencl/device.h"

nd4c_status nd4c_backend_opencl_entry(const nd4c_host *host, const nd4c_backend **backend);

const nd4c_host *nd4c_cl_host;

#define ENGINE_ENTRY(engine) &nd4c_cl_##engine##_engine,
static const nd4c_engine *const engines[] = {ND4C_CL_ENGINES(ENGINE_ENTRY)};
#define ENGINE_NAME(engine) #engine,
static const char *const engine_names[] = {ND4C_CL_ENGINES(ENGINE_NAME)};
enum { ENGINE_COUNT = sizeof engines / sizeof *engines };

#define FAMILY_ENTRY(family) nd4c_cl_##family##_kernels,
static const nd4c_kernel *const *const families[] = {ND4C_CL_FAMILIES(FAMILY_ENTRY)};
enum { FAMILY_COUNT = sizeof families / sizeof *families };

/* All kernels of all families in one list; made by backend_open, gone with backend_close. */
static nd4c_kernel_list list;

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
  int32_t count = nd4c_cl_device_count(), sound = 0;
  while (sound < count && nd4c_cl_device_at(sound)->refusal != ND4C_OK) {
    sound++;
  }
  if (sound == count) {
    (void)snprintf(text, text_size, "%s", device->refused);
    return false;
  }
  device = nd4c_cl_device_at(sound);
  char kept[ND4C_CL_REASON];
  nd4c_cl_cache_state(device, kept, sizeof kept);
  const char *order = nd4c_cl_host->config("nd4c.opencl.queue");
  const bool out = device->can_reorder && order != NULL && strcmp(order, "out_of_order") == 0;
  (void)snprintf(text, text_size, "the drivers offer %d device(s); %s is %s, driver %s%s%s; queues %s%s", (int)count,
                 device->name, device->description, device->driver, reason[0] != '\0' ? "; " : "", reason,
                 out ? "out of order" : "in order", kept);
  return true;
}

const nd4c_engine nd4c_cl_opencl_engine = {.name = "opencl", .state = opencl_state};

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
  status = nd4c_kernels_gather(nd4c_cl_host, "opencl", families, FAMILY_COUNT, &list);
  if (status == ND4C_OK) {
    nd4c_engines_open(engines, ENGINE_COUNT);
  }
  return status;
}

static void backend_close(void) {
  nd4c_engines_close(engines, ENGINE_COUNT);
  nd4c_kernels_drop(nd4c_cl_host, &list);
}

static bool engine_state(const char *engine, bool verify, char *text, size_t text_size) {
  return nd4c_engines_state("opencl", engines, ENGINE_COUNT, engine, verify, text, text_size);
}

static int32_t kernel_count(void) {
  return list.count;
}

static const nd4c_kernel *const *kernels(void) {
  return list.items;
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
