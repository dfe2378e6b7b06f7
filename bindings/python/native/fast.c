/* The plain forms of functions and methods that programs call most, such as asarray(x), zeros(3) and x.copy(). Every
 * other form goes to the Python function of the same name, which defines the signature and the errors.
 * nd4c/_arrays/fast.py puts fast_function() and fast_method() around those functions when the package is imported;
 * creation.c lists both. */
#include <string.h>

#include "native.h"

/* A form that takes the function's positional arguments, and the DType given as dtype= (NONE: not given). NULL without
 * an exception: the Python function shall take the call. */
typedef PyObject *(*plain_form)(PyObject *const *args, Py_ssize_t count, nd4c_dtype dtype);

typedef struct fast_entry {
  const char *name;
  plain_form plain;
  PyObject *slow; /* the Python function */
  PyMethodDef method;
} fast_entry;

/* -- forms -------------------------------------------------------------------------------------------------------- */

static PyObject *plain_asarray(PyObject *const *args, Py_ssize_t count, nd4c_dtype dtype) {
  if (count != 1 || dtype != ND4C_DTYPE_NONE) {
    return NULL;
  }
  if (is_array(args[0])) {
    Py_INCREF(args[0]);
    return args[0];
  }
  if (PyList_CheckExact(args[0]) || PyTuple_CheckExact(args[0])) {
    PyObject *nested[] = {args[0], Py_None};
    PyObject *array = native_from_nested(NULL, nested, 2);
    if (array == Py_None) {
      Py_DECREF(array);
      array = NULL;
    }
    return array;
  }
  return native_from_numpy(args[0]);
}

/* A shape that is one length, or a tuple of lengths; false for all that the Python function has to judge. */
static bool plain_shape(PyObject *object, int64_t *shape, int32_t *rank) {
  if (!PyTuple_CheckExact(object)) {
    *rank = 1;
    shape[0] = PyLong_CheckExact(object) ? PyLong_AsLongLong(object) : -1;
  } else {
    const Py_ssize_t count = PyTuple_Size(object);
    *rank = count <= ND4C_MAX_RANK ? (int32_t)count : 0;
    for (Py_ssize_t i = 0; i < count && i < ND4C_MAX_RANK; i++) {
      PyObject *extent = PyTuple_GetItem(object, i);
      shape[i] = PyLong_CheckExact(extent) ? PyLong_AsLongLong(extent) : -1;
    }
    if (count > ND4C_MAX_RANK) {
      return false;
    }
  }
  PyErr_Clear(); /* a number beyond 64 bits reads as -1 */
  for (int32_t i = 0; i < *rank; i++) {
    if (shape[i] < 0) {
      return false;
    }
  }
  return true;
}

/* The dtype that a DType, a name or a type stands for; NONE, without an exception, for what Python has to judge. */
static nd4c_dtype dtype_named(PyObject *value) {
  const nd4c_dtype dtype = native_dtype_find(value);
  if (dtype != ND4C_DTYPE_NONE || registry.names == NULL || !(PyUnicode_CheckExact(value) || PyType_Check(value))) {
    return dtype;
  }
  PyObject *number = PyDict_GetItemWithError(registry.names, value); /* borrowed */
  return number != NULL ? (nd4c_dtype)PyLong_AsLong(number) : ND4C_DTYPE_NONE;
}

static PyObject *plain_make(nd4c_status (*make)(nd4c_dtype, int32_t, const int64_t *, nd4c_device *, nd4c_array **),
                            PyObject *const *args, Py_ssize_t count, nd4c_dtype dtype) {
  int64_t shape[ND4C_MAX_RANK];
  int32_t rank;
  nd4c_array *out = NULL;
  if (count == 2 && dtype == ND4C_DTYPE_NONE) {
    dtype = dtype_named(args[1]);
    count = dtype != ND4C_DTYPE_NONE ? 1 : count;
  }
  if (count != 1 || !plain_shape(args[0], shape, &rank)) {
    return NULL;
  }
  nd4c_status status = make(dtype == ND4C_DTYPE_NONE ? ND4C_FLOAT64 : dtype, rank, shape, NULL, &out);
  return native_array_result(status, out);
}

