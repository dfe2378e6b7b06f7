/* Configuration properties that a provider declares (nd4c_provider.properties). When nd4c has accepted the provider,
 * programs list, set and read them like nd4c's own (nd4c/config.h, host->config). */
#ifndef ND4C_PLUGIN_PROPERTY_H
#define ND4C_PLUGIN_PROPERTY_H

#include <stdint.h>

#include "nd4c/export.h"

ND4C_EXTERN_C_BEGIN

/* The type of a property: which texts are valid, and what host->config_number returns for them. nd4c refuses a provider
 * that uses any other number. */
typedef enum nd4c_property_type {
  ND4C_PROPERTY_BOOL = 1,        /* true, yes, on, 1; false, no, off, 0 */
  ND4C_PROPERTY_INT = 2,         /* 0 to 65536 */
  ND4C_PROPERTY_BYTES = 3,       /* a number, with k, m, g or t for powers of 1024 */
  ND4C_PROPERTY_FRACTION = 4,    /* 0 to 1, with a decimal point; host->config reads it, host->config_number does not */
  ND4C_PROPERTY_STRING = 5,      /* any text, or one of `words` */
  ND4C_PROPERTY_LIST = 6,        /* texts, separated by commas */
  ND4C_PROPERTY_DIRECTORY = 7,   /* an absolute path, "off", or empty */
  ND4C_PROPERTY_DIRECTORIES = 8, /* absolute paths, separated by commas */
  ND4C_PROPERTY_FILE = 9         /* a path that contains a '/', one of the texts of BOOL, or empty */
} nd4c_property_type;

enum {
  ND4C_PLUGIN_PROPERTY_LIMIT = 64, /* properties of one provider */
  ND4C_PLUGIN_PROPERTY_SIZE = 64   /* of a name or variable, including its NUL */
};

/* One property; all texts are static. The provider's name is the prefix: for the provider "acme-2", names begin with
 * "nd4c.acme-2." and continue with lower-case letters, digits, '_', '-' and '.'; variables begin with "ND4C_ACME_2_"
 * and continue with capitals, digits and '_'. nd4c refuses a provider with an invalid property. */
typedef struct nd4c_plugin_property {
  uint32_t struct_size;
  nd4c_property_type type;
  const char *name;          /* required: "nd4c.acme.speed" */
  const char *environment;   /* required: the variable, which nd4c reads once, when it accepts the provider:
                                "ND4C_ACME_SPEED" */
  const char *default_value; /* required: a value of the type, at most 500 bytes */
  /* For a STRING: the only values besides the empty one, in lower case, separated by commas, at most 250 bytes. Case
   * does not matter in a value; nd4c returns it in lower case. NULL: any text. */
  const char *words;
  const char *meaning; /* required: a description for users, one line of at most 500 bytes */
} nd4c_plugin_property;

ND4C_EXTERN_C_END
#endif
