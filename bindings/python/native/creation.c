/* Making arrays: the functions of the module whose arguments are ready for C. dtypes are DType objects, devices
 * nd4c_device * as integers, or None. module.c gives Python the table native_creation_methods. */
#include "native.h"

/* -- arguments ---------------------------------------------------------------------------------------------------- */

typedef struct making {
  nd4c_dtype dtype;
  int32_t rank;
  int64_t shape[ND4C_MAX_RANK];
  nd4c_device *device;
} making;

nd4c_dtype native_dtype_find(PyObject *object) {
  for (int i = 1; i < NATIVE_DTYPES; i++) {
    if (registry.dtypes[i] == object) {
      return i;
    }
  }
  return ND4C_DTYPE_NONE;
}

bool native_dtype_number(PyObject *object, nd4c_dtype *dtype) {
  *dtype = native_dtype_find(object);
  if (*dtype != ND4C_DTYPE_NONE) {
    return true;
  }
  PyErr_Format(PyExc_TypeError, "expected an nd4c.DType, got %R", object);
  return false;
}

static bool read_shape(PyObject *object, making *m) {
  Py_ssize_t rank = PyTuple_Size(object);
  if (rank < 0) {
    return false;
  }
  if (rank > ND4C_MAX_RANK) {
    PyErr_Format(PyExc_ValueError, "an array has at most %d axes, not %zd", ND4C_MAX_RANK, rank);
    return false;
  }
  m->rank = (int32_t)rank;
  for (Py_ssize_t i = 0; i < rank; i++) {
    m->shape[i] = PyLong_AsLongLong(PyTuple_GetItem(object, i));
    if (m->shape[i] == -1 && PyErr_Occurred() != NULL) {
      if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
        PyErr_Format(PyExc_ValueError,
                     "the extent %R of a shape does not fit 64 bits (Maximum allowed dimension exceeded)",
                     PyTuple_GetItem(object, i));
      }
      return false;
    }
  }
  return true;
}

static bool read_device(PyObject *object, nd4c_device **device) {
  *device = object == NULL || object == Py_None ? NULL : PyLong_AsVoidPtr(object);
  return *device != NULL || PyErr_Occurred() == NULL;
}

static bool read_making(PyObject *shape, PyObject *dtype, PyObject *device, making *m) {
  return read_shape(shape, m) && native_dtype_number(dtype, &m->dtype) && read_device(device, &m->device);
}

/* -- functions ---------------------------------------------------------------------------------------------------- */

typedef nd4c_status (*make_function)(nd4c_dtype, int32_t, const int64_t *, nd4c_device *, nd4c_array **);

static bool count_arguments(const char *name, Py_ssize_t count, Py_ssize_t least) {
  if (count < least || count > least + 1) {
    PyErr_Format(PyExc_TypeError, "%s: %zd arguments, expected %zd and perhaps a device", name, count, least);
    return false;
  }
  return true;
}

static PyObject *make(const char *name, make_function function, PyObject *const *args, Py_ssize_t count) {
  making m;
  nd4c_array *out = NULL;
  if (!count_arguments(name, count, 2) || !read_making(args[0], args[1], count > 2 ? args[2] : NULL, &m)) {
    return NULL;
  }
  nd4c_status status = function(m.dtype, m.rank, m.shape, m.device, &out);
  return native_array_result(status, out);
}

static PyObject *empty(PyObject *module, PyObject *const *args, Py_ssize_t count) {
  (void)module;
  return make("empty", lib.array_empty, args, count);
}

static PyObject *zeros(PyObject *module, PyObject *const *args, Py_ssize_t count) {
  (void)module;
  return make("zeros", lib.array_zeros, args, count);
}

static PyObject *full(PyObject *module, PyObject *const *args, Py_ssize_t count) {
  making m;
  nd4c_array *out = NULL;
  (void)module;
  if (!count_arguments("full", count, 3) || !read_making(args[0], args[2], count > 3 ? args[3] : NULL, &m)) {
    return NULL;
  }
  double value = PyFloat_AsDouble(args[1]);
  if (value == -1.0 && PyErr_Occurred() != NULL) {
    return NULL;
  }
  nd4c_status status = lib.array_full(m.dtype, m.rank, m.shape, value, m.device, &out);
  return native_array_result(status, out);
}

/* Bytes that `data` must have. */
static bool enough_bytes(const making *m, Py_ssize_t bytes) {
  int64_t elements = 1, size = 0;
  bool large = false;
  for (int32_t i = 0; i < m->rank; i++) {
    large = large || __builtin_mul_overflow(elements, m->shape[i], &elements);
  }
  large = large || __builtin_mul_overflow(lib.dtype_bytes(m->dtype, 1), elements, &size);
  /* Elements of packed dtypes share bytes. */
  return !large && (elements < 1 || lib.dtype_bytes(m->dtype, elements) <= bytes);
}