static PyObject *plain_zeros(PyObject *const *args, Py_ssize_t count, nd4c_dtype dtype) {
  return plain_make(lib.array_zeros, args, count, dtype);
}

static PyObject *plain_empty(PyObject *const *args, Py_ssize_t count, nd4c_dtype dtype) {
  return plain_make(lib.array_empty, args, count, dtype);
}

/* arange(start, stop) and arange(start, stop, step) of floats, in the default dtype; numbers that are too large for a
 * count, or none, are left to Python. */
static PyObject *plain_steps(PyObject *const *args, Py_ssize_t count, nd4c_dtype dtype) {
  double numbers[3] = {0, 0, 1};
  bool floats = false;
  nd4c_array *out = NULL;
  for (Py_ssize_t i = 0; i < count; i++) {
    if (!PyFloat_CheckExact(args[i]) && !PyLong_CheckExact(args[i])) {
      return NULL;
    }
    floats = floats || PyFloat_CheckExact(args[i]);
    numbers[i] = PyFloat_AsDouble(args[i]);
  }
  if (PyErr_Occurred() != NULL || !floats || (dtype != ND4C_DTYPE_NONE && dtype != ND4C_FLOAT64)) {
    PyErr_Clear();
    return NULL;
  }
  const double steps = (numbers[1] - numbers[0]) / numbers[2], most = (double)(INT64_C(1) << 40);
  if (!(steps > -most && steps < most) || numbers[2] == 0) {
    return NULL;
  }
  const int64_t whole = steps > 0 ? (int64_t)steps : 0, length = whole + (steps > (double)whole);
  nd4c_status status = lib.array_arange(ND4C_FLOAT64, numbers[0], numbers[2], length, NULL, &out);
  return native_array_result(status, out);
}

/* arange(stop) of the default integers and of floats. Its numbers go through double, which is exact below 2^53. */
static PyObject *plain_arange(PyObject *const *args, Py_ssize_t count, nd4c_dtype dtype) {
  const int64_t most = INT64_C(1) << 53;
  nd4c_array *out = NULL;
  if (count == 2 || count == 3) {
    return plain_steps(args, count, dtype);
  }
  dtype = dtype == ND4C_DTYPE_NONE ? ND4C_INT64 : dtype;
  if (count != 1 || !PyLong_CheckExact(args[0]) ||
      (dtype != ND4C_INT64 && dtype != ND4C_FLOAT64 && dtype != ND4C_FLOAT32)) {
    return NULL;
  }
  int64_t stop = PyLong_AsLongLong(args[0]);
  if (stop < 0 || stop > most) {
    PyErr_Clear();
    return NULL;
  }
  nd4c_status status = lib.array_arange(dtype, 0, 1, stop, NULL, &out);
  return native_array_result(status, out);
}

/* A copy in C order of an array whose elements are not in order, made by the library; NULL for an array that is
 * elsewhere than on the host, or where the thread computes elsewhere. */
static PyObject *ordered_copy(PyObject *array) {
  const nd4c_array *handle = handle_of(array);
  nd4c_array *out = NULL;
  if (lib.array_is_contiguous(handle) || is_long(handle) || !native_is_host(lib.array_device(handle)) ||
      !native_is_host(lib.context_device(lib.context_current()))) {
    return NULL;
  }
  nd4c_status status = lib.op_call_positional(NULL, ND4C_OP_copy, &handle, 1, NULL, &out);
  return native_array_result(status, out);
}

static PyObject *plain_copy(PyObject *const *args, Py_ssize_t count, nd4c_dtype dtype) {
  nd4c_array *from = handle_of(args[0]), *out = NULL;
  dtype = lib.array_dtype(from);
  const bool plain = count == 1 && dtype <= ND4C_COMPLEX128;
  const void *data = plain ? native_plain_data(handle_of(args[0])) : NULL;
  if (data == NULL) {
    return plain ? ordered_copy(args[0]) : NULL;
  }
  PyThreadState *state = is_long(from) ? PyEval_SaveThread() : NULL;
  nd4c_status status =
      lib.array_from_data(dtype, lib.array_rank(from), lib.array_shape(from), data, lib.array_device(from), &out);
  if (state != NULL) {
    PyEval_RestoreThread(state);
  }
  return native_array_result(status, out);
}

