/* Fast access to configuration for code inside nd4c: base, device, dispatch, graph and import read properties with it.
 * config_table.h has nd4c's own properties. */
#ifndef ND4C_BASE_CONFIG_CONFIG_H
#define ND4C_BASE_CONFIG_CONFIG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/config/config_table.h"
#include "base/config/config_value.h"
#include "nd4c/config.h"
#include "nd4c/device.h"

/* X(KEY, property, environment variable, type, default, meaning) */
typedef enum nd4c_config_key {
#define ND4C_CONFIG_ENUM(KEY, ...) ND4C_CONFIG_##KEY,
  ND4C_CONFIG_TABLE(ND4C_CONFIG_ENUM)
#undef ND4C_CONFIG_ENUM
      ND4C_CONFIG_KEY_COUNT
} nd4c_config_key;

/* Changes whenever a property changes; every cached choice stores it. */
extern _Atomic uint32_t nd4c_config_epoch;

/* Current value, parsed. For a file: true unless it is empty or a word for false. Strings are copied into `buffer`;
 * returns its length. Not for hot paths. */
bool nd4c_config_bool(nd4c_config_key key);
int64_t nd4c_config_int(nd4c_config_key key);
/* The member of nd4j.device.memory.cap for one device; 0: no cap. */
int64_t nd4c_config_device_cap(nd4c_device_type type, int32_t index);
size_t nd4c_config_string(nd4c_config_key key, char *buffer, size_t size);
/* True if `item` stands in a list value (comma-separated, case-insensitive, spaces ignored). */
bool nd4c_config_list_has(nd4c_config_key key, const char *item);
/* Key of a property by its name or variable; -1, without a failure, if there is none. */
int nd4c_config_find(const char *name);
/* The value of a bool, an int or bytes as a number; false for other types. */
bool nd4c_config_number(int key, int64_t *number);
/* Where the current value comes from. */
nd4c_config_source nd4c_config_get_source(nd4c_config_key key);
/* CONFIG if a value in the environment was refused and the property is not set otherwise; the text names property and
 * variable, the value and what was expected. Called when a device is opened, so that a typing error is not ignored
 * silently. */
nd4c_status nd4c_config_check_environment(void);

/* -- what nd4c/config.h offers, of properties that are declared so far (device/registry/properties.h) -------------- */

int32_t nd4c_config_rows_count(void);
nd4c_status nd4c_config_rows_get(int32_t index, nd4c_config_row *row);
nd4c_status nd4c_config_text_get(const char *property, const char **text);
nd4c_status nd4c_config_text_set(const char *property, const char *text);

/* -- declarations of providers ------------------------------------------------------------------------------------- */

struct nd4c_config_definition;

/* Declares a provider's properties in two steps. nd4c_config_prepare does everything that may fail, and reads their
 * environment variables: NAME, ABI as nd4c_config_rows_check, MEMORY. The second function declares the properties,
 * unless they are declared already; values that were set for them earlier apply. It returns false if there were none to
 * declare. The caller prevents other threads from declaring between the two. */
nd4c_status nd4c_config_prepare(const char *from, struct nd4c_config_definition *declared, int32_t count);
bool nd4c_config_declare(const struct nd4c_config_definition *declared, int32_t count);
/* Logs a warning for each refused value of a declared property of the provider, or of all providers (NULL). */
void nd4c_config_tell_declared(const char *owner);
/* Whether a property is set that no provider has declared; writes the name of one. */
bool nd4c_config_waits(char *name, size_t size);

#endif
