/* A plug-in that the loader refuses: it needs a variable that nothing defines (a variable, so that lazy binding does
 * not put the failure off). */
#include "nd4c/plugin.h"

extern const nd4c_backend nd4c_stub_defined_nowhere;
__attribute__((visibility("default"))) nd4c_status nd4c_plugin_entry(const nd4c_host *host,
                                                                     const nd4c_backend **backend);

nd4c_status nd4c_plugin_entry(const nd4c_host *host, const nd4c_backend **backend) {
  (void)host;
  *backend = &nd4c_stub_defined_nowhere;
  return ND4C_OK;
}
