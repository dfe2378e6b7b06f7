/* Fast access to configuration for code inside nd4c. The table is config_table.h. */
#ifndef ND4C_BASE_CONFIG_H
#define ND4C_BASE_CONFIG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/config_table.h"
#include "nd4c/config.h"
#include "nd4c/device.h"

/* X(KEY, property, environment variable, type, default, meaning) */
typedef enum nd4c_config_key {
#define ND4C_CONFIG_ENUM(KEY, ...) ND4C_CONFIG_##KEY,
  ND4C_CONFIG_TABLE(ND4C_CONFIG_ENUM)
#undef ND4C_CONFIG_ENUM
      ND4C_CONFIG_KEY_COUNT
} nd4c_config_key;

/* Changes whenever a property does: part of every cached choice. */
extern _Atomic uint32_t nd4c_config_epoch;

/* A fraction is kept as an integer: 1 is this many. */
#define ND4C_FRACTION_ONE INT64_C(1000000000000000000)

/* Current value, parsed. A file's is true unless it is empty or a word for no. Strings are copied into `buffer`;
 * returns its length. Not for hot paths. */
bool nd4c_config_bool(nd4c_config_key key);
int64_t nd4c_config_int(nd4c_config_key key);
/* The member of nd4j.device.memory.cap for one device; 0: no cap. */
int64_t nd4c_config_device_cap(nd4c_device_type type, int32_t index);
size_t nd4c_config_string(nd4c_config_key key, char *buffer, size_t size);
/* True if `item` stands in a list value (comma-separated, case-insensitive, spaces ignored). */
bool nd4c_config_list_has(nd4c_config_key key, const char *item);
/* A property by its name or variable; -1, and no failure, if there is none. */
int nd4c_config_find(const char *name);
/* The number of a bool, an int or bytes; false for other types. */
bool nd4c_config_number(int key, int64_t *number);
/* Where the current value comes from. */
nd4c_config_source nd4c_config_get_source(nd4c_config_key key);
/* CONFIG if a value in the environment was refused and the property is not set otherwise; the text names property and
 * variable, the value and what was expected. Asked where a device is opened, so that a typing error is not ignored
 * silently. */
nd4c_status nd4c_config_check_environment(void);

#endif
