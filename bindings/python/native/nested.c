/* Nested lists of Python numbers as arrays, in the usual cases; nd4c/_creation.py handles all others. Python calls
 * from_nested() of the module's table (creation.c). */
#include <stdlib.h>
#include <string.h>

#include "native.h"

enum { INLINE_ELEMENTS = 64 };

/* An element before the dtype of all elements is known. */
typedef union element {
  int64_t integer;
  double real;
} element;

/* The elements read so far: all bools, all integers of 64 bits, or all floats. */
typedef struct nested {
  int32_t rank;
  int64_t shape[ND4C_MAX_RANK];
  int64_t size, filled;
  native_kind kind;
  element *to;
} nested;

static bool is_list(PyObject *object) {
  return PyList_CheckExact(object) || PyTuple_CheckExact(object);
}

static Py_ssize_t length_of(PyObject *list) {
  return PyList_CheckExact(list) ? PyList_Size(list) : PyTuple_Size(list);
}

/* Borrowed. */
static PyObject *item_of(PyObject *list, Py_ssize_t i) {
  return PyList_CheckExact(list) ? PyList_GetItem(list, i) : PyTuple_GetItem(list, i);
}

/* Shape and kind from the first elements; false if the list is not one of the usual cases. */
static bool look(PyObject *object, nested *n) {
  n->rank = 0;
  n->size = 1;
  for (; is_list(object); n->rank++) {
    Py_ssize_t length = length_of(object);
    if (length <= 0 || n->rank == ND4C_MAX_RANK || __builtin_mul_overflow(n->size, (int64_t)length, &n->size)) {
      return false;
    }
    n->shape[n->rank] = length;
    object = item_of(object, 0);
  }
  n->kind = PyBool_Check(object) ? NATIVE_BOOL : PyLong_CheckExact(object) ? NATIVE_INT : NATIVE_FLOAT;
  return n->rank > 0 && (n->kind != NATIVE_FLOAT || PyFloat_CheckExact(object));
}

/* Integers before the first float become floats, rounded as Python's float() does. */
static void widen(nested *n) {
  for (int64_t i = 0; i < n->filled; i++) {
    n->to[i].real = (double)n->to[i].integer;
  }
  n->kind = NATIVE_FLOAT;
}

static bool take_number(PyObject *item, nested *n) {
  int overflow = 0;
  if (PyFloat_CheckExact(item) && n->kind != NATIVE_BOOL) {
    if (n->kind == NATIVE_INT) {
      widen(n);
    }
    n->to[n->filled++].real = PyFloat_AsDouble(item);
    return true;
  }
  if (PyBool_Check(item) != (n->kind == NATIVE_BOOL) || !PyLong_Check(item)) {
    return false;
  }
  long long value = PyLong_AsLongLongAndOverflow(item, &overflow);
  if (n->kind == NATIVE_FLOAT) {
    n->to[n->filled++].real = (double)value;
  } else {
    n->to[n->filled++].integer = value;
  }
  return overflow == 0 && PyErr_Occurred() == NULL;
}

/* The elements below one axis, all lists as long as the first ones. */
static bool take_axis(PyObject *list, int32_t axis, nested *n) {
  if (!is_list(list) || length_of(list) != n->shape[axis]) {
    return false;
  }
  for (Py_ssize_t i = 0; i < n->shape[axis]; i++) {
    PyObject *item = item_of(list, i);
    if (axis + 1 < n->rank ? !take_axis(item, axis + 1, n) : !take_number(item, n)) {
      return false;
    }
  }
  return true;
}

/* Elements in the bytes of `dtype`, in the same memory: none is wider than 8 bytes. */
static void pack(nested *n, nd4c_dtype dtype) {
  char *to = (char *)n->to;
  for (int64_t i = 0; i < n->filled && dtype == ND4C_BOOL; i++) {
    to[i] = n->to[i].integer != 0;
  }
  for (int64_t i = 0; i < n->filled && dtype == ND4C_FLOAT32; i++) {
    float narrow = (float)n->to[i].real;
    memcpy(to + i * (int64_t)sizeof narrow, &narrow, sizeof narrow);
  }
}

/* Makes the array if the caller wants the default dtype of the elements' kind, or float32 for floats; else returns
 * None. */
static PyObject *make(nested *n, nd4c_dtype wanted) {
  static const nd4c_dtype own[NATIVE_KINDS] = {ND4C_BOOL, ND4C_INT64, ND4C_FLOAT64, ND4C_COMPLEX128};
  nd4c_array *out = NULL;
  nd4c_dtype dtype = wanted != 0 ? wanted : own[n->kind];
  if (dtype != own[n->kind] && (dtype != ND4C_FLOAT32 || n->kind != NATIVE_FLOAT)) {
    Py_RETURN_NONE;
  }
  pack(n, dtype);
  nd4c_status status = lib.array_from_data(dtype, n->rank, n->shape, n->to, NULL, &out);
  return native_array_result(status, out);
}

PyObject *native_from_nested(PyObject *module, PyObject *const *args, Py_ssize_t count) {
  nested n;
  element room[INLINE_ELEMENTS];
  nd4c_dtype wanted = 0;
  (void)module;
  if (count != 2) {
    PyErr_Format(PyExc_TypeError, "from_nested: %zd arguments, expected 2", count);
    return NULL;
  }
  if (args[1] != Py_None && !native_dtype_number(args[1], &wanted)) {
    return NULL;
  }
  if (!look(args[0], &n) || n.size > INT64_MAX / (int64_t)sizeof *room) {
    Py_RETURN_NONE;
  }
  n.filled = 0;
  n.to = n.size <= INLINE_ELEMENTS ? room : malloc((size_t)n.size * sizeof *room);
  if (n.to == NULL) {
    return PyErr_NoMemory();
  }
  PyObject *result = Py_None;
  if (take_axis(args[0], 0, &n)) {
    result = make(&n, wanted);
  } else {
    PyErr_Clear();
    Py_INCREF(result);
  }
  if (n.to != room) {
    free(n.to);
  }
  return result;
}
