/* The entry function and the tables of the stub backend, a plug-in of the tests (stub.h). The registry loads it by
 * ND4C_BACKEND_PLUGINS. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "stub.h"

ND4C_PLUGIN_EXPORT nd4c_status nd4c_plugin_entry(const nd4c_host *host, const nd4c_provider **provider);

const nd4c_host *stub_host;

static nd4c_provider table;
static nd4c_backend backend_table;
static nd4c_contribution contribution_table;
static const nd4c_contribution *contributions[] = {&contribution_table};
static nd4c_device_ops device_table, cut_device_ops;
static nd4c_buffer_ops cut_buffer_ops;
static nd4c_capture_ops cut_capture_ops;
static nd4c_external_ops cut_external_ops;
static nd4c_timing_ops cut_timing_ops;
static nd4c_collective_ops cut_collective_ops;
static const nd4c_engine *const no_engines[2];

static bool lies(const char *about) {
  return strcmp(stub_settings.lie, about) == 0;
}

static bool compile_only(void) {
  return strcmp(stub_settings.verdict, "compile-only") == 0;
}

static nd4c_verdict probe(bool verify, char *reason, size_t reason_size) {
  (void)verify;
  if (stub_fails(STUB_CALL_probe)) {
    (void)snprintf(reason, reason_size, "stub: probe was told to fail");
    return ND4C_VERDICT_ABSENT;
  }
  const bool compiles = compile_only();
  (void)snprintf(reason, reason_size, "%s", compiles ? "no stub is plugged in" : "a stub needs nothing");
  return lies("verdict") ? (nd4c_verdict)77 : compiles ? ND4C_VERDICT_COMPILE_ONLY : ND4C_VERDICT_FOUND;
}

/* -- properties ---------------------------------------------------------------------------------------------------- */

/* Named after the provider, which the environment names. */
static char delay_name[ND4C_PLUGIN_PROPERTY_SIZE], delay_variable[ND4C_PLUGIN_PROPERTY_SIZE];
static nd4c_plugin_property delay_property;
static const nd4c_plugin_property *const properties[] = {&delay_property};

static void make_properties(void) {
  (void)snprintf(delay_name, sizeof delay_name, "nd4c.%s.delay", stub_settings.name);
  (void)snprintf(delay_variable, sizeof delay_variable, "ND4C_%s_DELAY", stub_settings.name);
  for (char *letter = delay_name + strlen("nd4c."); *letter != '\0'; letter++) {
    *letter = (char)tolower((unsigned char)*letter);
  }
  for (char *letter = delay_variable; *letter != '\0'; letter++) {
    *letter = *letter == '-' || *letter == '.' ? '_' : (char)toupper((unsigned char)*letter);
  }
  delay_property = (nd4c_plugin_property){
      .struct_size = ND4C_SIZE_OF(nd4c_plugin_property),
      .type = lies("property") ? (nd4c_property_type)4711 : ND4C_PROPERTY_INT,
      .name = lies("property_name") ? "backend.type" : delay_name,
      .environment = delay_variable,
      .default_value = "0",
      .meaning =
          "Microseconds by which each task of the stub is late; 0: what STUB_DELAY_US says; read when it is opened"};
}

/* -- the backend --------------------------------------------------------------------------------------------------- */

static nd4c_status open_backend(void) {
  int64_t delay = 0;
  if (!stub_host->config_number(delay_name, &delay)) {
    return stub_violation("a property that was declared cannot be read in open");
  }
  if (delay > 0) {
    stub_delay_set(delay);
  }
  return stub_attempt(STUB_CALL_open);
}

static int32_t device_count(void) {
  return stub_fails(STUB_CALL_device_count) ? 0
         : lies("device_count")             ? INT32_MAX
         : lies("no_count")                 ? -1
                                            : stub_settings.devices;
}

static int32_t target_count(void) {
  return lies("target_count") ? -1 : stub_settings.devices;
}

static bool kernels_state(bool verify, char *text, size_t text_size) {
  (void)verify;
  bool told = stub_fails(STUB_CALL_engine_state);
  (void)snprintf(text, text_size, "%s",
                 told                    ? "told to fail"
                 : stub_settings.kernels ? "ready"
                                         : "switched off by STUB_MODE");
  return stub_settings.kernels && !told;
}

