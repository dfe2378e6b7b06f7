/* A shared object that is no plug-in: it exports something else than nd4c_plugin_entry. */
__attribute__((visibility("default"))) int nd4c_stub_is_no_plugin(void);

int nd4c_stub_is_no_plugin(void) {
  return 1;
}
