/* Properties of results that have no single right value. A recorded case names a property instead of expected
 * elements. */
#include <string.h>

#include "conformance.h"

/* X(name): const char *name(const cf_case *, const cf_tensor *outputs, int32_t count, char *text, size_t size)
 */
#define PROPERTIES(X) \
  X(is_qr)            \
  X(is_lu)            \
  X(is_lu_factor)     \
  X(is_svd)           \
  X(is_eigh)          \
  X(is_eig)           \
  X(are_eigenvalues)

#define PROPERTY_DECLARE(name) \
  const char *name(const cf_case *c, const cf_tensor *outputs, int32_t count, char *text, size_t size);
PROPERTIES(PROPERTY_DECLARE)
#undef PROPERTY_DECLARE

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