/* Bytes, or an object that converts to bytes. */
static PyObject *from_data(PyObject *module, PyObject *const *args, Py_ssize_t count) {
  making m;
  nd4c_array *out = NULL;
  (void)module;
  if (!count_arguments("from_data", count, 3) || !read_making(args[1], args[2], count > 3 ? args[3] : NULL, &m)) {
    return NULL;
  }
  PyObject *bytes = PyBytes_FromObject(args[0]);
  if (bytes == NULL) {
    return NULL;
  }
  PyObject *result = NULL;
  if (enough_bytes(&m, PyBytes_Size(bytes))) {
    nd4c_status status = lib.array_from_data(m.dtype, m.rank, m.shape, PyBytes_AsString(bytes), m.device, &out);
    result = native_array_result(status, out);
  } else {
    PyErr_Format(PyExc_ValueError, "%zd bytes are fewer than the array needs", PyBytes_Size(bytes));
  }
  Py_DECREF(bytes);
  return result;
}

static PyObject *from_scalar(PyObject *module, PyObject *const *args, Py_ssize_t count) {
  nd4c_dtype number;
  (void)module;
  if (count != 2) {
    PyErr_Format(PyExc_TypeError, "from_scalar: %zd arguments, expected 2", count);
    return NULL;
  }
  if (!native_dtype_number(args[1], &number)) {
    return NULL;
  }
  PyObject *value = args[0];
  native_kind kind = PyBool_Check(value) ? NATIVE_BOOL : PyFloat_Check(value) ? NATIVE_FLOAT : NATIVE_INT;
  nd4c_array *array = native_number_array(value, kind, number, NULL);
  return array != NULL ? native_array_wrap(array) : NULL;
}

static PyObject *from_handle(PyObject *module, PyObject *address) {
  (void)module;
  nd4c_array *array = PyLong_AsVoidPtr(address);
  return array != NULL || PyErr_Occurred() == NULL ? native_array_wrap(array) : NULL;
}

static PyObject *handle(PyObject *module, PyObject *array) {
  (void)module;
  if (!is_array(array)) {
    PyErr_Format(PyExc_TypeError, "expected an nd4c.Array, got %R; nd4c.asarray() makes an array of it",
                 (PyObject *)Py_TYPE(array));
    return NULL;
  }
  return PyLong_FromVoidPtr(handle_of(array));
}

static PyObject *item(PyObject *module, PyObject *array) {
  (void)module;
  if (!is_array(array)) {
    return handle(module, array);
  }
  return native_array_value(array);
}

PyMethodDef native_creation_methods[] = {
    {"empty", NATIVE_METHOD(empty), METH_FASTCALL, "An array without defined contents."},
    {"zeros", NATIVE_METHOD(zeros), METH_FASTCALL, "An array of zeros."},
    {"full", NATIVE_METHOD(full), METH_FASTCALL, "An array of one value, given as a float."},
    {"from_data", NATIVE_METHOD(from_data), METH_FASTCALL, "A copy of C-ordered bytes."},
    {"from_scalar", NATIVE_METHOD(from_scalar), METH_FASTCALL, "A 0-d array of a Python number."},
    {"from_nested", NATIVE_METHOD(native_from_nested), METH_FASTCALL,
     "An array of nested lists of Python's bools, ints or floats; None if the lists hold anything else."},
    {"capsule", NATIVE_METHOD(native_capsule), METH_FASTCALL,
     "A DLPack capsule of the tensor at an address; versioned or not."},
    {"call_key", native_call_key, METH_O, "Bytes for the device, dtypes and shapes of a call's Arrays, or None."},
    {"run_plan", NATIVE_METHOD(native_run_plan), METH_FASTCALL, "The outputs of a plan at an address, or None."},
    {"config_value", native_config_value, METH_O,
     "The text of a property, or the status of the failure as an integer."},
    {"fast_function", NATIVE_METHOD(native_fast_function), METH_FASTCALL,
     "A function around a Python function of the package, which takes its plain calls itself."},
    {"fast_method", NATIVE_METHOD(native_fast_method), METH_FASTCALL,
     "A method of Array around a Python function of the package, which takes its plain calls itself."},
    {"from_handle", from_handle, METH_O, "An Array of an nd4c_array * whose reference it takes over."},
    {"handle", handle, METH_O, "The nd4c_array * of an Array, borrowed."},
    {"reinterpret", NATIVE_METHOD(native_reinterpret), METH_FASTCALL,
     "An array over the same memory as elements of another dtype, or None."},
    {"item", item, METH_O, "The first element as a Python number, or text."},
    {"function", native_function, METH_O, "The callable of an op: inputs, then attributes in the schema's order."},
    {"register", NATIVE_METHOD(native_register), METH_VARARGS | METH_KEYWORDS,
     "Takes the objects that the package gives to a core: devices, asarray, item, raise_error."},
    {NULL, NULL, 0, NULL}};
