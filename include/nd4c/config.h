/* Configuration: properties of nd4c, and those that its providers declare (nd4c/plugin/property.h). A value comes from,
 * in order: nd4c_config_set, the environment, the default.
 *
 * A value of the environment that does not parse is refused: until it is mended, or the property is set, nothing that
 * needs a device works, and the failure (ND4C_CONFIG) says why. So is a variable that begins as a family's members do
 * (ND4J_DEVICE_MEMORY_CAP_) and names no device that could be.
 *
 * The names are the reference's where it has one (backend.type, nd4j.*, SD_KERNEL_*, OV_CACHE_DIR,
 * org.bytedeco.javacpp.maxbytes, gpuMemoryCapFraction). configuration.md is generated from the properties of nd4c and
 * of its built-in providers. */
#ifndef ND4C_CONFIG_H
#define ND4C_CONFIG_H

#include <stdint.h>

#include "nd4c/export.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

typedef enum nd4c_config_source {
  ND4C_CONFIG_DEFAULT = 0,
  ND4C_CONFIG_ENVIRONMENT = 1,
  ND4C_CONFIG_SET = 2
} nd4c_config_source;

/* One row with its current value. Strings are owned by nd4c; `value` is valid until the property is set again. */
typedef struct nd4c_config_row {
  uint32_t struct_size; /* set by the caller: sizeof(nd4c_config_row) */
  const char *property;
  const char *environment; /* environment variable read at first use */
  const char *type; /* "bool", "int", "bytes", "fraction", "string", "list", "directory", "directories" or "file" */
  const char *default_value;
  const char *meaning;
  const char *value;
  nd4c_config_source source;
  const char *refused;  /* the environment's text, or one that was set before the property was declared, if it does not
                           parse, else NULL; `value` is then without it */
  const char *expected; /* what the property accepts: "an integer from 0 to 65536" */
  const char *family;   /* of a member, the row that stands for all of them (its name has <...>), else NULL */
  const char *provider; /* name of the provider that declared the property; "": none has yet; NULL: it is nd4c's own */
} nd4c_config_row;

/* Number of rows: nd4c's own properties, those of built-in providers and of plug-ins that were loaded, members of
 * families that have a value (nd4j.device.memory.cap.OPENCL.0), then properties that are set before a provider declares
 * them. A plug-in that is loaded adds rows. */
ND4C_API int32_t nd4c_config_count(void);

/* Fills the row at `index` (0 .. count - 1). ND4C_INDEX otherwise. */
ND4C_API nd4c_status nd4c_config_get_row(int32_t index, nd4c_config_row *row);

/* Current value of a property, given by its name or its environment variable. ND4C_NAME if there is none (the text
 * names the nearest one). *value is valid until the property is set again. */
ND4C_API nd4c_status nd4c_config_get(const char *property, const char **value);

/* Sets a property for the process; NULL returns it to environment or default. ND4C_CONFIG if the text does not parse
 * as the property's type, ND4C_NAME if there is no such property: nothing changes. Cached kernel choices are forgotten.
 * Any thread.
 *
 * A plug-in that is not loaded yet may declare nd4c.acme.speed. A name of that form (nd4c.PROVIDER.NAME in lower case)
 * is accepted if nothing that is known begins with nd4c.PROVIDER., and if no known name lies within two typing errors:
 * the log warns, the row is listed with provider "", and the value waits (64 of them at most). When the plug-in is
 * loaded, the value becomes the property's. One that does not parse is then refused as one of the environment is. With
 * nd4c.strict no device opens while a value waits. */
ND4C_API nd4c_status nd4c_config_set(const char *property, const char *value);

ND4C_EXTERN_C_END
#endif
