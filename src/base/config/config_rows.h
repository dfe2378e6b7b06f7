/* What properties there are: the table's rows, members of its family, and rows that providers declare. Each has a key:
 * the table's come first (nd4c_config_key), then members, then declared ones in the order of their declaration. */
#ifndef ND4C_BASE_CONFIG_ROWS_H
#define ND4C_BASE_CONFIG_ROWS_H

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
  const char *words;            /* of a string that accepts only these; NULL: any */
  const char *expected;         /* "one of " and the words; NULL: as the type says */
  const char *owner;            /* provider that declared it; NULL: nd4c itself */
  const char *environment_text; /* of a declared one, as nd4c_config_prepare found it; NULL: none */
} nd4c_config_definition;

/* The row that tells what a key below nd4c_config_rows_end is; of a member the family's. Takes no lock. */
const nd4c_config_definition *nd4c_config_row_of(int key);
/* One past the last declared key; below it every key has a row. */
int nd4c_config_rows_end(void);
enum { ND4C_PROPERTY_NAME_SIZE = 64 }; /* of a property's name or variable, with its end */

/* The key of a row, no member, by its name or variable; -1 if there is none. Takes no lock. */
int nd4c_config_rows_find(const char *name);
/* The name, or the variable, that takes the fewest edits to become `name`, and how many: SIZE_MAX for a name that is
 * too long to be near. */
const char *nd4c_config_rows_nearest(const char *name, size_t *edits);
/* Whether no provider that is known, nd4c included, has properties that begin as `name` does ("nd4c.acme.speed"), so
 * that one which is loaded later may declare it. */
bool nd4c_config_rows_may_come(const char *name);

/* Whether the rows can be declared: NAME if one bears the name or variable of another owner's, or was declared
 * otherwise by the same owner; ABI if there are too many in all. Callers of both functions are serialised by
 * themselves. `from`: of the plug-in, for texts. */
nd4c_status nd4c_config_rows_check(const char *from, const nd4c_config_definition *declared, int32_t count);
/* Adds rows that were checked and are not there yet. */
void nd4c_config_rows_add(const nd4c_config_definition *declared, int32_t count);

#endif
