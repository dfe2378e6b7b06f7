/* What a plug-in brings: a backend with devices, contributions to the devices of a backend (its own or another
 * provider's), ops, or several of these. The entry function gives one nd4c_provider, which nd4c copies; everything that
 * it points to is static for the life of the process. */
#ifndef ND4C_PLUGIN_PROVIDER_H
#define ND4C_PLUGIN_PROVIDER_H

#include "nd4c/plugin/collective.h"
#include "nd4c/plugin/compiler.h"
#include "nd4c/plugin/device.h"
#include "nd4c/plugin/kernel.h"
#include "nd4c/plugin/op.h"
#include "nd4c/plugin/property.h"

ND4C_EXTERN_C_BEGIN

/* A library or a set of kernels, under the name by which users select it (SD_KERNEL_FORCE_ENGINE) and see it in
 * reports. Kernels and compilers name their engine. */
typedef struct nd4c_engine {
  uint32_t struct_size;
  const char *name; /* required: letters, digits, '_', '-', '.'; at most ND4C_PLUGIN_NAME_SIZE - 1 bytes */
  /* Returns whether the engine can be used. Writes version and file, or the reason why it cannot, as text for users.
   * verify false: looks for files at most, and opens nothing; true: opens the engine's library if it has one. Optional;
   * NULL: the engine is always usable. May block while a library is opened. */
  bool (*state)(bool verify, char *text, size_t text_size);
} nd4c_engine;

/* Engines, kernels and compilers for the devices of one backend. */
typedef struct nd4c_contribution {
  uint32_t struct_size;
  /* Name of the backend whose devices use it ("cpu"). NULL: the provider's own backend. If nd4c does not have that
   * backend, the contribution is unused, which is not a failure. */
  const char *backend;
  /* Orders the contributions to one backend, the highest first: their engines are listed in this order, and kernels and
   * compilers of equal priority are asked in this order. */
  int32_t priority;
  const void *data; /* argument of the function below */
  /* Returns whether any part of the contribution can be used on this machine; if not, writes the reason. nd4c calls it
   * once each time it builds the backend's tables, after the provider's open and before it reads kernels and compilers.
   * May block. Optional; NULL: always. */
  bool (*usable)(const void *data, char *reason, size_t reason_size);
  int32_t engine_count;
  const nd4c_engine *const *engines;
  /* Lists of kernels, each terminated by NULL. nd4c skips an invalid kernel (an unknown op or version, no `run`, an
   * engine that the contribution does not list), and nd4c_backend_status.left_out names it with the reason. */
  int32_t family_count;
  const nd4c_kernel *const *const *families;
  int32_t compiler_count;
  const nd4c_compiler *const *compilers;
} nd4c_contribution;

/* Devices of one type. */
typedef struct nd4c_backend {
  uint32_t struct_size;
  nd4c_device_type type; /* of all its devices */
  int32_t priority;      /* decides which backend becomes the default */
  /* Number of devices, at most ND4C_PLUGIN_DEVICE_LIMIT; nd4c asks once, after open. Required. May block. */
  int32_t (*device_count)(void);
  const nd4c_device_ops *device; /* required */
  /* Returns true, and writes the reason, if the backend must never become the default by its priority: for example,
   * because its devices are the host's own processor. Programs then have to ask for it by name. Before open it may
   * guess, as cheaply as probe without verify; after open it is exact. Does not block. Optional; NULL: false. */
  bool (*by_request_only)(char *reason, size_t reason_size);
  const nd4c_collective_ops *collective; /* NULL: it has none */
  /* Targets: devices that this machine lacks, for which the provider's compilers compile ahead of time. Used only if
   * the verdict is COMPILE_ONLY. nd4c then calls nothing but the provider's open, these two functions, and the
   * compilers' partition, compile, fingerprint, serialise and release, with the target in place of the device.
   * Constants of the segments have data that the host can read. A backend has both functions or neither; NULL: no
   * targets. Both may block.
   *
   * target_open opens target `index`, 0 .. target_count() - 1, and describes it as nd4c_device_ops.describe would
   * describe the device. The target is never NULL, and valid for the life of the process. */
  int32_t (*target_count)(void);
  nd4c_status (*target_open)(int32_t index, nd4c_device_description *description, void **target);
} nd4c_backend;

enum {
  ND4C_PLUGIN_NAME_SIZE = 20,      /* of a provider's or an engine's name, including its NUL */
  ND4C_PLUGIN_DEVICE_LIMIT = 256,  /* devices of one backend */
  ND4C_PLUGIN_TABLE_LIMIT = 65536, /* entries of any table of a plug-in */
};

typedef struct nd4c_provider {
  uint32_t struct_size;
  uint16_t abi_major, abi_minor; /* ND4C_PLUGIN_ABI_MAJOR and _MINOR of the header that the plug-in was compiled with */
  const char *name;    /* required: "cuda"; letters, digits, '_', '-', '.'; shorter than ND4C_PLUGIN_NAME_SIZE */
  const char *version; /* optional */
  /* Returns whether the provider could run, and writes the reason. verify false: looks only for files, opens nothing,
   * and takes at most a millisecond; true: may block. Optional; NULL: found. */
  nd4c_verdict (*probe)(bool verify, char *reason, size_t reason_size);
  /* Initialises the provider. nd4c calls it once, before any function of its backend and contributions except
   * nd4c_engine.state and by_request_only, and again only after a failure that may be temporary (MEMORY, DEVICE_LOST).
   * Optional. May block. */
  nd4c_status (*open)(void);
  /* Undoes a successful open, if the provider turns out to be unusable. Optional. May block. */
  void (*close)(void);
  const nd4c_backend *backend; /* NULL: the provider has only contributions or ops */
  int32_t contribution_count;
  const nd4c_contribution *const *contributions;
  /* Ops that the provider defines. nd4c refuses the provider if an op is invalid or another plug-in has taken its
   * name. */
  int32_t op_count;
  const nd4c_plugin_op *const *ops;
  /* Configuration properties that the provider declares, at most ND4C_PLUGIN_PROPERTY_LIMIT. nd4c refuses the provider
   * if one is invalid. Optional. nd4c registers them after the entry function, which cannot read them, and before it
   * calls any other function. */
  int32_t property_count;
  const nd4c_plugin_property *const *properties;
} nd4c_provider;

ND4C_EXTERN_C_END
#endif
