/* What a backend is put together from, and what its table's functions do with it: engines, and the kernels of families.
 * For backends that have several of both; a backend that needs none of it fills its table as plugin.h says. */
#ifndef ND4C_BACKENDS_ASSEMBLY_H
#define ND4C_BACKENDS_ASSEMBLY_H

#include <stdio.h>
#include <string.h>

#include "nd4c/plugin.h"

/* One engine. Functions may be called from any thread. */
typedef struct nd4c_engine {
  const char *name;
  /* State for people. verify false: looks for files at most, opens nothing. False if the engine cannot be used. */
  bool (*state)(bool verify, char *text, size_t text_size);
  /* Called once when the backend opens and closes; NULL: nothing to do. An engine that needs a library opens it on
   * first use, in usable() or prepare() of its kernels, not here. */
  void (*open)(void);
  void (*close)(void);
} nd4c_engine;

/* All kernels of all families in one list, from open to close. */
typedef struct nd4c_kernel_list {
  const nd4c_kernel **items;
  int32_t count;
} nd4c_kernel_list;

/* nd4c_backend.engine_state. */
static inline bool nd4c_engines_state(const char *backend, const nd4c_engine *const *engines, int32_t count,
                                      const char *name, bool verify, char *text, size_t text_size) {
  for (int32_t e = 0; e < count; e++) {
    if (strcmp(engines[e]->name, name) == 0) {
      return engines[e]->state(verify, text, text_size);
    }
  }
  (void)snprintf(text, text_size, "backend %s has no engine %s", backend, name);
  return false;
}

static inline void nd4c_engines_open(const nd4c_engine *const *engines, int32_t count) {
  for (int32_t e = 0; e < count; e++) {
    if (engines[e]->open != NULL) {
      engines[e]->open();
    }
  }
}

static inline void nd4c_engines_close(const nd4c_engine *const *engines, int32_t count) {
  for (int32_t e = count - 1; e >= 0; e--) {
    if (engines[e]->close != NULL) {
      engines[e]->close();
    }
  }
}

/* families: lists that end in NULL. */
static inline nd4c_status nd4c_kernels_gather(const nd4c_host *host, const char *backend,
                                              const nd4c_kernel *const *const *families, int32_t family_count,
                                              nd4c_kernel_list *list) {
  int32_t count = 0;
  for (int32_t f = 0; f < family_count; f++) {
    for (const nd4c_kernel *const *kernel = families[f]; *kernel != NULL; kernel++) {
      count++;
    }
  }
  *list = (nd4c_kernel_list){.items = host->allocate((size_t)count * sizeof *list->items)};
  if (list->items == NULL) {
    return host->fail(ND4C_MEMORY, "%s: no memory for the list of %d kernels", backend, (int)count);
  }
  for (int32_t f = 0; f < family_count; f++) {
    for (const nd4c_kernel *const *kernel = families[f]; *kernel != NULL; kernel++) {
      list->items[list->count++] = *kernel;
    }
  }
  return ND4C_OK;
}

static inline void nd4c_kernels_drop(const nd4c_host *host, nd4c_kernel_list *list) {
  host->free(list->items);
  *list = (nd4c_kernel_list){0};
}

#endif