static PyObject *plain_tolist(PyObject *const *args, Py_ssize_t count, nd4c_dtype dtype) {
  (void)dtype;
  const nd4c_array *array = handle_of(args[0]);
  if (count != 1 || lib.array_rank(array) == 0 || lib.array_dtype(array) > ND4C_COMPLEX128) {
    return NULL;
  }
  const void *data = native_plain_data(handle_of(args[0]));
  if (data != NULL) {
    return native_nested_lists(array, data);
  }
  PyObject *ordered = ordered_copy(args[0]);
  data = ordered != NULL ? native_plain_data(handle_of(ordered)) : NULL;
  PyObject *list = data != NULL ? native_nested_lists(handle_of(ordered), data) : NULL;
  Py_XDECREF(ordered);
  return list;
}

static PyObject *plain_item(PyObject *const *args, Py_ssize_t count, nd4c_dtype dtype) {
  (void)dtype;
  return count == 1 && lib.array_size(handle_of(args[0])) == 1 ? native_array_value(args[0]) : NULL;
}

/* argmax() and argmin() of one axis. What the op refuses goes to Python, which meets the refusal again or computes it.
 */
static PyObject *plain_place(nd4c_op op, PyObject *const *args, Py_ssize_t count) {
  const nd4c_array *array = handle_of(args[0]);
  nd4c_attr_value attrs[2] = {{.kind = ND4C_ATTR_INT}, {.kind = ND4C_ATTR_BOOL}};
  nd4c_array *out = NULL;
  if (count != 1 || lib.array_rank(array) != 1 || lib.array_size(array) == 0) {
    return NULL;
  }
  PyThreadState *state = is_long(array) ? PyEval_SaveThread() : NULL;
  nd4c_status status = lib.op_call_positional(NULL, op, &array, 1, attrs, &out);
  if (state != NULL) {
    PyEval_RestoreThread(state);
  }
  return status == ND4C_OK ? native_array_wrap(out) : NULL;
}

static PyObject *plain_argmax(PyObject *const *args, Py_ssize_t count, nd4c_dtype dtype) {
  (void)dtype;
  return plain_place(ND4C_OP_argmax, args, count);
}

static PyObject *plain_argmin(PyObject *const *args, Py_ssize_t count, nd4c_dtype dtype) {
  (void)dtype;
  return plain_place(ND4C_OP_argmin, args, count);
}

static fast_entry functions[] = {{.name = "asarray", .plain = plain_asarray},
                                 {.name = "arange", .plain = plain_arange},
                                 {.name = "empty", .plain = plain_empty},
                                 {.name = "zeros", .plain = plain_zeros},
                                 {.name = NULL}};
static fast_entry methods[] = {{.name = "copy", .plain = plain_copy},     {.name = "item", .plain = plain_item},
                               {.name = "tolist", .plain = plain_tolist}, {.name = "argmax", .plain = plain_argmax},
                               {.name = "argmin", .plain = plain_argmin}, {.name = NULL}};

/* -- calls -------------------------------------------------------------------------------------------------------- */

/* Calls the Python function with arguments as METH_FASTCALL | METH_KEYWORDS passes them. */
static PyObject *call_slow(PyObject *slow, PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  const Py_ssize_t first = self != NULL ? 1 : 0, named = names != NULL ? PyTuple_Size(names) : 0;
  PyObject *tuple = PyTuple_New(first + count), *result = NULL;
  PyObject *dict = named > 0 ? PyDict_New() : NULL;
  bool ready = tuple != NULL && (named == 0 || dict != NULL);
  if (ready && self != NULL) {
    Py_INCREF(self);
    PyTuple_SetItem(tuple, 0, self);
  }
  for (Py_ssize_t i = 0; ready && i < count; i++) {
    Py_INCREF(args[i]);
    PyTuple_SetItem(tuple, first + i, args[i]);
  }
  for (Py_ssize_t i = 0; ready && i < named; i++) {
    ready = PyDict_SetItem(dict, PyTuple_GetItem(names, i), args[count + i]) == 0;
  }
  if (ready) {
    result = PyObject_Call(slow, tuple, dict);
  }
  Py_XDECREF(tuple);
  Py_XDECREF(dict);
  return result;
}

