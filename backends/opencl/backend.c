/* The OpenCL backend: its provider tables, registered through the same ABI as any plug-in. device/registry/builtins.c
 * lists its entry function. Kernels come from the families of families.h, which the build makes. */
#include <stdio.h>
#include <string.h>

#include "backends/opencl/runtime/device.h"
#include "backends/provider.h"
#include "families.h"

nd4c_status nd4c_provider_opencl_entry(const nd4c_host *host, const nd4c_provider **provider);

const nd4c_host *nd4c_cl_host;

static const nd4c_engine *const engines[] = {&nd4c_cl_clblast_engine, &nd4c_cl_opencl_engine};
#define DECLARE_FAMILY(family) extern const nd4c_kernel *const nd4c_cl_##family##_kernels[];
ND4C_FAMILIES(DECLARE_FAMILY)
#define FAMILY_ENTRY(family) nd4c_cl_##family##_kernels,
static const nd4c_kernel *const *const families[] = {ND4C_FAMILIES(FAMILY_ENTRY)};

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
  (void)snprintf(text, text_size, "the drivers offer %d device(s); %s is %s, driver %s%s%s; queues %s%s", (int)count,
                 device->name, device->description, device->driver, reason[0] != '\0' ? "; " : "", reason,
                 nd4c_cl_queues_reorder(device) ? "out of order" : "in order", kept);
  return true;
}

const nd4c_engine nd4c_cl_opencl_engine = {
    .struct_size = ND4C_SIZE_OF(nd4c_engine), .name = "opencl", .state = opencl_state};

/* -- backend --------------------------------------------------------------------------------------------- */

static nd4c_verdict probe(bool verify, char *reason, size_t reason_size) {
  bool usable =
      verify ? nd4c_cl_platforms_open(reason, reason_size) == ND4C_OK : nd4c_cl_loader_find(reason, reason_size);
  return usable ? ND4C_VERDICT_FOUND : ND4C_VERDICT_ABSENT;
}

static nd4c_status open_provider(void) {
  char reason[ND4C_CL_REASON];
  nd4c_status status = nd4c_cl_platforms_open(reason, sizeof reason);
  return status == ND4C_OK ? status : nd4c_cl_host->fail(status, "%s", reason);
}

/* -- properties ------------------------------------------------------------------------------------------ */

static const nd4c_plugin_property *const properties[] = {
    &(const nd4c_plugin_property){
        .struct_size = ND4C_SIZE_OF(nd4c_plugin_property),
        .type = ND4C_PROPERTY_STRING,
        .name = "nd4c.opencl.library",
        .environment = "ND4C_OPENCL_LIBRARY",
        .default_value = "",
        .meaning = "OpenCL's ICD loader to use: a name to search for, or a path with a '/'; empty: libOpenCL.so.1"},
    &(const nd4c_plugin_property){
        .struct_size = ND4C_SIZE_OF(nd4c_plugin_property),
        .type = ND4C_PROPERTY_STRING,
        .name = "nd4c.opencl.queue",
        .environment = "ND4C_OPENCL_QUEUE",
        .default_value = "in_order",
        .words = "in_order,out_of_order",
        .meaning =
            "Command queues of OpenCL devices: in_order, or out_of_order where the device can (its commands then "
            "depend on each other by events); read when a device is opened"},
    &(const nd4c_plugin_property){.struct_size = ND4C_SIZE_OF(nd4c_plugin_property),
                                  .type = ND4C_PROPERTY_BOOL,
                                  .name = "nd4c.opencl.profiling",
                                  .environment = "ND4C_OPENCL_PROFILING",
                                  .default_value = "false",
                                  .meaning = "All queues record for the tracer when the device worked; false: only "
                                             "queues that are made while the tracer is on"},
    &(const nd4c_plugin_property){
        .struct_size = ND4C_SIZE_OF(nd4c_plugin_property),
        .type = ND4C_PROPERTY_DIRECTORY,
        .name = "nd4c.opencl.cache",
        .environment = "ND4C_OPENCL_CACHE",
        .default_value = "",
        .meaning = "Directory, absolute, for programs that OpenCL's compilers built; empty: nd4c in $XDG_CACHE_HOME or "
                   "~/.cache; off: none"},
};

/* -- provider -------------------------------------------------------------------------------------------- */

static const nd4c_backend the_backend = {
    .struct_size = ND4C_SIZE_OF(nd4c_backend),
    .type = ND4C_DEVICE_OPENCL,
    .priority = 20,
    .device_count = nd4c_cl_device_count,
    .device = &nd4c_cl_device_ops,
    .by_request_only = nd4c_cl_host_only,
};

static const nd4c_contribution contribution = {
    .struct_size = ND4C_SIZE_OF(nd4c_contribution),
    ND4C_PROVIDER_LIST(engine_count, engines),
    ND4C_PROVIDER_LIST(family_count, families),
};
static const nd4c_contribution *const contributions[] = {&contribution};

static const nd4c_provider the_provider = {
    ND4C_PROVIDER_HEAD("opencl", ND4C_OPENCL_VERSION),
    .probe = probe,
    .open = open_provider,
    .close = nd4c_cl_clblast_close,
    .backend = &the_backend,
    ND4C_PROVIDER_LIST(contribution_count, contributions),
    ND4C_PROVIDER_LIST(property_count, properties),
};

nd4c_status nd4c_provider_opencl_entry(const nd4c_host *host, const nd4c_provider **provider) {
  nd4c_cl_host = host;
  *provider = &the_provider;
  return ND4C_OK;
}