static bool compiler_state(bool verify, char *text, size_t text_size) {
  (void)verify;
  bool told = stub_fails(STUB_CALL_engine_state);
  (void)snprintf(text, text_size, "%s",
                 told                     ? "told to fail"
                 : stub_settings.compiler ? "ready"
                                          : "switched off by STUB_MODE");
  return stub_settings.compiler && !told;
}

static const nd4c_engine compiler_engine = {
    .struct_size = ND4C_SIZE_OF(nd4c_engine), .name = "stub_compiler", .state = compiler_state};
static const nd4c_engine kernels_engine = {
    .struct_size = ND4C_SIZE_OF(nd4c_engine), .name = "stub", .state = kernels_state};
static const nd4c_engine *const engines[] = {&compiler_engine, &kernels_engine};
static nd4c_engine cut_engine;
static const nd4c_engine *const cut_engines[] = {&compiler_engine, &cut_engine};
static const nd4c_compiler *const compilers[] = {&stub_compiler};
static const nd4c_kernel *const *families[1];

/* Tables of broken plug-ins; STUB_LIE selects one. */
static void lie(void) {
  if (lies("major")) {
    table.abi_major++;
  } else if (lies("abi_1")) {
    table.abi_major = 1;
  } else if (lies("minor")) {
    table.abi_minor++;
  } else if (lies("short_struct")) {
    table.struct_size = offsetof(nd4c_provider, contributions);
  } else if (lies("tiny_struct")) {
    table.struct_size = 4;
  } else if (lies("odd_name")) {
    table.name = "stub:1\nx";
  } else if (lies("long_name")) {
    table.name = "a_name_of_twenty_four_by";
  } else if (lies("type")) {
    backend_table.type = (nd4c_device_type)4711;
  } else if (lies("engines")) {
    contribution_table.engines = NULL;
  } else if (lies("engine_count")) {
    contribution_table.engine_count = -1;
  } else if (lies("null_engine")) {
    contribution_table.engines = no_engines;
  } else if (lies("families")) {
    contribution_table.families = NULL;
  } else if (lies("null_family")) {
    families[0] = NULL;
  } else if (lies("compilers")) {
    contribution_table.compiler_count = 1;
    contribution_table.compilers = NULL;
  } else if (lies("contributions")) {
    table.contributions = NULL;
  } else if (lies("contribution_count")) {
    table.contribution_count = INT32_MAX;
  } else if (lies("properties")) {
    table.properties = NULL;
  } else if (lies("property_count")) {
    table.property_count = ND4C_PLUGIN_PROPERTY_LIMIT + 1;
  } else if (lies("nothing")) {
    table.backend = NULL;
    table.contribution_count = 0;
  } else if (lies("nowhere")) {
    table.backend = NULL; /* its contribution names no backend either */
  } else if (lies("no_name")) {
    table.name = NULL;
  } else if (lies("no_device")) {
    backend_table.device = NULL;
  } else if (lies("short_backend")) {
    backend_table.struct_size = offsetof(nd4c_backend, device);
  } else if (lies("short_contribution")) {
    contribution_table.struct_size = offsetof(nd4c_contribution, compilers);
  } else if (lies("short_engine")) {
    cut_engine = kernels_engine;
    cut_engine.struct_size = offsetof(nd4c_engine, state);
    contribution_table.engines = cut_engines;
  } else if (lies("short_device")) {
    cut_device_ops = device_table;
    cut_device_ops.struct_size = offsetof(nd4c_device_ops, copy_from_host);
    backend_table.device = &cut_device_ops;
  } else if (lies("old_device")) {
    cut_device_ops = device_table;
    cut_device_ops.struct_size = offsetof(nd4c_device_ops, memory_available); /* without what is optional: accepted */
    backend_table.device = &cut_device_ops;
  } else if (lies("old_buffers")) {
    cut_buffer_ops = *device_table.buffers;
    cut_buffer_ops.struct_size = offsetof(nd4c_buffer_ops, free_on); /* without what is optional: accepted */
    device_table.buffers = &cut_buffer_ops;
  } else if (lies("zero_buffers") || lies("no_address")) {
    cut_buffer_ops = *device_table.buffers;
    cut_buffer_ops.struct_size = lies("no_address") ? cut_buffer_ops.struct_size : 0;
    cut_buffer_ops.address = NULL; /* though its devices have memory kinds */
    device_table.buffers = &cut_buffer_ops;
  } else if (lies("zero_capture")) {
    cut_capture_ops = stub_capture_ops;
    cut_capture_ops.struct_size = 0;
    device_table.capture = &cut_capture_ops;
  } else if (lies("no_fences")) {
    cut_device_ops = device_table;
    cut_device_ops.fence_record = NULL;
    backend_table.device = &cut_device_ops;
  } else if (lies("short_capture")) {
    cut_capture_ops = stub_capture_ops;
    cut_capture_ops.launch = NULL;
    device_table.capture = &cut_capture_ops;
  } else if (lies("no_external")) {
    device_table.external = NULL; /* though its devices say what they import */
  } else if (lies("short_external")) {
    cut_external_ops = stub_external_ops;
    cut_external_ops.struct_size = offsetof(nd4c_external_ops, host_register);
    device_table.external = &cut_external_ops;
  } else if (lies("no_unregister")) {
    cut_external_ops = stub_external_ops;
    cut_external_ops.host_unregister = NULL;
    device_table.external = &cut_external_ops;
  } else if (lies("zero_timing")) {
    cut_timing_ops = stub_timing_ops;
    cut_timing_ops.struct_size = 0;
    device_table.timing = &cut_timing_ops;
  } else if (lies("short_timing")) {
    cut_timing_ops = stub_timing_ops;
    cut_timing_ops.read = NULL;
    device_table.timing = &cut_timing_ops;
  } else if (lies("short_collective")) {
    cut_collective_ops = stub_collective_ops;
    cut_collective_ops.struct_size = offsetof(nd4c_collective_ops, broadcast);
    backend_table.collective = &cut_collective_ops;
  } else if (lies("old_capture")) {
    cut_capture_ops = stub_capture_ops;
    cut_capture_ops.update = NULL; /* without what is optional: accepted */
    device_table.capture = &cut_capture_ops;
  } else if (lies("long_struct")) {
    table.struct_size += 64; /* a newer header: nd4c must ignore its tail */
  }
}

