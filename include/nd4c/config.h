/* Configuration: one table of properties. A value comes from, in order: nd4c_config_set, the environment, the default.
 *
 * A value of the environment that does not parse is refused: until it is mended, or the property is set, nothing that
 * needs a device works, and the failure (ND4C_CONFIG) says why. So is a variable that begins as a family's members do
 * (ND4J_DEVICE_MEMORY_CAP_) and names no device that could be.
 *
 * The names are the reference's where it has one (backend.type, nd4j.*, SD_KERNEL_*, OV_CACHE_DIR,
 * org.bytedeco.javacpp.maxbytes, gpuMemoryCapFraction). docs/configuration.md is generated from the table. */
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
  const char *refused;  /* the environment's text if it does not parse, else NULL; `value` is then without it */
  const char *expected; /* what the property accepts: "an integer from 0 to 65536" */
  const char *family;   /* of a member, the row that stands for all of them (its name has <...>), else NULL */
} nd4c_config_row;

/* Number of rows: the table's, then members of families that have a value (nd4j.device.memory.cap.OPENCL.0). */
ND4C_API int32_t nd4c_config_count(void);

/* Fills the row at `index` (0 .. count - 1). ND4C_INDEX otherwise. */
ND4C_API nd4c_status nd4c_config_get_row(int32_t index, nd4c_config_row *row);

/* Current value of a property, given by its name or its environment variable. ND4C_NAME if there is none (the text
 * names the nearest one). *value is valid until the property is set again. */
ND4C_API nd4c_status nd4c_config_get(const char *property, const char **value);

/* Sets a property for the process; NULL returns it to environment or default. ND4C_CONFIG if the text does not parse
 * as the property's type: nothing changes. Cached kernel choices are forgotten. Any thread. */
ND4C_API nd4c_status nd4c_config_set(const char *property, const char *value);

ND4C_EXTERN_C_END
#endif
