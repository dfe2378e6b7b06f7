/* Properties of results that have no single right value: what a recorded case names instead of expected elements. */
#include <string.h>

#include "conformance.h"

/* X(name): static const char *name(const cf_case *, const cf_tensor *outputs, int32_t count, char *text, size_t size)
 */
#define PROPERTIES(X)

cf_property cf_property_find(const char *name) {
#define PROPERTY_ROW(property)        \
  if (strcmp(name, #property) == 0) { \
    return property;                  \
  }
  PROPERTIES(PROPERTY_ROW)
#undef PROPERTY_ROW
  (void)name;
  return NULL;
}
