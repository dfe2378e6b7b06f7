/* The type Array of Python's array objects, with its attributes. module.c makes the type when Python imports the
 * extension; its slots lead to this file, buffer.c, index.c and operators.c. */
#include "native.h"

PyTypeObject *native_array_type;

PyObject *native_array_wrap(nd4c_array *handle) {
  native_array *array = PyObject_New(native_array, native_array_type);
  if (array == NULL) {
    lib.array_release(handle);
    return NULL;
  }
  array->handle = handle;
  array->weak_references = NULL;
  return (PyObject *)array;
}

static void deallocate(PyObject *self) {
  native_array *array = (native_array *)self;
  PyTypeObject *type = Py_TYPE(self);
  if (array->weak_references != NULL) {
    PyObject_ClearWeakRefs(self);
  }
  if (PyErr_Occurred() == NULL) {
    lib.array_release(array->handle);
  } else { /* The release may run Python code of the owner of the memory, which must not see the exception on its way.
            */
    PyObject *type_raised, *value, *traceback;
    PyErr_Fetch(&type_raised, &value, &traceback);
    lib.array_release(array->handle);
    PyErr_Restore(type_raised, value, traceback);
  }
  PyObject_Free(self);
  Py_DECREF(type);
}

/* -- attributes --------------------------------------------------------------------------------------------------- */

static PyObject *get_shape(PyObject *self, void *closure) {
  (void)closure;
  int32_t rank = lib.array_rank(handle_of(self));
  const int64_t *shape = lib.array_shape(handle_of(self));
  PyObject *tuple = PyTuple_New(rank);
  for (int32_t i = 0; tuple != NULL && i < rank; i++) {
    PyObject *extent = PyLong_FromLongLong(shape[i]);
    if (extent == NULL) {
      Py_CLEAR(tuple);
    } else {
      PyTuple_SetItem(tuple, i, extent);
    }
  }
  return tuple;
}

static PyObject *get_ndim(PyObject *self, void *closure) {
  (void)closure;
  return PyLong_FromLong(lib.array_rank(handle_of(self)));
}

static PyObject *get_size(PyObject *self, void *closure) {
  (void)closure;
  return PyLong_FromLongLong(lib.array_size(handle_of(self)));
}

static PyObject *get_dtype(PyObject *self, void *closure) {
  (void)closure;
  PyObject *dtype = registry.dtypes[lib.array_dtype(handle_of(self)) % NATIVE_DTYPES];
  if (dtype == NULL) {
    PyErr_SetString(PyExc_RuntimeError, "nd4c: an array of a dtype that the package does not know");
    return NULL;
  }
  Py_INCREF(dtype);
  return dtype;
}

static PyObject *get_device(PyObject *self, void *closure) {
  (void)closure;
  PyObject *number = PyLong_FromVoidPtr(lib.array_device(handle_of(self)));
  if (number == NULL || registry.devices == NULL) {
    Py_XDECREF(number);
    PyErr_SetString(PyExc_RuntimeError, "nd4c: devices are not registered");
    return NULL;
  }
  PyObject *device = PyObject_CallFunctionObjArgs(registry.devices, number, NULL);
  Py_DECREF(number);
  return device;
}

/* Lets ctypes pass an Array to a parameter of type c_void_p. */
static PyObject *get_parameter(PyObject *self, void *closure) {
  (void)closure;
  return PyLong_FromVoidPtr(handle_of(self));
}

static PyGetSetDef getset[] = {{"shape", get_shape, NULL, "Extents of the axes.", NULL},
                               {"ndim", get_ndim, NULL, "Number of axes.", NULL},
                               {"size", get_size, NULL, "Number of elements.", NULL},
                               {"dtype", get_dtype, NULL, "The elements' type.", NULL},
                               {"device", get_device, NULL, "Where the elements are.", NULL},
                               {"_as_parameter_", get_parameter, NULL, "The nd4c_array *, borrowed.", NULL},
                               {NULL, NULL, NULL, NULL, NULL}};

static PyMethodDef methods[] = {{"__complex__", native_array_complex, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};

/* -- length and iteration ----------------------------------------------------------------------------------------- */

static Py_ssize_t length(PyObject *self) {
  if (lib.array_rank(handle_of(self)) == 0) {
    PyErr_SetString(PyExc_TypeError, "an array of no axes has no length");
    return -1;
  }
  return (Py_ssize_t)lib.array_shape(handle_of(self))[0];
}

static PyObject *iterate(PyObject *self) {
  if (lib.array_rank(handle_of(self)) == 0) {
    PyErr_SetString(PyExc_TypeError, "an array of no axes cannot be iterated over");
    return NULL;
  }
  return PySeqIter_New(self);
}

static PyObject *refuse_new(PyTypeObject *type, PyObject *args, PyObject *named) {
  (void)type;
  (void)args;
  (void)named;
  PyErr_SetString(PyExc_TypeError,
                  "arrays are made by nd4c.asarray(), nd4c.empty(), nd4c.zeros(), ..., not by nd4c.Array()");
  return NULL;
}

/* -- the type ----------------------------------------------------------------------------------------------------- */

static PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(native_array, weak_references), READONLY, NULL}, {NULL, 0, 0, 0, NULL}};

/* Slots hold functions of many types as void *; POSIX lets a function pointer be one. */
#define SLOT(number, function) {number, NATIVE_SLOT(function)}

static const PyType_Slot own_slots[] = {SLOT(Py_tp_dealloc, deallocate),
                                        SLOT(Py_tp_new, refuse_new),
                                        SLOT(Py_tp_iter, iterate),
                                        SLOT(Py_tp_hash, native_array_hash),
                                        SLOT(Py_mp_subscript, native_array_getitem),
                                        SLOT(Py_mp_ass_subscript, native_array_setitem),
                                        SLOT(Py_mp_length, length),
                                        SLOT(Py_sq_length, length),
                                        SLOT(Py_sq_item, native_array_element),
                                        SLOT(PYTHON_BUFFER_GET, native_buffer_get),
                                        SLOT(PYTHON_BUFFER_RELEASE, native_buffer_release),
                                        {Py_tp_getset, getset},
                                        {Py_tp_methods, methods},
                                        {Py_tp_members, members},
                                        {Py_tp_doc,
                                         "An n-dimensional array of one dtype. Made by nd4c.asarray, "
                                         "nd4c.zeros, ... and by every function."}};

bool native_array_type_make(void) {
  enum { OWN = sizeof own_slots / sizeof *own_slots, MOST = 128 };
  PyType_Slot slots[MOST];
  int count = 0;
  for (; count < (int)OWN; count++) {
    slots[count] = own_slots[count];
  }
  for (int i = 0; native_operator_slots[i].slot != 0 && count < MOST - 1; i++) {
    slots[count++] = native_operator_slots[i];
  }
  slots[count] = (PyType_Slot){0, NULL};
  PyType_Spec spec = {"nd4c.Array", (int)sizeof(native_array), 0, Py_TPFLAGS_DEFAULT, slots};
  native_array_type = (PyTypeObject *)PyType_FromSpec(&spec);
  return native_array_type != NULL;
}
