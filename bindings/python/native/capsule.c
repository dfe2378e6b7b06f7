/* DLPack capsules whose tensor, if no consumer takes it, is released at once, also while an exception is raised. Listed
 * as capsule() in the table of creation.c. */
#include "native.h"
#include "nd4c/dlpack.h"

static const char *const versioned_name = "dltensor_versioned", *const plain_name = "dltensor";

/* DLManagedTensor: the form before version 1. */
typedef struct plain_managed {
  nd4c_dl_tensor tensor;
  void *manager_ctx;
  void (*deleter)(struct plain_managed *self);
} plain_managed;

static void give_back(PyObject *capsule) {
  if (PyCapsule_IsValid(capsule, versioned_name)) {
    nd4c_dl_managed *managed = PyCapsule_GetPointer(capsule, versioned_name);
    managed->deleter(managed);
  } else if (PyCapsule_IsValid(capsule, plain_name)) {
    plain_managed *managed = PyCapsule_GetPointer(capsule, plain_name);
    managed->deleter(managed);
  }
}

/* A deleter may run Python code, which must not see the exception for which the capsule is dropped. */
static void drop(PyObject *capsule) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  give_back(capsule);
  PyErr_Restore(type, value, traceback);
}

PyObject *native_capsule(PyObject *module, PyObject *const *args, Py_ssize_t count) {
  (void)module;
  void *address = count == 2 ? PyLong_AsVoidPtr(args[0]) : NULL;
  if (address == NULL) {
    return PyErr_Occurred() != NULL ? NULL : PyErr_Format(PyExc_TypeError, "capsule: expected an address and a bool");
  }
  return PyCapsule_New(address, PyObject_IsTrue(args[1]) ? versioned_name : plain_name, drop);
}
