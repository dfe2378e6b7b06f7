/* A plug-in that the loader refuses, because it needs an undefined variable (not a function, because lazy binding would
 * defer the failure). tests/device/registry and tests/tools/check_plugin.sh load it. */
#include "nd4c/plugin.h"

extern const nd4c_provider nd4c_stub_defined_nowhere;
ND4C_PLUGIN_EXPORT nd4c_status nd4c_plugin_entry(const nd4c_host *host, const nd4c_provider **provider);

nd4c_status nd4c_plugin_entry(const nd4c_host *host, const nd4c_provider **provider) {
  (void)host;
  *provider = &nd4c_stub_defined_nowhere;
  return ND4C_OK;
}
