/* What a plug-in brings: the backend with its devices, engines, kernels and compiler. */
#ifndef ND4C_PLUGIN_PROVIDER_H
#define ND4C_PLUGIN_PROVIDER_H

#include "nd4c/plugin/compiler.h"
#include "nd4c/plugin/device.h"
#include "nd4c/plugin/kernel.h"

ND4C_EXTERN_C_BEGIN

/* Reserved for collectives between processes; absent in ABI 1.0. */
struct nd4c_collective_ops;

/* A backend. Filled by the entry function; static for the life of the process. */
typedef struct nd4c_backend {
  uint32_t struct_size;
  uint16_t abi_major, abi_minor; /* ND4C_PLUGIN_ABI_MAJOR, _MINOR */
  const char *name;              /* "cuda" */
  const char *version;
  nd4c_device_type type;
  int32_t priority;
  /* Looks whether the backend could run. verify false: look only for files, open nothing, be done in a millisecond.
   * Writes the verdict's reason. NULL: found. */
  nd4c_verdict (*probe)(bool verify, char *reason, size_t reason_size);
  /* Initialises the backend; called once, before any function below. */
  nd4c_status (*open)(void);
  void (*close)(void);
  int32_t (*device_count)(void);
  const nd4c_device_ops *device;
  int32_t engine_count;
  const char *const *engines; /* in order of preference; "reference" last */
  /* State of an engine for people; verify: opens its library if it has one. Returns false if it cannot be used. */
  bool (*engine_state)(const char *engine, bool verify, char *text, size_t text_size);
  /* Kernels, valid after open. */
  int32_t (*kernel_count)(void);
  const nd4c_kernel *const *(*kernels)(void);
  /* NULL if the backend has no compiler. Valid after open. */
  const nd4c_compiler *compiler;
  /* Reserved, NULL. */
  const struct nd4c_collective_ops *collective;
  /* Since ABI 1.1. True, with the reason, if the backend must be asked for by name and never becomes the default by its
   * priority: its devices are the host's own processor, say. As cheap as probe without verify before open; exact after
   * it. NULL: false. */
  bool (*by_request_only)(char *reason, size_t reason_size);
} nd4c_backend;

ND4C_EXTERN_C_END
#endif