/* Whether the arguments by name are none, or dtype= with a DType. */
static bool plain_names(PyObject *names, PyObject *const *values, nd4c_dtype *dtype) {
  *dtype = ND4C_DTYPE_NONE;
  if (names == NULL) {
    return true;
  }
  if (PyTuple_Size(names) != 1 || PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, 0), "dtype") != 0) {
    return false;
  }
  *dtype = dtype_named(values[0]);
  return *dtype != ND4C_DTYPE_NONE;
}

static PyObject *call_function(const fast_entry *entry, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  nd4c_dtype dtype;
  if (plain_names(names, args + count, &dtype)) {
    PyObject *result = entry->plain(args, count, dtype);
    if (result != NULL || PyErr_Occurred() != NULL) {
      return result;
    }
  }
  return call_slow(entry->slow, NULL, args, count, names);
}

static PyObject *call_method(const fast_entry *entry, PyObject *self, PyObject *const *args, Py_ssize_t count,
                             PyObject *names) {
  if (names == NULL && count == 0) {
    PyObject *result = entry->plain(&self, 1, ND4C_DTYPE_NONE);
    if (result != NULL || PyErr_Occurred() != NULL) {
      return result;
    }
  }
  return call_slow(entry->slow, self, args, count, names);
}

/* Python passes a function no data of its own, so each entry has a C function. */
#define FAST_FUNCTIONS(X) X(0) X(1) X(2) X(3)
#define FAST_METHODS(X) X(0) X(1) X(2) X(3) X(4)
#define DEFINE_FUNCTION(i)                                                                                  \
  static PyObject *function_##i(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) { \
    (void)self;                                                                                             \
    return call_function(&functions[i], args, count, names);                                                \
  }
#define DEFINE_METHOD(i)                                                                                  \
  static PyObject *method_##i(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) { \
    return call_method(&methods[i], self, args, count, names);                                            \
  }
FAST_FUNCTIONS(DEFINE_FUNCTION)
FAST_METHODS(DEFINE_METHOD)
#define LIST_FUNCTION(i) NATIVE_METHOD(function_##i),
#define LIST_METHOD(i) NATIVE_METHOD(method_##i),
static const PyCFunction function_calls[] = {FAST_FUNCTIONS(LIST_FUNCTION)};
static const PyCFunction method_calls[] = {FAST_METHODS(LIST_METHOD)};

/* -- entries ------------------------------------------------------------------------------------------------------ */

/* The entry of a name, with the Python function and its text: "name(signature)\n--\n\ndocumentation". Function and text
 * live as long as the process. */
static fast_entry *prepare(fast_entry *entries, const PyCFunction *calls, PyObject *const *args, Py_ssize_t count) {
  const bool fits = count == 3 && PyBytes_Check(args[0]) && PyBytes_Check(args[2]);
  for (int i = 0; fits && entries[i].name != NULL; i++) {
    fast_entry *entry = &entries[i];
    if (entry->slow == NULL && strcmp(entry->name, PyBytes_AsString(args[0])) == 0) {
      Py_INCREF(args[1]);
      Py_INCREF(args[2]);
      entry->slow = args[1];
      entry->method = (PyMethodDef){entry->name, calls[i], METH_FASTCALL | METH_KEYWORDS, PyBytes_AsString(args[2])};
      return entry;
    }
  }
  PyErr_SetString(PyExc_ValueError,
                  "nd4c: expected the name of a fast form that has no function yet, its Python function, "
                  "and its text, name and text as bytes");
  return NULL;
}

PyObject *native_fast_function(PyObject *module, PyObject *const *args, Py_ssize_t count) {
  (void)module;
  fast_entry *entry = prepare(functions, function_calls, args, count);
  PyObject *name = entry != NULL ? PyUnicode_FromString("nd4c") : NULL;
  PyObject *function = name != NULL ? PyCFunction_NewEx(&entry->method, NULL, name) : NULL;
  Py_XDECREF(name);
  return function;
}

PyObject *native_fast_method(PyObject *module, PyObject *const *args, Py_ssize_t count) {
  (void)module;
  fast_entry *entry = prepare(methods, method_calls, args, count);
  return entry != NULL ? PyDescr_NewMethod(native_array_type, &entry->method) : NULL;
}
