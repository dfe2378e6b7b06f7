/* Connects the extension to the rest of the package: the library's functions, dtypes, errors. module.c calls
 * native_connect at import, nd4c/_arrays/array.py calls register() later; every file here reports failures with
 * native_fail. */
#include <dlfcn.h>
#include <string.h>

#include "native.h"

native_library lib;
native_registry registry;

/* -- the library -------------------------------------------------------------------------------------------------- */

/* Function pointers come from dlsym as object pointers: POSIX says that their bytes are the same. */
static bool find_symbol(void *library, const char *name, void *place) {
  void *symbol = dlsym(library, name);
  if (symbol == NULL) {
    PyErr_Format(PyExc_ImportError, "nd4c: the shared library has no %s: it is of another version than the package",
                 name);
    return false;
  }
  memcpy(place, &symbol, sizeof symbol);
  return true;
}

static bool find_symbols(void *library) {
#define FIND(name) find_symbol(library, "nd4c_" #name, &lib.name) &&
  return NATIVE_SYMBOLS(FIND) true;
#undef FIND
}

static PyObject *attribute_of(const char *module_name, const char *name) {
  PyObject *module = PyImport_ImportModule(module_name);
  PyObject *attribute = module != NULL ? PyObject_GetAttrString(module, name) : NULL;
  Py_XDECREF(module);
  return attribute;
}

/* The handle that dlopen gave to ctypes. */
static bool connect_library(void) {
  PyObject *library = attribute_of("nd4c._library", "releasing");
  PyObject *number = library != NULL ? PyObject_GetAttrString(library, "_handle") : NULL;
  void *handle = number != NULL ? PyLong_AsVoidPtr(number) : NULL;
  Py_XDECREF(library);
  Py_XDECREF(number);
  return handle != NULL && find_symbols(handle);
}

/* -- dtypes ------------------------------------------------------------------------------------------------------- */

static bool keep_dtypes(PyObject *by_number) {
  PyObject *number, *dtype;
  Py_ssize_t position = 0;
  while (PyDict_Next(by_number, &position, &number, &dtype)) {
    long index = PyLong_AsLong(number);
    if (index < 0 || index >= NATIVE_DTYPES) {
      PyErr_Format(PyExc_ImportError, "nd4c: dtype %ld is out of range", index);
      return false;
    }
    Py_INCREF(dtype);
    registry.dtypes[index] = dtype;
  }
  return true;
}

/* The answer of _dtypes.weak for one kind of number and one dtype; 0 if it raises TypeError. */
static bool ask_weak(PyObject *weak, PyTypeObject *type, PyObject *dtype, nd4c_dtype *answer) {
  PyObject *result = PyObject_CallFunctionObjArgs(weak, (PyObject *)type, dtype, NULL);
  if (result == NULL || result == Py_None) {
    bool refused = result != NULL || PyErr_ExceptionMatches(PyExc_TypeError);
    Py_XDECREF(result);
    if (refused) {
      PyErr_Clear();
    }
    *answer = 0;
    return refused;
  }
  PyObject *number = PyObject_GetAttrString(result, "number");
  *answer = number != NULL ? (nd4c_dtype)PyLong_AsLong(number) : 0;
  Py_DECREF(result);
  Py_XDECREF(number);
  return PyErr_Occurred() == NULL;
}

static bool keep_weak(PyObject *weak) {
  PyTypeObject *const types[NATIVE_KINDS] = {&PyBool_Type, &PyLong_Type, &PyFloat_Type, &PyComplex_Type};
  for (int kind = 0; kind < NATIVE_KINDS; kind++) {
    for (int number = 0; number < NATIVE_DTYPES; number++) {
      PyObject *dtype = registry.dtypes[number];
      if (dtype != NULL && !ask_weak(weak, types[kind], dtype, &registry.weak[kind][number])) {
        return false;
      }
    }
  }
  return true;
}

static bool connect_dtypes(void) {
  PyObject *by_number = attribute_of("nd4c._dtypes", "by_number");
  PyObject *weak = by_number != NULL ? attribute_of("nd4c._dtypes", "weak") : NULL;
  bool done = weak != NULL && keep_dtypes(by_number) && keep_weak(weak);
  Py_XDECREF(by_number);
  Py_XDECREF(weak);
  return done;
}

bool native_connect(void) {
  registry.raise_error = attribute_of("nd4c._errors", "raise_error");
  return registry.raise_error != NULL && connect_library() && connect_dtypes();
}

/* -- objects that the package registers later --------------------------------------------------------------------- */

PyObject *native_register(PyObject *module, PyObject *args, PyObject *objects) {
  static const struct {
    const char *name;
    PyObject **place;
  } places[] = {
      {"devices", &registry.devices},   {"asarray", &registry.asarray},   {"item", &registry.item},
      {"mixed", &registry.mixed},       {"unmixed", &registry.unmixed},   {"in_place", &registry.in_place},
      {"assigned", &registry.assigned}, {"names", &registry.names},       {"raise_error", &registry.raise_error},
      {"symbol", &registry.symbol},     {"recorded", &registry.recorded}, {"picked", &registry.picked}};
  (void)module;
  (void)args;
  for (size_t i = 0; i < sizeof places / sizeof *places && objects != NULL; i++) {
    PyObject *given = PyDict_GetItemString(objects, places[i].name), *before = *places[i].place;
    if (given != NULL) {
      Py_INCREF(given);
      *places[i].place = given;
      Py_XDECREF(before);
    }
  }
  Py_RETURN_NONE;
}

PyObject *native_fail(nd4c_status status) {
  PyObject *result = PyObject_CallFunction(registry.raise_error, "i", (int)status);
  Py_XDECREF(result);
  if (PyErr_Occurred() == NULL) {
    PyErr_Format(PyExc_RuntimeError, "nd4c: status %d", (int)status);
  }
  return NULL;
}

PyObject *native_fail_mixed(nd4c_status status, nd4c_op op, PyObject *a, PyObject *b) {
  if (status == ND4C_DTYPE) {
    PyObject *result = b != NULL ? PyObject_CallFunction(registry.mixed, "iOO", (int)op, a, b)
                                 : PyObject_CallFunction(registry.mixed, "iO", (int)op, a);
    if (result != Py_None) {
      return result;
    }
    Py_DECREF(result);
  }
  return native_fail(status);
}
