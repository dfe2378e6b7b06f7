/* What oneDNN contributes to the CPU's devices: convolutions and products. The library is loaded on first use, by the kernels. */
#include "backends/cpu/onednn/onednn.h"

nd4c_status nd4c_provider_onednn_entry(const nd4c_host *host, const nd4c_provider **provider);

static const nd4c_engine engine = {.struct_size = ND4C_SIZE_OF(nd4c_engine), .name = "onednn", .state = nd4c_onednn_state};
static const nd4c_engine *const engines[] = {&engine};
static const nd4c_kernel *const *const families[] = {nd4c_cpu_onednn_conv_kernels, nd4c_cpu_onednn_int8_kernels, nd4c_cpu_onednn_matmul_kernels, nd4c_cpu_onednn_sgemm_kernels};

static const nd4c_contribution contribution = {
    .struct_size = ND4C_SIZE_OF(nd4c_contribution),
    .backend = "cpu",
    .priority = 300,
    .engine_count = sizeof engines / sizeof engines[0],
    .engines = engines,
    .family_count = sizeof families / sizeof families[0],
    .families = families,
};
static const nd4c_contribution *const contributions[] = {&contribution};

static nd4c_verdict probe(bool verify, char *reason, size_t reason_size) {
  return nd4c_onednn_state(verify, reason, reason_size) ? ND4C_VERDICT_FOUND : ND4C_VERDICT_ABSENT;
}

static const nd4c_provider the_provider = {
    .struct_size = ND4C_SIZE_OF(nd4c_provider),
    .abi_major = ND4C_PLUGIN_ABI_MAJOR,
    .abi_minor = ND4C_PLUGIN_ABI_MINOR,
    .name = "onednn",
    .version = ND4C_CPU_VERSION,
    .probe = probe,
    .close = nd4c_onednn_close,
    .contribution_count = sizeof contributions / sizeof contributions[0],
    .contributions = contributions,
};

nd4c_status nd4c_provider_onednn_entry(const nd4c_host *host, const nd4c_provider **provider) {
  nd4c_cpu_host = host;
  *provider = &the_provider;
  return ND4C_OK;
}
