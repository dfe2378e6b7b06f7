/* The list of properties: the table's rows, members of its family, and rows that providers declare. Each has a key:
 * first those of the table (nd4c_config_key), then those of members, then those of declared rows in the order of their
 * declaration. config.c calls it; device/provider and device/registry use its row type to declare properties. */
#ifndef ND4C_BASE_CONFIG_CONFIG_ROWS_H
#define ND4C_BASE_CONFIG_CONFIG_ROWS_H

#include "base/config/config.h"
#include "base/config/config_family.h"
#include "base/config/config_value.h"

enum {
  ND4C_DECLARED_LIMIT = 256, /* properties that all providers may declare together */
  ND4C_MEMBER_BEGIN = ND4C_CONFIG_KEY_COUNT,
  ND4C_DECLARED_BEGIN = ND4C_MEMBER_BEGIN + ND4C_FAMILY_MEMBERS,
  ND4C_KEY_LIMIT = ND4C_DECLARED_BEGIN + ND4C_DECLARED_LIMIT
};

/* Strings live as long as the library is loaded. */
typedef struct nd4c_config_definition {
  const char *property, *environment;
  nd4c_config_type type;
  const char *preset, *meaning;
  const char *words;            /* the only values of a string; NULL: any */
  const char *expected;         /* "one of " and the words; NULL: the type's text */
  const char *owner;            /* the provider that declared it; NULL: nd4c itself */
  const char *environment_text; /* of a declared row, as nd4c_config_prepare found it; NULL: none */
} nd4c_config_definition;

/* The row of a key below nd4c_config_rows_end; for a member the family's row. Takes no lock. */
const nd4c_config_definition *nd4c_config_row_of(int key);
/* One past the last declared key; below it every key has a row. */
int nd4c_config_rows_end(void);
enum { ND4C_PROPERTY_NAME_SIZE = 64 }; /* of a property's name or variable, including the NUL */

/* Key of a row by its name or variable, without the family's members; -1 if there is none. Takes no lock. */
int nd4c_config_rows_find(const char *name);
/* The property name or variable with the fewest edits to `name`, and their number: SIZE_MAX for a name that is too long
 * to be near. */
const char *nd4c_config_rows_nearest(const char *name, size_t *edits);
/* Whether no known provider, including nd4c, has properties with the prefix of `name` ("nd4c.acme.speed"), so that a
 * provider that is loaded later may declare it. */
bool nd4c_config_rows_may_come(const char *name);

/* Checks whether the rows can be declared: NAME if a name or variable belongs to another owner, or the same owner
 * declared it differently; ABI if there are too many in total. The caller serialises calls of this and the next
 * function. `from`: the plug-in's path, for texts. */
nd4c_status nd4c_config_rows_check(const char *from, const nd4c_config_definition *declared, int32_t count);
/* Adds checked rows that are not declared yet. */
void nd4c_config_rows_add(const nd4c_config_definition *declared, int32_t count);

#endif
