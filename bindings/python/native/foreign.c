/* NumPy's arrays as arrays over the same memory, by the array interface's C struct. fast.c asks for it first;
 * nd4c/_creation.py takes every array that this file leaves. */
#include <string.h>

#include "native.h"

/* PyArrayInterface of NumPy's documentation "The array interface protocol", version 3. */
typedef struct array_interface {
  int two, nd;
  char typekind;
  int itemsize, flags;
  Py_intptr_t *shape, *strides;
  void *data;
  PyObject *descr;
} array_interface;

enum { ALIGNED = 0x100, NATIVE_ORDER = 0x200, WRITEABLE = 0x400 };

/* numpy.ndarray, once NumPy is imported. */
static PyObject *ndarray_type(void) {
  static PyObject *type;
  if (type == NULL) {
    PyObject *modules = PyImport_GetModuleDict();
    PyObject *numpy = modules != NULL ? PyDict_GetItemString(modules, "numpy") : NULL;
    type = numpy != NULL ? PyObject_GetAttrString(numpy, "ndarray") : NULL;
    PyErr_Clear();
  }
  return type;
}

static nd4c_dtype dtype_of(char kind, int size) {
  static const struct {
    char kind;
    signed char size, dtype;
  } rows[] = {{'f', 8, ND4C_FLOAT64},   {'f', 4, ND4C_FLOAT32},    {'i', 8, ND4C_INT64},  {'i', 4, ND4C_INT32},
              {'b', 1, ND4C_BOOL},      {'u', 1, ND4C_UINT8},      {'i', 1, ND4C_INT8},   {'i', 2, ND4C_INT16},
              {'u', 2, ND4C_UINT16},    {'u', 4, ND4C_UINT32},     {'u', 8, ND4C_UINT64}, {'f', 2, ND4C_FLOAT16},
              {'c', 8, ND4C_COMPLEX64}, {'c', 16, ND4C_COMPLEX128}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (rows[i].kind == kind && rows[i].size == size) {
      return registry.dtypes[(int)rows[i].dtype] != NULL ? rows[i].dtype : 0;
    }
  }
  return 0;
}

/* The library calls it on any thread when the last use of the memory is over. */
static void release(void *owner) {
  if (Py_IsInitialized()) {
    PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF((PyObject *)owner);
    PyGILState_Release(state);
  }
}

/* Extents and strides in elements; false where nd4c has no such layout. */
static bool read_layout(const array_interface *from, int64_t *shape, int64_t *strides) {
  if (from->nd > ND4C_MAX_RANK || (from->flags & (ALIGNED | NATIVE_ORDER)) != (ALIGNED | NATIVE_ORDER)) {
    return false;
  }
  for (int i = 0; i < from->nd; i++) {
    shape[i] = (int64_t)from->shape[i];
    if (from->strides[i] % from->itemsize != 0) {
      return false;
    }
    strides[i] = (int64_t)(from->strides[i] / from->itemsize);
  }
  return true;
}

static PyObject *wrap(PyObject *owner, const array_interface *from) {
  int64_t shape[ND4C_MAX_RANK], strides[ND4C_MAX_RANK];
  const nd4c_dtype dtype = from->two == 2 ? dtype_of(from->typekind, from->itemsize) : 0;
  nd4c_array *out = NULL;
  if (dtype == 0 || !read_layout(from, shape, strides)) {
    return NULL;
  }
  Py_INCREF(owner);
  nd4c_status status =
      lib.array_wrap(dtype, from->nd, shape, strides, from->data, (from->flags & WRITEABLE) == 0, release, owner, &out);
  if (status != ND4C_OK) {
    Py_DECREF(owner);
    return NULL; /* _creation.py meets the failure again, and reports it */
  }
  return native_array_wrap(out);
}

/* reinterpret(array, dtype): memory of the host in C order as elements of another size; None for all other arrays, and
 * where the library refuses: _arrays/methods.py then takes the long way. Memory that DLPack has exported keeps its
 * address. */
PyObject *native_reinterpret(PyObject *module, PyObject *const *args, Py_ssize_t count) {
  int64_t shape[ND4C_MAX_RANK];
  nd4c_dtype dtype;
  (void)module;
  if (count != 2 || !is_array(args[0]) || !native_dtype_number(args[1], &dtype)) {
    return PyErr_Occurred() == NULL ? PyErr_Format(PyExc_TypeError, "reinterpret: expected an array and a DType")
                                    : NULL;
  }
  nd4c_array *from = handle_of(args[0]), *out = NULL;
  const nd4c_dtype own = lib.array_dtype(from);
  const int32_t rank = lib.array_rank(from);
  const bool plain = rank > 0 && lib.array_size(from) > 0 && own <= ND4C_COMPLEX128 && dtype <= ND4C_COMPLEX128;
  if (!plain || native_plain_data(from) == NULL) {
    Py_RETURN_NONE;
  }
  const int64_t size = lib.dtype_size(dtype), bytes = lib.array_shape(from)[rank - 1] * lib.dtype_size(own);
  nd4c_dl_managed *managed = NULL;
  if (size == 0 || bytes == 0 || bytes % size != 0 || lib.array_to_dlpack(from, &managed) != ND4C_OK) {
    Py_RETURN_NONE;
  }
  void *data = managed->tensor.data;
  managed->deleter(managed);
  memcpy(shape, lib.array_shape(from), (size_t)rank * sizeof *shape);
  shape[rank - 1] = bytes / size;
  Py_INCREF(args[0]);
  if ((uintptr_t)data % (uintptr_t)(size < 8 ? size : 8) != 0 ||
      lib.array_wrap(dtype, rank, shape, NULL, data, lib.array_is_read_only(from), release, args[0], &out) != ND4C_OK) {
    Py_DECREF(args[0]);
    Py_RETURN_NONE;
  }
  return native_array_wrap(out);
}

PyObject *native_from_numpy(PyObject *object) {
  if ((PyObject *)Py_TYPE(object) != ndarray_type()) {
    return NULL;
  }
  PyObject *capsule = PyObject_GetAttrString(object, "__array_struct__");
  const array_interface *from = capsule != NULL ? PyCapsule_GetPointer(capsule, NULL) : NULL;
  PyObject *array = from != NULL ? wrap(object, from) : NULL;
  Py_XDECREF(capsule);
  if (array == NULL) {
    PyErr_Clear();
  }
  return array;
}
