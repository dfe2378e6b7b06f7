/* The stub backend as nd4c sees it: the exported entry function and the backend table. */
#include <stdio.h>
#include <string.h>

#include "stub.h"

STUB_EXPORT nd4c_status nd4c_plugin_entry(const nd4c_host *host, const nd4c_backend **backend);

const nd4c_host *stub_host;

static nd4c_backend table;
static nd4c_device_ops cut_device_ops;
static const char *const engines[] = {"stub_compiler", "stub"};

static bool lies(const char *about) {
  return strcmp(stub_settings.lie, about) == 0;
}

static nd4c_verdict probe(bool verify, char *reason, size_t reason_size) {
  (void)verify;
  if (stub_fails(STUB_CALL_probe)) {
    (void)snprintf(reason, reason_size, "stub: probe was told to fail");
    return ND4C_VERDICT_ABSENT;
  }
  (void)snprintf(reason, reason_size, "a stub needs nothing");
  return lies("compile_only") ? ND4C_VERDICT_COMPILE_ONLY : ND4C_VERDICT_FOUND;
}

static nd4c_status open_backend(void) {
  return stub_attempt(STUB_CALL_open);
}

static void close_backend(void) {}

static int32_t device_count(void) {
  return stub_fails(STUB_CALL_device_count) ? 0 : stub_settings.devices;
}

static bool engine_state(const char *engine, bool verify, char *text, size_t text_size) {
  (void)verify;
  bool offered = strcmp(engine, "stub") == 0 ? stub_settings.kernels : stub_settings.compiler;
  bool told = stub_fails(STUB_CALL_engine_state);
  (void)snprintf(text, text_size, "%s", told ? "told to fail" : offered ? "ready" : "switched off by STUB_MODE");
  return offered && !told;
}

/* What a broken plug-in would say; STUB_LIE names the lie. */
static void lie(void) {
  if (lies("major")) {
    table.abi_major++;
  } else if (lies("minor")) {
    table.abi_minor++;
  } else if (lies("short_struct")) {
    table.struct_size = offsetof(nd4c_backend, device);
  } else if (lies("tiny_struct")) {
    table.struct_size = 4;
  } else if (lies("no_name")) {
    table.name = NULL;
  } else if (lies("no_device")) {
    table.device = NULL;
  } else if (lies("short_device")) {
    cut_device_ops = stub_device_ops;
    cut_device_ops.struct_size = offsetof(nd4c_device_ops, copy_from_host);
    table.device = &cut_device_ops;
  } else if (lies("old_device")) {
    cut_device_ops = stub_device_ops;
    cut_device_ops.struct_size = offsetof(nd4c_device_ops, memory_available); /* as of ABI 1.0: accepted */
    table.device = &cut_device_ops;
  } else if (lies("no_fences")) {
    cut_device_ops = stub_device_ops;
    cut_device_ops.fence_record = NULL;
    table.device = &cut_device_ops;
  } else if (lies("long_struct")) {
    table.struct_size += 64; /* a newer header: its tail is to be ignored */
  }
}

nd4c_status nd4c_plugin_entry(const nd4c_host *host, const nd4c_backend **backend) {
  if (host == NULL || host->struct_size < offsetof(nd4c_host, cpu_level)) {
    return ND4C_ABI;
  }
  stub_host = host;
  stub_options_read();
  nd4c_status status = stub_attempt(STUB_CALL_entry);
  if (status != ND4C_OK) {
    return status;
  }
  table = (nd4c_backend){
      .struct_size = ND4C_SIZE_OF(nd4c_backend),
      .abi_major = ND4C_PLUGIN_ABI_MAJOR,
      .abi_minor = ND4C_PLUGIN_ABI_MINOR,
      .name = stub_settings.name,
      .version = "1.0",
      .type = stub_settings_type(),
      .priority = stub_settings.priority,
      .probe = probe,
      .open = open_backend,
      .close = close_backend,
      .device_count = device_count,
      .device = &stub_device_ops,
      .engine_count = 2,
      .engines = engines,
      .engine_state = engine_state,
      .kernel_count = stub_kernel_count,
      .kernels = stub_kernels,
      .compiler = stub_settings.compiler ? &stub_compiler : NULL,
  };
  lie();
  *backend = lies("null_backend") ? NULL : &table;
  return ND4C_OK;
}
