/* Reading one property of the configuration. nd4c/_config.py calls it for each nd4c.config[name]. */
#include "native.h"

PyObject *native_config_value(PyObject *module, PyObject *name) {
  const char *value = NULL;
  (void)module;
  PyObject *bytes = PyUnicode_AsUTF8String(name);
  if (bytes == NULL) {
    return NULL;
  }
  nd4c_status status = lib.config_get(PyBytes_AsString(bytes), &value);
  Py_DECREF(bytes);
  return status == ND4C_OK ? PyUnicode_FromString(value != NULL ? value : "") : PyLong_FromLong(status);
}
