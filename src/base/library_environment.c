/* Implements library_environment.h: binds a library's getenv to one that looks at variables of nd4c's own first. */
#include "base/library_environment.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/os.h"
#include "base/os_lock.h"
#include "base/status.h"

/* Variables are only added, so that a value that a library holds stays as it is; the last one of a name counts. A
 * reader needs no lock: it sees the first `variable_count`, which are whole. */
enum { MOST = 16, MOST_BYTES = 64 };
typedef struct variable {
  char name[MOST_BYTES], value[MOST_BYTES];
} variable;
static variable variables[MOST];
static _Atomic int variable_count;
static nd4c_lock variables_lock = ND4C_LOCK_INIT; /* for writers */

static const char *find(const char *name) {
  for (int i = atomic_load_explicit(&variable_count, memory_order_acquire) - 1; i >= 0; i--) {
    if (strcmp(variables[i].name, name) == 0) {
      return variables[i].value;
    }
  }
  return NULL;
}

/* What libraries call instead of getenv. */
static const char *library_getenv(const char *name) {
  const char *value = find(name);
  return value != NULL ? value : nd4c_os_environment(name);
}

/* variables_lock is held. */
static nd4c_status add(const char *name, const char *value) {
  const int count = atomic_load_explicit(&variable_count, memory_order_relaxed);
  const char *before = find(name);
  if (before != NULL && strcmp(before, value) == 0) {
    return ND4C_OK;
  }
  if (count == MOST) {
    return nd4c_fail(ND4C_MEMORY, "library_setenv: %s is one of more than %d variables", name, (int)MOST);
  }
  memcpy(variables[count].name, name, strlen(name) + 1);
  memcpy(variables[count].value, value, strlen(value) + 1);
  atomic_store_explicit(&variable_count, count + 1, memory_order_release);
  return ND4C_OK;
}

static bool choose(void *user, const char *symbol, void **address) {
  bool *found = user;
  if (strcmp(symbol, "getenv") == 0 || strcmp(symbol, "secure_getenv") == 0) {
    const char *(*function)(const char *) = library_getenv;
    memcpy(address, &function, sizeof function);
    *found = true;
  }
  return true;
}

nd4c_status nd4c_library_environment_set(void *library, const char *name, const char *value) {
  bool found = false;
  if (library == NULL || name == NULL || name[0] == '\0' || value == NULL || strlen(name) >= MOST_BYTES ||
      strlen(value) >= MOST_BYTES) {
    return nd4c_fail(ND4C_ARGUMENT,
                     "library_setenv: expected an opened library, a name and a value of less than %d bytes",
                     (int)MOST_BYTES);
  }
  nd4c_lock_acquire(&variables_lock);
  nd4c_status status = nd4c_os_library_rebind(library, choose, &found);
  if (status == ND4C_OK && !found) {
    status = nd4c_fail(ND4C_UNSUPPORTED, "library_setenv: the library does not call getenv");
  }
  status = status == ND4C_OK ? add(name, value) : status;
  nd4c_lock_release(&variables_lock);
  return status;
}
