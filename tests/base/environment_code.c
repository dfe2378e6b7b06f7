/* A library that asks its environment, as a vendor's does: test_library_environment.c opens it. One copy
 * (ENVIRONMENT_CODE_DEAF) asks for nothing. */
#include <stdlib.h>

const char *code_variable(const char *name);

const char *code_variable(const char *name) {
#if defined(ENVIRONMENT_CODE_DEAF)
  (void)name;
  return NULL;
#else
  return getenv(name);
#endif
}
