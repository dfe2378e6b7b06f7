/* A shared object that is not a plug-in: it does not export nd4c_plugin_entry. tests/device/registry and
 * tests/tools/check_plugin.sh load it. */
__attribute__((visibility("default"))) int nd4c_stub_is_no_plugin(void);

int nd4c_stub_is_no_plugin(void) {
  return 1;
}
