/* Types of properties: what text is a value of each. */
#ifndef ND4C_BASE_CONFIG_VALUE_H
#define ND4C_BASE_CONFIG_VALUE_H

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

/* "bool"; NULL for a number that is no type's. */
const char *nd4c_config_type_name(nd4c_config_type type);

/* Whether the text is a value of the type, and its number: of a bool 0 or 1, of an int, bytes, a fraction, of a file
 * whether it is one. `words`: the only values of a string, separated by commas; NULL: any. An empty string is a value
 * in either case. */
bool nd4c_config_value_parse(nd4c_config_type type, const char *words, const char *text, int64_t *number);
/* What the type accepts where there are no words, to stand behind "expected". */
const char *nd4c_config_value_expectation(nd4c_config_type type);
/* True if `item` stands in the comma-separated list, without regard to case and to spaces around. */
bool nd4c_config_value_has(const char *list, const char *item);

#endif