/* Failures of a backend that sets no text. */
static nd4c_status fail_in_silence(nd4c_status code, const char *format, ...) {
  (void)format;
  return code;
}

static const nd4c_host *silence(const nd4c_host *host) {
  static nd4c_host silent;
  memcpy(&silent, host, host->struct_size < sizeof silent ? host->struct_size : sizeof silent);
  silent.fail = fail_in_silence;
  return &silent;
}

nd4c_status nd4c_plugin_entry(const nd4c_host *host, const nd4c_provider **provider) {
  if (host == NULL || host->struct_size < offsetof(nd4c_host, cpu_level)) {
    return ND4C_ABI;
  }
  stub_host = host;
  stub_options_read();
  stub_host = lies("silent") ? silence(host) : host;
  nd4c_status status = stub_attempt(STUB_CALL_entry);
  if (status != ND4C_OK) {
    return status;
  }
  device_table = stub_device_ops;
  device_table.capture = strcmp(stub_settings.capture, "none") != 0 ? &stub_capture_ops : NULL;
  backend_table = (nd4c_backend){
      .struct_size = ND4C_SIZE_OF(nd4c_backend),
      .type = stub_settings_type(),
      .priority = stub_settings.priority,
      .device_count = device_count,
      .device = &device_table,
      .collective = &stub_collective_ops,
      .target_count = lies("no_targets") ? NULL : target_count,
      .target_open = lies("no_targets") ? NULL : stub_target_open,
  };
  families[0] = stub_kernels();
  contribution_table = (nd4c_contribution){
      .struct_size = ND4C_SIZE_OF(nd4c_contribution),
      .engine_count = sizeof engines / sizeof engines[0],
      .engines = engines,
      .family_count = 1,
      .families = families,
      .compiler_count = stub_settings.compiler ? 1 : 0,
      .compilers = compilers,
  };
  table = (nd4c_provider){
      .struct_size = ND4C_SIZE_OF(nd4c_provider),
      .abi_major = ND4C_PLUGIN_ABI_MAJOR,
      .abi_minor = ND4C_PLUGIN_ABI_MINOR,
      .name = stub_settings.name,
      .version = "1.0",
      .probe = probe,
      .open = open_backend,
      .backend = &backend_table,
      .contribution_count = 1,
      .contributions = contributions,
      .property_count = 1,
      .properties = properties,
  };
  make_properties();
  lie();
  *provider = lies("null_provider") ? NULL : &table;
  return ND4C_OK;
}
