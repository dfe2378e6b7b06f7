/* Providers in this library, by name and entry function. candidate_list.c and properties.c read the list. The build
 * makes it (backends/CMakeLists.txt). */
#ifndef ND4C_DEVICE_REGISTRY_BUILTINS_H
#define ND4C_DEVICE_REGISTRY_BUILTINS_H

#include <stdint.h>

#include "nd4c/plugin.h"

typedef struct nd4c_builtin {
  const char *name;
  nd4c_plugin_entry_function entry;
} nd4c_builtin;

int32_t nd4c_builtins_count(void);
const nd4c_builtin *nd4c_builtins_at(int32_t index);
/* By name; NULL if there is none. */
const nd4c_builtin *nd4c_builtins_find(const char *name);

#endif
