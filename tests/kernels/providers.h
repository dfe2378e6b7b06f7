/* Kernels of the built-in providers that compute for the CPU, without a registry. */
#ifndef TESTS_KERNELS_PROVIDERS_H
#define TESTS_KERNELS_PROVIDERS_H

#include <string.h>

#include "nd4c/plugin.h"

#define CPU_PROVIDERS(X) X(cpu) X(onednn) X(openblas) X(fftw)
#define DECLARE_ENTRY(name) \
  nd4c_status nd4c_provider_##name##_entry(const nd4c_host *host, const nd4c_provider **provider);
CPU_PROVIDERS(DECLARE_ENTRY)
#undef DECLARE_ENTRY

#define COUNT_PROVIDER(name) +1
enum { CPU_PROVIDER_COUNT = 0 CPU_PROVIDERS(COUNT_PROVIDER) };
#undef COUNT_PROVIDER

static const nd4c_provider *cpu_providers[CPU_PROVIDER_COUNT];

/* Asks the entry functions. Returns false if one fails. */
static inline bool cpu_providers_enter(const nd4c_host *host) {
  static const nd4c_plugin_entry_function entries[] = {
#define LIST_ENTRY(name) nd4c_provider_##name##_entry,
      CPU_PROVIDERS(LIST_ENTRY)
#undef LIST_ENTRY
  };
  for (int i = 0; i < CPU_PROVIDER_COUNT; i++) {
    if (entries[i](host, &cpu_providers[i]) != ND4C_OK) {
      return false;
    }
  }
  return true;
}

static inline bool cpu_providers_open(void) {
  for (int i = 0; i < CPU_PROVIDER_COUNT; i++) {
    if (cpu_providers[i]->open != NULL && cpu_providers[i]->open() != ND4C_OK) {
      return false;
    }
  }
  return true;
}

static inline void cpu_providers_close(void) {
  for (int i = 0; i < CPU_PROVIDER_COUNT; i++) {
    if (cpu_providers[i]->close != NULL) {
      cpu_providers[i]->close();
    }
  }
}

/* The n-th kernel of an op, of that engine unless it is NULL; NULL past the end. */
static inline const nd4c_kernel *cpu_kernel(const char *op, const char *engine, int32_t n) {
  for (int i = 0; i < CPU_PROVIDER_COUNT; i++) {
    const nd4c_contribution *contribution = cpu_providers[i]->contributions[0];
    for (int32_t f = 0; f < contribution->family_count; f++) {
      for (const nd4c_kernel *const *kernel = contribution->families[f]; *kernel != NULL; kernel++) {
        bool wanted = strcmp((*kernel)->op, op) == 0 && (engine == NULL || strcmp((*kernel)->engine, engine) == 0);
        if (wanted && n-- == 0) {
          return *kernel;
        }
      }
    }
  }
  return NULL;
}

#endif
