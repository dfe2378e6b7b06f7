/* The provider of a library that contributes one engine, with the same name, to the CPU's devices. The kernels load the
 * library on first use, so the provider has no open function. provider.c of fftw, onednn and openblas uses it. */
#ifndef ND4C_BACKENDS_CPU_SUPPORT_LIBRARY_H
#define ND4C_BACKENDS_CPU_SUPPORT_LIBRARY_H

#include "backends/cpu/cpu.h"
#include "backends/provider.h"

/* Defines nd4c_provider_<library>_entry from nd4c_<library>_state and nd4c_<library>_close. `rank` is the
 * contribution's priority; the rest are its kernel families. */
#define ND4C_CPU_LIBRARY_PROVIDER(library, rank, ...)                                                      \
  static const nd4c_engine engine = {                                                                      \
      .struct_size = ND4C_SIZE_OF(nd4c_engine), .name = #library, .state = nd4c_##library##_state};        \
  static const nd4c_engine *const engines[] = {&engine};                                                   \
  static const nd4c_kernel *const *const families[] = {__VA_ARGS__};                                       \
  static const nd4c_contribution contribution = {                                                          \
      .struct_size = ND4C_SIZE_OF(nd4c_contribution),                                                      \
      .backend = "cpu",                                                                                    \
      .priority = (rank),                                                                                  \
      ND4C_PROVIDER_LIST(engine_count, engines),                                                           \
      ND4C_PROVIDER_LIST(family_count, families),                                                          \
  };                                                                                                       \
  static const nd4c_contribution *const contributions[] = {&contribution};                                 \
  static nd4c_verdict probe(bool verify, char *reason, size_t reason_size) {                               \
    return nd4c_##library##_state(verify, reason, reason_size) ? ND4C_VERDICT_FOUND : ND4C_VERDICT_ABSENT; \
  }                                                                                                        \
  nd4c_status nd4c_provider_##library##_entry(const nd4c_host *host, const nd4c_provider **provider);      \
  nd4c_status nd4c_provider_##library##_entry(const nd4c_host *host, const nd4c_provider **provider) {     \
    static const nd4c_provider brought = {                                                                 \
        ND4C_PROVIDER_HEAD(#library, ND4C_CPU_VERSION),                                                    \
        .probe = probe,                                                                                    \
        .close = nd4c_##library##_close,                                                                   \
        ND4C_PROVIDER_LIST(contribution_count, contributions),                                             \
    };                                                                                                     \
    nd4c_cpu_host = host;                                                                                  \
    *provider = &brought;                                                                                  \
    return ND4C_OK;                                                                                        \
  }

#endif
