/* Configuration: properties of nd4c, and those that its providers declare (nd4c/plugin/property.h). A value comes from,
 * in order: nd4c_config_set, the environment, the default.
 *
 * A value of the environment that does not parse is refused: every call that needs a device then fails with CONFIG, and
 * the text says why, until the variable is corrected or the property is set. A variable that begins like the members of
 * a family (ND4J_DEVICE_MEMORY_CAP_) but names no possible device is refused too.
 *
 * Properties that ND4J also has keep its names (backend.type, nd4j.*, SD_KERNEL_*, OV_CACHE_DIR,
 * org.bytedeco.javacpp.maxbytes, gpuMemoryCapFraction). docs/reference/configuration.md is generated from the
 * properties of nd4c and of its built-in providers. */
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

/* One property with its current value. Strings are owned by nd4c; `value` is valid until the property is set again. */
typedef struct nd4c_config_row {
  uint32_t struct_size; /* set by the caller: sizeof(nd4c_config_row) */
  const char *property;
  const char *environment; /* environment variable read at first use */
  const char *type; /* "bool", "int", "bytes", "fraction", "string", "list", "directory", "directories" or "file" */
  const char *default_value;
  const char *meaning;
  const char *value;
  nd4c_config_source source;
  const char *refused;  /* a text that did not parse and therefore is not in `value`: it came from the environment, or
                           was set before the property was declared; else NULL */
  const char *expected; /* what the property accepts: "an integer from 0 to 65536" */
  const char *family;   /* if the row is a member of a family: the family's name, such as
                           "nd4j.device.memory.cap.<TYPE>.<INDEX>"; else NULL */
  const char *provider; /* the provider that declared the property; "": none has yet; NULL: nd4c itself */
} nd4c_config_row;

/* Number of rows: nd4c's own properties, those of built-in providers and loaded plug-ins, members of families that have
 * a value (nd4j.device.memory.cap.OPENCL.0), then properties that were set before a provider declared them. Loading a
 * plug-in adds rows. */
ND4C_API int32_t nd4c_config_count(void);

/* Fills *row with the row at `index` (0 .. count - 1). ND4C_INDEX otherwise. */
ND4C_API nd4c_status nd4c_config_get_row(int32_t index, nd4c_config_row *row);

/* Current value of a property, given by its name or its environment variable. NAME if there is no such property (the
 * text suggests the nearest name). *value is valid until the property is set again. */
ND4C_API nd4c_status nd4c_config_get(const char *property, const char **value);

/* Sets a property for the process; NULL resets the property to the environment's value or the default. CONFIG if the
 * text does not parse as the property's type; NAME if there is no such property. A failure changes nothing. Success
 * discards cached kernel choices. Any thread.
 *
 * A plug-in that is not loaded yet may declare nd4c.acme.speed. A name of that form (nd4c.PROVIDER.NAME in lower case)
 * is accepted if no known property has the prefix "nd4c.PROVIDER." and no known name differs from it by at most two
 * typing errors. The log warns, the row is listed with provider "", and the value is kept for the plug-in (at most 64
 * such values). When the plug-in is loaded, its property takes the value. A value that does not parse is then refused,
 * as one from the environment is. With nd4c.strict no device opens while such a value is kept. */
ND4C_API nd4c_status nd4c_config_set(const char *property, const char *value);

ND4C_EXTERN_C_END
#endif
