/* What a plug-in brings: a backend with devices of its own, contributions to the devices of a backend (its own or
 * another one's), ops, or several of them. The entry function gives one nd4c_provider, which nd4c copies; everything
 * that it points to is static for the life of the process. */
#ifndef ND4C_PLUGIN_PROVIDER_H
#define ND4C_PLUGIN_PROVIDER_H

#include "nd4c/plugin/collective.h"
#include "nd4c/plugin/compiler.h"
#include "nd4c/plugin/device.h"
#include "nd4c/plugin/kernel.h"
#include "nd4c/plugin/op.h"
#include "nd4c/plugin/property.h"

ND4C_EXTERN_C_BEGIN


/* A library or a set of kernels by which people choose (SD_KERNEL_FORCE_ENGINE) and read reports. Kernels and compilers
 * name their engine. */
typedef struct nd4c_engine {
  uint32_t struct_size;
  const char *name; /* required: letters, digits, '_', '-', '.'; at most ND4C_PLUGIN_NAME_SIZE - 1 bytes */
  /* Writes the state for people: version and file, or why the engine cannot be used. Returns whether it can be. verify
   * false: looks for files at most, opens nothing; true: opens the engine's library if it has one. Optional; NULL: the
   * engine is always there. May block while a library is opened. */
  bool (*state)(bool verify, char *text, size_t text_size);
} nd4c_engine;

/* Engines, kernels and compilers for the devices of one backend. */
typedef struct nd4c_contribution {
  uint32_t struct_size;
  /* Name of the backend whose devices compute with it ("cpu"). NULL: the provider's own. A backend that is not here
   * makes the contribution idle, which is no failure. */
  const char *backend;
  /* Orders contributions to one backend: from the highest down their engines are listed, and kernels and compilers of
   * equal priority are asked. */
  int32_t priority;
  const void *data; /* for the functions below */
  /* Whether anything of it can be used here; writes why not. Called after the provider's open, before its kernels and
   * compilers are read, once for each time that the backend's tables are made. May block. Optional; NULL: always. */
  bool (*usable)(const void *data, char *reason, size_t reason_size);
  int32_t engine_count;
  const nd4c_engine *const *engines;
  /* Lists of kernels, each of which ends in NULL. A kernel that cannot be accepted (no op of its name and version, no
   * run, an engine that the contribution does not list) is left out, and nd4c_backend_status says which and why. */
  int32_t family_count;
  const nd4c_kernel *const *const *families;
  int32_t compiler_count;
  const nd4c_compiler *const *compilers;
} nd4c_contribution;

/* Devices of one type. */
typedef struct nd4c_backend {
  uint32_t struct_size;
  nd4c_device_type type; /* of all its devices */
  int32_t priority;      /* among backends that may become the default */
  /* How many devices there are; asked once, after open. Required. At most ND4C_PLUGIN_DEVICE_LIMIT. May block. */
  int32_t (*device_count)(void);
  const nd4c_device_ops *device; /* required */
  /* True, with the reason, if the backend must be asked for by name and never becomes the default by its priority: its
   * devices are the host's own processor, say. As cheap as probe without verify before open; exact after it. Does not
   * block. Optional; NULL: false. */
  bool (*by_request_only)(char *reason, size_t reason_size);
  const nd4c_collective_ops *collective; /* NULL: it has none */
  /* Targets: devices that are not here, for which the provider's compilers compile ahead of time. Asked where the
   * verdict is COMPILE_ONLY alone: then nd4c calls the provider's open, these two, and of compilers partition, compile,
   * fingerprint, serialise and release, with the target in the place of the device, on segments whose constants have
   * data that the host reads; and nothing else. Both or neither; NULL: it has none. May block.
   *
   * target_open describes target `index` of 0 .. target_count() - 1, as nd4c_device_ops.describe would the device: its
   * type, and what it would be there. The target is never NULL, and valid for the life of the process. */
  int32_t (*target_count)(void);
  nd4c_status (*target_open)(int32_t index, nd4c_device_description *description, void **target);
} nd4c_backend;

enum {
  ND4C_PLUGIN_NAME_SIZE = 20,      /* of a provider's or an engine's name, with its end: "name:123" is a device's */
  ND4C_PLUGIN_DEVICE_LIMIT = 256,  /* devices of one backend */
  ND4C_PLUGIN_TABLE_LIMIT = 65536, /* entries of any table that a plug-in gives */
};

typedef struct nd4c_provider {
  uint32_t struct_size;
  uint16_t abi_major, abi_minor; /* ND4C_PLUGIN_ABI_MAJOR, _MINOR of the header that the plug-in was compiled with */
  const char *name; /* required: "cuda"; letters, digits, '_', '-', '.'; shorter than ND4C_PLUGIN_NAME_SIZE */
  const char *version;           /* optional */
  /* Looks whether the provider could run, and writes the verdict's reason. verify false: looks only for files, opens
   * nothing, and is done in a millisecond; true: may block. Optional; NULL: found. */
  nd4c_verdict (*probe)(bool verify, char *reason, size_t reason_size);
  /* Initialises the provider. Called once, before any function of its backend and contributions but engines' state and
   * by_request_only; called again only after a failure that may pass (MEMORY, DEVICE_LOST). Optional. May block. */
  nd4c_status (*open)(void);
  /* Called after an open that succeeded, if the provider cannot be used all the same. Optional. May block. */
  void (*close)(void);
  const nd4c_backend *backend; /* NULL: contributions or ops alone */
  int32_t contribution_count;
  const nd4c_contribution *const *contributions;
  /* Ops of its own. One that cannot be accepted, or whose name another plug-in has taken, refuses the provider. */
  int32_t op_count;
  const nd4c_plugin_op *const *ops;
  /* Configuration properties of its own; at most ND4C_PLUGIN_PROPERTY_LIMIT. One that cannot be accepted refuses the
   * provider. Optional. They are declared after the entry function, which reads none of them, and before anything else
   * is called. */
  int32_t property_count;
  const nd4c_plugin_property *const *properties;
} nd4c_provider;

ND4C_EXTERN_C_END
#endif
