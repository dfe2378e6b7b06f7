/* A plug-in that the loader refuses: it needs a variable that nothing defines (a variable, so that lazy binding does
 * not put the failure off). */
#include "nd4c/plugin.h"

extern const nd4c_provider nd4c_stub_defined_nowhere;
ND4C_PLUGIN_EXPORT nd4c_status nd4c_plugin_entry(const nd4c_host *host, const nd4c_provider **provider);

nd4c_status nd4c_plugin_entry(const nd4c_host *host, const nd4c_provider **provider) {
  (void)host;
  *provider = &nd4c_stub_defined_nowhere;
  return ND4C_OK;
}
