/* What the tables of the providers in this tree have in common. backends/<name>/backend.c and the providers of
 * libraries under backends/cpu fill nd4c_provider and nd4c_contribution with these. */
#ifndef ND4C_BACKENDS_PROVIDER_H
#define ND4C_BACKENDS_PROVIDER_H

#include "nd4c/plugin.h"

/* The first fields of a nd4c_provider. */
#define ND4C_PROVIDER_HEAD(its_name, its_version)                                                                     \
  .struct_size = ND4C_SIZE_OF(nd4c_provider), .abi_major = ND4C_PLUGIN_ABI_MAJOR, .abi_minor = ND4C_PLUGIN_ABI_MINOR, \
  .name = (its_name), .version = (its_version)

/* A list of the file's, which bears the field's name, and its length: ND4C_PROVIDER_LIST(engine_count, engines). */
#define ND4C_PROVIDER_LIST(length, list) .length = sizeof(list) / sizeof(list)[0], .list = (list)

#endif
