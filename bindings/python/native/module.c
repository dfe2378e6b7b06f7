/* Defines the extension module nd4c._native. Python calls PyInit__native when nd4c/_core.py imports it. */
#include "native.h"

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                        "nd4c._native",
                                        "The core of the package in C: arrays, operators, indexing, calls of ops.",
                                        -1,
                                        native_creation_methods,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL};

PyMODINIT_FUNC PyInit__native(void);

PyMODINIT_FUNC PyInit__native(void) {
  if (!native_connect() || !native_array_type_make()) {
    return NULL;
  }
  PyObject *module = PyModule_Create(&definition);
  /* Methods that the package need not attach. */
  PyObject *own = Py_BuildValue("(sss)", "__buffer__", "__iter__", "__len__");
  bool done = module != NULL && own != NULL && PyObject_SetAttrString(module, "OWN_METHODS", own) == 0 &&
              PyObject_SetAttrString(module, "Array", (PyObject *)native_array_type) == 0;
  Py_XDECREF(own);
  if (!done) {
    Py_XDECREF(module);
    return NULL;
  }
  return module;
}
