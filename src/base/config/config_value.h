/* Types of properties and the parser of their values, for config.c and the checks of providers' tables
 * (device/provider). */
#ifndef ND4C_BASE_CONFIG_CONFIG_VALUE_H
#define ND4C_BASE_CONFIG_CONFIG_VALUE_H

#include <stdbool.h>
#include <stdint.h>

/* X(type): named as the configuration table and nd4c_config_row name them, and numbered as plug-ins do
 * (nd4c_property_type). */
#define ND4C_CONFIG_TYPE_TABLE(X) \
  X(bool, 1)                      \
  X(int, 2)                       \
  X(bytes, 3)                     \
  X(fraction, 4)                  \
  X(string, 5)                    \
  X(list, 6)                      \
  X(directory, 7)                 \
  X(directories, 8)               \
  X(file, 9)

typedef enum nd4c_config_type {
#define ND4C_CONFIG_TYPE_ENUM(type, number) nd4c_config_type_##type = (number),
  ND4C_CONFIG_TYPE_TABLE(ND4C_CONFIG_TYPE_ENUM)
#undef ND4C_CONFIG_TYPE_ENUM
} nd4c_config_type;

/* A fraction is kept as an integer: 1 is this many. */
#define ND4C_FRACTION_ONE INT64_C(1000000000000000000)

/* The type's name ("bool"); NULL if no type has the number. */
const char *nd4c_config_type_name(nd4c_config_type type);

/* Whether the text is a value of the type. *number: 0 or 1 for a bool; the value of an int, bytes or a fraction; for a
 * file whether it is set. `words`: the only values of a string, separated by commas; NULL: any. An empty string is
 * always a value. */
bool nd4c_config_value_parse(nd4c_config_type type, const char *words, const char *text, int64_t *number);
/* What the type accepts if there are no words, as text after "expected". */
const char *nd4c_config_value_expectation(nd4c_config_type type);
/* True if `item` stands in the comma-separated list, without regard to case and to spaces around. */
bool nd4c_config_value_has(const char *list, const char *item);

#endif
