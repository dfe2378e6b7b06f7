/* Implements builtins.h: the list that the build generates, as a table. candidate_list.c makes a candidate of each
 * entry; properties.c declares their properties. */
#include "device/registry/builtins.h"

#include <stddef.h>
#include <string.h>

#include "builtin_providers.h"

#define DECLARE_ENTRY(name) nd4c_status nd4c_provider_##name##_entry(const nd4c_host *, const nd4c_provider **);
ND4C_BUILTIN_PROVIDERS(DECLARE_ENTRY)
#undef DECLARE_ENTRY

static const nd4c_builtin builtins[] = {
#define BUILTIN_ROW(name) {#name, nd4c_provider_##name##_entry},
    ND4C_BUILTIN_PROVIDERS(BUILTIN_ROW)
#undef BUILTIN_ROW
};
enum { BUILTIN_COUNT = sizeof builtins / sizeof builtins[0] };

int32_t nd4c_builtins_count(void) {
  return BUILTIN_COUNT;
}

const nd4c_builtin *nd4c_builtins_at(int32_t index) {
  return &builtins[index];
}

const nd4c_builtin *nd4c_builtins_find(const char *name) {
  for (int32_t i = 0; i < BUILTIN_COUNT; i++) {
    if (strcmp(builtins[i].name, name) == 0) {
      return &builtins[i];
    }
  }
  return NULL;
}
